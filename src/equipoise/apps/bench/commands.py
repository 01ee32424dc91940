# SPDX-License-Identifier: Apache-2.0
"""`equipoise bench`: the commands."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Protocol, TypeVar

import typer
from rich.console import Console

from equipoise.apps.bench.beliefs import BeliefsSettings, run_beliefs
from equipoise.apps.bench.decisions import DecisionsSettings, run_decisions
from equipoise.apps.bench.engines import ENGINES, GAMES, RULES
from equipoise.apps.bench.first_evening import FirstEveningSettings, run_first_evening
from equipoise.apps.bench.holdem import HoldemSettings, example_spots, run_holdem
from equipoise.apps.bench.matches import MatchesSettings, run_matches
from equipoise.apps.bench.page import PageSettings, run_page
from equipoise.apps.bench.peers import PeersSettings, load_peers, run_peers
from equipoise.apps.bench.report import (
    print_beliefs_report,
    print_decisions_report,
    print_first_evening_report,
    print_holdem_report,
    print_matches_report,
    print_page_report,
    print_peers_report,
    print_responses_report,
    print_search_report,
    print_tabular_report,
    print_values_report,
)
from equipoise.apps.bench.responses import ResponsesSettings, run_responses
from equipoise.apps.bench.search import SearchSettings, run_search
from equipoise.apps.bench.tabular import GROWTH_RANKS, Sizes, TabularSettings, run_tabular
from equipoise.apps.bench.values import ValuesSettings, run_values
from equipoise.apps.display import make_console
from equipoise.apps.exit_codes import ExitCode
from equipoise.apps.output import write_json
from equipoise.apps.parse import parse_names
from equipoise.apps.shared_options import Json, Quiet
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.errors import ConfigError
from equipoise.core.machine import num_usable_cores
from equipoise.core.reporting import OnStep
from equipoise.learning.values.labels import Labels
from equipoise.studies.endgames import load_endgames

__all__ = [
    "BeliefsOptions",
    "DecisionsOptions",
    "FirstEveningOptions",
    "HoldemOptions",
    "MatchesOptions",
    "PageOptions",
    "ResponsesOptions",
    "SearchOptions",
    "TabularOptions",
    "ValuesOptions",
    "beliefs",
    "decisions",
    "first_evening",
    "holdem",
    "matches",
    "page",
    "responses",
    "search",
    "tabular",
    "values",
]

TABLE_WIDTH: Final = 110  # letters that the widest table takes


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TabularOptions:
    """What `equipoise bench tabular` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = ("equipoise bench tabular --games kuhn,leduc --rules cfr,cfr+",)

    games: Annotated[str, typer.Option(help="Separated by commas.", metavar="NAME,NAME,...")] = ",".join(GAMES)
    rules: Annotated[str, typer.Option(help="Separated by commas.", metavar="NAME,NAME,...")] = ",".join(RULES)
    engines: Annotated[str, typer.Option(help="Separated by commas.", metavar="NAME,NAME,...")] = ",".join(ENGINES)
    repeats: Annotated[int, typer.Option(min=1, help="Measurements of each engine, interleaved.")] = 5
    seconds: Annotated[float, typer.Option(help="Least time of one measurement.")] = 1.0
    sizes: Annotated[Sizes, typer.Option(help="Trees whose growth is measured: to 1e6 histories, or to 1e7.")] = (
        Sizes.QUICK
    )
    growth: Annotated[bool, typer.Option("--growth/--no-growth", help="Measure cost against tree size.")] = True
    json: Json = False
    quiet: Quiet = False


