# SPDX-License-Identifier: Apache-2.0
"""What `equipoise bench matches` measures: hands a second between two blueprints, batched and hand by hand.

Processor time is what a hand costs; the rate on a clock also depends on what else the machine does.
"""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from equipoise.abstraction.bucketed_strategy import BucketedStrategy, BucketRecipe
from equipoise.agents.notation import AgentText
from equipoise.apps.bench.rates import measure_rate
from equipoise.apps.bench.rows import RowsReport
from equipoise.core.errors import ConfigError
from equipoise.core.reporting import OnStep
from equipoise.evaluation.matches import ChunkPlayer, DealRange, HandByHand, MatchConfig
from equipoise.evaluation.stored import StoredStrategies
from equipoise.games.holdem.cards import DECKS
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_game import game_of_spot
from equipoise.solvers.holdem.bucketed import BucketedSolver
from equipoise.trees.holdem.bucketed import build_bucketed_tree

__all__ = ["MatchesReport", "MatchesSettings", "run_matches"]


WANTED: Final = {"batched": 20_000, "hands": 2_000}  # hands a second on two cores
DEALS_PER_CHUNK: Final = {"batched": 5000, "hands": 100}
BUCKETS: Final = 20


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MatchesSettings:
    """What to measure and for how long."""

    deck: str = "short"  # of limit hold'em to the river
    workers: tuple[int, ...] = (1, 2)
    seconds: float = 3.0  # least time of one measurement
    iterations: int = 20  # of the blueprints, whose quality does not matter here

    def __post_init__(self) -> None:
        if self.deck not in DECKS:
            raise ConfigError(f"deck must be one of {', '.join(DECKS)}, got {self.deck!r}")
        if not self.workers or min(self.workers) < 1:
            raise ConfigError(f"workers must be at least 1, got {', '.join(map(str, self.workers)) or 'none'}")
        if not self.seconds > 0:
            raise ConfigError(f"seconds must be positive, got {self.seconds}")


MatchesReport = RowsReport[MatchesSettings]


@dataclasses.dataclass(frozen=True, slots=True)
class _Timed:
    """Plays deals and says what they took."""

    play: ChunkPlayer

    def __call__(self, deals: DealRange) -> tuple[int, float]:
        """Returns hands played and seconds of processor time."""
        began = time.process_time()
        self.play(deals)
        num_hands = deals.size * self.play.config.num_rotations(len(self.play.names))
        return num_hands, time.process_time() - began


def run_matches(settings: MatchesSettings, *, on_step: OnStep | None = None) -> MatchesReport:
    """Returns hands a second of both runners, by number of processes."""
    report = MatchesReport(settings=settings)
    say = on_step or (lambda _share, _text: None)
    try:
        with tempfile.TemporaryDirectory() as directory:
            say(0.0, "a blueprint")
            path = Path(directory) / "blueprint.eq"
            spot = _limit(settings.deck)
            _train(spot, settings.iterations).save(path)
            jobs = [(runner, workers) for runner in WANTED for workers in settings.workers]
            for done, (runner, workers) in enumerate(jobs):
                say(0.2 + 0.8 * done / len(jobs), f"{runner}, {workers} processes")
                report.rows.append(_measure(settings, spot, path, runner, workers))
    except KeyboardInterrupt:
        report.is_partial = True
    return report


def _limit(deck: str) -> HoldemSpot:
    cards = DECKS[deck]
    return HoldemSpot(
        board=(),
        deck=cards,
        ranges=(Range.random(cards), Range.random(cards)),
        stacks=(1000, 1000),
        big_blind=2,
        small_blind=1,
        bet_sizes=(2, 2, 4, 4),
        max_raises=(3, 4, 4, 4),
        menu=parse_menu("limit"),
    )


def _train(spot: HoldemSpot, iterations: int) -> BucketedStrategy:
    recipe = BucketRecipe(sizes=(None, BUCKETS, BUCKETS, BUCKETS))
    solver = BucketedSolver(build_bucketed_tree(spot, recipe.build(spot)), rng=np.random.default_rng(0))
    solver.iterate(iterations)
    return BucketedStrategy.of(solver, recipe)


def _measure(settings: MatchesSettings, spot: HoldemSpot, path: Path, runner: str, workers: int) -> dict[str, Any]:
    game = game_of_spot(spot)
    config = MatchConfig(num_deals=1, deals_per_chunk=DEALS_PER_CHUNK[runner])
    makers, names = (AgentText(f"file:{path}"),) * 2, ("first", "second")
    play: ChunkPlayer
    if runner == "batched":
        play = StoredStrategies(game=game, makers=makers, names=names, config=config)
    else:
        play = HandByHand(game=game, makers=makers, names=names, config=config)
    # every process reads the blueprint first, which is not counted
    rate = measure_rate(_Timed(play), _chunks(config.deals_per_chunk), workers=workers, seconds=settings.seconds)
    return {
        "game": f"limit hold'em, {settings.deck} deck, {BUCKETS} buckets a street",
        "runner": runner,
        "workers": workers,
        "hands_per_second": rate.per_second,
        "hands_per_cpu_second": rate.per_cpu_second,
        "wanted_on_two_cores": WANTED[runner],
    }


def _chunks(size: int) -> Iterator[DealRange]:
    first = 0
    while True:
        yield DealRange(first, size)
        first += size
