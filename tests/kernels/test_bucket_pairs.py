# SPDX-License-Identifier: Apache-2.0
"""Sums of what pairs of hands are worth by their buckets: the kernel against a list of all pairs."""

import numpy as np
import pytest

from equipoise.games.holdem.cards import DECKS
from equipoise.games.holdem.hands import hands_of
from equipoise.kernels.buckets import sum_bucket_pairs
from tests.reference import buckets as reference

HANDS = hands_of(DECKS["small"])


def make(num_buckets, num_boards, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(num_buckets, num_buckets))
    buckets = rng.integers(-1, num_buckets, size=(num_boards, HANDS.num_hands)).astype(np.int32)
    return values, buckets, *rng.random((2, HANDS.num_hands))


@pytest.mark.parametrize("num_left", [(None, None), (1, None), (None, 1), (1, 1), (7, 5)])
@pytest.mark.parametrize("num_buckets", [1, 5, 40])
def test_sums_are_those_of_all_pairs(num_buckets, num_left):
    values, buckets, *ranges = make(num_buckets, 3)
    for held, count in zip(ranges, num_left, strict=True):
        held[: held.size - count if count else 0] = 0.0
    found = sum_bucket_pairs(values, buckets, HANDS.cards, *ranges)
    expected = reference.sum_bucket_pairs(values, buckets, HANDS.masks, *ranges)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_unknown_buckets_are_refused():
    values, buckets, first, second = make(4, 2)
    buckets[1, 3] = 4
    with pytest.raises(ValueError, match="buckets must be below 4, got 4"):
        sum_bucket_pairs(values, buckets, HANDS.cards, first, second)
