# SPDX-License-Identifier: Apache-2.0
"""Hold'em players with tables of their own: what one of them earns, learns and answers against the other.

Tables are of floats, and a table of play is anything that strategies are in proportion to: probabilities, own reach or
sums. Tables of 16 bits serve runs of both players alone.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array
from equipoise.kernels.calls import check_num_threads, check_player
from equipoise.kernels.holdem.sweeps import HoldemKernel, HoldemTables
from equipoise.kernels.rules import KernelRule, check_discounts

__all__ = ["HoldemPlay", "PlayTable", "Trust"]

FloatArray = npt.NDArray[np.float64]
PlayTable: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]

PLAY_TYPES: Final = (np.dtype(np.float32), np.dtype(np.float64))
PLAIN: Final = KernelRule()  # in proportion to what is positive


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """A model that a best response follows, with a probability at every hand's decision."""

    model: PlayTable  # [C] probabilities
    weight: PlayTable  # [R] from 0 to 1


class HoldemPlay:
    """A hold'em tree whose players each play from a table.

    Checked by: tests/kernels/test_holdem_play.py.
    """

    def __init__(self, kernel: HoldemKernel) -> None:
        if kernel.leaves is not None:
            raise ConfigError("players with tables of their own need a tree that goes down to the end, got leaves")
        self.kernel, self.arrays = kernel, kernel.arrays

    def values(self, player: int, own: PlayTable, other: PlayTable, *, num_threads: int = 1) -> FloatArray:
        """Returns `[rows]` a player's counterfactual values at the root, given what both do; `[C]` each."""
        return self._sweep(player, other, own=own, num_threads=num_threads)

    def action_values(
        self, player: int, own: PlayTable, other: PlayTable, *, num_threads: int = 1
    ) -> tuple[FloatArray, PlayTable]:
        """Returns a player's values `[rows]` at the root and of its actions `[C]`, given what both do.

        Values of actions are counterfactual, and 0 at the other's cells.
        """
        out = np.zeros_like(other)
        return self._sweep(player, other, own=own, action_value=out, num_threads=num_threads), out

    def best_response(
        self, player: int, other: PlayTable, *, trust: Trust | None = None, num_threads: int = 1
    ) -> tuple[FloatArray, PlayTable]:
        """Returns a player's values `[rows]` at the root and its pure answer `[C]`, the first of the best actions.

        Args:
            player: who answers; the answer is 0 at the other's cells.
            other: `[C]` what the other does.
            trust: a model that is followed with some probability; the rest is the best that this allows.
            num_threads: size of the team.
        """
        answer = np.zeros_like(other)
        return self._sweep(player, other, answer=answer, trust=trust, num_threads=num_threads), answer

    def realize(self, sums: PlayTable, *, num_threads: int = 1) -> PlayTable:
        """Returns `[C]` both players' own reach of every action, the ranges' weights left out."""
        self._check(sums.dtype, sums=sums)
        plan, nothing = np.zeros_like(sums), np.zeros(0, sums.dtype)
        self._realize(PLAIN, sums, nothing, nothing, plan, nothing, num_threads)
        return plan

    def normalize(self, sums: PlayTable, *, num_threads: int = 1) -> PlayTable:
        """Returns `[C]` probabilities in proportion to sums, uniform where they have nothing."""
        self._check(sums.dtype, sums=sums)
        strategy, nothing = np.zeros_like(sums), np.zeros(0, sums.dtype)
        self._realize(PLAIN, sums, nothing, nothing, nothing, strategy, num_threads)
        return strategy

    def current_strategy(
        self, rule: KernelRule, tables: HoldemTables, *, has_played: bool, num_threads: int = 1
    ) -> PlayTable:
        """Returns `[C]` the probabilities that a run's next iteration plays; the first strategy is uniform."""
        strategy: PlayTable = np.zeros(self.arrays.num_cells, tables.regret_sum.dtype)
        nothing = np.zeros(0, strategy.dtype)
        chosen = rule if has_played else PLAIN
        sums: Any = tables.regret_sum if has_played else np.zeros_like(strategy)
        last: Any = tables.last_regret if chosen.needs_last_regret else nothing
        step: Any = tables.step if chosen.needs_scale else nothing
        self._check(strategy.dtype, regret_sum=sums)
        self._realize(chosen, sums, last, step, nothing, strategy, num_threads)
        return strategy

    def learn(
        self,
        rule: KernelRule,
        discounts: FloatArray,
        tables: HoldemTables,
        player: int,
        other: PlayTable,
        *,
        first_t: int,
        num_threads: int = 1,
    ) -> FloatArray:
        """Updates one player's part of `tables` once per row of `discounts`; returns `[B, rows]` its root values.

        Args:
            rule: what the kernel is specialised on.
            discounts: `[B, 6]` as for `iterate`.
            tables: the run so far.
            player: who learns.
            other: `[C]` what the other does meanwhile.
            first_t: index of the first update, from 1.
            num_threads: size of the team.
        """
        check_discounts(discounts, first_t)
        check_player(player, 2)
        check_num_threads(num_threads)
        dtype = tables.regret_sum.dtype
        self._check(dtype, other=other)
        for name, (shape, kind) in HoldemTables.shapes(self.arrays, dtype, rule).items():
            check_array(name, getattr(tables, name), kind, shape, is_written=True)
        values = np.zeros((discounts.shape[0], self.arrays.num_rows(0, player)))
        with self.kernel._one_caller:
            getattr(_native, f"holdem_learn_{dtype}")(
                self.kernel.form,
                *rule.native_arguments,
                discounts=discounts,
                first_t=first_t,
                player=player,
                other=other,
                num_threads=num_threads,
                regret_sum=tables.regret_sum,
                strategy_sum=tables.strategy_sum,
                last_regret=tables.last_regret,
                scale=tables.scale,
                step=tables.step,
                value_moments=tables.value_moments,
                value=values,
            )
        return values

    def _sweep(
        self,
        player: int,
        other: PlayTable,
        *,
        own: PlayTable | None = None,
        answer: PlayTable | None = None,
        action_value: PlayTable | None = None,
        trust: Trust | None = None,
        num_threads: int,
    ) -> FloatArray:
        check_player(player, 2)
        check_num_threads(num_threads)
        dtype, nothing = other.dtype, np.zeros(0, other.dtype)
        self._check(dtype, other=other)
        if own is not None:
            self._check(dtype, own=own)
        model, weight = (nothing, nothing) if trust is None else (trust.model, trust.weight)
        if trust is not None:
            self._check(dtype, model=model)
            check_array("trust", weight, dtype, (self.arrays.num_node_rows,))
        values = np.zeros(self.arrays.num_rows(0, player))
        getattr(_native, f"holdem_pair_values_{dtype}")(
            self.kernel.form,
            player,
            own=nothing if own is None else own,
            other=other,
            model=model,
            trust=weight,
            num_threads=num_threads,
            answer=nothing if answer is None else answer,
            action_value=nothing if action_value is None else action_value,
            value=values,
        )
        return values

    def _realize(
        self,
        rule: KernelRule,
        sums: PlayTable,
        last_regret: PlayTable,
        step: PlayTable,
        plan: PlayTable,
        strategy: PlayTable,
        num_threads: int,
    ) -> None:
        check_num_threads(num_threads)
        realize = getattr(_native, f"holdem_realize_{sums.dtype}")
        realize(
            self.kernel.form,
            *rule.native_arguments,
            sums=sums,
            last_regret=last_regret,
            step=step,
            num_threads=num_threads,
            plan=plan,
            strategy=strategy,
        )

    def _check(self, dtype: np.dtype[Any], **tables: PlayTable) -> None:
        if dtype not in PLAY_TYPES:
            # another one would be converted into a copy, and what is written would be lost
            raise TypeError(f"tables of play must have dtype float32 or float64, got {dtype}")
        for name, table in tables.items():
            check_array(name, table, dtype, (self.arrays.num_cells,))
