# SPDX-License-Identifier: Apache-2.0
"""Pairs of hands before the flop: the table that comes with the package."""

import numpy as np

from equipoise.games.holdem import pair_showdowns
from equipoise.games.holdem.cards import FULL_DECK
from equipoise.games.holdem.hands import parse_hand
from equipoise.games.holdem.pair_showdowns import load_or_build_pair_wins


def test_the_table_that_comes_with_the_package_is_what_boards_say():
    wins = load_or_build_pair_wins(FULL_DECK)
    aces, kings = parse_hand("AhAs"), parse_hand("KdKc")
    assert (wins[aces, kings], wins[kings, aces]) == (1_388_072, 317_694)
    assert wins[aces, parse_hand("AhKd")] == 0  # they share a card
    assert np.array_equal(wins, pair_showdowns._build(FULL_DECK, 5, None))
