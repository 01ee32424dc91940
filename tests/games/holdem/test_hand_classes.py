# SPDX-License-Identifier: Apache-2.0
"""Hands are called what players call them."""

import itertools

import numpy as np
import pytest

from equipoise.games.holdem.cards import DECKS, FULL_DECK, Deck, parse_board
from equipoise.games.holdem.hand_classes import CLASSES, DRAWS, classify_hands
from equipoise.games.holdem.hands import hands_of, parse_hand
from equipoise.games.holdem.strength import HandCategory, evaluate_hand, strength_category

NAMED = {
    "straight flush": HandCategory.STRAIGHT_FLUSH,
    "four of a kind": HandCategory.QUADS,
    "full house": HandCategory.FULL_HOUSE,
    "flush": HandCategory.FLUSH,
    "straight": HandCategory.STRAIGHT,
    "set": HandCategory.TRIPS,
    "trips": HandCategory.TRIPS,
}
STRAIGHTS = (HandCategory.STRAIGHT, HandCategory.STRAIGHT_FLUSH)
FLUSHES = (HandCategory.FLUSH, HandCategory.STRAIGHT_FLUSH)
TRIPS_FIRST = Deck("6789TJQKA", "cdhs", True, True)


@pytest.mark.parametrize(
    ("board", "hand", "expected", "draw"),
    [
        ("Ks7h2d5c", "7s7c", "set", "none"),
        ("Ks7h2d5c", "KcQd", "top pair", "none"),
        ("Ks7h2d5c", "AcAd", "overpair", "none"),
        ("Ks7h2d5c", "QcQd", "underpair", "none"),
        ("Ks7h2d5c", "8c7d", "second pair", "none"),
        ("Ks7h2d5c", "6c6d", "low pair", "none"),
        ("Ks7h2d5c", "5h4h", "low pair", "none"),
        ("Ks7h2d5c", "Kd7c", "two pair", "none"),
        ("Ks7h2d5c", "AcQd", "ace high", "none"),
        ("Ks7h2d5c", "4c3d", "no pair", "open-ended"),
        ("Ks7h2d5c", "8c4d", "no pair", "gutshot"),
        ("Ks7h2d5c", "Tc9d", "no pair", "none"),
        ("Ks7h2d5c", "8c6d", "no pair", "open-ended"),
        ("Ks7h2d5c", "9c6d", "no pair", "gutshot"),
        ("Ks7s2d", "AsQs", "ace high", "flush draw"),
        ("Ks7s2s", "AsQs", "flush", "none"),
        ("Ks7s2s", "AsQd", "ace high", "flush draw"),
        ("KsKd7s", "Kc2h", "trips", "none"),
        ("KsKd7s", "7c7h", "full house", "none"),
        ("KsKd7s", "KcKh", "four of a kind", "none"),
        ("KsKd7s", "AcAd", "overpair", "none"),
        ("As2s3s", "4s5s", "straight flush", "none"),
        ("As2d3h", "4s5s", "straight", "none"),
        ("QsJdTh9c2c", "Ks3d", "straight", "none"),
        ("QsJdTh4c2c", "Ks3d", "no pair", "none"),  # nothing is drawn to on the river
        ("KsKdKh2c", "AcQd", "trips", "none"),  # trips of the board are everybody's
        ("KsKdKh2c", "7c7d", "full house", "none"),
        ("KsKd7s7h", "AcQd", "ace high", "none"),  # two pair of the board are nobody's
        ("KsKd7s7h", "3c3d", "low pair", "none"),
        ("KsKd7s", "9c9d", "underpair", "none"),
        ("KsKd7s", "Ac7d", "second pair", "none"),
        ("7s2d2h", "3c3d", "underpair", "none"),
        ("9s8d7h6c", "AcQd", "ace high", "none"),  # what the board alone would make is no draw
        ("9s8d7h6c", "Tc2d", "straight", "none"),
        ("9s8d7h", "JcTd", "straight", "none"),
        ("9s8d7h", "Jc2d", "no pair", "gutshot"),
        ("9h8h7h2c", "JhTd", "straight", "flush draw"),
        ("9h8h7h", "9c9d", "set", "none"),
        ("9h8h7h9s", "9d8c", "full house", "none"),
        ("9h8h7h9s", "8d8s", "full house", "none"),
        ("9h9s8h7h", "9dTh", "trips", "flush draw"),
        ("AsKsQsJs", "2sTd", "flush", "none"),
        ("QsJs2d", "AsTs", "ace high", "flush draw"),  # a flush draw comes before a straight draw
    ],
)
def test_hands_have_names(board, hand, expected, draw):
    found = classify_hands(parse_board(board), FULL_DECK)
    number = parse_hand(hand)
    assert (CLASSES[found.classes[number]], DRAWS[found.draws[number]]) == (expected, draw)


