# SPDX-License-Identifier: Apache-2.0
"""Matches: many deals between agents, with seats swapped, intervals, early stopping and checkpoints.

A deal is played once with every agent in every seat, from the same cards; its mean over the seats is one sample. Deals
are dealt out in chunks with seeds of their own, so that results do not depend on how many workers play them.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Agent
from equipoise.agents.programs import close_programs
from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind, digest_file
from equipoise.core.errors import AgentFailedError, CheckpointError, ConfigError
from equipoise.core.files import StrPath
from equipoise.core.formatting import settings_repr
from equipoise.core.local_pool import LocalPool
from equipoise.core.markup import html_line, html_table, join_html
from equipoise.core.pool import Pool
from equipoise.evaluation.histories import PlayedHand, complete_hand
from equipoise.evaluation.play import play_game
from equipoise.evaluation.statistics import Estimate, estimate_mean
from equipoise.games.base import Game

__all__ = [
    "AGENT_STREAM",
    "CHANCE_STREAM",
    "LEAST_SAMPLES",
    "LEAST_UNLIKE",
    "AgentMaker",
    "ChunkPlayer",
    "ContentMaker",
    "DealRange",
    "GivenAgent",
    "HandByHand",
    "MatchConfig",
    "MatchResult",
    "RecordedDeals",
    "list_rotations",
    "list_seatings",
    "load_match",
    "make_agents",
    "run_match",
]

LONGEST_TASK_SECONDS: Final = 0.5  # about so long Ctrl-C waits for the deals under way

AgentMaker = Callable[[Game[Any]], Agent]
FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

CHANCE_STREAM, AGENT_STREAM = 0, 1  # of random numbers, beside the seed and the deal
UTILITY: Final = "match.utility"
WON: Final = "match.won"  # beside estimates
OWN_SETTINGS: Final = ("guesses", "known", "menu", "passive_streets")  # of players that have them
SAVE_SECONDS: Final = 10.0
LEAST_SAMPLES: Final = 100  # before a match may stop early: intervals of a few samples mean little
LEAST_UNLIKE: Final = (
    30  # samples unlike the most frequent one: a match of ties may stop before what decides it came up
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MatchConfig:
    """How a match is played; what is here decides the result to the bit.

    >>> MatchConfig(num_deals=500, precision=0.01).is_duplicate
    True
    """

    num_deals: int = 1000
    seed: int = 0
    is_duplicate: bool = True  # every deal in every seat; else seats alternate from deal to deal
    expects_all_ins: bool = True  # heads-up all-ins count as their expectation over the cards to come
    precision: float | None = None  # stop once the interval of the first agent's mean is at most so wide to each side
    confidence: float = 0.95  # of intervals
    deals_per_chunk: int = 100  # stopping is thought about between chunks

    __repr__ = settings_repr

    def __post_init__(self) -> None:
        for name in ("num_deals", "deals_per_chunk"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.seed < 0:
            raise ConfigError(f"seed must be at least 0, got {self.seed}")
        if self.precision is not None and not self.precision > 0:
            raise ConfigError(f"precision must be positive, got {self.precision}")
        if not 0 < self.confidence < 1:
            raise ConfigError(f"confidence must be between 0 and 1, got {self.confidence}")

    def num_rotations(self, num_agents: int) -> int:
        """Returns how often a deal is played."""
        return num_agents if self.is_duplicate else 1


@runtime_checkable
class ContentMaker(Protocol):
    """A maker of agents that may read a file, by whose content, not its name, a resumed match knows it."""

    def digest(self) -> str | None:
        """Returns a short hash over the content, None without a file."""
        ...


class DealRange(NamedTuple):
    """Deals of a match that are played together."""

    first: int
    size: int


@dataclasses.dataclass(frozen=True, slots=True)
class RecordedDeals:
    """Deals with what was played in them."""

    won: FloatArray
    hands: list[PlayedHand]

    def __len__(self) -> int:
        return len(self.won)


class ChunkPlayer(Protocol):
    """Plays deals; can be sent to another process."""

    plays_singly: ClassVar[
        bool
    ]  # a deal costs the same alone: chunks are cut up, so that Ctrl-C need not wait for them

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the agents' names."""
        ...

    @property
    def config(self) -> MatchConfig:
        """Returns how deals are played."""
        ...

    def __call__(self, deals: DealRange) -> FloatArray | RecordedDeals:
        """Returns `[deals, rotations, agents]` what every agent won, or `[.., 2]` an estimate of it, and it itself."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HandByHand:
    """Plays deals one after the other through the agents' own protocol."""

    game: Game[Any]
    makers: tuple[AgentMaker, ...]  # one for each seat of the game; hashable, and such as other processes can call
    names: tuple[str, ...]
    config: MatchConfig
    keeps_hands: bool = False  # whether what was played is told beside what was won
    plays_singly: ClassVar[bool] = True

    def __post_init__(self) -> None:
        num_players = self.game.spec.num_players
        if len(self.makers) != num_players or len(self.names) != num_players:
            raise ConfigError(f"{self.game.spec.name} is played by {num_players} agents, got {len(self.makers)}")

    def __call__(self, deals: DealRange) -> FloatArray | RecordedDeals:
        """Returns `[deals, rotations, agents]` what every agent won; on rotation r agent a sits in seat (a - r)."""
        agents = make_agents(self.makers, self.game)
        config, size = self.config, len(agents)
        out = np.zeros((deals.size, config.num_rotations(size), size))
        hands: list[PlayedHand] = []
        for seating in list_seatings(config, deals, size):
            actions: list[int] = []
            try:
                won = play_game(
                    self.game,
                    [agents[agent] for agent in seating.agents],
                    chance=seating.chance,
                    rng=seating.rng,
                    expects_all_ins=config.expects_all_ins,
                    on_action=actions.append if self.keeps_hands else None,
                )
            except AgentFailedError as error:
                whole = [hand for hand in hands if hand.deal < deals.first + seating.place]
                error.finished = RecordedDeals(out[: seating.place], whole)
                raise
            out[seating.place, seating.column, seating.agents] = won
            if self.keeps_hands:
                played = complete_hand(self.game, actions, seating.chance)
                hands.append(PlayedHand(deals.first + seating.place, tuple(seating.agents), played))
        return RecordedDeals(out, hands) if self.keeps_hands else out


