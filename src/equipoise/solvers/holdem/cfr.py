# SPDX-License-Identifier: Apache-2.0
"""Full-width CFR over hold'em trees: the same rules and the same surface as `CFRSolver`, tables by board.

Regrets and averages are all that is stored, in float32 unless asked otherwise (float64, or int16 with an exponent for
every hand and decision, which takes about 60 % of the memory); the strategy of an iteration follows from the regrets
wherever it is needed. Values and best responses are computed in float64 from the stored tables.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.memory import check_memory
from equipoise.kernels.calls import check_num_threads
from equipoise.kernels.holdem.leaves import HoldemLeaves
from equipoise.kernels.holdem.sweeps import AVERAGE_TYPES, HoldemGate, HoldemKernel, HoldemTables, TableArray
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.cfr import COUNTS
from equipoise.solvers.holdem.locks import estimate_lock_bytes, lay_locks
from equipoise.solvers.holdem.ranges import fill_scales
from equipoise.solvers.holdem.view import NodeView, view_node
from equipoise.solvers.rules import DCFR, Rule, tabulate_discounts
from equipoise.solvers.saved_state import SavedArrays, name_tables, overwrite_tables, read_count
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import HoldemPlan, HoldemTree

__all__ = ["HoldemSolver", "estimate_holdem_bytes", "evaluate_holdem"]

FloatArray = npt.NDArray[np.float64]


def estimate_holdem_bytes(
    tree: HoldemTree | HoldemPlan,
    rule: Rule,
    *,
    dtype: npt.DTypeLike = np.float32,
    num_threads: int = 1,
    locks: Sequence[NodeLock] = (),
) -> int:
    """Returns the bytes that solving a tree takes: its arrays, the tables, locks, and what sweeps work with."""
    tables = HoldemTables.estimate_bytes(tree.arrays, dtype, rule.kernel)
    # evaluations work in float64, and never while an iteration runs
    workspace = tree.arrays.estimate_workspace(8, num_threads)
    return tree.arrays.num_bytes + tables + estimate_lock_bytes(tree, locks) + workspace


def evaluate_holdem(
    tree: HoldemTree,
    sums: TableArray,
    *,
    kernel: HoldemKernel | None = None,
    respects_locks: bool = True,
    num_threads: int = 1,
) -> Evaluation:
    """Returns the exact values and best-response values, in chips per hand, of play in proportion to `sums` `[C]`.

    Args:
        tree: What is played.
        sums: Of both players; uniform play where there is nothing.
        kernel: With the locks that both strategies keep to; by default there are none.
        respects_locks: Whether best responses keep to them as well.
        num_threads: Size of the team.
    """
    kernel = kernel or HoldemKernel(tree.arrays)
    values, best = (
        kernel.root_values(sums, is_best_response=is_best, respects_locks=respects_locks, num_threads=num_threads)
        for is_best in (False, True)
    )
    return Evaluation(
        values=tuple(tree.mean_value(player, values[player]) for player in (0, 1)),
        best_response_values=tuple(tree.mean_value(player, best[player]) for player in (0, 1)),
    )


class HoldemSolver:
    """A run of full-width CFR on a hold'em tree, advanced by `iterate`.

    With a gate (`search.holdem`) one player's hands enter through it in place of its range; with leaves
    (`search.holdem_depth_limit`) the tree is one street. A saved state does not have their memory.
    """

    def __init__(
        self,
        tree: HoldemTree,
        rule: Rule | None = None,
        *,
        dtype: npt.DTypeLike = np.float32,
        is_alternating: bool = True,
        num_threads: int = 1,
        locks: Sequence[NodeLock] = (),
        gate: HoldemGate | None = None,
        leaves: HoldemLeaves | None = None,
    ) -> None:
        self.gate, self.leaves = gate, leaves
        self.rule = DCFR() if rule is None else rule
        check_num_threads(num_threads)
        if np.dtype(dtype) not in AVERAGE_TYPES:
            raise ConfigError(f"dtype must be float32, float64 or int16, got {np.dtype(dtype)}")
        if self.rule.kernel.needs_scale and np.dtype(dtype) == np.int16:
            raise ConfigError(f"rule {self.rule.name} needs dtype float32 or float64: its steps are floats, got int16")
        if self.rule.discounts(1).threshold > 0:
            raise ConfigError(
                f"hold'em trees play whatever is positive, got rule {self.rule.name}; a history tree has thresholds"
            )
        self.tree = tree
        self.is_alternating = is_alternating
        self.num_threads = num_threads
        num_bytes = estimate_holdem_bytes(tree, self.rule, dtype=dtype, num_threads=num_threads, locks=locks)
        check_memory(num_bytes, "the spot")
        self.locks = lay_locks(tree, locks)
        self.kernel = HoldemKernel(tree.arrays, self.locks.kernel_locks if self.locks else None, leaves)
        self.tables = HoldemTables.allocate(tree.arrays, dtype, self.rule.kernel)
        if self.rule.kernel.needs_scale:
            fill_scales(tree, self.rule.kernel, self.tables.scale)
        self.begin_after(0)

    @property
    def nodes_touched(self) -> int:
        """Returns the nodes visited so far: the betting of every board, once per player and iteration."""
        num_run = self.iteration - self.skipped_iterations
        return (2 * num_run + self.start_passes) * self.tree.num_public_states

    def begin_after(self, iteration: int, *, num_passes: int = 0) -> None:
        """Takes the sums as they stand for those of a run after an iteration, as `CFRSolver` does."""
        self.iteration = self.skipped_iterations = iteration
        self.start_passes = num_passes
        self._write_locks()

    def reset(self) -> None:
        """Begins the run again."""
        for name, table in name_tables(self.tables).items():
            if name != "scale":
                table[...] = np.zeros(1, table.dtype)
        if self.gate is not None:
            self.gate.reset()
        if self.leaves is not None:
            self.leaves.reset()
        self.begin_after(0)

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which updates both players once."""
        first_t = self.iteration + 1
        self.kernel.iterate(
            self.rule.kernel,
            tabulate_discounts(self.rule, first_t, num_iterations),
            self.tables,
            first_t=first_t,
            is_alternating=self.is_alternating,
            num_threads=self.num_threads,
            gate=self.gate,
        )
        self.iteration += num_iterations

    def evaluate(self, *, respects_locks: bool = True) -> Evaluation:
        """Returns the exact quality of the average strategy, in chips per hand given the spot.

        Args:
            respects_locks: Whether best responses keep to the locks. If so, what is left to gain goes to nothing as the
                run goes on; if not, locks are counted as mistakes too.
        """
        return evaluate_holdem(
            self.tree,
            self.tables.strategy_sum,
            kernel=self.kernel,
            respects_locks=respects_locks,
            num_threads=self.num_threads,
        )

    def average_strategy(self, node: int = 0, board: int = 0) -> FloatArray:
        """Returns `[H, A]` the average strategy of `tree.hands[board]` at a decision of the betting tree."""
        return self.tree.normalize(self.tables.strategy_sum, board, node)

    def view(self, board: Sequence[int], node: int = 0) -> NodeView:
        """Returns reach, average strategy, values and equity of every hand at a decision on any board."""
        return view_node(
            self.tree, self.tables.strategy_sum, board, node, kernel=self.kernel, num_threads=self.num_threads
        )

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit."""
        return {**name_tables(self.tables), **{name: np.array(getattr(self, name)) for name in COUNTS}}

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state of the same tree, rule and dtype."""
        counts = {name: read_count(state, name) for name in COUNTS}
        overwrite_tables(name_tables(self.tables), state)
        for name, count in counts.items():
            setattr(self, name, count)
        self._write_locks()

    def _write_locks(self) -> None:
        """Puts locked strategies where averages are read; iterations leave them there."""
        if self.locks:
            averages, probabilities = self.tables.strategy_sum, self.locks.probabilities
            if averages.dtype == np.uint16:  # only proportions count
                probabilities = np.rint(probabilities * np.iinfo(np.uint16).max)
            averages[self.locks.cells] = probabilities
