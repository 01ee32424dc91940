# SPDX-License-Identifier: Apache-2.0
"""What `equipoise bench holdem` measures: the time of an iteration beside that of moving its tables through memory.

An iteration updates both players. The floor is `2 x stored bytes / B`, with B the bytes that copying a gigabyte reads
and writes a second on as many threads; tables that fit the last-level cache have none. Nothing here prints.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np

from equipoise.apps.bench.rows import Steps
from equipoise.apps.bench.worker import time_calls
from equipoise.core.errors import ConfigError
from equipoise.core.machine import describe_origin, last_level_cache_bytes, num_usable_cores
from equipoise.core.reporting import OnStep
from equipoise.games.holdem.cards import parse_board
from equipoise.games.holdem.menu_notation import MENUS
from equipoise.games.holdem.ranges import parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.solvers.cfr import CFRSolver, estimate_bytes
from equipoise.solvers.driver import next_evaluation
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree

__all__ = ["HoldemReport", "HoldemSettings", "example_spots", "measure_bandwidth", "run_holdem"]

TARGETS: Final[Mapping[str, float]] = {"seconds_to_half_percent": 0.005, "seconds_to_tenth_percent": 0.001}
COPIED_BYTES: Final = 1 << 30
WARM_UP_ITERATIONS: Final = 5  # fresh tables are pages of zeros that nobody has touched


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemSettings:
    """What to measure and for how long."""

    spots: Mapping[str, HoldemSpot]
    threads: tuple[int, ...] = (1, 2)
    repeats: int = 5  # measurements of an iteration; the median counts
    seconds: float = 1.0  # least time of one measurement
    longest: float = 60.0  # seconds of iterations after which a target is given up

    def __post_init__(self) -> None:
        if not self.spots:
            raise ConfigError("there is no spot to measure")
        if not self.threads or min(self.threads) < 1:
            raise ConfigError(f"threads must be at least 1, got {', '.join(map(str, self.threads)) or 'none'}")
        if self.repeats < 1:
            raise ConfigError(f"repeats must be at least 1, got {self.repeats}")
        for name in ("seconds", "longest"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise ConfigError(f"{name} must be positive and finite, got {value}")


@dataclasses.dataclass(slots=True, kw_only=True)
class HoldemReport:
    """What was measured so far."""

    settings: HoldemSettings
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)  # one per spot and number of threads
    bandwidth: dict[int, float] = dataclasses.field(default_factory=dict)  # bytes a second, by threads
    is_partial: bool = False  # interrupted before the end

    def as_json(self) -> dict[str, Any]:
        """Returns the report with its origin as JSON values."""
        return {
            **describe_origin(),
            "rows": self.rows,
            "bytes_copied_per_second": {str(threads): rate for threads, rate in self.bandwidth.items()},
            "repeats": self.settings.repeats,
            "seconds": self.settings.seconds,
            "is_partial": self.is_partial,
        }


def example_spots() -> dict[str, HoldemSpot]:
    """Returns a river and a turn with wide ranges, pot fractions as bets."""
    first = parse_range("22+, A2s+, K7s+, Q8s+, J8s+, T8s+, 97s+, 86s+, 75s+, 64s+, 54s, A8o+, KTo+, QTo+, JTo")
    second = parse_range("22+, A2s+, K2s+, Q6s+, J7s+, T7s+, 96s+, 85s+, 75s+, 64s+, 53s+, A5o+, K9o+, Q9o+, J9o+, T9o")
    return {
        name: HoldemSpot(
            board=parse_board(board), pot=600, stacks=(9_700, 9_700), ranges=(first, second), menu=MENUS["libratus"]
        )
        for name, board in (("river", "Ks 8d 4h 2c Td"), ("turn", "Ks 8d 4h 2c"))
    }


def measure_bandwidth(num_threads: int, *, repeats: int = 5, num_bytes: int = COPIED_BYTES) -> float:
    """Returns the bytes read plus written a second by a copy that `num_threads` share; the best of several."""
    source, copy = np.ones(num_bytes // 8), np.ones(num_bytes // 8)
    bounds = np.linspace(0, source.size, num_threads + 1).astype(int)
    parts = [slice(*pair) for pair in itertools.pairwise(bounds)]
    best = math.inf
    with ThreadPoolExecutor(num_threads) as pool:
        for _ in range(repeats):
            began = time.perf_counter()
            list(pool.map(lambda part: np.copyto(copy[part], source[part]), parts))
            best = min(best, time.perf_counter() - began)
    return 2 * source.nbytes / best


def run_holdem(settings: HoldemSettings, *, on_step: OnStep | None = None) -> HoldemReport:
    """Returns the measurements; an interrupted run returns what it has, marked partial."""
    report = HoldemReport(settings=settings)
    steps = Steps(len(settings.spots) * len(settings.threads) * (settings.repeats + 1), on_step)

    try:
        for name, spot in settings.spots.items():
            tree = build_holdem_tree(spot)
            for num_threads in settings.threads:
                report.rows.append(_measure(name, tree, num_threads, report, steps))
    except KeyboardInterrupt:
        report.is_partial = True
    return report


def _measure(name: str, tree: HoldemTree, num_threads: int, report: HoldemReport, steps: Steps) -> dict[str, Any]:
    """Returns the row of a spot on so many threads."""
    settings = report.settings
    label = f"{name}, {num_threads} thread{'s' if num_threads > 1 else ''}"
    steps.take(f"{label}: to {min(TARGETS.values()):.1%} of the pot")
    solver = CFRSolver(tree, num_threads=num_threads)
    reached = _seconds_to_targets(solver, settings.longest)
    rates = []
    for repeat in range(settings.repeats):
        steps.take(f"{label}: {repeat + 1} of {settings.repeats}")
        count, elapsed = time_calls(solver.iterate, settings.seconds)
        rates.append(count / elapsed)
    milliseconds = 1e3 / statistics.median(rates)
    stored = solver.tables.regret_sum.nbytes + solver.tables.strategy_sum.nbytes
    floor = _floor_milliseconds(stored, num_threads, report.bandwidth)
    return {
        "spot": name,
        "threads": num_threads,
        "ms_per_iteration": milliseconds,
        "floor_ms": floor,
        "ratio_to_floor": None if floor is None else milliseconds / floor,
        "bytes": estimate_bytes(tree, solver.rule, num_threads=num_threads),
        **reached,
        "stored_bytes": stored,
        "fastest_ms": 1e3 / max(rates),
        "slowest_ms": 1e3 / min(rates),
    }


def _seconds_to_targets(solver: CFRSolver[HoldemTree], longest: float) -> dict[str, float | None]:
    """Returns the seconds of iterations until each target is met, None where that takes too long."""
    solver.iterate(WARM_UP_ITERATIONS)
    solver.restore({name: np.zeros_like(array) for name, array in solver.state().items()})
    reached: dict[str, float | None] = dict.fromkeys(TARGETS)
    spent = 0.0
    while spent < longest and None in reached.values():
        began = time.perf_counter()
        solver.iterate(next_evaluation(solver.iteration) - solver.iteration)
        spent += time.perf_counter() - began
        share = solver.evaluate().exploitability / solver.tree.spot.root_pot
        for key, target in TARGETS.items():
            if reached[key] is None and share <= target:
                reached[key] = spent
    return reached


def _floor_milliseconds(stored_bytes: int, num_threads: int, bandwidth: dict[int, float]) -> float | None:
    """Returns the time in which memory moves the tables once in and out; None for tables that stay in the cache."""
    if stored_bytes <= last_level_cache_bytes():
        return None
    if num_threads not in bandwidth:
        bandwidth[num_threads] = measure_bandwidth(min(num_threads, num_usable_cores()))
    return 2e3 * stored_bytes / bandwidth[num_threads]
