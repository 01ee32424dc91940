# SPDX-License-Identifier: Apache-2.0
"""Pairs of hands: the table that comes with the package, and boards that are listed."""

import itertools

import numpy as np
import pytest

from equipoise.games.holdem import pair_showdowns
from equipoise.games.holdem.cards import DECKS, FULL_DECK, parse_board
from equipoise.games.holdem.hands import hands_of, parse_hand
from equipoise.games.holdem.pair_showdowns import count_pairs, find_pair_odds, load_or_build_pair_wins


def test_the_table_that_comes_with_the_package_is_what_boards_say():
    wins = load_or_build_pair_wins(FULL_DECK)
    aces, kings = parse_hand("AhAs"), parse_hand("KdKc")
    assert (wins[aces, kings], wins[kings, aces]) == (1_388_072, 317_694)
    assert wins[aces, parse_hand("AhKd")] == 0  # they share a card
    assert np.array_equal(wins, pair_showdowns._build(FULL_DECK, 5, None))


@pytest.mark.parametrize(
    ("text", "num_cards"), [("TcJcQs", 5), ("TcJcQsKd", 5), ("TcJcQsKdAh", 5), ("TcJcQs", 4), ("", 3)]
)
def test_all_pairs_are_counted_as_each_is(text, num_cards):
    deck = DECKS["royal"]
    board = parse_board(text, deck)
    order = np.random.default_rng(2).permutation(np.flatnonzero(~hands_of(deck).blocked(board)))[:25]
    counts = count_pairs(board, deck, hands=order, num_board_cards=num_cards)
    for (i, first), (j, second) in itertools.product(enumerate(order.tolist()), repeat=2):
        if hands_of(deck).masks[first] & hands_of(deck).masks[second]:
            assert counts.ahead[i, j] == 0
            continue
        odds = find_pair_odds(first, second, board, deck, num_board_cards=num_cards)
        assert counts.wins[i, j] / counts.num_boards == pytest.approx(odds.first)
        assert counts.ahead[i, j] / counts.num_boards == pytest.approx(odds.first - odds.second)
