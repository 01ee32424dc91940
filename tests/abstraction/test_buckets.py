# SPDX-License-Identifier: Apache-2.0
import functools
import itertools
import time

import numpy as np
import pytest

from equipoise.abstraction import buckets as module
from equipoise.abstraction.buckets import KMeans, Percentile, build_buckets
from equipoise.abstraction.hand_strength import (
    NUM_SCORES,
    Strength,
    canonical_boards,
    list_completions,
    max_level,
    strength_levels,
)
from equipoise.abstraction.lifting import lift
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import DECKS, FULL_DECK, Deck
from equipoise.games.holdem.hands import hands_of, parse_hand
from equipoise.games.holdem.isomorphism import hand_permutation, permute_cards
from equipoise.kernels.buckets import BLOCKED, count_scores, rank_scores
from tests.reference import buckets as reference

SMALL, TINY = DECKS["small"], DECKS["tiny"]
METHODS = [Percentile(), Percentile(has_recall=True), KMeans(num_bins=10)]


@functools.cache
def built(method, deck=SMALL):
    first = 3 if method.has_recall else None
    return build_buckets(method, deck, sizes=(first, 4, 5, 6))


def random_board(deck, num_cards, seed=0):
    return np.random.default_rng(seed).choice(deck.cards, num_cards, replace=False).tolist()


@pytest.mark.parametrize(("strength", "has_recall"), [(Strength.EHS, False), (Strength.EHS2, True)])
def test_every_hand_on_every_board_is_where_brute_force_puts_it(strength, has_recall):
    sizes, masks = (2, 3, 2, 3), hands_of(TINY).masks
    sets = list(itertools.combinations(TINY.cards, 5))
    levels = dict(zip(map(frozenset, sets), strength_levels(sets, TINY), strict=True))
    twin = reference.BruteForce(TINY.cards, masks, levels, 1 if strength == Strength.EHS else 2)
    expected = twin.buckets(sizes, NUM_SCORES, has_recall)
    found = build_buckets(Percentile(strength=strength, has_recall=has_recall), TINY, sizes=sizes)
    for street, wanted in zip(Street, expected, strict=True):
        boards = reference.ordered_boards(TINY.cards, street.num_board_cards)
        for board, assigned in zip(boards, found.assign_boards(boards), strict=True):
            live = twin.live(board)
            assert assigned[live].tolist() == [wanted[board, hand] for hand in live]
            assert (np.delete(assigned, live) == -1).all()
    assert found.num_buckets(Street.TURN) == (12 if has_recall else 2)


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("num_cards", [0, 3, 4, 5])
def test_buckets_are_within_and_blocked_hands_have_none(method, num_cards):
    board = random_board(SMALL, num_cards)
    assigned = built(method).assign(board)
    is_blocked = hands_of(SMALL).blocked(board)
    assert assigned.dtype == np.int32
    assert (assigned[is_blocked] == -1).all()
    street = {0: 0, 3: 1, 4: 2, 5: 3}[num_cards]
    assert assigned[~is_blocked].min() >= 0
    assert assigned.max() < built(method).num_buckets(street)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_many_boards_at_once_are_the_same(method):
    boards = [random_board(SMALL, 4, seed) for seed in range(20)]
    np.testing.assert_array_equal(
        built(method).assign_boards(boards), [built(method).assign(board) for board in boards]
    )


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("num_cards", [3, 4, 5])
def test_renaming_suits_changes_nothing(method, num_cards):
    board, permutation = random_board(SMALL, num_cards, seed=5), [2, 1, 3, 0]
    images = hand_permutation(permutation, SMALL)
    renamed = built(method).assign(permute_cards(board, permutation).tolist())
    np.testing.assert_array_equal(renamed[images], built(method).assign(board))


def test_the_order_of_cards_matters_with_recall_alone():
    board = random_board(SMALL, 5, seed=1)
    turned = [board[4], *board[1:4], board[0]]
    for method in METHODS:
        same = np.array_equal(built(method).assign(board), built(method).assign(turned))
        assert same is not method.has_recall


