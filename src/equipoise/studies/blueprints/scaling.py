# SPDX-License-Identifier: Apache-2.0
"""Study `tartanian-scaling`: training by a head and workers with clusters of flops, on a deck measured exactly."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.core.posts import HerePosts
from equipoise.solvers.blueprints.clustered import ClusteredTrainer
from equipoise.solvers.blueprints.schedule import BlueprintConfig
from equipoise.studies.blueprints.reduced import BIG_BLIND, ReducedHoldem, packed_rows
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge

__all__ = ["TARTANIAN_SCALING", "ScalingConfiguration"]

GAINS: Final = "exploitability"  # panels
HEAD: Final = "share of nodes at the head"
SAME: Final = "cells that differ between one worker and one for each cluster"
SCALE: Final = 100.0
PERIOD: Final = 1000
MILLI: Final = 1000.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ScalingConfiguration:
    """How many clusters, and how long is trained."""

    clusters: tuple[int, ...] = (1, 2, 4, 8)
    buckets: int = 8  # of the flop within each
    deals: tuple[int, ...] = (4000, 16_000, 64_000)  # of the head
    runs: int = 3  # with other seeds
    deals_a_message: int = 100

    def __post_init__(self) -> None:
        if list(self.deals) != sorted(set(self.deals)) or not self.deals or self.runs < 1:
            raise ConfigError("deals must ascend and runs be at least 1")
        if any(count % self.deals_a_message for count in self.deals):
            raise ConfigError(f"deals must be whole messages of {self.deals_a_message}")


def measure(configuration: ScalingConfiguration) -> Iterator[Step]:
    """Yields exploitability by deals of the head, the head's share, and whether workers change anything."""
    races = [(clusters, run) for run in range(configuration.runs) for clusters in configuration.clusters]
    for place, (clusters, run) in enumerate(races, start=1):
        points = tuple(_train(configuration, clusters, run))
        yield Step(fraction=0.95 * place / len(races), text=f"{_name(clusters)}, run {run + 1}", points=points)
    clusters, deals = configuration.clusters[-1], configuration.deals[0]
    cells = []
    for num_posts in (1, clusters):
        trainer = _make(configuration, clusters, 0, num_posts)
        trainer.train(deals)
        cells.append(trainer.pack()[1])
        trainer.close()
    differing = float(np.mean(cells[0] != cells[1])) if len(cells[0]) == len(cells[1]) else 1.0
    yield Step(fraction=1.0, text=SAME, points=(Point(panel=SAME, curve=_name(clusters), x=deals, y=differing),))


def _name(clusters: int) -> str:
    return f"{clusters} cluster{'s' if clusters > 1 else ''}"


def _game(configuration: ScalingConfiguration, clusters: int) -> ReducedHoldem:
    return ReducedHoldem(buckets=configuration.buckets, clusters=clusters, menu="100%, a; cap: 2")


def _make(configuration: ScalingConfiguration, clusters: int, run: int, num_posts: int) -> ClusteredTrainer:
    config = BlueprintConfig(scale=SCALE, period=PERIOD, walked_streets=4, seed=run)
    return ClusteredTrainer(
        _game(configuration, clusters).ground,
        config,
        HerePosts(num_posts),
        deals_a_message=configuration.deals_a_message,
        steps_to_a_snapshot=configuration.deals[-1],
    )


def _train(configuration: ScalingConfiguration, clusters: int, run: int) -> Iterator[Point]:
    game = _game(configuration, clusters)
    trainer = _make(configuration, clusters, run, 1)
    for deals in configuration.deals:
        trainer.train(deals - trainer.num_deals)
        rows = packed_rows(game.betting, game.num_buckets, trainer.pack())
        gain = game.measure(rows).nash_conv / 2 / BIG_BLIND * MILLI
        yield Point(panel=GAINS, curve=_name(clusters), x=deals, y=gain, run=run)
    share = trainer.num_touched_here / trainer.num_touched
    yield Point(panel=HEAD, curve="all", x=clusters, y=share, run=run)
    trainer.close()


def conclude(configuration: ScalingConfiguration, measured: Measured) -> Conclusion:
    """Returns the curves, and what more clusters are worth to a head with as many workers."""
    rows = [
        {"panel": panel, "curve": curve, "deals or clusters": x, "ours": y, "paper": None}
        for panel, curves in measured.panels().items()
        for curve, points in curves.items()
        for x, y in points
    ]
    first, last = configuration.clusters[0], configuration.clusters[-1]
    ratios = measured.run_ratios(GAINS, _name(last), _name(first), configuration.deals[-1])
    verdict = judge(None if not ratios else ratios[-1] < 1.0)
    if ratios and ratios[0] < 1.0 <= ratios[-1]:
        verdict = Verdict.UNDECIDED
    differing = measured.at(SAME, _name(last), configuration.deals[0])
    share = measured.at(HEAD, "all", last)
    claims = (
        Claim(
            statement=f"{last} clusters of {configuration.buckets} buckets are better than {first} after as many deals",
            source="thesis section 6.1: 30,000 buckets where earlier bots had up to 5,000",
            verdict=verdict,
            ours=f"{ratios[0]:.2f} to {ratios[-1]:.2f} times as exploitable" if ratios else "nothing",
        ),
        Claim(
            statement="workers run independently: one for each cluster learns what one worker learns",
            source="thesis section 6.3",
            verdict=judge(None if differing is None else differing == 0.0),
            ours="nothing" if differing is None else f"{differing:.1%} of all cells differ",
        ),
        Claim(
            statement=f"with {last} clusters the head does less than each of as many workers",
            source="wanted here: else it holds them up",
            verdict=judge(None if share is None else share < (1.0 - share) / last),
            ours="nothing" if share is None else f"{share:.1%} of the nodes, a worker {(1.0 - share) / last:.1%}",
        ),
    )
    notes = (
        "Two players, ten cards, blinds of 5 and 10 in stacks of 600, betting to the flop: gains of best responses "
        "that forget nothing are exact, in thousandths of a big blind a hand. A deal of the head is one flop of each "
        "cluster; with a worker for each cluster that takes as long as one flop.",
    )
    return Conclusion(rows=tuple(rows), claims=claims, notes=notes)


TARTANIAN_SCALING: Final = Study(
    name="tartanian-scaling",
    title="A head and workers with clusters of flops: exploitability by deals of the head, on a reduced deck",
    source="Brown 2020 (thesis), sections 6.1 and 6.3",
    x_label="deals of the head",
    y_label="mbb a hand",
    sizes={
        Size.QUICK: ScalingConfiguration(),
        Size.FULL: ScalingConfiguration(
            clusters=(1, 2, 4, 8, 16), deals=(4000, 16_000, 64_000, 256_000, 1_024_000), runs=5
        ),
    },
    measure=measure,
    conclude=conclude,
    panels=(GAINS,),
)
