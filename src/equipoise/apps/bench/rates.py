# SPDX-License-Identifier: Apache-2.0
"""How many things a second a number of processes makes, on the clock and by processor time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from equipoise.core.local_pool import LocalPool

__all__ = ["Rate", "measure_rate"]

Task = TypeVar("Task")


class Rate(NamedTuple):
    """Things a second."""

    per_second: float  # of the clock: what else the machine does slows it down
    per_cpu_second: float


def measure_rate(
    work: Callable[[Task], tuple[int, float]], tasks: Iterable[Task], *, workers: int, seconds: float
) -> Rate:
    """Returns the rate of some work; what a process does for the first time is not counted.

    Args:
        work: returns how many things it made and what it took of the processor.
        tasks: without end.
        workers: processes.
        seconds: least time of the measurement.
    """
    count, busy, began, ended = 0, 0.0, 0.0, 0.0
    with LocalPool(workers) as pool:
        results = pool.map(work, tasks)
        for place, (made, took) in enumerate(results):
            if place < 2 * workers:
                began = time.perf_counter()
                continue
            count, busy, ended = count + made, busy + took, time.perf_counter()
            if ended - began >= seconds:
                break
        results.close()
    return Rate(count / (ended - began), count / busy)
