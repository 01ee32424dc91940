# SPDX-License-Identifier: Apache-2.0
"""Checks that arrays handed to the native module are what it reads: shape, dtype, layout, and where they point.

The native module trusts every index; forms check theirs once, when they are bound.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "arrays_by_name",
    "check_array",
    "check_axes",
    "check_finite",
    "check_generator",
    "check_range",
    "check_segments",
    "draw_generator",
]

ONE_THREAD: Final = 8192  # numbers of a product that BLAS computes alone: its teams cost milliseconds on a busy machine


def arrays_by_name(*holders: DataclassInstance) -> dict[str, npt.NDArray[Any]]:
    """Returns the arrays among the fields of dataclasses, as the native module takes them."""
    return {
        field.name: value
        for holder in holders
        for field in dataclasses.fields(holder)
        if isinstance(value := getattr(holder, field.name), np.ndarray)
    }


def check_axes(name: str, value: npt.NDArray[Any], num_axes: int) -> None:
    """Raises `TypeError` or `ValueError` unless this is an array of so many axes."""
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array, got {type(value).__name__}")
    if value.ndim != num_axes:
        raise ValueError(f"{name} must have {num_axes} axes, got shape {value.shape}")


def check_array(
    name: str, value: npt.NDArray[Any], dtype: npt.DTypeLike, shape: tuple[int, ...], *, is_written: bool = False
) -> None:
    """Raises `TypeError` or `ValueError` unless the array is contiguous with this dtype and shape.

    Args:
        name: what messages call it.
        value: the array.
        dtype: exactly.
        shape: exactly.
        is_written: whether it must not be read-only.
    """
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array, got {type(value).__name__}")
    if value.dtype != dtype:
        raise TypeError(f"{name} must have dtype {np.dtype(dtype)}, got {value.dtype}")
    if value.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {value.shape}")
    flags = value.flags
    if flags.carray:  # contiguous, aligned, and not read-only
        return
    if not (flags.c_contiguous and flags.aligned):
        raise ValueError(f"{name} must be C-contiguous and aligned")
    if is_written:
        raise ValueError(f"{name} is written to, got a read-only array")


def check_finite(name: str, value: npt.NDArray[Any]) -> None:
    """Raises `ValueError` if a number is NaN or infinite."""
    flat = value.reshape(-1)
    parts = (flat[begin : begin + ONE_THREAD] for begin in range(0, flat.size, ONE_THREAD))
    if all(math.isfinite(np.vdot(part, part)) for part in parts):  # a tenth of what follows, and no temporary array
        return
    is_finite = np.isfinite(value)
    if not is_finite.all():
        place = int(np.argmin(is_finite.ravel()))
        raise ValueError(f"{name} must be finite, got {value.ravel()[place]} at place {place}")


def draw_generator(rng: np.random.Generator) -> npt.NDArray[np.uint64]:
    """Returns `[4]` the state of a native generator."""
    return rng.integers(1, 2**64 - 1, size=4, dtype=np.uint64, endpoint=True)


def check_generator(random_words: npt.NDArray[np.uint64]) -> None:
    """Raises unless these four words are a state that the native generator (xoshiro256**) can go on from."""
    check_array("random_words", random_words, np.uint64, (4,), is_written=True)
    if not random_words.any():
        raise ValueError("random_words must not all be zero")


def check_range(name: str, value: npt.NDArray[Any], low: npt.ArrayLike, high: npt.ArrayLike) -> None:
    """Raises `ValueError` unless every number is at least `low` and below `high`, which may be arrays like it."""
    is_outside = (value < low) | (value >= high)
    if is_outside.any():
        place = np.unravel_index(int(np.argmax(is_outside)), is_outside.shape)
        least, limit = (int(np.broadcast_to(bound, value.shape)[place]) for bound in (low, high))
        where = ", ".join(map(str, place))
        raise ValueError(f"{name} must be at least {least} and below {limit}, got {value[place]} at place {where}")


def check_segments(name: str, start: npt.NDArray[np.int32], size: int, *, shortest: int = 0) -> None:
    """Raises `ValueError` unless the starts cut `[0, size)` into consecutive segments, none below `shortest`."""
    if start[0] != 0 or start[-1] != size:
        raise ValueError(f"{name} must go from 0 to {size}, got {start[0]} to {start[-1]}")
    lengths = np.diff(start.astype(np.int64))
    if lengths.min(initial=shortest) < shortest:
        place = int(np.argmin(lengths))
        raise ValueError(
            f"{name} must ascend by at least {shortest}, got {start[place]} and {start[place + 1]} at place {place}"
        )
