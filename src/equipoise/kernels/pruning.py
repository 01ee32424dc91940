# SPDX-License-Identifier: Apache-2.0
"""Pruned CFR on a two-player history tree: a run that lives in the native module, because it frees what it prunes."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import arrays_by_name, check_array, check_axes, check_finite, check_range, check_segments
from equipoise.kernels.calls import check_integer
from equipoise.kernels.rules import NUM_DISCOUNT_COLUMNS, Fallback, PolicyMap
from equipoise.kernels.turns import OneCaller

__all__ = ["KernelPruning", "PastIterations", "PruningArrays", "PruningKernel", "PruningMode", "ZeroReach"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

NUM_PLAYERS = 2
TERMINAL_ACTOR = -2  # as games number actors
MOST_ACTIONS = 2**15 - 1  # of a node, chance included


class PruningMode(enum.IntEnum):
    """What walks leave out."""

    NONE = 0
    PARTIAL = 1
    REGRET = 2
    BEST_RESPONSE = 3


class ZeroReach(enum.IntEnum):
    """Where a player that comes by with probability 0 plays a best response instead."""

    OFF = 0
    STRICT = 1  # only where R(I,a) <= -L(I)
    ALL = 2  # wherever sigma(I,a) = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KernelPruning:
    """What a pruned run is specialised on."""

    mode: PruningMode
    zero_reach: ZeroReach = ZeroReach.OFF
    policy_map: PolicyMap = PolicyMap.REGRET_MATCHING
    fallback: Fallback = Fallback.UNIFORM
    tracks_variance: bool = False  # Hedge alone: scale by the running deviation of v(I)
    scale_share: float = 1.0  # Hedge alone: of payoff ranges, what the deviation counts as at least
    floors_regrets: bool = False
    is_alternating: bool = True
    shares_weights: bool = False  # iterations weigh the same in regrets and in the average
    walks_once: bool = False  # for both players, where they are updated at once
    needs_positive: bool = True  # beside what is pruned
    prunes_leaves: bool = True
    threshold: float = 0.0  # fewest iterations, by estimate, for which a sequence is pruned
    discard: float = 0.0
    discard_exponent: float = 0.5


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PruningArrays:
    """A tree as the native module copies it; axes as in `HistoryTree`."""

    actor: npt.NDArray[np.int8]  # [N]
    parent: IntArray  # [N]
    infoset: IntArray  # [N]
    chance_probability: FloatArray  # [N]
    utility: FloatArray  # [Z] of player 0
    infoset_start: IntArray  # [3]
    sequence_start: IntArray  # [3]
    first_sequence: IntArray  # [I]
    num_actions: IntArray  # [I]
    parent_sequence: IntArray  # [I]
    largest: FloatArray  # [Q] utility of the owner below each sequence
    payoff_range: FloatArray  # [I] of the owner's utilities below

    def check(self) -> None:
        """Raises unless every index that native code will follow is inside its array, and trees are in pre-order."""
        check_axes("actor", self.actor, 1)
        check_axes("num_actions", self.num_actions, 1)
        num_nodes, num_infosets = self.actor.size, self.num_actions.size
        check_integer("number of nodes", num_nodes, 1)
        check_array("actor", self.actor, np.int8, (num_nodes,))
        for name in ("parent", "infoset"):
            check_array(name, getattr(self, name), np.int32, (num_nodes,))
        check_array("chance_probability", self.chance_probability, np.float64, (num_nodes,))
        for name in ("infoset_start", "sequence_start"):
            check_array(name, getattr(self, name), np.int32, (NUM_PLAYERS + 1,))
        for name in ("first_sequence", "num_actions", "parent_sequence"):
            check_array(name, getattr(self, name), np.int32, (num_infosets,))
        num_sequences = int(self.sequence_start[-1])
        check_segments("sequence_start", self.sequence_start, num_sequences, shortest=1)
        check_segments("infoset_start", self.infoset_start, num_infosets)
        check_array("largest", self.largest, np.float64, (num_sequences,))
        check_array("payoff_range", self.payoff_range, np.float64, (num_infosets,))
        check_axes("utility", self.utility, 1)
        check_array("utility", self.utility, np.float64, (int((self.actor == TERMINAL_ACTOR).sum()),))
        check_finite("utility", self.utility)
        self._check_nodes(num_nodes, num_infosets)
        self._check_forest(num_sequences)

    def _check_nodes(self, num_nodes: int, num_infosets: int) -> None:
        nodes = np.arange(num_nodes)
        check_range("parent", self.parent, np.where(nodes == 0, -1, 0), np.where(nodes == 0, 0, nodes))
        check_range("actor", self.actor, TERMINAL_ACTOR, NUM_PLAYERS)
        is_decision = self.actor >= 0
        check_range("infoset", self.infoset, np.where(is_decision, 0, -1), np.where(is_decision, num_infosets, 0))
        owner = np.repeat(np.arange(NUM_PLAYERS), np.diff(self.infoset_start))
        if (owner[self.infoset[is_decision]] != self.actor[is_decision]).any():
            raise ValueError("infoset must belong to the actor of its nodes")
        if (self.actor[self.parent[1:]] == TERMINAL_ACTOR).any():
            raise ValueError("parent must not be a terminal node")
        children = np.bincount(self.parent[1:], minlength=num_nodes)
        if (children[is_decision] != self.num_actions[self.infoset[is_decision]]).any():
            raise ValueError("decision nodes must have one child per action of their information set")
        if children.max(initial=0) > MOST_ACTIONS:
            raise ConfigError(f"pruning serves at most {MOST_ACTIONS} children a node, got {children.max()}")

    def _check_forest(self, num_sequences: int) -> None:
        owner = np.repeat(np.arange(NUM_PLAYERS), np.diff(self.infoset_start))
        check_range("num_actions", self.num_actions, 1, num_sequences)
        end = np.cumsum(self.num_actions, dtype=np.int64) + owner + 1
        check_range("first_sequence", self.first_sequence, end - self.num_actions, end - self.num_actions + 1)
        check_range("end of sequences", end, 0, self.sequence_start[owner + 1] + 1)
        check_range("parent_sequence", self.parent_sequence, self.sequence_start[owner], self.first_sequence)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PastIterations:
    """What a run that does not begin with its first iteration has behind it."""

    iterations: int
    nodes_touched: int
    faced_weight: float  # of all iterations in negative regrets, the last one weighing 1
    average_weight: float  # of all iterations in the average
    regret: FloatArray  # [Q] sums
    value: FloatArray  # [I] mean of v(I)
    reach: FloatArray  # [I] mean of the others' reach, chance included
    realization: FloatArray  # [Q] mean of the strategies, in sequence form; 1 at empty sequences

    def check(self, num_sequences: int, num_infosets: int) -> None:
        """Raises unless native code can read it."""
        check_integer("iterations", self.iterations, 1)
        check_integer("nodes_touched", self.nodes_touched, 0)
        sizes = {"regret": num_sequences, "value": num_infosets, "reach": num_infosets, "realization": num_sequences}
        for name, size in sizes.items():
            check_array(name, getattr(self, name), np.float64, (size,))
            check_finite(name, getattr(self, name))


class PruningKernel:
    """A pruned run in the native module."""

    def __init__(self, arrays: PruningArrays, pruning: KernelPruning) -> None:
        arrays.check()
        self.num_sequences = int(arrays.sequence_start[-1])
        self.num_infosets = arrays.num_actions.size
        self._one_caller = OneCaller("solver")
        self._run = _native.PrunedRun(
            arrays_by_name(arrays),
            int(pruning.mode),
            int(pruning.zero_reach),
            int(pruning.policy_map),
            int(pruning.fallback),
            pruning.tracks_variance,
            pruning.scale_share,
            pruning.floors_regrets,
            pruning.is_alternating,
            pruning.shares_weights,
            pruning.walks_once,
            pruning.needs_positive,
            pruning.prunes_leaves,
            pruning.threshold,
            pruning.discard,
            pruning.discard_exponent,
        )

    def iterate(self, discounts: FloatArray, *, first_t: int) -> None:
        """Runs one iteration per row of `discounts` `[B, 6]`, the first being number `first_t`."""
        check_axes("discounts", discounts, 2)
        check_array("discounts", discounts, np.float64, (discounts.shape[0], NUM_DISCOUNT_COLUMNS))
        check_integer("first_t", first_t, 1)
        with self._one_caller:
            self._run.iterate(discounts, first_t)

    def strategy_sum(self) -> FloatArray:
        """Returns `[Q]` sums of strategies weighted by own reach, everything that was put off included."""
        return self._read(self._run.write_average)

    def regret_sum(self) -> FloatArray:
        """Returns `[Q]` regrets discounted up to now; upper bounds where pruned, 0 where freed."""
        return self._read(self._run.write_regrets)

    def strategy(self) -> FloatArray:
        """Returns `[Q]` the strategy of the next iteration; uniform where freed."""
        return self._read(self._run.write_strategy)

    @property
    def num_bytes(self) -> int:
        """Returns the bytes of the tables that are allocated now."""
        return int(self._run.num_bytes())

    @property
    def num_tree_bytes(self) -> int:
        """Returns the bytes of the run's own copy of the tree, which pruning leaves alone."""
        return int(self._run.num_tree_bytes())

    @property
    def nodes_touched(self) -> int:
        """Returns the nodes visited so far."""
        return int(self._run.nodes_touched())

    def statistics(self) -> dict[str, Any]:
        """Returns the counters of the run by name."""
        return dict(self._run.statistics())

    def state(self) -> dict[str, FloatArray]:
        """Returns the arrays from which the run goes on to the bit; rows that were freed are zeros."""
        arrays = {name: np.zeros(shape) for name, shape in self._state_shapes().items()}
        with self._one_caller:
            self._run.save(arrays)
        return arrays

    def restore(self, arrays: dict[str, FloatArray]) -> None:
        """Overwrites the run with the arrays of `state`."""
        for name, shape in self._state_shapes().items():
            check_array(name, arrays[name], np.float64, shape)
        with self._one_caller:
            self._run.restore({name: arrays[name].copy() for name in self._state_shapes()})

    def begin_after(self, past: PastIterations) -> None:
        """Overwrites the run with one that has some iterations behind it and has pruned nothing yet."""
        past.check(self.num_sequences, self.num_infosets)
        with self._one_caller:
            self._run.begin_after(
                past.iterations, past.nodes_touched, past.faced_weight, past.average_weight, arrays_by_name(past)
            )

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        clock, regret, average = _native.PrunedRun.STATE_SIZES
        sequences, infosets = self.num_sequences, self.num_infosets
        return {
            "clock": (clock,),
            "regret_scalars": (infosets, regret),
            "regret_cells": (3, sequences),
            "average_scalars": (infosets, average),
            "average_cells": (2, sequences),
            "snapshot": (self._run.num_snapshots(),),
            "has_rows": (infosets, 2),
            "moments": (self._run.num_moments(), 3),
        }

    def _read(self, write: Callable[[FloatArray], None]) -> FloatArray:
        out = np.zeros(self.num_sequences)
        with self._one_caller:
            write(out)
        return out
