# SPDX-License-Identifier: Apache-2.0
"""Examples that are remembered as columns of arrays: a ring from which some are drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError

__all__ = ["ColumnMemory", "Columns", "Shapes", "count_bytes"]

Columns = Mapping[str, npt.NDArray[Any]]  # [B, ...] each


Shapes = Mapping[str, tuple[tuple[int, ...], npt.DTypeLike]]  # of one example's columns


def count_bytes(capacity: int, shapes: Shapes) -> int:
    """Returns the memory of so many examples.

    >>> count_bytes(10, {"value": ((3,), np.float32)})
    120
    """
    return capacity * sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes.values())


class ColumnMemory:
    """A ring of examples; new ones take the place of the oldest.

    >>> memory = ColumnMemory(2, {"value": ((), np.float32)})
    >>> memory.append({"value": np.array([1, 2, 3], np.float32)})
    >>> sorted(memory.columns["value"].tolist()), memory.count
    ([2.0, 3.0], 3)
    """

    def __init__(self, capacity: int, shapes: Shapes) -> None:
        """Makes room for so many examples, of columns of some shapes and types."""
        self.capacity, self.count = capacity, 0
        self.columns: dict[str, npt.NDArray[Any]] = {
            name: np.zeros((capacity, *shape), dtype) for name, (shape, dtype) in shapes.items()
        }

    def __len__(self) -> int:
        return min(self.count, self.capacity)

    def clear(self) -> None:
        """Forgets everything."""
        self.count = 0

    def keep_newest(self, size: int) -> None:
        """Forgets all but so many, the newest."""
        kept = min(size, len(self))
        place = (self.count + np.arange(-kept, 0)) % self.capacity
        for column in self.columns.values():
            column[:kept] = column[place]
        self.count = kept

    def append(self, examples: Columns) -> None:
        """Adds examples, oldest first."""
        size = len(next(iter(examples.values())))
        kept = min(size, self.capacity)
        place = (self.count + np.arange(size - kept, size)) % self.capacity
        for name, column in self.columns.items():
            column[place] = examples[name][size - kept :]
        self.count += size

    def draw(self, size: int, *, rng: np.random.Generator) -> dict[str, npt.NDArray[Any]]:
        """Returns examples, each as likely, with repetition."""
        place = rng.integers(0, len(self), size)
        return {name: column[place] for name, column in self.columns.items()}

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns what is remembered."""
        return {name: column[: len(self)].copy() for name, column in self.columns.items()} | {
            "count": np.array([self.count], np.int64)
        }

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes back to a state."""
        count = int(arrays["count"][0])
        size = min(count, self.capacity)
        for name, column in self.columns.items():
            if arrays[name].shape != (size, *column.shape[1:]) or not np.isfinite(arrays[name]).all():
                raise ConfigError(f"the saved examples are damaged: {name} has shape {arrays[name].shape}")
            column[:size] = arrays[name]
        self.count = count
