# SPDX-License-Identifier: Apache-2.0
"""Study `rbs-blueprint`: regret-based sampling against plain sampling, Figure 6.1, on a deck measured exactly."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.skipping import SkipKind
from equipoise.solvers.blueprints.schedule import BlueprintConfig
from equipoise.solvers.blueprints.trainer import BlueprintTrainer
from equipoise.studies.blueprints.reduced import BIG_BLIND, ReducedHoldem, Rows, packed_rows
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge

__all__ = ["RBS_BLUEPRINT", "RbsConfiguration"]

FloatArray = npt.NDArray[np.float64]

AGAINST: Final = "against tartanian7"  # panels
GAINS: Final = "exploitability"
PLAIN: Final = "external sampling"  # curves
SAMPLED: Final = "RBS"
ENDED: Final = "RBS, off at the end"
MENU: Final = "50%, 100%, a; cap: 2"
SCALE: Final = 100.0
PERIOD: Final = 1000
MILLI: Final = 1000.0
STEP: Final = 1000  # deals between two looks at the nodes touched
ON: Final = 0.75  # of a training's nodes, after which sampling that ends leaves nothing out


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RbsConfiguration:
    """How long is trained, and against whom."""

    nodes: tuple[int, ...] = (500_000, 2_000_000, 8_000_000)  # touched, where strategies are measured
    runs: int = 3  # with other seeds
    buckets: int = 24  # of the flop
    threshold: int = -200  # chips below which actions may be left out
    opponent_buckets: int = 4  # within each cluster of flops
    opponent_clusters: int = 6
    opponent_deals: int = 200_000

    def __post_init__(self) -> None:
        if list(self.nodes) != sorted(set(self.nodes)) or not self.nodes or self.runs < 1:
            raise ConfigError("nodes must ascend and runs be at least 1")


def measure(configuration: RbsConfiguration) -> Iterator[Step]:
    """Yields what each training wins against the opponent, and what best responses win against it."""
    opponent_game = ReducedHoldem(
        buckets=configuration.opponent_buckets, clusters=configuration.opponent_clusters, menu=MENU
    )
    opponent = BlueprintTrainer(
        opponent_game.betting, opponent_game.deals, opponent_game.num_buckets, _configure(configuration, PLAIN, -1)
    )
    opponent.train(configuration.opponent_deals)
    pure = packed_rows(opponent_game.betting, opponent_game.num_buckets, opponent.pack(), is_pure=True)
    other = lift(opponent_game, pure)
    yield Step(fraction=0.05, text="the opponent")
    races = [(curve, run) for run in range(configuration.runs) for curve in (PLAIN, SAMPLED, ENDED)]
    for place, (curve, run) in enumerate(races, start=1):
        points = tuple(_race(configuration, curve, run, other))
        yield Step(fraction=0.05 + 0.95 * (place / len(races)), text=f"{curve}, run {run + 1}", points=points)


def _configure(configuration: RbsConfiguration, curve: str, run: int) -> BlueprintConfig:
    return BlueprintConfig(
        scale=SCALE,
        period=PERIOD,
        walked_streets=4,
        pruning=SkipKind.NONE if curve == PLAIN else SkipKind.REGRET_BASED,
        threshold=int(configuration.threshold * SCALE),
        seed=run + 1,
    )


def _race(configuration: RbsConfiguration, curve: str, run: int, other: Rows) -> Iterator[Point]:
    game = ReducedHoldem(buckets=configuration.buckets, menu=MENU)
    config = _configure(configuration, curve, run)
    trainer = BlueprintTrainer(game.betting, game.deals, game.num_buckets, config)
    for nodes in configuration.nodes:
        while trainer.num_touched < nodes:
            if curve == ENDED and trainer.num_touched > ON * configuration.nodes[-1]:
                trainer.config = dataclasses.replace(config, prune_until=1)
            trainer.train(STEP)
        gains = game.measure(trainer.average).nash_conv / 2
        own = lift(game, trainer.average)
        for panel, chips in ((AGAINST, play(game, own, other)), (GAINS, gains)):
            yield Point(panel=panel, curve=curve, x=nodes, y=chips / BIG_BLIND * MILLI, run=run)


def lift(game: ReducedHoldem, rows: Rows) -> Rows:
    """Returns what hands play by the rows of their buckets."""
    streets, lifted = game.betting.arrays.streets, game.lifted
    return lambda node: rows(node)[lifted] if streets[node] else rows(node)


def play(game: ReducedHoldem, own: Rows, other: Rows) -> float:
    """Returns the chips a hand that one strategy of hands wins against another, both seats alike."""
    exact, players = dataclasses.replace(game, buckets=0, clusters=0), game.betting.arrays.player

    def value(seat: int) -> float:
        def rows(node: int) -> FloatArray:
            return own(node) if players[node] == seat else other(node)

        return float(exact.measure(rows).values[seat])

    return (value(0) + value(1)) / 2


def conclude(configuration: RbsConfiguration, measured: Measured) -> Conclusion:
    """Returns the curves, and whether regret-based sampling is ahead."""
    rows = [
        {"panel": panel, "curve": curve, "nodes": x, "ours": y, "paper": None}
        for panel, curves in measured.panels().items()
        for curve, points in curves.items()
        for x, y in points
    ]
    claims = [_judge_ahead(measured, nodes, "sooner", "Figure 6.1") for nodes in configuration.nodes[:-1]]
    last = configuration.nodes[-1]
    ratios = measured.run_ratios(GAINS, ENDED, SAMPLED, last)
    verdict = judge(None if not ratios else ratios[-1] < 1.0)
    if ratios and ratios[0] < 1.0 <= ratios[-1]:
        verdict = Verdict.UNDECIDED
    claims += [
        _judge_ahead(measured, last, "at the end too", "Figure 6.1"),
        Claim(
            statement="turning RBS off at the end makes the strategy less exploitable than leaving it on",
            source="thesis section 6.3, where some evidence is spoken of",
            verdict=verdict,
            ours=f"{ratios[0]:.2f} to {ratios[-1]:.2f} times as exploitable" if ratios else "nothing",
        ),
    ]
    notes = (
        "Two players, ten cards, blinds of 5 and 10 in stacks of 600, betting to the flop: what is won and what best "
        "responses win is exact, in thousandths of a big blind a hand. The opponent is trained once, with buckets "
        "within clusters of flops, and plays purely, as Tartanian7 did; x is nodes touched in place of hours on 64 "
        "cores. The figure's values are not printed.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _judge_ahead(measured: Measured, nodes: int, when: str, source: str) -> Claim:
    """Returns whether regret-based sampling wins more against the opponent, in every run."""
    ours, theirs = (measured.runs(AGAINST, curve, nodes) for curve in (SAMPLED, PLAIN))
    verdict = judge(None if not (ours and theirs) else ours[0] > theirs[-1])
    if ours and theirs and ours[0] <= theirs[-1] and ours[-1] >= theirs[0]:
        verdict = Verdict.UNDECIDED
    means = [f"{np.mean(values):.1f}" if values else "nothing" for values in (ours, theirs)]
    return Claim(
        statement=f"RBS plays better than external-sampling MCCFR {when}, after {nodes:,} nodes",
        source=source,
        verdict=verdict,
        ours=f"{means[0]} against {means[1]} mbb a hand",
    )


RBS_BLUEPRINT: Final = Study(
    name="rbs-blueprint",
    title="Regret-based sampling and external sampling against a fixed opponent, on a reduced deck",
    source="Brown 2020 (thesis), section 6.3, Figure 6.1",
    x_label="nodes touched",
    y_label="mbb a hand",
    sizes={
        Size.QUICK: RbsConfiguration(),
        Size.FULL: RbsConfiguration(nodes=(500_000, 2_000_000, 8_000_000, 32_000_000, 128_000_000), runs=5),
    },
    measure=measure,
    conclude=conclude,
    is_log_y=False,
)
