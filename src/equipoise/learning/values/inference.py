# SPDX-License-Identifier: Apache-2.0
"""Value networks at work: from reaches to counterfactual values in the native module, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.kernels.value_nets import BucketKernel, CurveKernel, StateArrays
from equipoise.learning.values.boards import BoardFacts
from equipoise.learning.values.buckets import BucketSource, find_buckets
from equipoise.learning.values.configuration import NUM_RATIO_FEATURES, NetKind, ValueNetConfig
from equipoise.learning.values.weights import StoredNet

__all__ = ["BoundNet", "BucketValues", "CurveValues", "Questions", "bind_net"]

MAX_ROWS: Final = 1 << 12  # boards whose buckets are kept

FloatArray = npt.NDArray[np.float64]


class Questions(NamedTuple):
    """Public states of one street, B of them, without the reaches there."""

    boards: Sequence[BoardFacts]
    board_of: npt.NDArray[np.int32]  # [B] which of the boards
    ratio: FloatArray  # [B] of stack to pot
    pot: FloatArray  # [B] chips


class BoundNet(Protocol):
    """A network that can be asked."""

    config: ValueNetConfig

    def evaluate(
        self, asked: Questions, reach: tuple[FloatArray, FloatArray], *, num_threads: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Returns both players' counterfactual values in chips, of the shape of their reaches.

        Reaches are `[B, H]` of the deck's hands or `[B, n]` of the live ones.
        """
        ...


class CurveValues:
    """A curve network."""

    def __init__(self, stored: StoredNet) -> None:
        """Copies the weights."""
        self.config = stored.config
        self.kernel = CurveKernel(stored.config.axes, NUM_RATIO_FEATURES, stored.layers())

    def evaluate(
        self, asked: Questions, reach: tuple[FloatArray, FloatArray], *, num_threads: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Returns both players' counterfactual values in chips, of the shape of their reaches."""
        return self.kernel.evaluate(
            StateArrays([facts.bound for facts in asked.boards], asked.board_of, reach),
            self.config.encode_ratios(asked.ratio),
            share=self.config.share(asked.ratio),
            scale=asked.pot,
            num_threads=num_threads,
        )


class BucketValues:
    """A bucket network."""

    def __init__(self, stored: StoredNet, *, buckets: BucketSource | None = None) -> None:
        """Copies the weights.

        Args:
            stored: the network.
            buckets: that it was trained with; those of its configuration if None.
        """
        self.config = stored.config
        self.kernel = BucketKernel(stored.config.bucket_form, NUM_RATIO_FEATURES, stored.layers())
        self.buckets = find_buckets(stored.config) if buckets is None else buckets
        self._rows: dict[tuple[int, ...], npt.NDArray[np.uint16]] = {}

    def evaluate(
        self, asked: Questions, reach: tuple[FloatArray, FloatArray], *, num_threads: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Returns both players' counterfactual values in chips, of the shape of their reaches."""
        return self.kernel.evaluate(
            StateArrays([facts.bound for facts in asked.boards], asked.board_of, reach),
            np.stack([self._row(facts) for facts in asked.boards]),
            self.config.encode_ratios(asked.ratio),
            share=self.config.share(asked.ratio),
            scale=asked.pot,
            num_threads=num_threads,
        )

    def _row(self, facts: BoardFacts) -> npt.NDArray[np.uint16]:
        """Returns `[H]` the buckets of hands on a board; 0 where it blocks them."""
        if len(self._rows) >= MAX_ROWS:
            self._rows.clear()
        if facts.board not in self._rows:
            self._rows[facts.board] = np.maximum(self.buckets.assign(facts.board), 0).astype(np.uint16)
        return self._rows[facts.board]


def bind_net(stored: StoredNet) -> BoundNet:
    """Returns a network that can be asked."""
    return CurveValues(stored) if stored.config.kind is NetKind.CURVE else BucketValues(stored)
