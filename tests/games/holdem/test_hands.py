# SPDX-License-Identifier: Apache-2.0
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError, ParseError
from equipoise.games.holdem.cards import DECKS, Deck, format_deck
from equipoise.games.holdem.hands import card_mask, format_hand, hands_of, parse_hand

DECK_LIST = [*DECKS.values(), Deck("23456789TJQKA", "h")]


@pytest.mark.parametrize("deck", DECK_LIST, ids=format_deck)
def test_hands_are_the_pairs_of_the_deck(deck):
    hands = hands_of(deck)
    pairs = {tuple(pair) for pair in hands.cards.tolist()}
    assert pairs == set(itertools.combinations(deck.cards, 2))
    assert [hands.index(*pair) for pair in hands.cards.tolist()] == list(range(deck.num_hands))
    assert [hands.index(b, a) for a, b in hands.cards.tolist()] == list(range(deck.num_hands))
    assert hands.class_sizes.sum() == hands.num_hands == deck.num_hands


def test_the_full_deck_has_169_classes():
    hands = hands_of()
    sizes = dict(zip(hands.class_names, hands.class_sizes.tolist(), strict=True))
    assert len(set(hands.class_names)) == 169
    assert {name: size for name, size in sizes.items() if len(name) == 2} == dict.fromkeys(
        (rank * 2 for rank in "AKQJT98765432"), 6
    )
    assert {size for name, size in sizes.items() if name.endswith("s")} == {4}
    assert {size for name, size in sizes.items() if name.endswith("o")} == {12}


@pytest.mark.parametrize(
    ("hand", "name", "row", "column"),
    [
        ("AhAs", "AA", 0, 0),
        ("KhAh", "AKs", 0, 1),
        ("KhAs", "AKo", 1, 0),
        ("2c7d", "72o", 12, 7),
        ("3s2s", "32s", 11, 12),
    ],
)
def test_classes_stand_in_the_usual_square(hand, name, row, column):
    hands = hands_of()
    index = hands.classes[parse_hand(hand)]
    assert hands.class_names[index] == name
    assert divmod(int(index), 13) == (row, column)


def test_grids_average_over_classes():
    hands = hands_of()
    values, weights = np.zeros(1326), np.zeros(1326)
    values[[parse_hand("AhKh"), parse_hand("AsKs")]] = [4.0, 1.0]
    weights[[parse_hand("AhKh"), parse_hand("AsKs")]] = [1.0, 2.0]
    assert hands.grid(values)[0, 1] == 1.25
    grid = hands.grid(values, weights)
    assert grid[0, 1] == 2.0
    assert np.isnan(grid).sum() == 168


@given(st.sets(st.integers(0, 51), max_size=6))
def test_blocked_hands_hold_a_card(cards):
    hands = hands_of()
    expected = [bool(cards & set(pair)) for pair in hands.cards.tolist()]
    assert hands.blocked(cards).tolist() == expected
    assert int(card_mask(cards)).bit_count() == len(cards)


@given(st.integers(0, 1325))
def test_hands_round_trip(hand):
    text = format_hand(hand)
    assert parse_hand(text) == parse_hand(text[2:] + " " + text[:2]) == hand


@pytest.mark.parametrize(("text", "message"), [("AhAh", "twice"), ("Ah", "two cards"), ("AhKx", "got 'Kx'")])
def test_impossible_hands(text, message):
    with pytest.raises(ParseError, match=message):
        parse_hand(text)


def test_hands_keep_to_their_deck():
    with pytest.raises(ConfigError, match="2c is not in the deck"):
        hands_of(DECKS["short"]).index(0, 50)
    with pytest.raises(ConfigError, match="0 to 1325, got 1326"):
        format_hand(1326)
