# SPDX-License-Identifier: Apache-2.0
"""One call from a game to its solution: tree, solver, stopping point, strategy.

The command line goes the same way with displays and files around it; nothing here prints or saves.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.progress import Progress
from equipoise.games.base import Game
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.driver import Solver, check_stopping, is_at_most, run
from equipoise.solvers.rules import DCFR, Rule
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.cache import load_or_build_history_tree, load_or_build_public_tree
from equipoise.trees.history import DEFAULT_MAX_HISTORIES, HistoryTree
from equipoise.trees.public import PublicTree

__all__ = ["Form", "Solution", "StopReason", "Stopping", "TreeSolver", "solve"]

DEFAULT_TARGET_SHARE: Final = 1e-5  # of the payoff range
DEFAULT_SECONDS: Final = 60.0


class Form(enum.StrEnum):
    """What is swept."""

    HISTORY = "history"  # single histories; any game, any method
    VECTOR = "vector"  # public states, all private states of a player at once; two players
    GAME = "game"  # the rules themselves, sampled, for games whose trees do not fit


class StopReason(enum.StrEnum):
    """Why a run ended."""

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
    """When to stop: at the first of these that is met. All are totals, a resumed run's earlier part included."""

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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """What a solve found, and how it got there."""

    strategy: TabularStrategy  # the average, the one that converges
    evaluation: Evaluation  # exact
    progress: tuple[Progress, ...]  # one record per evaluation
    stopped_by: StopReason

    @property
    def exploitability(self) -> float:
        """Returns the gain of a best response, averaged over players."""
        return self.evaluation.exploitability

    @property
    def game_value(self) -> float:
        """Returns player 0's utility under the strategy."""
        return self.evaluation.values[0]


def solve(
    game: Game[Any],
    rule: Rule | None = None,
    *,
    iterations: int | None = None,
    target: float | None = None,
    seconds: float | None = None,
    form: Form = Form.HISTORY,
    make_solver: Callable[[HistoryTree], TreeSolver] | None = None,
    max_histories: int = DEFAULT_MAX_HISTORIES,
    num_threads: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Solution:
    """Returns an approximate equilibrium of a game, with its exact exploitability.

    Args:
        game: any game with perfect recall whose histories fit in memory.
        rule: the variant of full-width CFR, `DCFR()` if None.
        iterations: stop after so many.
        target: stop at this exploitability.
        seconds: stop after this time. With no criterion at all: 1e-5 of the payoff range or a minute.
        form: what CFR sweeps; `Form.VECTOR` is faster where public states hold many private ones, for two players.
        make_solver: builds another solver on the history tree, in place of full-width CFR with alternating updates.
        max_histories: a larger game is refused with `GameTooLargeError`.
        num_threads: size of the team of full-width CFR.
        on_progress: called with each record.

    >>> from equipoise.games.kuhn import Kuhn
    >>> solution = solve(Kuhn(), target=1e-3)
    >>> abs(solution.game_value + 1 / 18) < 2e-3
    True
    """
    _check_arguments(game, rule, form)
    stopping = Stopping.from_options(game.spec.utility_range, iterations=iterations, target=target, seconds=seconds)
    tree: HistoryTree | PublicTree
    solver: TreeSolver
    if Form(form) is Form.GAME:
        raise ConfigError("a solution is exact and needs a tree; without one, drive a TreelessMCCFRSolver with `run`")
    if Form(form) is Form.VECTOR:
        if make_solver is not None:
            raise ConfigError("make_solver builds on the history tree, got form vector")
        tree = load_or_build_public_tree(game, max_histories=max_histories)
        solver = CFRSolver(tree, rule or DCFR(), num_threads=num_threads)
    else:
        tree = load_or_build_history_tree(game, max_histories=max_histories)
        solver = make_solver(tree) if make_solver else CFRSolver(tree, rule or DCFR(), num_threads=num_threads)
    records = []
    for record in run(solver, iterations=stopping.iterations, target=stopping.target, seconds=stopping.seconds):
        records.append(record)
        if on_progress is not None:
            on_progress(record)
    return Solution(
        strategy=TabularStrategy.from_tree(tree, solver.average_strategy()),
        evaluation=solver.evaluate(),
        progress=tuple(records),
        stopped_by=stopping.reason(records[-1]) or StopReason.INTERRUPTED,
    )


def _check_arguments(game: Any, rule: Any, form: Any) -> None:
    """Raises `ConfigError` for what notebooks are likely to pass instead: names."""
    if not hasattr(game, "spec"):
        raise ConfigError(f"game must be a Game such as Kuhn() or make_game('kuhn'), got {game!r}")
    if rule is not None and not isinstance(rule, Rule):
        raise ConfigError(f"rule must be a rule such as DCFR(), got {rule!r}")
    if form not in set(Form):
        raise ConfigError(f"form must be {', '.join(Form)}, got {form!r}")
