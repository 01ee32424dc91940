# SPDX-License-Identifier: Apache-2.0
"""What `equipoise bench values` measures: situations a second that are solved for value networks to learn from."""

from __future__ import annotations

import dataclasses
import itertools
import time
from typing import Any, Final

from equipoise.apps.bench.rates import measure_rate
from equipoise.apps.bench.rows import RowsReport
from equipoise.core.errors import ConfigError
from equipoise.core.reporting import OnStep
from equipoise.games.holdem.betting import Street
from equipoise.learning.values.filling import Source
from equipoise.learning.values.generation import SolvedSource
from equipoise.learning.values.labels import Labels
from equipoise.learning.values.toys import ToySource

__all__ = ["ValuesReport", "ValuesSettings", "run_values"]

WANTED: Final = {"river": 60, "toy river": None}  # situations a second on two cores
PER_TASK: Final = {"river": 10, "toy river": 192}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ValuesSettings:
    """What to measure and for how long."""

    menu: str = Labels().menu
    iterations: int = Labels().iterations
    workers: tuple[int, ...] = (1, 2)
    seconds: float = 10.0  # least time of one measurement

    def __post_init__(self) -> None:
        self.labels()
        if not self.workers or min(self.workers) < 1:
            raise ConfigError(f"workers must be at least 1, got {', '.join(map(str, self.workers)) or 'none'}")
        if not self.seconds > 0:
            raise ConfigError(f"seconds must be positive, got {self.seconds}")

    def labels(self) -> Labels:
        """Returns how situations are solved."""
        return Labels(menu=self.menu, iterations=self.iterations)


ValuesReport = RowsReport[ValuesSettings]


@dataclasses.dataclass(frozen=True, slots=True)
class _Timed:
    """Makes shards and says what they took."""

    source: Source

    def __call__(self, number: int) -> tuple[int, float]:
        """Returns situations and seconds of processor time."""
        began = time.process_time()
        self.source.make(number)
        return self.source.per_shard, time.process_time() - began


def run_values(settings: ValuesSettings, *, on_step: OnStep | None = None) -> ValuesReport:
    """Returns situations a second, by kind and number of processes."""
    report = ValuesReport(settings=settings)
    say = on_step or (lambda _share, _text: None)
    jobs = [(kind, workers) for kind in WANTED for workers in settings.workers]
    try:
        for done, (kind, workers) in enumerate(jobs):
            say(done / len(jobs), f"{kind}, {workers} processes")
            report.rows.append(_measure(settings, kind, workers))
    except KeyboardInterrupt:
        report.is_partial = True
    return report


def _measure(settings: ValuesSettings, kind: str, workers: int) -> dict[str, Any]:
    labels, size = settings.labels(), PER_TASK[kind]
    source: Source
    if kind == "river":
        source = SolvedSource(street=Street.RIVER, labels=labels, per_shard=size)
    else:
        source = ToySource(labels=labels, per_shard=size)
    rate = measure_rate(_Timed(source), itertools.count(), workers=workers, seconds=settings.seconds)
    return {
        "situations": kind,
        "workers": workers,
        "situations_per_second": rate.per_second,
        "situations_per_cpu_second": rate.per_cpu_second,
        "wanted_on_two_cores": WANTED[kind],
    }
