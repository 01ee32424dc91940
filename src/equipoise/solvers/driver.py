# SPDX-License-Identifier: Apache-2.0
"""Drives a solver to a stopping point and yields progress records; it neither prints nor saves.

Evaluation points are spaced by a constant factor in iterations, so that log-log curves have evenly spread points and
exact evaluation stays a small share of the run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.progress import Progress, SampledFigures
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.saved_state import SavedArrays

__all__ = ["Solver", "check_stopping", "is_at_most", "run"]

LONGEST_CALL_SECONDS = 0.2  # native calls hold off Ctrl-C for at most about this long
SPACING = 1.25  # ratio of consecutive evaluation points
LONGEST_SILENCE_SECONDS = 2.0  # a record is yielded at least this often
MOST_ITERATIONS_PER_CALL = 4096
MOST_ITERATIONS = 10**15  # in all; no run gets there, and times left stay numbers


class Solver(Protocol):
    """A run that can be advanced, measured, saved and restored."""

    @property
    def iteration(self) -> int:
        """Returns the iterations completed."""
        ...

    @property
    def nodes_touched(self) -> int:
        """Returns the histories visited so far, terminals included."""
        ...

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations."""
        ...

    def evaluate(self) -> Evaluation | SampledFigures:
        """Returns the exact quality of the strategy that the run would output now; what is sampled where it cannot."""
        ...

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit."""
        ...

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state, or raises `CheckpointError` and changes nothing."""
        ...


def check_stopping(*, iterations: int | None, target: float | None, seconds: float | None) -> None:
    """Raises `ConfigError` unless at least one stopping criterion is given and all make sense."""
    if iterations is None and target is None and seconds is None:
        raise ConfigError("at least one of iterations, target and seconds is needed")
    if iterations is not None and iterations < 1:
        raise ConfigError(f"iterations must be at least 1, got {iterations}")
    if iterations is not None and iterations > MOST_ITERATIONS:
        raise ConfigError(f"iterations must be at most {MOST_ITERATIONS:,}, got {iterations}")
    if target is not None and not 0 <= target < math.inf:
        raise ConfigError(f"target must be at least 0 and finite, got {target}")
    if seconds is not None and not 0 < seconds < math.inf:
        raise ConfigError(f"seconds must be positive and finite, got {seconds}")


def is_at_most(exploitability: float | None, target: float | None) -> bool:
    """Returns whether a target is met: never without one, nor by what is not known."""
    return target is not None and exploitability is not None and exploitability <= target


def next_evaluation(iteration: int) -> int:
    """Returns the evaluation point after an iteration: a fixed grid, the same for fresh and resumed runs.

    >>> [next_evaluation(t) for t in (0, 1, 4, 9, 100)]
    [1, 2, 5, 11, 108]
    """
    if iteration < 4:
        return iteration + 1
    exponent = math.floor(math.log(iteration, SPACING) + 1e-9)
    point = iteration
    while point <= iteration:
        exponent += 1
        point = math.floor(SPACING**exponent + 1e-9)
    return point


def run(
    solver: Solver,
    *,
    iterations: int | None = None,
    target: float | None = None,
    seconds: float | None = None,
    seconds_before: float = 0.0,
    is_interrupted: Callable[[], bool] = lambda: False,
) -> Iterator[Progress]:
    """Advances a solver to the first stopping point that is met and yields a record at each evaluation.

    A solver that stands still has nothing left to do, or no memory to do it in: the run ends.

    Args:
        solver: a fresh or a restored run.
        iterations: total iterations, those before a resume included.
        target: exploitability to reach; refused with `ConfigError` where it cannot be computed.
        seconds: time to spend, `seconds_before` included.
        seconds_before: time that a resumed run had already spent.
        is_interrupted: asked between native calls; once true, a last record is yielded and the run ends.
    """
    check_stopping(iterations=iterations, target=target, seconds=seconds)
    clock = _Clock(seconds_before)
    last: Progress | None = None
    while iterations is None or solver.iteration < iterations:
        began = solver.iteration
        goal = next_evaluation(began)
        if iterations is not None:
            goal = min(goal, iterations)
        clock.advance(solver, goal, deadline=seconds, is_interrupted=is_interrupted)
        if solver.iteration == began and last is not None:
            return
        evaluation = solver.evaluate()
        if target is not None and isinstance(evaluation, SampledFigures):
            raise ConfigError(
                f"a target of {target:g} needs an exploitability, and the game is too large for an exact one; stop by "
                "iterations or seconds"
            )
        last = clock.record(solver, evaluation, last, iterations=iterations, target=target, seconds=seconds)
        yield last
        if is_interrupted():
            return
        if is_at_most(last.exploitability, target):
            return
        if seconds is not None and last.seconds >= seconds:
            return


