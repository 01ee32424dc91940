# SPDX-License-Identifier: Apache-2.0
"""Lists of lists as two arrays, the items one after the other and where each list starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["flatten_ranges", "join", "number_within", "starts"]

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]


def starts(counts: npt.ArrayLike) -> IntArray:
    """Returns where each of consecutive segments starts, and where the last one ends.

    >>> starts([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    sizes = np.asarray(counts, np.int64)
    out = np.zeros(sizes.size + 1, np.int32)
    np.cumsum(sizes, out=out[1:])
    return out


def number_within(counts: npt.NDArray[Any]) -> LongArray:
    """Returns the place of each item within its segment.

    >>> number_within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return flatten_ranges(np.zeros(counts.size, np.int64), counts)


def flatten_ranges(first: npt.NDArray[Any], count: npt.NDArray[Any]) -> LongArray:
    """Returns the concatenation of `first[k] .. first[k] + count[k] - 1` over all k."""
    total = int(count.sum())
    ends = np.cumsum(count, dtype=np.int64)
    flat: LongArray = np.arange(total) + np.repeat(first - (ends - count), count)
    return flat


def join(parts: Sequence[npt.NDArray[Any]], dtype: npt.DTypeLike, *, axis: int = 0) -> npt.NDArray[Any]:
    """Returns the concatenation of parts along an axis (of two, if it is the last), empty if there are none."""
    empty = np.empty((2, 0) if axis else 0, dtype)
    return np.ascontiguousarray(np.concatenate([empty, *parts], axis=axis).astype(dtype, copy=False))
