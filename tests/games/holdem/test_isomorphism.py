# SPDX-License-Identifier: Apache-2.0
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import DECKS, FULL_DECK, Deck, format_deck, parse_board, parse_card
from equipoise.games.holdem.hands import hands_of, parse_hand
from equipoise.games.holdem.isomorphism import (
    canonical_board,
    canonical_flops,
    canonical_sets,
    find_stabilizers,
    find_symmetries,
    hand_permutation,
    permute_cards,
    suit_permutations,
)
from equipoise.games.holdem.ranges import parse_range
from equipoise.games.holdem.strength import evaluate_boards

boards = st.lists(st.integers(0, 51), min_size=3, max_size=5, unique=True)
permutations = st.permutations(range(4))
DECK_LIST = [*DECKS.values(), Deck("23456789TJQKA", "h")]


def burnside_flops(deck):
    """Returns the number of classes of flops: the average number of flops that a relabelling leaves as they are."""
    fixed = 0
    for permutation in suit_permutations(deck).tolist():
        images = {card: int(permute_cards(card, permutation)) for card in deck.cards}
        fixed += sum({images[card] for card in flop} == set(flop) for flop in itertools.combinations(deck.cards, 3))
    return fixed // len(suit_permutations(deck))


def following_cards(board, group):
    """Returns one of each class of cards that may follow a board, and how many cards it stands for."""
    return canonical_sets(sorted(set(FULL_DECK.cards) - set(board)), 1, group)


def test_the_full_deck_has_1755_flops():
    flops, counts = canonical_flops()
    assert flops.shape == (1755, 3)
    assert counts.sum() == 22100
    # three of a rank or one suit; a pair or two suits; three ranks in three suits
    assert dict(zip(*np.unique(counts, return_counts=True), strict=True)) == {4: 299, 12: 1170, 24: 286}


@pytest.mark.parametrize("deck", [deck for deck in DECK_LIST if deck != FULL_DECK], ids=format_deck)
def test_other_decks_have_as_many_flops_as_burnside_says(deck):
    flops, counts = canonical_flops(deck)
    assert len(flops) == burnside_flops(deck)
    assert counts.sum() == len(list(itertools.combinations(deck.cards, 3)))
    for flop in flops[:: max(1, len(flops) // 20)].tolist():
        assert canonical_board(flop, deck).board == tuple(flop)


def test_flops_are_their_own_canonical_boards():
    flops, _ = canonical_flops()
    assert [canonical_board(flop).board for flop in flops[::40].tolist()] == [
        tuple(flop) for flop in flops[::40].tolist()
    ]


@given(boards, permutations)
def test_canonical_boards_do_not_depend_on_names(board, permutation):
    canonical = canonical_board(board)
    relabelled = permute_cards(board, permutation).tolist()
    assert canonical_board(relabelled).board == canonical.board
    assert canonical_board(canonical.board) == canonical_board(canonical_board(canonical.board).board)
    assert canonical_board(canonical.board).board == canonical.board
    mapped = permute_cards(board, canonical.permutation).tolist()
    assert (*sorted(mapped[:3]), *mapped[3:]) == canonical.board


@given(boards, permutations)
def test_relabelling_permutes_strengths_and_nothing_else(board, permutation):
    plain, relabelled = evaluate_boards([board, permute_cards(board, permutation)])
    assert np.array_equal(relabelled[hand_permutation(permutation)], plain)


@given(permutations, permutations)
def test_relabellings_compose(first, second):
    both = [second[suit] for suit in first]
    assert np.array_equal(hand_permutation(second)[hand_permutation(first)], hand_permutation(both))
    assert np.array_equal(np.sort(hand_permutation(first)), np.arange(1326))


@pytest.mark.parametrize("deck", DECK_LIST, ids=format_deck)
def test_hands_are_relabelled_within_their_deck(deck):
    hands = hands_of(deck)
    for permutation in suit_permutations(deck):
        image = hands.cards[hand_permutation(permutation, deck)]
        assert np.array_equal(image, np.sort(permute_cards(hands.cards, permutation), axis=1))


@pytest.mark.parametrize(
    ("board", "ranges", "order"),
    [
        ("", (), 24),
        ("Ks7s2s", (), 6),
        ("Ks7h2d", (), 1),
        ("Ks7s2d", (), 2),
        ("KsKh2d", (), 2),
        ("KsKh7s7h", (), 4),
        ("", ("AA, AKs", "random"), 24),
        ("", ("AhKh", "random"), 6),
        ("Ks7s2s", ("AhKh", "random"), 2),
        ("Ks7s2s", ("QQ+", "AhKh, AdKd"), 2),
        ("Ks7h2d", ("QQ+", "AhKh, AdKd"), 1),
        ("Ks7s2s", ("QQ, QsQh:0.5, QsQd:0.5, QsQc:0.5", "KsQh, 22"), 6),  # KsQh is not possible here
    ],
)
def test_symmetries_of_boards_and_ranges(board, ranges, order):
    found = find_symmetries(parse_board(board), [parse_range(text) for text in ranges])
    assert len(found) == order
    assert found[0].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("board", "num_classes"),
    [("Ks7h2d", 49), ("Ks7s2d", 11 + 12 + 13), ("Ks7s2s", 10 + 13), ("KsKh2d", 13 + 12 + 12), ("KsKhKd", 13 + 12)],
)
def test_cards_that_follow_a_flop(board, num_classes):
    flop = parse_board(board)
    cards, counts = following_cards(flop, find_symmetries(flop))
    assert len(cards) == num_classes
    assert counts.sum() == 49
    assert not set(cards.ravel().tolist()) & set(flop)


def test_a_card_dealt_leaves_the_relabellings_that_fix_it():
    group = find_symmetries(parse_board("Ks7s2s"))
    fixes = find_stabilizers(group, np.array([[parse_card("3s")], [parse_card("3h")]], np.uint8))
    assert fixes.sum(axis=1).tolist() == [6, 2]
    assert len(following_cards(parse_board("Ks7s2s3h"), group[fixes[1]])[0]) == 10 + 12 + 13


@pytest.mark.parametrize(("flop", "order"), [("Ks7h2d", 1), ("Ks7s2d", 2), ("KsKh2d", 2), ("Ks7s2s", 6), ("KsKhKd", 6)])
def test_sets_keep_the_relabellings_that_map_them_to_themselves(flop, order):
    cards = np.array([parse_board(flop)], np.uint8)
    is_fixed = find_stabilizers(suit_permutations(), cards)[0]
    assert is_fixed.sum() == order
    np.testing.assert_array_equal(suit_permutations()[is_fixed], find_symmetries(cards[0].tolist()))


def test_ranges_that_name_suits_keep_cards_apart():
    flop = parse_board("Ks7s2s")
    apart = find_symmetries(flop, [parse_range("AhKh"), parse_range("random")])
    assert len(following_cards(flop, apart)[0]) == 10 + 13 + 13


def test_impossible_boards():
    with pytest.raises(ConfigError, match="0, 3, 4 or 5 cards"):
        canonical_board([0, 1])
    assert canonical_board([]).board == ()
    assert hand_permutation([1, 0, 2, 3])[parse_hand("AcKc")] == parse_hand("AdKd")
