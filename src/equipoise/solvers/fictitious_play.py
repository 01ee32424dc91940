# SPDX-License-Identifier: Apache-2.0
"""Fictitious play and its linear and optimistic forms: what their iterations do, and runs over history trees."""

from __future__ import annotations

import abc
import dataclasses
import enum
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.formatting import run_repr
from equipoise.kernels.calls import check_integer, check_num_threads
from equipoise.solvers.best_response import Evaluation, bind_history_kernel, evaluate
from equipoise.solvers.saved_state import SavedArrays, overwrite_tables, read_count
from equipoise.trees.history import HistoryTree

__all__ = [
    "FLOP",
    "FictitiousPlay",
    "FictitiousPlayRule",
    "FictitiousPlaySolver",
    "FictitiousRun",
    "IterationUnit",
    "LinearFictitiousPlay",
]

FloatArray = npt.NDArray[np.float64]
PlanTable = npt.NDArray[Any]  # of floats


class IterationUnit(enum.Enum):
    """What one iteration is; either way each player answers the others' newest strategies."""

    FULL = "full"  # every player once, in turn
    HALF = "half"  # one player, in turn: two-player runs of 1,024 iterations update each player 512 times


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FictitiousPlayRule:
    """How best responses are weighted, and against what they are computed."""

    is_linear: bool = False  # a player's n-th best response weighs n + 1 and its uniform start 1, instead of all alike
    is_optimistic: bool = False  # the opponents' last strategies count once more before they are answered

    @property
    def name(self) -> str:
        """Returns the rule's common name."""
        if self.is_optimistic:
            return "flop" if self.is_linear else "optimistic-fp"
        return "linear-fp" if self.is_linear else "fp"

    def step(self, num_updates: int) -> float:
        """Returns the share of the newest strategy in the average after so many best responses.

        >>> FLOP().step(1), FictitiousPlay().step(1)
        (0.6666666666666666, 0.5)
        """
        return 2.0 / (num_updates + 2) if self.is_linear else 1.0 / (num_updates + 1)


def FictitiousPlay() -> FictitiousPlayRule:
    """Returns fictitious play: best responses to averages in which all strategies weigh the same."""
    return FictitiousPlayRule()


def LinearFictitiousPlay() -> FictitiousPlayRule:
    """Returns linear fictitious play: later strategies weigh more, in proportion to their number."""
    return FictitiousPlayRule(is_linear=True)


def FLOP() -> FictitiousPlayRule:
    """Returns fictitious linear optimistic play."""
    return FictitiousPlayRule(is_linear=True, is_optimistic=True)


