# SPDX-License-Identifier: Apache-2.0
"""The sequence-form LP as a run of one iteration, so that it is driven, saved and compared like the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise.kernels.calls import check_integer
from equipoise.solvers.best_response import Evaluation, bind_history_kernel, evaluate
from equipoise.solvers.saved_state import SavedArrays, overwrite_tables, read_count
from equipoise.trees.history import HistoryTree

__all__ = ["SequenceLPRun"]

FloatArray = npt.NDArray[np.float64]


class SequenceLPRun:
    """An exact solve whose first iteration is the whole of it; before it the strategy is uniform."""

    def __init__(self, tree: HistoryTree) -> None:
        self.tree = tree
        self.iteration = 0
        self.kernel = bind_history_kernel(tree)
        self.strategy = self.kernel.normalize(np.zeros(self.kernel.num_sequences))  # [Q]

    @property
    def nodes_touched(self) -> int:
        """Returns the histories visited so far: all of them, once, to write the program down."""
        return self.iteration * self.tree.actor.size

    def iterate(self, num_iterations: int) -> None:
        """Solves the program the first time; there is nothing left to do after it."""
        from equipoise.solvers.sequence_lp import solve_sequence_lp  # noqa: PLC0415 - SciPy is slow to import

        check_integer("num_iterations", num_iterations, 0)
        if num_iterations > 0 and self.iteration == 0:
            self.strategy[:] = solve_sequence_lp(self.tree).strategy
            self.iteration = 1

    def average_strategy(self) -> FloatArray:
        """Returns `[Q]` the equilibrium."""
        return self.strategy.copy()

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the strategy."""
        return evaluate(self.tree, self.strategy, kernel=self.kernel)

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on."""
        return {"strategy": self.strategy, "iteration": np.array(self.iteration)}

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state of the same tree."""
        iteration = read_count(state, "iteration")
        overwrite_tables({"strategy": self.strategy}, state)
        self.iteration = iteration
