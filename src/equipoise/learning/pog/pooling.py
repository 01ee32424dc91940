# SPDX-License-Identifier: Apache-2.0
"""Sound self-play by several processes or machines: each plays episodes to their ends, and solves their queries."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable

import numpy as np

from equipoise.core.interruption import never
from equipoise.core.pool import Pool
from equipoise.games.registry import parse_game
from equipoise.learning.columns import Columns
from equipoise.learning.pog.games import SelfPlayGame
from equipoise.learning.pog.self_play import SoundSelfPlay
from equipoise.learning.pog.settings import PogSettings
from equipoise.learning.pooled_play import PooledPlay
from equipoise.learning.values.weights import StoredNet

__all__ = ["PooledSearches", "SearchTask", "play_and_solve"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchTask:
    """What a process is sent: weights, and how many examples to make with them."""

    net: StoredNet
    settings: PogSettings
    count: int
    seed: tuple[int, ...]  # of this task alone


@functools.lru_cache(2)
def _find_game(label: str) -> SelfPlayGame:
    return SelfPlayGame(parse_game(label))


def play_and_solve(task: SearchTask) -> tuple[Columns, float]:
    """Returns examples and the seconds of CPU time that they took."""
    began = time.process_time()
    game = _find_game(task.net.config.game)
    leaves = game.leaves(task.net, temperature=task.settings.prior_temperature)
    examples = SoundSelfPlay(game, task.settings, leaves).generate(task.count, rng=np.random.default_rng(task.seed))
    return examples, time.process_time() - began


class PooledSearches(PooledPlay[StoredNet]):
    """Episodes and solved queries by the workers of a pool."""

    def __init__(
        self,
        pool: Pool,
        settings: PogSettings,
        so_far: int,
        *,
        net: StoredNet,
        is_over: Callable[[], bool] = never,
    ) -> None:
        """Begins with the first cycle.

        Args:
            pool: who plays and solves.
            settings: of the training.
            so_far: examples that were made before.
            net: present weights.
            is_over: whether to stop waiting for workers.
        """
        self.settings, self.so_far = settings, so_far
        super().__init__(pool, play_and_solve, weights=net, is_over=is_over)

    def make_task(self, number: int, cycle: int, weights: StoredNet) -> SearchTask:
        """Returns a task."""
        settings = self.settings
        seed = settings.seed, 22, self.so_far, number
        return SearchTask(net=weights, settings=settings, count=self.share_of(settings.cycle), seed=seed)
