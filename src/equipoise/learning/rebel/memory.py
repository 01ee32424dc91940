# SPDX-License-Identifier: Apache-2.0
"""What self-play has found, as much of it as is remembered: a ring from which examples are drawn."""

from __future__ import annotations

import numpy as np

from equipoise.learning.columns import ColumnMemory
from equipoise.learning.rebel.self_play import Examples

__all__ = ["ExampleMemory"]


class ExampleMemory(ColumnMemory):
    """A ring of examples; new ones take the place of the oldest."""

    def __init__(self, capacity: int, width: int) -> None:
        """Makes room for so many examples of private states."""
        self.width = width
        pairs = ((2, width), np.float32)
        super().__init__(capacity, {"kind": ((), np.int32), "belief": pairs, "value": pairs})

    def add(self, examples: Examples) -> None:
        """Adds examples, oldest first."""
        self.append({name: getattr(examples, name) for name in self.columns})

    def sample(self, size: int, *, rng: np.random.Generator) -> Examples:
        """Returns examples, each as likely, with repetition."""
        drawn = self.draw(size, rng=rng)
        return Examples(kind=drawn["kind"], belief=drawn["belief"], value=drawn["value"])
