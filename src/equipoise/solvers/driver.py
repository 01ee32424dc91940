# SPDX-License-Identifier: Apache-2.0
"""Drives a solver to a stopping point and yields progress records; it neither prints nor saves.

Evaluation points are spaced by a constant factor in iterations, so that log-log curves have evenly spread points and
exact evaluation stays a small share of the run; where one takes long, points of the grid are left out until it does.
Solvers that can be evaluated quickly are, and only where a target may be met: what ends the run is evaluated exactly.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import time
from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import AbandonedError, ConfigError
from equipoise.core.interruption import IsInterrupted, Listener, Stoppable, call_watched, never
from equipoise.core.progress import Progress, SampledFigures
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.saved_state import SavedArrays

__all__ = ["LONG_WAIT_SECONDS", "QuickSolver", "Solver", "check_stopping", "is_at_most", "run"]

LONGEST_CALL_SECONDS = 0.2  # native calls hold off Ctrl-C for at most about this long
SPACING = 1.25  # ratio of consecutive evaluation points
FINE_SPACING = SPACING**0.25  # the same near a target
FARTHEST = 2.0  # ratio of consecutive points far from a target
STEEPEST = 3.0  # curves fall no faster than iterations to this power, nearly always
LONGEST_SILENCE_SECONDS = 2.0  # a record is yielded, or `on_advance` called, at least this often
LONG_WAIT_SECONDS = 0.25  # after an interruption nobody waits for more: figures of the last evaluation stand
LONG_EVALUATION_SECONDS = 0.5  # evaluations that take longer are rationed
SOLVING_PER_EVALUATION = 4.0  # seconds of solving before each second of these
EARLY_ITERATIONS = 100  # in which curves are flatter than later on
MOST_ITERATIONS_PER_CALL = 4096
MOST_ITERATIONS = 10**15  # in all; no run gets there, and times left stay numbers


class Solver(Protocol):
    """A run that can be advanced, measured, saved and restored.

    >>> from equipoise.games import make_game
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> def advance(solver: Solver) -> int:
    ...     solver.iterate(10)
    ...     return solver.iteration
    >>> advance(CFRSolver(build_history_tree(make_game("kuhn"))))
    10
    """

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


@runtime_checkable
class QuickSolver(Protocol):
    """A run whose strategy can be measured in less time than `Solver.evaluate` takes, to some digits fewer.

    >>> from equipoise.games import make_game
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> solver = CFRSolver(build_history_tree(make_game("kuhn")))
    >>> isinstance(solver, QuickSolver), solver.can_evaluate_quickly
    (True, False)
    """

    @property
    def can_evaluate_quickly(self) -> bool:
        """Returns whether there is such a way."""
        ...

    def evaluate_quickly(self) -> Evaluation | SampledFigures:
        """Returns the quality of the strategy that the run would output now, nearly exact."""
        ...


def check_stopping(*, iterations: int | None, target: float | None, seconds: float | None) -> None:
    """Raises `ConfigError` unless at least one stopping criterion is given and all make sense."""
    if iterations is None and target is None and seconds is None:
        raise ConfigError("at least one of iterations, target and seconds is needed")
    if isinstance(iterations, bool) or (iterations is not None and not isinstance(iterations, numbers.Integral)):
        raise ConfigError(f"iterations must be a whole number, got {iterations!r}")
    if iterations is not None and iterations < 1:
        raise ConfigError(f"iterations must be at least 1, got {iterations}")
    if iterations is not None and iterations > MOST_ITERATIONS:
        raise ConfigError(f"iterations must be at most {MOST_ITERATIONS:,}, got {iterations}")
    for name, value in (("target", target), ("seconds", seconds)):
        if value is not None and not isinstance(value, numbers.Real):
            raise ConfigError(f"{name} must be a number, got {value!r}")
    if target is not None and not 0 <= target < math.inf:
        raise ConfigError(f"target must be at least 0 and finite, got {target}")
    if seconds is not None and not 0 < seconds < math.inf:
        raise ConfigError(f"seconds must be positive and finite, got {seconds}")


def is_at_most(exploitability: float | None, target: float | None) -> bool:
    """Returns whether a target is met: never without one, nor by what is not known."""
    return target is not None and exploitability is not None and exploitability <= target


def next_evaluation(iteration: int, spacing: float = SPACING) -> int:
    """Returns the evaluation point after an iteration: a fixed grid, the same for fresh and resumed runs.

    >>> [next_evaluation(t) for t in (0, 1, 4, 9, 100)]
    [1, 2, 5, 11, 108]
    """
    if iteration < 4:
        return iteration + 1
    exponent = math.floor(math.log(iteration, spacing) + 1e-9)
    point = iteration
    while point <= iteration:
        exponent += 1
        point = math.floor(spacing**exponent + 1e-9)
    return point


def next_near_target(iteration: int, exploitability: float, target: float) -> int:
    """Returns the first point of a finer grid at which a target may be met, or one about twice as far.

    >>> [next_near_target(100, exploitability, 1.0) for exploitability in (50.0, 2.0, 1.1, 1.0)]
    [200, 128, 108, 102]
    """
    point = next_evaluation(iteration, FINE_SPACING)
    while point < FARTHEST * iteration and exploitability * (iteration / point) ** STEEPEST > target:
        point = next_evaluation(point, FINE_SPACING)
    return point


def run(
    solver: Solver,
    *,
    iterations: int | None = None,
    target: float | None = None,
    seconds: float | None = None,
    seconds_before: float = 0.0,
    is_interrupted: IsInterrupted = never,
    on_advance: Callable[[Progress], None] = lambda _: None,
    typical_slope: float = 0.0,
) -> Iterator[Progress]:
    """Advances a solver to the first stopping point that is met and yields a record at each evaluation.

    A solver that stands still has nothing left to do, or no memory to do it in: the run ends.

    Args:
        solver: a fresh or a restored run.
        iterations: total iterations, those before a resume included.
        target: exploitability to reach; refused with `ConfigError` where it cannot be computed.
        seconds: time to spend, `seconds_before` included.
        seconds_before: time that a resumed run had already spent.
        is_interrupted: asked between native calls, and within them by solvers that listen or can be stopped; once true,
            a last record is yielded and the run ends. Where an evaluation takes long the record has the figures of the
            last one; without one, and before the first iteration, there is no record.
        on_advance: called every few seconds between two evaluations that lie far apart, with the figures of the last.
        typical_slope: of such runs' log-log curves, at most 0; early ones are flatter, and not trusted before it.
    """
    check_stopping(iterations=iterations, target=target, seconds=seconds)
    clock = _Clock(seconds_before, typical_slope)
    if isinstance(solver, Listener):
        solver.listen(is_interrupted)
    last: Progress | None = None

    def say() -> None:
        if last is not None:
            on_advance(clock.extend(last, solver))

    while iterations is None or solver.iteration < iterations:
        began = solver.iteration
        is_quick = target is not None and isinstance(solver, QuickSolver) and solver.can_evaluate_quickly
        goal = _find_goal(began, last, target if is_quick else None)
        clock.advance(solver, iterations, goal, deadline=seconds, is_interrupted=is_interrupted, on_silence=say)
        if solver.iteration == began and last is not None:
            return
        is_quick = is_quick and not clock.is_over(solver, iterations, seconds)
        try:
            evaluation = clock.evaluate(solver, is_interrupted, is_quick=is_quick, target=target)
        except AbandonedError:
            if last is not None:
                yield clock.extend(last, solver)
            return
        if target is not None and isinstance(evaluation, SampledFigures):
            raise ConfigError(
                f"a target of {target:g} needs an exploitability, and the game is too large for an exact one; stop by "
                "iterations or seconds"
            )
        last = clock.record(solver, evaluation, last, iterations=iterations, target=target, seconds=seconds)
        clock.plan(last.seconds_left)
        yield last
        if is_interrupted():
            return
        if is_at_most(last.exploitability, target):
            return
        if seconds is not None and last.seconds >= seconds:
            return


def _find_goal(iteration: int, last: Progress | None, target: float | None) -> int:
    """Returns the next evaluation point; with a target, the next one at which it may be met."""
    if target is None or last is None or last.exploitability is None:
        return next_evaluation(iteration)
    return next_near_target(iteration, last.exploitability, target)


class _Clock:
    """Advances a solver in calls of bounded length and keeps its time."""

    def __init__(self, seconds_before: float, typical_slope: float) -> None:
        self.start = time.perf_counter() - seconds_before
        self.typical_slope = typical_slope
        self.per_iteration = 1e-3  # guess; measured from the first call on
        self.solved_iterations = 0
        self.solved_seconds = 0.0
        self.evaluation_seconds = 0.0  # of the last evaluation, if that was long
        self.last_evaluation_seconds = 0.0
        self.patience = 0.0  # seconds to solve before the next

    def elapsed(self) -> float:
        return time.perf_counter() - self.start

    def is_over(self, solver: Solver, iterations: int | None, seconds: float | None) -> bool:
        """Returns whether a run ends here whatever is found."""
        return (iterations is not None and solver.iteration >= iterations) or (
            seconds is not None and self.elapsed() >= seconds
        )

    def evaluate(
        self, solver: Solver, is_interrupted: IsInterrupted, *, is_quick: bool = False, target: float | None = None
    ) -> Evaluation | SampledFigures:
        """Returns an evaluation; the longer it takes, the longer until the next. A quick one says that a run goes on.

        Raises `AbandonedError` where somebody who has interrupted would have to wait for it.
        """
        if is_quick and isinstance(solver, QuickSolver):
            quick = self._evaluate(solver, solver.evaluate_quickly, is_interrupted)
            if isinstance(quick, SampledFigures) or not is_at_most(quick.exploitability, target):
                return quick
        return self._evaluate(solver, solver.evaluate, is_interrupted)

    def _evaluate(
        self,
        solver: Solver,
        ask: Callable[[], Evaluation | SampledFigures],
        is_interrupted: IsInterrupted,
    ) -> Evaluation | SampledFigures:
        began = time.perf_counter()
        found: list[Evaluation | SampledFigures] = []
        is_slow = max(self.per_iteration, self.last_evaluation_seconds) > LONG_WAIT_SECONDS
        if not (isinstance(solver, Stoppable) and solver.can_stop):
            found.append(ask())
        elif not is_interrupted():
            call_watched(lambda: found.append(ask()), is_interrupted, solver.stop)
        elif is_slow or not solver.iteration:  # before the first iteration nobody knows how long it takes
            raise AbandonedError("an evaluation would take long or say nothing, and somebody has interrupted")
        else:
            found.append(ask())
        spent = self.last_evaluation_seconds = time.perf_counter() - began
        self.evaluation_seconds = spent if spent > LONG_EVALUATION_SECONDS else 0.0
        return found[0]

    def plan(self, seconds_left: float | None) -> None:
        """Sets how long to solve before the next evaluation, which should not miss the end that is foreseen."""
        self.patience = SOLVING_PER_EVALUATION * self.evaluation_seconds
        if seconds_left is not None:
            self.patience = min(self.patience, max(seconds_left, self.evaluation_seconds))

    def advance(
        self,
        solver: Solver,
        last_iteration: int | None,
        goal: int,
        *,
        deadline: float | None,
        is_interrupted: IsInterrupted,
        on_silence: Callable[[], None],
    ) -> None:
        """Runs iterations to the next evaluation's, or until the deadline or an interruption cuts it short."""
        self.solved_iterations, self.solved_seconds, spoken = 0, 0.0, 0.0
        while not is_interrupted():
            if last_iteration is not None and solver.iteration >= last_iteration:
                return
            if solver.iteration >= goal:
                if self.solved_seconds >= self.patience:
                    return
                goal = next_evaluation(solver.iteration)
            stop = goal if last_iteration is None else min(goal, last_iteration)
            if not self._call(solver, stop - solver.iteration, is_interrupted):
                return
            if deadline is not None and self.elapsed() >= deadline:
                return
            if self.solved_seconds > max(LONGEST_SILENCE_SECONDS, self.patience):
                return
            if self.solved_seconds - spoken > LONGEST_SILENCE_SECONDS:
                spoken = self.solved_seconds
                on_silence()

    def _call(self, solver: Solver, most: int, is_interrupted: IsInterrupted) -> bool:
        """Runs as many iterations as one call should; returns whether the solver did them all."""
        longest = max(1, min(MOST_ITERATIONS_PER_CALL, int(LONGEST_CALL_SECONDS / self.per_iteration)))
        num_iterations = min(most, longest)
        before, began = solver.iteration, time.perf_counter()
        if isinstance(solver, Stoppable) and solver.can_stop:
            call_watched(lambda: solver.iterate(num_iterations), is_interrupted, solver.stop)
        else:
            solver.iterate(num_iterations)
        spent = max(time.perf_counter() - began, 1e-9)
        done = solver.iteration - before
        self.per_iteration = spent / max(done, 1)
        self.solved_iterations += done
        self.solved_seconds += spent
        return done == num_iterations

    def extend(self, last: Progress, solver: Solver) -> Progress:
        """Returns the record of the present iteration with the figures of the last evaluation."""
        elapsed = self.elapsed()
        left = last.seconds_left
        return dataclasses.replace(
            last,
            iteration=solver.iteration,
            seconds=elapsed,
            iterations_per_second=self.solved_iterations / self.solved_seconds if self.solved_seconds else 0.0,
            seconds_left=None if left is None else max(0.0, left - (elapsed - last.seconds)),
            nodes_touched=solver.nodes_touched,
            evaluated_at=last.iteration,
        )

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
            flattest = self.typical_slope if solver.iteration < EARLY_ITERATIONS else 0.0
            left.extend(_seconds_to_target(last, solver.iteration, exact.exploitability, target, rate, flattest))
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
    last: Progress | None, iteration: int, exploitability: float, target: float, rate: float, flattest: float
) -> list[float]:
    """Returns the time to a target by extending the log-log slope of the last two records, or nothing.

    A slope that is flatter than `flattest` is taken for that one.
    """
    if last is None or last.exploitability is None or not rate or target <= 0 or exploitability <= target:
        return []
    if not 0 < exploitability < last.exploitability or iteration <= last.iteration:
        return []
    slope = min(math.log(exploitability / last.exploitability) / math.log(iteration / last.iteration), flattest)
    growth = math.log(target / exploitability) / slope
    if growth > 50.0:
        return []
    return [(iteration * math.exp(growth) - iteration) / rate]
