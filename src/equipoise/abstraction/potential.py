# SPDX-License-Identifier: Apache-2.0
"""Potential-aware buckets: hands of a street put together by which buckets of the next street they lead to."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.hand_strength import canonical_boards, max_level, strength_levels
from equipoise.abstraction.percentiles import percentile_ranks
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import Deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.strength import hand_kernel
from equipoise.kernels.clusters import (
    HISTOGRAM_BYTES,
    MAX_CLASSES,
    NO_CLASS,
    HistogramKernel,
    classify_levels,
    lower_gaps,
    move_centroids,
)

__all__ = ["PotentialAware", "cluster_streets"]

MAX_CLUSTERS: Final = 254
PER_BOARD: Final = 64  # hands of a board in a sample
START_POINTS: Final = 20_000  # among which the start of k-means is drawn
FEW_MOVED: Final = 1000  # k-means ends where fewer than one in so many points change their cluster

ByteArray = npt.NDArray[np.uint8]
OnStep = Callable[[float, str], None]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PotentialAware:
    """Clusters of histograms over the next street's clusters under the earth mover's distance, without recall.

    The river has percentiles of hand strength. Turn and flop have histograms over bins of the street behind:
    percentiles of strength at the river, and clusters of the turn in the order of their mean strength.

    Paper: Ganzfried & Sandholm 2014, "Potential-Aware Imperfect-Recall Abstraction with Earth Mover's Distance in
        Imperfect-Information Games", AAAI; Johanson, Burch, Valenzano & Bowling 2013 for percentiles and k-means.
    Symbols: none.
    Departs from the paper: the flop's distance runs over turn clusters in the order of their mean strength, in bins,
        one dimension in place of true distances between clusters; centroids are medians, the centre of this distance.
    Checked by: tests/abstraction/test_potential.py.
    """

    num_bins: int = 50  # of a histogram, at most 64
    sample_size: int = 200_000  # hands on boards that clusters are found from
    max_iterations: int = 30  # of k-means

    has_recall: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("sample_size", "max_iterations"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 2 <= self.num_bins <= MAX_CLASSES:
            raise ConfigError(f"num_bins must be between 2 and {MAX_CLASSES}, got {self.num_bins}")


def cluster_streets(
    method: PotentialAware,
    deck: Deck,
    sizes: tuple[int, int],
    *,
    seed: int,
    num_threads: int | None = None,
    on_step: OnStep | None = None,
) -> dict[Street, ByteArray]:
    """Returns `[boards, H]` clusters of flop and turn on canonical boards, `NO_CLASS` where the board blocks a hand.

    Clusters are numbered by how strong they are, the strongest first. The same bits for any number of threads.

    Args:
        method: numbers of it.
        deck: the cards in play.
        sizes: clusters of flop and turn.
        seed: of samples and starts.
        num_threads: that work on it; None: as many as there are processors.
        on_step: called with the share done and what is being done.
    """
    if any(not 1 <= size <= MAX_CLUSTERS for size in sizes):
        raise ConfigError(f"potential-aware buckets are 1 to {MAX_CLUSTERS} a street, got {max(sizes)}")
    work = _Clustering(method, deck, np.random.default_rng(seed), num_threads or os.cpu_count() or 1, on_step)
    work.report(0.0, "strengths of the river")
    river = work.classify_river()
    work.report(0.15, "clusters of the turn")
    turn, strength = work.cluster(Street.TURN, river, method.num_bins, sizes[1])
    order = np.argsort(np.argsort(strength, kind="stable"))
    bins = (order * min(method.num_bins, sizes[1]) // sizes[1]).astype(np.uint8)
    turn_bins = np.where(turn == NO_CLASS, NO_CLASS, bins[np.minimum(turn, sizes[1] - 1)]).astype(np.uint8)
    work.report(0.85, "clusters of the flop")
    flop, _ = work.cluster(Street.FLOP, turn_bins, method.num_bins, sizes[0])
    return {Street.FLOP: flop, Street.TURN: turn}


@dataclasses.dataclass(frozen=True, slots=True)
class _Clustering:
    method: PotentialAware
    deck: Deck
    rng: np.random.Generator
    num_threads: int
    on_step: OnStep | None

    def report(self, fraction: float, step: str) -> None:
        if self.on_step is not None:
            self.on_step(fraction, step)

    def classify_river(self) -> ByteArray:
        """Returns `[boards, H]` which of equally many hands each hand's level of strength is among."""
        boards, hands = canonical_boards(self.deck, 5), hands_of(self.deck)
        num_levels = max_level(self.deck) + 1
        # percentiles from a sample of boards: bins need not be exact, and must not depend on how many there are
        chosen = self.rng.choice(len(boards.sets), size=2000, p=boards.counts / boards.counts.sum())
        levels = strength_levels(boards.sets[chosen], self.deck)
        counts = np.bincount(levels[levels < num_levels], minlength=num_levels).astype(np.int64)
        class_of_level = np.zeros(2 * hands.num_hands + 1, np.uint8)
        class_of_level[:num_levels] = percentile_ranks(counts[None], self.method.num_bins)[0]
        return classify_levels(
            hand_kernel(self.deck), hands.cards, boards.sets, class_of_level, num_threads=self.num_threads
        )

    def cluster(
        self, street: Street, next_class: ByteArray, num_classes: int, size: int
    ) -> tuple[ByteArray, npt.NDArray[np.float64]]:
        """Returns `[boards, H]` clusters and the mean class that follows each of them."""
        boards, behind = (canonical_boards(self.deck, n) for n in (street.num_board_cards, street.num_board_cards + 1))
        kernel = HistogramKernel(
            deck=np.array(self.deck.cards, np.uint8),
            hole_cards=hands_of(self.deck).cards,
            next_boards=behind.sets,
            next_class=next_class,
            num_classes=num_classes,
        )
        num_boards = max(1, self.method.sample_size // PER_BOARD)
        chosen = self.rng.choice(len(boards.sets), size=num_boards, p=boards.counts / boards.counts.sum())
        sampled = np.ascontiguousarray(boards.sets[chosen])
        points = kernel.sample(sampled, self._draw_hands(sampled), num_threads=self.num_threads)
        centroids = self._find_centroids(np.ascontiguousarray(points.reshape(-1, HISTOGRAM_BYTES)), size)
        clusters = kernel.assign(boards.sets, centroids, num_threads=self.num_threads)
        total = float(self.deck.num_cards - street.num_board_cards - 2)
        return clusters, -centroids[:, : num_classes - 1].sum(axis=1, dtype=np.float64) / total

    def _draw_hands(self, boards: ByteArray) -> npt.NDArray[np.int32]:
        """Returns `[B, hands]` numbers of hands that their board does not block."""
        hands = hands_of(self.deck)
        rows = []
        for board in boards:
            live = np.flatnonzero(~hands.blocked(board.tolist()))
            rows.append(live[self.rng.integers(0, len(live), PER_BOARD)])
        return np.array(rows, np.int32)

    def _find_centroids(self, points: ByteArray, size: int) -> ByteArray:
        """Returns `[size, 64]` centres of points, strongest first: k-means++ start, then medians."""
        centroids = _order(self._start(points[:START_POINTS], size))
        last = np.full(len(points), -1, np.int32)
        for _ in range(self.method.max_iterations):
            _, nearest = move_centroids(points, centroids, num_threads=self.num_threads)
            num_moved = int((nearest != last).sum())
            last = nearest
            order = _ranks(centroids)
            centroids = _order(centroids)
            last = order[last]
            if num_moved * FEW_MOVED < len(points):
                break
        return centroids

    def _start(self, points: ByteArray, size: int) -> ByteArray:
        """Returns points drawn one by one in proportion to the squared distance from those drawn before."""
        gap = np.full(len(points), np.iinfo(np.uint32).max, np.uint32)
        chosen = [int(self.rng.integers(len(points)))]
        while len(chosen) < size:
            lower_gaps(points, points[chosen[-1]], gap)
            shares = np.cumsum(gap.astype(np.float64) ** 2)
            place = np.searchsorted(shares, self.rng.random() * shares[-1], side="right") if shares[-1] > 0 else 0
            chosen.append(min(int(place), len(points) - 1))
        return points[chosen]


def _ranks(centroids: ByteArray) -> npt.NDArray[np.int32]:
    """Returns where each centroid stands once they are ordered."""
    order = np.argsort(centroids.sum(axis=1, dtype=np.int64), kind="stable")
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def _order(centroids: ByteArray) -> ByteArray:
    """Returns centroids in the ascending order of their sums: what stays low longest is strongest."""
    return np.ascontiguousarray(centroids[np.argsort(centroids.sum(axis=1, dtype=np.int64), kind="stable")])
