# SPDX-License-Identifier: Apache-2.0
"""What sweeps over every form of tree have in common: rules and tables as kernels read them, and the calls.

A form adds how its arrays are bound and where its root is.
"""

from __future__ import annotations

import abc
import dataclasses
import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_axes, check_finite
from equipoise.kernels.calls import OneCaller, check_integer, check_num_threads, check_player

__all__ = ["Fallback", "KernelRule", "PolicyMap", "Substitutes", "SweepKernel", "SweepTables", "apply_policy_map"]

FloatArray = npt.NDArray[np.float64]

NUM_DISCOUNT_COLUMNS = 6  # positive, negative, average decay, average weight, eta scale, threshold


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

    def __post_init__(self) -> None:
        # a bare number would choose its kernel, but not the tables that this needs
        for value, kind in ((self.policy_map, PolicyMap), (self.fallback, Fallback)):
            if not isinstance(value, kind):
                raise ConfigError(f"a rule needs a {kind.__name__}, got {value!r}")

    @property
    def needs_last_regret(self) -> bool:
        """Returns whether tables without a strategy must keep the last instantaneous regrets to form it."""
        return self.is_optimistic

    @property
    def needs_scale(self) -> bool:
        """Returns whether the rule keeps a scale per information set."""
        return self.policy_map is PolicyMap.HEDGE

    @property
    def native_arguments(self) -> tuple[int, int, bool, bool, bool]:
        """Returns the rule as the native module takes it."""
        return int(self.policy_map), int(self.fallback), self.is_optimistic, self.floors_regrets, self.tracks_variance


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SweepTables:
    """The tables of a run; those that a rule does not need are empty.

    Q is the sequences of a history tree or the decisions' cells of a public tree, I its information sets or its rows.
    """

    regret_sum: FloatArray  # [Q]
    strategy_sum: FloatArray  # [Q] weighted by own reach
    strategy: FloatArray  # [Q] probabilities that the next iteration plays
    realization: FloatArray  # [Q] own reach under `strategy`; on a public tree over all cells, the root's given
    scale: FloatArray  # [I] or [0]
    value_moments: FloatArray  # [I, 2] or [0, 2]

    @property
    def native_arguments(self) -> tuple[FloatArray, ...]:
        """Returns the tables in the order in which the native module takes them."""
        return (
            self.regret_sum,
            self.strategy_sum,
            self.strategy,
            self.realization,
            self.scale,
            self.value_moments,
        )


class Substitutes(NamedTuple):
    """What a player's information states are worth to a warm start; zero where they are another player's."""

    value: float  # of the whole tree
    row_value: FloatArray  # [I]
    regret: FloatArray  # [Q] what actions are worth beyond their information state


