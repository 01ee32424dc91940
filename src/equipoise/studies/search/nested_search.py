# SPDX-License-Identifier: Apache-2.0
"""Study `nested-search`: replies to a bet that the blueprint does not know, Table 5.4 on Leduc and flop hold'em."""

from __future__ import annotations

import dataclasses
import functools
import statistics
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.translation import translate_bet
from equipoise.search.gadgets import Maxmargin, Method, Reach, Resolve, Unsafe
from equipoise.search.nested import NestedSearch
from equipoise.search.public import PublicProfile
from equipoise.search.settings import SearchSettings
from equipoise.search.translated import translate_strategy
from equipoise.solvers.best_response import bind_public_kernel, evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.studies.orderings import Ordering, judge_ordering
from equipoise.studies.search.search_games import (
    ALL_IN,
    MIDDLE,
    Bucketing,
    SecondRound,
    draw_all_bucketings,
    find_sizes,
    holdem_with_three_bets,
    leduc_with_three_bets,
    parse_bucketing,
    round_value,
    solve_in_buckets,
)
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.trees.public_edges import find_children
from equipoise.trees.subtree import cut_subtree

__all__ = ["NESTED_SEARCH", "NestedConfiguration", "ThreeSizes"]

TABLE: Final = "Table 5.4"
TRANSLATION: Final = "pseudo-harmonic translation"
KNOWN: Final = "known bets alone"  # what a best response gains without the unknown one
SIZES: Final = (0.5, 0.75, 1.0)
METHODS: Final[dict[str, tuple[Method, bool]]] = {  # and whether from before the action on
    "resolve": (Resolve(), False),
    "reach-maxmargin, expensive": (Maxmargin(reach=Reach()), True),
    "unsafe, expensive": (Unsafe(), True),
    "maxmargin": (Maxmargin(), False),
    "reach-maxmargin": (Maxmargin(reach=Reach()), False),
}
PRINTED: Final = {
    TRANSLATION: 1465.0,
    "resolve": 150.2,
    "reach-maxmargin, expensive": 149.2,
    "unsafe, expensive": 148.3,
    "maxmargin": 122.0,
    "reach-maxmargin": 119.1,
}
UNBUCKETED: Final = 1  # mark of blueprints without buckets: abscissas are logarithmic
ORDERED: Final = (("resolve", "maxmargin"), ("maxmargin", "reach-maxmargin"), ("resolve", "reach-maxmargin"))
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NestedConfiguration:
    """Games, blueprints and iterations."""

    leduc_raises: tuple[int, ...] = (1,)  # Leduc games, by how often a round may be raised; 0: none
    decks: tuple[str, ...] = ("QKA/cdh",)  # hold'em games, one a deck and number of raises
    flop_raises: tuple[int, ...] = (1,)  # on the flop; before it there is one
    bucketed_ranks: tuple[int, ...] = (4,)  # Leduc games with blueprints in buckets, one a number of raises; 0: none
    bucketed_decks: tuple[str, ...] = ("QKA/cdh",)  # hold'em games likewise
    buckets: tuple[int, ...] = (3, 6)  # of their second round
    seeds: int = 1  # different bucketings of each number
    bucketing: str = str(Bucketing.CUTS)  # or kmeans
    blueprint_iterations: int = 1000
    search_iterations: int = 300

    @property
    def leduc_games(self) -> dict[str, str]:
        """Returns Leduc games by the names of their panels."""
        return {
            f"leduc, {_name_raises(raises)}": leduc_with_three_bets(3, raises) for raises in self.leduc_raises if raises
        }

    @property
    def flop_games(self) -> dict[str, str]:
        """Returns hold'em games by the names of their panels."""
        return _name_flop_games(self.decks, self.flop_raises)

    @property
    def bucketed_leduc_games(self) -> dict[str, str]:
        """Returns Leduc games whose blueprints are in buckets, by the names of their panels."""
        return {
            f"leduc with {ranks} ranks, {_name_raises(raises)}, in buckets": leduc_with_three_bets(ranks, raises)
            for ranks in self.bucketed_ranks
            for raises in self.leduc_raises
            if ranks and raises
        }

    @property
    def bucketed_flop_games(self) -> dict[str, str]:
        """Returns hold'em games whose blueprints are in buckets, by the names of their panels."""
        games = _name_flop_games(self.bucketed_decks, self.flop_raises)
        return {f"{panel}, in buckets": text for panel, text in games.items()}

    @property
    def columns(self) -> dict[str, tuple[int, ...]]:
        """Returns the marks of every panel: numbers of buckets, one mark where there are none."""
        plain, bucketed = self.leduc_games | self.flop_games, self.bucketed_leduc_games | self.bucketed_flop_games
        return dict.fromkeys(plain, (UNBUCKETED,)) | dict.fromkeys(bucketed, self.buckets)


