# SPDX-License-Identifier: Apache-2.0
"""Hooks into the iterations over a public tree: a gate above the root, values that are averaged, values from outside.

A gate stands above a subgame that is solved again: it says how much of each of the opponent's private states enters,
from what entering was worth. All of it happens within one native call.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_axes, check_range
from equipoise.kernels.calls import check_integer, check_num_threads
from equipoise.kernels.gates import RootGate
from equipoise.kernels.public import PublicKernel
from equipoise.kernels.rules import NUM_DISCOUNT_COLUMNS, KernelRule
from equipoise.kernels.sweeps import SweepTables

__all__ = ["CellList", "PublicHooks"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

BOTH_PLAYERS = -1
NO_GATE = -1


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CellList:
    """Cells of both players, player 0's first."""

    start: IntArray  # [3] segments of players
    cells: IntArray  # [K]

    @classmethod
    def of_players(cls, first: IntArray, second: IntArray) -> CellList:
        """Returns the list of two players' cells."""
        start = np.array([0, first.size, first.size + second.size], np.int32)
        return cls(start, np.concatenate([first, second]).astype(np.int32))

    @classmethod
    def empty(cls) -> CellList:
        """Returns a list without cells."""
        return cls(np.zeros(3, np.int32), np.zeros(0, np.int32))


class PublicHooks:
    """Hooks bound to a public tree; `iterate` runs the tree's iterations with them."""

    def __init__(
        self,
        kernel: PublicKernel,
        *,
        gate: RootGate | None = None,
        watched: CellList | None = None,
        given: CellList | None = None,
    ) -> None:
        """Checks and binds the hooks.

        Args:
            kernel: of the tree.
            gate: sets the root reach of its player after each of that player's updates.
            watched: cells whose counterfactual values are summed into `value_sum` with the weights of the average.
            given: cells to whose counterfactual values `given_value` is added, before anything is backed up.
        """
        self.kernel = kernel
        self.gate = gate
        self.watched = watched or CellList.empty()
        self.given = given or CellList.empty()
        self.value_sum: FloatArray = np.zeros(self.watched.cells.size)  # [K]
        self.given_value: FloatArray = np.zeros(self.given.cells.size)  # [K]
        for name, cells in (("watched", self.watched), ("given", self.given)):
            check_range(f"{name} cells", cells.cells, 0, kernel.num_cells)
        empty = np.zeros(0)
        root = np.zeros(0, np.int32)
        memory = np.zeros((2, 0))
        if gate is not None:
            root = np.ascontiguousarray(kernel.root_cells[gate.player])
            check_array("mass", gate.mass, np.float64, (root.size,))
            memory = gate.regret
        self._hooks = _native.PublicHooks(
            NO_GATE if gate is None else gate.player,
            0 if gate is None else int(gate.kind),
            1.0 if gate is None else gate.share,
            [root, self.watched.start, self.watched.cells, self.given.start, self.given.cells],
            [
                *((gate.mass, gate.leave, gate.deviation, gate.prior) if gate is not None else (empty,) * 4),
                self.given_value,
            ],
            [memory, np.zeros(root.size), self.value_sum],
        )

    def iterate(
        self,
        rule: KernelRule,
        discounts: FloatArray,
        tables: SweepTables,
        *,
        first_t: int,
        is_alternating: bool,
        players: Sequence[int] = (0, 1),
        num_threads: int = 1,
    ) -> None:
        """Runs one iteration per row of `discounts` and updates `tables` and the hooks' memory in place.

        Args:
            rule: what the kernel is specialised on.
            discounts: `[B, 6]` as for `SweepKernel.iterate`.
            tables: the run so far.
            first_t: index of the first iteration, from 1.
            is_alternating: whether each player sees the other's update of the same iteration.
            players: who is updated: both, or one alone (when values from outside follow each update).
            num_threads: most threads; one is used if values are watched or given.
        """
        check_axes("discounts", discounts, 2)
        check_array("discounts", discounts, np.float64, (discounts.shape[0], NUM_DISCOUNT_COLUMNS))
        check_integer("first_t", first_t, 1)
        check_num_threads(num_threads)
        self.kernel.check_tables(rule, tables)
        if tuple(players) not in ((0, 1), (0,), (1,)):
            raise ConfigError(f"players must be both or one of them, got {tuple(players)}")
        is_alone = self.watched.cells.size > 0 or self.given.cells.size > 0
        self.kernel.iterate_hooked(
            self._hooks,
            BOTH_PLAYERS if len(players) == 2 else players[0],
            rule,
            discounts,
            tables,
            first_t=first_t,
            is_alternating=is_alternating,
            num_threads=1 if is_alone else num_threads,
        )
