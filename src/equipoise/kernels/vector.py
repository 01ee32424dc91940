# SPDX-License-Identifier: Apache-2.0
"""What every kernel offers a solver, whatever its layout: tables, iterations with hooks, values at the root.

The forms differ in what a table's numbers stand for and where private states are kept; nothing above needs to know.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.copying import NotCopied
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_finite
from equipoise.kernels.gates import RootGate
from equipoise.kernels.rules import KernelRule

__all__ = ["NO_HOOKS", "Hooks", "Reaches", "RunTables", "VectorKernel", "WatchedValues", "check_root_reach"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
Reaches = tuple[FloatArray, FloatArray]  # [H] of both players


def check_root_reach(root_reach: Reaches, sizes: tuple[int, int]) -> None:
    """Raises unless both players' private states, so many, have reaches of at least 0 at the root."""
    if len(root_reach) != len(sizes):
        raise ValueError(f"root_reach must be of both players, got {len(root_reach)} arrays")
    for player, (own, size) in enumerate(zip(root_reach, sizes, strict=True)):
        name = f"root_reach[{player}]"
        check_array(name, own, np.float64, (size,))
        check_finite(name, own)
        if size and own.min() < 0:
            raise ValueError(f"{name} must be at least 0, got {own.min()}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunTables:
    """The tables of a run that all forms have; C is the numbers of one of them."""

    regret_sum: npt.NDArray[Any]  # [C]
    strategy_sum: npt.NDArray[Any]  # [C] weighted by own reach


class WatchedValues:
    """Counterfactual values at some places, summed with the weights of the average strategy."""

    def __init__(self, places: Sequence[int], cells: tuple[Sequence[IntArray], Sequence[IntArray]]) -> None:
        """Begins sums.

        Args:
            places: what they are asked for by.
            cells: by player and place, where the kernel finds the values of its private states.
        """
        self.places = {place: index for index, place in enumerate(places)}
        counts = [part.size for own in cells for part in own]
        self._start = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])  # player 0's places first
        self.cells: IntArray = np.concatenate([*cells[0], *cells[1], np.zeros(0, np.int32)]).astype(np.int32)  # [K]
        self.player_start: IntArray = self._start[[0, len(self.places), -1]].astype(np.int32)  # [3]
        self.value_sum: FloatArray = np.zeros(self.cells.size)  # [K]
        self.weight: FloatArray = np.zeros(1)  # of all iterations
        self.native_arrays: dict[str, npt.NDArray[Any]] = {
            "watched_start": self.player_start,
            "watched_cells": self.cells,
            "value_sum": self.value_sum,
            "watched_weight": self.weight,
        }

    def average(self, player: int, place: int) -> FloatArray:
        """Returns `[H]` the average of a player's values at a place."""
        if place not in self.places:
            raise ConfigError(f"node {place} of the tree is not watched, only {', '.join(map(str, self.places))}")
        index = self.places[place] + player * len(self.places)
        values: FloatArray = self.value_sum[self._start[index] : self._start[index + 1]] / self.weight[0]
        return values

    def reset(self) -> None:
        """Forgets all values."""
        self.value_sum[:] = 0.0
        self.weight[:] = 0.0

    def add_weights(self, discounts: FloatArray) -> None:
        """Takes iterations' rows of discounts `[B, 6]` into the sum of weights."""
        for decay, weight in discounts[:, 2:4].tolist():
            self.weight[0] = self.weight[0] * decay + weight


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hooks:
    """What iterations consult and feed beside their tables."""

    gate: RootGate | None = None  # sets the root reach of its player after each of that player's updates
    frontier: Any = None  # says what leaves are worth, once an update; once an iteration if both are updated together
    watched: WatchedValues | None = None  # takes in the values of each player after its updates
    root_reach: Reaches | None = None  # [H] with which `begin` was called; None: the tree's

    @property
    def parts(self) -> tuple[object, ...]:
        """Returns all of them, by which bound iterations are found again."""
        return self.gate, self.frontier, self.watched, self.root_reach


NO_HOOKS: Final = Hooks()


