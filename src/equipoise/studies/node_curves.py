# SPDX-License-Identifier: Apache-2.0
"""Curves over nodes touched: many solvers on a tree, measured whenever so many nodes are behind them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from equipoise.studies.curves import EvaluatedSolver, crossing
from equipoise.studies.study import Measured, Point, Step

__all__ = ["CountingSolver", "NodePanel", "measure_node_curves", "typical_speedup"]

Tree = TypeVar("Tree")

NUM_TARGETS = 8  # qualities at which two curves are compared, but for one


class CountingSolver(EvaluatedSolver, Protocol):
    """A run that counts the nodes it visits."""

    @property
    def nodes_touched(self) -> int:
        """Returns the nodes visited so far, every overhead included."""
        ...


class NodePanel(NamedTuple, Generic[Tree]):
    """A tree, and the nodes touched at which its solvers are measured."""

    name: str
    tree: Tree
    marks: Sequence[int]  # in order


def measure_node_curves(
    panels: Sequence[NodePanel[Tree]], make_solvers: Mapping[str, Callable[[Tree], CountingSolver]]
) -> Iterator[Step]:
    """Yields what all best responses gain together against every solver, at the marks of every panel.

    A value stands at the mark that the run has just passed, by less than an iteration.

    Args:
        panels: in order.
        make_solvers: by the name of their curve.
    """
    total, before = sum(panel.marks[-1] for panel in panels) * len(make_solvers), 0
    for panel in panels:
        for curve, make_solver in make_solvers.items():
            solver = make_solver(panel.tree)
            for mark in panel.marks:
                advance(solver, mark)
                point = Point(panel=panel.name, curve=curve, x=mark, y=solver.evaluate().nash_conv)
                text = f"{panel.name}, {curve}: {mark:,} nodes in {solver.iteration:,} iterations"
                yield Step(fraction=(before + mark) / total, text=text, points=(point,))
            before += panel.marks[-1]


def advance(solver: CountingSolver, num_nodes: int) -> None:
    """Runs iterations until so many nodes are touched; what is beyond them belongs to the last iteration."""
    while (missing := num_nodes - solver.nodes_touched) > 0:
        iteration, touched = solver.iteration, solver.nodes_touched
        solver.iterate(1)
        # no iteration costs twice as much as the one before it
        last = max(1, solver.nodes_touched - touched)
        further = (missing - last) // (2 * last)
        if further > 0:
            solver.iterate(min(further, iteration + 1))


def typical_speedup(measured: Measured, panel: str, slow: str, fast: str) -> float | None:
    """Returns how many times more nodes one curve takes than another for the same quality; None without both.

    It is the median over qualities, the lower half (on a logarithmic axis) of those that both curves pass, because
    single points are noisy. Curves count with the best that they have reached so far, and are straight between marks on
    logarithmic axes.
    """
    curves = measured.panels().get(panel, {})
    if slow not in curves or fast not in curves:
        return None
    pair = [curves[slow], curves[fast]]
    best, first = max(min(y for _, y in points) for points in pair), min(points[0][1] for points in pair)
    if not 0 < best < first:
        return None
    targets = [best * math.sqrt(first / best) ** (k / NUM_TARGETS) for k in range(NUM_TARGETS + 1)]
    nodes = [(crossing(pair[0], level), crossing(pair[1], level)) for level in targets]
    return statistics.median(far / near for far, near in nodes if far and near)