def _name_raises(count: int) -> str:
    return f"{count} raise{'s'[: count != 1]}"


def _name_flop_games(decks: Collection[str], flop_raises: Collection[int]) -> dict[str, str]:
    return {
        f"flop {deck}, {_name_raises(raises)}": holdem_with_three_bets(deck, 1, raises)
        for deck in decks
        for raises in flop_raises
    }


class ThreeSizes:
    """A game with bets of half, three quarters of and the whole pot, and blueprints that lack the middle one."""

    def __init__(self, text: str) -> None:
        """Builds the tree, without all-in bets, and its part without the middle size."""
        everything = SecondRound(text)
        size = find_sizes(everything.form, everything.tree)
        kept = cut_subtree(everything.tree, 0, without=np.flatnonzero(size == ALL_IN))
        self.unit = float(everything.form.spec.parameters.get("big_blind", 1.0))  # chips; Leduc's is the ante
        self.tree = kept.tree
        self.size = size[kept.nodes]
        self.off_tree = np.flatnonzero(self.size == MIDDLE)
        self.part = cut_subtree(self.tree, 0, without=self.off_tree)
        self.cards = everything.on(self.part.tree)  # for buckets
        self.kernel = bind_public_kernel(self.tree)

    def solve(self, iterations: int) -> FloatArray:
        """Returns `[C]` an equilibrium of the known part."""
        solver = CFRSolver(self.part.tree, CFRPlus())
        solver.iterate(iterations)
        return self._insert(solver.average_strategy())

    def solve_in_buckets(self, bucket: npt.NDArray[np.int64], iterations: int) -> FloatArray:
        """Returns `[C]` a solution of the known part that does not tell pairs of a bucket apart."""
        return self._insert(solve_in_buckets(self.cards, bucket, iterations).blueprint.strategy)

    def _insert(self, known: FloatArray) -> FloatArray:
        strategy: FloatArray = self.tree.legal_share.copy()
        self.part.insert(known, strategy)
        return strategy

    def images(self, node: int) -> dict[int, float]:
        """Returns what a bet of the middle size is taken for."""
        beside = {int(self.size[child]): int(child) for child in find_children(self.tree, int(self.tree.parent[node]))}
        shares = translate_bet(SIZES[MIDDLE], (SIZES[0], SIZES[-1]))
        return {beside[SIZES.index(size)]: share for size, share in shares.items()}

    def price(self, reply: Callable[[int], FloatArray]) -> float:
        """Returns what best responses gain over the value of the game, mean of both searchers, in thousandths.

        That is the exploitability where both search: the value of the game counts once for and once against.

        Args:
            reply: a searching player's strategy `[C]`.
        """
        gains = [
            evaluate(self.tree, reply(searcher), kernel=self.kernel).best_response_values[1 - searcher]
            for searcher in (0, 1)
        ]
        return 1000 * sum(gains) / (2 * self.unit)

    def known_price(self, strategy: FloatArray) -> float:
        """Returns the same where nobody has the unknown bet."""
        return 1000 * evaluate(self.part.tree, self.part.restrict(strategy)).exploitability / self.unit

    def translate(self, strategy: FloatArray, searcher: int) -> FloatArray:
        """Returns `[C]` the strategy with the searcher's replies by translation."""
        return translate_strategy(self.tree, self.off_tree, searcher, strategy, self.images)

    def search(self, strategy: FloatArray, searcher: int, name: str, iterations: int) -> FloatArray:
        """Returns `[C]` the strategy with the searcher's replies by one of the methods."""
        method, is_expensive = METHODS[name]
        settings = SearchSettings(method=method, iterations=iterations, is_expensive=is_expensive)
        known = PublicProfile.without(self.tree, strategy, self.off_tree)
        return NestedSearch(known, searcher, settings).everywhere()


