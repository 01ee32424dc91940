# SPDX-License-Identifier: Apache-2.0
"""Sweeps over history trees in sequence form: iterations, realisation weights, terminal values, best responses."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.kernels.arrays import check_array

__all__ = ["Fallback", "HistoryKernel", "KernelRule", "PolicyMap", "SweepTables", "apply_policy_map"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

NUM_DISCOUNT_COLUMNS = 5  # positive, negative, average decay, average weight, eta scale


class PolicyMap(enum.IntEnum):
    """How regrets become probabilities."""

    REGRET_MATCHING = 0
    HEDGE = 1
    NORMAL_HEDGE = 2


class Fallback(enum.IntEnum):
    """What regret matching plays when no regret is positive."""

    UNIFORM = 0
    ARGMAX = 1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KernelRule:
    """The part of a rule on which kernels are specialised."""

    policy_map: PolicyMap = PolicyMap.REGRET_MATCHING
    fallback: Fallback = Fallback.UNIFORM
    is_optimistic: bool = False  # the last instantaneous regret counts twice when the strategy is formed
    floors_regrets: bool = False  # regrets below zero are forgotten
    tracks_variance: bool = False  # Hedge alone: scale by the running deviation of v(I)

    @property
    def needs_last_regret(self) -> bool:
        """Returns whether the rule keeps the last instantaneous regrets."""
        return self.is_optimistic

    @property
    def needs_scale(self) -> bool:
        """Returns whether the rule keeps a scale per information set."""
        return self.policy_map is PolicyMap.HEDGE


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SweepTables:
    """The tables of a run; those that a rule does not need are empty.

    Q is the sequences of a history tree or the decisions' cells of a public tree, I its information sets or its rows.
    """

    regret_sum: FloatArray  # [Q]
    strategy_sum: FloatArray  # [Q] weighted by own reach
    strategy: FloatArray  # [Q] probabilities that the next iteration plays
    realization: FloatArray  # [Q] own reach under `strategy`; on a public tree over all cells, the root's given
    last_regret: FloatArray  # [Q] or [0]
    scale: FloatArray  # [I] or [0]
    value_moments: FloatArray  # [I, 2] or [0, 2]


class HistoryKernel:
    """A history tree as the native module reads it."""

    def __init__(
        self,
        *,
        terminal_sequence: IntArray,
        weight: FloatArray,
        sequence_start: IntArray,
        infoset_start: IntArray,
        first_sequence: IntArray,
        num_actions: IntArray,
        parent_sequence: IntArray,
    ) -> None:
        """Checks and binds the arrays.

        Args:
            terminal_sequence: `[P, Z]` last sequence of each player at each terminal.
            weight: `[P, Z]` chance times utility, or `[1, Z]` player 0's for a two-player zero-sum tree.
            sequence_start: `[P+1]` segments of the shared numbering of sequences.
            infoset_start: `[P+1]` segments of the shared numbering of information sets.
            first_sequence: `[I]` first sequence of each information set.
            num_actions: `[I]` sequences of each information set.
            parent_sequence: `[I]` sequence above each information set.
        """
        self.num_players, self.num_terminals = terminal_sequence.shape
        self.num_infosets = num_actions.size
        self.num_sequences = int(sequence_start[-1])
        self.sequence_start = sequence_start
        check_array("terminal_sequence", terminal_sequence, np.int32, terminal_sequence.shape)
        rows = 1 if weight.shape[0] == 1 and self.num_players == 2 else self.num_players
        check_array("weight", weight, np.float64, (rows, self.num_terminals))
        for name, value, size in (
            ("sequence_start", sequence_start, self.num_players + 1),
            ("infoset_start", infoset_start, self.num_players + 1),
            ("first_sequence", first_sequence, self.num_infosets),
            ("num_actions", num_actions, self.num_infosets),
            ("parent_sequence", parent_sequence, self.num_infosets),
        ):
            check_array(name, value, np.int32, (size,))
        self._form = _native.HistoryForm(
            list(terminal_sequence),
            list(weight),
            sequence_start,
            infoset_start,
            first_sequence,
            num_actions,
            parent_sequence,
        )

    def iterate(
        self,
        rule: KernelRule,
        discounts: FloatArray,
        tables: SweepTables,
        *,
        first_t: int,
        is_alternating: bool,
        num_threads: int,
    ) -> None:
        """Runs one iteration per row of `discounts` and updates `tables` in place.

        Args:
            rule: what the kernel is specialised on.
            discounts: `[B, 5]` factor on positive and on negative regrets, decay and weight of the average, eta scale.
            tables: the run so far.
            first_t: index of the first iteration, from 1.
            is_alternating: whether each player sees the others' updates of the same iteration.
            num_threads: size of the team; results depend on it in their last bits.
        """
        check_array("discounts", discounts, np.float64, (discounts.shape[0], NUM_DISCOUNT_COLUMNS))
        self.check_tables(rule, tables)
        _native.history_iterate(
            self._form,
            int(rule.policy_map),
            int(rule.fallback),
            rule.is_optimistic,
            rule.floors_regrets,
            rule.tracks_variance,
            discounts,
            first_t,
            is_alternating,
            num_threads,
            tables.regret_sum,
            tables.strategy_sum,
            tables.strategy,
            tables.realization,
            tables.last_regret,
            tables.scale,
            tables.value_moments,
        )

    def check_tables(self, rule: KernelRule, tables: SweepTables) -> None:
        """Raises unless every table that the rule reads has the tree's size."""
        sequences, infosets = self.num_sequences, self.num_infosets
        for name in ("regret_sum", "strategy_sum", "strategy", "realization"):
            check_array(name, getattr(tables, name), np.float64, (sequences,))
        check_array("last_regret", tables.last_regret, np.float64, (sequences if rule.needs_last_regret else 0,))
        check_array("scale", tables.scale, np.float64, (infosets if rule.needs_scale else 0,))
        moments = infosets if rule.tracks_variance else 0
        check_array("value_moments", tables.value_moments, np.float64, (moments, 2))

    def realize(self, strategy: FloatArray) -> FloatArray:
        """Returns `[Q]` own reach of every sequence under a strategy `[Q]`."""
        check_array("strategy", strategy, np.float64, (self.num_sequences,))
        realization = np.empty(self.num_sequences)
        _native.history_realize(self._form, strategy, realization)
        return realization

    def normalize(self, sums: FloatArray) -> FloatArray:
        """Returns `[Q]` the sums divided by their total at every information set, uniform where that is zero."""
        check_array("sums", sums, np.float64, (self.num_sequences,))
        out = np.ones(self.num_sequences)
        _native.history_normalize(self._form, sums, out)
        return out

    def terminal_values(self, player: int, realization: FloatArray, *, num_threads: int = 1) -> FloatArray:
        """Returns `[Q]` counterfactual values of the terminals right after each of the player's sequences."""
        check_array("realization", realization, np.float64, (self.num_sequences,))
        cfv = np.zeros(self.num_sequences)
        _native.history_terminal_values(self._form, player, realization, num_threads, cfv)
        return cfv

    def best_response(self, player: int, realization: FloatArray, *, num_threads: int = 1) -> tuple[float, FloatArray]:
        """Returns the value of the best response to the others' reach, and it as a pure strategy `[Q]`."""
        cfv = self.terminal_values(player, realization, num_threads=num_threads)
        best = np.zeros(self.num_sequences)
        _native.history_back_up_best(self._form, player, cfv, best)
        return float(cfv[self.sequence_start[player]]), best

    def best_response_values(self, player: int, realization: FloatArray) -> FloatArray:
        """Returns `[Q]` counterfactual values of the player's sequences when it plays best everywhere below."""
        cfv = self.terminal_values(player, realization)
        _native.history_back_up_best(self._form, player, cfv, np.zeros(self.num_sequences))
        return cfv

    def strategy_values(
        self, player: int, strategy: FloatArray, realization: FloatArray, *, num_threads: int = 1
    ) -> FloatArray:
        """Returns `[Q]` counterfactual values of the player's sequences when it plays `strategy` below."""
        cfv = self.terminal_values(player, realization, num_threads=num_threads)
        check_array("strategy", strategy, np.float64, (self.num_sequences,))
        _native.history_back_up_strategy(self._form, player, strategy, cfv)
        return cfv


def apply_policy_map(
    policy_map: PolicyMap,
    regret: Sequence[float] | FloatArray,
    *,
    fallback: Fallback = Fallback.UNIFORM,
    eta: float = 1.0,
) -> FloatArray:
    """Returns the probabilities that a policy map gives to one information set's regrets.

    >>> apply_policy_map(PolicyMap.REGRET_MATCHING, [3.0, 1.0, -5.0]).tolist()
    [0.75, 0.25, 0.0]
    """
    values = np.ascontiguousarray(regret, dtype=np.float64)
    out = np.empty_like(values)
    _native.apply_policy_map(int(policy_map), int(fallback), eta, values, out)
    return out
