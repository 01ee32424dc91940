# SPDX-License-Identifier: Apache-2.0
"""Study `multi-valued-states`: how many values a leaf needs, Figure 5.8 on Leduc and flop hold'em.

What is measured lives in `opening_bet`; here are the games, the blueprints and the verdicts.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.studies.orderings import Ordering, judge_ratios
from equipoise.studies.search.opening_bet import DepthLimitedReply, OpeningBet
from equipoise.studies.search.search_games import (
    Bucketing,
    draw_bucketings,
    holdem_with_three_bets,
    leduc_with_three_bets,
    parse_bucketing,
    round_value,
)
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge

__all__ = ["MULTI_VALUED_STATES", "MultiValuedConfiguration"]

FIGURE: Final = "Fig. 5.8"
ENOUGH: Final = 4  # values from which on search beats translation
VALUES: Final = "multi-valued states"
TRANSLATION: Final = "pseudo-harmonic translation"
INCLUDED: Final = "bet in the blueprint"
SEARCHED: Final = "translation, second round searched"
KNOWN: Final = "known bets alone"  # what a best response gains without the unknown one
IN_ALL: Final = "in all"  # of blueprints in buckets: what they lose to known bets and the reply together
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MultiValuedConfiguration:
    """Games, blueprints, how many values leaves have, and iterations."""

    ranks: tuple[int, ...] = (5,)  # Leduc games, one for each pair of ranks and raises
    max_raises: tuple[int, ...] = (1,)  # of a round; 0: no Leduc game
    decks: tuple[str, ...] = ("QKA/cdh",)  # hold'em games, one for each deck and pair of raises
    first_raises: tuple[int, ...] = (2,)  # before the flop
    flop_raises: tuple[int, ...] = (1,)  # on the flop
    bucketed_ranks: tuple[int, ...] = (5,)  # Leduc games with blueprints in buckets, one a number of raises; 0: none
    bucketed_decks: tuple[str, ...] = ("QKA/cdh",)  # hold'em games likewise, two bets before the flop and one on it
    buckets: tuple[int, ...] = (6,)  # of their second round
    seeds: int = 2  # different bucketings of each number
    bucketing: str = str(Bucketing.CUTS)  # or kmeans
    num_values: tuple[int, ...] = (1, 2, 4, 8)
    rare: float = 1e-3  # own reach below which leaves' values do not go by averages weighted by it; 0: all do
    blueprint_iterations: int = 1000
    search_iterations: tuple[int, ...] = (500, 1000)  # runs: generated continuations depend on last bits

    def __post_init__(self) -> None:
        if not self.num_values or min(self.num_values) < 1:
            raise ConfigError(f"num_values must be one or more numbers of at least 1, got {self.num_values}")
        if not 0 <= self.rare <= 1:
            raise ConfigError(f"rare must be from 0 to 1, got {self.rare}")

    @property
    def leduc_games(self) -> dict[str, str]:
        """Returns Leduc games by the names of their panels."""
        return _name_leduc_games(self.ranks, self.max_raises)

    @property
    def flop_games(self) -> dict[str, str]:
        """Returns hold'em games by the names of their panels."""
        return _name_flop_games(self.decks, self.first_raises, self.flop_raises)

    def split_flop_games(self) -> tuple[dict[str, str], dict[str, str]]:
        """Returns the hold'em games in which the opening bet cannot be raised, and those in which it can."""
        one_bet, raised = (
            _name_flop_games(self.decks, [count for count in self.first_raises if (count > 1) is can], self.flop_raises)
            for can in (False, True)
        )
        return one_bet, raised

    @property
    def bucketed_leduc_games(self) -> dict[str, str]:
        """Returns Leduc games whose blueprints are in buckets, by the names of their panels."""
        return self._in_buckets(_name_leduc_games(self.bucketed_ranks, self.max_raises))

    @property
    def bucketed_flop_games(self) -> dict[str, str]:
        """Returns hold'em games whose blueprints are in buckets, by the names of their panels."""
        return self._in_buckets(_name_flop_games(self.bucketed_decks, (2,), (1,)))

    @property
    def games(self) -> dict[str, str]:
        """Returns all games by the names of their panels."""
        return self.leduc_games | self.flop_games | self.bucketed_leduc_games | self.bucketed_flop_games

    @property
    def numbers(self) -> dict[str, int]:
        """Returns the number of buckets of every panel, 0 for none."""
        bucketed = self.bucketed_leduc_games | self.bucketed_flop_games
        return {panel: int(panel.split()[-2]) if panel in bucketed else 0 for panel in self.games}

    def num_blueprints(self, panel: str) -> int:
        """Returns how many blueprints a panel has."""
        return self.seeds if self.numbers[panel] else 1

    def _in_buckets(self, games: dict[str, str]) -> dict[str, str]:
        return {f"{panel}, {number} buckets": text for panel, text in games.items() for number in self.buckets}


