# SPDX-License-Identifier: Apache-2.0
"""Exploitability curves, the material of most studies: many solvers, one grid of iterations."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from equipoise.core.formatting import brief_repr
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.driver import next_evaluation
from equipoise.studies.study import Point, Step

__all__ = ["EvaluatedSolver", "Panel", "crossing", "evaluation_grid", "measure_curves"]


CLOSE = 0.1  # points nearer to a mark than this share of it give way to the mark
FINE = 1.05  # between points of a grid that is fine


Tree = TypeVar("Tree")


class EvaluatedSolver(Protocol):
    """A run that can be advanced, and whose exploitability is exact."""

    @property
    def iteration(self) -> int:
        """Returns the iterations completed."""
        ...

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations."""
        ...

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Panel(Generic[Tree]):
    """A tree on which every solver runs.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> Panel("kuhn", build_history_tree(make_game("kuhn")), iterations=100, cost=1).name
    'kuhn'
    """

    name: str
    tree: Tree
    iterations: int  # of each solver
    cost: int  # of an iteration, in any unit that all panels share
    run: int = 0
    scale: float = 1.0  # units of the ordinate in one of exploitability

    __repr__ = brief_repr


def evaluation_grid(iterations: int, marks: Sequence[int], *, fine_from: int | None = None) -> list[int]:
    """Returns the iterations at which curves are measured: evenly spread on a logarithmic axis, and the marks.

    Args:
        iterations: the last of them.
        marks: to be among them, as far as they go.
        fine_from: from where on they are so close that no peak of a curve lies between two; None: nowhere.

    >>> evaluation_grid(60, (30, 100))
    [1, 2, 3, 4, 5, 7, 9, 11, 14, 18, 22, 30, 35, 44, 60]
    >>> evaluation_grid(60, (30, 100), fine_from=50)
    [1, 2, 3, 4, 5, 7, 9, 11, 14, 18, 22, 30, 35, 44, 50, 52, 55, 58, 60]
    """
    wanted = {mark for mark in marks if mark < iterations} | {iterations}
    points, t = set(wanted), 0
    while (t := next_evaluation(t)) < iterations:
        if all(abs(t - mark) > CLOSE * mark for mark in wanted):
            points.add(t)
    if fine_from is not None:
        points.update(itertools.takewhile(lambda t: t < iterations, map(round, _grow(fine_from))))
    return sorted(points)


def _grow(first: float) -> Iterator[float]:
    """Yields numbers that grow by a constant factor."""
    while True:
        yield first
        first *= FINE


def measure_curves(
    panels: Sequence[Panel[Tree]],
    make_solvers: Mapping[str, Callable[[Tree], EvaluatedSolver]],
    *,
    marks: Sequence[int],
    fine_from: int | None = None,
) -> Iterator[Step]:
    """Yields the exploitability of every solver on every panel, at every point of the grid.

    Args:
        panels: in order.
        make_solvers: by the name of their curve.
        marks: iterations that must be among the points.
        fine_from: as in `evaluation_grid`.

    >>> from equipoise.games import make_game
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> panel = Panel("kuhn", build_history_tree(make_game("kuhn")), iterations=10, cost=1)
    >>> steps = list(measure_curves([panel], {"dcfr": CFRSolver}, marks=[1, 10]))
    >>> [point.x for point in steps[-1].points]
    [10]
    """
    total = sum(panel.cost * panel.iterations for panel in panels) * len(make_solvers)
    before = 0
    for panel in panels:
        for curve, make_solver in make_solvers.items():
            solver = make_solver(panel.tree)
            for t in evaluation_grid(panel.iterations, marks, fine_from=fine_from):
                solver.iterate(t - solver.iteration)
                value = solver.evaluate().exploitability * panel.scale
                point = Point(panel=panel.name, curve=curve, x=t, y=value, run=panel.run)
                fraction = (before + panel.cost * t) / total
                yield Step(fraction=fraction, text=f"{panel.name}, {curve}: {t:,} iterations", points=(point,))
            before += panel.cost * panel.iterations


def crossing(points: Sequence[tuple[int, float]], level: float) -> float | None:
    """Returns where a falling curve first comes down to a level, between points along a straight line in logarithms.

    >>> crossing([(10, 1.0), (1000, 0.01)], 0.1)
    100.0
    >>> crossing([(10, 1.0)], 0.1) is None
    True
    """
    above: tuple[int, float] | None = None
    for x, y in points:
        if y <= level:
            if above is None or y <= 0:
                return float(x)
            share = math.log(above[1] / level) / math.log(above[1] / y)
            return round(above[0] * math.exp(share * math.log(x / above[0])), 9)
        above = (x, y)
    return None
