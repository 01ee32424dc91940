# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.games.holdem.cards import DECKS, Deck, format_deck
from equipoise.games.holdem.isomorphism import suit_permutations
from equipoise.kernels.cardsets import list_card_sets
from tests.reference import cardsets as reference


@pytest.mark.parametrize("deck", [DECKS["royal"], DECKS["small"], Deck("QKA", "ds")], ids=format_deck)
@pytest.mark.parametrize("size", [0, 1, 3, 4])
def test_sets_and_counts_equal_the_twins(deck, size):
    permutations = suit_permutations(deck)
    cards = np.array(deck.cards, np.uint8)
    for group in (permutations, permutations[:1], permutations[[0, 1]]):
        sets, counts = list_card_sets(cards, size, group)
        twin_sets, twin_counts = reference.list_card_sets(cards, size, group)
        assert np.array_equal(sets, twin_sets)
        assert counts.tolist() == twin_counts


def test_input_is_checked():
    cards, group = np.arange(52, dtype=np.uint8), suit_permutations()
    with pytest.raises(ValueError, match="size must be 0 to 7"):
        list_card_sets(cards, 8, group)
    with pytest.raises(ValueError, match="ascend"):
        list_card_sets(cards[::-1].copy(), 3, group)
    with pytest.raises(ValueError, match="identity first"):
        list_card_sets(cards, 3, group[1:].copy())
