# SPDX-License-Identifier: Apache-2.0
"""Matches as they are asked for: agents as text or as they are, the game they play, how deals are played."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import math
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, TypedDict, TypeGuard, Unpack

from equipoise.agents.base import Agent
from equipoise.agents.notation import AgentText
from equipoise.agents.strategies import StrategyAgent
from equipoise.core.checks import check_callable, check_flag, check_number, check_path
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.core.files import StrPath
from equipoise.core.formatting import settings_repr, show_given
from equipoise.core.interruption import IsInterrupted, first_ctrl_c, never
from equipoise.core.local_pool import LocalPool
from equipoise.core.reporting import Reporter
from equipoise.evaluation.aivat_matches import AivatMatch, find_known
from equipoise.evaluation.histories import HandWriter
from equipoise.evaluation.matches import (
    AgentMaker,
    ChunkPlayer,
    GivenAgent,
    HandByHand,
    MatchConfig,
    MatchResult,
    load_match,
    make_agents,
    run_match,
)
from equipoise.evaluation.statistics import Estimate, big_blind_of, scale_precision
from equipoise.evaluation.stored import StoredStrategies, can_be_batched
from equipoise.games.base import Game
from equipoise.games.holdem.pair_showdowns import load_or_build_pair_wins
from equipoise.games.holdem.rules import Holdem
from equipoise.games.parameters import parse_parameters
from equipoise.games.registry import find_name, make_game, parse_game_options, take_game
from equipoise.kernels.calls import check_integer
from equipoise.runs.progress_display import DisplayReporter, ProgressDisplay
from equipoise.runs.solution import Solution
from equipoise.solvers.strategy import TabularStrategy

__all__ = [
    "Known",
    "MatchRequest",
    "Runner",
    "find_game",
    "make_player",
    "match",
    "open_hands",
    "prepare_showdowns",
]

BATCHED_CHUNK: Final = 5000  # deals that are played at once
CHUNK: Final = 50


class Runner(enum.StrEnum):
    """How deals are played."""

    AUTO = "auto"  # batched where every agent is a table or blind
    BATCHED = "batched"
    HANDS = "hands"


class Known(enum.StrEnum):
    """Whose strategies AIVAT uses."""

    ABLE = "able"  # of all who can say what they play
    FIRST = "first"
    SECOND = "second"
    BOTH = "both"


Maker = AgentText | GivenAgent

KNOWN: Final = {Known.ABLE: None, Known.FIRST: (0,), Known.SECOND: (1,), Known.BOTH: (0, 1)}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MatchRequest:
    """How a match is to be played.

    >>> MatchRequest(hands=2000, seed=7).duplicate
    True
    """

    hands: int = 10_000  # games, each seating being one
    precision: float | None = None  # stop once the interval reaches so far to each side; mbb where there are any
    confidence: float = 0.95  # of intervals
    seed: int = 0  # of deals and of agents
    runner: Runner = Runner.AUTO
    duplicate: bool = True  # every deal in every seat; else seats alternate
    all_in_expectation: bool = True  # all-ins of hold'em are scored by their expectation
    aivat: Path | None = None  # score by AIVAT, guesses from the strategy in this file
    known: Known = Known.ABLE
    hands_out: Path | None = None  # keep what was played there, as PHH or text

    __repr__ = settings_repr

    def __post_init__(self) -> None:
        check_integer("hands", self.hands, 1)
        check_integer("seed", self.seed, 0)
        if self.precision is not None:
            check_number("precision", self.precision)
        check_number("confidence", self.confidence)
        check_flag("duplicate", self.duplicate)
        check_flag("all_in_expectation", self.all_in_expectation)


class MatchOptions(TypedDict, total=False):
    """What `match` takes beside agents and game: the fields of `MatchRequest`, choices also by their names."""

    hands: int
    precision: float | None
    confidence: float
    seed: int
    runner: Runner | str
    duplicate: bool
    all_in_expectation: bool
    aivat: StrPath | None
    known: Known | str
    hands_out: StrPath | None


def match(
    *agents: str | Agent | Solution[Any] | TabularStrategy,
    game: Game[Any] | str | None = None,
    num_workers: int = 1,
    out: str | Path | None = None,
    resume: bool = False,
    on_progress: Callable[[float, Estimate], None] | None = None,
    is_interrupted: IsInterrupted = never,
    progress: bool = False,
    **how: Unpack[MatchOptions],
) -> MatchResult:
    """Returns what agents win of each other, seats swapped on the same deals; Ctrl-C returns the games so far.

    Args:
        agents: as on the command line (`"search:turn.eq"`, `"uniform"`), or solutions, strategies, agents of one's own.
        game: what is played; by default what the first agent's file or solution is of.
        num_workers: processes that play; agents that are not text must be such as can be sent to them.
        out: where the scores of games are kept.
        resume: whether to go on with the match in `out`.
        on_progress: called after every chunk of deals with the share done and the first agent's winnings.
        is_interrupted: asked after every chunk.
        progress: whether to show how far it is: a bar on a terminal, a picture in a notebook.
        how: the fields of `MatchRequest`.

    >>> match("call", "uniform", game="kuhn", hands=200).num_hands
    200
    """
    check_callable("on_progress", on_progress)
    check_callable("is_interrupted", is_interrupted)
    check_flag("progress", progress)
    check_flag("resume", resume)
    check_integer("num_workers", num_workers, 1)
    if resume and out is None:
        raise ConfigError("resume goes on with the match in out, and no file is named")
    if out is not None:
        check_path(out)
        if os.path.exists(out) and not resume:
            load_match(out)  # another file is not written over
    known = {field.name for field in dataclasses.fields(MatchRequest)}
    if unknown := set(how) - known:
        raise ConfigError(f"a match has {', '.join(sorted(known))}, got {', '.join(sorted(unknown))}")
    played = _find_game_of(agents) if game is None else take_game(game)
    makers: list[Maker] = [
        AgentText(agent) if isinstance(agent, str) else GivenAgent(_make_agent(agent, played)) for agent in agents
    ]
    if len(makers) != played.spec.num_players:
        raise ConfigError(f"{played.spec.name} is played by {played.spec.num_players} agents, got {len(makers)}")
    request = _read_request(how)
    interrupted = threading.Event()
    with contextlib.ExitStack() as stack:
        title = " against ".join(maker.name for maker in makers)
        display = stack.enter_context(ProgressDisplay(title)) if progress else None
        play = make_player(request, played, makers, Reporter() if display is None else DisplayReporter(display))

        def tell(share: float, estimate: Estimate) -> None:
            if display is not None:
                found = f"{makers[0].name} wins {estimate.mean:.4g} ± {estimate.half_width:.2g} a game"
                display.update(share, found, is_last=share >= 1)
            if on_progress is not None:
                on_progress(share, estimate)

        pool = stack.enter_context(LocalPool(num_workers))
        stack.enter_context(first_ctrl_c(interrupted.set))
        hands = open_hands(request, played, play.names, is_resumed=resume)
        if hands is not None:
            stack.callback(hands.close)
        return run_match(
            play,
            play.config,
            on_hands=hands,
            pool=pool,
            path=out,
            is_resumed=resume,
            label=played.spec.label,
            on_progress=tell,
            should_stop=lambda: interrupted.is_set() or is_interrupted(),
        )


def open_hands(request: MatchRequest, game: Game[Any], names: Sequence[str], *, is_resumed: bool) -> HandWriter | None:
    """Returns who writes down what is played, None if nobody is to."""
    if request.hands_out is None:
        return None
    return HandWriter(request.hands_out, game, names, is_appended=is_resumed)


def _read_request(how: MatchOptions) -> MatchRequest:
    """Returns what is asked for, choices also by their names."""
    given: dict[str, Any] = dict(how)
    for name, choices in (("runner", Runner), ("known", Known)):
        if name in given and (not isinstance(given[name], str) or given[name] not in list(choices)):
            raise UnknownNameError(name, str(given[name]), list(choices))
        if name in given:
            given[name] = choices(given[name])
    for name in ("aivat", "hands_out"):
        if given.get(name) is not None:
            check_path(given[name])
            given[name] = Path(given[name])
    return MatchRequest(**given)


def _find_game_of(agents: Sequence[Any]) -> Game[Any]:
    for agent in agents:
        if isinstance(agent, Solution):
            return agent.game
    if (own := _find_own_game(AgentText(agent) for agent in agents if isinstance(agent, str))) is None:
        raise ConfigError(
            "game is needed, such as game='kuhn': no agent is a solution, or a file that says what it plays"
        )
    return own


def _find_own_game(makers: Iterable[AgentText]) -> Game[Any] | None:
    """Returns the game of the first agent whose file says one, else that for which an agent is made."""
    by_files_first = sorted(makers, key=lambda maker: maker.path is None)
    return next((own for maker in by_files_first if (own := maker.game) is not None), None)


def _make_agent(given: Agent | Solution[Any] | TabularStrategy, game: Game[Any]) -> Agent:
    if isinstance(given, TabularStrategy):
        return StrategyAgent(given)
    if not isinstance(given, Solution):
        if missing := [name for name in ("name", "begin_game", "observe", "act") if not hasattr(given, name)]:
            expected = "an agent is a text such as 'uniform', a solution, a strategy, or has"
            raise ConfigError(f"{expected} {', '.join(missing)}, got {show_given(given)}")
        return given
    own, strategy = given.game.spec, given.strategy
    if isinstance(strategy, TabularStrategy) and own.label != game.spec.label:
        raise ConfigError(f"a solution is a strategy for {own.label}, the game is {game.spec.label}")
    return StrategyAgent(strategy, game, name="solution", is_partial=given.is_partial)


def find_game(makers: Sequence[AgentText], name: str | None, parameters: Iterable[str] | None) -> Game[Any]:
    """Returns the game that a command names, or that of the first agent's file; both may have parameters changed."""
    if name is not None:
        return parse_game_options(name, parameters or [])
    if (own := _find_own_game(makers)) is not None:
        if not parameters:
            return own
        return make_game(find_name(own), **{**own.spec.parameters, **parse_parameters(parameters)})
    if parameters:
        raise ConfigError("a parameter changes a game that `game` or an agent's file names, and there is none")
    raise ConfigError("`game` NAME is needed: no agent is a file that says what it plays")