def test_with_recall_a_bucket_tells_the_one_before():
    board = random_board(SMALL, 5, seed=2)
    found = built(METHODS[1])
    rows = [found.assign(board[:num_cards]) for num_cards in (0, 3, 4, 5)]
    is_live = rows[3] >= 0
    for before, after, size in zip(rows, rows[1:], (4, 5, 6), strict=False):
        np.testing.assert_array_equal(after[is_live] // size, before[is_live])
    assert [found.num_buckets(street) for street in Street] == [3, 12, 60, 360]


def test_percentiles_hold_equal_shares():
    boards = canonical_boards(SMALL, 3)
    assigned = built(METHODS[0]).assign_boards(boards.sets)
    weights = np.broadcast_to(boards.counts[:, None], assigned.shape)
    shares = np.bincount(assigned[assigned >= 0], weights[assigned >= 0]) / weights[assigned >= 0].sum()
    np.testing.assert_allclose(shares, 0.25, atol=0.03)


def test_classes_before_the_flop_are_lossless():
    found = build_buckets(Percentile(), FULL_DECK, sizes=(None,))
    assert found.num_buckets(Street.PREFLOP) == 169
    np.testing.assert_array_equal(found.assign(()), hands_of().classes)
    assert build_buckets(Percentile(), Deck(suits="s"), sizes=(None,)).num_buckets(0) == 78


def test_percentiles_before_the_flop_order_hands():
    found = build_buckets(Percentile(), SMALL, sizes=(5,)).assign(())
    aces, low = parse_hand("AsAh", SMALL), parse_hand("Ts9h", SMALL)
    assert found[aces] == 4
    assert found[low] == 0


def test_clusters_are_the_nearest_of_histograms():
    """Hands of one cluster are nearer to its mean than to the means of the others, up to rounding."""
    method = KMeans(num_bins=10)
    found, boards = built(method, TINY), canonical_boards(TINY, 4)
    points, clusters, weights = [], [], []
    for board, count in zip(boards.sets.tolist(), boards.counts.tolist(), strict=True):
        levels = strength_levels(list_completions(board, TINY), TINY).astype(int)
        bins = levels * 10 // (max_level(TINY) + 1)
        for hand in np.flatnonzero(found.assign(board) >= 0):
            own = bins[levels[:, hand] != BLOCKED, hand]
            points.append([(own >= edge).mean() for edge in range(1, 10)])
        clusters.append(found.assign(board)[found.assign(board) >= 0])
        weights += [count] * len(clusters[-1])
    points, clusters, weights = np.array(points), np.concatenate(clusters), np.array(weights)
    means = np.array([np.average(points[clusters == k], axis=0, weights=weights[clusters == k]) for k in range(5)])
    nearest, _ = reference.nearest(points, means)
    assert (nearest == clusters).mean() > 0.99
    assert (np.diff(means.sum(axis=1)) > 0).all()


def test_clusters_at_the_river_are_intervals_of_strength():
    board = random_board(SMALL, 5, seed=4)
    assigned, levels = built(METHODS[2]).assign(board), strength_levels([board], SMALL)[0]
    order = np.argsort(levels[assigned >= 0], kind="stable")
    assert (np.diff(assigned[assigned >= 0][order]) >= 0).all()


def test_the_seed_decides_clusters():
    method = KMeans(num_bins=10, sample_size=300)
    runs = [build_buckets(method, SMALL, sizes=(None, 8), seed=seed) for seed in (1, 1, 2)]
    rows = [run.assign_boards(canonical_boards(SMALL, 3).sets) for run in runs]
    assert np.array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[2])


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_buckets_come_back_from_the_cache(tmp_path, monkeypatch, method):
    monkeypatch.setattr(time, "perf_counter", iter(range(0, 10_000, 10)).__next__)  # everything takes ten seconds
    sizes = (3 if method.has_recall else None, 3, 3, 3)
    first = build_buckets(method, TINY, sizes=sizes, directory=tmp_path)
    monkeypatch.setattr(module, "percentile_ranks", None)
    monkeypatch.setattr(module, "cluster", None)
    second = build_buckets(method, TINY, sizes=sizes, directory=tmp_path)
    for num_cards in (0, 3, 4, 5):
        board = random_board(TINY, num_cards)
        np.testing.assert_array_equal(first.assign(board), second.assign(board))


