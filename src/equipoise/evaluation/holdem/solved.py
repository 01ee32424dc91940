# SPDX-License-Identifier: Apache-2.0
"""AIVAT for hands that are played from a solved spot: the guesses are what the spot's own strategy is worth.

A hand is guessed to win what the solution says that it is worth at the decision, and where cards are to come the mean
of that over all of them; where nobody bets any more the guess is exact.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.evaluation.holdem.aivat import HoldemBeliefs, HoldemForm
from equipoise.evaluation.holdem.images import LOST, Point
from equipoise.games.holdem.betting_tree import BettingNode, NodeKind
from equipoise.games.holdem.dealing import HAND_SIZE
from equipoise.games.holdem.rules import Holdem
from equipoise.solvers.holdem.view import SpotViews
from equipoise.trees.holdem.places import HoldemPlace

__all__ = ["SolvedForm"]

FloatArray = npt.NDArray[np.float64]
BoardArray = npt.NDArray[np.int32]

KEPT_VALUES: Final = 4_096  # of a hand in a decision on a board: some 20 kB each


class SolvedForm(HoldemForm):
    """Hold'em as AIVAT follows it, guessed by a solution that knows every hand."""

    def __init__(self, game: Holdem, views: SpotViews) -> None:
        """Keeps the solution.

        Args:
            game: what is played; heads-up.
            views: of a spot of the same cards and chips, with values on every street.
        """
        if views.kernel is None:
            raise ConfigError("the solution is too large to be read whole, which its values need")
        if not views.tree.spot.board:
            raise ConfigError("a spot that begins before the flop has too many flops to value them all")
        self._lay_out(game, views.tree.betting, views.tree.spot)
        self.views = views
        self.seats: tuple[int, ...] = (0, 1)
        self._values = functools.lru_cache(KEPT_VALUES)(self._find_values)

    def begin(self, known: frozenset[int]) -> HoldemBeliefs:
        """Returns the beliefs before the deal; guessed by the hands that are seen, those of players not known."""
        form = copy.copy(self)
        form.seats = tuple(seat for seat in (0, 1) if seat not in known) or (0, 1)
        return HoldemForm.begin(form, known)

    def assign(self, boards: Sequence[tuple[int, ...]]) -> BoardArray:
        """Returns `[B, cards]` the boards themselves: every hand has its own guess."""
        return np.array(boards, np.int32)

    def sum_pairs(self, point: Point, buckets: BoardArray, reach: Sequence[FloatArray]) -> FloatArray:
        """Returns `[B]` the guesses where nothing has ended, summed over pairs of hands on boards."""
        return np.array([self._sum(point, tuple(board), reach) for board in buckets.tolist()])

    def _sum(self, point: Point, board: tuple[int, ...], reach: Sequence[FloatArray]) -> float:
        total, blocked = 0.0, self.hands.blocked(board)
        held = [np.where(blocked, 0.0, own) for own in reach]
        for image, share in point.images:
            if image != LOST:  # guessed to be even else
                node = self.walk.nodes[image]
                total += share * self._scale(image, point.betting) * self._sum_at(node, board, held)
        return total

    def _sum_at(self, node: BettingNode, board: tuple[int, ...], held: Sequence[FloatArray]) -> float:
        """Returns what player 0 is guessed to win at a node, summed over pairs of hands."""
        if node.kind is NodeKind.DECISION:
            return sum(
                (1 - 2 * seat) * float((held[seat] * self.hands.compatible(held[1 - seat])) @ values)
                for seat, values in enumerate(self._values(node.index, board))
                if seat in self.seats
            ) / len(self.seats)
        if node.kind is not NodeKind.STREET_END:
            return 0.0  # another bet that ended the hand
        below = self.walk.nodes[node.children[0]]
        if below.kind is not NodeKind.DECISION:
            total, weight = self.score(node.state, board, held)
            return total / weight * float(held[0] @ self.hands.compatible(held[1])) if weight > 0 else 0.0
        left = [card for card in self.deck.cards if card not in board]
        place = Point(below.state, ((below.index, 1.0),))
        return sum(self._sum(place, (*board, card), held) for card in left) / (len(left) - 2 * HAND_SIZE)

    def _find_values(self, node: int, board: tuple[int, ...]) -> tuple[FloatArray, ...]:
        """Returns `[H]` by seat what hands win by the solution; 0 where it never comes."""
        found = self.views.find_values(HoldemPlace(node, board))
        committed = self.walk.nodes[node].state.committed
        return tuple(np.nan_to_num(own - paid) for own, paid in zip(found, committed, strict=True))
