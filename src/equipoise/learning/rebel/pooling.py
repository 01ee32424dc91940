# SPDX-License-Identifier: Apache-2.0
"""Self-play by several processes or machines: each plays episodes to their ends with the weights that it is sent."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable

import numpy as np

from equipoise.core.interruption import never
from equipoise.core.pool import Pool
from equipoise.games.registry import parse_game
from equipoise.learning import pooled_play
from equipoise.learning.rebel.nets import bind_belief_net
from equipoise.learning.rebel.policies import bind_guide
from equipoise.learning.rebel.self_play import Examples, SelfPlay
from equipoise.learning.rebel.settings import RebelSettings, SearchRecipe
from equipoise.learning.values.weights import StoredNet
from equipoise.search.belief_games import BeliefGame, parse_horizon

__all__ = ["PlayTask", "PooledPlay", "play_episodes"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlayTask:
    """What a process is sent: weights, and how many examples to make with them."""

    net: StoredNet
    policy: StoredNet | None  # that proposes what searches begin with
    settings: RebelSettings
    recipe: SearchRecipe
    count: int
    seed: tuple[int, ...]  # of this task alone


@functools.lru_cache(2)
def _find_game(label: str, horizon: str) -> BeliefGame:
    return BeliefGame.of(parse_game(label), parse_horizon(horizon))


def play_episodes(task: PlayTask) -> tuple[Examples, float]:
    """Returns examples and the seconds of CPU time that they took."""
    began = time.process_time()
    game = _find_game(task.net.config.game, task.settings.horizon)
    play = SelfPlay(game, task.settings, task.recipe)
    play.search_with(task.recipe, bind_belief_net(task.net), bind_guide(game, task.policy, task.settings))
    examples = play.generate(task.count, rng=np.random.default_rng(task.seed), is_finished=True)
    return examples, time.process_time() - began


Weights = tuple[StoredNet, StoredNet | None]  # of values, and of what proposes strategies


class PooledPlay(pooled_play.PooledPlay[Weights]):
    """Self-play by the workers of a pool."""

    def __init__(
        self,
        pool: Pool,
        settings: RebelSettings,
        so_far: int,
        *,
        net: StoredNet,
        policy: StoredNet | None = None,
        is_over: Callable[[], bool] = never,
    ) -> None:
        """Begins with the first cycle; nothing is played before it is asked for.

        Args:
            pool: who plays.
            settings: of the training.
            so_far: examples that were made before.
            net: present weights.
            policy: those of what proposes strategies, if anything does.
            is_over: whether to stop waiting for workers.
        """
        self.settings, self.so_far = settings, so_far
        super().__init__(pool, play_episodes, weights=(net, policy), is_over=is_over)

    def make_task(self, number: int, cycle: int, weights: Weights) -> PlayTask:
        """Returns a task."""
        settings = self.settings
        net, policy = weights
        return PlayTask(
            net=net,
            policy=policy,
            settings=settings,
            recipe=settings.recipe_at(self.so_far + cycle * settings.cycle),
            count=self.share_of(settings.cycle),
            seed=(settings.seed, 23, self.so_far, number),
        )
