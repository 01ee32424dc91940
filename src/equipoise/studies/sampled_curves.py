# SPDX-License-Identifier: Apache-2.0
"""Exploitability of Monte Carlo CFR on hold'em spots against nodes touched: several discountings, several runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

import numpy as np

from equipoise.solvers.holdem.mccfr import HoldemMCCFRSolver
from equipoise.solvers.mccfr import Discounting, DiscountKind, MCCFRConfig, Scheme
from equipoise.studies.curves import EvaluatedSolver
from equipoise.studies.study import Point, Step
from equipoise.trees.holdem.tree import HoldemTree

__all__ = [
    "DISCOUNTED",
    "FLOORED",
    "INITIAL",
    "KINDS",
    "PLAIN",
    "UNEVEN",
    "SampledSolver",
    "advance",
    "measure_sampled_curves",
]

PLAIN: Final = "mccfr"
DISCOUNTED: Final = "linear-mccfr"
INITIAL: Final = "initial-discount-mccfr"
FLOORED: Final = "mccfr with floors and linear averages"
UNEVEN: Final = "mccfr discounted as dcfr"
KINDS: Final[Mapping[str, DiscountKind]] = {
    PLAIN: DiscountKind.NONE,
    DISCOUNTED: DiscountKind.LINEAR,
    INITIAL: DiscountKind.INITIAL,
    FLOORED: DiscountKind.FLOORED,
    UNEVEN: DiscountKind.DISCOUNTED,
}
OFTEN: Final = 100  # times as often regrets are floored or discounted unevenly: CFR+ and DCFR do it in every iteration
FIRST_ITERATIONS: Final = 100  # by which the nodes of an iteration are measured


def measure_sampled_curves(
    panels: Mapping[str, HoldemTree], *, marks: Sequence[int], runs: int, period_nodes: int, scale: float, seed: int
) -> Iterator[Step]:
    """Yields the exploitability of external sampling at every mark.

    Args:
        panels: trees by name.
        marks: nodes touched at which curves are measured, in order.
        runs: of each curve, with seeds of their own.
        period_nodes: after which sums are discounted.
        scale: units of the ordinate in one of exploitability.
        seed: from which the runs' seeds come.
    """
    total, done = len(panels) * len(KINDS) * runs, 0
    for panel, tree in panels.items():
        for curve, kind in KINDS.items():
            length = max(1, period_nodes // OFTEN) if curve in (FLOORED, UNEVEN) else period_nodes
            config = MCCFRConfig(scheme=Scheme.EXTERNAL, discounting=Discounting(kind=kind, period_nodes=length))
            for run in range(runs):
                solver = HoldemMCCFRSolver(tree, config, rng=np.random.default_rng((seed, run)))
                for mark in marks:
                    advance(solver, mark)
                    value = solver.evaluate().exploitability * scale
                    yield Step(
                        fraction=(done + mark / marks[-1]) / total,
                        text=f"{panel}, {curve}, run {run + 1} of {runs}: {mark:,} nodes",
                        points=(Point(panel=panel, curve=curve, x=mark, y=value, run=run),),
                    )
                done += 1


class SampledSolver(EvaluatedSolver, Protocol):
    """A run that counts the nodes that it touches."""

    @property
    def nodes_touched(self) -> int:
        """Returns the nodes visited so far."""
        ...


def advance(solver: SampledSolver, num_nodes: int) -> None:
    """Runs iterations until so many nodes are touched; what the last one adds is some hundred nodes."""
    while solver.nodes_touched < num_nodes:
        per_iteration = solver.nodes_touched / solver.iteration if solver.iteration else num_nodes / FIRST_ITERATIONS
        missing = num_nodes - solver.nodes_touched
        solver.iterate(max(1, int(missing / per_iteration)))
