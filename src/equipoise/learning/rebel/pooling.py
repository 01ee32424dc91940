# SPDX-License-Identifier: Apache-2.0
"""Self-play by several processes or machines: each plays episodes to their ends with the weights that it is sent."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from equipoise.core.interruption import never
from equipoise.core.pool import Pool, Supervision
from equipoise.games.registry import parse_game
from equipoise.learning.rebel.nets import bind_belief_net
from equipoise.learning.rebel.policies import bind_guide
from equipoise.learning.rebel.self_play import Examples, SelfPlay
from equipoise.learning.rebel.settings import RebelSettings, SearchRecipe
from equipoise.learning.values.weights import StoredNet
from equipoise.search.belief_games import BeliefGame, parse_horizon

__all__ = ["PlayTask", "PooledPlay", "play_episodes"]

LAG: Final = 2  # cycles by which players' weights are older: at most so many are handed out before results are in


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


class PooledPlay:
    """Self-play by the workers of a pool, which go on while the caller learns.

    Task n belongs to cycle n // workers, is drawn from a seed of its own and played with the weights of two cycles
    before, whenever it is handed out: what is learnt depends on the number of workers, not on their speed. A worker
    that dies is replaced, and its task played again.
    """

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
        self.settings, self.so_far, self.num_workers = settings, so_far, pool.num_workers
        self._cycle = 0  # that results are taken for
        self._nets = {0: (net, policy)}  # by the cycle before which there were these weights
        supervision = Supervision(is_interrupted=is_over, num_ahead=1)
        self._results = pool.map(play_episodes, self._tasks(), supervision=supervision)

    def _tasks(self) -> Iterator[PlayTask]:
        settings = self.settings
        for number in itertools.count():
            cycle = number // self.num_workers
            net, policy = self._nets[max(cycle - LAG, 0)]
            yield PlayTask(
                net=net,
                policy=policy,
                settings=settings,
                recipe=settings.recipe_at(self.so_far + cycle * settings.cycle),
                count=-(-settings.cycle // self.num_workers),
                seed=(settings.seed, 23, self.so_far, number),
            )

    def take_cycle(self) -> Iterator[tuple[Examples, float]]:
        """Yields the examples of one cycle, task by task, with the seconds that they took; fewer once it is over."""
        yield from itertools.islice(self._results, self.num_workers)

    def begin_cycle(self, net: StoredNet, policy: StoredNet | None = None) -> None:
        """Makes the weights known that were learnt from the cycle just taken."""
        self._cycle += 1
        self._nets[self._cycle] = net, policy
        self._nets.pop(self._cycle - LAG - 1, None)

    def close(self) -> None:
        """Drops what is under way."""
        self._results.close()
