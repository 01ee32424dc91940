# SPDX-License-Identifier: Apache-2.0
"""What `equipoise bench tabular` measures: Equipoise beside other programs, and its own cost against tree size.

A history is any node of the tree, terminals included. One iteration updates both players, so a rate of n iterations a
second on N histories is 1e9 / (2 n N) nanoseconds per history and player update. Nothing here prints.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import math
import statistics
from collections.abc import Iterator, Mapping
from typing import Any

from equipoise.apps.bench.engines import ENGINES, GAMES, RULES, Task
from equipoise.apps.bench.processes import EngineFailure, EngineProcess
from equipoise.apps.bench.rows import Steps
from equipoise.core.errors import ConfigError, MissingExtraError, UnknownNameError
from equipoise.core.machine import describe_origin, num_usable_cores
from equipoise.core.reporting import OnStep

__all__ = ["GROWTH_RANKS", "Sizes", "TabularReport", "TabularSettings", "run_tabular"]

OURS = "equipoise"
VECTOR = "equipoise-vector"
PLAYER_UPDATES = 2  # of one iteration
EVALUATED_GAME = "liars_dice"  # whose exact exploitability is timed
GROWTH_RULE = "cfr+"


class Sizes(enum.StrEnum):
    """How far cost is followed against tree size."""

    QUICK = "quick"
    FULL = "full"


GROWTH_RANKS: Mapping[Sizes, tuple[int, ...]] = {  # Leduc with two suits: 9,457 to 9,984,833 histories
    Sizes.QUICK: (3, 6, 13),
    Sizes.FULL: (3, 6, 13, 20, 26),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TabularSettings:
    """What to measure and for how long."""

    games: tuple[str, ...] = tuple(GAMES)
    rules: tuple[str, ...] = tuple(RULES)
    engines: tuple[str, ...] = tuple(ENGINES)
    repeats: int = 5  # measurements of each engine, interleaved; the median counts
    seconds: float = 1.0  # least time of one measurement
    growth_ranks: tuple[int, ...] = GROWTH_RANKS[Sizes.QUICK]  # of Leduc; empty: growth is not measured
    check_iterations: int = 20  # after which every engine must be equally exploitable
    tolerance: float = 1e-6  # relative, of that comparison

    def __post_init__(self) -> None:
        for kind, names, known in (
            ("game", self.games, GAMES),
            ("rule", self.rules, RULES),
            ("engine", self.engines, ENGINES),
        ):
            for name in names:
                if name not in known:
                    raise UnknownNameError(kind, name, known)
        if self.repeats < 1:
            raise ConfigError(f"repeats must be at least 1, got {self.repeats}")
        if not 0 < self.seconds < math.inf:
            raise ConfigError(f"seconds must be positive and finite, got {self.seconds}")


@dataclasses.dataclass(slots=True, kw_only=True)
class TabularReport:
    """What was measured so far."""

    settings: TabularSettings
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)  # one per game, rule and engine
    growth: list[dict[str, Any]] = dataclasses.field(default_factory=list)  # one per tree and number of threads
    exploitability: list[dict[str, Any]] = dataclasses.field(default_factory=list)  # time of an exact evaluation
    vector: list[dict[str, Any]] = dataclasses.field(default_factory=list)  # vector form against history form
    missing: list[str] = dataclasses.field(default_factory=list)  # engines left out, with the reason
    is_partial: bool = False  # interrupted before the end

    def as_json(self) -> dict[str, Any]:
        """Returns the report with its origin as JSON values."""
        return {**describe_origin(), **dataclasses.asdict(self)}


def run_tabular(settings: TabularSettings, *, on_step: OnStep | None = None) -> TabularReport:
    """Returns the measurements; an interrupted run returns what it has, marked partial."""
    report = TabularReport(settings=settings)
    engines = []
    for name in settings.engines:
        try:
            ENGINES[name].check_installed(name)
            engines.append(name)
        except MissingExtraError as error:
            report.missing.append(str(error))
    steps = _Steps(settings, len(engines), on_step)
    try:
        for game in settings.games:
            for rule in settings.rules:
                report.rows += _compare(game, rule, engines, settings, steps, report.missing)
        report.vector = _compare_forms(report.rows)
        if OURS in engines:
            _measure_growth(report, steps)
            _measure_evaluation(report, steps)
    except KeyboardInterrupt:
        report.is_partial = True
    return report


class _Steps(Steps):
    """The steps of the whole benchmark."""

    def __init__(self, settings: TabularSettings, num_engines: int, on_step: OnStep | None) -> None:
        comparisons = len(settings.games) * len(settings.rules) * num_engines * (settings.repeats + 1)
        growth = len(settings.growth_ranks) * len(_thread_counts()) * (settings.repeats + 1)
        super().__init__(comparisons + growth + 1, on_step)

    def report_building(self, num_histories: int, fraction: float) -> None:
        """Says how far a tree is built."""
        self.report(f", building: {num_histories:,} histories, {fraction:.0%}")


@contextlib.contextmanager
def _opened(task: Task, steps: _Steps) -> Iterator[EngineProcess]:
    """Yields an engine that is set up; it ends with the block."""
    with EngineProcess(task, on_progress=steps.report_building) as process:
        process.open()
        yield process


def _compare(
    game: str, rule: str, engines: list[str], settings: TabularSettings, steps: _Steps, missing: list[str]
) -> list[dict[str, Any]]:
    """Returns one row per engine: first checked to compute the same, then timed in turn."""
    with contextlib.ExitStack() as stack:
        processes: dict[str, EngineProcess] = {}
        checked: dict[str, float] = {}
        for engine in engines:
            steps.take(f"{game}, {rule}: checking {engine}")
            try:
                task = Task(engine=engine, game=game, rule=rule)
                processes[engine] = stack.enter_context(_opened(task, steps))
                checked[engine] = processes[engine].check(settings.check_iterations)
            except EngineFailure as error:
                processes.pop(engine, None)
                missing.append(str(error))
        rates: dict[str, list[float]] = {engine: [] for engine in processes}
        for repeat in range(settings.repeats):
            for engine, process in processes.items():
                steps.take(f"{game}, {rule}: timing {engine}, {repeat + 1} of {settings.repeats}")
                rates[engine].append(process.time_iterations(settings.seconds))
        histories = next((process.num_histories for process in processes.values() if process.num_histories), None)
    ours = statistics.median(rates[OURS]) if OURS in rates else None
    reference = checked.get(OURS)
    return [
        {
            "game": game,
            "rule": rule,
            "engine": engine,
            "iterations_per_second": statistics.median(measured),
            "speedup_of_equipoise": None if ours is None else ours / statistics.median(measured),
            "nanoseconds_per_history": _nanoseconds(statistics.median(measured), histories),
            "num_histories": histories,
            "repeats": len(measured),
            "slowest": min(measured),
            "fastest": max(measured),
            "exploitability": checked[engine],
            "check_iterations": settings.check_iterations,
            "is_same_result": None
            if reference is None
            else math.isclose(checked[engine], reference, rel_tol=settings.tolerance),
        }
        for engine, measured in rates.items()
    ]


def _compare_forms(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns how much faster the vector form is than the history form, wherever both were timed."""
    rates = {(row["game"], row["rule"], row["engine"]): row["iterations_per_second"] for row in rows}
    return [
        {
            "kind": "vector",
            "game": game,
            "rule": rule,
            "history_iterations_per_second": rates[game, rule, OURS],
            "vector_iterations_per_second": rate,
            "ratio": rate / rates[game, rule, OURS],
        }
        for (game, rule, engine), rate in rates.items()
        if engine == VECTOR and (game, rule, OURS) in rates
    ]


