# SPDX-License-Identifier: Apache-2.0
"""Memories of samples as columns of arrays, of which a full one keeps a fair share of all that it was ever given."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise.core.memory import check_memory
from equipoise.learning.columns import ColumnMemory, Columns, Shapes, count_bytes
from equipoise.learning.deep_cfr.settings import Memory

__all__ = ["Reservoir", "make_memory"]


class Reservoir(ColumnMemory):
    """Samples, each of all that were ever offered as likely to be there (Vitter 1985, algorithm R).

    >>> memory = Reservoir(2, {"value": ((), np.float32)}, rng=np.random.default_rng(0))
    >>> memory.append({"value": np.arange(1000, dtype=np.float32)})
    >>> len(memory), memory.count
    (2, 1000)
    """

    def __init__(self, capacity: int, shapes: Shapes, *, rng: np.random.Generator) -> None:
        """Makes room for so many samples, of columns of some shapes and types."""
        super().__init__(capacity, shapes)
        self.rng = rng

    def append(self, examples: Columns) -> None:
        """Offers samples, oldest first."""
        size = len(next(iter(examples.values())))
        place = self._find_places(size)
        kept = place < self.capacity
        for name, column in self.columns.items():
            column[place[kept]] = examples[name][kept]  # of those that share a place the last one stays
        self.count += size

    def _find_places(self, size: int) -> npt.NDArray[np.int64]:
        """Returns where each new sample goes; those at or beyond the capacity are left out."""
        place = np.arange(self.count, self.count + size)
        late = place >= self.capacity
        place[late] = (self.rng.random(int(late.sum())) * (place[late] + 1)).astype(np.int64)
        return place


def make_memory(kind: Memory, capacity: int, shapes: Shapes, *, purpose: str, rng: np.random.Generator) -> ColumnMemory:
    """Returns an empty memory of a kind; raises `GameTooLargeError` if there is no room for it."""
    check_memory(count_bytes(capacity, shapes), f"remembering {capacity:,} {purpose}")
    if kind is Memory.SLIDING:
        return ColumnMemory(capacity, shapes)
    return Reservoir(capacity, shapes, rng=rng)
