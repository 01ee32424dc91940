# SPDX-License-Identifier: Apache-2.0
"""Percentiles of counted scores: which of k equally heavy parts a score belongs to."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["percentile_ranks"]


def percentile_ranks(counts: npt.NDArray[np.int64], num_ranks: int) -> npt.NDArray[np.uint16]:
    """Returns the part 0 to `num_ranks` - 1 that each score belongs to, in each row of counts `[rows, scores]`.

    A score goes where the middle of its weight lies, so equal scores stay together; parts are as equally heavy as that
    allows, and a score heavier than a part leaves parts empty. Integers throughout: nothing is rounded.

    >>> percentile_ranks(np.array([[2, 1, 1, 4]]), 2).tolist()
    [[0, 0, 0, 1]]
    """
    before = np.cumsum(counts, axis=1) - counts
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1)  # a row that nothing reaches ranks everything 0
    ranks: npt.NDArray[np.int64] = num_ranks * (2 * before + counts) // (2 * total)
    return np.minimum(ranks, num_ranks - 1).astype(np.uint16)
