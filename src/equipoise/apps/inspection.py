# SPDX-License-Identifier: Apache-2.0
"""`equipoise evaluate` and `equipoise show`: what a saved strategy is worth, and what it does."""

from __future__ import annotations

import csv
import dataclasses
import fnmatch
import io
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final

import numpy as np
import typer
from rich.console import Group
from rich.table import Table

from equipoise.abstraction.solutions import open_solution
from equipoise.agents.notation import AGENTS
from equipoise.apps.display import ConsoleReporter, describe_figures, make_console
from equipoise.apps.evaluate_agent import evaluate_agent, is_agent_text
from equipoise.apps.grading import Graded, Grading, grade
from equipoise.apps.output import format_json, print_result, write_json
from equipoise.apps.show_spot import EndReport, SpotReport, evaluate_spot
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import ConfigError
from equipoise.core.files import write_atomically
from equipoise.core.formatting import format_duration, format_small, format_utility
from equipoise.evaluation.plots import check_plot_path
from equipoise.games.base import Game
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.line_notation import parse_decision, parse_line
from equipoise.kernels.calls import MAX_THREADS
from equipoise.responses.forms import BoardForm
from equipoise.responses.notation import ResponseSpec, parse_responses
from equipoise.responses.tables import as_play_table
from equipoise.runs.preparation import FINAL_PLAYOUTS, build_any_tree, find_tree
from equipoise.solvers.best_response import Evaluation, bind_kernel
from equipoise.solvers.best_response import evaluate as evaluate_strategy
from equipoise.solvers.description import describe_node
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.playouts import sample_figures, strategy_policy
from equipoise.solvers.solution_file import SolvedGame
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.history import DEFAULT_MAX_HISTORIES, HistoryTree
from equipoise.trees.public import PublicTree

__all__ = ["EvaluateOptions", "ShowOptions", "evaluate", "show"]

SHOWN: Final = (Kind.RUN, Kind.STRATEGY, Kind.SPOT)  # kinds of files that are evaluated and shown
NUM_RESPONSES: Final = 100  # draws of responses that sample, unless others are asked for


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """What `equipoise evaluate` is told."""

    file: Annotated[Path, typer.Argument(help="A file written by `solve --out`, or an agent as in `match`.")]
    game: Annotated[str | None, typer.Option("--game", "-g", help="Of an agent: what it plays.")] = None
    parameters: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="A parameter of --game.", metavar="KEY=VALUE")
    ] = None
    seeds: Annotated[int, typer.Option(min=1, help="Of an agent: strategies to assemble, one a seed.")] = 1
    whole_states: Annotated[
        bool, typer.Option("--whole-states", help="Of an agent: ask for whole public states, not information states.")
    ] = False
    max_histories: Annotated[int, typer.Option(min=1, help="Refuse games with more.")] = DEFAULT_MAX_HISTORIES
    threads: Annotated[int, typer.Option(min=1, max=MAX_THREADS, help="Size of the team.")] = 1
    responses: Annotated[
        str | None,
        typer.Option(
            help="Also say what it earns against responses, in this order, as in uct:100,uct:1000,best.",
            metavar="RESPONSE,...",
        ),
    ] = None
    num_responses: Annotated[
        int | None, typer.Option(min=1, help="With --responses: draws of those that sample, 100 unless given.")
    ] = None
    seed: Annotated[int | None, typer.Option(min=0, help="With --responses: of the draws, 0 unless given.")] = None
    plot: Annotated[Path | None, typer.Option(help="With --responses: draw them, .png, .svg or .pdf.")] = None
    json: Annotated[bool, typer.Option("--json", help="Write the result as JSON to standard output.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages, progress or tables.")] = False


