# SPDX-License-Identifier: Apache-2.0
"""What sweeps over history trees and public trees have in common: their tables and their calls.

A form adds how its arrays are bound and where its root is.
"""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import arrays_by_name, check_array, check_finite
from equipoise.kernels.calls import check_num_threads, check_player
from equipoise.kernels.frontier import Frontier
from equipoise.kernels.gates import RootGate
from equipoise.kernels.rules import KernelRule, check_discounts
from equipoise.kernels.turns import LastBound, OneCaller
from equipoise.kernels.vector import NO_HOOKS, Hooks, Reaches, RunTables, VectorKernel

__all__ = ["Substitutes", "SweepKernel", "SweepTables"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SweepTables(RunTables):
    """The tables of a run; those that a rule does not need are empty.

    Q is the sequences of a history tree or the decisions' cells of a public tree, I its information sets or its rows.
    """

    regret_sum: FloatArray  # [Q]
    strategy_sum: FloatArray  # [Q] weighted by own reach
    strategy: FloatArray  # [Q] probabilities that the next iteration plays
    realization: FloatArray  # [Q] own reach under `strategy`; on a public tree over all cells, the root's given
    scale: FloatArray  # [I] or [0]
    value_moments: FloatArray  # [I, 2] or [0, 2]


class Substitutes(NamedTuple):
    """What a player's information states are worth to a warm start; zero where they are another player's."""

    value: float  # of the whole tree
    row_value: FloatArray  # [I]
    regret: FloatArray  # [Q] what actions are worth beyond their information state


class SweepKernel(VectorKernel):
    """A history tree or a public tree as the native module reads it: iterations, values and best responses.

    Q and I are as in `SweepTables`; C is what `realization` and `cfv` range over: Q, or all cells of a public tree.
    """

    dtypes: ClassVar[tuple[np.dtype[Any], ...]] = (np.dtype(np.float64),)
    num_table_cells: int  # Q
    num_cells: int  # C
    num_rows: int  # I
    _form: Any  # of the native module

    def __init__(self) -> None:
        self._one_caller = OneCaller("solver")
        self._run: LastBound[Any] = LastBound()
        self._steps: LastBound[Any] = LastBound()

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

    def allocate_tables(
        self, rule: KernelRule, dtype: npt.DTypeLike = np.float64, scale: FloatArray | None = None
    ) -> SweepTables:
        """Returns the tables of a run that has not begun: no regrets, no strategy yet."""
        self.check_run(rule, dtype)
        return SweepTables(
            regret_sum=self.allocate(self.num_table_cells),
            strategy_sum=self.allocate(self.num_table_cells),
            strategy=self.allocate(self.num_table_cells),
            realization=self.allocate(self.num_cells),
            scale=np.empty(0) if scale is None else scale,
            value_moments=np.zeros((self.num_rows if rule.tracks_variance else 0, 2)),
        )

    def begin(self, tables: RunTables, *, root_reach: Reaches | None = None, gate: RootGate | None = None) -> None:
        """Writes strategies and reaches into `tables` that follow from the sums."""
        assert isinstance(tables, SweepTables)
        tables.strategy[:] = self.normalize(tables.regret_sum)
        tables.realization[:] = self.realize(tables.strategy, root_reach=self._root_table(root_reach, gate))

    def write_locks(self, tables: RunTables) -> None:
        """Does nothing: there are no locks."""

    def _root_table(self, root_reach: Reaches | None, gate: RootGate | None) -> FloatArray | None:
        """Returns `[C]` reaches at the root alone, None for the tree's own."""
        if root_reach is not None or gate is not None:
            raise ConfigError("a history tree begins with its root, got other reaches")
        return None

    def iterate(
        self,
        rule: KernelRule,
        discounts: FloatArray,
        tables: SweepTables,
        *,
        first_t: int,
        is_alternating: bool,
        num_threads: int = 1,
        hooks: Hooks = NO_HOOKS,
    ) -> int:
        """Runs iterations, see `VectorKernel.iterate`.

        The tables are the same bits whatever the number of threads.
        """
        check_discounts(discounts, first_t)
        steps = self.bind_steps(rule, tables, is_alternating=is_alternating, num_threads=num_threads, hooks=hooks)
        with self._one_caller:
            num_done: int = steps.run(discounts, first_t)
        return num_done

    def bind_steps(
        self,
        rule: KernelRule,
        tables: SweepTables,
        *,
        is_alternating: bool,
        num_threads: int = 1,
        hooks: Hooks = NO_HOOKS,
    ) -> Any:
        """Returns iterations as the native module runs them, see `VectorKernel.bind_steps`; the last ones are kept."""
        check_num_threads(num_threads)
        parts = (rule, tables, is_alternating, num_threads, *hooks.parts)
        team = is_alternating, self.team_size(num_threads), self._one_caller.turn
        return self._steps.find(parts, lambda: self._bind(self.bind_run(rule, tables), team, hooks))

    def _bind(self, run: Any, team: tuple[bool, int, Any], hooks: Hooks) -> Any:
        """Returns iterations of a run, with hooks if the form has any."""
        if any(hook is not None for hook in (hooks.gate, hooks.frontier, hooks.watched)):
            raise ConfigError("gates, leaves and watched values need a tree of public states")
        return self._form.bind_steps(run, *team)

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
        check_discounts(discounts, first_t)
        check_player(player, self.num_players)
        check_array("terminal_values", terminal_values, np.float64, (self.num_cells,))
        run = self.bind_run(rule, tables)
        utility = np.zeros(discounts.shape[0])
        with self._one_caller:
            self._form.learn(
                run,
                discounts=discounts,
                first_t=first_t,
                player=player,
                terminal_values=terminal_values,
                utility=utility,
            )
        return utility

    def bind_run(self, rule: KernelRule, tables: SweepTables) -> Any:
        """Returns a run as the native module reads it, once its tables are checked; the last one is kept."""

        def bind() -> Any:
            self.check_tables(rule, tables)
            return _native.SweepRun(*rule.native_arguments, arrays_by_name(tables))

        return self._run.find((rule, tables), bind)

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
        self._form.realize(strategy=strategy, realization=reach)
        return reach

    def normalize(self, sums: FloatArray) -> FloatArray:
        """Returns `[Q]` the sums divided by their total at every information state, uniform where that is zero."""
        check_array("sums", sums, np.float64, (self.num_table_cells,))
        out = self.allocate(self.num_table_cells)
        self._form.normalize(sums=sums, out=out)
        return out

    def terminal_values(self, player: int, realization: FloatArray, *, num_threads: int = 1) -> FloatArray:
        """Returns `[C]` counterfactual values of the terminals right below each of the player's cells."""
        check_player(player, self.num_players)
        check_num_threads(num_threads)
        check_array("realization", realization, np.float64, (self.num_cells,))
        cfv = self.allocate(self.num_cells)
        team = self.team_size(num_threads)
        self._form.terminal_values(player, realization=realization, num_threads=team, cfv=cfv)
        return cfv

    def best_response(self, player: int, realization: FloatArray, *, num_threads: int = 1) -> tuple[float, FloatArray]:
        """Returns the value of the best response to the others' reach, and it as a pure strategy `[Q]`."""
        cfv = self.terminal_values(player, realization, num_threads=num_threads)
        check_finite("realization", realization)  # a best action among values that are not numbers means nothing
        best = np.zeros(self.num_table_cells)
        self._form.back_up_best(player, True, cfv=cfv, best=best)
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
        self._form.back_up_substitutes(player, budget=budget, cfv=cfv, row_value=row_value, regret=regret)
        return Substitutes(self.root_value(player, realization, cfv), row_value, regret)

    def strategy_values(
        self, player: int, strategy: FloatArray, realization: FloatArray, *, num_threads: int = 1
    ) -> FloatArray:
        """Returns `[C]` counterfactual values of the player's cells when it plays `strategy` below."""
        check_array("strategy", strategy, np.float64, (self.num_table_cells,))
        cfv = self.terminal_values(player, realization, num_threads=num_threads)
        self._form.back_up_strategy(player, strategy=strategy, cfv=cfv)
        return cfv

    @abc.abstractmethod
    def _root_cells(self, player: int) -> npt.NDArray[np.int32]:
        """Returns `[H]` cells of the player's private states at the root."""

    def values(
        self,
        strategy: npt.NDArray[Any],
        *,
        is_best: bool,
        respects_locks: bool = True,
        root_reach: Reaches | None = None,
        frontier: Frontier | None = None,
        num_threads: int = 1,
    ) -> tuple[FloatArray, ...]:
        """Returns each player's counterfactual values at the root, see `VectorKernel.values`."""
        realization, out = self.realize(strategy, root_reach=self._root_table(root_reach, None)), []
        leaves = None
        if frontier is not None:
            with self._one_caller:  # its buffers serve one call at a time
                leaves = frontier.values(realization)
        for player in range(self.num_players):
            cfv = self.terminal_values(player, realization, num_threads=num_threads)
            if leaves is not None:
                cfv[leaves[player][0]] += leaves[player][1]
            if is_best:
                self._form.back_up_best(player, respects_locks, cfv=cfv, best=np.zeros(self.num_table_cells))
            else:
                self._form.back_up_strategy(player, strategy=strategy, cfv=cfv)
            out.append(cfv[self._root_cells(player)])
        return tuple(out)