Made = tuple[int, int, Callable[[], FloatArray]]  # mark, run, and the blueprint when it is wanted


def _plan_blueprints(three: ThreeSizes, configuration: NestedConfiguration, *, is_bucketed: bool) -> Iterator[Made]:
    """Yields the blueprints of a panel."""
    iterations = configuration.blueprint_iterations
    if not is_bucketed:
        yield UNBUCKETED, 0, lambda: three.solve(iterations)
        return
    kind = parse_bucketing(configuration.bucketing)
    for number, seed, bucket in draw_all_bucketings(three.cards, configuration.buckets, configuration.seeds, kind):
        yield number, seed, functools.partial(three.solve_in_buckets, bucket, iterations)


def measure(configuration: NestedConfiguration) -> Iterator[Step]:
    """Yields what each way to reply costs; panels are games, marks numbers of buckets, runs bucketings."""
    plain = configuration.leduc_games | configuration.flop_games
    bucketed = configuration.bucketed_leduc_games | configuration.bucketed_flop_games
    num_blueprints = len(plain) + len(bucketed) * len(configuration.buckets) * configuration.seeds
    done, total = 0, num_blueprints * (2 + len(METHODS))
    for panel, text in (plain | bucketed).items():
        yield Step(fraction=done / total, text=f"{panel}: trees")
        three = ThreeSizes(text)
        for mark, run, make in _plan_blueprints(three, configuration, is_bucketed=panel in bucketed):
            strategy = make()
            replies: dict[str, Callable[[int], FloatArray]] = {
                TRANSLATION: functools.partial(three.translate, strategy)
            }
            for name in METHODS:
                replies[name] = functools.partial(
                    three.search, strategy, name=name, iterations=configuration.search_iterations
                )
            done += 1
            point = Point(panel=panel, curve=KNOWN, x=mark, y=three.known_price(strategy), run=run)
            yield Step(fraction=done / total, text=f"{panel}, {mark}: blueprint", points=(point,))
            for name, reply in replies.items():
                done += 1
                point = Point(panel=panel, curve=name, x=mark, y=three.price(reply), run=run)
                yield Step(fraction=done / total, text=f"{panel}, {mark}: {name}", points=(point,))


