# SPDX-License-Identifier: Apache-2.0
"""Studies `safe-search` and `gift-scaling`: Tables 5.1 to 5.3 and Figure 5.7 on Leduc with a bucketed blueprint."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import Final

from equipoise.apps.reproduce.orderings import Ordering, judge_ordering
from equipoise.apps.reproduce.search_games import BucketedBlueprint, SecondRound, make_bucketed_blueprint
from equipoise.apps.reproduce.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.search.gadgets import Distribution, Estimate, GiftBound, Maxmargin, Method, Reach, Resolve, Unsafe
from equipoise.search.resolving import search_everywhere
from equipoise.solvers.best_response import evaluate

__all__ = ["GIFT_SCALING", "SAFE_SEARCH", "GiftConfiguration", "SafeSearchConfiguration"]

SOURCE: Final = "Brown 2020, thesis section 5.1.8, Tables 5.1 to 5.3"
TABLES: Final = "Tables 5.1 to 5.3"
TRUNK: Final = "trunk"
UNSAFE: Final = "unsafe"
RESOLVE: Final = "resolve"
MAXMARGIN: Final = "maxmargin"
REACH: Final = "reach-maxmargin"
REACH_WHOLE: Final = "reach-maxmargin, not split"
ESTIMATE: Final = "estimate"
DISTRIBUTION: Final = "estimate + distribution"
REACH_DISTRIBUTION: Final = "reach-estimate + distribution"
REACH_DISTRIBUTION_WHOLE: Final = "reach-estimate + distribution, not split"
SAFE: Final = (RESOLVE, MAXMARGIN, REACH)
METHODS: Final = (
    UNSAFE,
    RESOLVE,
    MAXMARGIN,
    REACH,
    REACH_WHOLE,
    ESTIMATE,
    DISTRIBUTION,
    REACH_DISTRIBUTION,
    REACH_DISTRIBUTION_WHOLE,
)
ORDERINGS: Final = tuple(
    Ordering(above=above, below=below, source=TABLES)
    for above, below in (
        (TRUNK, RESOLVE),
        (RESOLVE, MAXMARGIN),
        (MAXMARGIN, REACH),
        (REACH, REACH_WHOLE),
        (MAXMARGIN, ESTIMATE),
        (ESTIMATE, DISTRIBUTION),
        (DISTRIBUTION, REACH_DISTRIBUTION),
        (REACH_DISTRIBUTION, REACH_DISTRIBUTION_WHOLE),
    )
)
PRINTED: Final = {  # mbb/h, small flop hold'em with 200, 2,000 and 30,000 buckets
    TRUNK: "88.69, 37.374, 9.128",
    UNSAFE: "14.68, 3.958, 0.5514",
    RESOLVE: "60.16, 17.79, 5.407",
    MAXMARGIN: "30.05, 13.99, 4.343",
    REACH: "29.88, 13.90, 4.147",
    REACH_WHOLE: "24.87, 9.807, 2.588",
    ESTIMATE: "11.66, 6.261, 2.423",
    DISTRIBUTION: "10.44, 6.245, 3.430",
    REACH_DISTRIBUTION: "10.21, 5.798, 2.258",
    REACH_DISTRIBUTION_WHOLE: "9.560, 4.924, 1.733",
}
DRAWN: Final = "by scale"  # panel of the figure
TOLERANCE: Final = 1e-3  # of the payoff range, by which a search of finitely many iterations may miss


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SafeSearchConfiguration:
    """Games, blueprints and searches."""

    games: tuple[str, ...] = ("leduc(ranks=6,merge_suits=true)",)
    buckets: tuple[int, ...] = (3, 6)  # of the second round
    seeds: int = 2  # bucketings of each number
    blueprint_iterations: int = 500
    search_iterations: int = 300


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GiftConfiguration:
    """Blueprints, searches and by how much gifts are multiplied."""

    games: tuple[str, ...] = ("leduc(ranks=6,merge_suits=true)",)
    buckets: tuple[int, ...] = (3,)
    seeds: int = 2
    blueprint_iterations: int = 500
    search_iterations: int = 300
    scales: tuple[int, ...] = (0, 1, 10, 1000, 100_000)
    bound: str = "exact"  # lower: against actions that end the game alone


def make_method(name: str, made: BucketedBlueprint) -> Method:
    """Returns a row of the tables as a method."""
    estimate = Estimate(made.last)
    whole = Reach(is_split=False)
    methods: dict[str, Method] = {
        UNSAFE: Unsafe(),
        RESOLVE: Resolve(),
        MAXMARGIN: Maxmargin(),
        REACH: Maxmargin(reach=Reach()),
        REACH_WHOLE: Maxmargin(reach=whole),
        ESTIMATE: Resolve(alternatives=estimate),
        DISTRIBUTION: Resolve(alternatives=estimate, distribution=Distribution()),
        REACH_DISTRIBUTION: Resolve(alternatives=estimate, distribution=Distribution(), reach=Reach()),
        REACH_DISTRIBUTION_WHOLE: Resolve(alternatives=estimate, distribution=Distribution(), reach=whole),
    }
    return methods[name]


def searched_exploitability(game: SecondRound, made: BucketedBlueprint, method: Method, iterations: int) -> float:
    """Returns the exact exploitability when both players search at every second round."""
    out = made.blueprint.strategy.copy()
    for searcher in (0, 1):
        found = search_everywhere(made.blueprint, game.roots, searcher, method, iterations=iterations)
        own = slice(*game.tree.cells.cell_start[searcher : searcher + 2].tolist())
        out[own] = found[own]
    return evaluate(game.tree, out).exploitability


def measure_safe_search(configuration: SafeSearchConfiguration) -> Iterator[Step]:
    """Yields the exploitability of every method on every blueprint; x is the number of buckets, runs are bucketings."""
    total = len(configuration.games) * len(configuration.buckets) * configuration.seeds * (1 + len(METHODS))
    done = 0
    for text in configuration.games:
        yield Step(fraction=done / total, text=f"tree of {text}")
        game = SecondRound(text)
        for num_buckets in configuration.buckets:
            for seed in range(configuration.seeds):
                made = make_bucketed_blueprint(game, num_buckets, seed, configuration.blueprint_iterations)
                done += 1
                point = Point(panel=text, curve=TRUNK, x=num_buckets, y=made.exploitability, run=seed)
                yield Step(fraction=done / total, text=f"{num_buckets} buckets: blueprint", points=(point,))
                for name in METHODS:
                    value = searched_exploitability(
                        game, made, make_method(name, made), configuration.search_iterations
                    )
                    done += 1
                    point = Point(panel=text, curve=name, x=num_buckets, y=value, run=seed)
                    yield Step(fraction=done / total, text=f"{num_buckets} buckets: {name}", points=(point,))


def conclude_safe_search(configuration: SafeSearchConfiguration, measured: Measured) -> Conclusion:
    """Returns the table of medians, and a verdict on every ordering."""
    rows = []
    for panel in measured.panels():
        for name in (TRUNK, *METHODS):
            row: dict[str, object] = {"game": panel, "method": name}
            for num_buckets in configuration.buckets:
                value = measured.at(panel, name, num_buckets)
                row[f"{num_buckets} buckets"] = None if value is None else float(f"{value:.4g}")
            rows.append({**row, "paper (small, mbb)": PRINTED[name]})
    claims = [
        *(_safety_claim(name, configuration, measured) for name in SAFE),
        *(judge_ordering(ordering, measured) for ordering in ORDERINGS),
        _best_claim(measured),
        *_finer_claims(configuration, measured),
    ]
    notes = (
        "Exploitability in chips per hand, exact, with both players searching at every public state that opens the "
        "second round; medians over bucketings. The printed figures are of another game and have another unit.",
        "Gifts are measured from actions that end the game at once: in Leduc folds, and calls that end the betting.",
        "Estimates are what the strategy of the blueprint's last iteration earns, deviations how far that is from the "
        "best response in the whole game.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _safety_claim(name: str, configuration: SafeSearchConfiguration, measured: Measured) -> Claim:
    """Returns whether a safe method stays at or below the trunk everywhere."""
    ratios = [
        ratio
        for panel in measured.panels()
        for num_buckets in configuration.buckets
        for ratio in measured.run_ratios(panel, name, TRUNK, num_buckets)
    ]
    limit = 1.0 + TOLERANCE
    return Claim(
        statement=f"{name} is never more exploitable than the trunk",
        source="sections 5.1.2 and 5.1.3",
        verdict=judge(max(ratios) <= limit if ratios else None),
        ours=f"largest ratio {max(ratios):.3g}" if ratios else "nothing",
    )


def _best_claim(measured: Measured) -> Claim:
    """Returns whether the last row is the best one that is not unsafe, in every column."""
    wins = total = 0
    for curves in measured.panels().values():
        for x, value in curves.get(REACH_DISTRIBUTION_WHOLE, []):
            others = [dict(curves[name]).get(x, math.inf) for name in METHODS[1:-1] if name in curves]
            total += 1
            wins += all(value <= other * (1 + 1e-3) for other in others)
    return Claim(
        statement=f"{REACH_DISTRIBUTION_WHOLE} is the best method but unsafe in every column",
        source=TABLES,
        verdict=judge(wins == total if total else None),
        ours=f"{wins} of {total} columns",
    )


def _finer_claims(configuration: SafeSearchConfiguration, measured: Measured) -> Iterator[Claim]:
    """Yields whether more buckets lower the exploitability of every method."""
    for name in (TRUNK, *METHODS[1:]):
        falls = []
        for panel in measured.panels():
            values = [measured.at(panel, name, num_buckets) for num_buckets in configuration.buckets]
            known = [value for value in values if value is not None]
            falls += [second < first for first, second in itertools.pairwise(known)]
        yield Claim(
            statement=f"a finer abstraction lowers {name}",
            source=TABLES,
            verdict=judge(all(falls) if falls else None),
            ours=f"{sum(falls)} of {len(falls)} steps",
        )


SAFE_SEARCH: Final = Study(
    name="safe-search",
    title="Safe search on a bucketed blueprint",
    source=SOURCE,
    x_label="buckets",
    y_label="exploitability",
    sizes={
        Size.QUICK: SafeSearchConfiguration(),
        Size.FULL: SafeSearchConfiguration(
            games=(
                "leduc(ranks=6,merge_suits=true)",
                "leduc(ranks=6,merge_suits=true,sizing=pot,first_sizes=0.5,second_sizes=0.5;1,stack=40,max_raises=2)",
            ),
            buckets=(2, 4, 8, 16),
            seeds=4,
            blueprint_iterations=2000,
            search_iterations=1000,
        ),
    },
    measure=measure_safe_search,
    conclude=conclude_safe_search,
)


def _name_scale(scale: int) -> str:
    return f"scale {scale:,}"


def measure_gift_scaling(configuration: GiftConfiguration) -> Iterator[Step]:
    """Yields the exploitability of Reach-Maxmargin by scale of gifts; runs are blueprints."""
    blueprints = [(num, seed) for num in configuration.buckets for seed in range(configuration.seeds)]
    total = len(configuration.games) * len(blueprints) * len(configuration.scales)
    done = 0
    for text in configuration.games:
        game = SecondRound(text)
        for run, (num_buckets, seed) in enumerate(blueprints):
            made = make_bucketed_blueprint(game, num_buckets, seed, configuration.blueprint_iterations)
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
    rows, best = [], []
    games = [panel for panel in measured.panels() if panel != DRAWN]
    for panel in games:
        medians = {
            scale: value
            for scale in configuration.scales
            if (value := measured.at(panel, _name_scale(scale), 1)) is not None
        }
        rows += [
            {"game": panel, "scale": scale, "share of the trunk": float(f"{value:.4g}")}
            for scale, value in medians.items()
        ]
        best.append(min(medians.items(), key=lambda item: item[1])[0])
    none, one, most = (_name_scale(scale) for scale in (0, 1, max(configuration.scales)))
    ratios = [ratio for panel in games for ratio in measured.runs(panel, one, 1)]
    claims = (
        judge_ordering(Ordering(above=none, below=one, source="section 5.1.3"), measured),
        judge_ordering(
            Ordering(above=most, below=none, source="Fig. 5.7", statement=f"{most} is worse than no gifts"), measured
        ),
        Claim(
            statement="gifts times 1 are safe: never more exploitable than the trunk",
            source="section 5.1.3",
            verdict=judge(max(ratios) <= 1 + TOLERANCE if ratios else None),
            ours=f"largest ratio {max(ratios):.3g}" if ratios else "nothing",
        ),
        Claim(
            statement="exploitability is least at some scale between none and the largest",
            source="Fig. 5.7, around 1,000",
            verdict=judge(all(0 < scale < max(configuration.scales) for scale in best) if best else None),
            ours=", ".join(f"{scale:,}" for scale in best) or "nothing",
        ),
    )
    notes = ("Exploitability as a share of the blueprint's, median over blueprints.",)
    return Conclusion(rows=tuple(rows), claims=claims, notes=notes)


GIFT_SCALING: Final = Study(
    name="gift-scaling",
    title="Reach-Maxmargin with gifts multiplied",
    source="Brown 2020, thesis section 5.1.11, Fig. 5.7",
    x_label="scale of gifts",
    y_label="share of the trunk's exploitability",
    sizes={
        Size.QUICK: GiftConfiguration(),
        Size.FULL: GiftConfiguration(
            buckets=(2, 4, 8),
            seeds=4,
            blueprint_iterations=2000,
            search_iterations=1000,
            scales=(0, 1, 2, 5, 10, 30, 100, 300, 1000, 10_000, 100_000),
        ),
    },
    measure=measure_gift_scaling,
    conclude=conclude_gift_scaling,
    panels=(DRAWN,),
)
