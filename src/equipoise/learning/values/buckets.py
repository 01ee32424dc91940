# SPDX-License-Identifier: Apache-2.0
"""Which buckets a network sees hands in: classes before the flop, clusters of strength histograms after it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.buckets import KMeans, build_buckets
from equipoise.abstraction.hand_strength import OnProgress
from equipoise.games.holdem.betting import Street
from equipoise.learning.values.configuration import ValueNetConfig

__all__ = ["BucketSource", "find_buckets"]


class BucketSource(Protocol):
    """Buckets of hands on any board of a street."""

    def assign(self, board: Sequence[int]) -> npt.NDArray[np.int32]:
        """Returns `[H]` the bucket of every hand of the deck, -1 where the board blocks it."""
        ...


@functools.lru_cache(4)
def find_buckets(config: ValueNetConfig, on_progress: OnProgress | None = None) -> BucketSource:
    """Returns the buckets of a network, from the cache on disk if they are there; 1,000 on the turn take minutes.

    Before the flop they are the classes of hands (AKs, QQ, ...), 169 of the full deck.

    Paper: Moravcik et al. 2017, "DeepStack: Expert-level artificial intelligence in heads-up no-limit poker", whose
        networks see 1,000 clusters of hands for each board.
    Departs from the paper: clusters are of all boards of a street, found from a sample of pairs of hand and board.
    """
    sizes: list[int | None] = [None, *[config.buckets] * config.street]
    if config.street is Street.PREFLOP:
        sizes = [None]
    return build_buckets(KMeans(), config.cards, sizes=sizes, on_progress=on_progress)
