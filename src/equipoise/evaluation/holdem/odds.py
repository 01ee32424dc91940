# SPDX-License-Identifier: Apache-2.0
"""How hands and ranges of hold'em do against each other where no more bets come, over every board that may come."""

from __future__ import annotations

import functools
import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.cards import NUM_CARDS, Deck
from equipoise.games.holdem.dealing import FULL_BOARD, list_completions
from equipoise.games.holdem.hands import Hands, hands_of
from equipoise.games.holdem.pair_showdowns import load_or_build_pair_wins
from equipoise.games.holdem.strength import evaluate_boards, hand_kernel

__all__ = ["LEAST_WEIGHT", "Odds", "find_range_odds", "find_single_odds"]

FloatArray = npt.NDArray[np.float64]
LEAST_WEIGHT: Final = 1e-300  # below it a range is empty


class Odds:
    """How a hand does against a range without more bets: the weight of what it beats, of what it ties and of all."""

    __slots__ = ("met", "tied", "won")

    def __init__(self, won: Any, tied: Any, met: Any) -> None:
        self.won, self.tied, self.met = won, tied, met

    @property
    def share(self) -> Any:
        """Returns the share of the pot; a half where nothing is met."""
        met = np.maximum(self.met, LEAST_WEIGHT)
        return np.where(self.met > LEAST_WEIGHT, (self.won + 0.5 * self.tied) / met, 0.5)


def find_range_odds(weights: FloatArray, board: tuple[int, ...], deck: Deck, *, num_board_cards: int) -> Odds:
    """Returns how every hand of the deck does against a range `[H]`, over all boards that begin with the one given.

    Numbers are `[H]` weights of the range's hands that share no card, times boards; 0 for hands that the board blocks.
    """
    hands = hands_of(deck)
    if not board:
        wins = _pair_wins(deck, num_board_cards)
        won, lost = wins @ weights, weights @ wins
        met = hands.compatible(weights) * math.comb(deck.num_cards - 4, num_board_cards)
        return Odds(won, met - won - lost, met)
    boards = list_completions(board, deck, num_cards=num_board_cards)
    if num_board_cards == FULL_BOARD:
        everybody = (~hands.blocked(board)).astype(np.float64)
        ones = np.ones(len(boards))
        sums = hand_kernel(deck).accumulate_showdowns(boards, ones, hands.cards, everybody, weights)[0]
        return Odds(sums[0], sums[1], sums[2])
    sums = np.zeros((3, hands.num_hands))
    for strength in evaluate_boards(boards, deck).astype(np.int64):
        sums += _show_down(strength, weights, hands)
    return Odds(sums[0], sums[1], sums[2])


def _show_down(strength: npt.NDArray[np.int64], weights: FloatArray, hands: Hands) -> FloatArray:
    """Returns `[3, H]` the weight that each hand beats, ties and meets, given strengths `[H]`, 0 of blocked hands."""
    held = np.where(strength > 0, weights, 0.0)
    order = np.argsort(strength, kind="stable")
    ranked, other = strength[order], held[order]
    low, high = hands.cards[order, 0].astype(np.int64), hands.cards[order, 1].astype(np.int64)
    sums = np.concatenate([[0.0], np.cumsum(other)])
    by_card = np.zeros((NUM_CARDS, order.size + 1))
    places = np.arange(1, order.size + 1)
    by_card[low, places] = other
    by_card[high, places] = other
    by_card = np.cumsum(by_card, axis=1)

    def beaten(count: npt.NDArray[np.int64]) -> FloatArray:
        found: FloatArray = sums[count] - by_card[low, count] - by_card[high, count]
        return found

    won = beaten(np.searchsorted(ranked, ranked, side="left"))
    # the hand itself ties itself, and was taken out twice
    tied = beaten(np.searchsorted(ranked, ranked, side="right")) + other - won
    out = np.zeros((3, order.size))
    out[:, order] = np.stack([won, tied, beaten(np.full(order.size, order.size)) + other])
    out[:, strength == 0] = 0.0
    return out


def find_single_odds(
    hand: int, weights: FloatArray, board: tuple[int, ...], deck: Deck, *, num_board_cards: int
) -> Odds:
    """Returns how one hand does against a range `[H]`, as `find_range_odds` has it for all."""
    hands = hands_of(deck)
    is_apart = (hands.masks & hands.masks[hand]) == 0
    if not board:
        wins = _pair_wins(deck, num_board_cards)
        ahead, behind = float(wins[hand] @ weights), float(wins[:, hand] @ weights)
        every = float(is_apart @ weights) * math.comb(deck.num_cards - 4, num_board_cards)
        return Odds(ahead, every - ahead - behind, every)
    won, tied, met = _count_boards(hand, board, deck, num_board_cards) @ np.where(is_apart, weights, 0.0)
    return Odds(float(won), float(tied), float(met))


@functools.lru_cache(16)
def _count_boards(hand: int, board: tuple[int, ...], deck: Deck, num_board_cards: int) -> FloatArray:
    """Returns `[3, H]` on how many boards a hand beats, ties and meets each other one."""
    boards = list_completions(board, deck, num_cards=num_board_cards, without=hands_of(deck).cards[hand].tolist())
    strength = evaluate_boards(boards, deck)
    own, is_live = strength[:, hand][:, None], strength > 0
    counts = [((strength < own) & is_live).sum(axis=0), (strength == own).sum(axis=0), is_live.sum(axis=0)]
    return np.stack(counts).astype(np.float64)


@functools.lru_cache(2)
def _pair_wins(deck: Deck, num_board_cards: int) -> FloatArray:
    return load_or_build_pair_wins(deck, num_board_cards).astype(np.float64)
