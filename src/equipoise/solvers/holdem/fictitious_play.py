# SPDX-License-Identifier: Apache-2.0
"""Fictitious play over hold'em trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.memory import check_memory
from equipoise.kernels.calls import check_num_threads
from equipoise.kernels.holdem.play import HoldemPlay
from equipoise.solvers.best_response import Evaluation, bind_kernel, evaluate
from equipoise.solvers.fictitious_play import FictitiousPlayRule, FictitiousRun, IterationUnit
from equipoise.trees.holdem.tree import HoldemPlan, HoldemTree

__all__ = ["HoldemFictitiousPlaySolver", "estimate_fictitious_bytes"]

NUM_TABLES = 5  # averages, last strategies, what is faced, a best response, its plan

PlayTable = npt.NDArray[Any]  # of floats


def estimate_fictitious_bytes(tree: HoldemTree | HoldemPlan, dtype: npt.DTypeLike) -> int:
    """Returns the bytes of a run and of the tree's arrays."""
    arrays, item = tree.arrays, np.dtype(dtype).itemsize
    return arrays.num_bytes + NUM_TABLES * item * arrays.num_cells + arrays.estimate_workspace(8 + item, 1)


class HoldemFictitiousPlaySolver(FictitiousRun):
    r"""A run of fictitious play over a hold'em tree: plans are own reach of every hand's actions.

    >>> from equipoise.runs import load_spot
    >>> from equipoise.trees import build_holdem_tree
    >>> spot = load_spot("board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nranges = {oop = 'AA', ip = 'KK, QQ'}").spot
    >>> solver = HoldemFictitiousPlaySolver(build_holdem_tree(spot))
    >>> solver.iterate(50)
    >>> solver.evaluate().exploitability < 1
    True
    """

    def __init__(
        self,
        tree: HoldemTree,
        rule: FictitiousPlayRule | None = None,
        *,
        unit: IterationUnit = IterationUnit.FULL,
        dtype: npt.DTypeLike = np.float32,
        num_threads: int = 1,
    ) -> None:
        check_num_threads(num_threads)
        if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise ConfigError(f"dtype must be float32 or float64 for fictitious play, got {np.dtype(dtype)}")
        if tree.spot.rake_rate:
            raise ConfigError("fictitious play is for zero-sum games, and a spot with rake is not")
        check_memory(estimate_fictitious_bytes(tree, dtype), "the spot")
        self.tree = tree
        self.kernel = bind_kernel(tree)
        self.hands = HoldemPlay(self.kernel)
        own = [tree.arrays.own_cells(player) for player in (0, 1)]
        start = self.hands.realize(np.zeros(tree.arrays.num_cells, dtype), num_threads=num_threads)
        super().__init__(rule, start, own, unit=unit, num_threads=num_threads)

    @property
    def nodes_touched(self) -> int:
        """Returns the betting nodes visited so far: those of all boards for each best response."""
        return int(self.num_updates.sum()) * self.tree.num_nodes

    @property
    def average_sums(self) -> PlayTable:
        """Returns `[C]` what the average strategies are in proportion to: the plans themselves."""
        return self.average_realization

    def respond(self, player: int, faced: PlayTable) -> PlayTable:
        """Returns a best response as own reach of every action `[C]`."""
        _, best = self.hands.best_response(player, faced, num_threads=self.num_threads)
        return self.hands.realize(best, num_threads=self.num_threads)

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy, in chips per hand given the spot."""
        return evaluate(self.tree, self.average_realization, kernel=self.kernel, num_threads=self.num_threads)

    def _saved_tables(self) -> dict[str, npt.NDArray[np.generic]]:
        tables = super()._saved_tables()
        return {"strategy_sum": tables.pop("average_realization"), **tables}  # as other runs on spots call it