def test_the_ace_is_low_in_the_straight_of_a_short_deck():
    deck = DECKS["short"]
    found = classify_hands(parse_board("As6d7h", deck), deck)
    assert CLASSES[found.classes[parse_hand("8s9s", deck)]] == "straight"
    assert CLASSES[found.classes[parse_hand("KsQs", deck)]] == "no pair"


def has_draw(cards, own, deck, wanted):
    """Returns the ranks of cards that complete a hand of the wanted kinds in which an own card takes part."""
    found = set()
    board = [card for card in cards if card not in own]
    for new in deck.cards:
        if new in cards:
            continue
        for five in itertools.combinations([*cards, new], 5):
            is_new = new in five and strength_category(evaluate_hand(five, deck), deck) in wanted
            ranks = {card // 4 for card in board}
            if wanted is STRAIGHTS:
                takes_part = any(card in five and card // 4 not in ranks for card in own)
            else:
                takes_part = any(card in five for card in own)
            if is_new and takes_part:
                found.add(new // 4)
    return found


@pytest.mark.parametrize("deck", [FULL_DECK, DECKS["short"], TRIPS_FIRST])
def test_made_hands_are_those_of_the_evaluator(deck):
    rng = np.random.default_rng(3)
    hands = hands_of(deck)
    for num_cards in (3, 4, 5, 5):
        board = tuple(rng.choice(deck.cards, num_cards, replace=False).tolist())
        found = classify_hands(board, deck)
        for hand in np.flatnonzero(~hands.blocked(board)).tolist():
            category = strength_category(evaluate_hand([*hands.cards[hand].tolist(), *board], deck), deck)
            name = CLASSES[found.classes[hand]]
            assert NAMED.get(name, min(category, HandCategory.TWO_PAIR)) == category, (board, hand, name)


@pytest.mark.parametrize("deck", [FULL_DECK, DECKS["short"]])
def test_draws_are_what_one_more_card_completes(deck):
    rng = np.random.default_rng(5)
    hands = hands_of(deck)
    for num_cards in (3, 4):
        for _ in range(40):
            cards = rng.choice(deck.cards, num_cards + 2, replace=False).tolist()
            hand, board = hands.index(*cards[:2]), tuple(cards[2:])
            category = strength_category(evaluate_hand(cards, deck), deck) if len(cards) >= 5 else None
            order = [HandCategory.FULL_HOUSE, HandCategory.FLUSH]
            order = order if deck.flush_beats_full_house else order[::-1]
            above = [*order, HandCategory.QUADS, HandCategory.STRAIGHT_FLUSH]
            flush_outs = has_draw(cards, cards[:2], deck, FLUSHES)
            outs = has_draw(cards, cards[:2], deck, STRAIGHTS)
            expected = "none" if not outs else "gutshot" if len(outs) == 1 else "open-ended"
            if category in (HandCategory.STRAIGHT, *above):
                expected = "none"
            if flush_outs and category not in above[above.index(HandCategory.FLUSH) :]:
                expected = "flush draw"
            assert DRAWS[classify_hands(board, deck).draws[hand]] == expected, (board, cards[:2])
