# SPDX-License-Identifier: Apache-2.0
"""Sampled runs side by side: at equal numbers of nodes touched, at equal processor time, and how noisy each is."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.solvers.mccfr import MCCFRSolver
from equipoise.studies.sampled_curves import SampledSolver, advance
from equipoise.studies.study import Point, Step

__all__ = ["Race", "measure_noise", "run_race"]

NUM_SLICES: Final = 50  # of the last mark: how finely processor time is watched
NOISE_SEED: Final = 12_345  # of the iterations that only measure


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Solvers of one game, the first of which sets the pace.

    >>> from equipoise.games import make_game
    >>> from equipoise.solvers import MCCFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> race = Race(panel="kuhn", timed_panel=None, makers={"external": lambda rng: MCCFRSolver(tree, rng=rng)})
    >>> list(race.makers)
    ['external']
    """

    panel: str  # at equal nodes
    timed_panel: str | None  # at the processor time that the first takes for as many nodes; None: not measured
    makers: Mapping[str, Callable[[np.random.Generator], SampledSolver]]  # by the name of their curve
    scale: float = 1.0  # units of the ordinate in one of exploitability
    cost_panel: str | None = None  # nodes of an iteration in the last half of a run, at the last mark; None: not kept


def run_race(race: Race, *, marks: Sequence[int], runs: int, seed: int) -> Iterator[Step]:
    """Yields the exploitability of every solver at every mark of nodes touched, and of processor time.

    Args:
        race: the solvers.
        marks: nodes touched, in order.
        runs: of each curve, with seeds of their own.
        seed: from which the runs' seeds come.

    >>> from equipoise.games import make_game
    >>> from equipoise.solvers import MCCFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> race = Race(panel="kuhn", timed_panel=None, makers={"external": lambda rng: MCCFRSolver(tree, rng=rng)})
    >>> steps = list(run_race(race, marks=[100, 1000], runs=2, seed=0))
    >>> steps[-1].fraction
    1.0
    """
    total, done = runs * len(race.makers), 0
    for run in range(runs):
        pace: list[float] = []  # processor seconds of the first solver at each mark
        for place, (curve, make) in enumerate(race.makers.items()):
            solver = make(np.random.default_rng((seed, run, place)))
            is_first = not pace
            by_nodes, by_time, spent, cost = _measure(solver, marks, pace if race.timed_panel and not is_first else [])
            if is_first:
                pace, by_time = spent, by_nodes
            done += 1
            points = [
                Point(panel=panel, curve=curve, x=mark, y=value * race.scale, run=run)
                for panel, values in ((race.panel, by_nodes), (race.timed_panel, by_time))
                if panel is not None
                for mark, value in zip(marks, values, strict=False)
            ]
            if race.cost_panel is not None:
                points.append(Point(panel=race.cost_panel, curve=curve, x=marks[-1], y=cost, run=run))
            text = f"{race.panel}, {curve}, run {run + 1} of {runs}"
            yield Step(fraction=done / total, text=text, points=tuple(points))


def _measure(
    solver: SampledSolver, marks: Sequence[int], pace: Sequence[float]
) -> tuple[list[float], list[float], list[float], float]:
    """Returns exploitabilities at the marks of nodes and of time, and the processor time at the marks of nodes.

    The last number is what an iteration of the last half touched.
    """
    halfway, end = (0, 0), (0, 0)
    by_nodes: list[float] = []
    by_time: list[float] = []
    spent: list[float] = []
    seconds, slice_nodes = 0.0, max(1, marks[-1] // NUM_SLICES)
    while len(by_nodes) < len(marks) or len(by_time) < len(pace):
        goal = solver.nodes_touched + slice_nodes
        if len(by_nodes) < len(marks):
            goal = min(goal, marks[len(by_nodes)])
        began = time.process_time()
        advance(solver, goal)
        seconds += time.process_time() - began
        here = solver.nodes_touched, solver.iteration
        if halfway[0] < marks[-1] // 2:
            halfway = here
        if end[0] < marks[-1]:
            end = here
        if len(by_nodes) < len(marks) and solver.nodes_touched >= marks[len(by_nodes)]:
            by_nodes.append(solver.evaluate().exploitability)
            spent.append(seconds)
        while len(by_time) < len(pace) and seconds >= pace[len(by_time)]:
            by_time.append(solver.evaluate().exploitability)
    return by_nodes, by_time, spent, (end[0] - halfway[0]) / max(1, end[1] - halfway[1])


def measure_noise(solver: MCCFRSolver, num_samples: int) -> float:
    """Returns the variance of what an iteration adds to the regrets, summed over all actions; the run is unchanged."""
    tables = solver.tables
    before = {name: array.copy() for name, array in solver.state().items()}
    regrets, guesses = tables.regret_sum.copy(), tables.baseline.copy()
    tables.random_words[:] = np.random.default_rng(NOISE_SEED).integers(1, 2**63, size=4, dtype=np.uint64)
    added: list[npt.NDArray[np.float64]] = []
    for _ in range(num_samples):
        tables.regret_sum[:], tables.baseline[:] = regrets, guesses
        solver.iterate(1)
        added.append(tables.regret_sum - regrets)
    solver.restore(before)
    return float(np.var(added, axis=0).sum())
