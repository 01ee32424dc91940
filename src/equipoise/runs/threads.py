# SPDX-License-Identifier: Apache-2.0
"""How many threads a run takes that is not told: as many as help, found on its own first iterations.

Results are the same bits whatever the number, so nothing that is tried is lost.
"""

from __future__ import annotations

import time
from typing import Final, Protocol

from equipoise.core.machine import num_usable_cores
from equipoise.kernels.calls import check_integer

__all__ = ["ThreadTrial", "team_sizes"]

TRIAL_SECONDS: Final = 0.05  # of each size, or one iteration
TRIAL_ITERATIONS: Final = 50  # of each size at most
SHORTEST_SHARED: Final = 2e-4  # seconds of an iteration that is worth sharing
LEAST_GAIN: Final = 0.05  # share of the time by which a larger team must be faster


class TeamSolver(Protocol):
    """A run whose next call may have another number of threads than the last."""

    num_threads: int
    iteration: int

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations."""
        ...


def team_sizes(num_cores: int) -> tuple[int, ...]:
    """Returns the sizes that are tried: one, twice as many each time, and all cores.

    >>> team_sizes(6)
    (1, 2, 4, 6)
    """
    powers = [2**exponent for exponent in range(num_cores.bit_length()) if 2**exponent < num_cores]
    return (*powers, num_cores)


class ThreadTrial:
    """Runs the first iterations of a solver with teams of several sizes, and all later ones with the fastest."""

    def __init__(self, solver: TeamSolver, num_cores: int | None = None) -> None:
        """Begins; `num_cores` are those that may be used, by default all that the process has."""
        self.solver = solver
        self._sizes = list(team_sizes(num_cores or num_usable_cores()))
        self._seconds: dict[int, float] = {}  # of an iteration, the least
        self._spent, self._num_tried = 0.0, 0  # on the size that is being tried
        self._is_warm = False  # the first iteration touches memory for the first time
        if len(self._sizes) == 1:
            self._sizes = []

    @property
    def is_over(self) -> bool:
        """Returns whether the size is decided."""
        return not self._sizes

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, those of the trial first."""
        check_integer("num_iterations", num_iterations, 0)
        goal = self.solver.iteration + num_iterations
        while self.solver.iteration < goal and not self.is_over:
            if not self._try_one():
                return
        if self.solver.iteration < goal:
            self.solver.iterate(goal - self.solver.iteration)

    def _try_one(self) -> bool:
        """Runs an iteration with the size under trial; returns whether it was done to its end."""
        size = self.solver.num_threads = self._sizes[0 if self._is_warm else -1]
        before, began = self.solver.iteration, time.perf_counter()
        self.solver.iterate(1)
        spent = time.perf_counter() - began
        if self.solver.iteration == before:
            return False
        if not self._is_warm:
            self._is_warm = True
            return True
        self._seconds[size] = min(self._seconds.get(size, spent), spent)
        self._spent, self._num_tried = self._spent + spent, self._num_tried + 1
        if self._spent >= TRIAL_SECONDS or self._num_tried >= TRIAL_ITERATIONS:
            self._end_size()
        return True

    def _end_size(self) -> None:
        """Goes on to the next size, or decides."""
        self._spent, self._num_tried = 0.0, 0
        self._sizes.pop(0)
        if self._seconds[1] < SHORTEST_SHARED:
            self._sizes.clear()
        if self.is_over:
            self.solver.num_threads = self._choose()

    def _choose(self) -> int:
        alone = self._seconds[1]
        best = min(self._seconds, key=lambda size: (self._seconds[size], size))
        return best if self._seconds[best] <= (1 - LEAST_GAIN) * alone else 1
