# SPDX-License-Identifier: Apache-2.0
"""Hands are called what players call them."""

import pytest

from equipoise.games.holdem.cards import DECKS, FULL_DECK, parse_board
from equipoise.games.holdem.hand_classes import CLASSES, DRAWS, classify_hands
from equipoise.games.holdem.hands import parse_hand


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
