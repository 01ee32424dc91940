# SPDX-License-Identifier: Apache-2.0
"""`equipoise lbr`: what a local best response wins against an agent."""

from __future__ import annotations

import dataclasses
import enum
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import numpy as np
import typer
from rich.console import Console, Group

from equipoise.agents.base import PublicAgent
from equipoise.agents.notation import AgentText, describe_agents
from equipoise.agents.rebel import RebelAgent
from equipoise.apps.display import ConsoleReporter, make_console
from equipoise.apps.exit_codes import ExitCode
from equipoise.apps.match import Keeping, explain_miss, run_shown
from equipoise.apps.output import make_rows, print_result, write_json
from equipoise.apps.shared_options import FileGame, GameParameters, Json, PlayWorkers, Quiet
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.errors import ConfigError
from equipoise.core.formatting import format_duration, format_utility
from equipoise.core.local_pool import LocalPool
from equipoise.core.machine import describe_origin
from equipoise.evaluation.holdem.lbr import LbrHands, LbrMenu, measure_holdem_lbr
from equipoise.evaluation.lbr import LocalResponse, every_action, fold_or_call, measure_lbr
from equipoise.evaluation.matches import MatchConfig, MatchResult
from equipoise.evaluation.statistics import big_blind_of, describe_estimate, format_estimate, scale_precision
from equipoise.games.base import Game
from equipoise.games.holdem.betting import CALL, initial_betting
from equipoise.games.holdem.rules import Holdem
from equipoise.games.registry import format_game
from equipoise.runs.matches import find_game, prepare_showdowns
from equipoise.runs.preparation import build_tree
from equipoise.trees.history import DEFAULT_MAX_HISTORIES

__all__ = ["LbrOptions", "lbr"]

CHUNK: Final = 10  # deals between two looks at the clock
DEFAULT_HANDS: Final = 1000
DEFAULT_PLAYTHROUGHS: Final = 1024
MOST_RAISES: Final = 100  # that a responder tries


