# SPDX-License-Identifier: Apache-2.0
"""Buckets within clusters of flops."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest

from equipoise.abstraction.blueprints import BlueprintSpec, StoredBlueprint, make_deals, save_blueprint
from equipoise.abstraction.buckets import Percentile, build_buckets
from equipoise.abstraction.hierarchical import HierarchicalBuckets, cluster_flops
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import DECKS
from equipoise.games.holdem.hands import hands_of
from equipoise.kernels.blueprints import slot_cells
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer

ROYAL = DECKS["royal"]
SPEC = BlueprintSpec(
    stacks=(1000, 1000), deck="royal", menu="100%; cap: 1", abstraction="percentile", buckets=(4, 4, 4), clusters=3
)


@pytest.fixture(scope="module")
def buckets() -> HierarchicalBuckets:
    within = build_buckets(Percentile(), ROYAL, sizes=(None, 4, 4, 4))
    return HierarchicalBuckets(within, cluster_flops(within, 3))


def test_a_hand_stays_in_the_cluster_of_its_flop(buckets: HierarchicalBuckets) -> None:
    rng = np.random.default_rng(2)
    met = set()
    for _ in range(60):
        board = rng.permutation(ROYAL.cards)[:5].tolist()
        clusters = {buckets.cluster_at(board[:size]) for size in (3, 4, 5)}
        assert len(clusters) == 1
        met |= clusters
        for street, size in ((1, 3), (2, 4), (3, 5)):
            held = buckets.assign(board[:size])
            live = held >= 0
            assert (live == ~hands_of(ROYAL).blocked(board[:size])).all()
            assert set((held[live] // buckets.within.num_buckets(street)).tolist()) == clusters
    assert met == {0, 1, 2}


def test_only_cards_that_everybody_sees_decide(buckets: HierarchicalBuckets) -> None:
    """Names of suits and the order of the flop change nothing."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        flop = rng.permutation(ROYAL.cards)[:3].tolist()
        suits = rng.permutation(4)
        same = [card // 4 * 4 + int(suits[card % 4]) for card in flop]
        orders = [list(order) for order in itertools.permutations(same)]
        assert {buckets.cluster_at(order) for order in orders} == {buckets.cluster_at(flop)}


def test_training_reads_the_same_buckets(buckets: HierarchicalBuckets) -> None:
    deals = make_deals(SPEC)
    rng = np.random.default_rng(4)
    dealt = np.array([rng.permutation(ROYAL.cards)[:9] for _ in range(60)], np.uint8)
    found, _ = deals.look_up(dealt[:, :5].copy(), dealt[:, 5:].reshape(-1, 2, 2).copy())
    for row, cards in enumerate(dealt.tolist()):
        for player in range(2):
            hand = hands_of(ROYAL).index(*cards[5 + 2 * player : 7 + 2 * player])
            for street, size in ((1, 3), (2, 4), (3, 5)):
                assert found[row, player, street] == buckets.assign(cards[:size])[hand]


def test_no_row_is_touched_from_two_clusters(buckets: HierarchicalBuckets, tmp_path: Path) -> None:
    trainer = BlueprintTrainer(SPEC.betting, make_deals(SPEC), SPEC.num_buckets, BlueprintConfig())
    assert SPEC.num_buckets.tolist()[0] == [25, 12, 12, 12]
    trainer.train(3_000)
    save_blueprint(tmp_path / "b.eq", SPEC, trainer, {})
    stored = StoredBlueprint(tmp_path / "b.eq")
    board = ROYAL.cards[:5]
    np.testing.assert_array_equal(stored.buckets.assign(board), buckets.assign(board))
    assert stored.spec == SPEC
    cells = slot_cells(SPEC.betting.arrays, SPEC.num_buckets)
    assert stored.start.max() + cells[stored.start.argmax()] == len(stored.cells)


def test_bad_clusters_are_refused(buckets: HierarchicalBuckets) -> None:
    for wrong in (0, 100_000):
        with pytest.raises(ConfigError, match="clusters of flops"):
            cluster_flops(buckets.within, wrong)
    with pytest.raises(ConfigError, match="clusters"):
        dataclasses.replace(SPEC, clusters=-1)
    with pytest.raises(ConfigError, match="recall"):
        dataclasses.replace(SPEC, recall=True)
