# SPDX-License-Identifier: Apache-2.0
"""`equipoise match`: agents against each other, with intervals; more than two meet each other in pairs."""

from __future__ import annotations

import dataclasses
import math
import textwrap
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import typer
from rich.console import Console, Group, RenderableType
from rich.table import Table

from equipoise.agents.notation import AgentText, describe_agents, limit_seconds
from equipoise.apps.display import ConsoleReporter, make_console
from equipoise.apps.exit_codes import ExitCode
from equipoise.apps.output import make_rows, print_result, write_json
from equipoise.apps.shared_options import FileGame, GameParameters, Json, PlayWorkers, Quiet
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.errors import ConfigError
from equipoise.core.files import check_writable, lock
from equipoise.core.formatting import format_duration
from equipoise.core.local_pool import LocalPool
from equipoise.core.machine import describe_origin
from equipoise.core.runs import RunFolder
from equipoise.evaluation.cross_table import CrossTable, play_cross_table
from equipoise.evaluation.histories import HandWriter
from equipoise.evaluation.matches import (
    LEAST_SAMPLES,
    LEAST_UNLIKE,
    ChunkPlayer,
    MatchConfig,
    MatchResult,
    run_match,
)
from equipoise.evaluation.ratings import fit_elo
from equipoise.evaluation.statistics import Estimate, big_blind_of, describe_estimate, format_estimate
from equipoise.games.base import Game
from equipoise.games.registry import format_game
from equipoise.runs.matches import Known, MatchRequest, Runner, find_game, make_player, open_hands

__all__ = ["Keeping", "MatchOptions", "match", "run_shown"]

