# SPDX-License-Identifier: Apache-2.0
"""AIVAT for whole hands of hold'em where nobody has a blueprint: a hand is guessed to be checked down.

The guess is the chips that both have put in, times how much oftener one side wins than loses over all cards to come.
The mean of such guesses over the next cards is the guess before them, before the flop as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from equipoise.evaluation.holdem.aivat import HoldemForm
from equipoise.evaluation.holdem.guesses import matched_chips
from equipoise.evaluation.holdem.images import Point
from equipoise.evaluation.holdem.odds import find_range_odds
from equipoise.games.holdem.betting import BettingState
from equipoise.games.holdem.dealing import HAND_SIZE
from equipoise.games.holdem.rules import Holdem

__all__ = ["CheckedDownForm"]

FloatArray = npt.NDArray[np.float64]
BoardArray = npt.NDArray[np.int32]


class CheckedDownForm(HoldemForm):
    """Hold'em as AIVAT follows it, guessed by equity alone."""

    def __init__(self, game: Holdem) -> None:
        """Keeps the game, which is heads-up."""
        self._lay_out(game, game.betting_rules)

    def assign(self, boards: Sequence[tuple[int, ...]]) -> BoardArray:
        """Returns `[B, cards]` the boards themselves."""
        return np.array(boards, np.int32)

    def sum_pairs(self, point: Point, buckets: BoardArray, reach: Sequence[FloatArray]) -> FloatArray:
        """Returns `[B]` the guesses where nothing has ended, summed over pairs of hands on boards."""
        return np.array([self._sum(point.betting, tuple(board), reach) for board in buckets.tolist()])

    def mean_over_flops(self, point: Point, reach: Sequence[FloatArray]) -> float:
        """Returns the sum over pairs of hands of the mean of the guesses on the flops that follow."""
        return self._sum(point.betting, (), reach)

    def mean_over_cards(self, point: Point, board: tuple[int, ...], reach: Sequence[FloatArray]) -> float:
        """Returns the sum over pairs of hands of the mean of the guesses over the cards that may follow a board."""
        return self._sum(point.betting, board, reach)

    def _sum(self, betting: BettingState, board: tuple[int, ...], reach: Sequence[FloatArray]) -> float:
        num_cards = self.walk.rules.last_street.num_board_cards
        held = [np.where(self.hands.blocked(board), 0.0, own) for own in reach]
        odds = find_range_odds(held[1], board, self.deck, num_board_cards=num_cards)
        ahead = float(held[0] @ (2.0 * odds.won + odds.tied - odds.met))
        left = self.deck.num_cards - len(board) - 2 * HAND_SIZE
        return matched_chips(betting.committed) * ahead / math.comb(left, num_cards - len(board))
