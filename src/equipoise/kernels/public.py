# SPDX-License-Identifier: Apache-2.0
"""Sweeps over public trees, a vector of private states at a time: iterations, reaches, values, best responses."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.kernels.arithmetic import dot
from equipoise.kernels.arrays import check_array, check_axes, check_finite, check_range, check_segments
from equipoise.kernels.calls import check_integer, check_player
from equipoise.kernels.frontier import Frontier
from equipoise.kernels.gates import RootGate, gate_arrays
from equipoise.kernels.sweeps import SweepKernel, SweepTables
from equipoise.kernels.vector import Hooks, Reaches, RunTables, WatchedValues, check_root_reach

__all__ = [
    "DECISION",
    "LANES",
    "RELATION",
    "Cells",
    "DenseGroup",
    "PublicKernel",
    "PublicLocks",
    "Step",
    "TerminalGroups",
    "allocate_cells",
]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

CACHE_LINE_BYTES: Final = 64
MIN_CELLS_PER_THREAD: Final = (
    8_192  # two threads: 0.7x with 3,500 cells in all, 1.05 to 1.3x with 16,500, 1.5x with 25,500
)
LANES: Final = 4  # doubles in one vector register
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
    steps: IntArray  # [steps, 8] fields of `Step`, player 0's first, sources before what reads them
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

    groups: IntArray  # [groups, 6] fields of `DenseGroup`, player 0's first
    group_start: IntArray  # [3] segments of players
    matrix: FloatArray  # dense matrices, one after the other
    dense_own: IntArray  # first cell written
    dense_other: IntArray  # first cell read
    dense_scale: FloatArray
    sparse_start: IntArray  # [3] segments of players
    sparse_own: IntArray  # cell written
    sparse_other: IntArray  # cell read
    sparse_weight: FloatArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublicLocks:
    """Private states that play what is given at some decisions."""

    cells: IntArray  # [K] of tables, ascending
    shares: FloatArray  # [K] probabilities there
    rows: IntArray  # rows of the tables that are locked

    def native_arrays(self, cells: Cells) -> dict[str, npt.NDArray[Any]]:
        """Returns the locks as the native module reads them."""
        check_array("locked cells", self.cells, np.int32, (self.shares.size,))
        check_range("locked cells", self.cells, 0, cells.num_table_cells)
        check_range("locked rows", self.rows, 0, cells.num_rows)
        check_range("locked cells less the one before", np.diff(self.cells), 1, cells.num_table_cells)
        is_locked, strategy = np.zeros(cells.num_rows, np.uint8), np.zeros(cells.num_table_cells)
        is_locked[self.rows] = 1
        strategy[self.cells] = self.shares
        return {
            "lock_start": np.searchsorted(self.cells, cells.cell_start[:3]).astype(np.int32),
            "locked_cell": self.cells,
            "locked_share": self.shares,
            "is_locked": is_locked,
            "locked_strategy": strategy,
        }


class PublicKernel(SweepKernel):
    """A public tree as the native module reads it: CFR and best responses over public states.

    Paper: Johanson, Waugh, Bowling & Zinkevich 2011, "Accelerating Best Response Calculation in Large Extensive
        Games", IJCAI, for walking public states with a vector of private states.
    Symbols: a player's range at a public state -> its cells of `realization`; its counterfactual values -> cfv.
    Departs from the paper: terminals with small matrices are multiplied out instead of sorted; private states may
        split, merge and carry weights on the way; edges that only select private states or pass an action on cost
        nothing, because what is below them reads the cells above.
    Checked by: tests/kernels/test_public.py, tests/trees/test_public.py, tests/solvers/test_public_cfr.py.
    """

    num_players = 2

    def __init__(
        self,
        cells: Cells,
        terminals: TerminalGroups,
        *,
        legal_share: FloatArray,
        root_cells: tuple[IntArray, IntArray],
        locks: PublicLocks | None = None,
    ) -> None:
        """Checks and binds the arrays.

        Args:
            cells: the order of a sweep.
            terminals: what it ends in.
            legal_share: `[C]` one over the number of legal actions at decisions' cells, 0 where illegal.
            root_cells: `[H]` per player, cells of the root's private states.
            locks: what some private states play, whatever a run would choose.
        """
        super().__init__()
        for name, array, size in (
            ("cell_start", cells.cell_start, 5),
            ("step_start", cells.step_start, 3),
            ("group_start", terminals.group_start, 3),
            ("sparse_start", terminals.sparse_start, 3),
        ):
            check_array(name, array, np.int32, (size,))
        self.num_cells = cells.num_cells
        self.num_table_cells = cells.num_table_cells
        self.num_rows = cells.num_rows
        self.root_cells = root_cells
        self._cell_start = cells.cell_start
        integers = _integer_arrays(cells, terminals)
        numbers = _number_arrays(cells, terminals, legal_share)
        for name, (array, shape) in integers.items():
            check_array(name, array, np.int32, shape)
        for name, (values, shape) in numbers.items():
            check_array(name, values, np.float64, shape)
            check_finite(name, values)
        _check_cells(cells)
        _check_terminals(terminals, self.num_cells)
        for player, roots in enumerate(root_cells):
            check_axes(f"root_cells[{player}]", roots, 1)
            check_array(f"root_cells[{player}]", roots, np.int32, roots.shape)
            check_range(f"root_cells[{player}]", roots, 0, self.num_cells)
        self.locks = locks
        named = {name: array for name, (array, _) in (integers | numbers).items()}
        if locks is not None:
            named |= locks.native_arrays(cells)
        self._form = _native.PublicForm(named)

    def team_size(self, num_threads: int) -> int:
        """Returns how many of `num_threads` are worth their meetings on a tree of this size."""
        return 1 if num_threads == 1 else max(1, min(num_threads, self.num_cells // MIN_CELLS_PER_THREAD))

    def allocate(self, num_cells: int) -> FloatArray:
        """Returns zeros that start on a cache line."""
        return allocate_cells(num_cells)

    def root_value(self, player: int, realization: FloatArray, cfv: FloatArray) -> float:
        """Returns a player's utility from its root reach and counterfactual values `[C]`."""
        check_player(player, self.num_players)
        cells = self.root_cells[player]
        return dot(realization[cells], cfv[cells])

    def is_own(self, player: int) -> npt.NDArray[np.bool_]:
        """Returns `[C]` which cells are a player's."""
        check_player(player, self.num_players)
        run = np.repeat(np.arange(4), np.diff(self._cell_start))
        own: npt.NDArray[np.bool_] = run % 2 == player
        return own

    def _root_cells(self, player: int) -> IntArray:
        return self.root_cells[player]

    def _root_table(self, root_reach: Reaches | None, gate: RootGate | None) -> FloatArray | None:
        """Returns `[C]` reaches at the root alone, None for ones."""
        if root_reach is None and gate is None:
            return None
        reach = self.root_reach()
        if root_reach is not None:
            first, second = self.root_cells
            check_root_reach(root_reach, (first.size, second.size))
            reach[first], reach[second] = root_reach
        if gate is not None:
            check_array("mass", gate.mass, np.float64, self.root_cells[gate.player].shape)
            reach[self.root_cells[gate.player]] = gate.reach
        return reach

    def write_locks(self, tables: RunTables) -> None:
        """Puts locked strategies where the next iteration and averages read them; iterations leave them there."""
        if self.locks is not None:
            assert isinstance(tables, SweepTables)
            tables.strategy[self.locks.cells] = self.locks.shares
            tables.strategy_sum[self.locks.cells] = self.locks.shares

    def begin(self, tables: RunTables, *, root_reach: Reaches | None = None, gate: RootGate | None = None) -> None:
        """Writes strategies and reaches into `tables` that follow from the sums, locks applied."""
        super().begin(tables, root_reach=root_reach, gate=gate)
        if self.locks is not None:
            assert isinstance(tables, SweepTables)
            self.write_locks(tables)
            tables.realization[:] = self.realize(tables.strategy, root_reach=self._root_table(root_reach, gate))

    def _bind(self, run: Any, team: tuple[bool, int, Any], hooks: Hooks) -> Any:
        gate, frontier, watched = hooks.gate, hooks.frontier, hooks.watched
        if gate is None and watched is None and frontier is None:
            return self._form.bind_steps(run, *team)
        seen = watched or WatchedValues((), ((), ()))
        check_range("watched cells", seen.cells, 0, self.num_cells)
        root = np.zeros(0, np.int32)
        if gate is not None:
            root = np.ascontiguousarray(self.root_cells[gate.player])
            check_array("mass", gate.mass, np.float64, root.shape)
        if frontier is not None:
            frontier.check(self.num_cells)
        arrays = gate_arrays(gate) | seen.native_arrays | {"gate_cells": root, "gate_values": np.zeros(root.size)}
        player, kind, share = (-1, 0, 1.0) if gate is None else (gate.player, int(gate.kind), gate.share)
        bound = _native.PublicHooks(player, kind, share, arrays)
        leaves = Frontier.none() if frontier is None else frontier.bound
        return _native.bind_hooked_steps(self._form, run, *team, bound, leaves)

    def root_reach(self) -> FloatArray:
        """Returns `[C]` a reach of one for every private state of the root, and nothing below."""
        reach = allocate_cells(self.num_cells)
        for cells in self.root_cells:
            reach[cells] = 1.0
        return reach


