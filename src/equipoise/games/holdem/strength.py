# SPDX-License-Identifier: Apache-2.0
"""Which hand wins: strengths of cards of a deck as integers, for scripts and for arrays.

Strengths are 1 to 7,462, higher is better, equal if the pot is split; 0 marks hole cards that the board blocks.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import show_given
from equipoise.games.holdem.cards import FULL_DECK, Deck, check_deck, format_board, format_card, parse_card
from equipoise.games.holdem.hands import hands_of
from equipoise.kernels.calls import check_integer
from equipoise.kernels.handeval import NUM_STRENGTHS, HandCategory, HandKernel

__all__ = ["HandCategory", "evaluate_boards", "evaluate_hand", "hand_kernel", "strength_category"]


@functools.cache
def hand_kernel(deck: Deck = FULL_DECK) -> HandKernel:
    """Returns the evaluator of a deck's hands; decks with the same ranks and the same order of hands could share it."""
    return HandKernel(
        rank_mask=deck.rank_mask,
        flush_beats_full_house=deck.flush_beats_full_house,
        trips_beat_straight=deck.trips_beat_straight,
    )


def evaluate_hand(cards: str | Iterable[int], deck: Deck = FULL_DECK) -> int:
    """Returns the strength of the best five of 5, 6 or 7 cards.

    >>> evaluate_hand("AhKh QhJhTh 2c2d") > evaluate_hand("AcAdAhAs KsKd2c")
    True
    """
    check_deck(deck)
    if isinstance(cards, str):
        letters = "".join(cards.replace(",", " ").split())
        numbers = [parse_card(letters[i : i + 2], deck) for i in range(0, len(letters), 2)]
    else:
        try:
            numbers = [operator.index(card) for card in cards]
        except TypeError:
            raise ConfigError(f"a hand is cards, or a text such as 'AhKh Qh', got {show_given(cards)}") from None
    if not 5 <= len(numbers) <= 7:
        raise ConfigError(f"a hand to evaluate has 5, 6 or 7 cards, got {len(numbers)}")
    if len(set(numbers)) != len(numbers):
        raise ConfigError(f"a hand's cards are different, got {format_board(numbers)}")
    foreign = [card for card in numbers if card not in deck]
    if foreign:
        raise ConfigError(f"the deck has ranks {deck.ranks} and suits {deck.suits}, not {format_card(foreign[0])}")
    return hand_kernel(deck).evaluate(numbers)


def evaluate_boards(boards: npt.ArrayLike, deck: Deck = FULL_DECK) -> npt.NDArray[np.uint16]:
    """Returns the strengths `[B, H]` of all the deck's hands on boards `[B, 3..5]`; 0 where the board blocks them.

    `np.argsort(strengths, axis=1, kind="stable")` sorts hands weakest first, blocked ones before all others.

    >>> from equipoise.games.holdem import parse_board, parse_hand
    >>> strengths = evaluate_boards([parse_board("Ks7h2d5cJs")])[0]
    >>> bool(strengths[parse_hand("KhKd")] > strengths[parse_hand("AhAd")])
    True
    """
    check_deck(deck)
    try:
        rows = np.ascontiguousarray(boards, np.uint8)
    except (TypeError, ValueError, OverflowError):
        given = show_given(boards)
        raise ConfigError(f"boards must be rows of cards as parse_board('Ks7h2d') gives them, got {given}") from None
    if rows.ndim != 2:
        raise ConfigError(f"boards must be rows of cards, got {show_given(boards)}")
    return hand_kernel(deck).evaluate_boards(rows, hands_of(deck).cards)


def strength_category(strength: int, deck: Deck = FULL_DECK) -> HandCategory:
    """Returns what a hand of this strength is called.

    >>> strength_category(evaluate_hand("AhKhQhJhTh")).name
    'STRAIGHT_FLUSH'
    """
    check_integer("a strength", strength, 0)
    if not 1 <= strength < NUM_STRENGTHS:
        raise ConfigError(f"a strength is 1 to {NUM_STRENGTHS - 1}, got {strength}")
    check_deck(deck)
    return HandCategory(int(hand_kernel(deck).categories[strength]))
