# SPDX-License-Identifier: Apache-2.0
"""Full-width CFR over hold'em trees: the same rules and the same surface as `CFRSolver`, tables by board.

Regrets and averages are all that is stored, in float32 unless asked otherwise; the strategy of an iteration follows
from the regrets wherever it is needed. Values and best responses are computed in float64 from the stored tables.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.memory import check_memory
from equipoise.kernels.holdem import HoldemKernel, HoldemTables, TableArray
from equipoise.kernels.sweeps import PolicyMap
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.rules import DCFR, Rule, tabulate_discounts
from equipoise.solvers.saved_state import SavedArrays, name_tables, overwrite_tables, read_count
from equipoise.trees.holdem import HoldemPlan, HoldemTree

__all__ = ["HoldemSolver", "check_table_dtype", "estimate_holdem_bytes", "evaluate_holdem"]

FloatArray = npt.NDArray[np.float64]


def estimate_holdem_bytes(
    tree: HoldemTree | HoldemPlan, rule: Rule, *, dtype: npt.DTypeLike = np.float32, num_threads: int = 1
) -> int:
    """Returns the bytes that solving a tree takes: its arrays, the tables, and what sweeps work with."""
    item_bytes = np.dtype(dtype).itemsize
    tables = tree.arrays.num_cells * (2 + rule.kernel.needs_last_regret) * item_bytes
    # evaluations work in float64, and never while an iteration runs
    return tree.arrays.num_bytes + tables + tree.arrays.estimate_workspace(8, num_threads)


def evaluate_holdem(
    tree: HoldemTree, sums: TableArray, *, kernel: HoldemKernel | None = None, num_threads: int = 1
) -> Evaluation:
    """Returns the exact values and best-response values, in chips per hand, of play in proportion to `sums` `[C]`."""
    kernel = kernel or HoldemKernel(tree.arrays)
    values, best = (
        kernel.root_values(sums, is_best_response=is_best, num_threads=num_threads) for is_best in (False, True)
    )
    return Evaluation(
        values=tuple(tree.mean_value(player, values[player]) for player in (0, 1)),
        best_response_values=tuple(tree.mean_value(player, best[player]) for player in (0, 1)),
    )


def check_table_dtype(dtype: npt.DTypeLike, purpose: str) -> None:
    """Raises `ConfigError` unless tables can have this dtype."""
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ConfigError(f"dtype must be float32 or float64 for {purpose}, got {np.dtype(dtype)}")


class HoldemSolver:
    """A run of full-width CFR on a hold'em tree, advanced by `iterate`."""

    def __init__(
        self,
        tree: HoldemTree,
        rule: Rule | None = None,
        *,
        dtype: npt.DTypeLike = np.float32,
        is_alternating: bool = True,
        num_threads: int = 1,
    ) -> None:
        self.rule = DCFR() if rule is None else rule
        if num_threads < 1:
            raise ConfigError(f"num_threads must be at least 1, got {num_threads}")
        check_table_dtype(dtype, "full-width solving")
        if self.rule.kernel.policy_map is PolicyMap.HEDGE:
            raise ConfigError("rule hedge is not offered on hold'em trees: it keeps a scale per information state")
        self.tree = tree
        self.is_alternating = is_alternating
        self.num_threads = num_threads
        self.iteration = 0
        check_memory(estimate_holdem_bytes(tree, self.rule, dtype=dtype, num_threads=num_threads), "the spot")
        self.kernel = HoldemKernel(tree.arrays)
        num_cells = tree.arrays.num_cells
        self.tables = HoldemTables(
            regret_sum=np.zeros(num_cells, dtype),
            strategy_sum=np.zeros(num_cells, dtype),
            last_regret=np.zeros(num_cells if self.rule.kernel.needs_last_regret else 0, dtype),
        )

    @property
    def nodes_touched(self) -> int:
        """Returns the nodes visited so far: the betting of every board, once per player and iteration."""
        return self.iteration * 2 * self.tree.num_public_states

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
        )
        self.iteration += num_iterations

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy, in chips per hand given the spot."""
        return evaluate_holdem(self.tree, self.tables.strategy_sum, kernel=self.kernel, num_threads=self.num_threads)

    def average_strategy(self, node: int = 0, board: int = 0) -> FloatArray:
        """Returns `[H, A]` the average strategy of `tree.hands[board]` at a decision of the betting tree."""
        return self.tree.normalize(self.tables.strategy_sum, board, node)

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit."""
        return {**name_tables(self.tables), "iteration": np.array(self.iteration)}

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state of the same tree, rule and dtype."""
        iteration = read_count(state, "iteration")
        overwrite_tables(name_tables(self.tables), state)
        self.iteration = iteration
