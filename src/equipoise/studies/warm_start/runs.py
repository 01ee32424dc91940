# SPDX-License-Identifier: Apache-2.0
"""Runs that are reset to an average and go on: the same for trees and hold'em, one set of tables each."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import Deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.strength import evaluate_boards
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.substitution import WarmStart, WarmStartReport
from equipoise.solvers.warm_start import warm_start
from equipoise.trees.history import HistoryTree
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["BoardPercentiles", "HoldemStarts", "StartedRuns", "TreeStarts", "make_flop_spot"]


class StartedRuns(abc.ABC):
    """One solver, begun again and again."""

    solver: CFRSolver[HistoryTree] | CFRSolver[HoldemTree]

    def run(self, grid: Sequence[int]) -> Iterator[tuple[int, float]]:
        """Yields iteration and exploitability of a run from nothing."""
        self.solver.reset()
        yield from self.continue_run(grid)

    def continue_run(self, grid: Sequence[int]) -> Iterator[tuple[int, float]]:
        """Yields iterations from here, and exploitability."""
        first = self.solver.iteration
        for t in grid:
            self.solver.iterate(first + t - self.solver.iteration)
            yield t, self.solver.evaluate().exploitability

    def restart(self, average: npt.NDArray[Any], iteration: int, how: WarmStart | None) -> WarmStartReport | None:
        """Begins from an average: by a warm start, or at an iteration with its regrets forgotten."""
        if how is not None:
            return self.warm_start(average, how)
        self.solver.reset()
        self.keep(average, iteration)
        self.solver.begin_after(iteration)
        return None

    @abc.abstractmethod
    def copy_average(self) -> npt.NDArray[Any]:
        """Returns the average strategy as `restart` takes it."""

    @abc.abstractmethod
    def warm_start(self, average: npt.NDArray[Any], how: WarmStart) -> WarmStartReport:
        """Warm starts the run."""

    @abc.abstractmethod
    def keep(self, average: npt.NDArray[Any], iteration: int) -> None:
        """Writes the strategy sums of so many plain iterations."""


class TreeStarts(StartedRuns):
    """Runs on a history tree; averages are strategies."""

    def __init__(self, solver: CFRSolver[HistoryTree]) -> None:
        self.solver: CFRSolver[HistoryTree] = solver

    def copy_average(self) -> npt.NDArray[Any]:
        """Returns `[Q]` the average strategy."""
        return self.solver.average_strategy()

    def warm_start(self, average: npt.NDArray[Any], how: WarmStart) -> WarmStartReport:
        """Warm starts the run."""
        return warm_start(self.solver, average, how)

    def keep(self, average: npt.NDArray[Any], iteration: int) -> None:
        """Writes the strategy sums of so many plain iterations."""
        self.solver.tables.strategy_sum[:] = iteration * self.solver.kernel.realize(average)


class HoldemStarts(StartedRuns):
    """Runs on a hold'em tree; averages are sums of any iteration."""

    def __init__(self, solver: CFRSolver[HoldemTree]) -> None:
        self.solver: CFRSolver[HoldemTree] = solver

    def copy_average(self) -> npt.NDArray[Any]:
        """Returns `[C]` the strategy sums."""
        return self.solver.average_sums.copy()

    def warm_start(self, average: npt.NDArray[Any], how: WarmStart) -> WarmStartReport:
        """Warm starts the run."""
        return warm_start(self.solver, average, how)

    def keep(self, average: npt.NDArray[Any], iteration: int) -> None:
        """Writes the sums themselves: they are of as many iterations."""
        self.solver.tables.strategy_sum[:] = average


def make_flop_spot(deck: Deck) -> HoldemSpot:
    """Returns limit hold'em that is shown after the betting on the flop, with the thesis's bets (section 2.4.4)."""
    return HoldemSpot(
        board=(),
        ranges=(Range.random(deck), Range.random(deck)),
        stacks=(1000, 1000),
        big_blind=2,
        small_blind=1,
        bet_sizes=(2, 2),
        max_raises=(3, 4),
        menu=parse_menu("limit"),
        last_street=Street.FLOP,
        deck=deck,
    )


class BoardPercentiles:
    """Buckets of hands that are shown on the flop: a class, and there a part of the board's order of strength."""

    def __init__(self, deck: Deck, most_buckets: int) -> None:
        """Divides hands.

        Args:
            deck: of the game.
            most_buckets: on the flop; each class gets as many parts as fit, at least one.
        """
        self.deck = deck
        present, self.classes = np.unique(hands_of(deck).classes, return_inverse=True)
        self.num_classes = present.size
        self.num_parts = max(1, most_buckets // self.num_classes)

    def num_buckets(self, street: Street) -> int:
        """Returns how many buckets a street has."""
        return self.num_classes * (self.num_parts if street == Street.FLOP else 1)

    def assign(self, board: Sequence[int]) -> npt.NDArray[np.int64]:
        """Returns `[H]` the bucket of every hand."""
        if not len(board):
            return self.classes
        strength = evaluate_boards([tuple(board)], self.deck)[0]
        live = ~hands_of(self.deck).blocked(board)
        place = np.searchsorted(np.sort(strength[live]), strength, side="left")
        part = np.minimum(place * self.num_parts // int(live.sum()), self.num_parts - 1)
        buckets: npt.NDArray[np.int64] = self.classes * self.num_parts + part
        return buckets
