# SPDX-License-Identifier: Apache-2.0
"""Buckets within clusters of flops: what everybody sees is put together first, then hands within it.

A hand stays in the cluster of its flop to the river, so that what is learnt in one cluster is never read in another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.buckets import street_of
from equipoise.abstraction.hand_strength import canonical_boards
from equipoise.abstraction.kmeans import cluster
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import Deck
from equipoise.kernels.buckets import find_nearest

__all__ = ["Buckets", "HierarchicalBuckets", "cluster_flops"]

IntArray = npt.NDArray[np.int32]
MAX_ITERATIONS = 100


class Buckets(Protocol):
    """Which bucket each hand is in on any board."""

    @property
    def deck(self) -> Deck:
        """The cards in play."""
        ...

    def num_buckets(self, street: Street | int) -> int:
        """Returns how many buckets a street has."""
        ...

    def assign(self, board: Sequence[int]) -> IntArray:
        """Returns `[H]` the bucket of every hand on a board, -1 where the board blocks it."""
        ...


def cluster_flops(buckets: Buckets, num_clusters: int, *, seed: int = 0) -> npt.NDArray[np.uint16]:
    """Returns `[flops]` the cluster of each canonical flop, by how its hands are spread over buckets.

    Nothing but the cards on the table decides: the features of a flop are shares of all hands, weakest buckets first.

    Paper: Brown, Ganzfried & Sandholm 2015, "Hierarchical Abstraction, Distributed Equilibrium Computation, and
        Post-Processing, with Application to a Champion No-Limit Texas Hold'em Agent", as in Brown 2020 (thesis), 6.1.
    Symbols: N -> num_clusters.
    Departs from the paper: flops are near where the earth mover's distance between their hands' buckets is small, not
        where an earlier abstraction puts hands on them into the same buckets; a street has the same buckets in every
        cluster, where the paper makes them anew in each.
    Checked by: tests/abstraction/test_hierarchical.py.

    Args:
        buckets: of the flop, numbered by how strong their hands are, from either end.
        num_clusters: at most as many as there are flops.
        seed: of the start of k-means.
    """
    flops = canonical_boards(buckets.deck, Street.FLOP.num_board_cards)
    if not 1 <= num_clusters <= len(flops.sets):
        raise ConfigError(f"clusters of flops are 1 to {len(flops.sets):,}, got {num_clusters}")
    size = buckets.num_buckets(Street.FLOP)
    above = np.empty((len(flops.sets), max(size - 1, 1)), np.float32)
    for row, flop in enumerate(flops.sets):
        held = buckets.assign(flop.tolist())
        counts = np.bincount(held[held >= 0], minlength=size)
        shares = np.cumsum(counts[::-1])[::-1] / counts.sum()  # of hands in this bucket or above
        above[row] = shares[1:] if size > 1 else 0.0
    weights = flops.counts.astype(np.float64)
    rng = np.random.default_rng([seed, num_clusters])
    found = cluster(above, weights, num_clusters, max_iterations=MAX_ITERATIONS, rng=rng)
    nearest: npt.NDArray[np.uint16] = find_nearest(above, found.centroids)[0].astype(np.uint16)
    return nearest


class HierarchicalBuckets:
    """Buckets of other buckets within clusters of flops: bucket b of cluster c is c times their number plus b.

    >>> from equipoise.abstraction.buckets import Percentile, build_buckets
    >>> from equipoise.games.holdem import DECKS, parse_board
    >>> royal = DECKS["royal"]
    >>> within = build_buckets(Percentile(), royal, sizes=(None, 4, 4))
    >>> buckets = HierarchicalBuckets(within, cluster_flops(within, 3))
    >>> buckets.num_buckets(0), buckets.num_buckets(1)
    (25, 12)
    """

    def __init__(self, within: Buckets, cluster_of_flop: npt.NDArray[np.uint16]) -> None:
        """Keeps both.

        Args:
            within: buckets of every street.
            cluster_of_flop: `[flops]` of canonical flops, see `cluster_flops`.
        """
        self.within, self.cluster_of_flop, self.deck = within, cluster_of_flop, within.deck
        self.num_clusters = int(cluster_of_flop.max()) + 1
        flops = canonical_boards(within.deck, Street.FLOP.num_board_cards)
        hands = within.deck.num_hands
        self._rows = flops.rows(np.repeat(cluster_of_flop[:, None], hands, axis=1))

    def num_buckets(self, street: Street | int) -> int:
        """Returns how many buckets a street has; some may be empty."""
        return self.within.num_buckets(street) * (self.num_clusters if street > Street.PREFLOP else 1)

    def cluster_at(self, board: Sequence[int]) -> int:
        """Returns the cluster of a board's flop, its first three cards."""
        return int(self._rows.look_up(np.array([board[:3]], np.uint8))[0].min())

    def assign(self, board: Sequence[int]) -> IntArray:
        """Returns `[H]` the bucket of every hand on a board, -1 where the board blocks it; the flop comes first."""
        held, street = self.within.assign(board), street_of(board)
        if street == Street.PREFLOP:
            return held
        first = self.cluster_at(board) * self.within.num_buckets(street)
        return np.where(held >= 0, held + first, -1).astype(np.int32)