def _integer_arrays(cells: Cells, terminals: TerminalGroups) -> dict[str, tuple[IntArray, tuple[int, ...]]]:
    """Returns the whole numbers that the native module reads, in its order, each with the shape that it must have."""
    num_entries, num_dense = cells.entry_weight.size, terminals.dense_scale.size
    num_sparse = terminals.sparse_weight.size
    return {
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


def _number_arrays(
    cells: Cells, terminals: TerminalGroups, legal_share: FloatArray
) -> dict[str, tuple[FloatArray, tuple[int, ...]]]:
    """Returns the real numbers likewise."""
    return {
        "entry_weight": (cells.entry_weight, (cells.entry_weight.size,)),
        "legal_share": (legal_share, (cells.num_table_cells,)),
        "matrix": (terminals.matrix, (terminals.matrix.size,)),
        "dense_scale": (terminals.dense_scale, (terminals.dense_scale.size,)),
        "sparse_weight": (terminals.sparse_weight, (terminals.sparse_weight.size,)),
    }


def _check_cells(cells: Cells) -> None:
    """Raises unless every step stays within its player's cells and what it reads and writes exists."""
    check_segments("cell_start", cells.cell_start, cells.num_cells)
    check_segments("step_start", cells.step_start, cells.steps.shape[0])
    check_integer("num_rows", cells.num_rows, 0)
    steps = cells.steps.astype(np.int64)  # products of fields may not fit in 32 bits
    player = np.repeat(np.arange(2), np.diff(cells.step_start))
    kind, first_cell, num_items, num_actions, stride, first_index, _, first_row = steps.T
    is_decision = kind == DECISION
    check_range("kind of a step", kind, 0, 2)
    num_indices = np.where(is_decision, cells.source.size, cells.entry_source.size)
    check_range("num_items of a step", num_items, 0, num_indices + 1)
    check_range("num_actions of a step", num_actions[is_decision], 1, cells.num_table_cells + 1)
    check_range("stride of a step", stride, 1, cells.num_cells + 1)
    check_range("cells of a decision", (num_actions * stride)[is_decision], 1, cells.num_table_cells + 1)
    run = player + np.where(is_decision, 0, 2)
    num_cells = np.where(is_decision, num_items * num_actions * stride, stride)
    check_range("first_cell of a step", first_cell, cells.cell_start[run], cells.cell_start[run + 1] - num_cells + 1)
    check_range("first_index of a step", first_index, 0, num_indices - num_items + 1)
    num_rows = cells.num_rows - (num_items * stride)[is_decision]
    check_range("first_row of a step", first_row[is_decision], 0, num_rows + 1)
    for step in np.flatnonzero(is_decision):
        source = cells.source[first_index[step] : first_index[step] + num_items[step]]
        check_range("source", source, 0, cells.num_cells - stride[step] + 1)
    check_range("entry_source", cells.entry_source, 0, cells.num_cells)
    for step in np.flatnonzero(~is_decision):
        target = cells.entry_target[first_index[step] : first_index[step] + num_items[step]]
        check_range("entry_target", target, first_cell[step], first_cell[step] + stride[step])
        check_range("entry_target less the one before", np.diff(target), 0, cells.num_cells)


def _check_terminals(terminals: TerminalGroups, num_cells: int) -> None:
    """Raises unless every matrix and every cell that terminals name exists."""
    check_segments("group_start", terminals.group_start, terminals.groups.shape[0])
    check_segments("sparse_start", terminals.sparse_start, terminals.sparse_weight.size)
    owner, num_rows, num_columns, matrix_start, first_terminal, num_terminals = terminals.groups.T.astype(np.int64)
    check_range("player of a group", owner, 0, 2)
    check_range("num_rows of a group", num_rows, 0, num_cells + 1)
    check_range("num_rows of a group modulo a vector", num_rows % LANES, 0, 1)
    check_range("num_columns of a group", num_columns, 0, num_cells + 1)
    check_range("num_terminals of a group", num_terminals, 0, terminals.dense_own.size + 1)
    check_range("matrix_start of a group", matrix_start, 0, terminals.matrix.size - num_rows * num_columns + 1)
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(num_terminals)])
    check_segments("number of terminals up to each group", start, terminals.dense_own.size)
    check_range("first_terminal of a group", first_terminal, start[:-1], start[:-1] + 1)
    check_range("dense_own", terminals.dense_own, 0, num_cells + 1 - np.repeat(num_rows, num_terminals))
    check_range("dense_other", terminals.dense_other, 0, num_cells + 1 - np.repeat(num_columns, num_terminals))
    check_range("sparse_own", terminals.sparse_own, 0, num_cells)
    check_range("sparse_other", terminals.sparse_other, 0, num_cells)