def make_player(request: MatchRequest, game: Game[Any], makers: Sequence[Maker], reporter: Reporter) -> ChunkPlayer:
    """Returns who plays the deals, after making every agent once so that what is wrong is said at once."""
    names = tuple(maker.name for maker in makers)
    chosen: tuple[AgentMaker, ...] = tuple(makers)
    if request.hands_out is not None and (request.aivat is not None or request.runner is Runner.BATCHED):
        how = "`aivat`" if request.aivat is not None else "`runner` batched"
        raise ConfigError(
            f"hands are written down where they are played one by one and scored by chips: not with {how}"
        )
    if request.aivat is not None:
        return _make_aivat(request, game, chosen, names, reporter)
    wants_hands = request.runner is Runner.HANDS or request.hands_out is not None
    is_batched = not wants_hands and can_be_batched(game, chosen)
    if request.runner is Runner.BATCHED and not is_batched:
        raise ConfigError(
            f"{game.spec.name} cannot be played in batches by {', '.join(names)}: that takes strategies on trees, or "
            "agents that look at nothing; the `runner` hands takes everybody"
        )
    config = _configure(request, game, is_batched=is_batched)
    if not is_batched:
        for maker in makers:
            maker(game)
    if request.all_in_expectation and _needs_showdowns(game):
        prepare_showdowns(game, reporter)
    if is_batched:
        return StoredStrategies(game=game, makers=chosen, names=names, config=config)
    keeps_hands = request.hands_out is not None
    return HandByHand(game=game, makers=chosen, names=names, config=config, keeps_hands=keeps_hands)