def tabular(options: TabularOptions) -> None:
    """Time CFR in Equipoise, OpenSpiel and LiteEFG on the same games, and Equipoise on ever larger trees.

    Every engine runs in its own process and is first checked to compute the same. Engines that are not installed are
    left out with a word on how to install them.
    """
    settings = TabularSettings(
        games=parse_names("--games", options.games),
        rules=parse_names("--rules", options.rules),
        engines=parse_names("--engines", options.engines),
        repeats=options.repeats,
        seconds=options.seconds,
        growth_ranks=GROWTH_RANKS[options.sizes] if options.growth else (),
    )
    _measure("tabular", options, lambda on_step: run_tabular(settings, on_step=on_step), print_tabular_report)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemOptions:
    """What `equipoise bench holdem` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise bench holdem --threads 1,2",
        "equipoise bench holdem --endgames DIR",
        "equipoise bench holdem --peers FILE --threads 1",
    )

    endgames: Annotated[
        Path | None, typer.Option(help="Measure the Libratus endgames (subgame*.txt) of this directory.", metavar="DIR")
    ] = None
    peers: Annotated[
        Path | None,
        typer.Option(help="Solve the spots beside the programs that this TOML file names, in turns.", metavar="FILE"),
    ] = None
    threads: Annotated[
        str | None,
        typer.Option("--threads", "-t", help="Separated by commas; 1 and 2 if there are two cores.", metavar="N,N,..."),
    ] = None
    repeats: Annotated[int, typer.Option(min=1, help="Measurements of an iteration; the median counts.")] = 5
    seconds: Annotated[float, typer.Option(help="Least time of one measurement.")] = 1.0
    longest: Annotated[float, typer.Option(help="Seconds of iterations after which a target is given up.")] = 60.0
    json: Json = False
    quiet: Quiet = False


def holdem(options: HoldemOptions) -> None:
    """Time hold'em spots: an iteration, beside the time in which memory moves its tables, and the way to two targets.

    Without --endgames a river and a turn of our own are measured. With --peers other programs that you have built solve
    the same spots to 0.5 % and 0.1 % of the pot; the least processor time of so many repeats counts.
    """
    spots = example_spots() if options.endgames is None else load_endgames(options.endgames)
    if options.peers is not None:
        beside = PeersSettings(
            spots=spots,
            peers=load_peers(options.peers),
            threads=_parse_threads(options.threads or "1")[0],
            repeats=options.repeats,
            longest=options.longest,
        )
        _measure("holdem", options, lambda on_step: run_peers(beside, on_step=on_step), print_peers_report)
        return
    settings = HoldemSettings(
        spots=spots,
        threads=_parse_threads(options.threads),
        repeats=options.repeats,
        seconds=options.seconds,
        longest=options.longest,
    )
    _measure("holdem", options, lambda on_step: run_holdem(settings, on_step=on_step), print_holdem_report)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesOptions:
    """What `equipoise bench responses` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = ("equipoise bench responses --game leduc",)

    game: Annotated[str, typer.Option(help="A game of two players, zero sum.")] = "leduc"
    count: Annotated[int, typer.Option(min=1, help="Iterations of UCT, or hands, in one call.")] = 100_000
    repeats: Annotated[int, typer.Option(min=1, help="Measurements in each seat; the median counts.")] = 9
    json: Json = False
    quiet: Quiet = False


def responses(options: ResponsesOptions) -> None:
    """Time responses in processor time: an iteration of UCT, a hand that FBR watches, an update of CFR-BR."""
    settings = ResponsesSettings(game=options.game, count=options.count, repeats=options.repeats)
    _measure("responses", options, lambda on_step: run_responses(settings, on_step=on_step), print_responses_report)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MatchesOptions:
    """What `equipoise bench matches` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = ("equipoise bench matches --workers 1,2",)

    deck: Annotated[str, typer.Option(help="Of limit hold'em to the river.")] = "short"
    workers: Annotated[
        str | None,
        typer.Option("--workers", "-w", help="Separated by commas; 1 and 2 if there are two cores.", metavar="N,N,..."),
    ] = None
    seconds: Annotated[float, typer.Option(help="Least time of one measurement.")] = 3.0
    json: Json = False
    quiet: Quiet = False


def matches(options: MatchesOptions) -> None:
    """Time matches between blueprints of hold'em: hands a second in batches and hand by hand."""
    settings = MatchesSettings(
        deck=options.deck, workers=_parse_threads(options.workers, "--workers"), seconds=options.seconds
    )
    _measure("matches", options, lambda on_step: run_matches(settings, on_step=on_step), print_matches_report)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ValuesOptions:
    """What `equipoise bench values` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = ("equipoise bench values --workers 1",)

    menu: Annotated[str, typer.Option(help="Bets that are considered.")] = Labels().menu
    iterations: Annotated[int, typer.Option(min=1, help="Of each solve.")] = Labels().iterations
    workers: Annotated[
        str | None,
        typer.Option("--workers", "-w", help="Separated by commas; 1 and 2 if there are two cores.", metavar="N,N,..."),
    ] = None
    seconds: Annotated[float, typer.Option(help="Least time of one measurement.")] = 10.0
    json: Json = False
    quiet: Quiet = False


def values(options: ValuesOptions) -> None:
    """Time the situations that value networks learn from: rivers solved with all hands, and toy rivers."""
    settings = ValuesSettings(
        menu=options.menu,
        iterations=options.iterations,
        workers=_parse_threads(options.workers, "--workers"),
        seconds=options.seconds,
    )
    _measure("values", options, lambda on_step: run_values(settings, on_step=on_step), print_values_report)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BeliefsOptions:
    """What `equipoise bench beliefs` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = ("equipoise bench beliefs --game liars_dice",)

    game: Annotated[str, typer.Option("--game", "-g", help="What is played.")] = BeliefsSettings().game
    horizon: Annotated[str, typer.Option(help="Where searches end: a number of actions, or round.")] = "2"
    seconds: Annotated[float, typer.Option(help="Least CPU time of one measurement.")] = 2.0
    json: Json = False
    quiet: Quiet = False


