# SPDX-License-Identifier: Apache-2.0
"""Study `value-lost`: what a street loses when it is searched with values at its end, whatever says them.

Spots are drawn as in `turn-search`, by board, ranges and pot; each is solved whole, searched to the end of its first
street with every kind of leaves, and solved again with the searcher's street locked to what the search found.
"""

from __future__ import annotations

import dataclasses
import functools
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from equipoise.agents.value_nets import NetFolder, digest_nets
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import FULL_DECK
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.frontier import Frontier
from equipoise.learning.values.bucketed_rivers import BucketedRivers
from equipoise.learning.values.situations import draw_class_weights
from equipoise.search.holdem.depth_limit import LeafChoices, solve_blueprint
from equipoise.search.holdem.equity_leaves import equity_leaves
from equipoise.search.holdem.leaves import AfterDeal, bind_lines
from equipoise.search.leaves import HeldLeaves, LeafEvaluator, SwitchedLeaves, ZeroLeaves
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rule_notation import parse_rule
from equipoise.studies.search.turn_search import BUDGET, search_turn
from equipoise.studies.street_losses import (
    LEAST,
    LOSSES,
    SECONDS,
    KeptSpots,
    Rows,
    Searched,
    measure_losses,
    read_street,
)
from equipoise.studies.study import Claim, Conclusion, Measured, Size, Step, Study, judge
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree, plan_first_street
from equipoise.trees.vector import TreeStrategy

__all__ = ["VALUE_LOST", "ValueLostConfiguration", "draw_spot"]