def _name_leduc_games(ranks: Collection[int], max_raises: Collection[int]) -> dict[str, str]:
    return {
        f"{count} ranks, {raises} raises": leduc_with_three_bets(count, raises)
        for raises in max_raises
        for count in ranks
        if count and raises
    }


def _name_flop_games(
    decks: Collection[str], first_raises: Collection[int], flop_raises: Collection[int]
) -> dict[str, str]:
    return {
        f"flop {deck}, {before} and {after} raises": holdem_with_three_bets(deck, before, after)
        for before in first_raises
        for after in flop_raises
        for deck in decks
    }


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """One blueprint of a game, measured with every number of values."""

    panel: str
    index: int  # among the panel's blueprints
    bucket: IntArray | None


def _plan(opening: OpeningBet, panels: Collection[str], configuration: MultiValuedConfiguration) -> Iterator[_Task]:
    """Yields the blueprints of the panels that are about one game."""
    seen: set[bytes] = set()
    for panel in panels:
        number = configuration.numbers[panel]
        if not number:
            yield _Task(panel, 0, None)
            continue
        kind = parse_bucketing(configuration.bucketing)
        for seed, bucket in enumerate(draw_bucketings(opening.cards, number, configuration.seeds, kind, seen=seen)):
            yield _Task(panel, seed, bucket)


def measure(configuration: MultiValuedConfiguration) -> Iterator[Step]:
    """Yields what replies cost, game by game, by the number of values of a leaf.

    Panels are games and numbers of buckets. Runs are blueprints and, within each, numbers of iterations.
    """
    games = configuration.games
    total = sum(configuration.num_blueprints(panel) for panel in games)
    done = 0
    for text in dict.fromkeys(games.values()):
        panels = [panel for panel, other in games.items() if other == text]
        yield Step(fraction=done / total, text=f"{panels[0]}: tree and equilibrium")
        opening = OpeningBet(text, configuration.blueprint_iterations)
        for task in _plan(opening, panels, configuration):
            for step in _measure_blueprint(opening, task, configuration):
                yield dataclasses.replace(step, fraction=(done + step.fraction) / total)
            done += 1


def _measure_blueprint(opening: OpeningBet, task: _Task, configuration: MultiValuedConfiguration) -> Iterator[Step]:
    """Yields what replies cost with one blueprint; fractions are of this blueprint."""
    iterations, counts = configuration.blueprint_iterations, sorted(configuration.num_values)
    num_runs = len(configuration.search_iterations)
    runs = range(task.index * num_runs, (task.index + 1) * num_runs)
    made = opening.solve(iterations, bucket=task.bucket, rare=configuration.rare)
    included = opening.solution if task.bucket is None else opening.include(iterations, task.bucket)
    translated = opening.translate(made)

    def mark(curve: str, strategy: FloatArray, marks: Sequence[int], runs: Sequence[int]) -> list[Point]:
        prices = {curve: opening.price(strategy)}
        if task.bucket is not None:
            prices = {curve: opening.reply_price(strategy), f"{curve}, {IN_ALL}": prices[curve]}
        return [
            Point(panel=task.panel, curve=name, x=count, y=price, run=run)
            for name, price in prices.items()
            for count in marks
            for run in runs
        ]

    points = mark(TRANSLATION, translated, counts, runs) + mark(INCLUDED, included, counts, runs)
    known = opening.known_price(made)
    points += [Point(panel=task.panel, curve=KNOWN, x=count, y=known, run=run) for count in counts for run in runs]
    yield Step(fraction=0.1, text=f"{task.panel}: translation", points=tuple(points))
    search = DepthLimitedReply(opening, made)
    for place, (run, length) in enumerate(zip(runs, configuration.search_iterations, strict=True)):
        found: tuple[FloatArray, ...] = ()
        for count in counts:
            found = search.generate(count, found, length)
            points = mark(VALUES, search.reply(found, length), [count], [run])
            if count == counts[-1]:
                points += mark(SEARCHED, search.go_on(translated, found, length), counts, [run])
            share = (place + count / counts[-1]) / num_runs
            yield Step(fraction=0.1 + 0.9 * share, text=f"{task.panel}: {count} values", points=tuple(points))


