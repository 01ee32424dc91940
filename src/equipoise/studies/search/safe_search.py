# SPDX-License-Identifier: Apache-2.0
"""Study `safe-search`: Tables 5.1 to 5.3 on Leduc and on flop hold'em with a reduced deck, with bucketed blueprints."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import Final

from equipoise.search.gadgets import Distribution, Estimate, GiftValues, Maxmargin, Method, Reach, Resolve, Unsafe
from equipoise.search.resolving import search_everywhere
from equipoise.solvers.best_response import evaluate
from equipoise.studies.orderings import Ordering, judge_ordering
from equipoise.studies.search.search_games import (
    BucketedBlueprint,
    Bucketing,
    SecondRound,
    describe_games,
    draw_all_bucketings,
    parse_bucketing,
    solve_in_buckets,
)
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.trees.vector import TreeStrategy

__all__ = ["SAFE_SEARCH", "TOLERANCE", "SafeSearchConfiguration", "searched_exploitability"]

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
REACH_DISTRIBUTION_LAST: Final = f"{REACH_DISTRIBUTION}, gifts of the last iterate"
REACH_DISTRIBUTION_LAST_WHOLE: Final = f"{REACH_DISTRIBUTION}, not split, gifts of the last iterate"
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
    REACH_DISTRIBUTION_LAST,
    REACH_DISTRIBUTION_LAST_WHOLE,
)
OURS: Final = (REACH_DISTRIBUTION_LAST, REACH_DISTRIBUTION_LAST_WHOLE)  # not in the tables: offered beside them
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
TOLERANCE: Final = 1e-3  # of the trunk's exploitability, by which a search of finitely many iterations may miss


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SafeSearchConfiguration:
    """Games, blueprints and searches."""

    games: tuple[str, ...] = ("leduc-6", "flop-tiny")
    buckets: tuple[int, ...] = (3, 6)  # of the second round
    seeds: int = 2  # different bucketings of each number
    bucketing: str = str(Bucketing.CUTS)  # or kmeans
    blueprint_iterations: int = 500
    search_iterations: int = 300


def make_method(name: str, made: BucketedBlueprint) -> Method:
    """Returns a row of the tables as a method."""
    estimate = Estimate(TreeStrategy(made.blueprint.tree, made.last))
    whole = Reach(is_split=False)
    exact, exact_whole = (Reach(values=GiftValues.EXACT, is_split=is_split) for is_split in (True, False))
    distribution = Distribution()
    methods: dict[str, Method] = {
        UNSAFE: Unsafe(),
        RESOLVE: Resolve(),
        MAXMARGIN: Maxmargin(),
        REACH: Maxmargin(reach=Reach()),
        REACH_WHOLE: Maxmargin(reach=whole),
        ESTIMATE: Resolve(alternatives=estimate),
        DISTRIBUTION: Resolve(alternatives=estimate, distribution=distribution),
        REACH_DISTRIBUTION: Resolve(alternatives=estimate, distribution=distribution, reach=exact),
        REACH_DISTRIBUTION_WHOLE: Resolve(alternatives=estimate, distribution=distribution, reach=exact_whole),
        REACH_DISTRIBUTION_LAST: Resolve(alternatives=estimate, distribution=distribution, reach=Reach()),
        REACH_DISTRIBUTION_LAST_WHOLE: Resolve(alternatives=estimate, distribution=distribution, reach=whole),
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
    done, bucketing = 0, parse_bucketing(configuration.bucketing)
    for text in configuration.games:
        yield Step(fraction=done / total, text=f"tree of {text}")
        game = SecondRound(text)
        drawn = draw_all_bucketings(game, configuration.buckets, configuration.seeds, bucketing)
        for num_buckets, seed, bucket in drawn:
            made = solve_in_buckets(game, bucket, configuration.blueprint_iterations)
            done += 1
            point = Point(panel=text, curve=TRUNK, x=num_buckets, y=made.exploitability, run=seed)
            yield Step(fraction=done / total, text=f"{num_buckets} buckets: blueprint", points=(point,))
            for name in METHODS:
                value = searched_exploitability(game, made, make_method(name, made), configuration.search_iterations)
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
            rows.append({**row, "paper (small, mbb)": PRINTED.get(name, "")})
    claims: list[Claim] = []
    for panel in configuration.games:
        claims += [
            *(_safety_claim(panel, name, configuration, measured) for name in SAFE),
            *(judge_ordering(_in_game(panel, ordering), measured, panel_names=[panel]) for ordering in ORDERINGS),
            _best_claim(panel, measured),
            _erratic_claim(panel, configuration, measured),
            *_finer_claims(panel, configuration, measured),
        ]
    notes = (
        "Exploitability in chips per hand, exact, with both players searching at every public state that opens the "
        "second round; medians over bucketings. The printed figures are of another game and have another unit.",
        "Leduc's ante is a chip, hold'em's big blind 100: 1 chip is 10 mbb there.",
        "Gifts are measured from actions that end the game at once: in hold'em folds, in Leduc also calls that end it.",
        "Under estimates gifts are differences of the opponent's counterfactual best-response values, as in (5.2). The "
        "last two rows, which are in no table, take them from the strategy of the last iteration, as estimates are.",
        "Estimates are what the strategy of the blueprint's last iteration earns, deviations how far that is from the "
        "best response in the whole game.",
        f"A safe method may be above the trunk by {TOLERANCE:g} of it: searches end after finitely many iterations.",
        *describe_games(configuration.games),
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _in_game(panel: str, ordering: Ordering) -> Ordering:
    """Returns an ordering that names the game."""
    return dataclasses.replace(ordering, statement=f"{panel}: {ordering.text}")


def _list_ratios(panel: str, name: str, configuration: SafeSearchConfiguration, measured: Measured) -> list[float]:
    """Returns a method's exploitability as a share of the trunk's, for every blueprint of a game."""
    return [
        ratio for num_buckets in configuration.buckets for ratio in measured.run_ratios(panel, name, TRUNK, num_buckets)
    ]


def _safety_claim(panel: str, name: str, configuration: SafeSearchConfiguration, measured: Measured) -> Claim:
    """Returns whether a safe method stays at or below the trunk everywhere."""
    ratios = _list_ratios(panel, name, configuration, measured)
    return Claim(
        statement=f"{panel}: {name} is never more exploitable than the trunk",
        source="sections 5.1.2 and 5.1.3",
        verdict=judge(max(ratios) <= 1.0 + TOLERANCE if ratios else None),
        ours=f"largest ratio of {len(ratios)}: {max(ratios):.3g}" if ratios else "nothing",
    )


def _erratic_claim(panel: str, configuration: SafeSearchConfiguration, measured: Measured) -> Claim:
    """Returns whether unsafe search is worse than the trunk somewhere: in one column of nine by a factor of 9.6."""
    ratios = _list_ratios(panel, UNSAFE, configuration, measured)
    return Claim(
        statement=f"{panel}: unsafe search can be more exploitable than the trunk",
        source="Table 5.2, 30,000 buckets",
        verdict=judge(max(ratios) > 1.0 if ratios else None),
        ours=f"ratios {min(ratios):.3g} to {max(ratios):.3g}, {sum(ratio > 1 for ratio in ratios)} of {len(ratios)} "
        "above 1"
        if ratios
        else "nothing",
    )


def _best_claim(panel: str, measured: Measured) -> Claim:
    """Returns whether the last row is the best one that is not unsafe, in every column."""
    curves = measured.panels().get(panel, {})
    wins = total = 0
    for x, value in curves.get(REACH_DISTRIBUTION_WHOLE, []):
        rest = (name for name in METHODS if name in curves and name not in (UNSAFE, REACH_DISTRIBUTION_WHOLE, *OURS))
        others = [dict(curves[name]).get(x, math.inf) for name in rest]
        total += 1
        wins += all(value <= other * (1 + 1e-3) for other in others)
    return Claim(
        statement=f"{panel}: {REACH_DISTRIBUTION_WHOLE} is the best method but unsafe in every column",
        source=TABLES,
        verdict=judge(wins == total if total else None),
        ours=f"{wins} of {total} columns",
    )


def _finer_claims(panel: str, configuration: SafeSearchConfiguration, measured: Measured) -> Iterator[Claim]:
    """Yields whether more buckets lower the exploitability of every method."""
    for name in (TRUNK, *METHODS[1:]):
        values = [measured.at(panel, name, num_buckets) for num_buckets in configuration.buckets]
        known = [value for value in values if value is not None]
        falls = [second < first for first, second in itertools.pairwise(known)]
        yield Claim(
            statement=f"{panel}: a finer abstraction lowers {name}",
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
            games=("leduc-6", "leduc-6-nolimit", "flop-small", "flop-large"),
            buckets=(4, 8, 16),
            seeds=4,
            blueprint_iterations=1000,
            search_iterations=300,
        ),
    },
    measure=measure_safe_search,
    conclude=conclude_safe_search,
)