class Seating(NamedTuple):
    """A game of a match: who sits where, and what is drawn from."""

    place: int  # of the deal among those that are played together
    column: int  # among the games of the deal
    rotation: int
    agents: list[int]  # by seat
    chance: np.random.Generator
    rng: np.random.Generator  # of agents


def list_seatings(config: MatchConfig, deals: DealRange, num_agents: int) -> Iterator[Seating]:
    """Yields the games of some deals; on rotation r agent a sits in seat (a - r)."""
    for place in range(deals.size):
        deal = deals.first + place
        for column in range(config.num_rotations(num_agents)):
            rotation = column if config.is_duplicate else deal % num_agents
            yield Seating(
                place,
                column,
                rotation,
                [(seat + rotation) % num_agents for seat in range(num_agents)],
                np.random.default_rng([config.seed, CHANCE_STREAM, deal]),
                np.random.default_rng([config.seed, AGENT_STREAM, deal, rotation]),
            )


def list_rotations(config: MatchConfig, chunk: int, num_agents: int) -> Iterator[tuple[int, IndexArray, int]]:
    """Yields each rotation with the games of a chunk that are seated so, by place, and the column they go to."""
    places = np.arange(config.deals_per_chunk)
    for rotation in range(num_agents):
        if config.is_duplicate:
            yield rotation, places, rotation
        else:
            yield rotation, np.flatnonzero((chunk * places.size + places) % num_agents == rotation), 0


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class GivenAgent:
    """A maker of one agent that is there already; for workers it must be such as can be sent to them."""

    agent: Agent

    @property
    def name(self) -> str:
        """Returns the agent's name."""
        return self.agent.name

    def __call__(self, game: Game[Any]) -> Agent:
        """Returns the agent."""
        return self.agent


def make_agents(makers: Sequence[AgentMaker], game: Any) -> list[Agent]:
    """Returns agents that this process keeps; games are hashable, their rules are frozen values."""
    return [_make_agent(maker, game, place) for place, maker in enumerate(makers)]