def _make_aivat(
    request: MatchRequest, game: Game[Any], makers: tuple[AgentMaker, ...], names: tuple[str, ...], reporter: Reporter
) -> ChunkPlayer:
    """Returns who plays the deals and scores them by AIVAT, after making all that it takes once."""
    known = find_known(make_agents(makers, game), names, KNOWN[request.known])
    if not known:
        reporter.say("nobody can say what it plays: only the luck of the cards is taken out")
    guesses = str(request.aivat)
    config = _configure(request, game, is_batched=False)
    play = AivatMatch(game=game, makers=makers, names=names, config=config, guesses=guesses, known=known)
    with reporter.task("guesses") as on_step:
        play.prepare(lambda share: on_step(share, "of every pair of hands before the flop"))
    if request.all_in_expectation and _needs_showdowns(game):
        prepare_showdowns(game, reporter)
    return play


def _needs_showdowns(game: Game[Any]) -> TypeGuard[Holdem]:
    """Returns whether hands may be all-in before the flop; with fixed bets nobody is."""
    return isinstance(game, Holdem) and game.spec.num_players == 2 and not game.bet_sizes


def _configure(request: MatchRequest, game: Game[Any], *, is_batched: bool) -> MatchConfig:
    rotations = game.spec.num_players if request.duplicate else 1
    blind = big_blind_of(game)
    return MatchConfig(
        num_deals=math.ceil(request.hands / rotations),
        seed=request.seed,
        is_duplicate=request.duplicate,
        expects_all_ins=request.all_in_expectation,
        precision=scale_precision(request.precision, blind),
        confidence=request.confidence,
        deals_per_chunk=BATCHED_CHUNK if is_batched else CHUNK,
    )


def prepare_showdowns(game: Holdem, reporter: Reporter) -> None:
    """Says how the table of showdowns before the flop is made, if hands start there and it is not in the cache."""
    if game.board:
        return
    with reporter.task("showdowns before the flop") as on_step:
        load_or_build_pair_wins(
            game.card_deck,
            game.betting_rules.last_street.num_board_cards,
            on_progress=lambda share: on_step(share, "once, then from the cache"),
        )
