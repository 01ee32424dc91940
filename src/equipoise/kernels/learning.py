# SPDX-License-Identifier: Apache-2.0
"""What learners do at every node of a history tree: tabular Q-learning, and games played by a given strategy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_generator
from equipoise.kernels.calls import check_integer
from equipoise.kernels.sampling import SamplingArrays, SamplingKernel
from equipoise.kernels.turns import OneCaller

__all__ = ["Decisions", "LearningKernel"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
WordArray = npt.NDArray[np.uint64]


class Decisions(NamedTuple):
    """What was decided in some games, D decisions in all, game after game, in the order of play."""

    sequence: IntArray  # [D] what was done
    next_infoset: IntArray  # [D] in which the same player decided next, -1: never again
    returns: FloatArray  # [D] what the game paid that player in the end


class LearningKernel:
    """A history tree as learners read it: one call at a time."""

    def __init__(self, arrays: SamplingArrays) -> None:
        self.tree = SamplingKernel(arrays)
        self.num_sequences = arrays.num_sequences
        self.longest = _most_decisions(arrays)
        self._one_caller = OneCaller("learner")

    def learn_values(
        self, value: FloatArray, random_words: WordArray, num_games: int, *, step_size: float, exploration: float
    ) -> None:
        """Plays games in which every seat learns; updates `value` and `random_words` in place.

        Args:
            value: `[Q]` of each action at each information set.
            random_words: `[4]` state of the generator.
            num_games: one after the other.
            step_size: share of a value that its target replaces.
            exploration: probability of a uniform move.
        """
        check_integer("num_games", num_games, 0)
        if not 0 < step_size <= 1:
            raise ConfigError(f"step_size must be above 0 and at most 1, got {step_size}")
        if not 0 <= exploration <= 1:
            raise ConfigError(f"exploration must be between 0 and 1, got {exploration}")
        check_array("value", value, np.float64, (self.num_sequences,), is_written=True)
        check_generator(random_words)
        with self._one_caller:
            _native.q_learning_play(self.tree.form, num_games, step_size, exploration, random_words, value)

    def play(self, strategy: FloatArray, random_words: WordArray, num_games: int) -> Decisions:
        """Returns the decisions of games in which all play `strategy` `[Q]`; `random_words` moves on."""
        check_integer("num_games", num_games, 0)
        check_array("strategy", strategy, np.float64, (self.num_sequences,))
        check_generator(random_words)
        room = num_games * self.longest
        sequence, next_infoset, returns = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room)
        with self._one_caller:
            count: int = _native.self_play(
                self.tree.form,
                strategy=strategy,
                num_games=num_games,
                random=random_words,
                sequence=sequence,
                next_infoset=next_infoset,
                returns=returns,
            )
        return Decisions(sequence[:count], next_infoset[:count], returns[:count])


def _most_decisions(arrays: SamplingArrays) -> int:
    """Returns the number of decisions on the longest path; children come after their parents."""
    above = np.zeros(arrays.actor.size, np.int32)
    nodes = np.zeros(1, np.int32)
    while nodes.size:
        counts = np.diff(arrays.first_edge)[nodes]
        begin = np.repeat(arrays.first_edge[nodes] - (np.cumsum(counts) - counts), counts)
        children = arrays.edge_child[begin + np.arange(counts.sum(), dtype=np.int32)]
        above[children] = np.repeat(above[nodes] + (arrays.actor[nodes] >= 0), counts)
        nodes = children
    return int(above.max(initial=0))
