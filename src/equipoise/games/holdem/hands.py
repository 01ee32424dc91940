# SPDX-License-Identifier: Apache-2.0
"""Pairs of hole cards by number, what blocks them, and the classes (AKs, AKo, QQ) that players speak of.

Hand `i` of a deck is the pair of its cards at positions `low < high` with `i = high * (high - 1) / 2 + low`: pairs in
the order of their higher card. Classes form a square with the deck's highest rank at the top left (13 x 13 for the full
deck): pairs on the diagonal, suited hands to the right of it, offsuit hands below.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from equipoise.core.checks import check_text
from equipoise.core.errors import ConfigError, ParseError
from equipoise.core.formatting import brief_repr
from equipoise.games.holdem.cards import FULL_DECK, NUM_CARDS, RANKS, Deck, check_deck, format_card, parse_card

__all__ = ["Hands", "card_mask", "format_hand", "hands_of", "parse_hand"]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Hands:
    """The pairs of hole cards of a deck as arrays over hands, read-only; made by `hands_of`.

    >>> hands = hands_of()
    >>> hands.num_hands, hands.class_names[:3], hands.index(51, 50)
    (1326, ('AA', 'AKs', 'AQs'), 1325)
    """

    deck: Deck
    cards: npt.NDArray[np.uint8]  # [H, 2] lower card first
    masks: npt.NDArray[np.uint64]  # [H] both cards as bits of a word
    classes: npt.NDArray[np.int32]  # [H] row * num_ranks + column in the square of classes
    class_names: tuple[str, ...]  # by class: AA, AKs, ..., AKo, KK, ...
    class_sizes: npt.NDArray[np.int64]  # by class: number of hands; 0 where one suit leaves none

    __repr__ = brief_repr

    @property
    def num_hands(self) -> int:
        """Number of pairs."""
        return self.deck.num_hands

    @property
    def grid_size(self) -> int:
        """Rows and columns of the square of classes."""
        return len(self.deck.ranks)

    def index(self, first: int, second: int) -> int:
        """Returns the number of a pair of cards, in any order."""
        for card in (first, second):
            if card not in self.deck:
                raise ConfigError(f"{format_card(card)} is not in the deck {self.deck.ranks}/{self.deck.suits}")
        if first == second:
            raise ConfigError(f"hole cards are different, got {format_card(first)} twice")
        low, high = sorted((self.deck.cards.index(first), self.deck.cards.index(second)))
        return high * (high - 1) // 2 + low

    def blocked(self, cards: Iterable[int]) -> npt.NDArray[np.bool_]:
        """Returns `[H]` whether a hand holds one of the cards."""
        is_blocked: npt.NDArray[np.bool_] = (self.masks & card_mask(cards)) != 0
        return is_blocked

    def compatible(self, weights: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Returns `[H]` for each hand the summed weights `[H]` of the hands that share no card with it."""
        given = np.asarray(weights, np.float64)
        by_card = np.zeros(NUM_CARDS)
        np.add.at(by_card, self.cards[:, 0], given)
        np.add.at(by_card, self.cards[:, 1], given)
        # the hand itself has both cards and was taken off twice
        sums: npt.NDArray[np.float64] = given.sum() - by_card[self.cards[:, 0]] - by_card[self.cards[:, 1]] + given
        return sums

    def grid(self, values: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> npt.NDArray[np.float64]:
        """Returns `[ranks, ranks]` the average of values `[H]` over the hands of each class; NaN where none has weight.

        Args:
            values: `[H]` a number per hand.
            weights: `[H]` weights of the hands, 1 unless given.
        """
        weights = np.ones(self.num_hands) if weights is None else np.asarray(weights, np.float64)
        weighted = np.where(weights > 0, np.asarray(values, np.float64), 0.0) * weights
        sums = np.bincount(self.classes, weighted, minlength=len(self.class_names))
        totals = np.bincount(self.classes, weights, minlength=len(self.class_names))
        averages: npt.NDArray[np.float64] = np.full(totals.shape, np.nan)
        np.divide(sums, totals, out=averages, where=totals > 0)
        return averages.reshape(self.grid_size, self.grid_size)


@functools.cache
def hands_of(deck: Deck = FULL_DECK) -> Hands:
    """Returns the pairs of hole cards of a deck.

    >>> hands = hands_of()
    >>> hands.num_hands, hands.class_names[:3], hands.class_names[13]
    (1326, ('AA', 'AKs', 'AQs'), 'AKo')
    """
    positions = [(low, high) for high in range(deck.num_cards) for low in range(high)]
    cards = np.array(deck.cards, np.uint8)[np.array(positions)]
    masks = np.bitwise_or.reduce(np.uint64(1) << cards.astype(np.uint64), axis=1)
    # position from the top of each card's rank among the deck's ranks
    size = len(deck.ranks)
    from_top = {RANKS.index(rank): size - 1 - i for i, rank in enumerate(deck.ranks)}
    low_place, high_place = (np.array([from_top[int(card) // 4] for card in column], np.int32) for column in cards.T)
    is_suited = cards[:, 0] % 4 == cards[:, 1] % 4
    top, bottom = np.minimum(low_place, high_place), np.maximum(low_place, high_place)
    classes = np.where(is_suited, top * size + bottom, bottom * size + top).astype(np.int32)
    class_sizes = np.bincount(classes, minlength=size * size)
    for array in (cards, masks, classes, class_sizes):
        array.setflags(write=False)
    return Hands(deck, cards, masks, classes, _class_names(deck), class_sizes)


def card_mask(cards: Iterable[int]) -> np.uint64:
    """Returns cards as bits of a word."""
    return np.uint64(sum(1 << int(card) for card in set(cards)))


def parse_hand(text: str, deck: Deck = FULL_DECK) -> int:
    """Returns the number of the pair of cards that a text such as `AhKs` names.

    >>> parse_hand("KsAh") == parse_hand("AhKs")
    True
    """
    check_text("hand", text)
    check_deck(deck)
    letters = "".join(text.split())
    if len(letters) != 4:
        raise ParseError(f"hole cards are two cards, as in AhKs, got {text!r}")
    try:
        return hands_of(deck).index(parse_card(letters[:2], deck), parse_card(letters[2:], deck))
    except ConfigError as error:
        raise ParseError(f"{error} (hand {text!r})") from None


def format_hand(hand: int, deck: Deck = FULL_DECK) -> str:
    """Returns the names of a hand's cards, the higher one first.

    >>> format_hand(parse_hand("KsAh"))
    'AhKs'
    """
    hands = hands_of(deck)
    if not 0 <= hand < hands.num_hands:
        raise ConfigError(f"a hand of this deck is 0 to {hands.num_hands - 1}, got {hand}")
    low, high = hands.cards[hand]
    return format_card(int(high)) + format_card(int(low))


def _class_names(deck: Deck) -> tuple[str, ...]:
    names = deck.ranks[::-1]
    size = len(names)
    return tuple(
        names[row] * 2 if row == column else names[min(row, column)] + names[max(row, column)] + "so"[row > column]
        for row in range(size)
        for column in range(size)
    )