def beliefs(options: BeliefsOptions) -> None:
    """Time the searches of self-play over beliefs (`train rebel`): a second of CPU time, by lanes."""
    settings = BeliefsSettings(game=options.game, horizon=options.horizon, seconds=options.seconds)
    _measure("beliefs", options, lambda on_step: run_beliefs(settings, on_step=on_step), print_beliefs_report)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DecisionsOptions:
    """What `equipoise bench decisions` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = ("equipoise bench decisions --hands 4",)

    agent: Annotated[str, typer.Option(help="Who is timed.")] = DecisionsSettings().agent
    opponent: Annotated[str, typer.Option(help="Whom it plays.")] = DecisionsSettings().opponent
    game: Annotated[str, typer.Option("--game", "-g", help="A form of hold'em.")] = DecisionsSettings().game
    hands: Annotated[int, typer.Option("--hands", "-n", min=1, help="That are played.")] = DecisionsSettings().hands
    json: Json = False
    quiet: Quiet = False


def decisions(options: DecisionsOptions) -> None:
    """Time the decisions of an agent that plays hold'em: the first of all, each street's, all others."""
    settings = DecisionsSettings(agent=options.agent, opponent=options.opponent, game=options.game, hands=options.hands)
    _measure("decisions", options, lambda on_step: run_decisions(settings, on_step=on_step), print_decisions_report)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PageOptions:
    """What `equipoise bench page` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = ("equipoise bench page --clients 50",)

    clients: Annotated[int, typer.Option(min=1, help="Readers at once.")] = 50
    pause: Annotated[float, typer.Option(min=0.0, help="Seconds from an answer to the reader's next question.")] = 2.0
    iterations: Annotated[int, typer.Option(min=1, help="Of the solve that runs meanwhile.")] = 150
    repeats: Annotated[int, typer.Option(min=1, help="Solves with and without readers, in turn.")] = 2
    threads: Annotated[
        int | None, typer.Option("--threads", "-t", min=1, help="Of the solve (default: as many as help).")
    ] = None
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Measure in Chromium as well.")] = True
    file: Annotated[
        Path | None, typer.Option(help="Click through this solved spot too, as soon as the server is there.")
    ] = None
    json: Json = False
    quiet: Quiet = False