@functools.lru_cache(16)
def _make_agent(maker: AgentMaker, game: Any, _place: int) -> Agent:
    """Returns an agent that this process keeps; each place has its own, for agents remember their game."""
    return maker(game)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MatchResult:
    """What a match gave.

    >>> from equipoise.runs import match
    >>> result = match("raise", "uniform", game="kuhn", hands=1000, seed=3)
    >>> result.num_hands, result.names
    (1000, ('raise', 'uniform'))
    """

    names: tuple[str, ...]
    config: MatchConfig
    utility: FloatArray  # [deals, rotations, agents]
    won: FloatArray | None = None  # likewise, what was won where `utility` are estimates of it
    known: tuple[str, ...] = ()  # agents whose strategies these estimates used
    stopped_by: str  # deals, precision, time, interrupted, or failed if an agent was
    failure: str | None = None  # what an agent did that ended the match; its deals count up to there
    seconds: float  # of play, resumed parts included

    def __repr__(self) -> str:
        won = "nothing played"
        if self.num_hands:
            first = self.estimate()
            won = f"{self.names[0]} wins {first.mean:.4g} ± {first.half_width:.2g} a game"
        return f"<MatchResult of {' and '.join(self.names)}: {self.num_hands:,} games, {won}>"

    def _repr_html_(self) -> str:
        rows: list[list[object]] = []
        for agent, name in enumerate(self.names if self.num_hands else ()):
            found = self.estimate(agent)
            rows.append([name, found.mean, f"± {found.half_width:.2g}", *self.count_results(agent)])
        title = f"{self.num_hands:,} games, stopped by {self.stopped_by}"
        return join_html(html_line(title), html_table(["agent", "wins a game", "", "won", "drawn", "lost"], rows))

    @property
    def num_deals(self) -> int:
        """Returns how many deals were played."""
        return int(self.utility.shape[0])

    @property
    def num_hands(self) -> int:
        """Returns how many games were played, every seating of a deal being one."""
        return int(self.utility.shape[0] * self.utility.shape[1])

    def estimate(self, agent: int = 0) -> Estimate:
        """Returns what an agent wins a game, in the game's unit of utility."""
        return _estimate([self.utility], self.config, agent)

    def estimate_won(self, agent: int = 0) -> Estimate:
        """Returns the same from what was won, luck included, where games were scored by estimates."""
        return _estimate([self.utility if self.won is None else self.won], self.config, agent)

    def times_less(self, agent: int = 0) -> float | None:
        """Returns how many times less deals scatter by estimates than by what was won; None if they cannot tell."""
        before, after = self.estimate_won(agent).standard_error, self.estimate(agent).standard_error
        return before / after if self.won is not None and after > 0 and math.isfinite(before) else None

    def count_results(self, agent: int = 0) -> tuple[int, int, int]:
        """Returns how many games an agent won, drew and lost against the mean of the others."""
        own = self.utility[:, :, agent]
        others = (self.utility.sum(axis=2) - own) / max(len(self.names) - 1, 1)
        return int((own > others).sum()), int((own == others).sum()), int((own < others).sum())


