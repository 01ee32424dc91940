# SPDX-License-Identifier: Apache-2.0
"""Study `deep-cfr-ablations`: what each part of Deep CFR is worth, thesis Figures 4.3 and 4.4."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Final

from equipoise.games.base import Game
from equipoise.games.leduc import Leduc
from equipoise.learning.deep_cfr.settings import DeepCFRSettings, change_settings, find_preset
from equipoise.studies.learning.deep_cfr import MBB, POLICY, VALUES, describe_seeds, measure_training
from equipoise.studies.orderings import Ordering, judge_ordering
from equipoise.studies.study import Conclusion, Measured, Point, Size, Step, Study

__all__ = ["DEEP_CFR_ABLATIONS", "DeepCFRAblationsConfiguration"]

SOURCE: Final = "Brown 2020, PhD thesis, Figures 4.3 and 4.4"
LEFT, RIGHT = "Figure 4.4, left", "Figure 4.4, right"
BASELINE: Final = "Deep CFR"
LEDUC, WIDE = "leduc", "leduc, three sizes"
GAMES: Final[Mapping[str, Game[Any]]] = {
    LEDUC: Leduc(merge_suits=True),
    WIDE: Leduc(merge_suits=True, first_sizes=(1.0, 2.0, 4.0), second_sizes=(2.0, 4.0, 8.0)),
}
# what differs from the baseline; fewer traversals, steps or units as shares of it
CHANGES: Final[Mapping[str, Mapping[str, str]]] = {
    "uniform weights": {"weighting": "uniform"},
    "fine-tuned": {"is_refitted": "false"},
    "uniform fallback": {"fallback": "uniform"},
    "sliding window": {"memory": "sliding"},
}
FRACTIONS: Final[Mapping[str, tuple[str, float]]] = {
    "a quarter of the traversals": ("traversals", 0.25),
    "a quarter of the steps": ("steps", 0.25),
    "a quarter of the units": ("hidden", 0.25),
}
STATED: Final = (
    Ordering(
        above="fine-tuned", below=BASELINE, source=LEFT, statement="fitting anew is less exploitable than fine-tuning"
    ),
    Ordering(
        above="uniform fallback",
        below=BASELINE,
        source=LEFT,
        statement="the largest advantage is a better fallback than uniform play",
    ),
    Ordering(
        above="uniform weights", below=BASELINE, source=LEFT, statement="linear weights are ahead of uniform ones"
    ),
    Ordering(
        above="sliding window", below=BASELINE, source=RIGHT, statement="reservoirs are less exploitable than windows"
    ),
    Ordering(
        above="a quarter of the traversals",
        below=BASELINE,
        source="Figure 4.3, left",
        statement="with fewer traversals convergence is slower",
    ),
    Ordering(
        above="a quarter of the steps",
        below=BASELINE,
        source="Figure 4.3, middle",
        statement="with fewer steps play stays more exploitable",
    ),
    Ordering(
        above="a quarter of the units",
        below=BASELINE,
        source="Figure 4.3, right",
        statement="smaller networks stay more exploitable",
    ),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeepCFRAblationsConfiguration:
    """What is trained, how long and how often."""

    games: tuple[str, ...] = (LEDUC, WIDE)
    seeds: int = 5
    iterations: int = 100
    traversals: int = 1_000
    capacity: int = 100_000  # so small that memories are full long before the end
    steps: int = 100
    policy_steps: int = 600
    batch: int = 4_096
    hidden: int = 128
    marks: int = 4  # evaluations of each curve

    def settings(self, curve: str, seed: int) -> DeepCFRSettings:
        """Returns how a curve is learnt."""
        baseline = dataclasses.replace(
            find_preset("cpu"),
            iterations=self.iterations,
            traversals=self.traversals,
            capacity=self.capacity,
            steps=self.steps,
            policy_steps=self.policy_steps,
            batch=self.batch,
            hidden=self.hidden,
            seed=seed,
        )
        if curve in FRACTIONS:
            name, share = FRACTIONS[curve]
            return change_settings(baseline, {name: str(max(1, int(getattr(baseline, name) * share)))})
        return change_settings(baseline, CHANGES.get(curve, {}))

    def find_marks(self) -> list[int]:
        """Returns the iterations after which curves have a point, the last among them."""
        return sorted({max(1, self.iterations * place // self.marks) for place in range(1, self.marks + 1)})


CURVES: Final = (BASELINE, *CHANGES, *FRACTIONS)


def measure(configuration: DeepCFRAblationsConfiguration) -> Iterator[Step]:
    """Yields the points of every training, seed by seed."""
    from equipoise.learning.deep_cfr.making import make_training, make_walks  # noqa: PLC0415 - torch is an extra

    marks = configuration.find_marks()
    jobs = [
        (seed, game, curve) for seed in range(configuration.seeds) for game in configuration.games for curve in CURVES
    ]
    for place, (seed, game, curve) in enumerate(jobs):
        settings = configuration.settings(curve, seed)
        run = make_training(make_walks(GAMES[game], settings), settings)
        for part, (mark, found) in enumerate(zip(marks, measure_training(run, marks), strict=True)):
            text = f"{game}, {curve}, seed {seed + 1} of {configuration.seeds}"
            fraction = (place + (part + 1) / len(marks)) / len(jobs)
            points = [
                Point(panel=panel, curve=curve, x=mark, y=MBB * found[which], run=seed)
                for panel, which in ((game, POLICY), (f"{game}, all networks", VALUES))
            ]
            yield Step(fraction=min(fraction, 0.999), text=text, points=tuple(points))
    yield Step(fraction=1.0, text="done")


def conclude(configuration: DeepCFRAblationsConfiguration, measured: Measured) -> Conclusion:
    """Returns where all curves end, and verdicts on their order there."""
    last, ends = configuration.find_marks()[-1], Measured()
    rows = []
    for panel in measured.panels():
        for curve in CURVES:
            values = measured.runs(panel, curve, last)
            if not values:
                continue
            for run in range(configuration.seeds):
                value = measured.of_run(run).at(panel, curve, last)
                if value is not None:
                    ends.add(Point(panel=panel, curve=curve, x=last, y=value, run=run))
            rows.append({"panel": panel, "curve": curve, **describe_seeds(values)})
    claims = [judge_ordering(ordering, ends, what="ends") for ordering in STATED]
    notes = (
        f"mbb/h after {last} iterations. Panels: the network of the average, and the average of all iterations' "
        "networks, which has no error of its own. Claims go by both, game by game and seed by seed.",
        "The paper's game is flop hold'em with a full deck; its figures have no numbers but those of the text.",
        f"Memories keep {configuration.capacity:,} samples, so that they are full before the end.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


DEEP_CFR_ABLATIONS: Final = Study(
    name="deep-cfr-ablations",
    title="What the parts of Deep CFR are worth, in Leduc with one and with three bet sizes",
    source=SOURCE,
    x_label="iterations",
    y_label="exploitability, mbb/h",
    sizes={
        Size.QUICK: DeepCFRAblationsConfiguration(
            games=(LEDUC,),
            seeds=1,
            iterations=16,
            traversals=300,
            capacity=10_000,
            steps=60,
            policy_steps=200,
            batch=1_024,
            hidden=32,
            marks=2,
        ),
        Size.FULL: DeepCFRAblationsConfiguration(),
    },
    measure=measure,
    conclude=conclude,
)