class VectorKernel(NotCopied, abc.ABC):
    """A tree as the native module reads it, with what players are locked to and what the tree ends in."""

    num_players: int
    kept_by = "it holds threads and workspaces; send or keep the tree, tables or a strategy"
    dtypes: ClassVar[tuple[np.dtype[Any], ...]]  # that regrets may have, the default first

    @classmethod
    def check_run(
        cls, rule: KernelRule, dtype: npt.DTypeLike, *, name: str = "of this kind", threshold: float = 0.0
    ) -> None:
        """Raises `ConfigError` if tables of this dtype cannot hold a run of the rule.

        Args:
            rule: of the run.
            dtype: of its tables.
            name: of the rule, for messages.
            threshold: below which it does not play an action.
        """
        if np.dtype(dtype) not in cls.dtypes:
            names = [str(each) for each in cls.dtypes]
            shown = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
            raise ConfigError(f"dtype must be {shown}, got {np.dtype(dtype)}")

    @abc.abstractmethod
    def allocate_tables(self, rule: KernelRule, dtype: npt.DTypeLike, scale: FloatArray | None = None) -> RunTables:
        """Returns the tables of a run that has not begun.

        Args:
            rule: says which tables there are.
            dtype: of regrets.
            scale: over rows, what Hedge divides its steps by; None for other rules.
        """

    @abc.abstractmethod
    def begin(self, tables: RunTables, *, root_reach: Reaches | None = None, gate: RootGate | None = None) -> None:
        """Writes into `tables` what follows from the sums: strategies, reaches, and what is locked.

        Args:
            tables: whose sums stand.
            root_reach: `[H]` with which private states begin; by default the tree's.
            gate: whose reach one player begins with instead.
        """

    @abc.abstractmethod
    def write_locks(self, tables: RunTables) -> None:
        """Puts locked strategies into `tables` where they are read; iterations leave them there."""

    @abc.abstractmethod
    def iterate(
        self,
        rule: KernelRule,
        discounts: FloatArray,
        tables: Any,
        *,
        first_t: int,
        is_alternating: bool,
        num_threads: int = 1,
        hooks: Hooks = NO_HOOKS,
    ) -> int:
        """Runs an iteration per row of `discounts`, updates `tables` and `hooks`; returns how many were done.

        Args:
            rule: what the kernel is specialised on.
            discounts: `[B, 6]` factor on positive and on negative regrets, decay and weight of the average, eta scale,
                threshold.
            tables: the run so far, as this kernel allocates them.
            first_t: index of the first iteration, from 1.
            is_alternating: whether each player sees the others' updates of the same iteration.
            num_threads: most threads of the team.
            hooks: what the iterations consult and feed.
        """

    def bind_steps(
        self,
        rule: KernelRule,
        tables: Any,
        *,
        is_alternating: bool,
        num_threads: int = 1,
        hooks: Hooks = NO_HOOKS,
    ) -> Any:
        """Returns iterations with these arguments of `iterate`, checked and bound once; None: this kernel has none.

        `know(discounts, first_t)` hands rows over; then `step(first_t, num_iterations)` is one native call, which
        returns how many were done: -1, and nothing is done, where it takes a call of `iterate`.
        """
        return None

    @abc.abstractmethod
    def normalize(self, sums: npt.NDArray[Any]) -> FloatArray:
        """Returns `[C]` the sums divided by their total at every information state, uniform where that is zero."""

    @abc.abstractmethod
    def values(
        self,
        strategy: npt.NDArray[Any],
        *,
        is_best: bool,
        respects_locks: bool = True,
        root_reach: Reaches | None = None,
        frontier: Any = None,
        num_threads: int = 1,
    ) -> tuple[FloatArray, ...]:
        """Returns each player's counterfactual values at the root.

        Args:
            strategy: `[C]` of both players: probabilities, or on hold'em trees what they are in proportion to.
            is_best: whether each player answers the others' strategies best instead of playing its own.
            respects_locks: whether best responses keep to the player's own locks; strategies always do.
            root_reach: `[H]` with which private states begin; by default the tree's.
            frontier: what leaves are worth, if the tree ends before the game does.
            num_threads: size of the team.
        """