def page(options: PageOptions) -> None:
    """Time the page's server: answers to one reader and to many while it solves, and what these cost the solve."""
    settings = PageSettings(
        clients=options.clients,
        pause=options.pause,
        iterations=options.iterations,
        repeats=options.repeats,
        threads=options.threads,
        has_browser=options.browser,
        file=options.file,
    )
    _measure("page", options, lambda on_step: run_page(settings, on_step=on_step), print_page_report)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """What `equipoise bench search` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = ("equipoise bench search --turn-pots none --threads 1",)

    river_pots: Annotated[str, typer.Option(help="Chips of stacks of 20,000 each, or none.", metavar="N,N,...")] = (
        "4000,500"
    )
    turn_pots: Annotated[str, typer.Option(help="Likewise.", metavar="N,N,...")] = "4000,500"
    loop_pots: Annotated[str, typer.Option(help="Of rivers for loops by rule, or none.", metavar="N,N,...")] = "4000"
    threads: Annotated[int | None, typer.Option("--threads", "-t", min=1, help="2 if there are two cores.")] = None
    repeats: Annotated[int, typer.Option(min=1, help="Measurements of each search; the median counts.")] = 5
    dtype: Annotated[str, typer.Option(help="Of the turn's table: int16, or float32 in twice the memory.")] = "int16"
    json: Json = False
    quiet: Quiet = False


def search(options: SearchOptions) -> None:
    """Time hold'em searches with all hands and a gate attached: rivers, and turns down to the river.

    A turn's leaves are four forms of a blueprint among which the opponent, or both players, choose. Rivers
    are also iterated under each rule, in the core and in torch if it is installed.
    """
    settings = SearchSettings(
        river_pots=_parse_pots("--river-pots", options.river_pots),
        turn_pots=_parse_pots("--turn-pots", options.turn_pots),
        loop_pots=_parse_pots("--loop-pots", options.loop_pots),
        threads=options.threads or min(2, num_usable_cores()),
        repeats=options.repeats,
        dtype=options.dtype,
    )
    _measure("search", options, lambda on_step: run_search(settings, on_step=on_step), print_search_report)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FirstEveningOptions:
    """What `equipoise bench first-evening` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise bench first-evening",
        "equipoise bench first-evening --no-readme",
    )

    spot: Annotated[Path, typer.Option(help="A flop without a menu.", metavar="FILE")] = Path(
        "examples/spots/first_flop.toml"
    )
    readme: Annotated[Path, typer.Option(help="Whose commands are typed.", metavar="FILE")] = Path("README.md")
    no_readme: Annotated[bool, typer.Option("--no-readme", help="Type no page's commands.")] = False
    longest: Annotated[float, typer.Option(help="Seconds of solving the spot.")] = 300.0
    json: Json = False
    quiet: Quiet = False


def first_evening(options: FirstEveningOptions) -> None:
    """Time what newcomers wait for: start, a first flop, Ctrl-C, a file opened again, the commands of the README."""
    settings = FirstEveningSettings(
        spot=str(options.spot),
        readme=None if options.no_readme else str(options.readme),
        longest=options.longest,
    )
    _measure(
        "first-evening",
        options,
        lambda on_step: run_first_evening(settings, on_step=on_step),
        print_first_evening_report,
    )


def _parse_pots(option: str, text: str) -> tuple[int, ...]:
    return () if text.strip() == "none" else _parse_threads(text, option)


def _parse_threads(text: str | None, option: str = "--threads") -> tuple[int, ...]:
    if text is None:
        return (1, 2) if num_usable_cores() > 1 else (1,)
    names = parse_names(option, text)
    if not all(name.isdecimal() for name in names):
        raise ConfigError(f"{option} takes whole numbers separated by commas, got {text!r}")
    return tuple(int(name) for name in names)


class _Output(Protocol):
    """The options that every bench has."""

    @property
    def json(self) -> bool: ...

    @property
    def quiet(self) -> bool: ...


class _Report(Protocol):
    """What every bench returns."""

    @property
    def is_partial(self) -> bool: ...

    def as_json(self) -> dict[str, Any]: ...


Measured = TypeVar("Measured", bound=_Report)


def _measure(
    name: str, options: _Output, run: Callable[[OnStep], Measured], print_report: Callable[[Measured, Console], None]
) -> None:
    """Runs a bench with its progress, and writes what it measured as the options ask."""
    console = make_console(is_quiet=options.quiet)
    with SignalFlag(is_immediate=True) as flag, TaskDisplay(console, f"bench {name}") as display:
        report = run(display.update)
    if options.json:
        write_json(report.as_json())
    else:
        shown = make_console(is_stderr=False, is_quiet=options.quiet)
        shown.width = max(shown.width, TABLE_WIDTH)  # what does not fit a narrow terminal runs over its edge
        print_report(report, shown)
    if report.is_partial:
        console.print("interrupted: these are the measurements so far", style="yellow")
        raise typer.Exit(flag.exit_code or ExitCode.INTERRUPTED)
