# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.core import cache
from equipoise.core.errors import ConfigError
from equipoise.games.holdem import class_showdowns
from equipoise.games.holdem.cards import DECKS, FULL_DECK, Deck
from equipoise.games.holdem.class_showdowns import load_or_build_class_showdowns
from equipoise.games.holdem.equity import compute_equity
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.strength import evaluate_boards, hand_kernel
from tests.reference import buckets as reference

SMALL = DECKS["small"]


@pytest.mark.parametrize("deck", [FULL_DECK, SMALL], ids=["full", "small"])
def test_pair_wins_equal_the_twin(deck):
    rng = np.random.default_rng(0)
    boards = np.array([rng.choice(deck.cards, 5, replace=False) for _ in range(7)], np.uint8)
    weights = rng.integers(1, 25, len(boards)).astype(np.uint8)
    wins = np.ones((deck.num_hands, deck.num_hands), np.int64)  # added to, not overwritten
    hand_kernel(deck).accumulate_pair_wins(boards, weights, hands_of(deck).cards, wins)
    np.testing.assert_array_equal(wins - 1, reference.pair_wins(evaluate_boards(boards, deck), weights))


def test_heavy_boards_do_not_overflow_and_heavier_ones_are_refused():
    cards = hands_of().cards
    board = np.array([[0, 5, 10, 15, 19]], np.uint8)
    wins = np.zeros((1326, 1326), np.int64)
    kernel = hand_kernel()
    kernel.accumulate_pair_wins(np.repeat(board, 300, axis=0), np.full(300, 24, np.uint8), cards, wins)
    assert wins.max() == 300 * 24
    with pytest.raises(ValueError, match="at most 24, got 25"):
        kernel.accumulate_pair_wins(board, np.array([25], np.uint8), cards, wins)


def test_classes_meet_as_equity_says():
    showdowns, names = load_or_build_class_showdowns(SMALL), hands_of(SMALL).class_names
    for first, second in (("AA", "KK"), ("AKs", "QQ"), ("T9s", "AKo"), ("AKs", "AKs"), ("JTo", "99")):
        i, j = names.index(first), names.index(second)
        equity = compute_equity(first, second, deck=SMALL)
        assert showdowns.pairs[i, j] * showdowns.num_boards == equity.total
        assert (showdowns.wins[i, j], showdowns.wins[j, i]) == equity.wins
        assert showdowns.ties[i, j] == equity.ties
        assert showdowns.equities[i, j] == pytest.approx(equity.equity[0], abs=1e-14)


def test_equities_of_both_sides_sum_to_one():
    showdowns = load_or_build_class_showdowns(SMALL)
    sums = (showdowns.equities + showdowns.equities.T)[showdowns.pairs > 0]
    np.testing.assert_allclose(sums, 1.0, atol=1e-14)


def test_classes_that_cannot_meet_have_no_equity():
    showdowns = load_or_build_class_showdowns(Deck("89TJQKA", "hs"))
    aces = hands_of(showdowns.deck).class_names.index("AA")
    assert showdowns.pairs[aces, aces] == 0
    assert np.isnan(showdowns.equities[aces, aces])


def test_the_table_comes_back_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(cache.time, "perf_counter", iter(range(0, 100, 10)).__next__)  # everything takes ten seconds
    seen = []
    first = load_or_build_class_showdowns(SMALL, directory=tmp_path, on_progress=seen.append)
    monkeypatch.setattr(class_showdowns, "_build", None)
    second = load_or_build_class_showdowns(SMALL, directory=tmp_path)
    np.testing.assert_array_equal(first.wins, second.wins)
    np.testing.assert_array_equal(first.pairs, second.pairs)
    assert seen[-1] == 1.0


def test_too_small_a_deck_is_refused():
    with pytest.raises(ConfigError, match="need 9 cards, the deck has 8"):
        load_or_build_class_showdowns(Deck("JQKA", "hs"))