class SweepKernel(abc.ABC):
    """A tree as the native module reads it: iterations, values and best responses.

    Q and I are as in `SweepTables`; C is what `realization` and `cfv` range over: Q, or all cells of a public tree.
    """

    num_players: int
    num_table_cells: int  # Q
    num_cells: int  # C
    num_rows: int  # I
    _form: Any  # of the native module

    def __init__(self) -> None:
        self._one_caller = OneCaller("solver")

    @abc.abstractmethod
    def root_value(self, player: int, realization: FloatArray, cfv: FloatArray) -> float:
        """Returns a player's utility from its root reach and counterfactual values `[C]`."""

    @abc.abstractmethod
    def root_reach(self) -> FloatArray:
        """Returns `[C]` a reach of one at every root of the players, and nothing below."""

    @abc.abstractmethod
    def is_own(self, player: int) -> npt.NDArray[np.bool_]:
        """Returns `[C]` which cells are a player's; those of tables come first."""

    def team_size(self, num_threads: int) -> int:
        """Returns how many of `num_threads` are worth their meetings on a tree of this size."""
        return num_threads

    def allocate(self, num_cells: int) -> FloatArray:
        """Returns zeros as the form likes them in memory."""
        return np.zeros(num_cells)

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
            discounts: `[B, 6]` factor on positive and on negative regrets, decay and weight of the average, eta scale,
                threshold.
            tables: the run so far.
            first_t: index of the first iteration, from 1.
            is_alternating: whether each player sees the others' updates of the same iteration.
            num_threads: most threads of the team, see `team_size`; the tables are the same bits whatever it is.
        """
        check_axes("discounts", discounts, 2)
        check_array("discounts", discounts, np.float64, (discounts.shape[0], NUM_DISCOUNT_COLUMNS))
        check_integer("first_t", first_t, 1)
        check_num_threads(num_threads)
        self.check_tables(rule, tables)
        with self._one_caller:
            self._form.iterate(
                *rule.native_arguments,
                discounts,
                first_t,
                is_alternating,
                self.team_size(num_threads),
                *tables.native_arguments,
            )

    def learn(
        self,
        rule: KernelRule,
        discounts: FloatArray,
        tables: SweepTables,
        player: int,
        terminal_values: FloatArray,
        *,
        first_t: int,
    ) -> FloatArray:
        """Updates one player's part of `tables` once per row of `discounts`; returns `[B]` its utility in each update.

        The others stand still, and all that they do to the player is in the values of its terminals: what costs most
        of an iteration is not repeated.

        Args:
            rule: what the kernel is specialised on.
            discounts: `[B, 6]` as for `iterate`.
            tables: the run so far.
            player: who learns.
            terminal_values: `[C]` as `terminal_values` returns them.
            first_t: index of the first update, from 1.
        """
        check_axes("discounts", discounts, 2)
        check_array("discounts", discounts, np.float64, (discounts.shape[0], NUM_DISCOUNT_COLUMNS))
        check_integer("first_t", first_t, 1)
        check_player(player, self.num_players)
        check_array("terminal_values", terminal_values, np.float64, (self.num_cells,))
        self.check_tables(rule, tables)
        utility = np.zeros(discounts.shape[0])
        with self._one_caller:
            self._form.learn(
                *rule.native_arguments,
                discounts,
                first_t,
                player,
                terminal_values,
                *tables.native_arguments,
                utility,
            )
        return utility

    def check_tables(self, rule: KernelRule, tables: SweepTables) -> None:
        """Raises unless every table that the rule reads has the tree's size."""
        cells, rows = (self.num_table_cells,), self.num_rows
        for name, table, shape in (
            ("regret_sum", tables.regret_sum, cells),
            ("strategy_sum", tables.strategy_sum, cells),
            ("strategy", tables.strategy, cells),
            ("realization", tables.realization, (self.num_cells,)),
            ("scale", tables.scale, (rows if rule.needs_scale else 0,)),
            ("value_moments", tables.value_moments, (rows if rule.tracks_variance else 0, 2)),
        ):
            check_array(name, table, np.float64, shape, is_written=True)

    def realize(self, strategy: FloatArray, *, root_reach: FloatArray | None = None) -> FloatArray:
        """Returns `[C]` own reach under a strategy `[Q]`.

        Args:
            strategy: probabilities of actions.
            root_reach: `[C]` of which a public tree's root cells are read; ones by default.
        """
        check_array("strategy", strategy, np.float64, (self.num_table_cells,))
        check_finite("strategy", strategy)
        reach = self.root_reach()
        if root_reach is not None:
            check_array("root_reach", root_reach, np.float64, (self.num_cells,))
            reach[:] = root_reach
        self._form.realize(strategy, reach)
        return reach

    def normalize(self, sums: FloatArray) -> FloatArray:
        """Returns `[Q]` the sums divided by their total at every information state, uniform where that is zero."""
        check_array("sums", sums, np.float64, (self.num_table_cells,))
        out = self.allocate(self.num_table_cells)
        self._form.normalize(sums, out)
        return out

    def terminal_values(self, player: int, realization: FloatArray, *, num_threads: int = 1) -> FloatArray:
        """Returns `[C]` counterfactual values of the terminals right below each of the player's cells."""
        check_player(player, self.num_players)
        check_num_threads(num_threads)
        check_array("realization", realization, np.float64, (self.num_cells,))
        cfv = self.allocate(self.num_cells)
        self._form.terminal_values(player, realization, self.team_size(num_threads), cfv)
        return cfv

    def best_response(self, player: int, realization: FloatArray, *, num_threads: int = 1) -> tuple[float, FloatArray]:
        """Returns the value of the best response to the others' reach, and it as a pure strategy `[Q]`."""
        cfv = self.terminal_values(player, realization, num_threads=num_threads)
        check_finite("realization", realization)  # a best action among values that are not numbers means nothing
        best = np.zeros(self.num_table_cells)
        self._form.back_up_best(player, cfv, best)
        return self.root_value(player, realization, cfv), best

    def substitute(
        self, player: int, realization: FloatArray, budget: FloatArray, *, num_threads: int = 1
    ) -> Substitutes:
        """Returns values that fall short of the best action's, level by level, by what a budget allows.

        An information state is worth the v at which the squares of `max(0, value of an action - v)` sum to its budget:
        the largest value if there is none, so that a budget of zeros is a best response.

        Args:
            player: whose values.
            realization: `[C]` reach of the others.
            budget: `[I]` at least 0.
            num_threads: most threads of the team that evaluates terminals.
        """
        check_array("budget", budget, np.float64, (self.num_rows,))
        check_finite("budget", budget)
        cfv = self.terminal_values(player, realization, num_threads=num_threads)
        check_finite("realization", realization)
        row_value, regret = np.zeros(self.num_rows), np.zeros(self.num_table_cells)
        self._form.back_up_substitutes(player, budget, cfv, row_value, regret)
        return Substitutes(self.root_value(player, realization, cfv), row_value, regret)

    def strategy_values(
        self, player: int, strategy: FloatArray, realization: FloatArray, *, num_threads: int = 1
    ) -> FloatArray:
        """Returns `[C]` counterfactual values of the player's cells when it plays `strategy` below."""
        check_array("strategy", strategy, np.float64, (self.num_table_cells,))
        cfv = self.terminal_values(player, realization, num_threads=num_threads)
        self._form.back_up_strategy(player, strategy, cfv)
        return cfv


def apply_policy_map(
    policy_map: PolicyMap,
    regret: Sequence[float] | FloatArray,
    *,
    fallback: Fallback = Fallback.UNIFORM,
    eta: float = 1.0,
    threshold: float = 0.0,
) -> FloatArray:
    """Returns the probabilities that a policy map gives to one information set's regrets.

    Those below the threshold become zero, unless they are the largest, and the others take their place in proportion.

    >>> apply_policy_map(PolicyMap.REGRET_MATCHING, [3.0, 1.0, -5.0]).tolist()
    [0.75, 0.25, 0.0]
    >>> apply_policy_map(PolicyMap.REGRET_MATCHING, [3.0, 1.0, -5.0], threshold=0.3).tolist()
    [1.0, 0.0, 0.0]
    """
    values = np.array(regret, np.float64)
    check_axes("regret", values, 1)
    check_integer("number of regrets", values.size, 1)
    check_finite("regret", values)
    out = np.empty_like(values)
    _native.apply_policy_map(int(PolicyMap(policy_map)), int(Fallback(fallback)), eta, threshold, values, out)
    return out