class MenuName(enum.StrEnum):
    """What the responder may do."""

    FOLD_CALL = "fc"
    POT_ALL_IN = "fcpa"
    EVERYTHING = "all"
    MODICUM_1 = "modicum1"
    MODICUM_2 = "modicum2"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LbrOptions:
    """What `equipoise lbr` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise lbr call --game leduc",
        "equipoise lbr call --game holdem --hands 100 --menu fcpa",
        "equipoise lbr file:leduc.eq",
    )
    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "What is played": ("game", "parameters", "menu", "passive_streets", "rollout", "exact"),
        "How long": ("hands", "playthroughs", "precision", "confidence", "seed", "workers"),
        "Where to keep it": ("out", "resume", "overwrite", "json", "quiet"),
    }

    agent: Annotated[str, typer.Argument(help=f"Who is exploited: {describe_agents()}.")]
    game: FileGame = None
    parameters: GameParameters = None
    menu: Annotated[
        MenuName | None,
        typer.Option(
            help="Fold and call; also pot and all-in; all that the game offers (default: all, fcpa where it offers "
            "every amount); what Modicum met in hold'em: three quarters of the pot first, then fold and call (1), "
            "or calls to the flop, many bets there, then fold and call (2).",
            show_default=False,
        ),
    ] = None
    passive_streets: Annotated[
        int, typer.Option(min=0, help="Of hold'em: only check and call on so many first streets.")
    ] = 0
    rollout: Annotated[
        str | None, typer.Option(help="Of other games: the agent by which the responder thinks play goes on (call).")
    ] = None
    exact: Annotated[
        bool, typer.Option("--exact", help="Of hold'em with few cards: every hand on every board, no sampling.")
    ] = False
    hands: Annotated[
        int | None, typer.Option("--hands", "-n", min=1, help=f"Of hold'em: hands to play ({DEFAULT_HANDS:,}).")
    ] = None
    playthroughs: Annotated[
        int | None,
        typer.Option(min=1, help=f"Of `rebel`: games over which what it draws is averaged ({DEFAULT_PLAYTHROUGHS:,})."),
    ] = None
    precision: Annotated[float | None, typer.Option(help="Stop once the interval reaches so many mbb.")] = None
    confidence: Annotated[float, typer.Option(help="Of intervals, between 0 and 1.")] = 0.95
    seed: Annotated[int, typer.Option(min=0, help="Of deals and of the agent.")] = 0
    workers: PlayWorkers = 1
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Keep the hands there.")] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the hands in --out.")] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing --out.")] = False
    json: Json = False
    quiet: Quiet = False


def lbr(options: LbrOptions) -> None:
    """Say what a local best response wins against an agent: a lower bound on how exploitable it is.

    In hold'em it plays hands, unless --exact lists them all; in other games for two it is exact, and the best response
    stands beside it.
    """
    console = make_console(is_quiet=options.quiet)
    maker = AgentText(options.agent)
    game = find_game([maker], options.game, options.parameters)
    agent = maker(game)
    if options.playthroughs is not None and not isinstance(agent, RebelAgent):
        raise ConfigError(f"--playthroughs is of rebel, which draws what it plays once a game, not of {options.agent}")
    if not isinstance(agent, PublicAgent):
        raise ConfigError(f"{agent.name} has no strategy for whole public states, which local best responses need")
    if isinstance(game, Holdem) and options.rollout is not None:
        raise ConfigError("--rollout is of other games than hold'em, where both check and call to the end")
    if isinstance(agent, RebelAgent):
        if isinstance(game, Holdem) and not options.exact:
            raise ConfigError(
                f"{options.agent} draws what it plays once a game, which no responder knows: give --exact"
            )
        agent = _average(options, agent, console)
    if isinstance(game, Holdem) and not options.exact:
        _play(options, game, maker, console)
        return
    _refuse_sampling(options, game)
    began = time.perf_counter()
    rng = np.random.default_rng(options.seed)
    if isinstance(game, Holdem):
        with TaskDisplay(console, f"lbr of {options.agent}") as display:
            found = measure_holdem_lbr(
                game,
                agent,
                menu=_find_menu(options, game),
                passive_streets=options.passive_streets,
                rng=rng,
                on_progress=lambda share: display.update(share, "decisions"),
            )
    else:
        found = _measure(options, game, agent, rng, console)
    _report_exact(options, game, found, time.perf_counter() - began)


def _average(options: LbrOptions, agent: RebelAgent, console: Console) -> RebelAgent:
    """Returns the average of what an agent plays: responders do not know what it draws."""
    count = options.playthroughs or DEFAULT_PLAYTHROUGHS
    console.print(f"{options.agent} is met by what it plays on average over {count:,} playthroughs")
    with SignalFlag(is_immediate=True):
        return agent.average(count, rng=np.random.default_rng([options.seed, 1]))


def _refuse_sampling(options: LbrOptions, game: Game[Any]) -> None:
    """Raises if options were given that mean something only where hands are played."""
    given = {
        "--hands": options.hands,
        "--precision": options.precision,
        "--out": options.out,
        "--resume": options.resume or None,
        "--overwrite": options.overwrite or None,
    }
    names = [name for name, value in given.items() if value is not None]
    if names:
        how = "with --exact nothing is sampled" if options.exact else f"{game.spec.name} is listed, not sampled"
        raise ConfigError(f"{', '.join(names)} is for hands of hold'em that are played: {how}")


def _measure(
    options: LbrOptions, game: Game[Any], agent: PublicAgent, rng: np.random.Generator, console: Console
) -> LocalResponse:
    if options.menu not in (None, MenuName.FOLD_CALL, MenuName.EVERYTHING):
        raise ConfigError(f"menu {options.menu} is of hold'em; {game.spec.name} has fc and all")
    if options.passive_streets:
        raise ConfigError(f"--passive-streets is of hold'em, the game is {game.spec.name}")
    rollout = AgentText(options.rollout or "call")(game)
    if not isinstance(rollout, PublicAgent):
        raise ConfigError(f"{options.rollout} has no strategy for whole public states, which roll-outs need")
    menu = fold_or_call if options.menu is MenuName.FOLD_CALL else every_action
    if game.spec.num_players != 2:
        raise ConfigError(f"local best responses are for two players, {game.spec.name} has {game.spec.num_players}")
    tree = build_tree(game, max_histories=DEFAULT_MAX_HISTORIES, reporter=ConsoleReporter(console))
    with TaskDisplay(console, f"lbr of {options.agent}") as display:
        return measure_lbr(
            agent,
            game,
            rollout=rollout,
            menu=menu,
            rng=rng,
            tree=tree,
            on_progress=lambda share: display.update(share, "decisions"),
        )


def _find_menu(options: LbrOptions, game: Holdem) -> LbrMenu:
    """Returns what the responder may do; of every amount, each would be asked about, it tries the pot and all-in."""
    num_raises = sum(action > CALL for action in game.betting_actions(initial_betting(game.betting_rules)))
    if options.menu is None:
        return LbrMenu.EVERYTHING if num_raises <= MOST_RAISES else LbrMenu.POT_ALL_IN
    if options.menu is MenuName.EVERYTHING and num_raises > MOST_RAISES:
        raise ConfigError(
            f"--menu all would try each of {num_raises:,} raises at every decision, expected {MOST_RAISES} at most: "
            "give --menu fcpa, or the game a menu (-p menu=50%,100%,a)"
        )
    return LbrMenu(options.menu)


def _name_menu(options: LbrOptions, game: Game[Any]) -> str:
    if isinstance(game, Holdem):
        return str(_find_menu(options, game))
    return str(options.menu or MenuName.EVERYTHING)


def _play(options: LbrOptions, game: Holdem, maker: AgentText, console: Console) -> None:
    prepare_showdowns(game, ConsoleReporter(console))
    config = MatchConfig(
        num_deals=math.ceil((options.hands or DEFAULT_HANDS) / 2),
        seed=options.seed,
        precision=scale_precision(options.precision, float(game.big_blind)),
        confidence=options.confidence,
        deals_per_chunk=CHUNK,
    )
    play = LbrHands(
        game=game,
        maker=maker,
        name=maker.name,
        menu=_find_menu(options, game),
        config=config,
        passive_streets=options.passive_streets,
    )
    with SignalFlag() as flag, LocalPool(options.workers) as pool:
        result = run_shown(
            play,
            config,
            game=game,
            pool=pool,
            flag=flag,
            console=console,
            keeping=Keeping(options.out, is_resumed=options.resume, is_overwritten=options.overwrite),
        )
        _report_hands(options, game, result)
    if flag():
        console.print("interrupted: these are the hands so far", style="yellow")
        raise typer.Exit(flag.exit_code)
    if options.precision is not None and result.stopped_by == "deals":
        console.print(explain_miss(options.precision, result), style="yellow")
        raise typer.Exit(ExitCode.TARGET_NOT_REACHED)


def _describe_question(options: LbrOptions, game: Game[Any], *, is_exact: bool) -> dict[str, Any]:
    """Returns what was asked, as JSON has it."""
    return {
        "game": game.spec.name,
        "label": game.spec.label,
        "agent": options.agent,
        "menu": _name_menu(options, game),
        "passive_streets": options.passive_streets,
        "is_exact": is_exact,
    }


def _report_hands(options: LbrOptions, game: Holdem, result: MatchResult) -> None:
    blind = big_blind_of(game)
    estimate = result.estimate()
    if options.json:
        write_json(
            {
                **_describe_question(options, game, is_exact=False),
                **describe_estimate(estimate, blind),
                "best_response_values": None,
                "num_hands": result.num_hands,
                "stopped_by": result.stopped_by,
                "seconds": result.seconds,
                "seed": options.seed,
                **describe_origin(),
            }
        )
        return
    print_result(
        f"LBR ({_name_menu(options, game)}) wins {format_estimate(estimate, blind)} against {options.agent} in "
        f"{format_game(game)}: {result.num_hands:,} hands in {format_duration(result.seconds)}\n"
        "a lower bound on what a best response wins",
        is_quiet=options.quiet,
    )


def _report_exact(options: LbrOptions, game: Game[Any], found: LocalResponse, seconds: float) -> None:
    blind = big_blind_of(game)
    best = sum(found.best_response_values) / 2
    scale = None if blind is None else 1000 / blind
    if options.json:
        write_json(
            {
                **_describe_question(options, game, is_exact=True),
                "mean": found.mean,
                "mean_mbb": None if scale is None else found.mean * scale,
                "values": list(found.values),
                "best_response_values": list(found.best_response_values),
                "strategy_values": list(found.strategy_values),
                "seconds": seconds,
                "seed": options.seed,
                **describe_origin(),
            }
        )
        return
    pairs = [*zip(found.values, found.best_response_values, strict=True), (found.mean, best)]
    rows = [(seat, *map(format_utility, pair)) for seat, pair in zip(("0", "1", "mean"), pairs, strict=True)]
    title = f"{format_game(game)}, LBR ({_name_menu(options, game)}) against {options.agent}"
    table = make_rows(("seat", "LBR", "best response"), rows, title=title)
    parts = [] if scale is None else [f"{found.mean * scale:,.1f} of {best * scale:,.1f} mbb/h"]
    print_result(Group(table, *parts, f"exact, in {format_duration(seconds)}"), is_quiet=options.quiet)
