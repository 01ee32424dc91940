# SPDX-License-Identifier: Apache-2.0
"""Warm starts of hold'em runs: those of `warm_start`, on the tables of a hold'em tree and in its units.

Regrets of hold'em trees lack the chances of the own hand and of the cards dealt, which a history tree's have; what they
are bounded by is divided by these. Nothing is allocated but one number a row, and the strategy may be the run's own.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.memory import check_memory
from equipoise.kernels.holdem.arrays import TILE, HoldemArrays, StreetFields
from equipoise.kernels.holdem.sweeps import HoldemKernel, SubstituteWeights, TableArray
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.ranges import count_ends, fill_ranges
from equipoise.solvers.substitution import (
    ROUNDING,
    TRACE,
    RegretBound,
    Substitution,
    WarmStart,
    WarmStartReport,
    check_zero_sum,
    choose_start,
)
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["HoldemSubstitution", "write_holdem_start"]

FloatArray = npt.NDArray[np.float64]


def write_holdem_start(
    solver: CFRSolver[HoldemTree], sums: TableArray, config: WarmStart | None = None
) -> WarmStartReport:
    """Overwrites a run with one whose average after T iterations is play in proportion to `sums`; goes on at T + 1.

    Paper, symbols and departures: as `warm_start`; averages are zero, and so uniform, where own reach is.
    Checked by: tests/solvers/test_holdem_warm_start.py.

    Args:
        solver: whose tables are overwritten; of floats.
        sums: `[C]` what both players play in proportion to, uniformly where there is nothing; the run's own will do.
        config: how.
    """
    config = config or WarmStart()
    tables, tree = solver.tables, solver.tree
    dtype = tables.regret_sum.dtype
    if dtype == np.int16:
        raise ConfigError("warm starts write tables of floats: use float32 or float64, got int16")
    check_memory(2 * np.dtype(np.float32).itemsize * tree.arrays.num_node_rows, "the warm start")
    check_zero_sum(2, not tree.arrays.flat_rake.size and not tree.spot.rake_rate)
    given_sums: TableArray = sums if sums.dtype == dtype else sums.astype(dtype)
    if config.iterations is None and np.shares_memory(given_sums, tables.strategy_sum):
        given_sums = given_sums.copy()  # the short run overwrites it
    given = HoldemSubstitution(solver, given_sums, config.bound)
    start = choose_start(solver, given, config)
    tables.strategy_sum[:] = given_sums
    tables.last_regret[:] = 0.0
    weights = SubstituteWeights(
        positive=start.weights.positive,
        negative=start.weights.negative,
        average=start.weights.average,
        trace=TRACE,
        floors_regrets=solver.rule.kernel.floors_regrets,
    )
    solver.kernel.write_substitutes(given.bound, start.ratio, weights, tables, num_threads=solver.num_threads)
    report = dataclasses.replace(start.report, num_passes=given.num_passes + 2)
    solver.begin_after(report.iterations, num_passes=report.num_passes)
    return report


class HoldemSubstitution(Substitution):
    """A strategy on a hold'em tree."""

    def __init__(self, solver: CFRSolver[HoldemTree], sums: TableArray, bound: RegretBound) -> None:
        tree = solver.tree
        super().__init__(ROUNDING * 2 * max(tree.spot.stacks))
        self.tree, self.kernel, self.num_threads, self.sums = tree, solver.kernel, solver.num_threads, sums
        self.bound = self._find_reach(tree)
        if bound is RegretBound.REACH_SQUARED:
            np.square(self.bound, out=self.bound)
        ranges = np.empty_like(self.bound)
        # the right-hand side of [B20] (3.6), without T, over the squared chances that values here lack
        if bound is RegretBound.REACH:
            fill_ranges(tree, lambda high, chances, num_actions: high**2 * num_actions / chances, ranges)
        else:
            fill_ranges(tree, lambda high, chances, num_actions: high**2 * num_actions, ranges)
        self.bound *= ranges
        self.num_passes = 2

    def back_up(self, ratio: float) -> tuple[float, float]:
        """Returns v'_i of both players, in chips per hand."""
        self.num_passes += 2
        roots = self.kernel.substitute(self.sums, self.bound, ratio, num_threads=self.num_threads)
        return self.tree.mean_value(0, roots[0]), self.tree.mean_value(1, roots[1])

    def _find_reach(self, tree: HoldemTree) -> npt.NDArray[np.float32]:
        """Returns `[R]` the reach of the other's hands that each hand may meet at each decision."""
        kernel = HoldemKernel(_pay_one(tree), self.kernel.locks)
        return kernel.row_values(self.sums, num_threads=self.num_threads)


def _pay_one(tree: HoldemTree) -> HoldemArrays:
    """Returns the arrays of a tree in which both players get 1 wherever betting ends.

    Hands are equally strong, so that showdowns pay nothing but rake, and rake is one stake to each player.
    """
    arrays, flat_scale, fold_scale = tree.arrays, [], []
    next_flat = 0
    for street, row in enumerate(arrays.streets.tolist()):
        fields = StreetFields(*row)
        flats = slice(next_flat, next_flat + 2 * TILE * fields.flat_packs)
        next_flat = flats.stop
        num_flats, num_folds = count_ends(tree, street)
        is_flat, is_fold = (
            np.tile(np.arange(TILE * num_packs) < count, 2).astype(np.float64)
            for num_packs, count in ((fields.flat_packs, num_flats), (fields.fold_packs, num_folds))
        )
        flat_scale.append(is_flat if fields.is_last else arrays.flat_scale[flats])
        fold_scale.append(is_fold)
    return dataclasses.replace(
        arrays,
        flat_scale=np.concatenate(flat_scale),
        flat_rake=np.full(TILE * arrays.street(-1).flat_packs, -1.0),
        fold_scale=np.concatenate(fold_scale),
        strength=np.zeros_like(arrays.strength),
    )