def run_match(
    play: ChunkPlayer,
    config: MatchConfig,
    *,
    pool: Pool | None = None,
    path: StrPath | None = None,
    is_resumed: bool = False,
    label: str = "",
    on_progress: Callable[[float, Estimate], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    budget_seconds: float | None = None,
    on_hands: Callable[[list[PlayedHand]], None] | None = None,
) -> MatchResult:
    """Returns the result of a match.

    Args:
        play: who plays deals.
        config: how many, and what stops the match.
        pool: who works; this process alone if None.
        path: where deals are kept: every ten seconds, at the end and when interrupted.
        is_resumed: whether to go on with the match in `path` if there is one.
        label: of the game, which a resumed match must share.
        on_progress: called after every chunk with the share done and the first agent's winnings.
        should_stop: looked at after every chunk.
        budget_seconds: after which the match ends with what it has; None: it does not.
        on_hands: called with what was played, in the order of deals, if `play` keeps it.
    """
    games = _KeptGames(path, _identify(play, config, label), is_resumed=is_resumed, on_hands=on_hands)
    stopped_by = _is_over(games.parts, config)
    workers = pool or LocalPool()
    pace = _Pace(workers.num_workers)
    tasks = _chunks(games.num_deals, config, pace if play.plays_singly else None) if not stopped_by else iter(())
    results = workers.map(play, tasks)
    failure: str | None = None
    ends_at = math.inf if budget_seconds is None else time.perf_counter() + budget_seconds
    try:
        for part in results:
            games.add(part)
            pace.note(len(part))
            stopped_by = _is_over(games.parts, config)
            if not stopped_by and should_stop():
                stopped_by = "interrupted"
            if not stopped_by and time.perf_counter() >= ends_at:
                stopped_by = "time"
            if on_progress is not None:
                on_progress(_share_done(games.parts, config), _estimate(games.parts, config))
            if stopped_by:
                break
            games.save_now_and_then()
    except AgentFailedError as error:
        games.add_finished(error)
        if not games.parts:
            raise
        stopped_by, failure = "failed", str(error)
    except BaseException:  # an agent that fails, a second Ctrl-C: the games so far are worth keeping
        games.save(None)
        raise
    finally:
        results.close()
        close_programs()
    games.save(stopped_by)
    return MatchResult(
        names=play.names,
        config=config,
        utility=np.concatenate(games.parts),
        won=np.concatenate(games.won) if games.won else None,
        known=tuple(play.names[place] for place in getattr(play, "known", ())),
        stopped_by=stopped_by,
        failure=failure,
        seconds=games.seconds,
    )


class _KeptGames:
    """The games of a match so far, in memory and in a file."""

    def __init__(
        self,
        path: StrPath | None,
        identity: dict[str, Any],
        *,
        is_resumed: bool,
        on_hands: Callable[[list[PlayedHand]], None] | None,
    ) -> None:
        self.path, self.identity, self._on_hands = path, identity, on_hands
        known = _load_parts(path, identity) if path is not None and is_resumed else ([], [], 0.0)
        self.parts, self.won, self._seconds_before = known
        self._began = self._last_save = time.perf_counter()

    def add(self, found: FloatArray | RecordedDeals) -> None:
        """Takes in what a `ChunkPlayer` gave."""
        part = found.won if isinstance(found, RecordedDeals) else found
        if isinstance(found, RecordedDeals) and self._on_hands is not None:
            self._on_hands(found.hands)
        if part.ndim > 3:
            self.won.append(part[..., 1])
        self.parts.append(part[..., 0] if part.ndim > 3 else part)

    def add_finished(self, error: AgentFailedError) -> None:
        """Takes in the deals that were whole before an agent failed."""
        if isinstance(error.finished, RecordedDeals) and len(error.finished):
            self.add(error.finished)

    @property
    def num_deals(self) -> int:
        """Returns how many deals were played."""
        return sum(len(part) for part in self.parts)

    @property
    def seconds(self) -> float:
        """Returns how long the match has lasted, before it was resumed included."""
        return self._seconds_before + time.perf_counter() - self._began

    def save(self, stopped_by: str | None) -> None:
        """Writes the file, if there is one and anything to write."""
        if self.path is not None and self.parts:
            metadata = {**self.identity, "seconds": self.seconds, "stopped_by": stopped_by}
            arrays = {UTILITY: np.concatenate(self.parts)}
            if self.won:
                arrays[WON] = np.concatenate(self.won)
            checkpoint.save(self.path, Kind.MATCH, metadata, arrays)
        self._last_save = time.perf_counter()

    def save_now_and_then(self) -> None:
        """Writes the file if it has not been written for a while."""
        if time.perf_counter() - self._last_save > SAVE_SECONDS:
            self.save(None)


def load_match(path: StrPath) -> dict[str, Any]:
    """Returns what a file says of its match, and under `utility` its games `[deals, rotations, agents]`.

    Where these are estimates, `won` has what was won.

    >>> import tempfile
    >>> from equipoise.runs import match
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = match("call", "uniform", game="kuhn", hands=100, out=f"{folder}/match.eq")
    ...     print(load_match(f"{folder}/match.eq")["utility"].shape)
    (50, 2, 2)
    """
    content = checkpoint.load(path, Kind.MATCH)
    if UTILITY not in content.arrays:
        raise CheckpointError(f"{path} holds no games of a match")
    return {**content.metadata, "utility": content.arrays[UTILITY], "won": content.arrays.get(WON)}


def _identify(play: ChunkPlayer, config: MatchConfig, label: str) -> dict[str, Any]:
    """Returns what two parts of one match have in common; how long it lasts is no part of it."""
    settings = dataclasses.asdict(config)
    for name in ("num_deals", "precision", "confidence"):
        del settings[name]
    own = {name: getattr(play, name) for name in OWN_SETTINGS if hasattr(play, name)}
    makers = getattr(play, "makers", ())
    return {
        "game_label": label,
        "agents": list(play.names),
        "contents": [maker.digest() if isinstance(maker, ContentMaker) else None for maker in makers],
        "guesses_content": digest_file(own["guesses"]) if "guesses" in own else None,
        "runner": type(play).__name__,
        "settings": {**settings, **{name: list(v) if isinstance(v, tuple) else v for name, v in own.items()}},
    }


def _load_parts(path: StrPath, identity: dict[str, Any]) -> tuple[list[FloatArray], list[FloatArray], float]:
    if not os.path.exists(path):
        return [], [], 0.0
    found = load_match(path)
    # settings one by one, so that people need not look for the difference
    before, wanted = ({**one, **dict(one.get("settings") or {}), "settings": None} for one in (found, identity))
    for name, value in wanted.items():
        if before.get(name) != value:
            raise CheckpointError(f"{path} holds another match: {name} is {before.get(name)}, asked for {value}")
    won = [] if found["won"] is None else [found["won"]]
    return [found["utility"]], won, float(found.get("seconds", 0.0))


class _Pace:
    """How many deals make a task that is done soon, from what earlier ones took."""

    def __init__(self, num_workers: int) -> None:
        self.num_workers = num_workers
        self.num_deals = 0
        self.began = time.perf_counter()

    def note(self, num_deals: int) -> None:
        self.num_deals += num_deals

    def task_size(self) -> int:
        spent = time.perf_counter() - self.began
        return max(1, int(LONGEST_TASK_SECONDS * self.num_deals / (self.num_workers * max(spent, 1e-9))))


def _chunks(num_done: int, config: MatchConfig, pace: _Pace | None) -> Iterator[DealRange]:
    """Yields the deals that are left, in chunks, or with a pace in what of them is done soon."""
    first = num_done
    while first < config.num_deals:
        # chunks end at multiples, wherever a match was interrupted
        end = min((first // config.deals_per_chunk + 1) * config.deals_per_chunk, config.num_deals)
        if pace is not None:
            end = min(end, first + pace.task_size())
        yield DealRange(first, end - first)
        first = end


def _samples(parts: Sequence[FloatArray], agent: int = 0) -> FloatArray:
    """Returns `[B]` what an agent won on average over the seats of each deal."""
    return np.concatenate([part[:, :, agent].mean(axis=1) for part in parts])


def _estimate(parts: Sequence[FloatArray], config: MatchConfig, agent: int = 0) -> Estimate:
    return estimate_mean(_samples(parts, agent), confidence=config.confidence)


def _is_precise(samples: FloatArray, precision: float, confidence: float) -> bool:
    """Returns whether samples `[B]` tell their mean as precisely as wanted, and how precisely that is."""
    if samples.size < LEAST_SAMPLES or estimate_mean(samples, confidence=confidence).half_width > precision:
        return False
    _, counts = np.unique(samples, return_counts=True)
    return bool(samples.size - counts.max() >= LEAST_UNLIKE)


def _is_over(parts: Sequence[FloatArray], config: MatchConfig) -> str:
    """Returns what ends a match now, nothing if it goes on."""
    num_done = sum(len(part) for part in parts)
    is_last = num_done >= config.num_deals
    looks = num_done > 0 and (is_last or num_done % config.deals_per_chunk == 0)  # elsewhere: after interruptions alone
    if config.precision is not None and looks and _is_precise(_samples(parts), config.precision, config.confidence):
        return "precision"
    return "deals" if is_last else ""


def _share_done(parts: Sequence[FloatArray], config: MatchConfig) -> float:
    num_done = sum(len(part) for part in parts)
    share = num_done / config.num_deals
    if config.precision is not None and num_done > 1:
        half_width = _estimate(parts, config).half_width
        # widths shrink with the root of the deals
        share = max(share, min(1.0, (config.precision / half_width) ** 2) if half_width else 1.0)
    return min(share, 1.0) if math.isfinite(share) else 0.0
