# SPDX-License-Identifier: Apache-2.0
"""Study `blueprint-claims`: what Libratus and Pluribus are said to have gained by how they were trained."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

from equipoise.abstraction.blueprints import BlueprintSpec, make_deals
from equipoise.core.errors import ConfigError
from equipoise.kernels.skipping import SkipKind
from equipoise.solvers.blueprints.schedule import BlueprintConfig
from equipoise.solvers.blueprints.trainer import BlueprintTrainer
from equipoise.studies.blueprints.reduced import BIG_BLIND, ReducedHoldem
from equipoise.studies.curves import crossing
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge

__all__ = ["BLUEPRINT_CLAIMS", "ClaimsConfiguration"]

WEIGHTS: Final = "weights of iterations"  # panels
RECALL: Final = "buckets that forget"
TABLES: Final = "tables of six players"
LINEAR: Final = "linear"  # curves
ALIKE: Final = "all iterations alike"
NOTHING: Final = "nothing left out"
VISITED: Final = "blocks visited"
PRUNED: Final = {"as Libratus": SkipKind.PROBABILISTIC, "as Pluribus": SkipKind.COIN}
SCALE: Final = 100.0
PERIOD: Final = 1000
MILLI: Final = 1000.0
SPEED_UP: Final = (2.0, 4.5)  # of linear weights, that pass for about three
SAVED: Final = 0.5
SIX: Final = BlueprintSpec(
    stacks=(10_000,) * 6,
    deck="royal",
    menu="100%; cap: 2",
    crowded={4: "100%; cap: 1"},
    abstraction="percentile",
    buckets=(8, 8, 8),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsConfiguration:
    """How long is trained."""

    deals: tuple[int, ...] = (16_000, 64_000, 256_000)  # of ten cards, where gains are measured
    runs: int = 3  # with other seeds
    buckets: int = 12  # of the flop, that forget the hand before it
    threshold: int = -2000  # chips below which actions may be left out
    six_deals: tuple[int, ...] = (1000, 10_000, 30_000)

    def __post_init__(self) -> None:
        if list(self.deals) != sorted(set(self.deals)) or not self.deals or self.runs < 1 or self.buckets < 1:
            raise ConfigError("deals must ascend, runs and buckets be at least 1")


def measure(configuration: ClaimsConfiguration) -> Iterator[Step]:
    """Yields gains of best responses along trainings, and how much of the tables was visited."""
    races = [
        (panel, curve, run)
        for run in range(configuration.runs)
        for panel, curves in ((WEIGHTS, (LINEAR, ALIKE)), (RECALL, (NOTHING, *PRUNED)))
        for curve in curves
    ]
    for place, (panel, curve, run) in enumerate(races):
        points = tuple(
            Point(panel=panel, curve=curve, x=deals, y=gain, run=run)
            for deals, gain in _train(configuration, panel, curve, run)
        )
        yield Step(fraction=0.9 * ((place + 1) / len(races)), text=f"{panel}: {curve}", points=points)
    trainer = BlueprintTrainer(SIX.betting, make_deals(SIX), SIX.num_buckets, BlueprintConfig(period=PERIOD))
    for place, deals in enumerate(configuration.six_deals, start=1):
        trainer.train(deals - trainer.num_deals)
        share = trainer.num_bytes / trainer.num_bytes_whole
        yield Step(
            fraction=0.9 + 0.1 * (place / len(configuration.six_deals)),
            text=f"{TABLES}: {deals:,} deals",
            points=(Point(panel=TABLES, curve=VISITED, x=deals, y=share),),
        )


def _train(configuration: ClaimsConfiguration, panel: str, curve: str, run: int) -> Iterator[tuple[int, float]]:
    """Yields deals and exploitability in the whole game, in thousandths of a big blind."""
    is_recall = panel == RECALL
    game = ReducedHoldem(
        buckets=configuration.buckets if is_recall else 0,
        menu="50%, 100%, a; cap: 2" if is_recall else "100%; cap: 2",
    )
    threshold = int(configuration.threshold * SCALE)
    pruning = PRUNED.get(curve, SkipKind.NONE)
    config = BlueprintConfig(
        scale=SCALE,
        period=PERIOD,
        walked_streets=4,
        last_discount=0 if curve == ALIKE else BlueprintConfig().last_discount,
        pruning=pruning,
        threshold=threshold,
        softness=float(-threshold),
        floor=threshold * 31 // 30 if pruning is SkipKind.COIN else BlueprintConfig().floor,
        prune_from=configuration.deals[0] // 2,
        seed=run,
    )
    trainer = BlueprintTrainer(game.betting, game.deals, game.num_buckets, config)
    for deals in configuration.deals:
        trainer.train(deals - trainer.num_deals)
        yield deals, game.measure(trainer.average).nash_conv / 2 / BIG_BLIND * MILLI


def conclude(configuration: ClaimsConfiguration, measured: Measured) -> Conclusion:
    """Returns the curves, and what they say to three statements."""
    rows = [
        {"panel": panel, "curve": curve, "deals": x, "ours": y, "paper": None}
        for panel, curves in measured.panels().items()
        for curve, points in curves.items()
        for x, y in points
    ]
    claims = [
        _judge_weights(configuration, measured),
        *(_judge_recall(configuration, measured, name) for name in PRUNED),
    ]
    points = measured.panels().get(TABLES, {}).get(VISITED, [])
    share = points[-1][1] if points else None
    claims.append(
        Claim(
            statement="tables that begin at the first visit take less than half of the memory",
            source="thesis section 6.6",
            verdict=judge(None if share is None else share < SAVED),
            ours="nothing" if share is None else f"{share:.1%} after {points[-1][0]:,} deals",
        )
    )
    notes = (
        "Two players, ten cards, blinds of 5 and 10 in stacks of 600, betting to the flop: all deals are listed and "
        "gains are exact, in thousandths of a big blind a hand. Weights are compared with hands themselves on the "
        "flop; buckets that forget are measured by best responses that forget nothing. Tables: six players, 20 cards, "
        "to the river.",
        "Pruning was said to mitigate the problems of imperfect recall; here that is lower exploitability in the whole "
        "game after the same deals, in every run.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _judge_weights(configuration: ClaimsConfiguration, measured: Measured) -> Claim:
    """Returns how many times as long training takes if all iterations weigh the same."""
    curves, last = measured.panels().get(WEIGHTS, {}), configuration.deals[-1]
    level = measured.at(WEIGHTS, ALIKE, last)
    sooner = None if level is None else crossing(curves.get(LINEAR, []), level)
    speed_up = None if sooner is None else last / sooner
    return Claim(
        statement="linear weights of iterations make MCCFR about three times as fast",
        source="thesis section 6.6",
        verdict=judge(None if speed_up is None else SPEED_UP[0] <= speed_up <= SPEED_UP[1]),
        ours="nothing" if speed_up is None else f"{speed_up:.2f} times, to what the others reach after {last:,} deals",
    )


def _judge_recall(configuration: ClaimsConfiguration, measured: Measured, name: str) -> Claim:
    """Returns whether leaving actions out lowered exploitability in every run."""
    ratios = measured.run_ratios(RECALL, name, NOTHING, configuration.deals[-1])
    verdict = judge(None if not ratios else ratios[-1] < 1.0)
    if ratios and ratios[0] < 1.0 <= ratios[-1]:
        verdict = Verdict.UNDECIDED
    return Claim(
        statement=f"leaving actions out ({name}) mitigates the problems of buckets that forget",
        source="thesis section 6.4" if name == "as Libratus" else "thesis section 6.6",
        verdict=verdict,
        ours=f"{ratios[0]:.2f} to {ratios[-1]:.2f} times as exploitable" if ratios else "nothing",
    )


BLUEPRINT_CLAIMS: Final = Study(
    name="blueprint-claims",
    title="Blueprints: linear weights, pruning with buckets that forget, tables on first visit",
    source="Brown 2020 (thesis), sections 6.4 and 6.6",
    x_label="deals of training",
    y_label="mbb a hand, or share of the memory",
    sizes={
        Size.QUICK: ClaimsConfiguration(),
        Size.FULL: ClaimsConfiguration(
            deals=(16_000, 64_000, 256_000, 1_000_000, 4_000_000), runs=5, six_deals=(1000, 10_000, 100_000, 1_000_000)
        ),
    },
    measure=measure,
    conclude=conclude,
    panels=(WEIGHTS, RECALL, TABLES),
)
