# SPDX-License-Identifier: Apache-2.0
"""Sweeps over public trees, a vector of private states at a time: iterations, reaches, values, best responses."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise import _native
from equipoise.kernels.arrays import check_array
from equipoise.kernels.history import NUM_DISCOUNT_COLUMNS, KernelRule, SweepTables

__all__ = ["PublicKernel", "allocate_cells"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

CACHE_LINE_BYTES = 64


def allocate_cells(num_cells: int) -> FloatArray:
    """Returns `[C]` zeros that start on a cache line, so that no vector of cells straddles two."""
    raw = np.zeros(8 * num_cells + CACHE_LINE_BYTES, np.uint8)
    shift = -raw.ctypes.data % CACHE_LINE_BYTES
    return raw[shift : shift + 8 * num_cells].view(np.float64)


class PublicKernel:
    """A public tree as the native module reads it."""

    def __init__(
        self,
        *,
        cell_start: IntArray,
        num_rows: int,
        steps: IntArray,
        step_start: IntArray,
        source: IntArray,
        entry_source: IntArray,
        entry_target: IntArray,
        entry_weight: FloatArray,
        legal_share: FloatArray,
        groups: IntArray,
        group_start: IntArray,
        matrix: FloatArray,
        dense_own: IntArray,
        dense_other: IntArray,
        dense_scale: FloatArray,
        sparse_start: IntArray,
        sparse_own: IntArray,
        sparse_other: IntArray,
        sparse_weight: FloatArray,
        root_cells: tuple[IntArray, IntArray],
    ) -> None:
        """Checks and binds the arrays.

        Args:
            cell_start: `[5]` runs of cells: decisions of players 0 and 1, other cells of players 0 and 1.
            num_rows: rows of the tables that are kept per information state.
            steps: `[S, 8]` blocks of one kind and shape, in the order of a forward sweep.
            step_start: `[3]` players' segments of `steps`.
            source: `[D]` first cell that each decision reads its reach from.
            entry_source: `[K]` cell above, of each entry of a relation.
            entry_target: `[K]` cell below.
            entry_weight: `[K]` factor on reach and value.
            legal_share: `[C]` one over the number of legal actions at decisions' cells, 0 where illegal.
            groups: `[G, 6]` terminals that share a matrix up to a scale.
            group_start: `[3]` players' segments of `groups`.
            matrix: the groups' matrices, one after the other.
            dense_own: first cell that each grouped terminal writes.
            dense_other: first cell that it reads.
            dense_scale: its factor on the matrix.
            sparse_start: `[3]` players' segments of the entries of other terminals.
            sparse_own: cell that each entry writes.
            sparse_other: cell that it reads.
            sparse_weight: its payoff.
            root_cells: `[H]` per player, cells of the root's private states.
        """
        self.num_cells = int(cell_start[4])
        self.num_table_cells = int(cell_start[2])
        self.num_rows = num_rows
        self.root_cells = root_cells
        for name, value, size in (
            ("cell_start", cell_start, 5),
            ("step_start", step_start, 3),
            ("group_start", group_start, 3),
            ("sparse_start", sparse_start, 3),
            ("source", source, source.size),
            ("entry_source", entry_source, entry_weight.size),
            ("entry_target", entry_target, entry_weight.size),
            ("dense_own", dense_own, dense_scale.size),
            ("dense_other", dense_other, dense_scale.size),
            ("sparse_own", sparse_own, sparse_weight.size),
            ("sparse_other", sparse_other, sparse_weight.size),
        ):
            check_array(name, value, np.int32, (size,))
        check_array("steps", steps, np.int32, (int(step_start[2]), 8))
        check_array("groups", groups, np.int32, (int(group_start[2]), 6))
        check_array("legal_share", legal_share, np.float64, (self.num_table_cells,))
        for name, weights in (
            ("entry_weight", entry_weight),
            ("matrix", matrix),
            ("dense_scale", dense_scale),
            ("sparse_weight", sparse_weight),
        ):
            check_array(name, weights, np.float64, (weights.size,))
        self._form = _native.PublicForm(
            [
                cell_start,
                np.ascontiguousarray(steps),
                step_start,
                source,
                entry_source,
                entry_target,
                np.ascontiguousarray(groups),
                group_start,
                dense_own,
                dense_other,
                sparse_start,
                sparse_own,
                sparse_other,
            ],
            [entry_weight, legal_share, matrix, dense_scale, sparse_weight],
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
            is_alternating: whether each player sees the other's update of the same iteration.
            num_threads: size of the team; results depend on it in their last bits.
        """
        check_array("discounts", discounts, np.float64, (discounts.shape[0], NUM_DISCOUNT_COLUMNS))
        self.check_tables(rule, tables)
        _native.public_iterate(
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
        _native.public_terminal_values(self._form, player, realization, num_threads, cfv)
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
