# SPDX-License-Identifier: Apache-2.0
"""Fictitious play and its linear and optimistic forms, over a history tree in sequence form."""

from __future__ import annotations

import dataclasses
import enum

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
    "IterationUnit",
    "LinearFictitiousPlay",
]

FloatArray = npt.NDArray[np.float64]


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


class FictitiousPlaySolver:
    """A run of fictitious play: every player's average of best responses, kept as reach of sequences.

    Paper: Brown 2020, thesis section 5.3.8 [B20], "Fictitious Linear Optimistic Play"; Heinrich, Lanctot & Silver 2015,
        "Fictitious Self-Play in Extensive-Form Games", for averages in sequence form.
    Symbols: pi^t -> last_realization; pi-bar^t -> average_realization; t -> num_updates of the player, from 1.
    Departs from the paper: the uniform strategy pi^0 stays in the average as its first term, so that the step at t is
        2/(t+2) (printed: 2/(t+1), by which pi^0 is forgotten at t = 1 and information sets that nobody reaches get
        arbitrary best responses), and 1/(t+1) for plain fictitious play. Players are updated in turn, and the extra
        weight of an opponent's last strategy follows that opponent's own t: 2/(t+2) as printed for the first player
        of an iteration, 2/(t+3) for the second, whose opponent has already moved on.
    Checked by: tests/solvers/test_fictitious_play.py.

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
        self.rule = rule or FLOP()
        self.unit = unit
        self.num_threads = num_threads
        self.iteration = 0
        self.kernel = bind_history_kernel(tree)
        uniform = self.kernel.normalize(np.zeros(self.kernel.num_sequences))
        self.average_realization = self.kernel.realize(uniform)  # [Q]
        self.last_realization = self.average_realization.copy()  # [Q]
        self.num_updates = np.zeros(tree.num_players, np.int64)  # [P] best responses of each player so far

    __repr__ = run_repr

    @property
    def nodes_touched(self) -> int:
        """Returns the histories visited so far: all of them for each best response."""
        return int(self.num_updates.sum()) * self.tree.actor.size

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which updates every player or (`IterationUnit.HALF`) the next one."""
        check_integer("num_iterations", num_iterations, 0)
        num_players = self.tree.num_players
        for _ in range(num_iterations):
            if self.unit is IterationUnit.FULL:
                for player in range(num_players):
                    self.update(player)
            else:
                self.update(self.iteration % num_players)
            self.iteration += 1

    def update(self, player: int) -> None:
        """Replaces a player's last strategy by a best response, and mixes it into the average."""
        faced = self.average_realization
        if self.rule.is_optimistic:
            faced = self.anticipate()
        _, best = self.kernel.best_response(player, faced, num_threads=self.num_threads)
        own = slice(self.tree.sequence_start[player], self.tree.sequence_start[player + 1])
        self.num_updates[player] += 1
        self.last_realization[own] = self.kernel.realize(best)[own]
        step = self.rule.step(int(self.num_updates[player]))
        self.average_realization[own] += step * (self.last_realization[own] - self.average_realization[own])

    def anticipate(self) -> FloatArray:
        """Returns `[Q]` each player's average as if its last strategy were played once more."""
        # [B20] 5.3.8: t/(t+2) of the average and 2/(t+2) of the last strategy
        shares = [self.rule.step(int(updates) + 1) for updates in self.num_updates]
        step = np.repeat(shares, np.diff(self.tree.sequence_start))
        return self.average_realization + step * (self.last_realization - self.average_realization)

    def average_strategy(self) -> FloatArray:
        """Returns `[Q]` the average strategy, the one that converges."""
        return self.kernel.normalize(self.average_realization)

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy."""
        return evaluate(self.tree, self.average_strategy(), kernel=self.kernel, num_threads=self.num_threads)

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
