# SPDX-License-Identifier: Apache-2.0
"""Guarded reads of a saved run's arrays: what is missing or of another shape is said, never half restored."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import CheckpointError
from equipoise.core.files import STEP_BYTES

__all__ = [
    "SavedArrays",
    "encode_json",
    "name_tables",
    "overwrite_tables",
    "read_array",
    "read_count",
    "read_json",
    "read_number",
]

SavedArrays = Mapping[str, npt.NDArray[np.generic]]


def name_tables(tables: Any) -> dict[str, npt.NDArray[np.generic]]:
    """Returns the arrays of a dataclass by the names of its fields."""
    return {field.name: getattr(tables, field.name) for field in dataclasses.fields(tables)}


def overwrite_tables(tables: Mapping[str, npt.NDArray[Any]], state: SavedArrays) -> None:
    """Overwrites every table with the saved one of its name; raises `CheckpointError` before any is touched."""
    saved = {name: read_array(state, name, table.dtype, table.shape) for name, table in tables.items()}
    for name, table in tables.items():
        _copy_steadily(saved[name], table)


def _copy_steadily(array: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
    """Copies an array into `out` in steps: signals are heard between two of them, and large tables take seconds."""
    if array.nbytes <= STEP_BYTES:
        out[...] = array
        return
    num_rows = max(1, STEP_BYTES * len(array) // array.nbytes)
    for begin in range(0, len(array), num_rows):
        out[begin : begin + num_rows] = array[begin : begin + num_rows]


def read_count(state: SavedArrays, name: str) -> int:
    """Returns a saved whole number that is not negative."""
    count = _read_scalar(state, name)
    if not isinstance(count, int) or count < 0:
        raise CheckpointError(f"saved {name} must be a whole number of at least 0, got {count}")
    return count


def read_number(state: SavedArrays, name: str) -> float:
    """Returns a saved number that is finite."""
    number = _read_scalar(state, name)
    if not isinstance(number, (int, float)) or not math.isfinite(number):
        raise CheckpointError(f"saved {name} must be a finite number, got {number}")
    return float(number)


def read_array(state: SavedArrays, name: str, dtype: npt.DTypeLike, shape: tuple[int, ...] | None) -> npt.NDArray[Any]:
    """Returns a saved array of this dtype and shape, any shape if None."""
    array = state.get(name)
    if array is None or array.dtype != np.dtype(dtype) or shape not in (None, array.shape):
        expected = f"dtype {np.dtype(dtype)}" if shape is None else f"shape {shape} of {np.dtype(dtype)}"
        raise CheckpointError(f"saved {name} must have {expected}, got {_describe(array)}")
    return array


def encode_json(value: Any) -> npt.NDArray[np.uint8]:
    """Returns names or a generator's state as bytes of JSON, because runs are saved as arrays of plain numbers."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def read_json(state: SavedArrays, name: str) -> Any:
    """Returns what `encode_json` was given; tuples come back as lists."""
    data = read_array(state, name, np.uint8, None)
    try:
        return json.loads(data.tobytes())
    except ValueError as error:
        raise CheckpointError(f"saved {name} must be JSON, got {data.size} bytes that are not: {error}") from None


def _read_scalar(state: SavedArrays, name: str) -> object:
    array = state.get(name)
    if array is None or array.shape != ():
        raise CheckpointError(f"saved {name} must be a single number, got {_describe(array)}")
    return array.item()


def _describe(array: npt.NDArray[np.generic] | None) -> str:
    return "nothing" if array is None else f"shape {array.shape} of {array.dtype}"
