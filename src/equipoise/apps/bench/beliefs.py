# SPDX-License-Identifier: Apache-2.0
"""What `equipoise bench beliefs` measures: subgames a second by lanes, and the network's share of the time."""

from __future__ import annotations

import dataclasses
import time
from typing import Any, Final

import numpy as np

from equipoise.apps.bench.rows import RowsReport
from equipoise.core.errors import ConfigError
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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BeliefsSettings:
    """What to measure and for how long."""

    game: str = "liars_dice(dice=1,faces=4)"
    horizon: str = "2"
    widths: tuple[int, ...] = (64, 128)  # of a network's hidden layers
    lanes: tuple[int, ...] = LANES
    seconds: float = 2.0  # least CPU time of one measurement

    def __post_init__(self) -> None:
        parse_horizon(self.horizon)
        if not self.seconds > 0:
            raise ConfigError(f"seconds must be positive, got {self.seconds}")
        if not self.widths or min(self.widths) < 1:
            raise ConfigError(f"widths must be at least 1, got {', '.join(map(str, self.widths)) or 'none'}")


BeliefsReport = RowsReport[BeliefsSettings]


def run_beliefs(settings: BeliefsSettings, *, on_step: OnStep | None = None) -> BeliefsReport:
    """Returns searches of self-play a second of CPU time, by width of the network and lanes."""
    report = BeliefsReport(settings=settings)
    say = on_step or (lambda _share, _text: None)
    game = BeliefGame.of(parse_game(settings.game), parse_horizon(settings.horizon))
    jobs = [(width, lanes) for width in settings.widths for lanes in settings.lanes]
    try:
        for done, (width, lanes) in enumerate(jobs):
            say(done / len(jobs), f"width {width}, {lanes} lanes")
            report.rows.append(_measure(game, settings, width, lanes))
    except KeyboardInterrupt:
        report.is_partial = True
    return report


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
    began = time.process_time()
    while (spent := time.process_time() - began) < settings.seconds:
        play.generate(PER_CALL, rng=rng)
    return {
        "width": width,
        "lanes": lanes,
        "iterations": how.training.iterations,
        "searches_per_cpu_second": float(play.num_searches.sum()) / spent,
        "net_share": play.searcher.net_seconds / spent,
    }
