# SPDX-License-Identifier: Apache-2.0
"""Arithmetic that gives the same bits on every machine, where libraries choose by processor and version.

Matrix products of NumPy and exp, log and powers of the C library differ in their last bits from one machine to another.
What runs are computed from uses these functions instead; what is only printed need not.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError

__all__ = ["EXACT_EXPONENTS", "dot", "exponential", "logarithm", "multiply", "power", "powers"]

FloatArray = npt.NDArray[np.float64]

EXACT_EXPONENTS: Final = (0.0, 0.5, 1.0, 1.5, 2.0)  # whose powers are products and roots


def multiply(first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
    """Returns what `first @ second` does, each number added up from left to right; zeros of the first add nothing.

    Args:
        first: `[A, B]` or `[B]`.
        second: `[B, C]` or `[B]`.

    >>> multiply([[1.0, 2.0], [0.0, 1.0]], [3.0, 4.0]).tolist()
    [11.0, 4.0]
    """
    left, right = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if not (1 <= left.ndim <= 2 and 1 <= right.ndim <= 2 and left.shape[-1] == right.shape[0]):
        raise ConfigError(f"matrices of shapes {left.shape} and {right.shape} have no product")
    rows = np.ascontiguousarray(np.atleast_2d(left))
    columns = np.ascontiguousarray(right if right.ndim == 2 else right[:, None])
    out = np.empty((rows.shape[0], columns.shape[1]))
    _native.multiply(first=rows, second=columns, out=out)
    return out.reshape(left.shape[:-1] + right.shape[1:])


def dot(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Returns the sum of products of two vectors `[A]`, added up from left to right.

    >>> dot([1.0, 2.0], [3.0, 4.0])
    11.0
    """
    return float(multiply(first, second))


def exponential(values: npt.ArrayLike) -> FloatArray:
    """Returns e to the power of each number, to about the last bit.

    >>> exponential([0.0, float("-inf")]).tolist()
    [1.0, 0.0]
    """
    given = np.ascontiguousarray(values, np.float64)
    out = np.empty_like(given)
    _native.exponential(values=given, out=out)
    return out


def logarithm(values: npt.ArrayLike) -> FloatArray:
    """Returns the natural logarithm of each number, to about the last bit.

    >>> logarithm([1.0, 0.0]).tolist()
    [0.0, -inf]
    """
    given = np.ascontiguousarray(values, np.float64)
    out = np.empty_like(given)
    _native.logarithm(values=given, out=out)
    return out


def power(base: float, exponent: float) -> float:
    """Returns base to the power of exponent, for bases of at least 0; exact products and roots for the usual ones.

    >>> power(4.0, 1.5), power(3.0, 2.0), power(0.0, 0.0)
    (8.0, 9.0, 1.0)
    """
    if exponent == 2.0:
        return base * base
    if exponent == 1.5:
        return base * math.sqrt(base)
    if exponent == 1.0:
        return base
    if exponent == 0.0:
        return 1.0
    if exponent == 0.5:
        return math.sqrt(base)
    return float(_native.raise_to(base, exponent))


def powers(bases: FloatArray, exponent: float) -> FloatArray:
    """Returns `[A]` the power of each base, the same bits as `power`.

    >>> powers(np.array([4.0, 9.0]), 1.5).tolist()
    [8.0, 27.0]
    """
    if exponent not in EXACT_EXPONENTS:
        return np.fromiter((power(base, exponent) for base in bases.tolist()), np.float64, bases.size)
    if exponent == 2.0:
        return bases * bases
    found: FloatArray = np.sqrt(bases) if exponent in (0.5, 1.5) else np.ones_like(bases)
    return found if exponent in (0.0, 0.5) else bases * found
