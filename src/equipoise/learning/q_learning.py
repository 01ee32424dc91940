# SPDX-License-Identifier: Apache-2.0
"""Tabular Q-learning by self-play."""

from __future__ import annotations

import dataclasses

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.learning.learner import FloatArray, SelfPlayLearner, play_greedily
from equipoise.trees.history import HistoryTree

__all__ = ["QLearner", "QLearningConfig"]

GAMES_PER_CALL = 1_000_000  # a sixth of a second in Leduc, after which an interruption is looked for


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QLearningConfig:
    """How values are learned.

    >>> QLearningConfig(exploration=0.1).step_size
    0.1
    """

    step_size: float = 0.1  # share of a value that its target replaces, in (0, 1]
    exploration: float = 0.2  # probability of a uniform move while learning, in [0, 1]

    def __post_init__(self) -> None:
        if not 0 < self.step_size <= 1:
            raise ConfigError(f"step_size must be above 0 and at most 1, got {self.step_size}")
        if not 0 <= self.exploration <= 1:
            raise ConfigError(f"exploration must be between 0 and 1, got {self.exploration}")


class QLearner(SelfPlayLearner):
    """Q-learning over information sets, a table for each seat, one game after the other.

    Paper: Watkins & Dayan 1992, "Q-learning", Machine Learning 8, as in Schmid et al. 2021, "Player of Games",
        arXiv:2112.03178, appendix C.4.2 [SG21].
    Symbols: alpha -> step_size; epsilon -> exploration.
    Departs from the paper: [SG21] gives step sizes alone; exploration is the constant 0.2 of its library (OpenSpiel).
        What other seats do between two decisions is part of the environment; there is no discount.
    Checked by: tests/learning/test_q_learning.py.

    >>> import numpy as np
    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> learner = QLearner(tree, QLearningConfig(step_size=0.05), rng=np.random.default_rng(0))
    >>> learner.train(1000)
    >>> learner.evaluate().nash_conv > 0
    True
    """

    def __init__(self, tree: HistoryTree, config: QLearningConfig | None = None, *, rng: np.random.Generator) -> None:
        super().__init__(tree, rng=rng)
        self.config = config or QLearningConfig()
        self.value = np.zeros(int(tree.sequence_start[-1]))  # [Q]

    @property
    def games_per_step(self) -> int:
        """Returns the games of a native call; it learns from each at once."""
        return GAMES_PER_CALL

    def strategy(self, member: int = 0) -> FloatArray:
        """Returns `[Q]` the actions of the largest value; there is one setting."""
        return play_greedily(self.tree, self.value)

    def _train(self, num_games: int) -> int:
        num_games = min(num_games, GAMES_PER_CALL)
        self.kernel.learn_values(
            self.value,
            self.random_words,
            num_games,
            step_size=self.config.step_size,
            exploration=self.config.exploration,
        )
        return num_games
