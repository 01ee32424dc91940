# SPDX-License-Identifier: Apache-2.0
"""Buckets of hands: rows kept for canonical boards and found for any board, ranks of scores, nearest centroids.

Scores are 16-bit integers with `BLOCKED` where the board holds a card of the hand.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.kernels.arrays import check_array, check_axes, check_range
from equipoise.kernels.calls import check_integer
from equipoise.kernels.handeval import BLOCKED

__all__ = ["BLOCKED", "BoardRows", "count_scores", "find_nearest", "rank_scores", "sum_bucket_pairs"]

NUM_CARDS = 52
MAX_BUCKETS = 2**31 - 1

CardArray = npt.NDArray[np.uint8]
ScoreArray = npt.NDArray[np.uint16]
BucketArray = npt.NDArray[np.int32]


class BoardRows:
    """A row of scores for each canonical set of board cards, found for every board that is the same but for suits."""

    def __init__(self, sets: CardArray, permutations: CardArray, hand_images: ScoreArray, table: ScoreArray) -> None:
        """Keeps the arrays.

        Args:
            sets: `[sets, cards]` canonical sets as `list_card_sets` lists them.
            permutations: `[G, 4]` the relabellings under which they are canonical.
            hand_images: `[G, H]` the number of each hand after each relabelling.
            table: `[sets, H]` scores.
        """
        for name, array in (("sets", sets), ("permutations", permutations), ("table", table)):
            check_axes(name, array, 2)
        num_sets, num_permutations, num_hands = sets.shape[0], permutations.shape[0], table.shape[1]
        check_array("sets", sets, np.uint8, (num_sets, sets.shape[1]))
        check_array("permutations", permutations, np.uint8, (num_permutations, 4))
        check_array("hand_images", hand_images, np.uint16, (num_permutations, num_hands))
        check_array("table", table, np.uint16, (num_sets, num_hands))
        check_range("sets", sets, 0, NUM_CARDS)
        check_range("permutations", permutations, 0, 4)
        check_range("hand_images", hand_images, 0, num_hands)
        self.sets, self.table = sets, table
        self._hand_images = hand_images
        self._index = _native.CardSetIndex({"sets": sets, "permutations": permutations})

    def look_up(self, boards: CardArray) -> ScoreArray:
        """Returns the scores `[B, H]` of all hands on boards `[B, cards]`, whose cards are in any order."""
        check_axes("boards", boards, 2)
        check_array("boards", boards, np.uint8, (boards.shape[0], self.sets.shape[1]))
        if boards.size and int(boards.max()) >= NUM_CARDS:
            raise ValueError(f"boards must be of cards 0 to {NUM_CARDS - 1}, got {int(boards.max())}")
        out = np.empty((boards.shape[0], self.table.shape[1]), np.uint16)
        num_found: int = _native.look_up_rows(
            self._index, hand_images=self._hand_images, table=self.table, boards=boards, out=out
        )
        if num_found < boards.shape[0]:
            raise ValueError(f"no row for the board {boards[num_found].tolist()}: its cards must differ and be known")
        return out


def count_scores(
    previous: BucketArray, scores: ScoreArray, weights: npt.NDArray[np.int64], out: npt.NDArray[np.int64]
) -> None:
    """Adds into `out` `[buckets before, scores]` the weight of every hand at its bucket before and its score.

    Args:
        previous: `[B, H]` buckets before, anything where scores are `BLOCKED`.
        scores: `[B, H]` scores or `BLOCKED`.
        weights: `[B]` weight of each board.
        out: the counts.
    """
    check_axes("scores", scores, 2)
    check_array("scores", scores, np.uint16, scores.shape)
    check_array("previous", previous, np.int32, scores.shape)
    check_array("weights", weights, np.int64, (scores.shape[0],))
    check_axes("out", out, 2)
    check_array("out", out, np.int64, out.shape, is_written=True)
    if not _native.count_scores(previous=previous, scores=scores, weights=weights, counts=out):
        raise _out_of_range(out.shape)


def rank_scores(previous: BucketArray, scores: ScoreArray, ranks: ScoreArray, num_ranks: int) -> BucketArray:
    """Returns `[B, H]` the bucket `previous * num_ranks + ranks[previous, score]`; -1 where scores are `BLOCKED`."""
    check_axes("scores", scores, 2)
    check_array("scores", scores, np.uint16, scores.shape)
    check_array("previous", previous, np.int32, scores.shape)
    check_axes("ranks", ranks, 2)
    check_array("ranks", ranks, np.uint16, ranks.shape)
    check_integer("num_ranks", num_ranks, 1, MAX_BUCKETS // max(len(ranks), 1))
    out = np.empty(scores.shape, np.int32)
    if not _native.rank_scores(previous=previous, scores=scores, ranks=ranks, num_ranks=num_ranks, out=out):
        raise _out_of_range(ranks.shape)
    return out


def find_nearest(
    points: npt.NDArray[np.float32], centroids: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Returns for each point `[B, F]` the centroid `[clusters, F]` of the least L1 distance, and that distance.

    The first of several nearest ones is taken.
    """
    check_axes("points", points, 2)
    check_axes("centroids", centroids, 2)
    num_points, num_features = points.shape
    check_array("points", points, np.float32, (num_points, num_features))
    check_array("centroids", centroids, np.float32, (centroids.shape[0], num_features))
    if not centroids.size:
        raise ValueError("there must be at least one centroid")
    nearest, distance = np.empty(num_points, np.int32), np.empty(num_points, np.float32)
    _native.find_nearest(points=points, centroids=np.ascontiguousarray(centroids.T), nearest=nearest, distance=distance)
    return nearest, distance


def sum_bucket_pairs(
    values: npt.NDArray[np.float64],
    buckets: BucketArray,
    cards: CardArray,
    first: npt.NDArray[np.float64],
    second: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Returns `[B]` sums over pairs of hands that share no card of what their buckets are worth on each board.

    Args:
        values: `[buckets, buckets]` of pairs of buckets.
        buckets: `[B, H]` on each board, negative where it blocks a hand.
        cards: `[H, 2]` of each hand.
        first: `[H]` weights of the first range.
        second: `[H]` weights of the second.
    """
    check_axes("buckets", buckets, 2)
    num_hands = buckets.shape[1]
    check_array("values", values, np.float64, (len(values), len(values)))
    check_array("buckets", buckets, np.int32, buckets.shape)
    check_array("cards", cards, np.uint8, (num_hands, 2))
    check_range("cards", cards, 0, NUM_CARDS)
    check_array("first", first, np.float64, (num_hands,))
    check_array("second", second, np.float64, (num_hands,))
    out = np.empty(len(buckets))
    if not _native.sum_bucket_pairs(values=values, buckets=buckets, cards=cards, first=first, second=second, out=out):
        raise ValueError(f"buckets must be below {len(values)}, got {int(buckets.max())}")
    return out


def _out_of_range(shape: tuple[int, ...]) -> ValueError:
    return ValueError(f"buckets before must be 0 to {shape[0] - 1} and scores 0 to {shape[1] - 1} where not BLOCKED")