class FictitiousRun(abc.ABC):
    """What iterations do: every player's average of best responses, kept as plans, own reach of every action.

    Paper: Brown 2020, thesis section 5.3.8 [B20], "Fictitious Linear Optimistic Play"; Heinrich, Lanctot & Silver 2015,
        "Fictitious Self-Play in Extensive-Form Games", for averages in sequence form.
    Symbols: pi^t -> last_realization; pi-bar^t -> average_realization; t -> num_updates of the player, from 1.
    Departs from the paper: the uniform strategy pi^0 stays in the average as its first term, so that the step at t is
        2/(t+2) (printed: 2/(t+1), by which pi^0 is forgotten at t = 1 and information sets that nobody reaches get
        arbitrary best responses), and 1/(t+1) for plain fictitious play. Players are updated in turn, and the extra
        weight of an opponent's last strategy follows that opponent's own t: 2/(t+2) as printed for the first player
        of an iteration, 2/(t+3) for the second, whose opponent has already moved on.
    Checked by: tests/solvers/test_fictitious_play.py, tests/solvers/test_holdem_fictitious_play.py.
    """

    def __init__(
        self,
        rule: FictitiousPlayRule | None,
        start: PlanTable,
        own: Sequence[Sequence[slice]],
        *,
        unit: IterationUnit,
        num_threads: int,
    ) -> None:
        """Begins with a plan in which everybody plays uniformly.

        Args:
            rule: how best responses count; FLOP if None.
            start: `[Q]` that plan; it is kept and changed.
            own: for each player where its part of plans is.
            unit: what an iteration is.
            num_threads: size of the team.
        """
        self.rule = rule or FLOP()
        self.unit = unit
        self.num_threads = num_threads
        self.iteration = 0
        self.average_realization = start  # [Q]
        self.last_realization = start.copy()  # [Q]
        self.num_updates = np.zeros(len(own), np.int64)  # [P] best responses of each player so far
        self._own = own

    __repr__ = run_repr

    @abc.abstractmethod
    def respond(self, player: int, faced: PlanTable) -> PlanTable:
        """Returns a plan `[Q]` whose part of a player is its best response to the others' parts of a plan."""

    @abc.abstractmethod
    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy."""

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which updates every player or (`IterationUnit.HALF`) the next one."""
        check_integer("num_iterations", num_iterations, 0)
        num_players = len(self._own)
        for _ in range(num_iterations):
            if self.unit is IterationUnit.FULL:
                for player in range(num_players):
                    self.update(player)
            else:
                self.update(self.iteration % num_players)
            self.iteration += 1

    def update(self, player: int) -> None:
        """Replaces a player's last strategy by a best response, and mixes it into the average."""
        answer = self.respond(player, self.anticipate() if self.rule.is_optimistic else self.average_realization)
        self.num_updates[player] += 1
        step = self.rule.step(int(self.num_updates[player]))
        for own in self._own[player]:
            self.last_realization[own] = answer[own]
            self.average_realization[own] += step * (self.last_realization[own] - self.average_realization[own])

    def anticipate(self) -> PlanTable:
        """Returns `[Q]` each player's average as if its last strategy were played once more."""
        # [B20] 5.3.8: t/(t+2) of the average and 2/(t+2) of the last strategy
        out = self.average_realization.copy()
        for player, parts in enumerate(self._own):
            share = self.rule.step(int(self.num_updates[player]) + 1)
            for own in parts:
                out[own] += share * (self.last_realization[own] - out[own])
        return out

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit."""
        return {**self._saved_tables(), "iteration": np.array(self.iteration)}

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state of the same tree, rule and unit."""
        iteration = read_count(state, "iteration")
        overwrite_tables(self._saved_tables(), state)
        self.iteration = iteration

    def _saved_tables(self) -> dict[str, npt.NDArray[np.generic]]:
        return {
            "average_realization": self.average_realization,
            "last_realization": self.last_realization,
            "num_updates": self.num_updates,
        }


class FictitiousPlaySolver(FictitiousRun):
    """A run of fictitious play over a history tree, in sequence form; see `FictitiousRun`.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> solver = FictitiousPlaySolver(build_history_tree(make_game("kuhn")))
    >>> solver.iterate(1000)
    >>> solver.evaluate().exploitability < 0.05
    True
    """

    def __init__(
        self,
        tree: HistoryTree,
        rule: FictitiousPlayRule | None = None,
        *,
        unit: IterationUnit = IterationUnit.FULL,
        num_threads: int = 1,
    ) -> None:
        check_num_threads(num_threads)
        self.tree = tree
        self.kernel = bind_history_kernel(tree)
        uniform = self.kernel.normalize(np.zeros(self.kernel.num_sequences))
        starts = tree.sequence_start.tolist()
        own = [[slice(starts[player], starts[player + 1])] for player in range(tree.num_players)]
        super().__init__(rule, self.kernel.realize(uniform), own, unit=unit, num_threads=num_threads)

    @property
    def nodes_touched(self) -> int:
        """Returns the histories visited so far: all of them for each best response."""
        return int(self.num_updates.sum()) * self.tree.actor.size

    def respond(self, player: int, faced: FloatArray) -> FloatArray:
        """Returns a best response as reach of sequences `[Q]`."""
        _, best = self.kernel.best_response(player, faced, num_threads=self.num_threads)
        return self.kernel.realize(best)

    def average_strategy(self) -> FloatArray:
        """Returns `[Q]` the average strategy, the one that converges."""
        return self.kernel.normalize(self.average_realization)

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy."""
        return evaluate(self.tree, self.average_strategy(), kernel=self.kernel, num_threads=self.num_threads)
