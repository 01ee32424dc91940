# SPDX-License-Identifier: Apache-2.0
"""Study `gift-scaling`: Figure 5.7 on Leduc and on flop hold'em with a reduced deck, with bucketed blueprints."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Final

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
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge

__all__ = ["GIFT_SCALING", "GiftConfiguration"]

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
    bound: str = "exact"  # lower: against actions that end the game alone


def _name_scale(scale: int) -> str:
    return f"scale {scale:,}"


def measure_gift_scaling(configuration: GiftConfiguration) -> Iterator[Step]:
    """Yields the exploitability of Reach-Maxmargin by scale of gifts; runs are blueprints."""
    total = len(configuration.games) * len(configuration.buckets) * configuration.seeds * len(configuration.scales)
    done, bucketing = 0, parse_bucketing(configuration.bucketing)
    for text in configuration.games:
        yield Step(fraction=done / total, text=f"tree of {text}")
        game = SecondRound(text)
        drawn = draw_all_bucketings(game, configuration.buckets, configuration.seeds, bucketing)
        for run, (num_buckets, seed, bucket) in enumerate(drawn):
            made = solve_in_buckets(game, bucket, configuration.blueprint_iterations)
            for scale in configuration.scales:
                method = Maxmargin(reach=Reach(bound=GiftBound(configuration.bound), scale=scale))
                value = searched_exploitability(game, made, method, configuration.search_iterations)
                done += 1
                share = value / made.exploitability
                points = (
                    Point(panel=text, curve=_name_scale(scale), x=1, y=share, run=run),
                    Point(panel=DRAWN, curve=f"{num_buckets} buckets of {text}", x=scale, y=share, run=seed),
                )
                yield Step(fraction=done / total, text=f"{num_buckets} buckets, scale {scale:,}", points=points)


def conclude_gift_scaling(configuration: GiftConfiguration, measured: Measured) -> Conclusion:
    """Returns exploitability by scale as a share of the trunk's, and verdicts on its shape."""
    rows: list[dict[str, object]] = []
    claims: list[Claim] = []
    for panel in configuration.games:
        medians = {
            scale: value
            for scale in configuration.scales
            if (value := measured.at(panel, _name_scale(scale), 1)) is not None
        }
        rows += [
            {"game": panel, "scale": scale, "share of the trunk": float(f"{value:.4g}")}
            for scale, value in medians.items()
        ]
        claims += _judge_game(panel, medians, max(configuration.scales), measured)
    notes = (
        "Exploitability as a share of the blueprint's, median over blueprints.",
        *describe_games(configuration.games),
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _judge_game(panel: str, medians: Mapping[int, float], largest: int, measured: Measured) -> Iterator[Claim]:
    """Yields the verdicts on one game."""
    none, one, most = (_name_scale(scale) for scale in (0, 1, largest))
    for above, below, source, words in (
        (none, one, "section 5.1.3", "gifts times 1 are better than none"),
        (most, none, "Fig. 5.7", f"{most} is worse than no gifts"),
    ):
        ordering = Ordering(above=above, below=below, source=source, statement=f"{panel}: {words}")
        yield judge_ordering(ordering, measured, panel_names=[panel])
    ratios = measured.runs(panel, one, 1)
    yield Claim(
        statement=f"{panel}: gifts times 1 are safe: never more exploitable than the trunk",
        source="section 5.1.3",
        verdict=judge(max(ratios) <= 1 + TOLERANCE if ratios else None),
        ours=f"largest ratio of {len(ratios)}: {max(ratios):.3g}" if ratios else "nothing",
    )
    best = min(medians, key=lambda scale: medians[scale], default=None)
    yield Claim(
        statement=f"{panel}: exploitability is least at some scale between none and the largest",
        source="Fig. 5.7, around 1,000",
        verdict=judge(None if best is None else 0 < best < largest),
        ours="nothing" if best is None else f"{best:,}",
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
