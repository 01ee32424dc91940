# SPDX-License-Identifier: Apache-2.0
"""Warm starts of pruned runs: those of `warm_start`, with what pruning keeps beside regrets and averages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise.kernels.pruning import PastIterations
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.pruning import PrunedSolver
from equipoise.solvers.substitution import WarmStart, WarmStartReport
from equipoise.solvers.warm_start import substitute_run

__all__ = ["warm_start_pruned"]


def warm_start_pruned(
    solver: PrunedSolver, strategy: npt.NDArray[np.float64], config: WarmStart | None = None
) -> WarmStartReport:
    """Overwrites a pruned run with one that has `strategy` as its average after T iterations; goes on at T + 1.

    Nothing is pruned yet: the first iterations find what can be. What players have earned, and how often they were
    reached, are the substitute values and the strategy's reach; what they have faced is the strategy, T times.

    Paper, symbols and departures: as `warm_start`.
    Checked by: tests/solvers/test_pruned_warm_start.py.

    Args:
        solver: whose tables are overwritten; fresh or not.
        strategy: `[Q]` probabilities of both players, in the tree's numbering.
        config: how.
    """
    # a short run to find T is too short to prune in
    short = CFRSolver(solver.tree, solver.rule, is_alternating=solver.is_alternating)
    found = substitute_run(short, strategy, config)
    iterations = found.report.iterations
    # floored regrets forget what is negative; windows keep it, every iteration weighing the same
    keeps_negative = found.floors_regrets and solver.pruning.has_windows
    faced_weight = float(iterations) if found.floors_regrets else found.weights.negative
    solver.begin_after(
        PastIterations(
            iterations=iterations,
            nodes_touched=found.report.num_passes * solver.tree.actor.size,
            faced_weight=faced_weight,
            average_weight=found.weights.average,
            regret=found.scale_regrets(negative=faced_weight if keeps_negative else None),
            value=found.value,
            reach=found.cf_reach,
            realization=np.ascontiguousarray(found.realization),
        )
    )
    return found.report
