# SPDX-License-Identifier: Apache-2.0
import itertools

import numpy as np
import phevaluator
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.games.holdem.cards import DECKS, Deck, format_deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import canonical_sets, suit_permutations
from equipoise.games.holdem.strength import hand_kernel
from equipoise.kernels.handeval import HandCategory, HandKernel
from tests.reference import equity as equity_reference
from tests.reference import handeval as reference

KERNEL = hand_kernel()
FIVE_CARD_COUNTS = [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40]
SEVEN_CARD_COUNTS = [23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584]
OTHER_DECKS = [
    *DECKS.values(),
    Deck("6789TJQKA", flush_beats_full_house=True, trips_beat_straight=True),
    Deck("23456789"),
    Deck("2458JKA", "cds"),
    Deck("QKA"),
]


def deal(rng, num_hands, num_cards, deck=DECKS["full"]):
    """Returns random hands `[B, num_cards]`."""
    cards = np.array(deck.cards, np.uint8)
    shuffled = rng.permuted(np.tile(cards, (num_hands, 1)), axis=1)
    return np.ascontiguousarray(shuffled[:, :num_cards])


def test_all_five_card_hands_are_in_their_order():
    hands, category, order = reference.order_of_all_five_card_hands()
    strengths = KERNEL.evaluate_hands(hands)
    assert len(hands) == 2_598_960
    assert np.bincount(category).tolist() == FIVE_CARD_COUNTS
    assert np.array_equal(KERNEL.categories[strengths], category)
    # strengths are the places of the classes in the order of the twin: equal if and only if the hands are
    classes, place = np.unique(order, return_inverse=True)
    assert len(classes) == 7462
    assert np.array_equal(strengths, place + 1)


def test_all_seven_card_hands_have_the_known_class_counts():
    boards, counts = canonical_sets(DECKS["full"].cards, 5, suit_permutations())
    assert (len(boards), counts.sum()) == (134_459, 2_598_960)
    found = np.zeros(7463, np.int64)
    for chunk in np.array_split(np.arange(len(boards)), 20):
        strengths = KERNEL.evaluate_boards(boards[chunk], hands_of().cards)
        for count in np.unique(counts[chunk]):
            found += count * np.bincount(strengths[counts[chunk] == count].ravel(), minlength=7463)
    per_category = np.bincount(KERNEL.categories[1:], found[1:])
    assert (per_category / 21).tolist() == SEVEN_CARD_COUNTS  # a hand is met once for each choice of its hole cards


@pytest.mark.parametrize("num_cards", [6, 7])
def test_more_cards_are_worth_their_best_five(num_cards):
    hands = deal(np.random.default_rng(7), 20_000, num_cards)
    subsets = [list(chosen) for chosen in itertools.combinations(range(num_cards), 5)]
    best = np.max([KERNEL.evaluate_hands(np.ascontiguousarray(hands[:, chosen])) for chosen in subsets], axis=0)
    assert np.array_equal(KERNEL.evaluate_hands(hands), best)


@pytest.mark.parametrize("num_cards", [5, 6, 7])
def test_random_hands_agree_with_an_independent_evaluator(num_cards):
    hands = deal(np.random.default_rng(11), 20_000, num_cards)
    theirs = [phevaluator.evaluate_cards(*hand) for hand in hands.tolist()]  # 1 is the best hand
    assert np.array_equal(KERNEL.evaluate_hands(hands), 7463 - np.array(theirs))


@pytest.mark.parametrize("deck", OTHER_DECKS, ids=format_deck)
@pytest.mark.parametrize("num_cards", [5, 7])
def test_other_decks_rank_hands_by_the_twin(deck, num_cards):
    kernel = hand_kernel(deck)
    hands = deal(np.random.default_rng(3), 400, num_cards, deck)
    twins = [reference.classify(hand, deck) for hand in hands.tolist()]
    strengths = kernel.evaluate_hands(hands).tolist()
    order = {twin: strength for twin, strength in zip(twins, strengths, strict=True)}
    assert [order[twin] for twin in twins] == strengths
    assert sorted(order.values()) == [order[twin] for twin in sorted(order)]
    assert len(set(order.values())) == len(order)
    names = [HandCategory(kernel.categories[strength]).name.lower().replace("_", " ") for strength in strengths]
    assert names == [reference.category_order(deck)[place] for place, _ in twins]