def conclude(configuration: NestedConfiguration, measured: Measured) -> Conclusion:
    """Returns the table, and a verdict on each of its orderings."""
    rows: list[dict[str, object]] = []
    claims: list[Claim] = []
    for panel, marks in configuration.columns.items():
        added: dict[str, list[float]] = {name: [] for name in PRINTED}
        for mark in marks:
            for name in (KNOWN, *PRINTED):
                more = _list_added(measured, panel, name, mark, configuration.seeds)
                rows.append(
                    {
                        "game": panel,
                        "buckets": None if mark == UNBUCKETED else mark,
                        "method": name,
                        "ours (thousandths)": round_value(measured.at(panel, name, mark)),
                        "by the unknown bet": round_value(statistics.median(more) if more else None),
                        "paper (mbb)": PRINTED.get(name),
                    }
                )
                if name != KNOWN:
                    added[name] += more
        claims += _claims(panel, {name: statistics.median(more) for name, more in added.items() if more})
    for kind, panels, what in (
        ("flop hold'em", configuration.flop_games, "games"),
        ("leduc in buckets", configuration.bucketed_leduc_games, "blueprints"),
        ("flop hold'em in buckets", configuration.bucketed_flop_games, "blueprints"),
    ):
        claims += [
            judge_ordering(
                Ordering(above=above, below=below, source=TABLE, statement=f"{kind}: {above} > {below}"),
                measured,
                panel_names=list(panels),
                what=what,
            )
            for above, below in (*((TRANSLATION, name) for name in METHODS), *ORDERED)
        ]
    notes = (
        "What the other player gains over the value of the game by best responses with all sizes, mean of both "
        "searching players, in thousandths of Leduc's ante or hold'em's big blind; medians over bucketings.",
        f"{KNOWN!r} is what best responses without the unknown bet gain; what is gained beyond that, the unknown bet "
        "costs. Both have the same order: a blueprint's own price is the same for every reply to it.",
        "Translation keeps the blueprint, buckets and all, after an unknown bet; nested search solves what comes after "
        "it without buckets. That is the source's comparison, whose blueprints have no buckets.",
        "Suits merged and no all-in bets. Leduc may be raised as often as said in either round, hold'em on the flop; "
        "before it there is one bet.",
        "Sign tests count each game, or each bucketing of it, once, both searching players together; bucketings of one "
        "game are not independent of its cards.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _list_added(measured: Measured, panel: str, name: str, mark: int, num_runs: int) -> list[float]:
    """Returns what the unknown bet adds to the price of each blueprint."""
    found = []
    for run in range(num_runs):
        alone = measured.of_run(run)
        whole, known = alone.at(panel, name, mark), alone.at(panel, KNOWN, mark)
        if whole is not None and known is not None:
            found.append(round(whole - known, 9))  # a difference of two sums: nothing is nothing
    return found


def _claims(panel: str, added: Mapping[str, float]) -> Iterator[Claim]:
    """Yields the verdicts on one game by what the unknown bet adds, none on what is not measured whole."""
    is_whole = len(added) == len(PRINTED)
    for name in METHODS:
        yield Claim(
            statement=f"{panel}: with {name} the unknown bet costs at most a third of what it costs with translation",
            source=f"{TABLE}: about a tenth",
            verdict=judge(added[name] <= added[TRANSLATION] / 3 if is_whole else None),
            ours=f"{added[name]:.3g} and {added[TRANSLATION]:.3g}" if is_whole else "nothing",
        )
    best = min(METHODS, key=lambda name: added[name]) if is_whole else None
    slack = 0.0 if best is None else 0.05 * abs(added[best])  # what a bet adds may be less than nothing
    yield Claim(
        statement=f"{panel}: reach-maxmargin, inexpensive, costs least (5 % is a tie)",
        source=TABLE,
        verdict=judge(None if best is None else added["reach-maxmargin"] <= added[best] + slack),
        ours="nothing" if best is None else f"least: {best}, {added[best]:.4g}; {added['reach-maxmargin']:.4g}",
    )


NESTED_SEARCH: Final = Study(
    name="nested-search",
    title="Replies to a bet that is not in the tree",
    source="Brown 2020, thesis section 5.1.8, Table 5.4",
    x_label="buckets (1: none)",
    y_label="thousandths of the ante or big blind",
    sizes={
        Size.QUICK: NestedConfiguration(),
        Size.FULL: NestedConfiguration(
            leduc_raises=(1, 2),
            decks=("QKA/cdh", "QKA/cdhs", "TJQKA/cd", "JQKA/cdh", "JQKA/cdhs", "9TJQKA/cd"),
            bucketed_ranks=(0,),
            bucketed_decks=("JQKA/cdh",),
            buckets=(5, 10, 20),
            seeds=4,
            bucketing=str(Bucketing.KMEANS),
        ),
    },
    measure=measure,
    conclude=conclude,
)
