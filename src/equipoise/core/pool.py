# SPDX-License-Identifier: Apache-2.0
"""Work spread over processes: the protocol that callers need, and the pool of this machine's processes.

Results come back in the order of the tasks, whatever the number of workers: who sums them up in that order gets the
same result from any pool.
"""

from __future__ import annotations

import collections
import concurrent.futures
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures.process import BrokenProcessPool
from typing import Protocol, Self, TypeVar

from equipoise.core.errors import ConfigError, WorkerError

__all__ = ["LocalPool", "Pool"]

Task = TypeVar("Task")
Result = TypeVar("Result")

TASKS_AHEAD = 2  # per worker, that are handed out before their results are asked for


class Pool(Protocol):
    """Workers that turn tasks into results."""

    @property
    def num_workers(self) -> int:
        """Returns how many tasks are worked on at once."""
        ...

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """Yields `function(task)` for each task, in order.

        Tasks are taken a few ahead of the results that are asked for; closing the iterator drops those under way.
        Functions and tasks must be such as can be sent to another process.
        """
        ...


class LocalPool:
    """Processes of this machine; with one worker everything happens in the caller's process."""

    def __init__(self, num_workers: int = 1) -> None:
        if num_workers < 1:
            raise ConfigError(f"a pool needs at least one worker, got {num_workers}")
        self._num_workers = num_workers
        self._executor: concurrent.futures.ProcessPoolExecutor | None = None

    @property
    def num_workers(self) -> int:
        """Returns how many tasks are worked on at once."""
        return self._num_workers

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """Yields `function(task)` for each task, in order.

        >>> with LocalPool() as pool:
        ...     list(pool.map(abs, [-2, 3]))
        [2, 3]
        """
        if self._num_workers == 1:
            yield from map(function, tasks)
            return
        executor = self._start()
        pending: collections.deque[concurrent.futures.Future[Result]] = collections.deque()
        waiting = iter(tasks)
        try:
            while True:
                while len(pending) < TASKS_AHEAD * self._num_workers:
                    try:
                        pending.append(executor.submit(function, next(waiting)))
                    except StopIteration:
                        break
                if not pending:
                    return
                yield pending.popleft().result()
        except BrokenProcessPool:
            raise WorkerError("a worker process ended before its task was done; is memory short?") from None
        finally:
            for future in pending:
                future.cancel()

    def close(self) -> None:
        """Ends the processes once the tasks that they work on are done; others are dropped."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _start(self) -> concurrent.futures.ProcessPoolExecutor:
        if self._executor is None:
            # forking would copy the native module's threads half; fresh processes cost a second
            self._executor = concurrent.futures.ProcessPoolExecutor(
                self._num_workers, mp_context=multiprocessing.get_context("spawn"), initializer=_prepare_worker
            )
        return self._executor


def _prepare_worker() -> None:
    """Leaves Ctrl-C, which a terminal sends to all processes, to the one that waits for results, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Waits for the end of the process that wants the results, however it comes; nobody else would end this one."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "workers are started by another process"
    parent.join()
    os._exit(1)
