# SPDX-License-Identifier: Apache-2.0
"""Many short walks down a history tree: UCT against a fixed strategy, and what players do in sampled hands."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.core.interruption import IsInterrupted, never
from equipoise.kernels.arrays import arrays_by_name, check_array, check_finite, check_generator, check_range
from equipoise.kernels.calls import check_finished, check_integer, check_player
from equipoise.kernels.sampling import SamplingArrays, check_sampling_arrays
from equipoise.kernels.turns import OneCaller

__all__ = ["WalkKernel"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
WordArray = npt.NDArray[np.uint64]


class WalkKernel:
    """A history tree as walks read it, and their scratch memory: one call at a time."""

    def __init__(self, arrays: SamplingArrays) -> None:
        check_sampling_arrays(arrays)
        self.num_players = arrays.utility.shape[0]
        self.num_sequences = arrays.num_sequences
        self.num_actions = arrays.num_actions
        self._one_caller = OneCaller("response")
        named = arrays_by_name(arrays)
        del named["edge_slot"], named["first_slot"], named["slot_probability"]  # walks draw every chance event
        self._walks = _native.Walks(named, arrays.num_sequences)

    def search_uct(
        self,
        player: int,
        strategy: FloatArray,
        *,
        num_iterations: int,
        exploration: float,
        fallback: IntArray,
        random_words: WordArray,
        is_interrupted: IsInterrupted = never,
    ) -> FloatArray:
        """Returns `[Q]` the pure strategy that a search from nothing finds for a player; advances `random_words`.

        Args:
            player: who searches.
            strategy: `[Q]` what the others play.
            num_iterations: of the search.
            exploration: the constant before the square root of UCB1, in units of utility.
            fallback: `[I]` the action beyond the search tree, and where it has tried nothing.
            random_words: `[4]` state of the generator, not all zero.
            is_interrupted: asked every few milliseconds; once true, `AbandonedError` is raised.
        """
        check_player(player, self.num_players)
        check_integer("num_iterations", num_iterations, 0)
        self._check_call(strategy, random_words)
        check_array("fallback", fallback, np.int32, self.num_actions.shape)
        check_range("fallback", fallback, 0, self.num_actions)
        if not 0 <= exploration < math.inf:
            raise ConfigError(f"exploration must be at least 0 and finite, got {exploration}")
        out = np.ones(self.num_sequences)
        with self._one_caller:
            is_finished = self._walks.search_uct(
                player,
                num_iterations,
                exploration,
                strategy=strategy,
                fallback=fallback,
                words=random_words,
                out=out,
                is_interrupted=is_interrupted,
            )
        check_finished(is_finished, "a search")
        return out

    def count_actions(
        self,
        player: int,
        strategy: FloatArray,
        *,
        num_hands: int,
        random_words: WordArray,
        is_interrupted: IsInterrupted = never,
    ) -> FloatArray:
        """Returns `[Q]` how often a player took each action in hands of a profile; advances `random_words`.

        Args:
            player: whose actions are counted.
            strategy: `[Q]` what everybody plays.
            num_hands: from the root to the end.
            random_words: `[4]` state of the generator, not all zero.
            is_interrupted: asked every few milliseconds; once true, `AbandonedError` is raised.
        """
        check_player(player, self.num_players)
        check_integer("num_hands", num_hands, 0)
        self._check_call(strategy, random_words)
        counts = np.zeros(self.num_sequences)
        with self._one_caller:
            is_finished = self._walks.count_actions(
                player,
                num_hands,
                strategy=strategy,
                words=random_words,
                counts=counts,
                is_interrupted=is_interrupted,
            )
        check_finished(is_finished, "a series of hands")
        return counts

    def _check_call(self, strategy: FloatArray, random_words: WordArray) -> None:
        check_array("strategy", strategy, np.float64, (self.num_sequences,))
        check_finite("strategy", strategy)
        check_generator(random_words)
