# SPDX-License-Identifier: Apache-2.0
"""What `equipoise bench responses` measures: processor time of UCT iterations, watched hands and CFR-f updates."""

from __future__ import annotations

import dataclasses
import functools
import statistics
import time
from collections.abc import Callable
from typing import Final

import numpy as np

from equipoise.apps.bench.rows import RowsReport
from equipoise.core.errors import ConfigError
from equipoise.core.reporting import OnStep
from equipoise.games.registry import parse_game
from equipoise.responses.against import SeatLearner
from equipoise.responses.exact import BestResponse
from equipoise.responses.sampled import FBRResponse, UCTResponse
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR
from equipoise.trees.cache import load_or_build_history_tree

__all__ = ["ResponsesReport", "ResponsesSettings", "run_responses"]

OPPONENT_ITERATIONS: Final = 500  # of CFR, whose average is one of the opponents
UPDATES: Final = 200  # of CFR-f in one measurement


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesSettings:
    """What to measure and how often."""

    game: str = "leduc"
    count: int = 100_000  # iterations of UCT, or hands, in one call
    repeats: int = 9  # measurements in each seat

    def __post_init__(self) -> None:
        for name in ("count", "repeats"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")


ResponsesReport = RowsReport[ResponsesSettings]


def run_responses(settings: ResponsesSettings, *, on_step: OnStep | None = None) -> ResponsesReport:
    """Returns the measurements; an interrupted run returns what it has, marked partial."""
    report = ResponsesReport(settings=settings)
    tree = load_or_build_history_tree(parse_game(settings.game))
    solver = CFRSolver(tree, CFR())
    solver.iterate(OPPONENT_ITERATIONS)
    opponents = {
        f"CFR, {OPPONENT_ITERATIONS} iterations": solver.average_strategy(),
        "uniform": solver.kernel.normalize(np.zeros(solver.kernel.num_table_cells)),
    }
    uct, fbr = UCTResponse(tree, settings.count), FBRResponse(tree, settings.count)
    learners = [SeatLearner(tree, BestResponse(tree), seat=seat, rule=CFR()) for seat in (0, 1)]
    rng = np.random.default_rng(0)
    jobs: list[tuple[str, str, int, Callable[[int], object]]] = []
    for name, strategy in opponents.items():
        jobs.append(("UCT iteration", name, settings.count, functools.partial(uct.respond, strategy, rng=rng)))
        jobs.append(("watched hand", name, settings.count, functools.partial(fbr.observe, strategy, rng=rng)))
    jobs.append(("CFR-BR update", "best response", UPDATES, lambda seat: learners[seat].iterate(UPDATES)))
    try:
        for done, (what, opponent, count, call) in enumerate(jobs):
            if on_step is not None:
                on_step(done / len(jobs), f"{what}, {opponent}")
            times = [_time_call(call, repeat % 2) / count * 1e9 for repeat in range(2 * settings.repeats)]
            report.rows.append(
                {
                    "what": what,
                    "opponent": opponent,
                    "nanoseconds": statistics.median(times),
                    "fastest": min(times),
                    "slowest": max(times),
                }
            )
    except KeyboardInterrupt:
        report.is_partial = True
    return report


def _time_call(call: Callable[[int], object], seat: int) -> float:
    """Returns the seconds of processor time that a call takes."""
    began = time.process_time()
    call(seat)
    return time.process_time() - began