def evaluate(options: EvaluateOptions) -> None:
    """Say exactly what a saved strategy earns and what a best response would gain.

    Where a run without a tree solved a game too large for one, say why there is no exact answer, and what is sampled.
    """
    if options.plot is not None:
        check_plot_path(options.plot)
    if options.responses is None:
        for name in ("plot", "num_responses", "seed"):
            if getattr(options, name) is not None:
                raise ConfigError(f"--{name.replace('_', '-')} is for what --responses LIST measures: no list is given")
    specs = () if options.responses is None else parse_responses(options.responses)
    if is_agent_text(options.file):
        if specs:
            raise ConfigError(f"--responses are for strategies in files, and {options.file} is an agent")
        evaluate_agent(
            str(options.file),
            game_name=options.game,
            parameters=options.parameters,
            num_seeds=options.seeds,
            is_public=options.whole_states,
            max_histories=options.max_histories,
            is_json=options.json,
            is_quiet=options.quiet,
        )
        return
    if options.game is not None or options.parameters or options.whole_states:
        raise ConfigError(
            f"--game, -p and --whole-states are of agents ({', '.join(AGENTS)}); {options.file} is taken for a file, "
            "which says itself what it plays"
        )
    with open_solution(options.file, *SHOWN) as solution:
        if isinstance(solution, SolvedGame):
            _evaluate_table(options, solution, specs)
            return
        assert isinstance(solution, SolvedSpot)
        _evaluate_spot(options, solution, specs)


def _evaluate_table(options: EvaluateOptions, file: SolvedGame, specs: tuple[ResponseSpec, ...]) -> None:
    """Evaluates a strategy of information states, graded by responses if there are any."""
    console = make_console(is_quiet=options.quiet)
    game = file.game
    tree: HistoryTree | PublicTree
    if not file.is_partial:
        tree = build_any_tree(game, max_histories=options.max_histories, reporter=ConsoleReporter(console))
    else:
        found, why = find_tree(game, max_histories=options.max_histories, reporter=ConsoleReporter(console))
        if found is None:
            if specs:
                raise ConfigError(f"--responses need a tree: {why}")
            _report_samples(options, file, game, why)
            return
        tree = found
    began = time.perf_counter()
    table = file.table.to_tree(tree, is_partial=file.is_partial)
    evaluation = evaluate_strategy(tree, table, num_threads=options.threads)
    seconds = time.perf_counter() - began
    num_histories = tree.num_histories if isinstance(tree, PublicTree) else tree.size.num_histories
    sizes = {"num_histories": num_histories, "num_infosets": tree.size.num_infosets}
    if not specs:
        _report_evaluation(options, file.describe(), sizes, evaluation, seconds)
        return
    graded = grade(tree, table, specs, _make_grading(options), console)
    _report_evaluation(options, file.describe(), sizes, evaluation, seconds, graded)
    graded.end(console)


def _evaluate_spot(options: EvaluateOptions, solved: SolvedSpot, specs: tuple[ResponseSpec, ...]) -> None:
    """Evaluates a solved spot, graded by responses if there are any."""
    began = time.perf_counter()
    described, evaluation = evaluate_spot(solved, num_threads=options.threads)
    seconds = time.perf_counter() - began
    sizes = {"num_histories": None, "num_infosets": None}
    if not specs:
        _report_evaluation(options, described, sizes, evaluation, seconds)
        return
    console = make_console(is_quiet=options.quiet)
    form = BoardForm(solved.tree, kernel=bind_kernel(solved.tree, locks=solved.locks))
    graded = grade(form, as_play_table(solved.strategy_sum.read()), specs, _make_grading(options), console)
    _report_evaluation(options, described, sizes, evaluation, seconds, graded)
    graded.end(console)


def _make_grading(options: EvaluateOptions) -> Grading:
    num_responses = NUM_RESPONSES if options.num_responses is None else options.num_responses
    return Grading(num_responses=num_responses, seed=options.seed or 0, plot=options.plot)


def _report_evaluation(
    options: EvaluateOptions,
    described: Mapping[str, Any],
    sizes: Mapping[str, int | None],
    evaluation: Evaluation,
    seconds: float,
    graded: Graded | None = None,
) -> None:
    """Says what an exact evaluation found, and what responses did."""
    if not options.json:
        _print_evaluation(options, described, evaluation, seconds)
        if graded is not None:
            print_result(graded.as_table(), is_quiet=options.quiet)
        return
    write_json(
        {
            **described,
            "file": str(options.file),
            "exploitability": evaluation.exploitability,
            "nash_conv": evaluation.nash_conv,
            "game_value": evaluation.values[0],
            "values": list(evaluation.values),
            "best_response_values": list(evaluation.best_response_values),
            **sizes,
            "seconds": seconds,
            "why": None,
            "sampled": None,
            **({} if graded is None else graded.as_json()),
        }
    )