def test_progress_rises_to_the_end():
    seen = []
    build_buckets(KMeans(), TINY, sizes=(None, 2, 2, 2), on_progress=lambda *record: seen.append(record))
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
    assert {step.partition(":")[0] for _, step in seen} == {"flop", "turn", "river"}


def test_lift_gives_hands_the_strategy_of_their_bucket():
    found, board = built(METHODS[0]), random_board(SMALL, 4)
    strategy = np.random.default_rng(0).dirichlet(np.ones(3), found.num_buckets(Street.TURN))
    lifted, assigned = lift(strategy, found, board), found.assign(board)
    for hand in range(SMALL.num_hands):
        expected = strategy[assigned[hand]] if assigned[hand] >= 0 else np.zeros(3)
        np.testing.assert_array_equal(lifted[hand], expected)


def test_lift_of_another_streets_strategy_is_refused():
    with pytest.raises(ConfigError, match=r"each of its 4 buckets, got shape \(5, 2\)"):
        lift(np.zeros((5, 2)), built(METHODS[0]), random_board(SMALL, 3))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((), "one to four numbers"),
        ((None, 2, 2, 2, 2), "one to four numbers, one for each street, got 5"),
        ((None, None), "None for the flop"),
        ((None, 0), "got 0 for the flop"),
        ((None, 70_000), "got 70000 for the flop"),
        ((5, 5), "the first size is None, got 5"),
    ],
)
def test_bad_sizes_are_refused(sizes, message):
    with pytest.raises(ConfigError, match=message):
        build_buckets(KMeans(), TINY, sizes=sizes)


def test_too_many_sequences_are_refused():
    with pytest.raises(ConfigError, match="8,192 sequences before the turn, got 50,000: choose smaller sizes"):
        build_buckets(Percentile(has_recall=True), TINY, sizes=(5, 10_000, 2))


@pytest.mark.parametrize("field", ["num_bins", "sample_size", "max_iterations"])
def test_bad_methods_are_refused(field):
    with pytest.raises(ConfigError, match=f"{field} must be at least"):
        KMeans(**{field: 0})


@pytest.mark.parametrize(
    ("boards", "message"),
    [
        ([[50, 50, 51]], "twice"),
        ([[51, 50, 47, 0]], "ranks 9TJQKA"),
        ([[51, 50]], "0, 3, 4 or 5 cards, got 2"),
        ([51, 50, 48], r"shape \[B, n\]"),
    ],
)
def test_impossible_boards_are_refused(boards, message):
    with pytest.raises(ConfigError, match=message):
        built(METHODS[0]).assign_boards(boards)


def test_streets_without_buckets_are_refused():
    found = build_buckets(Percentile(), TINY, sizes=(None, 2))
    with pytest.raises(ConfigError, match="buckets are of preflop, flop, not of street 2"):
        found.assign(random_board(TINY, 4))


def test_kernels_refuse_what_lies_outside():
    previous, scores = np.zeros((1, 2), np.int32), np.array([[0, 7]], np.uint16)
    with pytest.raises(ValueError, match="scores 0 to 6"):
        rank_scores(previous, scores, np.zeros((1, 7), np.uint16), 1)
    with pytest.raises(ValueError, match="scores 0 to 6"):
        count_scores(previous, scores, np.ones(1, np.int64), np.zeros((1, 7), np.int64))
