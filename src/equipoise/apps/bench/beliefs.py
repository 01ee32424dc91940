# SPDX-License-Identifier: Apache-2.0
"""What `equipoise bench beliefs` measures: subgames a second by lanes and by processes, and the network's share."""

from __future__ import annotations

import dataclasses
import functools
import time
from typing import Any, Final

import numpy as np

from equipoise.apps.bench.rows import RowsReport
from equipoise.core.errors import ConfigError
from equipoise.core.local_pool import LocalPool
from equipoise.core.reporting import OnStep
from equipoise.games.registry import parse_game
from equipoise.kernels.belief_search import LANES
from equipoise.learning.rebel.nets import bind_belief_net, make_config
from equipoise.learning.rebel.self_play import SelfPlay
from equipoise.learning.rebel.settings import RebelSettings
from equipoise.learning.values.weights import StoredNet, expected_shapes
from equipoise.search.belief_games import BeliefGame, parse_horizon

__all__ = ["BeliefsReport", "BeliefsSettings", "run_beliefs"]

PER_CALL: Final = 512  # examples between two looks at the clock
WARM_SECONDS: Final = 0.01  # of a first measurement, for which processes read everything they need
LANES_OF_PLAY: Final = RebelSettings().lanes  # that several processes are measured with


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BeliefsSettings:
    """What to measure and for how long."""

    game: str = "liars_dice(dice=1,faces=4)"
    horizon: str = "2"
    widths: tuple[int, ...] = (64, 128)  # of a network's hidden layers
    lanes: tuple[int, ...] = LANES
    processes: tuple[int, ...] = (1, 2)  # that play beside each other
    seconds: float = 2.0  # least CPU time of one measurement

    def __post_init__(self) -> None:
        parse_horizon(self.horizon)
        if not self.seconds > 0:
            raise ConfigError(f"seconds must be positive, got {self.seconds}")
        if not self.processes or min(self.processes) < 1:
            raise ConfigError(f"processes must be at least 1, got {', '.join(map(str, self.processes)) or 'none'}")
        if not self.widths or min(self.widths) < 1:
            raise ConfigError(f"widths must be at least 1, got {', '.join(map(str, self.widths)) or 'none'}")


BeliefsReport = RowsReport[BeliefsSettings]


def run_beliefs(settings: BeliefsSettings, *, on_step: OnStep | None = None) -> BeliefsReport:
    """Returns searches of self-play a second, by width of the network, lanes and processes.

    Lanes are compared in CPU time, processes by the clock: on a busy machine the latter mean little.
    """
    report = BeliefsReport(settings=settings)
    say = on_step or (lambda _share, _text: None)
    game = _find_game(settings.game, settings.horizon)
    alone = [(width, lanes, 1) for width in settings.widths for lanes in settings.lanes]
    together = [(width, LANES_OF_PLAY, count) for width in settings.widths for count in settings.processes]
    jobs = alone + together
    try:
        for done, (width, lanes, count) in enumerate(jobs):
            say(done / len(jobs), f"width {width}, {lanes} lanes, {count} at a time")
            if done < len(alone):
                report.rows.append(_measure(game, settings, width, lanes))
            else:
                report.rows.append(_measure_together(settings, width, count))
    except KeyboardInterrupt:
        report.is_partial = True
    return report


def _measure_together(settings: BeliefsSettings, width: int, count: int) -> dict[str, Any]:
    """Returns what several processes do that are measured at the same time."""
    tasks = [(settings, width)] * count
    with LocalPool(count, in_process=False) as pool:
        list(pool.map(_measure_task, [(dataclasses.replace(settings, seconds=WARM_SECONDS), width)] * count))
        rows = list(pool.map(_measure_task, tasks))
    return {
        **rows[0],
        "processes": count,
        "searches_per_cpu_second": sum(row["searches_per_cpu_second"] for row in rows) / count,
        "searches_per_second": sum(row["searches_per_second"] for row in rows),
        "net_share": sum(row["net_share"] for row in rows) / count,
    }


def _measure_task(task: tuple[BeliefsSettings, int]) -> dict[str, Any]:
    settings, width = task
    return _measure(_find_game(settings.game, settings.horizon), settings, width, LANES_OF_PLAY)


@functools.cache
def _find_game(text: str, horizon: str) -> BeliefGame:
    return BeliefGame.of(parse_game(text), parse_horizon(horizon))


def _measure(game: BeliefGame, settings: BeliefsSettings, width: int, lanes: int) -> dict[str, Any]:
    how = RebelSettings(horizon=settings.horizon, hidden=width, lanes=lanes)
    config = make_config(game, how, settings.game)
    rng = np.random.default_rng(0)
    shapes = expected_shapes(config)
    tensors = {name: rng.normal(0.0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}
    play = SelfPlay(game, how)
    play.searcher.net = bind_belief_net(StoredNet(config=config, tensors=tensors))
    play.generate(PER_CALL, rng=rng)
    play.searcher.net_seconds, play.num_searches[:] = 0.0, 0
    clock, began = time.perf_counter(), time.process_time()
    while (spent := time.process_time() - began) < settings.seconds:
        play.generate(PER_CALL, rng=rng)
    num_searches = float(play.num_searches.sum())
    return {
        "width": width,
        "lanes": lanes,
        "processes": 1,
        "iterations": how.training.iterations,
        "searches_per_second": num_searches / (time.perf_counter() - clock),
        "searches_per_cpu_second": num_searches / spent,
        "net_share": play.searcher.net_seconds / spent,
    }