def _measure_growth(report: TabularReport, steps: _Steps) -> None:
    """Adds the cost per history and update of ever larger Leduc trees, on one thread and on two, to the report."""
    settings = report.settings
    smallest: dict[int, float] = {}
    for ranks in settings.growth_ranks:
        game = f"leduc(ranks={ranks},suits=2)"
        with contextlib.ExitStack() as stack:
            rates: dict[int, list[float]] = {}
            processes: dict[int, EngineProcess] = {}
            for threads in _thread_counts():
                steps.take(f"leduc with {ranks} ranks, {threads} threads: preparing")
                task = Task(engine=OURS, game=game, rule=GROWTH_RULE, num_threads=threads)
                processes[threads] = stack.enter_context(_opened(task, steps))
                rates[threads] = []
            for repeat in range(settings.repeats):
                for threads, process in processes.items():
                    steps.take(f"leduc with {ranks} ranks, {threads} threads: {repeat + 1} of {settings.repeats}")
                    rates[threads].append(process.time_iterations(settings.seconds))
            histories = processes[1].num_histories
        for threads, measured in rates.items():
            cost = _nanoseconds(statistics.median(measured), histories)
            assert cost is not None, "our engine knows its tree"
            report.growth.append(
                {
                    "kind": "growth",
                    "game": game,
                    "rule": GROWTH_RULE,
                    "engine": OURS,
                    "histories": histories,
                    "threads": threads,
                    "nanoseconds_per_history_and_update": cost,
                    "ratio_to_smallest": cost / smallest.setdefault(threads, cost),
                    "speedup_of_threads": statistics.median(measured) / statistics.median(rates[1]),
                    "repeats": len(measured),
                }
            )


def _measure_evaluation(report: TabularReport, steps: _Steps) -> None:
    """Adds the time of one exact exploitability (both best responses and the values) to the report."""
    settings = report.settings
    steps.take(f"{EVALUATED_GAME}: exact exploitability")
    if EVALUATED_GAME not in settings.games:
        return
    with _opened(Task(engine=OURS, game=EVALUATED_GAME, rule="cfr"), steps) as process:
        process.check(settings.check_iterations)
        measured = [process.time_evaluation(settings.seconds / settings.repeats) for _ in range(settings.repeats)]
        report.exploitability.append(
            {
                "kind": "exploitability",
                "game": EVALUATED_GAME,
                "engine": OURS,
                "threads": 1,
                "histories": process.num_histories,
                "milliseconds": 1e3 * statistics.median(measured),
                "repeats": len(measured),
            }
        )


def _nanoseconds(iterations_per_second: float, num_histories: int | None) -> float | None:
    """Returns nanoseconds per history and player update, None if the tree's size is not known."""
    if num_histories is None:
        return None
    return 1e9 / (iterations_per_second * PLAYER_UPDATES * num_histories)


def _thread_counts() -> tuple[int, ...]:
    return (1, 2) if num_usable_cores() > 1 else (1,)