def conclude(configuration: MultiValuedConfiguration, measured: Measured) -> Conclusion:
    """Returns the curves, and a verdict on each statement about them for every game."""
    rows: list[dict[str, object]] = []
    claims: list[Claim] = []
    counts = sorted(configuration.num_values)
    for panel in configuration.games:
        curve = {count: measured.at(panel, VALUES, count) for count in counts}
        others = {name: measured.at(panel, name, counts[0]) for name in (TRANSLATION, SEARCHED, INCLUDED, KNOWN)}
        translated, included = others[TRANSLATION], others[INCLUDED]
        rows += [
            {
                "game": panel,
                "values": count,
                "ours (thousandths)": round_value(value),
                IN_ALL: round_value(measured.at(panel, f"{VALUES}, {IN_ALL}", count)),
                **{name: round_value(price) for name, price in others.items()},
            }
            for count, value in curve.items()
        ]
        one, most = curve.get(1), curve[counts[-1]]
        many = [value for count, value in curve.items() if count >= ENOUGH and value is not None]
        claims += [
            _claim(f"{panel}: with one value translation is better", translated, one),
            _claim(f"{panel}: with four values or more it beats translation", max(many, default=None), translated),
            _claim(f"{panel}: {counts[-1]} values are better than one", most, one),
            _close_claim(f"{panel}: {counts[-1]} values come close to having had the bet", most, included, translated),
        ]
    one_bet, raised = configuration.split_flop_games()
    for kind, games, what in (
        ("leduc", configuration.leduc_games, "games"),
        ("flop hold'em, one bet before the flop", one_bet, "games"),
        ("flop hold'em, raises before the flop", raised, "games"),
        ("leduc in buckets", configuration.bucketed_leduc_games, "blueprints"),
        ("flop hold'em in buckets", configuration.bucketed_flop_games, "blueprints"),
    ):
        claims += _judge_games(kind, games, configuration, measured, what=what)
    notes = (
        "What the opener gains over the value of the game by best responses, in thousandths of Leduc's ante or of "
        "hold'em's big blind; medians over blueprints and over runs that differ in how long searches are run: best "
        "responses are pure and tip at last bits.",
        f"Blueprints in buckets lose most to bets that they know ({KNOWN!r}), and a best response need never make the "
        f"unknown one: {IN_ALL!r} is what blueprint and reply lose together, the other figures are what the reply "
        "loses where everything else is an equilibrium's.",
        "Translation, and a blueprint that has the bet, keep their buckets after it; search solves the second round "
        f"without buckets. {SEARCHED!r} is translation with the same second round as the most values have. The source "
        "has no such row, and its blueprint no buckets.",
        "Suits merged, bets of half and the whole pot, three quarters only to open; no all-in bets. Leduc may be "
        "raised as often as said in either round, hold'em before the flop and on it; by the rules of hold'em the "
        "opening bet can be raised.",
        f"Where a blueprint's own reach is below {configuration.rare:g} leaves go by what the mean of its iterations "
        "does there, not weighted by own reach: an average that is weighted goes by the first iterations there.",
        "The text says that 16 values come close to having had the bet in the abstraction; our test is that nine "
        "tenths of what translation costs beyond that are gone, or that it costs less.",
        "Sign tests count each game, or each bucketing of it, once, by the median of its runs; bucketings of one game "
        "are not independent of its cards.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _judge_games(
    kind: str, games: Collection[str], configuration: MultiValuedConfiguration, measured: Measured, *, what: str
) -> Iterator[Claim]:
    """Yields whether translation is better with one value and worse with four or more, over all games of a kind."""
    counts = sorted(configuration.num_values)
    for count in counts:
        if count == 1:
            pairs = _pair_up(games, configuration, measured, count, TRANSLATION)
            statement, ratios = "one value is worse than translation", [price / other for other, price in pairs]
        elif count >= ENOUGH:
            pairs = _pair_up(games, configuration, measured, count, TRANSLATION)
            statement, ratios = f"{count} values are better than translation", [other / price for other, price in pairs]
        else:
            continue
        ordering = Ordering(above="", below="", source=FIGURE, statement=f"{kind}: {statement}")
        yield judge_ratios(ordering, ratios, what=what)
    words = f"{kind}: {counts[-1]} values are better than translation with the second round searched"
    pairs = _pair_up(games, configuration, measured, counts[-1], SEARCHED)
    ordering = Ordering(above="", below="", source="not in the thesis", statement=words)
    claim = judge_ratios(ordering, [other / price for other, price in pairs], what=what)
    yield dataclasses.replace(claim, verdict=Verdict.NOT_STATED) if pairs else claim


