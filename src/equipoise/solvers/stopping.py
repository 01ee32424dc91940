# SPDX-License-Identifier: Apache-2.0
"""When a run stops and why, and what of a game it sweeps."""

from __future__ import annotations

import dataclasses
import enum
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.progress import Progress
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.driver import Solver, check_stopping, is_at_most

__all__ = ["Form", "StopReason", "Stopping", "TreeSolver"]

DEFAULT_TARGET_SHARE: Final = 1e-5  # of the payoff range
DEFAULT_SECONDS: Final = 60.0


class Form(enum.StrEnum):
    """What is swept.

    >>> import equipoise
    >>> equipoise.solve("kuhn", form=Form.VECTOR, iterations=10).config.form
    'vector'
    """

    HISTORY = "history"  # single histories; any game, any method
    VECTOR = "vector"  # public states, all private states of a player at once; two players
    GAME = "game"  # the rules themselves, sampled, for games whose trees do not fit


class StopReason(enum.StrEnum):
    """Why a run ended.

    >>> import equipoise
    >>> equipoise.solve("kuhn", target=0.01).stopped_by is StopReason.TARGET
    True
    """

    TARGET = "target"
    ITERATIONS = "iterations"
    SECONDS = "seconds"
    SOLVED = "solved"  # exact methods: there is nothing left to do
    MEMORY = "memory"  # growing tables: they have reached their limit
    INTERRUPTED = "interrupted"


class TreeSolver(Solver, Protocol):
    """A run on a tree."""

    def average_strategy(self) -> npt.NDArray[np.float64]:
        """Returns the strategy that the run would output now, in the numbering of its tree."""
        ...

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the strategy that the run would output now."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """When to stop: at the first of these that is met. All are totals, a resumed run's earlier part included.

    >>> Stopping(iterations=100, target=1e-3)
    Stopping(iterations=100, target=0.001, seconds=None)
    """

    iterations: int | None = None
    target: float | None = None  # exploitability, in the game's unit of utility
    seconds: float | None = None

    def __post_init__(self) -> None:
        check_stopping(iterations=self.iterations, target=self.target, seconds=self.seconds)

    @classmethod
    def default(cls, utility_range: float) -> Stopping:
        """Returns what holds when nothing is said: a hundred-thousandth of the payoff range, or a minute."""
        return cls(target=DEFAULT_TARGET_SHARE * utility_range, seconds=DEFAULT_SECONDS)

    @classmethod
    def from_options(
        cls, utility_range: float, *, iterations: int | None, target: float | None, seconds: float | None
    ) -> Stopping:
        """Returns what was asked for, or the default if nothing was."""
        if iterations is None and target is None and seconds is None:
            return cls.default(utility_range)
        return cls(iterations=iterations, target=target, seconds=seconds)

    def reason(self, progress: Progress) -> StopReason | None:
        """Returns which criterion a record meets, None if it meets none."""
        if is_at_most(progress.exploitability, self.target):
            return StopReason.TARGET
        if self.iterations is not None and progress.iteration >= self.iterations:
            return StopReason.ITERATIONS
        if self.seconds is not None and progress.seconds >= self.seconds:
            return StopReason.SECONDS
        return None
