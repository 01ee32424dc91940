# SPDX-License-Identifier: Apache-2.0
"""Self-play in hold'em by several processes or machines."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping

import numpy as np

from equipoise.core.interruption import never
from equipoise.core.pool import Pool
from equipoise.learning.pooled_play import PooledPlay
from equipoise.learning.rebel.holdem.nets import LayerNets
from equipoise.learning.rebel.holdem.play import HandExamples, HoldemSelfPlay
from equipoise.learning.rebel.holdem.settings import HoldemRebelSettings
from equipoise.learning.values.weights import StoredNet

__all__ = ["HandsTask", "PooledHands", "play_hands"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HandsTask:
    """What a process is sent: weights, and how many examples to make with them."""

    nets: Mapping[str, StoredNet]
    settings: HoldemRebelSettings
    iterations: int
    count: int
    seed: tuple[int, ...]  # of this task alone


def play_hands(task: HandsTask) -> tuple[HandExamples, float]:
    """Returns examples and the seconds of CPU time that they took."""
    began = time.process_time()
    play = HoldemSelfPlay(task.settings)
    play.search_with(LayerNets.of(task.settings, task.nets), task.iterations)
    examples = play.generate(task.count, rng=np.random.default_rng(task.seed))
    return examples, time.process_time() - began


class PooledHands(PooledPlay[Mapping[str, StoredNet]]):
    """Self-play by the workers of a pool."""

    def __init__(
        self,
        pool: Pool,
        settings: HoldemRebelSettings,
        so_far: int,
        *,
        nets: Mapping[str, StoredNet],
        is_over: Callable[[], bool] = never,
    ) -> None:
        """Begins with the first cycle; nothing is played before it is asked for.

        Args:
            pool: who plays.
            settings: of the training.
            so_far: examples that were made before.
            nets: present weights by name.
            is_over: whether to stop waiting for workers.
        """
        self.settings, self.so_far = settings, so_far
        super().__init__(pool, play_hands, weights=nets, is_over=is_over)

    def make_task(self, number: int, cycle: int, weights: Mapping[str, StoredNet]) -> HandsTask:
        """Returns a task."""
        settings = self.settings
        return HandsTask(
            nets=weights,
            settings=settings,
            iterations=settings.iterations_at(self.so_far + cycle * settings.cycle),
            count=self.share_of(settings.cycle),
            seed=(settings.seed, 29, self.so_far, number),
        )
