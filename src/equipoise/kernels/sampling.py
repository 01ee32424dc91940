# SPDX-License-Identifier: Apache-2.0
"""Sampled traversals of a history tree."""

from __future__ import annotations

import dataclasses
import enum

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.kernels.arrays import (
    arrays_by_name,
    check_array,
    check_axes,
    check_finite,
    check_generator,
    check_range,
    check_segments,
)
from equipoise.kernels.calls import check_integer, check_player
from equipoise.kernels.skipping import NO_SKIPPING, SkipKind, Skipping
from equipoise.kernels.turns import OneCaller

__all__ = [
    "NO_BASELINES",
    "NO_NODE_LIMIT",
    "BaselineArrays",
    "Collected",
    "SamplingArrays",
    "SamplingKernel",
    "SamplingTables",
    "Scheme",
    "check_sampling_arrays",
    "draw_words",
]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
WordArray = npt.NDArray[np.uint64]
ByteArray = npt.NDArray[np.uint8]

CHANCE_ACTOR = -1
TERMINAL_ACTOR = -2
NO_NODE_LIMIT = 2**62
MAX_DEPTH = 10_000  # traversals are recursive, some 250 bytes of stack a level


class Scheme(enum.IntEnum):
    """What a traversal samples; the rest it enumerates."""

    EXTERNAL = 0  # chance and the other players
    OUTCOME = 1  # everything: one terminal a traversal
    CHANCE = 2  # chance alone
    PUBLIC_CHANCE = 3  # chance that everybody sees, one outcome per public state


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SamplingTables:
    """What a run of sampled traversals changes; tables that it does not need are empty."""

    regret_sum: FloatArray  # [Q]
    strategy_sum: FloatArray  # [Q]
    random_words: WordArray  # [4] state of the generator (xoshiro256**), not all zero
    nodes_touched: WordArray  # [1] histories visited, terminals included
    missed: FloatArray = dataclasses.field(default_factory=lambda: np.zeros(0))  # [Q] reach of visits left out in a row
    num_skipped: WordArray = dataclasses.field(default_factory=lambda: np.zeros(1, np.uint64))  # [1] actions left out
    baseline: FloatArray = dataclasses.field(default_factory=lambda: np.zeros((0, 0)))  # [P, V] guesses of values


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BaselineArrays:
    """Which guess stands for the value of which edge: V guesses for every player."""

    edge_guess: IntArray  # [E] -1: none; empty: there are no guesses
    num_guesses: int  # V
    rate: float  # share of a guess that a sample replaces, in (0, 1]