@pytest.mark.parametrize("deck", [DECKS["full"], DECKS["short"], DECKS["small"]], ids=format_deck)
@pytest.mark.parametrize("num_board", [3, 4, 5])
def test_boards_with_all_hole_cards_equal_single_hands(deck, num_board):
    boards = deal(np.random.default_rng(5), 40, num_board, deck)
    hands = hands_of(deck)
    strengths = hand_kernel(deck).evaluate_boards(boards, hands.cards)
    for board, row in zip(boards, strengths, strict=True):
        joined = np.concatenate([np.tile(board, (hands.num_hands, 1)), hands.cards], axis=1)
        single = hand_kernel(deck).evaluate_hands(np.ascontiguousarray(joined))
        assert np.array_equal(row, np.where(hands.blocked(board), 0, single))


@given(seed=st.integers(0, 2**32 - 1), num_first=st.integers(1, 153), num_second=st.integers(1, 153))
def test_showdowns_equal_the_twins(seed, num_first, num_second):
    deck, rng = DECKS["small"], np.random.default_rng(seed)
    hands, kernel = hands_of(deck), hand_kernel(deck)
    boards, weights = deal(rng, 4, 5, deck), rng.integers(1, 5, 4).astype(float)
    reach = np.zeros((2, hands.num_hands))
    for row, count in zip(reach, (num_first, num_second), strict=True):
        row[rng.choice(hands.num_hands, count, replace=False)] = rng.uniform(0.1, 1.0, count)
    found = kernel.accumulate_showdowns(boards, weights, hands.cards, *reach)
    strengths = kernel.evaluate_boards(boards, hands.cards)
    twin = equity_reference.accumulate_showdowns(strengths, weights, hands.masks, *reach)
    is_own = reach > 0
    for side in range(2):
        np.testing.assert_allclose(found[side][:, is_own[side]], twin[side][:, is_own[side]], atol=1e-9)


def test_one_hand_is_checked():
    assert KERNEL.evaluate([0, 4, 8, 12, 16, 20]) == KERNEL.evaluate([4, 8, 12, 16, 20])  # a longer straight flush
    with pytest.raises(ValueError, match="different"):
        KERNEL.evaluate([0, 0, 1, 2, 3])
    with pytest.raises(ValueError, match="0 to 51"):
        KERNEL.evaluate([0, 52, 1, 2, 3])
    with pytest.raises(ValueError, match=r"shape \[B, 5\]"):
        KERNEL.evaluate([0, 1, 2, 3])


def test_arrays_are_checked():
    hands = deal(np.random.default_rng(1), 3, 7)
    with pytest.raises(ValueError, match="0 to 51, got 200"):
        KERNEL.evaluate_hands(np.where(hands == hands[1, 2], 200, hands).astype(np.uint8))
    with pytest.raises(TypeError, match="uint8"):
        KERNEL.evaluate_hands(hands.astype(np.int64))
    with pytest.raises(ValueError, match="contiguous"):
        KERNEL.evaluate_hands(np.asfortranarray(hands))
    with pytest.raises(ValueError, match=r"boards must have shape"):
        KERNEL.evaluate_boards(hands, hands_of().cards)
    with pytest.raises(ValueError, match="hole_cards"):
        KERNEL.evaluate_boards(hands[:, :5].copy(), hands)
    with pytest.raises(ValueError, match="rank_mask"):
        HandKernel(rank_mask=0)
    assert KERNEL.evaluate_hands(np.empty((0, 7), np.uint8)).shape == (0,)
