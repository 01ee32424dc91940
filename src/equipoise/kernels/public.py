# SPDX-License-Identifier: Apache-2.0
"""Sweeps over public trees, a vector of private states at a time: iterations, reaches, values, best responses."""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.kernels.arrays import check_array
from equipoise.kernels.history import NUM_DISCOUNT_COLUMNS, KernelRule, SweepTables

__all__ = [
    "DECISION",
    "RELATION",
    "Cells",
    "DenseGroup",
    "PublicKernel",
    "Step",
    "TerminalGroups",
    "allocate_cells",
]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

CACHE_LINE_BYTES: Final = 64
MIN_CELLS_PER_THREAD: Final = 16_384  # with fewer an update takes less than ten times as long as its two meetings
DECISION: Final = 0  # kinds of steps
RELATION: Final = 1


def allocate_cells(num_cells: int) -> FloatArray:
    """Returns `[C]` zeros that start on a cache line, so that no vector of cells straddles two."""
    raw = np.zeros(8 * num_cells + CACHE_LINE_BYTES, np.uint8)
    shift = -raw.ctypes.data % CACHE_LINE_BYTES
    return raw[shift : shift + 8 * num_cells].view(np.float64)


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """Blocks of one kind and shape that a sweep does in one loop, their cells in one run."""

    kind: int  # DECISION or RELATION
    first_cell: int
    num_items: int  # blocks of a decision step, entries of a relation step
    num_actions: int  # decisions alone
    stride: int  # decisions: cells of a row; relations: cells of the run
    first_index: int  # into `source` (decisions) or the entries (relations)
    is_masked: int  # decisions alone
    first_row: int  # decisions alone


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The order of a sweep over cells, as kernels read it."""

    cell_start: IntArray  # [5] decisions of players 0 and 1, then the other cells of players 0 and 1
    num_rows: int  # (decision, cell of a row) pairs: one per private state, padding included
    steps: IntArray  # [S, 8] fields of `Step`, player 0's first, sources before what reads them
    step_start: IntArray  # [3] segments of players
    source: IntArray  # [D] first cell that each decision's reach is read from, in the order of steps
    entry_source: IntArray  # [K] cell
    entry_target: IntArray  # [K] cell
    entry_weight: FloatArray  # [K]

    @property
    def num_cells(self) -> int:
        """Returns the number of cells of both players."""
        return int(self.cell_start[4])

    @property
    def num_table_cells(self) -> int:
        """Returns the number of cells of both players' decisions, which come first."""
        return int(self.cell_start[2])


@dataclasses.dataclass(frozen=True, slots=True)
class DenseGroup:
    """Terminals of one player that share a matrix up to a scale."""

    player: int
    num_rows: int  # cells of the player's own block that are written, whole vectors
    num_columns: int  # cells of the other's block that are read
    matrix_start: int  # into `matrix`, stored [columns, rows]
    first_terminal: int  # into dense_own, dense_other and dense_scale
    num_terminals: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TerminalGroups:
    """All terminals, for both players, as kernels read them."""

    groups: IntArray  # [G, 6] fields of `DenseGroup`, player 0's first
    group_start: IntArray  # [3] segments of players
    matrix: FloatArray  # dense matrices, one after the other
    dense_own: IntArray  # first cell written
    dense_other: IntArray  # first cell read
    dense_scale: FloatArray
    sparse_start: IntArray  # [3] segments of players
    sparse_own: IntArray  # cell written
    sparse_other: IntArray  # cell read
    sparse_weight: FloatArray


