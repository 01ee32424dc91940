# SPDX-License-Identifier: Apache-2.0
"""How chance deals hold'em: hands and flops card by card, in ascending order; boards that may come as one list.

The cards of one hand, and those of the flop, come in ascending order, each with the probability that it is the next
higher card of the set: every set is dealt in one way only, no history occurs twice under different orders, and no
chance event has more outcomes than the deck has cards.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import FULL_DECK, Deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.ranges import Range, check_ranges, format_range, parse_range

__all__ = ["FULL_BOARD", "HandDealer", "deal_uniformly", "format_ranges", "list_completions", "parse_ranges"]

HAND_SIZE = 2
FULL_BOARD = 5
NOTHING = -1  # below every card

Outcomes = tuple[tuple[int, float], ...]


def deal_uniformly(available: tuple[int, ...], num_missing: int) -> Outcomes:
    """Returns each card that may come next, with its probability, when a set is dealt in ascending order.

    Args:
        available: Cards above the last one of the set that nobody has; ascending.
        num_missing: Cards that the set still lacks.

    >>> deal_uniformly((3, 5, 8), 2)  # 3 and 5, 3 and 8, 5 and 8
    ((3, 0.6666666666666666), (5, 0.3333333333333333))
    """
    return tuple(zip(available, _chances(len(available), num_missing), strict=False))


@functools.cache
def _chances(num_available: int, num_missing: int) -> tuple[float, ...]:
    """Returns the probability of each available card but the last few, which cannot be the lowest of the missing."""
    num_sets = math.comb(num_available, num_missing)
    last = num_available - num_missing
    return tuple(math.comb(num_available - 1 - place, num_missing - 1) / num_sets for place in range(last + 1))


def list_completions(
    board: Sequence[int], deck: Deck = FULL_DECK, *, num_cards: int = FULL_BOARD, without: Sequence[int] = ()
) -> npt.NDArray[np.uint8]:
    """Returns every board `[B, num_cards]` that begins with the cards given.

    Args:
        board: what lies there.
        deck: the cards in play.
        num_cards: of the boards.
        without: cards that do not come.

    >>> list_completions((0, 4, 8)).shape
    (1176, 5)
    """
    dealt = np.asarray(board, np.uint8)
    left = np.setdiff1d(np.array(deck.cards, np.uint8), np.array([*board, *without], np.uint8))
    rest = left[_combinations(left.size, num_cards - dealt.size)]
    out = np.empty((len(rest), num_cards), np.uint8)
    out[:, : dealt.size], out[:, dealt.size :] = dealt, rest
    return out


@functools.cache
def _combinations(num_cards: int, size: int) -> npt.NDArray[np.intp]:
    return np.array(list(itertools.combinations(range(num_cards), size)), np.intp).reshape(
        math.comb(num_cards, size), size
    )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HandDealer:
    """Deals two hands with the weights of two ranges; pairs of hands that share a card do not occur."""

    ranges: tuple[Range, Range]  # hands that the board blocks have weight 0
    _first_weights: npt.NDArray[np.float64] = dataclasses.field(init=False)  # [H] of player 0, both ranges considered

    def __post_init__(self) -> None:
        first, second = self.ranges
        masks = hands_of(first.deck).masks
        possible = [
            second.weights[(masks & mask) == 0].sum() if weight else 0.0
            for mask, weight in zip(masks, first.weights, strict=True)
        ]
        object.__setattr__(self, "_first_weights", first.weights * np.array(possible))

    def outcomes(self, hole: Sequence[int]) -> Outcomes:
        """Returns the cards that may come next, with their probabilities, after the hole cards dealt so far."""
        hands = hands_of(self.ranges[0].deck)
        weights = self._first_weights
        if len(hole) >= HAND_SIZE:
            weights = np.where(hands.blocked(hole[:HAND_SIZE]), 0.0, self.ranges[1].weights)
        next_cards = hands.cards[:, 0]
        if len(hole) % HAND_SIZE:
            weights = np.where(hands.cards[:, 0] == hole[-1], weights, 0.0)
            next_cards = hands.cards[:, 1]
        sums = np.bincount(next_cards, weights)
        return tuple((int(card), float(sums[card] / sums.sum())) for card in np.flatnonzero(sums))


def parse_ranges(text: str, deck: Deck, board: Sequence[int]) -> tuple[Range, Range]:
    """Returns two ranges written `AA, KK | QQ+`, without the hands that a board blocks."""
    pieces = text.split("|")
    if len(pieces) != 2:
        raise ConfigError(f"ranges must be two ranges around a bar such as 'AA, KK | QQ+', got {text!r}")
    first, second = (parse_range(piece, deck) for piece in pieces)
    check_ranges((first, second), board, ("of player 0", "of player 1"))
    return first.without(board), second.without(board)


def format_ranges(ranges: tuple[Range, Range]) -> str:
    """Returns two ranges as `parse_ranges` reads them."""
    return " | ".join(map(format_range, ranges))