class _Clock:
    """Advances a solver in calls of bounded length and keeps its time."""

    def __init__(self, seconds_before: float) -> None:
        self.start = time.perf_counter() - seconds_before
        self.per_iteration = 1e-3  # guess; measured from the first call on
        self.solved_iterations = 0
        self.solved_seconds = 0.0

    def elapsed(self) -> float:
        return time.perf_counter() - self.start

    def advance(self, solver: Solver, goal: int, *, deadline: float | None, is_interrupted: Callable[[], bool]) -> None:
        """Runs iterations up to `goal`, or until the deadline, an interruption or a long silence cuts it short."""
        self.solved_iterations, self.solved_seconds = 0, 0.0
        while solver.iteration < goal and not is_interrupted():
            longest = max(1, min(MOST_ITERATIONS_PER_CALL, int(LONGEST_CALL_SECONDS / self.per_iteration)))
            num_iterations = min(goal - solver.iteration, longest)
            before, began = solver.iteration, time.perf_counter()
            solver.iterate(num_iterations)
            spent = max(time.perf_counter() - began, 1e-9)
            done = solver.iteration - before
            self.per_iteration = spent / max(done, 1)
            self.solved_iterations += done
            self.solved_seconds += spent
            if done < num_iterations:
                return
            if deadline is not None and self.elapsed() >= deadline:
                return
            if self.solved_seconds > LONGEST_SILENCE_SECONDS:
                return

    def record(
        self,
        solver: Solver,
        evaluation: Evaluation | SampledFigures,
        last: Progress | None,
        *,
        iterations: int | None,
        target: float | None,
        seconds: float | None,
    ) -> Progress:
        """Returns the record of the present iteration."""
        elapsed = self.elapsed()
        rate = self.solved_iterations / self.solved_seconds if self.solved_seconds else 0.0
        left: list[float] = []
        if iterations is not None and rate:
            left.append((iterations - solver.iteration) / rate)
        if seconds is not None:
            left.append(max(0.0, seconds - elapsed))
        exact = None if isinstance(evaluation, SampledFigures) else evaluation
        if target is not None and exact is not None:
            left.extend(_seconds_to_target(last, solver.iteration, exact.exploitability, target, rate))
        return Progress(
            iteration=solver.iteration,
            seconds=elapsed,
            exploitability=None if exact is None else exact.exploitability,
            nash_conv=None if exact is None else exact.nash_conv,
            game_value=None if exact is None else exact.values[0],
            iterations_per_second=rate,
            seconds_left=min(left) if left else None,
            nodes_touched=solver.nodes_touched,
            sampled=evaluation if isinstance(evaluation, SampledFigures) else None,
        )


def _seconds_to_target(
    last: Progress | None, iteration: int, exploitability: float, target: float, rate: float
) -> list[float]:
    """Returns the time to a target by extending the log-log slope of the last two records, or nothing."""
    if last is None or last.exploitability is None or not rate or target <= 0 or exploitability <= target:
        return []
    if not 0 < exploitability < last.exploitability or iteration <= last.iteration:
        return []
    slope = math.log(exploitability / last.exploitability) / math.log(iteration / last.iteration)
    growth = math.log(target / exploitability) / slope
    if growth > 50.0:
        return []
    return [(iteration * math.exp(growth) - iteration) / rate]
