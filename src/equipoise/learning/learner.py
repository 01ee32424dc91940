# SPDX-License-Identifier: Apache-2.0
"""What learners share: self-play on a history tree, and how well they have learned.

A learner plays against itself, one of its own in every seat, and can be asked at any time for the strategy that it has
come to. Nothing here knows torch.
"""

from __future__ import annotations

import abc

import numpy as np
import numpy.typing as npt

from equipoise.core.interruption import IsInterrupted, never
from equipoise.kernels.arrays import draw_generator
from equipoise.kernels.calls import check_integer
from equipoise.kernels.learning import LearningKernel
from equipoise.solvers.best_response import Evaluation, bind_history_kernel, evaluate
from equipoise.solvers.mccfr import lay_out_for_sampling
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.history import HistoryTree
from equipoise.trees.segments import flatten_ranges, starts

__all__ = ["SelfPlayLearner", "play_greedily"]

FloatArray = npt.NDArray[np.float64]


def play_greedily(tree: HistoryTree, value: FloatArray) -> FloatArray:
    """Returns `[Q]` the strategy that takes the actions of the largest value `[Q]`; those that tie share.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> sorted(set(play_greedily(tree, np.arange(tree.size.num_sequences, dtype=float)).tolist()))
    [0.0, 1.0]
    """
    cells = flatten_ranges(tree.first_sequence, tree.num_actions)
    first = starts(tree.num_actions)[:-1]
    own = value[cells]
    is_best = (own == np.repeat(np.maximum.reduceat(own, first), tree.num_actions)).astype(np.float64)
    out = np.ones(value.size)
    out[cells] = is_best / np.repeat(np.add.reduceat(is_best, first), tree.num_actions)
    return out


class SelfPlayLearner(abc.ABC):
    """A learner on a history tree, every seat for itself.

    >>> from equipoise.games import make_game
    >>> from equipoise.learning import QLearner
    >>> from equipoise.trees import build_history_tree
    >>> learner: SelfPlayLearner = QLearner(build_history_tree(make_game("kuhn")), rng=np.random.default_rng(0))
    >>> learner.train(1000)
    >>> learner.num_members
    1
    """

    def __init__(self, tree: HistoryTree, *, rng: np.random.Generator) -> None:
        self.tree = tree
        self.kernel = LearningKernel(lay_out_for_sampling(tree))
        self.random_words = draw_generator(rng)
        self.num_games = 0  # played so far by each setting
        self._evaluation_kernel = bind_history_kernel(tree)

    @property
    def num_members(self) -> int:
        """Returns how many settings learn side by side, each from games of its own."""
        return 1

    @property
    @abc.abstractmethod
    def games_per_step(self) -> int:
        """Returns how many games of each setting `train` plays before it learns from them, or can be interrupted."""

    @abc.abstractmethod
    def strategy(self, member: int = 0) -> FloatArray:
        """Returns `[Q]` what one setting has learned, without exploration."""

    @abc.abstractmethod
    def _train(self, num_games: int) -> int:
        """Plays some games of each setting, about so many at most, learns from them, and returns how many."""

    def train(self, num_games: int, is_interrupted: IsInterrupted = never) -> None:
        """Plays games and learns from them, at least so many of each setting; fewer once it is interrupted."""
        check_integer("num_games", num_games, 0)
        goal = self.num_games + num_games
        while self.num_games < goal and not is_interrupted():
            self.num_games += self._train(goal - self.num_games)

    def evaluate(self, member: int = 0) -> Evaluation:
        """Returns the exact quality of what one setting has learned."""
        return evaluate(self.tree, self.strategy(member), kernel=self._evaluation_kernel)

    def table(self, member: int = 0) -> TabularStrategy:
        """Returns what one setting has learned as a table, which can be saved and evaluated as any strategy."""
        return TabularStrategy.from_tree(self.tree, self.strategy(member))