def _pair_up(
    games: Collection[str], configuration: MultiValuedConfiguration, measured: Measured, count: int, other: str
) -> list[tuple[float, float]]:
    """Returns what another reply and so many values cost, in the median run of each blueprint that has both."""
    num_runs = len(configuration.search_iterations)
    alone = [measured.of_run(run) for run in range(configuration.seeds * num_runs)]
    found = []
    for panel in games:
        for index in range(configuration.num_blueprints(panel)):
            runs = alone[index * num_runs : (index + 1) * num_runs]
            pairs = [(run.at(panel, other, count), run.at(panel, VALUES, count)) for run in runs]
            known = [(first, second) for first, second in pairs if first and second]
            if known:
                firsts, seconds = zip(*known, strict=True)
                found.append((statistics.median(firsts), statistics.median(seconds)))
    return found


def _claim(statement: str, less: float | None, more: float | None) -> Claim:
    """Returns the verdict on one price being below another."""
    if less is None or more is None:
        return Claim(statement=statement, source=FIGURE, verdict=judge(None), ours="nothing")
    return Claim(statement=statement, source=FIGURE, verdict=judge(less < more), ours=f"{less:.4g} and {more:.4g}")


def _close_claim(statement: str, price: float | None, floor: float | None, ceiling: float | None) -> Claim:
    """Returns the verdict on a price being within a tenth of the way from a floor to a ceiling."""
    if price is None or floor is None or ceiling is None:
        return Claim(statement=statement, source=FIGURE, verdict=judge(None), ours="nothing")
    return Claim(
        statement=statement,
        source=FIGURE,
        verdict=judge(price <= floor + (ceiling - floor) / 10),
        ours=f"{price:.4g} and {floor:.4g}, translation {ceiling:.4g}",
    )


MULTI_VALUED_STATES: Final = Study(
    name="multi-valued-states",
    title="Depth-limited replies by number of values a leaf",
    source="Brown 2020, thesis section 5.2.3, Fig. 5.8",
    x_label="values of a leaf",
    y_label="thousandths of the ante or big blind",
    sizes={
        Size.QUICK: MultiValuedConfiguration(),
        Size.FULL: MultiValuedConfiguration(
            ranks=(3, 5, 7),
            max_raises=(1, 2),
            decks=("QKA/cdh", "QKA/cdhs", "TJQKA/cd", "JQKA/cdh"),
            first_raises=(1, 2),
            flop_raises=(1, 2),
            bucketed_ranks=(0,),
            bucketed_decks=("JQKA/cdh",),
            buckets=(5, 10, 20),
            seeds=4,
            bucketing=str(Bucketing.KMEANS),
            num_values=(1, 2, 4, 16),
            search_iterations=(300,),
        ),
    },
    measure=measure,
    conclude=conclude,
)