KIND: Final = "match"  # of a run's folder
SECONDS_BETWEEN_EVENTS: Final = 1.0
LONGEST_TITLE: Final = 200
DEFAULT_SECONDS: Final = 50.0  # of play where neither hands nor a precision are asked for: a minute with the rest


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MatchOptions:
    """What `equipoise match` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise match uniform call --game leduc --hands 10000",
        "equipoise match file:leduc.eq uniform --hands 10000 --workers 2",
        "equipoise match call fold raise --game holdem --hands 200",
        "equipoise match call uniform --game holdem -n 40 --all-in-cards --hands-out hands.phh",
    )
    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "What is played": ("game", "parameters", "hands", "precision", "confidence", "seed"),
        "How": ("runner", "duplicate", "all_in_expectation", "aivat", "known", "seconds_per_decision", "workers"),
        "Where to keep it": ("out", "hands_out", "run", "resume", "overwrite", "json", "quiet"),
    }

    agents: Annotated[list[str], typer.Argument(help=f"Two or more agents: {describe_agents()}.", metavar="AGENT...")]
    game: FileGame = None
    parameters: GameParameters = None
    hands: Annotated[
        int | None,
        typer.Option(
            "--hands",
            "-n",
            min=1,
            help="Games to play, each seating being one (default: 10,000, or what a minute has room for).",
        ),
    ] = None
    precision: Annotated[
        float | None, typer.Option(help="Stop once the interval reaches so far to each side (mbb where there are any).")
    ] = None
    confidence: Annotated[float, typer.Option(help="Of intervals, between 0 and 1.")] = 0.95
    seed: Annotated[int, typer.Option(min=0, help="Of deals and of agents.")] = 0
    runner: Annotated[Runner, typer.Option(help="How deals are played.")] = Runner.AUTO
    duplicate: Annotated[
        bool, typer.Option("--duplicate/--single", help="Every deal in every seat, or seats that alternate.")
    ] = True
    all_in_expectation: Annotated[
        bool, typer.Option("--all-in-expectation/--all-in-cards", help="How all-ins of hold'em are scored.")
    ] = True
    aivat: Annotated[
        Path | None, typer.Option(help="Score by AIVAT, guesses from the strategy in this file.", metavar="FILE")
    ] = None
    known: Annotated[Known, typer.Option(help="Whose strategies AIVAT uses: of all who can say theirs.")] = Known.ABLE
    seconds_per_decision: Annotated[
        float | None, typer.Option(help="The longest that agents which search may take.", metavar="S")
    ] = None
    workers: PlayWorkers = 1
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Keep the games' scores there.")] = None
    hands_out: Annotated[
        Path | None,
        typer.Option(help="Write down what was played: FILE.phh (hold'em) or FILE.txt.", metavar="FILE"),
    ] = None
    run: Annotated[
        Path | None,
        typer.Option(help="Keep the match in this folder: what was asked for, events, games.", metavar="DIR"),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the match in --out or --run.")] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing --out or --run.")] = False
    json: Json = False
    quiet: Quiet = False


def match(options: MatchOptions) -> None:
    """Play agents against each other: seats swapped on the same deals, means with intervals.

    Three or more agents of a game for two meet each other in pairs: a table of winnings, and rankings.
    """
    if options.run is None:
        _match(options, None)
        return
    if options.out is not None:
        raise ConfigError(f"--run {options.run} has a file of its own: leave out --out {options.out}")
    folder = RunFolder.open_or_create(
        options.run, KIND, dataclasses.asdict(options), is_resumed=options.resume, is_overwritten=options.overwrite
    )
    with folder.writing():
        folder.record("begin")
        _match(dataclasses.replace(options, out=folder.result), folder)


def _match(options: MatchOptions, folder: RunFolder | None) -> None:
    """Plays; a folder is told how it goes."""
    console = make_console(is_quiet=options.quiet)
    makers = limit_seconds([AgentText(text) for text in options.agents], options.seconds_per_decision)
    if len(makers) < 2:
        raise ConfigError(f"a match needs at least two agents, got {len(makers)}")
    game = find_game(makers, options.game, options.parameters)
    is_table = game.spec.num_players == 2 and len(makers) > 2
    if not is_table and len(makers) != game.spec.num_players:
        raise ConfigError(f"{game.spec.name} is played by {game.spec.num_players} agents, got {len(makers)}")
    with SignalFlag() as flag, LocalPool(options.workers) as pool:
        if is_table:
            table = _play_table(options, game, makers, pool, flag, console, folder)
            _report_table(options, game, table)
            is_missed = False
        else:
            result = _play_pair(options, game, makers, pool, flag, console, options.out, folder)
            _report_match(options, game, result)
            is_missed = options.precision is not None and result.stopped_by == "deals"
    if folder is not None:
        folder.record("end", stopped_by="interrupted" if flag() else "deals" if is_table else result.stopped_by)
    if not is_table:
        _explain_end(options, result, console)
    if flag():
        hint = "" if options.out is None else "; the same command with --resume goes on"
        console.print(f"interrupted: these are the games so far{hint}", style="yellow")
        raise typer.Exit(flag.exit_code)
    if is_missed:
        console.print(explain_miss(options.precision, result), style="yellow")
        raise typer.Exit(ExitCode.TARGET_NOT_REACHED)


def _explain_end(options: MatchOptions, result: MatchResult, console: Console) -> None:
    """Says why a match ended before its time, if it did; raises if an agent failed."""
    if result.failure is not None:
        console.print(f"error: {result.failure}", style="red", markup=False)
        console.print(f"these are the {result.num_hands:,} hands before", style="yellow")
        raise typer.Exit(ExitCode.FAILED)
    if result.stopped_by == "time":
        console.print(
            f"a minute is over after {result.num_hands:,} hands: --hands or --precision ask for more", style="yellow"
        )


def explain_miss(precision: float | None, result: MatchResult) -> str:
    """Returns why a match ended before the wanted precision was reached."""
    said = f"precision {precision:g} not reached: stopped by the number of hands"
    if result.config.precision is None or result.estimate().half_width > result.config.precision:
        return said
    return f"{said} (it takes {LEAST_SAMPLES} deals, {LEAST_UNLIKE} of them unlike the most frequent result)"


def _play_pair(
    options: MatchOptions,
    game: Game[Any],
    makers: list[AgentText],
    pool: LocalPool,
    flag: SignalFlag,
    console: Console,
    out: Path | None,
    folder: RunFolder | None,
) -> MatchResult:
    given = {field.name: getattr(options, field.name) for field in dataclasses.fields(MatchRequest)}
    request = MatchRequest(**{name: value for name, value in given.items() if value is not None})
    play = make_player(request, game, makers, ConsoleReporter(console))
    kept = options.hands_out
    if kept is not None and kept.exists() and not (options.resume or options.overwrite):
        raise ConfigError(f"{kept} exists: --overwrite replaces it, --resume with --out goes on with it")
    hands = open_hands(request, game, play.names, is_resumed=options.resume)
    result = run_shown(
        play,
        play.config,
        game=game,
        pool=pool,
        flag=flag,
        console=console,
        keeping=Keeping(out, is_resumed=options.resume, is_overwritten=options.overwrite),
        folder=folder,
        budget_seconds=None if options.hands or options.precision else DEFAULT_SECONDS,
        on_hands=hands,
    )
    if hands is not None:
        hands.close()
        console.print(f"{hands.num_hands:,} hands written to {hands.path}")
    return result


@dataclasses.dataclass(frozen=True, slots=True)
class Keeping:
    """Where the scores of a match are kept."""

    out: Path | None
    is_resumed: bool
    is_overwritten: bool


def run_shown(
    play: ChunkPlayer,
    config: MatchConfig,
    *,
    game: Game[Any],
    pool: LocalPool,
    flag: SignalFlag,
    console: Console,
    keeping: Keeping,
    folder: RunFolder | None = None,
    budget_seconds: float | None = None,
    on_hands: HandWriter | None = None,
) -> MatchResult:
    """Returns the result of a match whose progress is shown, and which is kept; a folder is told of it."""
    out, is_resumed, is_overwritten = keeping.out, keeping.is_resumed, keeping.is_overwritten
    if is_resumed and out is None:
        raise ConfigError("--resume goes on with the match in --out FILE, and there is none")
    if out is not None:
        if out.exists() and not (is_resumed or is_overwritten):
            raise ConfigError(f"{out} exists: --resume goes on with it, --overwrite replaces it")
        check_writable(out)
    blind = big_blind_of(game)
    title = " v ".join(play.names)

    last_told = -math.inf

    def tell(share: float, so_far: Estimate) -> None:
        nonlocal last_told
        if folder is not None and time.monotonic() - last_told >= SECONDS_BETWEEN_EVENTS:
            folder.record("progress", agents=list(play.names), share=share, **describe_estimate(so_far, blind))
            last_told = time.monotonic()

    def run() -> MatchResult:
        with TaskDisplay(console, title) as display:

            def on_progress(share: float, so_far: Estimate) -> None:
                display.update(share, format_estimate(so_far, blind))
                tell(share, so_far)

            return run_match(
                play,
                config,
                pool=pool,
                path=out,
                is_resumed=is_resumed,
                label=game.spec.label,
                on_progress=on_progress,
                should_stop=flag,
                budget_seconds=budget_seconds,
                on_hands=on_hands,
            )

    if out is None:
        return run()
    with lock(out):
        result = run()
    console.print(f"games kept in {out}")
    return result


def _play_table(
    options: MatchOptions,
    game: Game[Any],
    makers: list[AgentText],
    pool: LocalPool,
    flag: SignalFlag,
    console: Console,
    folder: RunFolder | None,
) -> CrossTable:
    def play(first: int, second: int) -> MatchResult | None:
        if flag():
            return None
        out = options.out
        if out is not None:
            out = _name_pair(out, first, second)
        hands_out = options.hands_out and _name_pair(options.hands_out, first, second)
        pair = dataclasses.replace(options, hands_out=hands_out)
        result = _play_pair(pair, game, [makers[first], makers[second]], pool, flag, console, out, folder)
        if result.failure is not None:
            console.print(f"error: {result.failure}", style="red", markup=False)
        return result

    return play_cross_table([maker.name for maker in makers], play)


def _name_pair(path: Path, first: int, second: int) -> Path:
    """Returns the file of one pair of a table."""
    return path.with_name(f"{path.stem}-{first}-{second}{path.suffix}")


def _report_match(options: MatchOptions, game: Game[Any], result: MatchResult) -> None:
    blind = big_blind_of(game)
    results = [result.count_results(agent) for agent in range(len(result.names))]
    is_scored = options.aivat is None  # estimates have no winner
    elo = None
    if is_scored and len(result.names) == 2 and blind is None:  # where there are chips, they say it better
        won, drawn, lost = results[0]
        ratings = fit_elo(result.names, [[0, won + drawn / 2], [lost + drawn / 2, 0]], anchor=1)
        elo = {"difference": ratings.elo[0], "half_width": ratings.half_widths[0]}
    rate = result.num_hands / result.seconds if result.seconds > 0 else None
    if options.json:
        write_json(
            {
                "game": game.spec.name,
                "label": game.spec.label,
                "agents": [
                    {
                        "name": name,
                        **describe_estimate(result.estimate(agent), blind),
                        "p_value": result.estimate(agent).p_value,
                        "results": list(results[agent]) if is_scored else None,
                    }
                    for agent, name in enumerate(result.names)
                ],
                "elo": elo,
                "num_deals": result.num_deals,
                "num_hands": result.num_hands,
                "stopped_by": result.stopped_by,
                "failure": result.failure,
                "seconds": result.seconds,
                "hands_per_second": rate,
                "seed": options.seed,
                "configuration": dataclasses.asdict(result.config),
                "aivat": _describe_aivat(options, result, blind),
                "out": None if options.out is None else str(options.out),
                "hands_out": None if options.hands_out is None else str(options.hands_out),
                **describe_origin(),
            }
        )
        return
    name = textwrap.shorten(format_game(game), LONGEST_TITLE, placeholder=" ...)")  # ranges may name every hand
    title = f"{name}, {result.num_hands:,} hands in {format_duration(result.seconds)}"
    is_ring = len(result.names) > 2  # whose results papers tell by standard errors and one-tailed tests
    rows = []
    for agent, name in enumerate(result.names):
        counts = [f"{count:,}" for count in results[agent]] if is_scored else ["-"] * 3
        estimate = result.estimate(agent)
        tested = [_format_error(estimate, blind), f"{estimate.p_value:.3f}"] if is_ring else []
        rows.append([name, format_estimate(estimate, blind), *tested, *counts])
    heads = ("agent", "wins a hand", *(("standard error", "p, one-tailed") if is_ring else ()), "won", "drawn", "lost")
    parts: list[RenderableType] = [make_rows(heads, rows, title=title, spare=("drawn", "lost", "won"))]
    if elo is not None:
        parts.append(f"Elo {elo['difference']:+.0f} ± {elo['half_width']:.0f} by games won")
    parts.append(f"± is half an interval of {options.confidence:.0%} confidence over {result.num_deals:,} deals")
    if result.won is not None:
        parts.append(_explain_aivat(result, blind))
    print_result(Group(*parts), is_quiet=options.quiet)


def _format_error(estimate: Estimate, blind: float | None) -> str:
    """Returns a standard error in the unit of results."""
    return f"{estimate.standard_error:.2g}" if blind is None else f"{1000 * estimate.standard_error / blind:,.0f} mbb/h"


def _describe_aivat(options: MatchOptions, result: MatchResult, blind: float | None) -> dict[str, Any] | None:
    """Returns how games were scored as JSON values; None if by what was won."""
    if result.won is None:
        return None
    return {
        "guesses": str(options.aivat),
        "known": list(result.known),
        "won": describe_estimate(result.estimate_won(), blind),
        "times_less": result.times_less(),
    }


def _explain_aivat(result: MatchResult, blind: float | None) -> str:
    """Returns what AIVAT was told and what it was good for."""
    known = " and ".join(result.known) or "nobody"
    won = f"by chips alone {result.names[0]} wins {format_estimate(result.estimate_won(), blind)}"
    times = result.times_less()
    if times is None:
        return f"AIVAT, knowing {known}; {won}"
    return f"AIVAT, knowing {known}: deals scatter {times:.1f} times less, worth {times**2:,.0f} times the deals; {won}"


def _report_table(options: MatchOptions, game: Game[Any], table: CrossTable) -> None:
    blind = big_blind_of(game)
    bankroll = runoff = elo = None
    if table.is_complete:
        order, means = table.rank_by_bankroll()
        bankroll = [{"name": table.names[agent], "mean": float(means[agent])} for agent in order]
        runoff = [table.names[agent] for agent in table.rank_by_runoff()]
        if options.aivat is None and blind is None:
            ratings = table.fit_elo(confidence=options.confidence)
            rows = zip(ratings.names, ratings.elo, ratings.half_widths, strict=True)
            elo = [{"name": name, "elo": value, "half_width": width} for name, value, width in rows]
    if options.json:
        pairs = [
            {"first": table.names[first], "second": table.names[second], **describe_estimate(estimate, blind)}
            for (first, second), estimate in table.estimates.items()
        ]
        write_json(
            {
                "game": game.spec.name,
                "label": game.spec.label,
                "agents": list(table.names),
                "pairs": pairs,
                "bankroll": bankroll,
                "runoff": runoff,
                "elo": elo,
                "is_partial": not table.is_complete,
                "seed": options.seed,
                **describe_origin(),
            }
        )
        return
    shown = Table(title=f"{format_game(game)}: what the row wins a hand against the column", title_justify="left")
    shown.add_column("")
    for name in table.names:
        shown.add_column(name, justify="right")
    for first, name in enumerate(table.names):
        cells = [table.estimates.get((first, second)) for second in range(len(table.names))]
        shown.add_row(name, *("" if cell is None else format_estimate(cell, blind) for cell in cells))
    parts: list[RenderableType] = [shown]
    if bankroll is not None and runoff is not None:
        parts.append("total bankroll: " + ", ".join(str(row["name"]) for row in bankroll))
        parts.append("instant runoff: " + ", ".join(runoff))
    if elo is not None:
        parts.append("Elo: " + ", ".join(f"{row['name']} {row['elo']:+.0f} ± {row['half_width']:.0f}" for row in elo))
    print_result(Group(*parts), is_quiet=options.quiet)
