# SPDX-License-Identifier: Apache-2.0
"""Memories of decisions: one ring for each setting and seat. Importing this module needs torch, the extra `[learn]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.learning.torch_extra import torch

__all__ = ["ReplayBatch", "ReplayBuffers"]


class ReplayBatch(NamedTuple):
    """Decisions drawn from every memory: settings M, seats P, B of each."""

    row: torch.Tensor  # [M, P, B] information set, numbered within the seat
    action: torch.Tensor  # [M, P, B]
    following: torch.Tensor  # [M, P, B] the seat's next information set, -1: there was none
    returns: torch.Tensor  # [M, P, B] what the game paid in the end


class ReplayBuffers:
    """Rings of decisions, of a size for each setting; new ones take the place of the oldest."""

    def __init__(self, sizes: Sequence[int], num_seats: int) -> None:
        self.size = np.repeat(np.asarray(sizes, np.int64)[:, None], num_seats, axis=1)  # [M, P]
        self.count = np.zeros_like(self.size)  # [M, P] added so far
        ends = np.cumsum(self.size).reshape(self.size.shape)
        self.first = ends - self.size  # [M, P] where each ring begins
        total = int(ends[-1, -1])
        self.columns: dict[str, npt.NDArray[Any]] = {
            "row": np.zeros(total, np.int64),
            "action": np.zeros(total, np.int64),
            "following": np.zeros(total, np.int64),
            "returns": np.zeros(total, np.float32),
        }

    def add(self, member: int, seat: int, **columns: npt.NDArray[Any]) -> None:
        """Adds decisions, oldest first, by the names of a batch's columns."""
        size, count = int(self.size[member, seat]), int(self.count[member, seat])
        num_new = len(columns["row"])
        kept = min(num_new, size)  # of more than fit the last ones stay
        place = self.first[member, seat] + (count + np.arange(num_new - kept, num_new)) % size
        for name, column in self.columns.items():
            column[place] = columns[name][num_new - kept :]
        self.count[member, seat] += num_new

    def sample(self, batch_size: int, *, rng: np.random.Generator) -> ReplayBatch:
        """Returns decisions drawn from every memory, each as likely, with repetition."""
        filled = np.minimum(self.count, self.size)
        if not filled.all():
            raise ConfigError("a memory without a decision cannot be drawn from")
        place = (rng.random((*filled.shape, batch_size)) * filled[..., None]).astype(np.int64) + self.first[..., None]
        return ReplayBatch(**{name: torch.from_numpy(column[place]) for name, column in self.columns.items()})
