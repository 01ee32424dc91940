# SPDX-License-Identifier: Apache-2.0
"""Study `gift-scaling`: Figure 5.7 on Leduc and on flop hold'em with a reduced deck, with bucketed blueprints."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.search.gadgets import GiftBound, Maxmargin, Reach
from equipoise.studies.orderings import Ordering, judge_ordering
from equipoise.studies.search.safe_search import TOLERANCE, searched_exploitability
from equipoise.studies.search.search_games import (
    Bucketing,
    SecondRound,
    describe_games,
    draw_all_bucketings,
    parse_bucketing,
    solve_in_buckets,
)
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge

__all__ = ["GIFT_SCALING", "GiftConfiguration"]

NO_GIFTS: Final = "no gifts: all scales give the same"
DRAWN: Final = "by scale"  # panel of the figure


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GiftConfiguration:
    """Blueprints, searches and by how much gifts are multiplied."""

    games: tuple[str, ...] = ("leduc-6", "flop-tiny")
    buckets: tuple[int, ...] = (3,)
    seeds: int = 2
    bucketing: str = str(Bucketing.CUTS)  # or kmeans
    blueprint_iterations: int = 500
    search_iterations: int = 300
    scales: tuple[int, ...] = (0, 1, 10, 1000, 100_000)
    bounds: tuple[str, ...] = tuple(map(str, GiftBound))  # statements are tested with the first: lower is the thesis's

    def __post_init__(self) -> None:
        known = list(map(str, GiftBound))
        if not self.bounds or len(set(self.bounds)) < len(self.bounds) or not set(self.bounds) <= set(known):
            raise ConfigError(f"bounds must be some of {', '.join(known)}, each once, got {', '.join(self.bounds)!r}")


MEASURED_FROM: Final = {
    str(GiftBound.LOWER): "actions that end the game at once",
    str(GiftBound.EXACT): "all actions",
}


def _name_scale(scale: int, bound: str) -> str:
    return f"scale {scale:,}, {bound}"


def measure_gift_scaling(configuration: GiftConfiguration) -> Iterator[Step]:
    """Yields the exploitability of Reach-Maxmargin by scale of gifts; runs are blueprints."""
    total = len(configuration.games) * len(configuration.buckets) * configuration.seeds
    total *= len(configuration.bounds) * len(configuration.scales)
    done, bucketing = 0, parse_bucketing(configuration.bucketing)
    for text in configuration.games:
        yield Step(fraction=done / total, text=f"tree of {text}")
        game = SecondRound(text)
        drawn = draw_all_bucketings(game, configuration.buckets, configuration.seeds, bucketing)
        for run, (num_buckets, seed, bucket) in enumerate(drawn):
            made = solve_in_buckets(game, bucket, configuration.blueprint_iterations)
            for bound, scale in itertools.product(configuration.bounds, configuration.scales):
                method = Maxmargin(reach=Reach(bound=GiftBound(bound), scale=scale))
                value = searched_exploitability(game, made, method, configuration.search_iterations)
                done += 1
                share = value / made.exploitability
                points = (
                    Point(panel=text, curve=_name_scale(scale, bound), x=1, y=share, run=run),
                    Point(panel=DRAWN, curve=f"{num_buckets} buckets of {text}, {bound}", x=scale, y=share, run=seed),
                )
                yield Step(
                    fraction=done / total, text=f"{num_buckets} buckets, {_name_scale(scale, bound)}", points=points
                )


def conclude_gift_scaling(configuration: GiftConfiguration, measured: Measured) -> Conclusion:
    """Returns exploitability by scale as a share of the trunk's, and verdicts on its shape."""
    rows: list[dict[str, object]] = []
    claims: list[Claim] = []
    for panel in configuration.games:
        medians = {bound: _find_medians(panel, bound, configuration, measured) for bound in configuration.bounds}
        rows += [
            {"game": panel, "scale": scale}
            | {f"from {MEASURED_FROM[bound]}": _round(medians[bound].get(scale)) for bound in configuration.bounds}
            for scale in configuration.scales
            if any(scale in found for found in medians.values())
        ]
        judged = configuration.bounds[0]
        claims += _judge_game(panel, judged, medians[judged], configuration, measured)
        claims += (_judge_safety(panel, bound, measured) for bound in configuration.bounds)
    notes = (
        "Exploitability as a share of the blueprint's, median over blueprints.",
        "The thesis measures gifts from the actions that lead immediately to terminal nodes (5.1.3). Measured from all "
        "actions they are larger: safe as well, but without Theorem 20.",
        f"Statements on scales are tested with gifts measured from {MEASURED_FROM[configuration.bounds[0]]}.",
        *describe_games(configuration.games),
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _find_medians(panel: str, bound: str, configuration: GiftConfiguration, measured: Measured) -> dict[int, float]:
    """Returns the share of the trunk's exploitability by scale."""
    found = {scale: measured.at(panel, _name_scale(scale, bound), 1) for scale in configuration.scales}
    return {scale: value for scale, value in found.items() if value is not None}


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _judge_game(
    panel: str, bound: str, medians: Mapping[int, float], configuration: GiftConfiguration, measured: Measured
) -> Iterator[Claim]:
    """Yields the verdicts on one game, with gifts that are measured in one way."""
    largest = max(configuration.scales)
    has_gifts = _has_gifts(panel, bound, configuration, measured)
    none, one, most = (_name_scale(scale, bound) for scale in (0, 1, largest))
    for above, below, source, words in (
        (none, one, "section 5.1.3", "gifts times 1 are better than none"),
        (most, none, "Fig. 5.7", f"gifts times {largest:,} are worse than none"),
    ):
        ordering = Ordering(above=above, below=below, source=source, statement=f"{panel}: {words}")
        claim = judge_ordering(ordering, measured, panel_names=[panel])
        yield claim if has_gifts else dataclasses.replace(claim, verdict=Verdict.NOT_MEASURED, ours=NO_GIFTS)
    best = min(medians, key=lambda scale: medians[scale], default=None)
    yield Claim(
        statement=f"{panel}: exploitability is least at some scale between none and the largest",
        source="Fig. 5.7, around 1,000",
        verdict=judge(0 < best < largest if best is not None and has_gifts else None),
        ours=f"{best:,}: {medians[best]:.3g}" if best is not None and has_gifts else NO_GIFTS,
    )


def _has_gifts(panel: str, bound: str, configuration: GiftConfiguration, measured: Measured) -> bool:
    """Returns whether the scale makes a difference to any blueprint: where it makes none, there is nothing to scale."""
    found = [measured.runs(panel, _name_scale(scale, bound), 1) for scale in configuration.scales]
    return any(values != found[0] for values in found if values)


def _judge_safety(panel: str, bound: str, measured: Measured) -> Claim:
    """Returns whether gifts as they are keep a search safe, by the largest ratio of any blueprint."""
    ratios = measured.runs(panel, _name_scale(1, bound), 1)
    return Claim(
        statement=f"{panel}: gifts times 1, measured from {MEASURED_FROM[bound]}, are safe: never more exploitable "
        "than the trunk",
        source="section 5.1.3",
        verdict=judge(max(ratios) <= 1 + TOLERANCE if ratios else None),
        ours=f"largest ratio of {len(ratios)}: {max(ratios):.3g}" if ratios else "nothing",
    )


GIFT_SCALING: Final = Study(
    name="gift-scaling",
    title="Reach-Maxmargin with gifts multiplied",
    source="Brown 2020, thesis section 5.1.11, Fig. 5.7",
    x_label="scale of gifts",
    y_label="share of the trunk's exploitability",
    sizes={
        Size.QUICK: GiftConfiguration(),
        Size.FULL: GiftConfiguration(
            games=("leduc-6", "flop-small"),
            buckets=(4, 8, 16),
            seeds=4,
            blueprint_iterations=1000,
            search_iterations=300,
            scales=(0, 1, 2, 5, 10, 30, 100, 300, 1000, 10_000, 100_000),
        ),
    },
    measure=measure_gift_scaling,
    conclude=conclude_gift_scaling,
    panels=(DRAWN,),
)
