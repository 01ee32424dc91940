# SPDX-License-Identifier: Apache-2.0
import itertools

import numpy as np
import pytest

from equipoise.abstraction.hand_strength import (
    NUM_SCORES,
    Strength,
    canonical_boards,
    expected_strength,
    list_completions,
    load_or_build_strengths,
    max_level,
    strength_levels,
)
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import DECKS, FULL_DECK, parse_board
from equipoise.games.holdem.equity import compute_equity
from equipoise.games.holdem.hands import hands_of, parse_hand
from equipoise.games.holdem.isomorphism import hand_permutation, permute_cards
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.strength import evaluate_boards, hand_kernel
from equipoise.kernels.buckets import BLOCKED
from tests.reference import buckets as reference

SMALL = DECKS["small"]


def random_boards(deck, count, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(deck.cards, 5, replace=False) for _ in range(count)], np.uint8)


@pytest.mark.parametrize("deck", [FULL_DECK, DECKS["short"], SMALL, DECKS["tiny"]], ids=lambda deck: deck.ranks)
def test_levels_equal_the_twin(deck):
    boards = random_boards(deck, 6)
    twin = reference.strength_levels(evaluate_boards(boards, deck), hands_of(deck).masks)
    levels = strength_levels(boards, deck)
    np.testing.assert_array_equal(levels, twin)
    assert levels[levels != BLOCKED].max() <= max_level(deck)


def test_the_nuts_beat_everything_and_a_board_that_plays_ties_all():
    levels = strength_levels([parse_board("QhJhTh2c3d")])[0]
    assert levels[parse_hand("AhKh")] == max_level()
    assert levels[parse_hand("AhQc")] == BLOCKED or levels[parse_hand("AhQc")] < max_level()
    royal = strength_levels([parse_board("AhKhQhJhTh")])[0]
    assert set(royal[royal != BLOCKED].tolist()) == {max_level() // 2}


@pytest.mark.parametrize("text", ["", "KsQh9c", "KsQh9cTs", "KsQh9cTsAs"])
def test_expected_strength_is_equity_against_every_hand(text):
    board = parse_board(text, SMALL)
    random = Range.random(SMALL)
    equities = compute_equity(random, random, board, SMALL).hand_equities[0]
    np.testing.assert_allclose(expected_strength(board, SMALL)[Strength.EHS], equities, atol=1e-12)


@pytest.mark.parametrize("text", ["", "KsQh9c", "KsQh9cTs"])
def test_squares_equal_a_plain_sum(text):
    board = parse_board(text, SMALL)
    levels = strength_levels(list_completions(board, SMALL), SMALL).astype(float)
    strength = np.where(levels == BLOCKED, np.nan, levels / max_level(SMALL))
    is_live = ~hands_of(SMALL).blocked(board)
    for kind, power in ((Strength.EHS, 1), (Strength.EHS2, 2)):
        found = expected_strength(board, SMALL)[kind]
        np.testing.assert_allclose(found[is_live], np.nanmean(strength[:, is_live] ** power, axis=0), atol=1e-12)
        assert np.isnan(found[~is_live]).all()


def test_a_draw_has_a_greater_square_than_a_made_hand_of_the_same_mean():
    values = expected_strength(parse_board("9h8h2c"))
    draw, pair = parse_hand("7h6h"), parse_hand("Ac9d")
    spread = values[Strength.EHS2] - values[Strength.EHS] ** 2
    assert spread[draw] > spread[pair]


def test_known_strengths_of_the_full_deck():
    # equity against a random hand, as published tables of starting hands have it
    values = expected_strength(())[Strength.EHS]
    assert values[parse_hand("AhAs")] == pytest.approx(0.8520, abs=1e-4)
    assert values[parse_hand("7h2c")] == pytest.approx(0.3458, abs=1e-4)
    assert values[parse_hand("AhKh")] == pytest.approx(0.6704, abs=1e-4)
    assert np.average(values) == pytest.approx(0.5, abs=1e-12)


def test_renaming_suits_permutes_strengths():
    board, permutation = parse_board("KsQh9c", SMALL), [3, 1, 0, 2]
    renamed = permute_cards(board, permutation).tolist()
    images = hand_permutation(permutation, SMALL)
    for kind in Strength:
        np.testing.assert_allclose(
            expected_strength(renamed, SMALL)[kind][images], expected_strength(board, SMALL)[kind], atol=1e-12
        )


def test_tables_hold_the_rounded_strengths_of_canonical_boards(tmp_path):
    table = load_or_build_strengths(SMALL, Street.FLOP, directory=tmp_path)
    for row in (0, 7, len(table.boards.sets) - 1):
        values = expected_strength(table.boards.sets[row].tolist(), SMALL)
        for kind in Strength:
            scores = table.scores[kind][row]
            assert np.array_equal(scores == BLOCKED, np.isnan(values[kind]))
            is_live = scores != BLOCKED
            np.testing.assert_allclose(
                scores[is_live] / (NUM_SCORES - 1), values[kind][is_live], atol=0.51 / NUM_SCORES
            )


def test_the_river_has_no_table():
    with pytest.raises(ConfigError, match="board by board"):
        load_or_build_strengths(SMALL, Street.RIVER)


def test_canonical_boards_stand_for_all():
    for num_cards, count in ((3, 816), (4, 3060), (5, 8568)):
        assert canonical_boards(SMALL, num_cards).counts.sum() == count


def test_completions_are_all_there():
    board = parse_board("KsQh9c", SMALL)
    left = [card for card in SMALL.cards if card not in board]
    expected = [(*board, *rest) for rest in itertools.combinations(left, 2)]
    np.testing.assert_array_equal(list_completions(board, SMALL), expected)


@pytest.mark.parametrize("num_bins", [2, 7])
def test_bins_equal_a_plain_count(num_bins):
    boards = random_boards(SMALL, 20, seed=3)
    hands = hands_of(SMALL)
    bin_of_level = np.zeros(2 * SMALL.num_hands + 1, np.uint16)
    bin_of_level[: max_level(SMALL) + 1] = np.arange(max_level(SMALL) + 1) * num_bins // (max_level(SMALL) + 1)
    counts = hand_kernel(SMALL).accumulate_bins(boards, hands.cards, bin_of_level, num_bins)
    levels = strength_levels(boards, SMALL)
    expected = np.zeros_like(counts)
    for row in levels:
        for hand in np.flatnonzero(row != BLOCKED):
            expected[hand, bin_of_level[row[hand]]] += 1
    np.testing.assert_array_equal(counts, expected)
