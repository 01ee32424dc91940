# SPDX-License-Identifier: Apache-2.0
"""Exploitability curves, the material of most studies: many solvers, one grid of iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from equipoise.apps.reproduce.study import Point, Step
from equipoise.solvers.driver import next_evaluation
from equipoise.solvers.solve import TreeSolver
from equipoise.trees.history import HistoryTree

__all__ = ["Panel", "evaluation_grid", "measure_curves"]


CLOSE = 0.1  # points nearer to a mark than this share of it give way to the mark


class Panel(NamedTuple):
    """A tree on which every solver runs."""

    name: str
    tree: HistoryTree
    run: int = 0


def evaluation_grid(iterations: int, marks: Sequence[int]) -> list[int]:
    """Returns the iterations at which curves are measured: evenly spread on a logarithmic axis, and the marks.

    >>> evaluation_grid(60, (30, 100))
    [1, 2, 3, 4, 5, 7, 9, 11, 14, 18, 22, 30, 35, 44, 60]
    """
    wanted = {mark for mark in marks if mark < iterations} | {iterations}
    points, t = set(wanted), 0
    while (t := next_evaluation(t)) < iterations:
        if all(abs(t - mark) > CLOSE * mark for mark in wanted):
            points.add(t)
    return sorted(points)


def measure_curves(
    panels: Sequence[Panel],
    make_solvers: Mapping[str, Callable[[HistoryTree], TreeSolver]],
    *,
    iterations: int,
    marks: Sequence[int],
) -> Iterator[Step]:
    """Yields the exploitability of every solver on every panel, at every point of the grid.

    Args:
        panels: in order; the share of the whole that each takes goes by its histories.
        make_solvers: by the name of their curve.
        iterations: of each solver.
        marks: iterations that must be among the points.
    """
    total = sum(panel.tree.actor.size for panel in panels) * len(make_solvers)
    before = 0
    for name, tree, run in panels:
        for curve, make_solver in make_solvers.items():
            solver = make_solver(tree)
            for t in evaluation_grid(iterations, marks):
                solver.iterate(t - solver.iteration)
                point = Point(panel=name, curve=curve, x=t, y=solver.evaluate().exploitability, run=run)
                fraction = (before + tree.actor.size * t / iterations) / total
                yield Step(fraction=fraction, text=f"{name}, {curve}: {t:,} iterations", points=(point,))
            before += tree.actor.size
