# SPDX-License-Identifier: Apache-2.0
"""Head and clusters of a blueprint's training against their twin, and the weights of clusters."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from equipoise.abstraction.blueprints import BlueprintSpec, make_cluster_ground
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import initial_betting
from equipoise.kernels.blueprint_clusters import answer, ask, learn
from equipoise.kernels.blueprints import LINE_CELLS, BlueprintKernel, BlueprintTables
from tests.reference.blueprint_clusters import Tables

SPEC = BlueprintSpec(
    stacks=(2000, 900, 2000),
    deck="royal",
    menu="100%, a; cap: 2",
    abstraction="percentile",
    buckets=(4, 4, 4),
    clusters=3,
)
SETTINGS = {"scale": 100.0, "floor": -3_000_000}


@functools.cache
def ground():
    return make_cluster_ground(SPEC)


def make_kernel(walked_streets: int) -> BlueprintKernel:
    return BlueprintKernel(
        ground().betting.arrays,
        BlueprintTables.allocate(len(ground().betting.arrays.width), 400_000),
        posted=initial_betting(SPEC.rules).committed,
        num_buckets=ground().num_buckets,
        last_street=SPEC.rules.last_street,
        walked_streets=walked_streets,
    )


def make_twin(walked_streets: int) -> Tables:
    posted = initial_betting(SPEC.rules).committed
    return Tables(
        ground().betting.arrays, posted, ground().num_buckets, ground().deals, **SETTINGS, walked_streets=walked_streets
    )


def assert_tables_agree(kernel: BlueprintKernel, twin: Tables) -> None:
    """Blocks that either has, their regrets and their averages."""
    assert set(np.flatnonzero(kernel.tables.base).tolist()) == set(twin.regrets)
    for slot, expected in twin.regrets.items():
        first = int(kernel.tables.base[slot]) * LINE_CELLS
        cells = kernel.tables.arena[first : first + expected.size]
        assert np.array_equal(cells.reshape(expected.shape), expected)
        if kernel.betting.street[slot] < kernel.walked_streets:
            first += -(-expected.size // LINE_CELLS) * LINE_CELLS
            averages = kernel.tables.arena[first : first + expected.size].view(np.float32)
            assert np.array_equal(averages.reshape(expected.shape), twin.averages[slot])


def test_head_and_cluster_learn_bit_by_bit_what_their_twins_learn() -> None:
    head, cluster = make_kernel(1), make_kernel(2)
    head_twin, cluster_twin = make_twin(1), make_twin(2)
    words, own_words = np.array([3, 1, 4, 1], np.uint64), np.array([5, 9, 2, 6], np.uint64)
    num_walks = 0
    for _ in range(3):
        expected = head_twin.ask(words.tolist(), 12, 2, SPEC.cards.cards)
        questions = ask(head, ground().deals, words, 12, walk_every=2)
        assert words.tolist() == head_twin.random.words
        assert questions.hole.tolist() == head_twin.hole
        assert (questions.asked.tolist(), questions.walks.tolist(), questions.taken.tolist()) == (
            [list(row) for row in expected[0]],
            [list(row) for row in expected[1]],
            expected[2],
        )
        flops = ground().flops[1]
        theirs, their_fits = cluster_twin.answer(
            own_words.tolist(), flops, head_twin.hole, *expected[:2], SPEC.cards.cards
        )
        values, fits, counts = answer(cluster, ground().deals, flops, questions, own_words, **SETTINGS)
        assert own_words.tolist() == cluster_twin.random.words
        assert values.tolist() == [float(value) for value in theirs]
        assert fits.tolist() == their_fits
        assert not learn(head, ground().deals, questions, values, **SETTINGS)
        head_twin.learn(theirs)
        assert not counts.is_full
        num_walks += len(questions.walks)
        assert_tables_agree(head, head_twin)
        assert_tables_agree(cluster, cluster_twin)
    assert num_walks > 0
    assert len(cluster_twin.regrets) > 10


def test_clusters_share_all_flops_out() -> None:
    """Every flop is in one cluster, and those that a deal's hands leave add up to all that are left."""
    flops = np.concatenate(ground().flops)
    assert len({tuple(flop) for flop in flops.tolist()}) == len(flops) == 1140  # 20 cards
    questions = ask(make_kernel(1), ground().deals, np.array([1, 2, 3, 4], np.uint64), 20)
    fits = [
        answer(make_kernel(1), ground().deals, own, questions, np.array([1, 2, 3, 4], np.uint64), **SETTINGS)[1]
        for own in ground().flops
    ]
    assert (np.sum(fits, axis=0) == 364).all()  # of 14 cards that six leave


def test_what_does_not_fit_together_is_refused() -> None:
    kernel, words = make_kernel(1), np.array([1, 2, 3, 4], np.uint64)
    questions = ask(kernel, ground().deals, words, 2)
    far = questions._replace(asked=questions.asked + np.array([0, 0, 1_000_000, 0], np.int32))
    with pytest.raises(ValueError, match="asked"):
        answer(kernel, ground().deals, ground().flops[0], far, words, **SETTINGS)
    with pytest.raises(ValueError, match="values"):
        learn(kernel, ground().deals, questions, np.zeros(1, np.float32), **SETTINGS)
    with pytest.raises(ConfigError, match="clusters"):
        make_cluster_ground(dataclasses.replace(SPEC, clusters=0))
