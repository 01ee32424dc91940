# SPDX-License-Identifier: Apache-2.0
"""From buckets back to hands: what each hand plays when its bucket's strategy is given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.buckets import CardBuckets, street_of
from equipoise.core.errors import ConfigError

__all__ = ["lift"]


def lift(bucket_strategy: npt.ArrayLike, buckets: CardBuckets, board: Sequence[int]) -> npt.NDArray[np.float64]:
    """Returns `[H, A]` the strategy of every hand of the deck on a board: that of its bucket; 0 where it is blocked.

    Args:
        bucket_strategy: `[buckets of the board's street, A]` probabilities.
        buckets: which bucket each hand is in.
        board: cards in the order in which they came.

    >>> from equipoise.abstraction import Percentile, build_buckets
    >>> from equipoise.games.holdem import DECKS, parse_board
    >>> royal = DECKS["royal"]
    >>> buckets = build_buckets(Percentile(), royal, sizes=(None, 2))
    >>> betting = lift([[1.0, 0.0], [0.2, 0.8]], buckets, parse_board("AsKsTh", royal))  # weak hands check
    >>> betting.shape
    (190, 2)
    """
    table = np.asarray(bucket_strategy, np.float64)
    num_buckets = buckets.num_buckets(street_of(board))
    if table.ndim != 2 or len(table) != num_buckets:
        raise ConfigError(
            f"a strategy of this street must have a row for each of its {num_buckets} buckets, got shape {table.shape}"
        )
    assigned = buckets.assign(board)
    return np.where(assigned[:, None] < 0, 0.0, table[assigned])