SEED: Final = 16
SOME_CARDS: Final = 4
AIM: Final = "this project's aim"
BARS: Final = {Street.TURN: (0.15, 0.5), Street.FLOP: (0.5, float("inf"))}  # median and worst, percent of the pot


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ValueLostConfiguration:
    """Which spots are drawn, and how they are searched."""

    spots: int = 2  # turns
    ratios: tuple[float, float] = (1.0, 6.0)  # chips behind in pots, least and most
    hands: int = 0  # of each side of a turn, drawn at random; 0: every hand
    menu: str = "100%, a"
    methods: tuple[str, ...] = (
        "blueprint",
        "zero",
        "equity",
        "opponent",
        "both",
        "end",
        "some",
        "held",
        "after",
        "buckets",
        "exact",
    )
    flops: int = 0  # beside the turns
    flop_hands: int = 100  # of each side of a flop; 0: every hand
    flop_methods: tuple[str, ...] = ("zero", "equity", "end", "some", "held", "after", "exact")
    flop_open_percent: float = 0.1
    nets: str = ""  # a folder of networks; none: those that are shipped
    rule: str = "dcfr(1.5,0,4)"
    search_iterations: int = 200
    blueprint_iterations: int = 100
    open_percent: float = 0.02  # of the pot: how exactly spots are solved; losses are as much too large
    most_iterations: int = 2000  # of these
    keep: str = ""  # a folder: spots are kept there, and a study that was interrupted goes on

    def __post_init__(self) -> None:
        for name in ("search_iterations", "blueprint_iterations", "most_iterations"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("spots", "flops", "hands", "flop_hands"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must not be negative, got {getattr(self, name)}")
        if not self.spots + self.flops:
            raise ConfigError("there is nothing to measure: both spots and flops are 0")
        for method in (*self.methods, *self.flop_methods):
            if method not in METHODS:
                raise UnknownNameError("method", method, METHODS)
        if unfit := TURNS_ALONE & set(self.flop_methods):
            raise ConfigError(f"some methods are for turns alone: leave out {', '.join(sorted(unfit))}")
        parse_rule(self.rule)

    def streets(self) -> tuple[StreetSpots, ...]:
        """Returns the spots of each street that has any."""
        turns = StreetSpots(self, Street.TURN, self.spots, self.hands, self.methods, self.open_percent)
        flops = StreetSpots(self, Street.FLOP, self.flops, self.flop_hands, self.flop_methods, self.flop_open_percent)
        return tuple(each for each in (turns, flops) if each.spots)


@dataclasses.dataclass(frozen=True, slots=True)
class StreetSpots:
    """The spots of one street, and how they are measured."""

    whole: ValueLostConfiguration
    street: Street
    spots: int
    hands: int
    methods: tuple[str, ...]
    open_percent: float

    @property
    def name(self) -> str:
        """Returns what spots are called."""
        return f"{self.street.name.lower()}s"

    @property
    def most_iterations(self) -> int:
        """Returns after how many iterations a solve is good enough."""
        return self.whole.most_iterations

    def draw(self) -> Iterator[tuple[HoldemSpot, int]]:
        """Yields spots and who searches them, the same ones every time."""
        for number in range(self.spots):
            yield draw_spot(self, np.random.default_rng([SEED, self.street, number])), number % 2

    def panel(self, panel: str) -> str:
        """Returns the panel of this street: turns have those of `street_losses`."""
        return panel if self.street is Street.TURN else f"{panel}, {self.name}"

    def measured(self, measured: Measured, panel: str, method: str) -> list[float]:
        """Returns what was measured of a method, spot by spot."""
        found = (measured.at(self.panel(panel), METHODS[method][0], number) for number in range(1, self.spots + 1))
        return [value for value in found if value is not None]

    def identify(self) -> dict[str, Any]:
        """Returns what a loss depends on: neither on how many spots there are nor on the other methods."""
        whole = self.whole
        return {
            "street": self.street.name.lower(),
            "ratios": whole.ratios,
            "hands": self.hands,
            "menu": whole.menu,
            "rule": whole.rule,
            "search_iterations": whole.search_iterations,
            "blueprint_iterations": whole.blueprint_iterations,
            "open_percent": self.open_percent,
            "most_iterations": whole.most_iterations,
            "seed": SEED,
            "networks": digest_nets(whole.nets),
        }

    def kept(self) -> KeptSpots | None:
        """Returns where spots are kept, flops beside turns."""
        if not self.whole.keep:
            return None
        folder = Path(self.whole.keep).expanduser()
        return KeptSpots(folder if self.street is Street.TURN else folder / self.name, self.identify())


def draw_spot(spots: StreetSpots, rng: np.random.Generator) -> HoldemSpot:
    """Returns a spot with a random board, chips behind and ranges: a class of hands is missing or has some weight."""
    board = tuple(int(card) for card in rng.choice(FULL_DECK.cards, spots.street.num_board_cards, replace=False))
    low, high = spots.whole.ratios
    ratio = float(np.exp(rng.uniform(np.log(low), np.log(high))))
    pot = 2 * round(BUDGET / (1.0 + 2.0 * ratio))
    hands = hands_of()
    ranges = []
    for _ in range(2):
        weights = draw_class_weights(rng)
        if spots.hands:
            live = np.flatnonzero((weights > 0) & ~hands.blocked(board))
            kept = rng.choice(live, min(spots.hands, live.size), replace=False)
            weights = np.where(np.isin(np.arange(weights.size), kept), weights, 0.0)
        ranges.append(Range(weights))
    behind = BUDGET - pot // 2
    return HoldemSpot(
        board=board,
        pot=pot,
        stacks=(behind, behind),
        ranges=(ranges[0], ranges[1]),
        menu=parse_menu(spots.whole.menu),
    )


class _Spot:
    """One spot, with the blueprint that some searches go on with."""

    def __init__(self, spot: HoldemSpot, searcher: int, spots: StreetSpots) -> None:
        self.spot, self.searcher, self.configuration = spot, searcher, spots.whole
        self.blueprint: TreeStrategy[HoldemTree] | None = None

    def make_blueprint(self) -> None:
        """Solves what some searches go on with, unless it is there; it does not know the ranges."""
        if self.blueprint is None:
            iterations = self.configuration.blueprint_iterations
            self.blueprint = solve_blueprint(self.spot, iterations=iterations, share_of_all=1.0)

    def choose(self, choices: LeafChoices | None) -> Rows:
        """Returns the street where players choose how the blueprint goes on; without choices the blueprint's own."""
        assert self.blueprint is not None
        iterations = self.configuration.search_iterations
        return search_turn(self.spot, self.blueprint, self.searcher, choices, iterations)[0]

    def cut(self, leaves: LeafEvaluator) -> Rows:
        """Returns the street that a search with leaves finds."""
        tree = plan_first_street(self.spot).build()
        return self._solve(tree, bind_lines(tree, (), leaves))

    def look_to_the_end(self) -> Rows:
        """Returns the street that a search to the end of the hand finds in as many iterations."""
        return self._solve(build_holdem_tree(self.spot))

    def ask(self, method: str) -> Rows:
        """Returns what is found with networks at the leaves."""
        return self.cut(self.find_net(method))

    def find_net(self, method: str) -> LeafEvaluator:
        """Returns the network of a method in `ASKED`."""
        asked = ASKED[method]
        nets = NetFolder("value-lost", self.spot, self.configuration.nets)
        street = self.spot.betting_rules.first_street
        found = nets.find_end(street, is_after=asked.is_after, num_cards=asked.num_cards)
        if isinstance(found, SwitchedLeaves):
            found = found.first  # values are not asked for at last
        return HeldLeaves(found) if asked.is_held else found

    def _solve(self, tree: HoldemTree, frontier: Frontier | None = None) -> Rows:
        solver = CFRSolver(tree, parse_rule(self.configuration.rule), frontier=frontier)
        solver.iterate(self.configuration.search_iterations)
        return read_street(tree, solver.tables.strategy_sum, self.searcher, self.spot)


class _Asked(NamedTuple):
    """How a network is asked."""

    is_after: bool = False  # the card
    num_cards: int = 0  # about which; 0: all
    is_held: bool = False  # once an iteration, not for each player


ASKED: Final = {
    "end": _Asked(),
    "some": _Asked(is_after=True, num_cards=SOME_CARDS),
    "held": _Asked(is_after=True, is_held=True),
    "after": _Asked(is_after=True),
}
METHODS: Final[Mapping[str, tuple[str, Callable[[_Spot], Rows]]]] = {  # as typed: as shown, how
    "blueprint": ("blueprint's own street", lambda each: each.choose(None)),
    "zero": ("leaves worth nothing", lambda each: each.cut(ZeroLeaves())),
    "equity": ("leaves checked down", lambda each: each.cut(equity_leaves(each.spot))),
    "opponent": ("opponent chooses (Modicum)", lambda each: each.choose(LeafChoices())),
    "both": ("both choose (Pluribus)", lambda each: each.choose(LeafChoices.both())),
    "end": ("network at the street's end", lambda each: each.ask("end")),
    "some": (f"network after {SOME_CARDS} cards, all in turn", lambda each: each.ask("some")),
    "held": ("network after the card, once an iteration", lambda each: each.ask("held")),
    "after": ("network after the card", lambda each: each.ask("after")),
    "buckets": (
        f"rivers in buckets after {SOME_CARDS} cards, all in turn (DeepStack)",
        lambda each: each.cut(AfterDeal(BucketedRivers(each.spot), each.spot, num_cards=SOME_CARDS)),
    ),
    "exact": ("to the end of the hand", lambda each: each.look_to_the_end()),
}
CHOOSING: Final = frozenset({"blueprint", "opponent", "both"})  # methods that go by a blueprint
TURNS_ALONE: Final = frozenset({"opponent", "both", "buckets"})


def measure(configuration: ValueLostConfiguration) -> Iterator[Step]:
    """Yields losses spot by spot, turns first."""
    streets = configuration.streets()
    for spots in streets:  # what is missing is said before anything is measured
        spot, searcher = next(spots.draw())
        for method in ASKED.keys() & set(spots.methods):
            _Spot(spot, searcher, spots).find_net(method)
    for place, spots in enumerate(streets):
        for step in _measure_street(spots):
            fraction = (place + step.fraction) / len(streets)
            points = tuple(dataclasses.replace(point, panel=spots.panel(point.panel)) for point in step.points)
            yield dataclasses.replace(step, fraction=fraction, points=points)


def _measure_street(spots: StreetSpots) -> Iterator[Step]:
    """Yields the losses of one street."""

    def begin(spot: HoldemSpot, searcher: int) -> list[Callable[[], Searched]]:
        each = _Spot(spot, searcher, spots)
        return [functools.partial(_time, method, each) for method in spots.methods]

    labels = [METHODS[method][0] for method in spots.methods]
    return measure_losses(spots, labels, begin, kept=spots.kept())


def _time(method: str, each: _Spot) -> Searched:
    """Returns what a search finds, and how long it took; no search pays for the blueprint."""
    label, search = METHODS[method]
    if method in CHOOSING:
        each.make_blueprint()
    began = time.process_time()
    rows = search(each)
    return Searched(rows, {label: time.process_time() - began})


def conclude(configuration: ValueLostConfiguration, measured: Measured) -> Conclusion:
    """Returns median and worst loss of every kind of leaves, and verdicts on networks."""
    streets = configuration.streets()
    rows: list[dict[str, object]] = []
    for method, (label, _) in METHODS.items():
        columns: dict[str, object] = {}
        for spots in streets:
            columns |= _describe(spots, measured, method)
        if any(columns.values()):
            rows.append({"leaves": label, **columns})
    claims = [claim for spots in streets for claim in _judge(spots, measured)]
    exact = " and ".join(f"{spots.open_percent:g} % of the pot on {spots.name}" for spots in streets)
    notes = (
        "Losses are upper bounds, in percent of the pot: the best response to the whole spot's solution, less what the "
        f"spot guarantees with the searched street locked; both solved to {exact}, or "
        f"{configuration.most_iterations} iterations. At least is what the other bounds of both solves say.",
        "The blueprint is solved for all hands alike: it does not know the spots' ranges.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _describe(spots: StreetSpots, measured: Measured, method: str) -> dict[str, object]:
    """Returns the columns of a street in the row of a method; empty where it was not measured."""
    losses, least, seconds = (spots.measured(measured, panel, method) for panel in (LOSSES, LEAST, SECONDS))
    return {
        spots.name: len(losses) or None,
        f"{spots.name}, median loss, % of the pot": round(statistics.median(losses), 3) if losses else None,
        f"{spots.name}, median at least": round(statistics.median(least), 3) if least else None,
        f"{spots.name}, worst": round(max(losses), 3) if losses else None,
        f"{spots.name}, processor seconds, median": round(statistics.median(seconds), 2) if seconds else None,
    }


def _judge(spots: StreetSpots, measured: Measured) -> Iterator[Claim]:
    """Yields the verdicts on the networks of a street."""
    median, worst = BARS[spots.street]
    limit = f"a median of {median:g} %" + (f", {worst:g} % at worst" if worst < float("inf") else "")
    for method in ASKED:
        losses = spots.measured(measured, LOSSES, method)
        if losses:
            is_true = statistics.median(losses) <= median and max(losses) <= worst
            yield Claim(
                statement=f"{METHODS[method][0]}: at most {limit} of the pot lost on {spots.name}",
                source=AIM,
                verdict=judge(is_true if len(losses) == spots.spots else None),
                ours=f"{len(losses)} spots: median {statistics.median(losses):.3f} %, worst {max(losses):.3f} %",
            )


VALUE_LOST: Final = Study(
    name="value-lost",
    title="Streets searched with values at their end",
    source="Zarick et al. 2020, section 4; measured on spots of our own",
    x_label="spot",
    y_label="percent of the pot",
    sizes={
        Size.QUICK: ValueLostConfiguration(),
        Size.FULL: ValueLostConfiguration(spots=200, flops=30),
    },
    measure=measure,
    conclude=conclude,
    panels=(LOSSES, f"{LOSSES}, flops"),
    seed=SEED,
)
