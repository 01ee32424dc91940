# SPDX-License-Identifier: Apache-2.0
"""A solver that one thread advances while others read: a server's page looks at a run that is going on."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from equipoise.core.interruption import IsInterrupted, Listener, Stoppable
from equipoise.core.progress import SampledFigures
from equipoise.runs.threads import ThreadTrial
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.driver import QuickSolver, Solver
from equipoise.solvers.saved_state import SavedArrays

__all__ = ["GuardedSolver", "Turns"]


class Turns:
    """A lock in which nobody starves: who waits holds the door, so that who leaves cannot come straight back."""

    def __init__(self) -> None:
        self._door = threading.Lock()
        self._room = threading.Lock()

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """While entered, nobody else is; a thread that is inside must not enter again."""
        with self._door:
            self._room.acquire()
        try:
            yield
        finally:
            self._room.release()


class GuardedSolver:
    """A solver of which every call is a turn of its own; the last evaluation is kept until the run goes on."""

    def __init__(self, inner: Solver) -> None:
        self.inner = inner
        self.turns = Turns()
        self.trial: ThreadTrial | None = None  # of team sizes, while it lasts
        self._evaluated: tuple[int, Evaluation | SampledFigures] | None = None
        self._was_quick = False

    @property
    def iteration(self) -> int:
        """Returns the iterations completed."""
        return self.inner.iteration

    @property
    def nodes_touched(self) -> int:
        """Returns the histories visited so far, terminals included."""
        return self.inner.nodes_touched

    def listen(self, is_interrupted: IsInterrupted) -> None:
        """Passes a question on to a solver that asks."""
        if isinstance(self.inner, Listener):
            self.inner.listen(is_interrupted)

    @property
    def can_stop(self) -> bool:
        """Returns whether `stop` ends an iteration under way."""
        return isinstance(self.inner, Stoppable) and self.inner.can_stop

    def stop(self) -> None:
        """Ends the call under way, without waiting for a turn."""
        if isinstance(self.inner, Stoppable):
            self.inner.stop()

    @property
    def last_evaluation(self) -> Evaluation | SampledFigures | None:
        """Returns what was found when the run was last evaluated, however long ago."""
        return None if self._evaluated is None else self._evaluated[1]

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations."""
        with self.turns.taken():
            if self.trial is None or self.trial.is_over:
                self.inner.iterate(num_iterations)
            else:
                self.trial.iterate(num_iterations)

    def evaluate(self) -> Evaluation | SampledFigures:
        """Returns the quality of the strategy that the run would output now, computed once an iteration."""
        with self.turns.taken():
            if self._evaluated is None or self._evaluated[0] != self.inner.iteration or self._was_quick:
                self._evaluated, self._was_quick = (self.inner.iteration, self.inner.evaluate()), False
            return self._evaluated[1]

    @property
    def can_evaluate_quickly(self) -> bool:
        """Returns whether `evaluate_quickly` is quicker than `evaluate`."""
        return isinstance(self.inner, QuickSolver) and self.inner.can_evaluate_quickly

    def evaluate_quickly(self) -> Evaluation | SampledFigures:
        """Returns the quality as `evaluate` does, to a few digits fewer where that is quicker."""
        if not isinstance(self.inner, QuickSolver):
            return self.evaluate()
        with self.turns.taken():
            if self._evaluated is None or self._evaluated[0] != self.inner.iteration:
                self._evaluated, self._was_quick = (self.inner.iteration, self.inner.evaluate_quickly()), True
            return self._evaluated[1]

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit."""
        with self.turns.taken():
            return self.inner.state()

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state, or raises `CheckpointError` and changes nothing."""
        with self.turns.taken():
            self._evaluated = None
            self.inner.restore(state)
