# SPDX-License-Identifier: Apache-2.0
"""What predicts advantages from remembered ones, as a protocol; the exact one is a table. Nothing here needs torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.interruption import IsInterrupted, never
from equipoise.learning.columns import ColumnMemory
from equipoise.learning.deep_cfr.settings import Fallback

__all__ = ["Regressor", "TableRegressor", "match_regrets"]

FloatArray = npt.NDArray[np.float64]
AnyArray = npt.NDArray[Any]


class Regressor(Protocol):
    """What a player's advantages are, learnt from samples of them.

    Places are what a walk calls information states: numbers on a tree, features elsewhere. Columns of a memory are
    `place`, `is_legal` `[A]`, `target` `[A]` and `weight`.
    """

    @property
    def dtype(self) -> npt.DTypeLike:
        """Returns what remembered numbers are made of."""
        ...

    def fit(self, memory: ColumnMemory, iteration: int, *, is_interrupted: IsInterrupted = never) -> None:
        """Learns from all that is remembered after so many iterations; may raise `AbandonedError` on the way."""
        ...

    def predict(self, place: AnyArray, is_legal: npt.NDArray[np.bool_]) -> FloatArray:
        """Returns `[B, A]` advantages, on any scale that is one for all actions of a place."""
        ...

    def state(self) -> dict[str, AnyArray]:
        """Returns what it has learnt."""
        ...

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """Goes back to what it had learnt."""
        ...


class TableRegressor:
    """Sums of regrets for every information set: what networks stand in for, and forgets nothing but what memory does.

    >>> table = TableRegressor(3, 2)
    >>> table.predict(np.array([1]), np.ones((1, 2), bool)).tolist()
    [[0.0, 0.0]]
    """

    dtype = np.float64

    def __init__(self, num_places: int, num_actions: int) -> None:
        self.regret_sum = np.zeros((num_places, num_actions))

    def fit(self, memory: ColumnMemory, iteration: int, *, is_interrupted: IsInterrupted = never) -> None:
        """Adds up what is remembered, in its order."""
        size = len(memory)
        weighed = memory.columns["weight"][:size, None] * memory.columns["target"][:size]
        self.regret_sum[:] = 0.0
        np.add.at(self.regret_sum, memory.columns["place"][:size], weighed)

    def predict(self, place: AnyArray, is_legal: npt.NDArray[np.bool_]) -> FloatArray:
        """Returns `[B, A]` sums of regrets."""
        found: FloatArray = self.regret_sum[place]
        return found

    def state(self) -> dict[str, AnyArray]:
        """Returns the sums."""
        return {"regret_sum": self.regret_sum.copy()}

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """Goes back to sums."""
        self.regret_sum[:] = arrays["regret_sum"]


def match_regrets(advantage: FloatArray, is_legal: npt.NDArray[np.bool_], fallback: Fallback) -> FloatArray:
    """Returns `[B, A]` what is played: positive advantages in proportion, or what `fallback` says without any.

    Actions that tie for the largest advantage share, so that networks that say nothing yet play uniformly.

    >>> legal = np.ones((2, 3), bool)
    >>> match_regrets(np.array([[1.0, 3.0, -1.0], [-2.0, -1.0, -1.0]]), legal, Fallback.ARGMAX).tolist()
    [[0.25, 0.75, 0.0], [0.0, 0.5, 0.5]]
    """
    positive = np.where(is_legal & (advantage > 0.0), advantage, 0.0)
    total = np.zeros(len(positive))
    for column in positive.T:
        total += column  # in the order of actions, as the native module adds
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scale = 1.0 / total
        out = np.where((scale < 1e300)[:, None], positive * scale[:, None], positive / total[:, None])
    none = total == 0.0
    if none.any():
        chosen = is_legal[none]
        if fallback is Fallback.ARGMAX:
            shown = np.where(chosen, advantage[none], -np.inf)
            chosen = shown == shown.max(axis=1, keepdims=True)
        out[none] = (1.0 / chosen.sum(axis=1))[:, None] * chosen
    return out
