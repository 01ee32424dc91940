# SPDX-License-Identifier: Apache-2.0
"""Self-play by several processes or machines, which go on while the caller learns; what they play is a subclass's."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Callable, Iterator
from typing import Any, Final, Generic, TypeVar

from equipoise.core.interruption import IsInterrupted, never
from equipoise.core.pool import Pool, Supervision

__all__ = ["LAG", "PooledPlay"]

LAG: Final = 2  # cycles by which players' weights are older: at most so many are handed out before results are in
Weights = TypeVar("Weights")
Played = tuple[Any, float]  # examples, and the seconds of CPU time that they took


class PooledPlay(abc.ABC, Generic[Weights]):
    """Cycles of self-play by the workers of a pool.

    Task n belongs to cycle n // workers, is drawn from a seed of its own and played with the weights of two cycles
    before, whenever it is handed out: what is learnt depends on the number of workers, not on their speed. A worker
    that dies is replaced, and its task played again.
    """

    def __init__(
        self, pool: Pool, play: Callable[[Any], Played], *, weights: Weights, is_over: IsInterrupted = never
    ) -> None:
        """Begins with the first cycle; nothing is played before it is asked for.

        Args:
            pool: who plays.
            play: returns what a task asks for; it and tasks can be sent to other processes.
            weights: present ones.
            is_over: whether to stop waiting for workers.
        """
        self.num_workers = pool.num_workers
        self._cycle = 0  # that results are taken for
        self._weights = {0: weights}  # by the cycle before which there were these
        supervision = Supervision(is_interrupted=is_over, num_ahead=1)
        self._results = pool.map(play, self._tasks(), supervision=supervision)

    @abc.abstractmethod
    def make_task(self, number: int, cycle: int, weights: Weights) -> Any:
        """Returns the task of a number, which belongs to a cycle."""

    def share_of(self, examples: int) -> int:
        """Returns how many of a cycle's examples a task makes."""
        return -(-examples // self.num_workers)

    def _tasks(self) -> Iterator[Any]:
        for number in itertools.count():
            cycle = number // self.num_workers
            yield self.make_task(number, cycle, self._weights[max(cycle - LAG, 0)])

    def take_cycle(self) -> Iterator[Played]:
        """Yields the examples of one cycle, task by task, with the seconds that they took; fewer once it is over."""
        yield from itertools.islice(self._results, self.num_workers)

    def begin_cycle(self, weights: Weights) -> None:
        """Makes the weights known that were learnt from the cycle just taken."""
        self._cycle += 1
        self._weights[self._cycle] = weights
        self._weights.pop(self._cycle - LAG - 1, None)

    def close(self) -> None:
        """Drops what is under way."""
        self._results.close()