class PublicKernel:
    """A public tree as the native module reads it: CFR and best responses over public states.

    Paper: Johanson, Waugh, Bowling & Zinkevich 2011, "Accelerating Best Response Calculation in Large Extensive
        Games", IJCAI, for walking public states with a vector of private states.
    Symbols: a player's range at a public state -> its cells of `realization`; its counterfactual values -> cfv.
    Departs from the paper: terminals with small matrices are multiplied out instead of sorted; private states may
        split, merge and carry weights on the way; edges that only select private states or pass an action on cost
        nothing, because what is below them reads the cells above.
    Checked by: tests/kernels/test_public.py, tests/trees/test_public.py, tests/solvers/test_public_cfr.py.
    """

    def __init__(
        self,
        cells: Cells,
        terminals: TerminalGroups,
        *,
        legal_share: FloatArray,
        root_cells: tuple[IntArray, IntArray],
    ) -> None:
        """Checks and binds the arrays.

        Args:
            cells: the order of a sweep.
            terminals: what it ends in.
            legal_share: `[C]` one over the number of legal actions at decisions' cells, 0 where illegal.
            root_cells: `[H]` per player, cells of the root's private states.
        """
        self.num_cells = cells.num_cells
        self.num_table_cells = cells.num_table_cells
        self.num_rows = cells.num_rows
        self.root_cells = root_cells
        num_entries, num_dense = cells.entry_weight.size, terminals.dense_scale.size
        num_sparse = terminals.sparse_weight.size
        integers = {
            "cell_start": (cells.cell_start, (5,)),
            "steps": (cells.steps, (int(cells.step_start[2]), len(dataclasses.fields(Step)))),
            "step_start": (cells.step_start, (3,)),
            "source": (cells.source, (cells.source.size,)),
            "entry_source": (cells.entry_source, (num_entries,)),
            "entry_target": (cells.entry_target, (num_entries,)),
            "groups": (terminals.groups, (int(terminals.group_start[2]), len(dataclasses.fields(DenseGroup)))),
            "group_start": (terminals.group_start, (3,)),
            "dense_own": (terminals.dense_own, (num_dense,)),
            "dense_other": (terminals.dense_other, (num_dense,)),
            "sparse_start": (terminals.sparse_start, (3,)),
            "sparse_own": (terminals.sparse_own, (num_sparse,)),
            "sparse_other": (terminals.sparse_other, (num_sparse,)),
        }
        numbers = {
            "entry_weight": (cells.entry_weight, (num_entries,)),
            "legal_share": (legal_share, (self.num_table_cells,)),
            "matrix": (terminals.matrix, (terminals.matrix.size,)),
            "dense_scale": (terminals.dense_scale, (num_dense,)),
            "sparse_weight": (terminals.sparse_weight, (num_sparse,)),
        }
        for name, (array, shape) in integers.items():
            check_array(name, array, np.int32, shape)
        for name, (values, shape) in numbers.items():
            check_array(name, values, np.float64, shape)
        self._form = _native.PublicForm(
            [array for array, _ in integers.values()], [values for values, _ in numbers.values()]
        )
        self._teams: dict[int, _native.PublicTeam] = {}

    def team_size(self, num_threads: int) -> int:
        """Returns how many of `num_threads` are worth their meetings on a tree of this size."""
        return max(1, min(num_threads, self.num_cells // MIN_CELLS_PER_THREAD))

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
            is_alternating: whether each player sees the other's update of the same iteration.
            num_threads: most threads of the team, see `team_size`; results depend on it in their last bits.
        """
        check_array("discounts", discounts, np.float64, (discounts.shape[0], NUM_DISCOUNT_COLUMNS))
        self.check_tables(rule, tables)
        size = self.team_size(num_threads)
        if size not in self._teams:
            self._teams[size] = _native.PublicTeam(self._form, size)
        _native.public_iterate(
            self._form,
            self._teams[size],
            int(rule.policy_map),
            int(rule.fallback),
            rule.is_optimistic,
            rule.floors_regrets,
            rule.tracks_variance,
            discounts,
            first_t,
            is_alternating,
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
        for name in ("regret_sum", "strategy_sum", "strategy"):
            check_array(name, getattr(tables, name), np.float64, (self.num_table_cells,))
        check_array("realization", tables.realization, np.float64, (self.num_cells,))
        last = self.num_table_cells if rule.needs_last_regret else 0
        check_array("last_regret", tables.last_regret, np.float64, (last,))
        check_array("scale", tables.scale, np.float64, (self.num_rows if rule.needs_scale else 0,))
        moments = self.num_rows if rule.tracks_variance else 0
        check_array("value_moments", tables.value_moments, np.float64, (moments, 2))

    def root_reach(self) -> FloatArray:
        """Returns `[C]` a reach of one for every private state of the root, and nothing below."""
        reach = allocate_cells(self.num_cells)
        for cells in self.root_cells:
            reach[cells] = 1.0
        return reach

    def realize(self, strategy: FloatArray, *, root_reach: FloatArray | None = None) -> FloatArray:
        """Returns `[C]` own reach of every cell under a strategy `[C]`.

        Args:
            strategy: over the decisions' cells.
            root_reach: `[C]` of which the root's cells are read; ones by default.
        """
        check_array("strategy", strategy, np.float64, (self.num_table_cells,))
        reach = self.root_reach()
        if root_reach is not None:
            check_array("root_reach", root_reach, np.float64, (self.num_cells,))
            reach[:] = root_reach
        _native.public_realize(self._form, strategy, reach)
        return reach

    def normalize(self, sums: FloatArray) -> FloatArray:
        """Returns `[C]` the sums divided by their total at every information state, uniform where that is zero."""
        check_array("sums", sums, np.float64, (self.num_table_cells,))
        out = allocate_cells(self.num_table_cells)
        _native.public_normalize(self._form, sums, out)
        return out

    def terminal_values(self, player: int, realization: FloatArray, *, num_threads: int = 1) -> FloatArray:
        """Returns `[C]` counterfactual values of the terminals right below each of the player's cells."""
        check_array("realization", realization, np.float64, (self.num_cells,))
        cfv = allocate_cells(self.num_cells)
        _native.public_terminal_values(self._form, player, realization, self.team_size(num_threads), cfv)
        return cfv

    def root_value(self, player: int, realization: FloatArray, cfv: FloatArray) -> float:
        """Returns a player's utility from its root reach and counterfactual values `[C]`."""
        cells = self.root_cells[player]
        return float(realization[cells] @ cfv[cells])

    def best_response(self, player: int, realization: FloatArray, *, num_threads: int = 1) -> tuple[float, FloatArray]:
        """Returns the value of the best response to the other's reach, and it as a pure strategy `[C]`."""
        cfv = self.terminal_values(player, realization, num_threads=num_threads)
        best = np.zeros(self.num_table_cells)
        _native.public_back_up_best(self._form, player, cfv, best)
        return self.root_value(player, realization, cfv), best

    def best_response_values(self, player: int, realization: FloatArray) -> FloatArray:
        """Returns `[C]` counterfactual values of the player's cells when it plays best everywhere below."""
        cfv = self.terminal_values(player, realization)
        _native.public_back_up_best(self._form, player, cfv, np.zeros(self.num_table_cells))
        return cfv

    def strategy_values(
        self, player: int, strategy: FloatArray, realization: FloatArray, *, num_threads: int = 1
    ) -> FloatArray:
        """Returns `[C]` counterfactual values of the player's cells when it plays `strategy` below."""
        cfv = self.terminal_values(player, realization, num_threads=num_threads)
        check_array("strategy", strategy, np.float64, (self.num_table_cells,))
        _native.public_back_up_strategy(self._form, player, strategy, cfv)
        return cfv
