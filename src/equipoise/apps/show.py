# SPDX-License-Identifier: Apache-2.0
"""`equipoise show`: what a saved strategy does."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import typer
from rich.console import Group
from rich.table import Table

from equipoise.abstraction.solutions import open_solution
from equipoise.apps.amount_units import AmountUnit
from equipoise.apps.display import ConsoleReporter, make_console
from equipoise.apps.output import format_json, print_result, write_document
from equipoise.apps.show_runouts import RunoutReport
from equipoise.apps.show_spot import SHOWN, EndReport, GainReport, HandChoice, SpotReport, format_columns
from equipoise.apps.web.command import open_page
from equipoise.core.errors import ConfigError
from equipoise.evaluation.plots import check_plot_path
from equipoise.games.base import Game
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.line_notation import Line, parse_deal, parse_decision, parse_line
from equipoise.games.words import explain_infostate
from equipoise.runs.request import find_named_game
from equipoise.solvers.description import describe_node
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.solution_file import SolvedGame
from equipoise.solvers.strategy import TabularStrategy
from equipoise.solvers.strategy_rows import format_csv

__all__ = ["ShowOptions", "show"]

# of spots, about hands at a decision
ROOM_AROUND: Final = 19  # letters of a row that are no information state, words or strategy
LEAST_FOR_WORDS: Final = 60  # columns below which states are not said in words
HAND_OPTIONS: Final = ("csv", "grid", "by_class", "made", "draw", "sort", "exploit")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """What `equipoise show` is told."""

    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "Which hands": ("infostate", "player", "grid", "by_class", "made", "draw", "sort", "limit"),
        "Best responses": ("exploit", "ignore_locks", "lock"),
        "How it is shown": ("unit", "values", "plot", "open", "json", "csv", "out", "quiet"),
    }
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {"line": ("--node", "--state")}
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise show leduc.eq --infostate '*Q*'",
        "equipoise show turn.eq --line 'check, bet 50%' --grid",
        "equipoise show turn.eq --line check --class 'top pair' --sort ev",
        "equipoise show turn.eq --line 'check, check, [*]' --plot rivers.png",
        "equipoise show turn.eq --line check --exploit",
        "equipoise show turn.eq --line check --exploit --lock 'check, bet 50%: fold=70%, call'",
        "equipoise show turn.eq --line check --open",
    )

    file: Annotated[Path, typer.Argument(help="A file written by `solve --out`, or CSV.")]
    game: Annotated[str | None, typer.Option("--game", "-g", help="Of CSV: what it plays.")] = None
    parameters: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="A parameter of --game.", metavar="KEY=VALUE")
    ] = None
    infostate: Annotated[
        str | None,
        typer.Option(
            "--infostate", "-i", help="Only information states (of a spot: hands) with this text, or like this glob."
        ),
    ] = None
    player: Annotated[int | None, typer.Option(min=0, help="Only this player's, from 0.")] = None
    line: Annotated[
        str | None,
        typer.Option(help="The place: 'check, bet 50%, call, [7h]' of a spot, a public state of a game."),
    ] = None
    values: Annotated[
        bool, typer.Option("--values", help="Of a spot: values even if a large file must be read whole for them.")
    ] = False
    grid: Annotated[bool, typer.Option("--grid", help="Of a spot: the square of hand classes.")] = False
    by_class: Annotated[
        bool, typer.Option("--by-class", help="Of a spot: a table of top pairs, flush draws, ... in place of hands.")
    ] = False
    made: Annotated[
        str | None,
        typer.Option("--class", help="Of a spot: only hands that are this, as in 'top pair'.", metavar="NAME"),
    ] = None
    draw: Annotated[
        str | None, typer.Option(help="Of a spot: only hands that draw so, as in 'flush draw'.", metavar="NAME")
    ] = None
    sort: Annotated[
        str | None,
        typer.Option(help="Of a spot: by ev, equity, weight, hand or an action, largest first.", metavar="COLUMN"),
    ] = None
    unit: Annotated[AmountUnit, typer.Option(help="Of a spot: what EVs are shown in; files have chips.")] = (
        AmountUnit.BB
    )
    exploit: Annotated[
        bool, typer.Option("--exploit", help="Of a spot: what a best response would win more, hand by hand.")
    ] = False
    ignore_locks: Annotated[
        bool, typer.Option("--ignore-locks", help="With --exploit: whoever answers need not keep to its own locks.")
    ] = False
    lock: Annotated[
        list[str] | None,
        typer.Option(
            help="With --exploit: as if this were played, as in 'check, bet 50%: AK: fold'; repeat it.",
            metavar="LINE:[HANDS:]PLAY",
        ),
    ] = None
    plot: Annotated[
        Path | None, typer.Option(help="With a line that ends in [*]: draw all cards (.png, .svg, .pdf).")
    ] = None
    limit: Annotated[int, typer.Option(min=0, help="At most so many; 0: all.")] = 50
    open: Annotated[
        bool, typer.Option("--open", help="Show it in a browser: serves the page until Ctrl-C, needs the extra web.")
    ] = False
    json: Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")] = False
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV: a line for each action; of a spot: for each hand.")] = (
        False
    )
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write JSON or CSV to this file instead.")] = None
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages or tables.")] = False


def show(options: ShowOptions) -> None:
    """Show a saved strategy: at each information state, or of a spot for each hand, the probability of each action."""
    if options.json and options.csv:
        raise ConfigError("--json and --csv are two formats: give one of them")
    if options.grid and (options.json or options.csv):
        raise ConfigError("--grid is a picture for people: give it without --json and --csv, which list hand by hand")
    if options.out is not None and not (options.json or options.csv):
        raise ConfigError("--out needs a format: give --csv or --json with it")
    for name in ("ignore_locks", "lock"):
        if getattr(options, name) and not options.exploit:
            raise ConfigError(f"--{name.replace('_', '-')} is for --exploit: give both")
    if options.open:
        open_page(options.file, options.line or "")
        return
    with open_solution(options.file, *SHOWN, game=find_named_game(options.game, options.parameters)) as solution:
        if isinstance(solution, SolvedGame):
            _show_table(options, solution)
        else:
            assert isinstance(solution, SolvedSpot)
            _show_spot(options, solution)


def _show_spot(options: ShowOptions, solved: SolvedSpot) -> None:
    betting, spot = solved.tree.betting, solved.spot
    text = options.line or ""
    if parse_deal(text, betting, spot.board, spot.deck) is not None:
        _show_runouts(options, solved)
        return
    if options.plot is not None:
        raise ConfigError("--plot draws all cards that may come: end the line with [*], as in 'check, check, [*]'")
    line = parse_line(text, betting, spot.board, spot.deck)
    asks_for_hands = options.infostate is not None or options.player is not None or _asked(options, *HAND_OPTIONS)
    if betting.nodes[line.node].kind is not NodeKind.DECISION and not asks_for_hands:
        end = EndReport(solved, line)
        if options.json:
            write_document(format_json(end.as_json()), options.out, is_quiet=options.quiet)
        else:
            print_result(end.as_text(), is_quiet=options.quiet)
        return
    line = parse_decision(text, betting, spot.board, spot.deck)
    _show_hands(options, solved, line)


def _show_hands(options: ShowOptions, solved: SolvedSpot, line: Line) -> None:
    """Shows a decision."""
    if options.player is not None and options.player > 1:
        raise ConfigError(f"a spot has players 0 and 1, got --player {options.player}")
    if options.exploit and options.sort is not None:
        raise ConfigError("--exploit lists what gains most first: leave out --sort")
    choice = HandChoice(
        player=options.player, pattern=options.infostate, made=options.made, draw=options.draw, sort=options.sort
    )
    if options.exploit:
        solved.read_values()
    report = SpotReport(solved, line, choice, has_values=options.values, unit=options.unit)
    if options.grid and not report.is_actor:
        raise ConfigError(f"player {options.player} does not act at {report.place or 'the root'!r}: it has no grid")
    if options.exploit:
        _show_gain(options, GainReport(report, respects_locks=not options.ignore_locks, locks=options.lock or ()))
    elif options.json:
        write_document(
            format_json(report.as_json(options.limit, has_classes=options.by_class)),
            options.out,
            is_quiet=options.quiet,
        )
    elif options.csv:
        write_document(report.as_csv(has_classes=options.by_class), options.out, is_quiet=options.quiet)
    else:
        shown = report.as_text(has_grid=options.grid, has_classes=options.by_class, limit=options.limit)
        print_result(shown, is_quiet=options.quiet)
        if not options.grid and not options.by_class:
            _say_limit(options, len(report.rows), "hands", "--limit 0 shows all, --grid a summary")
        _say_values(options, has_values=report.is_valued)
    if not report.rows:
        make_console(is_quiet=options.quiet).print("no hand matches", style="yellow")


def _asked(options: ShowOptions, *names: str) -> list[str]:
    """Returns which of these options were given, as they are typed."""
    return [f"--{name.replace('_', '-').replace('made', 'class')}" for name in names if getattr(options, name)]


def _show_gain(options: ShowOptions, gains: GainReport) -> None:
    if options.json:
        write_document(format_json(gains.as_json()), options.out, is_quiet=options.quiet)
    elif options.csv:
        write_document(format_columns(gains.as_columns()), options.out, is_quiet=options.quiet)
    else:
        print_result(gains.as_text(options.limit), is_quiet=options.quiet)
        _say_limit(options, len(gains.places), "hands", "--limit 0 shows all")


def _show_runouts(options: ShowOptions, solved: SolvedSpot) -> None:
    """Shows every card that may come."""
    refused = _asked(options, "grid", "made", "draw", "by_class", "exploit", "infostate")
    refused += ["--player"] if options.player is not None else []
    if refused:
        raise ConfigError(f"[*] lists cards, not hands: give it without {', '.join(refused)}")
    if options.plot is not None:
        check_plot_path(options.plot)
    if options.values:
        solved.read_values()
    reporter = ConsoleReporter(make_console(is_quiet=options.quiet))
    report = RunoutReport(solved, options.line or "", sort=options.sort, unit=options.unit, reporter=reporter)
    if options.json:
        write_document(format_json(report.as_json()), options.out, is_quiet=options.quiet)
    elif options.csv:
        write_document(report.as_csv(), options.out, is_quiet=options.quiet)
    else:
        print_result(report.as_text(options.limit), is_quiet=options.quiet)
        _say_limit(options, len(report.order), "cards", "--limit 0 shows all")
        _say_values(options, has_values=report.found["has_values"])
    if options.plot is not None:
        report.draw(options.plot)
        make_console(is_quiet=options.quiet).print(f"written to {options.plot}")


def _say_values(options: ShowOptions, *, has_values: bool) -> None:
    """Says how to get values where they are left out because of the size of the file."""
    if not has_values:
        make_console(is_quiet=options.quiet).print("EVs here need all of this large file: --values reads it")


def _say_limit(options: ShowOptions, num_rows: int, what: str, hint: str) -> None:
    if options.limit and num_rows > options.limit:
        make_console(is_quiet=options.quiet).print(f"{options.limit} of {num_rows:,} {what}; {hint}")


def _show_table(options: ShowOptions, file: SolvedGame) -> None:
    if refused := _asked(options, *HAND_OPTIONS[1:], "plot"):
        raise ConfigError(f"{refused[0]} is for hold'em spots, and {options.file} is a game's; use --infostate")
    if options.line is not None:
        _show_state(options, file)
        return
    strategy = file.table
    matching = list(_matching_rows(strategy, options))
    rows = matching[: options.limit or None]
    if options.json:
        described = {**file.describe(), "num_matching": len(matching), "rows": [_row(strategy, row) for row in rows]}
        write_document(format_json(described), options.out, is_quiet=options.quiet)
    elif options.csv:
        write_document(format_csv(strategy.to_rows(rows)), options.out, is_quiet=options.quiet)
    else:
        print_result(_as_table(strategy, rows, file.game), is_quiet=options.quiet)
        if len(rows) < len(matching):
            make_console(is_quiet=options.quiet).print(
                f"{len(rows)} of {len(matching):,} information states; --limit 0 shows all"
            )
    if not matching:
        make_console(is_quiet=options.quiet).print("no information state matches", style="yellow")


def _show_state(options: ShowOptions, file: SolvedGame) -> None:
    """Shows one public state of a game: what each information state of its actor does, and what that is worth."""
    if options.csv:
        raise ConfigError("--csv lists information states: give it without --line")
    place = describe_node(file, options.line or "")
    if options.json:
        write_document(format_json({**file.describe(), "place": place}), options.out, is_quiet=options.quiet)
        return
    where = f"{place['line'] or 'root'}: {place['kind']}, reached with probability {place['reach']:.4g}"
    table = Table()
    table.add_column("information state", overflow="fold")
    for name in ("odds", "value", *(action["name"] for action in place["actions"])):
        table.add_column(name, justify="right")
    if place["player"] is not None:
        own = place["players"][place["player"]]
        rows = zip(own["infostates"], own["odds"], own["ev"], place["strategy"], strict=True)
        table.caption = _explain_place(file.game, place["player"], own["infostates"])
        for infostate, odds, value, shares in rows:
            shown = "-" if value is None else f"{value:.4g}"
            table.add_row(infostate, f"{odds:.3g}", shown, *(f"{100 * share:.1f}%" for share in shares))
    leads = ", ".join(repr(child["line"]) for child in place["children"][: options.limit or None])
    print_result(
        Group(f"{file.label}\n{where}", table, f"leads to {leads}" if leads else "the game is over"),
        is_quiet=options.quiet,
    )


def _explain_place(game: Game[Any], player: int, infostates: Sequence[str]) -> str | None:
    """Returns what everybody has seen at a place, in words; None if its game has none."""
    said = explain_infostate(game, player, infostates[0]) if infostates else None
    return None if said is None else said.partition("; ")[2]


def _matching_rows(strategy: TabularStrategy, options: ShowOptions) -> Iterator[int]:
    """Yields the rows of a strategy that the options ask for."""
    pattern = options.infostate
    for row, infostate in enumerate(strategy.infostates):
        if options.player is not None and strategy.player[row] != options.player:
            continue
        if pattern is None or pattern in infostate or fnmatch.fnmatchcase(infostate, pattern):
            yield row


def _row(strategy: TabularStrategy, row: int) -> dict[str, Any]:
    return {
        "player": int(strategy.player[row]),
        "infostate": strategy.infostates[row],
        "actions": strategy.row(row),
    }


def _as_table(strategy: TabularStrategy, rows: list[int], game: Game[Any]) -> Table:
    words = [explain_infostate(game, int(strategy.player[row]), strategy.infostates[row]) for row in rows]
    plays = [[f"{name} {probability:.4f}" for name, probability in strategy.row(row).items()] for row in rows]
    names = [strategy.infostates[row] for row in rows]
    columns = (["information state", *names], [one or "" for one in words], map("  ".join, plays))
    widths = [max(map(len, cells), default=0) for cells in columns]
    is_narrow = sum(widths) + ROOM_AROUND > make_console(is_stderr=False).width
    table = Table(title=strategy.game_label, title_justify="left")
    table.add_column("player", justify="right")
    table.add_column("information state", overflow="fold")
    has_words = any(words) and make_console(is_stderr=False).width >= LEAST_FOR_WORDS
    if has_words:
        table.add_column("in words", overflow="fold")
    table.add_column("strategy", no_wrap=is_narrow, overflow="fold")
    for row, name, said, play in zip(rows, names, words, plays, strict=True):
        cells = [name, *([said or ""] if has_words else []), ("\n" if is_narrow else "  ").join(play)]
        table.add_row(str(strategy.player[row]), *cells)
    return table