def _report_samples(options: EvaluateOptions, file: SolvedGame, game: Game[Any], why: str) -> None:
    """Says why a strategy has no exact evaluation, and what games against uniform opponents gave."""
    began = time.perf_counter()
    figures = sample_figures(
        game,
        strategy_policy(file.table),
        num_infostates=len(file.table.infostates),
        regret_bound=file.regret_bound,
        num_playouts=FINAL_PLAYOUTS,
        rng=np.random.default_rng(0),
    )
    unknown = (
        "exploitability",
        "nash_conv",
        "game_value",
        "values",
        "best_response_values",
        "num_histories",
        "num_infosets",
    )
    if options.json:
        result = {**file.describe(), "file": str(options.file), **dict.fromkeys(unknown)}
        seconds = time.perf_counter() - began
        write_json({**result, "seconds": seconds, "why": why, "sampled": dataclasses.asdict(figures)})
        return
    lines = [f"{name}: {text}" for name, text in describe_figures(figures).items()]
    print_result("\n".join([f"exploitability not known: {why}", *lines]), is_quiet=options.quiet)


def _print_evaluation(
    options: EvaluateOptions, described: Mapping[str, Any], evaluation: Evaluation, seconds: float
) -> None:
    table = Table(title=f"{described['label']}, evaluated in {format_duration(seconds)}", title_justify="left")
    for name in ("player", "value", "best response", "gain"):
        table.add_column(name, justify="right")
    for player, (value, best) in enumerate(zip(evaluation.values, evaluation.best_response_values, strict=True)):
        table.add_row(str(player), format_utility(value), format_utility(best), format_small(best - value))
    exploitability, nash_conv = format_small(evaluation.exploitability), format_small(evaluation.nash_conv)
    free = described.get("exploitability_without_locks")
    beside = "" if free is None else f" (without locks {format_small(free)})"
    print_result(
        Group(table, f"exploitability {exploitability}{beside}, nash_conv {nash_conv}"), is_quiet=options.quiet
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """What `equipoise show` is told."""

    file: Annotated[Path, typer.Argument(help="A file written by `solve --out`.")]
    infostate: Annotated[
        str | None,
        typer.Option(
            "--infostate", "-i", help="Only information states (of a spot: hands) with this text, or like this glob."
        ),
    ] = None
    player: Annotated[int | None, typer.Option(min=0, help="Only this player's, from 0.")] = None
    node: Annotated[
        str | None,
        typer.Option(help="The place: 'check, bet 50%, call, [7h]' of a spot, a public state of a game."),
    ] = None
    values: Annotated[
        bool, typer.Option("--values", help="Of a spot: values even if a large file must be read whole for them.")
    ] = False
    grid: Annotated[bool, typer.Option("--grid", help="Of a spot: the square of hand classes.")] = False
    limit: Annotated[int, typer.Option(min=0, help="At most so many; 0: all.")] = 50
    json: Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")] = False
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV: a line for each action; of a spot: for each hand.")] = (
        False
    )
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write JSON or CSV to this file instead.")] = None


def show(options: ShowOptions) -> None:
    """Show a saved strategy: at each information state, or of a spot for each hand, the probability of each action."""
    if options.json and options.csv:
        raise ConfigError("--json and --csv are two formats: give one of them")
    if options.grid and (options.json or options.csv):
        raise ConfigError("--grid is a picture for people: give it without --json and --csv, which list hand by hand")
    if options.out is not None and not (options.json or options.csv):
        raise ConfigError("--out needs a format: give --csv or --json with it")
    with open_solution(options.file, *SHOWN) as solution:
        if isinstance(solution, SolvedGame):
            _show_table(options, solution)
        else:
            assert isinstance(solution, SolvedSpot)
            _show_spot(options, solution)


