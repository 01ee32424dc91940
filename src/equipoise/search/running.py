# SPDX-License-Identifier: Apache-2.0
"""How long searches run: so many iterations, or until a moment has come; and what changes on the way."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any, Final

from equipoise.kernels.frontier import Frontier
from equipoise.search.leaves import LeafEvaluator, SwitchedLeaves
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import DCFRPlus

__all__ = ["LEAST_ITERATIONS", "Run", "run_at_once", "run_for", "run_until"]

Run = Callable[[Any, int], None]  # called with a solver and how many iterations are wanted

LEAST_ITERATIONS: Final = 16  # however late it is
FIRST_BLOCK: Final = 4  # iterations after which the time that all take is known


def run_at_once(solver: CFRSolver[Any], num_iterations: int) -> None:
    """Runs so many iterations."""
    run_until(solver, num_iterations, math.inf)


def run_for(seconds: float | None, *, least: int = LEAST_ITERATIONS) -> Run:
    """Returns what runs a search for at most so many seconds, counted from the moment at which it begins."""

    def run(solver: CFRSolver[Any], num_iterations: int) -> None:
        run_until(solver, num_iterations, math.inf if seconds is None else time.perf_counter() + seconds, least=least)

    return run


def run_until(solver: CFRSolver[Any], num_iterations: int, deadline: float, *, least: int = LEAST_ITERATIONS) -> None:
    """Runs so many iterations, fewer if time runs out.

    An average that begins late (`DCFRPlus`) begins after half of a run that is too short for its delay. Evaluators that
    change in the last iterations (`SwitchedLeaves`) do so when these are about to begin.

    Args:
        solver: of a search that has not begun.
        num_iterations: if there is time.
        deadline: as `time.perf_counter` counts.
        least: iterations that are run however late it is.
    """
    switched = _find_switched(solver)
    try:
        _run_blocks(solver, num_iterations, deadline, least, switched)
    finally:
        if switched is not None:  # whoever asks afterwards, however short it was
            _ask(solver, switched)


def _run_blocks(
    solver: CFRSolver[Any], num_iterations: int, deadline: float, least: int, switched: SwitchedLeaves | None
) -> None:
    """Runs iterations until all are done or time runs out."""
    begin, done, expected = time.perf_counter(), 0, num_iterations
    while done < expected:
        _fit_average(solver, expected)
        last_begin = expected if switched is None else max(expected - switched.num_last, 0)
        if switched is not None:
            _ask(solver, switched.first if done < last_begin else switched)
        block = (last_begin if done < last_begin else expected) - done
        if deadline < math.inf:
            block = min(block, FIRST_BLOCK if done == 0 else max((expected - done) // 2, 1))
        solver.iterate(block)
        done += block
        if deadline < math.inf:
            now = time.perf_counter()
            affordable = int((deadline - now) * done / (now - begin)) if now < deadline else 0
            expected = min(num_iterations, max(done + affordable, least))


def _ask(solver: CFRSolver[Any], evaluator: LeafEvaluator) -> None:
    """Lets a search ask an evaluator from now on."""
    assert isinstance(solver.frontier, Frontier)
    solver.frontier.evaluate = evaluator.evaluate


def _find_switched(solver: CFRSolver[Any]) -> SwitchedLeaves | None:
    """Returns the evaluator of a search's leaves if it changes on the way."""
    if not isinstance(solver.frontier, Frontier):
        return None
    evaluator = getattr(solver.frontier.evaluate, "__self__", None)
    return evaluator if isinstance(evaluator, SwitchedLeaves) else None


def _fit_average(solver: CFRSolver[Any], num_iterations: int) -> None:
    """Lets a late average begin after half of a run, unless it has begun."""
    rule = solver.rule
    if isinstance(rule, DCFRPlus) and solver.iteration <= num_iterations // 2 < rule.delay:
        solver.change_rule(dataclasses.replace(rule, delay=num_iterations // 2))