NO_BASELINES = BaselineArrays(edge_guess=np.zeros(0, np.int32), num_guesses=0, rate=1.0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SamplingArrays:
    """A history tree laid out for sampled traversals: N nodes, E edges, S public states, P players, Z terminals."""

    actor: npt.NDArray[np.int8]  # [N] player, -1 chance, -2 terminal
    detail: IntArray  # [N] information set of a decision, number of a terminal, public state of a chance node or -1
    first_edge: IntArray  # [N+1] into the arrays over edges
    edge_child: IntArray  # [E] children in the order of actions
    edge_probability: FloatArray  # [E] of chance, 1 elsewhere
    edge_slot: IntArray  # [E] at public chance: which outcome of the public state; -1 elsewhere
    first_slot: IntArray  # [J+1] into slot_probability, public state after public state
    slot_probability: FloatArray  # with which each outcome of a public state is drawn
    utility: FloatArray  # [P, Z]
    first_sequence: IntArray  # [I]
    num_actions: IntArray  # [I]
    num_sequences: int  # of all players, empty sequences included


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What traversals found, in their order: visits with regrets, meetings where averages are kept."""

    nodes_touched: int  # histories visited, terminals included
    regret_infoset: IntArray  # [visits]
    regret: FloatArray  # of their actions, visit after visit
    met_infoset: IntArray  # [meetings]
    met_weight: FloatArray  # [meetings] of the strategy in the average


def draw_words(random_words: WordArray, count: int) -> WordArray:
    """Returns `[traversals]` words that streams of random numbers begin with, and moves the generator `[4]` on.

    >>> draw_words(np.array([1, 2, 3, 4], np.uint64), 2).tolist()
    [11520, 0]
    """
    check_generator(random_words)
    check_integer("count", count, 0)
    out = np.empty(count, np.uint64)
    _native.sampling_words(random=random_words, out=out)
    return out


class SamplingKernel:
    """A history tree as sampled traversals read it, and their scratch memory: one call at a time."""

    def __init__(self, arrays: SamplingArrays) -> None:
        check_sampling_arrays(arrays)
        edges = arrays.edge_child.size
        self.num_players = arrays.utility.shape[0]
        self.num_sequences = arrays.num_sequences
        self.num_edges = edges
        self.num_infosets = arrays.num_actions.size
        self._one_caller = OneCaller("solver")
        edge_cumulative = np.empty(edges)
        _native.sampling_accumulate_chance(
            first_edge=arrays.first_edge, edge_probability=arrays.edge_probability, out=edge_cumulative
        )
        named = arrays_by_name(arrays) | {"edge_cumulative": edge_cumulative}
        self.form = _native.SamplingForm(named, arrays.num_sequences)

    def iterate(
        self,
        scheme: Scheme,
        tables: SamplingTables,
        num_iterations: int,
        *,
        exploration: float = 0.0,
        node_limit: int = NO_NODE_LIMIT,
        skipping: Skipping = NO_SKIPPING,
        baselines: BaselineArrays = NO_BASELINES,
        traversals: int = 1,
        weights: tuple[float, float] = (1.0, 0.0),
    ) -> int:
        """Runs iterations, each of traversals for every player, and returns how many; updates `tables` in place.

        Args:
            scheme: what is sampled.
            tables: the run so far.
            num_iterations: at most so many.
            exploration: probability with which outcome sampling's traverser plays uniformly.
            node_limit: no iteration begins once `nodes_touched` has reached it.
            skipping: which of the traverser's actions are left out, over sequences; external sampling alone.
            baselines: guesses of the values of what is not sampled; external and outcome sampling.
            traversals: of each player in an iteration, under one strategy; several draw from streams of their own.
            weights: of what the first iteration adds, and how much more each following one weighs.
        """
        check_integer("num_iterations", num_iterations, 0)
        check_integer("node_limit", node_limit, 0)
        check_integer("traversals", traversals, 1)
        rule, call = self._prepare(scheme, tables, exploration, skipping, baselines)
        plan = _native.SamplingPlan(
            num_iterations=num_iterations,
            node_limit=node_limit,
            num_traversals=traversals,
            first_weight=weights[0],
            weight_step=weights[1],
        )
        with self._one_caller:
            done: int = _native.sampling_iterate(self.form, int(scheme), plan, rule, call)
        return done

    def traverse(
        self,
        scheme: Scheme,
        tables: SamplingTables,
        player: int,
        *,
        exploration: float = 0.0,
        skipping: Skipping = NO_SKIPPING,
        baselines: BaselineArrays = NO_BASELINES,
    ) -> None:
        """Runs one traversal for one player, an iteration of its own to `skipping`, and updates `tables` in place."""
        check_player(player, self.num_players)
        rule, call = self._prepare(scheme, tables, exploration, skipping, baselines)
        with self._one_caller:
            _native.sampling_traverse(self.form, int(scheme), player, rule, call)

    def collect(
        self,
        scheme: Scheme,
        player: int,
        strategy: FloatArray,
        is_known: ByteArray,
        words: WordArray,
        *,
        exploration: float = 0.0,
    ) -> Collected:
        """Returns what one player's traversals find under a strategy that is known at every decision they meet.

        Args:
            scheme: what is sampled.
            player: whose traversals.
            strategy: `[Q]` of everybody.
            is_known: `[I]` nonzero where the strategy is there.
            words: `[traversals]` what each traversal's stream of random numbers begins with, see `draw_words`.
            exploration: as in `iterate`.
        """
        found, is_wanted, is_whole = self._collect(scheme, player, strategy, is_known, words, exploration, True)
        if not is_whole.all():
            raise ConfigError(f"strategies are missing at {int(is_wanted.sum())} decision(s) that traversals meet")
        nodes, regret_infoset, regret, met_infoset, met_weight = found
        return Collected(
            nodes_touched=nodes,
            regret_infoset=regret_infoset,
            regret=regret,
            met_infoset=met_infoset,
            met_weight=met_weight,
        )

    def find_missed(
        self,
        scheme: Scheme,
        player: int,
        strategy: FloatArray,
        is_known: ByteArray,
        words: WordArray,
        *,
        exploration: float = 0.0,
    ) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """Returns the information sets met whose strategy is not known, and `[traversals]` which met one.

        What lies below them is not seen: ask again once their strategies are there. Arguments as in `collect`.
        """
        _, is_wanted, is_whole = self._collect(scheme, player, strategy, is_known, words, exploration, False)
        return np.flatnonzero(is_wanted).astype(np.int32), is_whole == 0

    def _collect(
        self,
        scheme: Scheme,
        player: int,
        strategy: FloatArray,
        is_known: ByteArray,
        words: WordArray,
        exploration: float,
        is_recorded: bool,
    ) -> tuple[tuple[int, IntArray, FloatArray, IntArray, FloatArray], ByteArray, ByteArray]:
        check_player(player, self.num_players)
        check_array("strategy", strategy, np.float64, (self.num_sequences,))
        check_array("is_known", is_known, np.uint8, (self.num_infosets,))
        check_axes("words", words, 1)
        check_array("words", words, np.uint64, words.shape)
        _check_exploration(exploration)
        is_wanted, is_whole = np.zeros(self.num_infosets, np.uint8), np.zeros(words.size, np.uint8)
        with self._one_caller:
            found = _native.sampling_collect(
                self.form,
                scheme=int(Scheme(scheme)),
                player=player,
                exploration=exploration,
                is_recorded=is_recorded,
                strategy=strategy,
                is_known=is_known,
                word=words,
                is_wanted=is_wanted,
                is_whole=is_whole,
            )
        return found, is_wanted, is_whole

    def _prepare(
        self,
        scheme: Scheme,
        tables: SamplingTables,
        exploration: float,
        skipping: Skipping,
        baselines: BaselineArrays,
    ) -> tuple[object, object]:
        """Returns what a call reads and writes as the native module takes it, checked."""
        scheme = Scheme(scheme)
        self.check_tables(tables)
        _check_exploration(exploration)
        if skipping.kind is not SkipKind.NONE and scheme is not Scheme.EXTERNAL:
            raise ConfigError(f"actions are left out of external sampling alone, got {scheme.name} sampling")
        if skipping.needs_missed:
            check_array("missed", tables.missed, np.float64, (self.num_sequences,), is_written=True)
        if baselines.edge_guess.size:
            self._check_baselines(scheme, tables, baselines)
        call = _native.SamplingCall(exploration, baselines.rate, arrays_by_name(tables, baselines))
        return skipping.bind(self.num_sequences), call

    def _check_baselines(self, scheme: Scheme, tables: SamplingTables, baselines: BaselineArrays) -> None:
        if scheme not in (Scheme.EXTERNAL, Scheme.OUTCOME):
            raise ConfigError(f"baselines are for external and outcome sampling, got {scheme.name} sampling")
        if not 0 < baselines.rate <= 1:
            raise ConfigError(f"rate must be above 0 and at most 1, got {baselines.rate}")
        check_array("edge_guess", baselines.edge_guess, np.int32, (self.num_edges,))
        check_range("edge_guess", baselines.edge_guess, -1, baselines.num_guesses)
        shape = (self.num_players, baselines.num_guesses)
        check_array("baseline", tables.baseline, np.float64, shape, is_written=True)

    def check_tables(self, tables: SamplingTables) -> None:
        """Raises unless every table that each run has is of the tree's size."""
        for name, dtype, size in (
            ("regret_sum", np.float64, self.num_sequences),
            ("strategy_sum", np.float64, self.num_sequences),
            ("nodes_touched", np.uint64, 1),
            ("num_skipped", np.uint64, 1),
        ):
            check_array(name, getattr(tables, name), dtype, (size,), is_written=True)
        check_generator(tables.random_words)


def check_sampling_arrays(arrays: SamplingArrays) -> None:
    """Raises unless every array has its size and type, and what it names exists."""
    check_axes("actor", arrays.actor, 1)
    check_axes("edge_child", arrays.edge_child, 1)
    check_axes("first_slot", arrays.first_slot, 1)
    check_axes("num_actions", arrays.num_actions, 1)
    check_axes("utility", arrays.utility, 2)
    nodes, edges, infosets = arrays.actor.size, arrays.edge_child.size, arrays.num_actions.size
    check_integer("number of nodes", nodes, 1)
    check_integer("number of public states and one", arrays.first_slot.size, 1)
    check_integer("num_sequences", arrays.num_sequences, 0, np.iinfo(np.int32).max)
    check_array("actor", arrays.actor, np.int8, (nodes,))
    for name, size in (
        ("detail", nodes),
        ("first_edge", nodes + 1),
        ("edge_child", edges),
        ("edge_slot", edges),
        ("first_slot", arrays.first_slot.size),
        ("first_sequence", infosets),
        ("num_actions", infosets),
    ):
        check_array(name, getattr(arrays, name), np.int32, (size,))
    for name, shape in (
        ("edge_probability", (edges,)),
        ("slot_probability", (int(arrays.first_slot[-1]),)),
        ("utility", arrays.utility.shape),
    ):
        check_array(name, getattr(arrays, name), np.float64, shape)
        check_finite(name, getattr(arrays, name))
    _check_nodes(arrays)


def _check_exploration(exploration: float) -> None:
    if not 0 <= exploration <= 1:
        raise ConfigError(f"exploration must be between 0 and 1, got {exploration}")


def _check_nodes(arrays: SamplingArrays) -> None:
    """Raises unless edges lead down the tree, and every number that a node names exists."""
    check_segments("first_edge", arrays.first_edge, arrays.edge_child.size)
    check_segments("first_slot", arrays.first_slot, arrays.slot_probability.size, shortest=1)
    check_range("actor", arrays.actor, TERMINAL_ACTOR, arrays.utility.shape[0])
    check_range("num_actions", arrays.num_actions, 1, arrays.num_sequences + 1)
    check_range("first_sequence", arrays.first_sequence, 0, arrays.num_sequences + 1 - arrays.num_actions)
    num_edges = np.diff(arrays.first_edge)
    parent = np.repeat(np.arange(arrays.actor.size), num_edges)
    check_range("edge_child", arrays.edge_child, parent + 1, arrays.actor.size)
    is_decision, is_chance = arrays.actor >= 0, arrays.actor == CHANCE_ACTOR
    num_details = np.select(
        [is_decision, is_chance], [arrays.num_actions.size, arrays.first_slot.size - 1], arrays.utility.shape[1]
    )
    check_range("detail", arrays.detail, np.where(is_chance, -1, 0), num_details)
    fewest = is_chance.astype(np.int32)
    fewest[is_decision] = arrays.num_actions[arrays.detail[is_decision]]
    most = np.select([is_decision, is_chance], [fewest, arrays.edge_child.size], 0)
    check_range("number of edges", num_edges, fewest, most + 1)
    depth: int = _native.sampling_depth(first_edge=arrays.first_edge, edge_child=arrays.edge_child)
    if depth > MAX_DEPTH:
        raise GameTooLargeError(f"sampled traversals serve histories of at most {MAX_DEPTH:,} moves, got {depth:,}")
