# SPDX-License-Identifier: Apache-2.0
"""Potential-aware buckets on a reduced deck, and their kernels against plain twins."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.abstraction.buckets import PotentialAware, build_buckets
from equipoise.abstraction.hand_strength import canonical_boards
from equipoise.abstraction.potential import cluster_streets
from equipoise.core.errors import ConfigError
from equipoise.games.holdem import DECKS, Street, parse_board, parse_hand
from equipoise.games.holdem.hands import hands_of
from equipoise.kernels.clusters import NO_CLASS, HistogramKernel, move_centroids

ROYAL = DECKS["royal"]
METHOD = PotentialAware(num_bins=12, sample_size=6_400, max_iterations=8)


def test_same_bits_for_any_number_of_threads() -> None:
    one, two = (cluster_streets(METHOD, ROYAL, (10, 10), seed=3, num_threads=threads) for threads in (1, 2))
    for street in (Street.FLOP, Street.TURN):
        assert np.array_equal(one[street], two[street])
        assert set(np.unique(one[street])) <= {*range(10), NO_CLASS}


def test_better_hands_are_in_higher_buckets() -> None:
    buckets = build_buckets(METHOD, ROYAL, sizes=(None, 10, 10, 10))
    board = parse_board("AsKsTh", ROYAL)
    row = buckets.assign(board)
    best, worst = (int(row[parse_hand(hand, ROYAL)]) for hand in ("AhAd", "JhTd"))
    assert best > worst
    for street, cards in ((1, board), (2, (*board, parse_board("AsKsThJc", ROYAL)[3]))):
        found = buckets.assign(cards)
        assert found.max() < buckets.num_buckets(street)
        assert np.array_equal(found < 0, hands_of(ROYAL).blocked(cards))


def test_histograms_count_what_may_come() -> None:
    """By the house's table of rows, one board and hand at a time."""
    turn, river = canonical_boards(ROYAL, 4), canonical_boards(ROYAL, 5)
    hands = hands_of(ROYAL)
    level = river.rows(_symmetric_table(river))
    kernel = HistogramKernel(
        deck=np.array(ROYAL.cards, np.uint8),
        hole_cards=hands.cards,
        next_boards=river.sets,
        next_class=np.where(level.table == 0xFFFF, NO_CLASS, level.table).astype(np.uint8),
        num_classes=5,
    )
    board = turn.sets[[7]]
    live = np.flatnonzero(~hands.blocked(board[0].tolist()))[:20].astype(np.int32)
    found = kernel.sample(board, live[None])[0]
    for hand, counts in zip(live, found, strict=True):
        expected = np.zeros(64, np.int64)
        for card in ROYAL.cards:
            if card not in board[0] and card not in hands.cards[hand]:
                expected[level.look_up(np.append(board[0], np.uint8(card))[None])[0, hand]] += 1
        assert counts[:5].tolist() == np.cumsum(expected)[:5].tolist()


def _symmetric_table(boards):
    """Returns classes of hands that relabelling suits does not change: by the ranks of hand and board."""
    hands = hands_of(ROYAL)
    ranks = np.sort(hands.cards // 4, axis=1).astype(int)
    sums = ranks[:, 0] * 3 + ranks[:, 1] + (boards.sets // 4).sum(axis=1)[:, None]
    table = (sums % 5).astype(np.uint16)
    for row, board in enumerate(boards.sets):
        table[row, hands.blocked(board.tolist())] = 0xFFFF
    return table


def test_centroids_move_to_medians() -> None:
    rng = np.random.default_rng(5)
    points = np.cumsum(rng.integers(0, 2, (500, 64)), axis=1).astype(np.uint8)
    points = np.minimum(points, 40)
    start = points[np.argsort(points[:7].sum(axis=1), kind="stable")].copy()
    moved = start.copy()
    cost, nearest = move_centroids(points, moved, num_threads=2)
    distance = np.abs(points[:, None].astype(int) - start[None].astype(int)).sum(axis=2)
    assert np.array_equal(nearest, distance.argmin(axis=1))
    assert cost == distance.min(axis=1).sum()
    for cluster in range(len(start)):
        own = np.sort(points[nearest == cluster].astype(int), axis=0)
        assert np.array_equal(moved[cluster], own[(len(own) - 1) // 2])


def test_numbers_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ConfigError, match="num_bins"):
        PotentialAware(num_bins=65)
    with pytest.raises(ConfigError, match="1 to 254"):
        cluster_streets(METHOD, ROYAL, (255, 10), seed=0)
    with pytest.raises(ConfigError, match="first size is None"):
        build_buckets(METHOD, ROYAL, sizes=(5, 5))
