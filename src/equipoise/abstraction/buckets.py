# SPDX-License-Identifier: Apache-2.0
"""Card buckets: hands of a street that an abstraction does not tell apart.

A street has a score for every hand on every board and a table from scores to ranks. Scores before the river are kept
for canonical boards (1, 1,755 and 16,432 of the full deck; a board is a set of cards here, and the turn has 13,960,050
pairs of hand and board); at the river a score is the hand's level of strength, computed when it is asked for. Buckets
with recall rank scores within each bucket of the street before, and then the order of a board's cards matters.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.hand_strength import (
    NUM_SCORES,
    OnProgress,
    Strength,
    canonical_boards,
    list_completions,
    load_or_build_strengths,
    max_level,
    strength_levels,
)
from equipoise.abstraction.kmeans import cluster
from equipoise.abstraction.percentiles import percentile_ranks
from equipoise.abstraction.potential import PotentialAware, cluster_streets
from equipoise.core.cache import CacheFile
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import FULL_DECK, Deck, check_board, format_deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.strength import hand_kernel
from equipoise.kernels.buckets import BLOCKED, BoardRows, count_scores, find_nearest, rank_scores
from equipoise.kernels.clusters import NO_CLASS

__all__ = ["CardBuckets", "KMeans", "Percentile", "PotentialAware", "build_buckets", "list_orders", "street_of"]

BUCKETS_FORMAT_VERSION: Final = 1  # raised whenever the meaning of a street's arrays changes
MAX_RANKS: Final = BLOCKED  # ranks and scores have 16 bits
MAX_COUNTS: Final = 1 << 27  # (bucket before, score) pairs that are counted at once: a gigabyte
CHUNK: Final = 512  # boards whose scores are held at once
STREET_BY_CARDS: Final = {street.num_board_cards: street for street in Street}

CardArray = npt.NDArray[np.uint8]
ScoreArray = npt.NDArray[np.uint16]
BucketArray = npt.NDArray[np.int32]
Sizes = Sequence[int | None]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Percentile:
    """Equally many hands to a bucket, in the order of their expected strength.

    Paper: Davis 2015 (thesis), chapter 3, after Johanson 2007 (thesis): percentile bucketing on E[HS] and E[HS^2].
    Symbols: E[HS], E[HS^2] -> strength.
    Departs from the paper: one of the two at a time, not both nested; equal strengths are never split, so buckets
        may differ in weight; strengths before the river are rounded to 14 bits.
    Checked by: tests/abstraction/test_buckets.py.

    >>> from equipoise.games.holdem import DECKS
    >>> build_buckets(Percentile(strength=Strength.EHS), DECKS["royal"], sizes=(5,)).num_buckets(0)
    5
    """

    strength: Strength = Strength.EHS2  # what orders hands
    has_recall: bool = False  # whether hands are ranked within each bucket of the street before


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KMeans:
    """Clusters of strength histograms under the earth mover's distance, without recall.

    At the river a histogram is one number, and clusters are intervals of hand strength.

    >>> from equipoise.games.holdem import DECKS
    >>> build_buckets(KMeans(num_bins=10, sample_size=1000), DECKS["royal"], sizes=(None, 4)).num_buckets(1)
    4
    """

    num_bins: int = 50  # of a histogram of hand strength
    sample_size: int = 100_000  # pairs of hand and board that centroids are found from; all of them if there are fewer
    max_iterations: int = 100  # of k-means

    has_recall: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("num_bins", "sample_size", "max_iterations"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.num_bins < 2:
            raise ConfigError(f"num_bins must be at least 2, got {self.num_bins}")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _StreetBuckets:
    """From boards to scores to ranks."""

    rows: BoardRows | None  # scores; at the river None: levels of strength
    ranks: ScoreArray  # [buckets before, scores] rank of a score within each; one row without recall
    num_ranks: int

    @property
    def num_buckets(self) -> int:
        return len(self.ranks) * self.num_ranks

    def scores(self, boards: CardArray, deck: Deck) -> ScoreArray:
        return strength_levels(boards, deck) if self.rows is None else self.rows.look_up(boards)


class CardBuckets:
    """Which bucket each hand is in on any board; made by `build_buckets`.

    >>> from equipoise.games.holdem import DECKS
    >>> buckets = build_buckets(Percentile(), DECKS["royal"], sizes=(None, 8))
    >>> buckets.num_buckets(0), buckets.num_buckets(1)
    (25, 8)
    """

    def __init__(self, deck: Deck, streets: Sequence[_StreetBuckets], *, has_recall: bool) -> None:
        self.deck = deck
        self.has_recall = has_recall
        self._streets = tuple(streets)

    @property
    def num_streets(self) -> int:
        """Number of streets that have buckets, from the first."""
        return len(self._streets)

    def num_buckets(self, street: Street | int) -> int:
        """Returns how many buckets a street has; some may be empty."""
        if not 0 <= street < self.num_streets:
            known = ", ".join(Street(i).name.lower() for i in range(self.num_streets))
            raise ConfigError(f"these buckets are of {known}, not of street {int(street)}")
        return self._streets[street].num_buckets

    def assign(self, board: Sequence[int]) -> BucketArray:
        """Returns `[H]` the bucket of every hand of the deck on a board, -1 where the board blocks it.

        Args:
            board: 0, 3, 4 or 5 cards in the order in which they came; the order matters only with recall.
        """
        check_board(board, self.deck)
        row: BucketArray = self._assign(np.array([board], np.uint8).reshape(1, len(board)))[0]
        return row

    def assign_boards(self, boards: npt.ArrayLike) -> BucketArray:
        """Returns `[B, H]` the buckets of all hands on boards `[B, cards]` of one street; see `assign`."""
        cards = np.ascontiguousarray(boards, np.uint8)
        if cards.ndim != 2:
            raise ConfigError(f"boards must have shape [B, n], got {list(cards.shape)}")
        if cards.shape[1] not in STREET_BY_CARDS:
            raise ConfigError(f"a board has 0, 3, 4 or 5 cards, got {cards.shape[1]}")
        is_known = np.isin(cards, self.deck.cards).all(axis=1)
        ordered = np.sort(cards, axis=1)
        is_board = is_known & (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)
        if not is_board.all():
            check_board(cards[int(is_board.argmin())].tolist(), self.deck)
        return self._assign(cards)

    def assign_orders(self, sets: CardArray) -> BucketArray:
        """Returns `[B, orders, H]` buckets at the river of sets of cards `[B, 5]`, for each order of `list_orders`."""
        own = self._streets[Street.RIVER]
        scores = own.scores(sets, self.deck)
        rows = [
            rank_scores(
                self._previous(Street.RIVER, np.ascontiguousarray(sets[:, order])), scores, own.ranks, own.num_ranks
            )
            for order in list_orders(Street.RIVER)
        ]
        return np.stack(rows, axis=1)

    def _assign(self, boards: CardArray) -> BucketArray:
        street = STREET_BY_CARDS[boards.shape[1]]
        self.num_buckets(street)  # says which streets there are
        own = self._streets[street]
        scores = own.scores(boards, self.deck)
        return rank_scores(self._previous(street, boards), scores, own.ranks, own.num_ranks)

    def _previous(self, street: Street, boards: CardArray) -> BucketArray:
        """Returns `[B, H]` the buckets of the street before; 0 throughout without recall."""
        if not self.has_recall or street == Street.PREFLOP:
            return np.zeros((len(boards), self.deck.num_hands), np.int32)
        num_cards = Street(street - 1).num_board_cards
        return self._assign(np.ascontiguousarray(boards[:, :num_cards]))


def list_orders(street: Street) -> list[list[int]]:
    """Returns the orders in which a board's cards may have come, those of the flop among themselves excepted.

    >>> list_orders(Street.TURN)
    [[1, 2, 3, 0], [0, 2, 3, 1], [0, 1, 3, 2], [0, 1, 2, 3]]
    """
    size = street.num_board_cards
    if street <= Street.FLOP:
        return [list(range(size))]
    later = [[i] for i in range(size)]
    if street == Street.RIVER:
        later = [[turn, river] for turn in range(size) for river in range(size) if turn != river]
    return [[i for i in range(size) if i not in last] + last for last in later]


def street_of(board: Sequence[int]) -> Street:
    """Returns the street on which a board of so many cards lies."""
    if len(board) not in STREET_BY_CARDS:
        raise ConfigError(f"a board has 0, 3, 4 or 5 cards, got {len(board)}")
    return STREET_BY_CARDS[len(board)]


def build_buckets(
    method: Percentile | KMeans | PotentialAware,
    deck: Deck = FULL_DECK,
    *,
    sizes: Sizes = (None, 200, 200, 200),
    seed: int = 0,
    on_progress: OnProgress | None = None,
    directory: Path | None = None,
    num_threads: int | None = None,
) -> CardBuckets:
    """Returns buckets of every street, from the cache where they are there.

    Building 200 buckets a street of the full deck takes a minute or two, and a moment from the cache.

    Args:
        method: how hands are put together.
        deck: the cards in play.
        sizes: buckets of each street from the first; with recall, buckets within each bucket of the street before. None
            for the first: every class of hands (AKs, QQ, ...) is a bucket of its own, in the order of
            `Hands.class_names`. Streets beyond the last size have no buckets.
        seed: of the sample and of the start of k-means.
        on_progress: called now and then with the share done and what is being done.
        directory: where tables are kept; `default_cache_directory()` if None.
        num_threads: of potential-aware clustering, whose bits do not depend on it; None: as many as processors.

    >>> from equipoise.games.holdem import DECKS, parse_board, parse_hand
    >>> royal = DECKS["royal"]
    >>> buckets = build_buckets(Percentile(), royal, sizes=(None, 8))
    >>> on_the_flop = buckets.assign(parse_board("AsKsTh", royal))
    >>> [int(on_the_flop[parse_hand(hand, royal)]) for hand in ("AhAd", "JhTd")]
    [7, 2]
    """
    _check_sizes(sizes, method)
    if isinstance(method, PotentialAware):
        plan = _PotentialPlan(method, deck, tuple(sizes), seed, num_threads, directory)
        return CardBuckets(deck, plan.load_or_build(on_progress), has_recall=False)
    streets: list[_StreetBuckets] = []
    for number in range(len(sizes)):
        street = Street(number)
        scaled = None
        if on_progress is not None:
            scaled = _Part(on_progress, number / len(sizes), 1 / len(sizes))
        builder = _Builder(method, deck, street, tuple(sizes), seed, scaled, directory)
        streets.append(builder.load_or_build(CardBuckets(deck, streets, has_recall=method.has_recall)))
    return CardBuckets(deck, streets, has_recall=method.has_recall)


def _check_sizes(sizes: Sizes, method: Percentile | KMeans | PotentialAware) -> None:
    if not 1 <= len(sizes) <= len(Street):
        raise ConfigError(f"sizes must be one to four numbers, one for each street, got {len(sizes)}")
    for number, size in enumerate(sizes):
        name = Street(number).name.lower()
        if size is None and number > 0:
            raise ConfigError(f"only the first street can do without a size, got None for the {name}")
        if size is not None and not 1 <= size < MAX_RANKS:
            raise ConfigError(f"a size is 1 to {MAX_RANKS - 1}, got {size} for the {name}")
    if not isinstance(method, Percentile) and sizes[0] is not None:
        raise ConfigError(f"before the flop k-means keeps every class of hands: the first size is None, got {sizes[0]}")


@dataclasses.dataclass(frozen=True, slots=True)
class _PotentialPlan:
    """Makes potential-aware buckets: flop and turn from one clustering, the river by percentiles."""

    method: PotentialAware
    deck: Deck
    sizes: tuple[int | None, ...]
    seed: int
    num_threads: int | None
    directory: Path | None

    def load_or_build(self, on_progress: OnProgress | None) -> list[_StreetBuckets]:
        """Returns the streets that have sizes."""
        tables = self._clusters(on_progress) if len(self.sizes) > Street.FLOP else {}
        streets: list[_StreetBuckets] = []
        for number, size in enumerate(self.sizes):
            street = Street(number)
            if street in tables and size is not None:
                rows = canonical_boards(self.deck, street.num_board_cards).rows(tables[street])
                streets.append(_StreetBuckets(rows, np.arange(size, dtype=np.uint16)[None], size))
                continue
            percentile = Percentile(strength=Strength.EHS)
            builder = _Builder(percentile, self.deck, street, self.sizes, self.seed, on_progress, self.directory)
            streets.append(builder.load_or_build(CardBuckets(self.deck, streets, has_recall=False)))
        return streets

    def _clusters(self, on_progress: OnProgress | None) -> dict[Street, ScoreArray]:
        """Returns `[boards, H]` clusters of flop and turn, the weakest first, from the cache if they are there."""
        later = [size for size in self.sizes[Street.FLOP :] if size is not None]
        sizes = later[0], later[min(1, len(later) - 1)]
        identity: dict[str, Any] = {
            "table": "potential-aware clusters",
            "format_version": BUCKETS_FORMAT_VERSION,
            "deck": format_deck(self.deck),
            **dataclasses.asdict(self.method),
            "sizes": list(sizes),
            "seed": self.seed,
        }
        file = CacheFile(Kind.TABLE, f"potential-{format_deck(self.deck)}", identity, directory=self.directory)
        parts = file.read()
        if parts is None:
            parts = file.fill(lambda: self._build(sizes, on_progress), lambda built: built)
        return {street: parts[street.name.lower()] for street in (Street.FLOP, Street.TURN)}

    def _build(self, sizes: tuple[int, int], on_progress: OnProgress | None) -> dict[str, npt.NDArray[Any]]:
        found = cluster_streets(
            self.method, self.deck, sizes, seed=self.seed, num_threads=self.num_threads, on_step=on_progress
        )
        tables = {}
        for (street, clusters), size in zip(found.items(), sizes, strict=True):
            weakest_first = (size - 1 - clusters.astype(np.int32)).astype(np.uint16)
            tables[street.name.lower()] = np.where(clusters == NO_CLASS, np.uint16(BLOCKED), weakest_first)
        return tables


@dataclasses.dataclass(frozen=True, slots=True)
class _Part:
    """Passes progress on as a part of the whole."""

    on_progress: OnProgress
    first: float
    share: float

    def __call__(self, fraction: float, step: str) -> None:
        self.on_progress(self.first + self.share * fraction, step)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Builder:
    """Makes the buckets of one street, given those of the streets before."""

    method: Percentile | KMeans
    deck: Deck
    street: Street
    sizes: tuple[int | None, ...]
    seed: int
    on_progress: OnProgress | None
    directory: Path | None

    @property
    def size(self) -> int | None:
        return self.sizes[self.street]

    @property
    def name(self) -> str:
        return self.street.name.lower()

    def load_or_build(self, before: CardBuckets) -> _StreetBuckets:
        """Returns the street's buckets; what took long is kept."""
        if self.size is None:
            return self._keep_classes()
        identity: dict[str, Any] = {
            "table": "card buckets",
            "format_version": BUCKETS_FORMAT_VERSION,
            "deck": format_deck(self.deck),
            "street": self.name,
            "method": type(self.method).__name__,
            **dataclasses.asdict(self.method),
            "sizes": list(self.sizes[: self.street + 1]) if self.method.has_recall else [self.size],
            **({"seed": self.seed} if isinstance(self.method, KMeans) else {}),
        }
        name = f"buckets-{format_deck(self.deck)}-{self.name}"
        file = CacheFile(Kind.TABLE, name, identity, directory=self.directory)
        parts = file.read()
        if parts is None:
            parts = file.fill(lambda: self._build(before, self.size or 0), lambda built: built)
        rows = None
        if self.street < Street.RIVER:
            boards = canonical_boards(self.deck, self.street.num_board_cards)
            rows = boards.rows(parts["table"] if "table" in parts else self._strengths())
        self._report(1.0, "done")
        return _StreetBuckets(rows, parts["ranks"], self.size)

    def _build(self, before: CardBuckets, size: int) -> dict[str, npt.NDArray[Any]]:
        """Returns ranks, and the table of scores unless it is kept elsewhere or not at all."""
        if isinstance(self.method, Percentile):
            return {"ranks": percentile_ranks(self._count(before), size)}
        if self.street == Street.RIVER:
            return {"ranks": self._cluster_levels(self.method, self._count(before)[0], size)}
        table = self._cluster_histograms(self.method, size)
        return {"table": table, "ranks": np.arange(size, dtype=np.uint16)[None, :]}

    def _keep_classes(self) -> _StreetBuckets:
        present, numbers = np.unique(hands_of(self.deck).classes, return_inverse=True)
        rows = canonical_boards(self.deck, 0).rows(numbers.astype(np.uint16)[None, :])
        return _StreetBuckets(rows, np.arange(len(present), dtype=np.uint16)[None, :], len(present))

    def _strengths(self) -> ScoreArray:
        assert isinstance(self.method, Percentile)
        table = load_or_build_strengths(self.deck, self.street, on_progress=self.on_progress, directory=self.directory)
        return table.scores[self.method.strength]

    def _count(self, before: CardBuckets) -> npt.NDArray[np.int64]:
        """Returns `[buckets before, scores]` how many hands on how many boards there are.

        With recall every order in which the cards of a board may have come counts.
        """
        boards = canonical_boards(self.deck, self.street.num_board_cards)
        table = None if self.street == Street.RIVER else self._strengths()
        num_scores = max_level(self.deck) + 1 if table is None else NUM_SCORES
        is_nested = self.method.has_recall and self.street > Street.PREFLOP
        num_before = before.num_buckets(self.street - 1) if is_nested else 1
        if num_before * num_scores > MAX_COUNTS:
            raise ConfigError(
                f"buckets with recall may have {MAX_COUNTS // num_scores:,} sequences before the {self.name}, "
                f"got {num_before:,}: choose smaller sizes"
            )
        counts = np.zeros((num_before, num_scores), np.int64)
        for begin in range(0, len(boards.sets), CHUNK):
            part = slice(begin, begin + CHUNK)
            cards, weights = boards.sets[part], boards.counts[part]
            scores = strength_levels(cards, self.deck) if table is None else table[part]
            for order in list_orders(self.street) if is_nested else [list(range(cards.shape[1]))]:
                previous = before._previous(self.street, np.ascontiguousarray(cards[:, order]))
                count_scores(previous, scores, weights, counts)
            self._report(begin / len(boards.sets), "percentiles")
        return counts

    def _cluster_levels(self, method: KMeans, counts: npt.NDArray[np.int64], size: int) -> ScoreArray:
        strengths = (np.arange(counts.size, dtype=np.float32) / np.float32(counts.size - 1))[:, None]
        met = counts > 0
        found = cluster(
            np.ascontiguousarray(strengths[met]),
            counts[met].astype(np.float64),
            size,
            max_iterations=method.max_iterations,
            rng=np.random.default_rng([self.seed, self.street]),
        )
        return find_nearest(strengths, found.centroids)[0].astype(np.uint16)[None, :]

    def _cluster_histograms(self, method: KMeans, size: int) -> ScoreArray:
        """Returns `[boards, H]` the cluster of every hand on every canonical board."""
        boards = canonical_boards(self.deck, self.street.num_board_cards)
        rng = np.random.default_rng([self.seed, self.street])
        points, weights = self._sample(method, rng)
        found = cluster(points, weights, size, max_iterations=method.max_iterations, rng=rng)
        table = np.full((len(boards.sets), self.deck.num_hands), BLOCKED, np.uint16)
        for row, board in enumerate(boards.sets):
            is_live, histograms = self._histograms(method, board)
            table[row, is_live] = find_nearest(histograms, found.centroids)[0]
            self._report(0.5 + 0.5 * row / len(boards.sets), "nearest centroids")
        return table

    def _sample(
        self, method: KMeans, rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]:
        """Returns histograms of (hand, board) pairs, and how many pairs each stands for."""
        boards = canonical_boards(self.deck, self.street.num_board_cards)
        left = self.deck.num_cards - self.street.num_board_cards
        num_live = left * (left - 1) // 2  # on every board
        is_whole = len(boards.sets) * num_live <= method.sample_size
        drawn = np.arange(len(boards.sets) * num_live)
        if not is_whole:
            rows = rng.choice(len(boards.sets), method.sample_size, p=boards.counts / boards.counts.sum())
            drawn = np.sort(rows * num_live + rng.integers(num_live, size=method.sample_size))
        rows, places = np.divmod(drawn, num_live)
        points = np.empty((len(drawn), method.num_bins - 1), np.float32)
        for row in np.unique(rows):
            part = slice(*np.searchsorted(rows, [row, row + 1]))
            points[part] = self._histograms(method, boards.sets[row])[1][places[part]]
            self._report(0.5 * row / len(boards.sets), "histograms")
        weights = boards.counts[rows].astype(np.float64) if is_whole else np.ones(len(drawn))
        return points, weights

    def _histograms(self, method: KMeans, board: CardArray) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float32]]:
        """Returns `[H]` which hands the board leaves, and `[live, bins - 1]` their distributions of final strength.

        A distribution is written as the share of completions that end above each bin: L1 distances between such
        rows are earth mover's distances in bins, and the sum of a row grows with strength.
        """
        hands = hands_of(self.deck)
        num_levels = max_level(self.deck) + 1
        bin_of_level = np.zeros(2 * self.deck.num_hands + 1, np.uint16)
        bin_of_level[:num_levels] = np.arange(num_levels) * method.num_bins // num_levels
        counts = hand_kernel(self.deck).accumulate_bins(
            list_completions(board.tolist(), self.deck), hands.cards, bin_of_level, method.num_bins
        )
        is_live = ~hands.blocked(board.tolist())
        above = np.cumsum(counts[is_live, ::-1], axis=1)[:, -2::-1]
        share = above / counts[is_live].sum(axis=1, keepdims=True)
        return is_live, np.ascontiguousarray(share, np.float32)

    def _report(self, fraction: float, step: str) -> None:
        if self.on_progress is not None:
            self.on_progress(fraction, f"{self.name}: {step}")
