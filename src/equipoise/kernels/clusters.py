# SPDX-License-Identifier: Apache-2.0
"""Histograms of hands over the next street's classes, in bytes, and their clusters by the earth mover's distance."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.kernels.arrays import check_array, check_axes, check_range
from equipoise.kernels.calls import check_integer, check_num_threads
from equipoise.kernels.handeval import HandKernel

__all__ = [
    "HISTOGRAM_BYTES",
    "MAX_CLASSES",
    "NO_CLASS",
    "HistogramKernel",
    "classify_levels",
    "lower_gaps",
    "move_centroids",
]

HISTOGRAM_BYTES: Final = 64
MAX_CLASSES: Final = HISTOGRAM_BYTES
MAX_CLUSTERS: Final = 255
NO_CLASS: Final = 255  # where the board blocks a hand

ByteArray = npt.NDArray[np.uint8]


def classify_levels(
    evaluator: HandKernel, hole_cards: ByteArray, boards: ByteArray, class_of_level: ByteArray, *, num_threads: int = 1
) -> ByteArray:
    """Returns `[B, H]` the class of every hand's level of strength on complete boards `[B, 5]`.

    Args:
        evaluator: of hands.
        hole_cards: `[H, 2]`.
        boards: complete ones.
        class_of_level: by level, below `NO_CLASS`.
        num_threads: that work on it.
    """
    num_hands = len(hole_cards)
    check_num_threads(num_threads)
    check_array("hole_cards", hole_cards, np.uint8, (num_hands, 2))
    check_array("boards", boards, np.uint8, (len(boards), 5))
    check_array("class_of_level", class_of_level, np.uint8, (2 * num_hands + 1,))
    out = np.empty((len(boards), num_hands), np.uint8)
    _native.classify_levels(
        evaluator.native,
        hole_cards=hole_cards,
        boards=boards,
        class_of_level=class_of_level,
        num_threads=num_threads,
        out=out,
    )
    return out


class HistogramKernel:
    """How often each class of the next street follows for every hand on a board.

    Checked by: tests/kernels/test_clusters.py.
    """

    def __init__(
        self, *, deck: ByteArray, hole_cards: ByteArray, next_boards: ByteArray, next_class: ByteArray, num_classes: int
    ) -> None:
        """Keeps the arrays.

        Args:
            deck: cards; suits that it has must have the same ranks.
            hole_cards: `[H, 2]`.
            next_boards: `[B, cards + 1]` canonical boards of the next street.
            next_class: `[B, H]` classes of hands there, `NO_CLASS` where blocked.
            num_classes: at most `MAX_CLASSES`.
        """
        check_axes("next_boards", next_boards, 2)
        check_integer("num_classes", num_classes, 1, MAX_CLASSES)
        check_array("next_boards", next_boards, np.uint8, next_boards.shape)
        check_array("next_class", next_class, np.uint8, (len(next_boards), len(hole_cards)))
        if not ((next_class < num_classes) | (next_class == NO_CLASS)).all():
            raise ValueError(f"classes must be below {num_classes}, or {NO_CLASS}")
        self.num_hands, self.board_size = len(hole_cards), next_boards.shape[1] - 1
        arrays: dict[str, npt.NDArray[Any]] = {
            "deck": deck,
            "hole_cards": hole_cards,
            "next_boards": next_boards,
            "next_class": next_class,
        }
        self._form = _native.NextHistograms(arrays, num_classes)

    def sample(self, boards: ByteArray, hands: npt.NDArray[np.int32], *, num_threads: int = 1) -> ByteArray:
        """Returns `[B, hands, 64]` histograms so far of some hands `[B, hands]` of boards `[B, cards]`."""
        check_num_threads(num_threads)
        check_array("boards", boards, np.uint8, (len(boards), self.board_size))
        check_array("hands", hands, np.int32, (len(boards), hands.shape[1]))
        check_range("hands", hands, 0, self.num_hands)
        out = np.empty((*hands.shape, HISTOGRAM_BYTES), np.uint8)
        _native.sample_histograms(self._form, boards=boards, hands=hands, num_threads=num_threads, out=out)
        return out

    def assign(self, boards: ByteArray, centroids: ByteArray, *, num_threads: int = 1) -> ByteArray:
        """Returns `[B, H]` for hands on boards `[B, cards]` the nearest of `[centroids, 64]`, whose sums ascend."""
        check_num_threads(num_threads)
        check_array("boards", boards, np.uint8, (len(boards), self.board_size))
        _check_centroids(centroids)
        out = np.empty((len(boards), self.num_hands), np.uint8)
        _native.assign_histograms(self._form, boards=boards, centroids=centroids, num_threads=num_threads, out=out)
        return out


def move_centroids(
    points: ByteArray, centroids: ByteArray, *, num_threads: int = 1
) -> tuple[int, npt.NDArray[np.int32]]:
    """Moves centroids `[centroids, 64]`, whose sums ascend, to the medians of the points `[B, 64]` that are nearest.

    Returns the sum of distances before, and `[B]` the nearest of each point.
    """
    check_num_threads(num_threads)
    check_array("points", points, np.uint8, (len(points), HISTOGRAM_BYTES))
    check_range("points", points, 0, HISTOGRAM_BYTES)
    _check_centroids(centroids)
    nearest = np.empty(len(points), np.int32)
    cost: int = _native.move_centroids(points=points, centroids=centroids, num_threads=num_threads, nearest=nearest)
    return cost, nearest


def lower_gaps(points: ByteArray, centre: ByteArray, gap: npt.NDArray[np.uint32]) -> None:
    """Lowers `gap` `[B]` to the distance of each point `[B, 64]` from one more centre `[64]`."""
    check_array("points", points, np.uint8, (len(points), HISTOGRAM_BYTES))
    check_array("centre", centre, np.uint8, (HISTOGRAM_BYTES,))
    check_array("gap", gap, np.uint32, (len(points),), is_written=True)
    _native.lower_gaps(points=points, centre=centre, gap=gap)


def _check_centroids(centroids: ByteArray) -> None:
    check_array("centroids", centroids, np.uint8, (len(centroids), HISTOGRAM_BYTES), is_written=True)
    check_integer("clusters", len(centroids), 1, MAX_CLUSTERS)
    sums = centroids.sum(axis=1, dtype=np.int64)
    if (np.diff(sums) < 0).any():
        raise ValueError("centroids must stand in ascending order of their sums")
