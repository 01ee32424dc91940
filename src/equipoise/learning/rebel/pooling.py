# SPDX-License-Identifier: Apache-2.0
"""Self-play by several processes: each plays episodes to their ends with the weights that it is sent."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Iterator

import numpy as np

from equipoise.core.pool import Pool
from equipoise.games.registry import parse_game
from equipoise.learning.rebel.nets import bind_belief_net
from equipoise.learning.rebel.self_play import Examples, SelfPlay
from equipoise.learning.rebel.settings import RebelSettings, SearchRecipe
from equipoise.learning.values.weights import StoredNet
from equipoise.search.belief_games import BeliefGame, parse_horizon

__all__ = ["PlayTask", "play_episodes", "play_in_pool"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlayTask:
    """What a process is sent: weights, and how many examples to make with them."""

    net: StoredNet
    settings: RebelSettings
    recipe: SearchRecipe
    count: int
    seed: int  # of this task alone


@functools.lru_cache(2)
def _find_game(label: str, horizon: str) -> BeliefGame:
    return BeliefGame.of(parse_game(label), parse_horizon(horizon))


def play_episodes(task: PlayTask) -> tuple[Examples, float]:
    """Returns examples and the seconds of CPU time that they took."""
    began = time.process_time()
    play = SelfPlay(_find_game(task.net.config.game, task.settings.horizon), task.settings, task.recipe)
    play.searcher.net = bind_belief_net(task.net)
    examples = play.generate(task.count, rng=np.random.default_rng(task.seed), is_finished=True)
    return examples, time.process_time() - began


def play_in_pool(
    pool: Pool, net: StoredNet, settings: RebelSettings, so_far: int, *, count: int, rng: np.random.Generator
) -> Iterator[tuple[Examples, float]]:
    """Yields examples of a pool's workers, at least so many in all, in an order that depends on their number alone."""
    recipe = settings.recipe_at(so_far)
    each = -(-count // pool.num_workers)
    tasks = [
        PlayTask(net=net, settings=settings, recipe=recipe, count=each, seed=int(rng.integers(1 << 62)))
        for _ in range(pool.num_workers)
    ]
    yield from pool.map(play_episodes, tasks)
