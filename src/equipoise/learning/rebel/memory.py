# SPDX-License-Identifier: Apache-2.0
"""What self-play has found, as much of it as is remembered: a ring from which examples are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.learning.rebel.self_play import Examples

__all__ = ["ExampleMemory"]


class ExampleMemory:
    """A ring of examples; new ones take the place of the oldest."""

    def __init__(self, capacity: int, width: int) -> None:
        """Makes room for so many examples of private states."""
        self.capacity, self.width, self.count = capacity, width, 0
        self.columns: dict[str, npt.NDArray[Any]] = {
            "kind": np.zeros(capacity, np.int32),
            "belief": np.zeros((capacity, 2, width), np.float32),
            "value": np.zeros((capacity, 2, width), np.float32),
        }

    def __len__(self) -> int:
        return min(self.count, self.capacity)

    def clear(self) -> None:
        """Forgets everything."""
        self.count = 0

    def add(self, examples: Examples) -> None:
        """Adds examples, oldest first."""
        kept = min(len(examples), self.capacity)
        place = (self.count + np.arange(len(examples) - kept, len(examples))) % self.capacity
        for name, column in self.columns.items():
            column[place] = getattr(examples, name)[len(examples) - kept :]
        self.count += len(examples)

    def sample(self, size: int, *, rng: np.random.Generator) -> Examples:
        """Returns examples, each as likely, with repetition."""
        place = rng.integers(0, len(self), size)
        return Examples(**{name: column[place] for name, column in self.columns.items()})

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
