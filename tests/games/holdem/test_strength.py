# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.core.errors import ConfigError, ParseError
from equipoise.games.holdem.cards import DECKS, Deck, parse_board
from equipoise.games.holdem.hands import parse_hand
from equipoise.games.holdem.strength import evaluate_boards, evaluate_hand, strength_category

SHORT = DECKS["short"]
FLUSH, FULL_HOUSE = "6h8hTh9hAh", "AcAdAhKcKd"
WHEEL, LOW_STRAIGHT, TRIPS = "Ac6d7h8s9c", "6c7d8h9sTc", "AcAdAhKcQd"


def name(text, deck):
    return strength_category(evaluate_hand(text, deck), deck).name


def test_short_deck_changes_the_order():
    assert evaluate_hand(FLUSH) < evaluate_hand(FULL_HOUSE)
    assert evaluate_hand(FLUSH, SHORT) > evaluate_hand(FULL_HOUSE, SHORT)
    assert evaluate_hand(TRIPS, SHORT) < evaluate_hand(WHEEL, SHORT)
    with_trips = Deck(SHORT.ranks, flush_beats_full_house=True, trips_beat_straight=True)
    assert evaluate_hand(TRIPS, with_trips) > evaluate_hand("TcJdQhKsAc", with_trips)


def test_the_ace_stands_below_the_lowest_rank():
    assert name(WHEEL, DECKS["full"]) == "HIGH_CARD"
    assert name(WHEEL, SHORT) == "STRAIGHT"
    assert evaluate_hand(WHEEL, SHORT) < evaluate_hand(LOW_STRAIGHT, SHORT)
    assert name("6c7d8h9s2c", Deck("26789")) == "STRAIGHT"  # neighbours in this deck
    assert name("2c3d4h5sKc", Deck("2345K")) == "STRAIGHT"
    assert name("2c3d4h5sKc", Deck("2345QK")) == "HIGH_CARD"  # no ace, no low straight


def test_boards_come_with_every_hand():
    strengths = evaluate_boards([parse_board("Th Jh Qh 2c 3d")])[0]
    assert strengths[parse_hand("KhAh")] == strengths.max() == evaluate_hand("ThJhQhKhAh")
    assert strengths[parse_hand("KhTh")] == 0
    order = np.argsort(strengths, kind="stable")
    assert order[-1] == parse_hand("KhAh")
    assert (strengths[order[: 1326 - 1081]] == 0).all()


@pytest.mark.parametrize(
    ("cards", "message"),
    [("AhKh", "5, 6 or 7 cards, got 2"), ("AhAhKhQhJh", "different"), ([0, 1, 2, 3], "got 4")],
)
def test_impossible_hands(cards, message):
    with pytest.raises(ConfigError, match=message):
        evaluate_hand(cards)


def test_foreign_cards_and_strengths():
    with pytest.raises(ParseError, match="not 2c"):
        evaluate_hand("2c" + FLUSH, SHORT)
    with pytest.raises(ConfigError, match="not 2c"):
        evaluate_hand([0, 48, 49, 50, 51], SHORT)
    with pytest.raises(ConfigError, match="1 to 7462, got 0"):
        strength_category(0)
