# SPDX-License-Identifier: Apache-2.0
"""Checks that arrays handed to the native module have the shape, dtype and layout it reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["check_array"]


def check_array(name: str, value: npt.NDArray[Any], dtype: npt.DTypeLike, shape: tuple[int, ...]) -> None:
    """Raises `TypeError` or `ValueError` unless the array is contiguous with this dtype and shape."""
    if value.dtype != np.dtype(dtype):
        raise TypeError(f"{name} must have dtype {np.dtype(dtype)}, got {value.dtype}")
    if value.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {value.shape}")
    if not value.flags.c_contiguous:
        raise ValueError(f"{name} must be C-contiguous")
