# SPDX-License-Identifier: Apache-2.0
"""Leaves of hold'em that are worth what hands win if nobody bets again: tables of pairs of hands, one a board.

Sums are exact, and so the same in whatever order they are made: counts of boards are whole numbers, and reaches are
rounded to whole shares of the largest.
"""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.cards import Deck
from equipoise.games.holdem.dealing import FULL_BOARD
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.pair_showdowns import count_pairs
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.frontier import BeliefBatch, LeafValues
from equipoise.search.leaves import pack_values, read_reaches

__all__ = ["EquityLeaves", "equity_leaves"]

FloatArray = npt.NDArray[np.float64]

EXACT_BITS: Final = 53  # of whole numbers in double
KEPT_BOARDS: Final = 64  # of eleven megabytes at most


class _Pairs(NamedTuple):
    """How all pairs of hands fare on a board."""

    hands: npt.NDArray[np.int64]  # [n] that the board leaves
    ahead: FloatArray  # [n, n] boards that the row's hand wins less those that it loses; 0 where a card is shared
    num_boards: int  # that two hands leave


class EquityLeaves:
    """What hands are worth if nobody bets again."""

    def __init__(self, deck: Deck, *, num_board_cards: int = FULL_BOARD) -> None:
        """Says by which cards hands are shown down.

        Args:
            deck: the cards in play.
            num_board_cards: of the showdown, 3 to 5.
        """
        self.deck, self.num_board_cards = deck, num_board_cards

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns what both players' hands win on average, in chips of what both have put in."""
        reaches = read_reaches(batch)
        boards = [frozenset(state.board) for state in batch.states]
        found: list[tuple[FloatArray, FloatArray]] = [(np.zeros(0), np.zeros(0))] * len(boards)
        for board in dict.fromkeys(boards):
            rows = [row for row, other in enumerate(boards) if other == board]
            stakes = np.array([min(batch.states[row].betting.committed) for row in rows], np.float64)
            first, second = (np.stack([reaches[row][player] for row in rows]) for player in (0, 1))
            values = [stakes[:, None] * self._ahead(other, board) for other in (second, first)]
            for place, row in enumerate(rows):
                found[row] = values[0][place], values[1][place]
        return pack_values(batch, found)

    def evaluate_played(self, asked: BeliefBatch, met: BeliefBatch) -> LeafValues:
        """Returns the same: nothing is played."""
        return self.evaluate(met)

    def _ahead(self, other: FloatArray, board: frozenset[int]) -> FloatArray:
        """Returns `[B, H]` how much more often hands win than lose, weighted by the other's reaches `[B, H]`."""
        pairs = _keep_pairs(self.deck, tuple(sorted(board)), self.num_board_cards)
        there = other[:, pairs.hands]
        largest = there.max(axis=1, keepdims=True, initial=0.0)
        num_bits = EXACT_BITS - (pairs.num_boards * pairs.hands.size).bit_length()
        unit = np.where(largest > 0, largest, 1.0) / (1 << num_bits)
        out = np.zeros(other.shape)
        out[:, pairs.hands] = np.rint(there / unit) @ pairs.ahead.T * (unit / pairs.num_boards)
        return out


@functools.lru_cache(KEPT_BOARDS)
def _keep_pairs(deck: Deck, board: tuple[int, ...], num_board_cards: int) -> _Pairs:
    """Returns how pairs of hands fare over all boards of so many cards that begin with one."""
    live = np.flatnonzero(~hands_of(deck).blocked(board))
    counts = count_pairs(board, deck, hands=live, num_board_cards=num_board_cards)
    return _Pairs(live, counts.ahead.astype(np.float64), counts.num_boards)


def equity_leaves(spot: HoldemSpot) -> EquityLeaves:
    """Returns what hands of a spot are worth if nobody bets again."""
    return EquityLeaves(spot.deck, num_board_cards=spot.last_street.num_board_cards)