def _show_spot(options: ShowOptions, solved: SolvedSpot) -> None:
    betting, spot = solved.tree.betting, solved.spot
    line = parse_line(options.node or "", betting, spot.board, spot.deck)
    asks_for_hands = options.csv or options.grid or options.infostate is not None or options.player is not None
    if betting.nodes[line.node].kind is not NodeKind.DECISION and not asks_for_hands:
        end = EndReport(solved, line)
        if options.json:
            _write(options, format_json(end.as_json()))
        else:
            print_result(end.as_text())
        return
    line = parse_decision(options.node or "", betting, spot.board, spot.deck)
    report = SpotReport(solved, line, options.infostate, has_values=options.values)
    if options.player is not None and options.player != report.view.actor:
        raise ConfigError(f"player {options.player} does not act at {report.place or 'the root'!r}")
    if options.json:
        _write(options, format_json(report.as_json(options.limit)))
    elif options.csv:
        _write(options, report.as_csv())
    else:
        print_result(report.as_text(has_grid=options.grid, limit=options.limit))
        if not options.grid and options.limit and len(report.rows) > options.limit:
            make_console().print(
                f"{options.limit} of {len(report.rows):,} hands; --limit 0 shows all, --grid a summary"
            )
    if not report.rows:
        make_console().print("no hand matches", style="yellow")


def _show_table(options: ShowOptions, file: SolvedGame) -> None:
    if options.grid:
        raise ConfigError(f"--grid is for hold'em spots, and {options.file} is a game's; use --infostate")
    if options.node is not None:
        _show_state(options, file)
        return
    strategy = file.table
    matching = list(_matching_rows(strategy, options))
    rows = matching[: options.limit or None]
    if options.json:
        described = {**file.describe(), "num_matching": len(matching), "rows": [_row(strategy, row) for row in rows]}
        _write(options, format_json(described))
    elif options.csv:
        _write(options, _as_csv(strategy, rows))
    else:
        print_result(_as_table(strategy, rows))
        if len(rows) < len(matching):
            make_console().print(f"{len(rows)} of {len(matching):,} information states; --limit 0 shows all")
    if not matching:
        make_console().print("no information state matches", style="yellow")


def _show_state(options: ShowOptions, file: SolvedGame) -> None:
    """Shows one public state of a game: what each information state of its actor does, and what that is worth."""
    if options.csv:
        raise ConfigError("--csv lists information states: give it without --node")
    place = describe_node(file, options.node or "")
    if options.json:
        _write(options, format_json({**file.describe(), "place": place}))
        return
    where = f"{place['line'] or 'root'}: {place['kind']}, reached with probability {place['reach']:.4g}"
    table = Table()
    table.add_column("information state", overflow="fold")
    for name in ("odds", "value", *(action["name"] for action in place["actions"])):
        table.add_column(name, justify="right")
    if place["player"] is not None:
        own = place["players"][place["player"]]
        rows = zip(own["infostates"], own["odds"], own["ev"], place["strategy"], strict=True)
        for infostate, odds, value, shares in rows:
            shown = "-" if value is None else f"{value:.4g}"
            table.add_row(infostate, f"{odds:.3g}", shown, *(f"{100 * share:.1f}%" for share in shares))
    leads = ", ".join(repr(child["line"]) for child in place["children"][: options.limit or None])
    print_result(Group(f"{file.label}\n{where}", table, f"leads to {leads}" if leads else "the game is over"))


def _write(options: ShowOptions, text: str) -> None:
    """Writes a document to the file that was asked for, or to standard output."""
    if options.out is None:
        typer.echo(text, nl=False)
        return
    write_atomically(options.out, lambda file: _write_encoded(file, text))
    make_console().print(f"written to {options.out}")


def _write_encoded(file: BinaryIO, text: str) -> None:
    file.write(text.encode())


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


def _as_csv(strategy: TabularStrategy, rows: list[int]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["player", "infostate", "action", "probability"])
    for row in rows:
        for action, probability in strategy.row(row).items():
            writer.writerow([int(strategy.player[row]), strategy.infostates[row], action, repr(probability)])
    return buffer.getvalue()


def _as_table(strategy: TabularStrategy, rows: list[int]) -> Table:
    table = Table(title=strategy.game_label, title_justify="left")
    table.add_column("player", justify="right")
    table.add_column("information state", overflow="fold")
    table.add_column("strategy", overflow="fold")
    for row in rows:
        actions = "  ".join(f"{name} {probability:.4f}" for name, probability in strategy.row(row).items())
        table.add_row(str(strategy.player[row]), strategy.infostates[row], actions)
    return table
