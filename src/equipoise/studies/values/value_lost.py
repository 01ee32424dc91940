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
from typing import Any, Final

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
from equipoise.search.leaves import LeafEvaluator, SwitchedLeaves, ZeroLeaves
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rule_notation import parse_rule
from equipoise.studies.search.turn_search import BUDGET, search_turn
from equipoise.studies.street_losses import LOSSES, SECONDS, KeptSpots, Rows, Searched, measure_losses, read_street
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

    street: str = "turn"
    spots: int = 2
    ratios: tuple[float, float] = (1.0, 6.0)  # chips behind in pots, least and most
    hands: int = 0  # of each side, drawn at random; 0: every hand
    menu: str = "100%, a"
    methods: tuple[str, ...] = (
        "blueprint",
        "zero",
        "equity",
        "opponent",
        "both",
        "end",
        "some",
        "after",
        "buckets",
        "exact",
    )
    nets: str = ""  # a folder of networks; none: those that are shipped
    rule: str = "dcfr(1.5,0,4)"
    search_iterations: int = 200
    blueprint_iterations: int = 100
    open_percent: float = 0.02  # of the pot: how exactly spots are solved; losses are as much too large
    most_iterations: int = 2000  # of these
    keep: str = ""  # a folder: spots are kept there, and a study that was interrupted goes on

    def __post_init__(self) -> None:
        for name in ("spots", "search_iterations", "blueprint_iterations", "most_iterations"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.street not in ("turn", "flop"):
            raise ConfigError(f"spots are turns or flops, got {self.street!r}")
        for method in self.methods:
            if method not in METHODS:
                raise UnknownNameError("method", method, METHODS)
        if self.street == "flop" and (unfit := {"opponent", "both", "buckets"} & set(self.methods)):
            raise ConfigError(f"some methods are for turns alone: leave out {', '.join(sorted(unfit))}")
        parse_rule(self.rule)

    def draw(self) -> Iterator[tuple[HoldemSpot, int]]:
        """Yields spots and who searches them, the same ones every time."""
        for number in range(self.spots):
            yield draw_spot(self, np.random.default_rng([SEED, Street[self.street.upper()], number])), number % 2


def draw_spot(configuration: ValueLostConfiguration, rng: np.random.Generator) -> HoldemSpot:
    """Returns a spot with a random board, chips behind and ranges: a class of hands is missing or has some weight."""
    street = Street[configuration.street.upper()]
    board = tuple(int(card) for card in rng.choice(FULL_DECK.cards, street.num_board_cards, replace=False))
    low, high = configuration.ratios
    ratio = float(np.exp(rng.uniform(np.log(low), np.log(high))))
    pot = 2 * round(BUDGET / (1.0 + 2.0 * ratio))
    hands = hands_of()
    ranges = []
    for _ in range(2):
        weights = draw_class_weights(rng)
        if configuration.hands:
            live = np.flatnonzero((weights > 0) & ~hands.blocked(board))
            kept = rng.choice(live, min(configuration.hands, live.size), replace=False)
            weights = np.where(np.isin(np.arange(weights.size), kept), weights, 0.0)
        ranges.append(Range(weights))
    behind = BUDGET - pot // 2
    return HoldemSpot(
        board=board,
        pot=pot,
        stacks=(behind, behind),
        ranges=(ranges[0], ranges[1]),
        menu=parse_menu(configuration.menu),
    )


class _Spot:
    """One spot, with the blueprint that some searches go on with."""

    def __init__(self, spot: HoldemSpot, searcher: int, configuration: ValueLostConfiguration) -> None:
        self.spot, self.searcher, self.configuration = spot, searcher, configuration
        self.blueprint: TreeStrategy[HoldemTree] | None = None
        if CHOOSING & set(configuration.methods):  # no search pays for it; it does not know the ranges
            iterations = configuration.blueprint_iterations
            self.blueprint = solve_blueprint(spot, iterations=iterations, share_of_all=1.0)

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

    def ask(self, *, is_after_deal: bool, num_cards: int = 0) -> Rows:
        """Returns what is found with networks at the leaves."""
        nets = NetFolder("value-lost", self.spot, self.configuration.nets)
        street = self.spot.betting_rules.first_street
        found = nets.find_end(street, is_after=is_after_deal, num_cards=num_cards)
        return self.cut(found.first if isinstance(found, SwitchedLeaves) else found)  # values are not asked for at last

    def _solve(self, tree: HoldemTree, frontier: Frontier | None = None) -> Rows:
        solver = CFRSolver(tree, parse_rule(self.configuration.rule), frontier=frontier)
        solver.iterate(self.configuration.search_iterations)
        return read_street(tree, solver.tables.strategy_sum, self.searcher, self.spot)


METHODS: Final[Mapping[str, tuple[str, Callable[[_Spot], Rows]]]] = {  # as typed: as shown, how
    "blueprint": ("blueprint's own street", lambda each: each.choose(None)),
    "zero": ("leaves worth nothing", lambda each: each.cut(ZeroLeaves())),
    "equity": ("leaves checked down", lambda each: each.cut(equity_leaves(each.spot))),
    "opponent": ("opponent chooses (Modicum)", lambda each: each.choose(LeafChoices())),
    "both": ("both choose (Pluribus)", lambda each: each.choose(LeafChoices.both())),
    "end": ("network at the street's end", lambda each: each.ask(is_after_deal=False)),
    "some": (
        f"network after {SOME_CARDS} cards, all in turn",
        lambda each: each.ask(is_after_deal=True, num_cards=SOME_CARDS),
    ),
    "after": ("network after the card", lambda each: each.ask(is_after_deal=True)),
    "buckets": (
        f"rivers in buckets after {SOME_CARDS} cards, all in turn (DeepStack)",
        lambda each: each.cut(AfterDeal(BucketedRivers(each.spot), each.spot, num_cards=SOME_CARDS)),
    ),
    "exact": ("to the end of the hand", lambda each: each.look_to_the_end()),
}
CHOOSING: Final = frozenset({"blueprint", "opponent", "both"})  # methods that go by a blueprint


def measure(configuration: ValueLostConfiguration) -> Iterator[Step]:
    """Yields losses spot by spot."""
    methods = [METHODS[method] for method in configuration.methods]

    def begin(spot: HoldemSpot, searcher: int) -> list[Callable[[], Searched]]:
        each = _Spot(spot, searcher, configuration)
        return [functools.partial(_time, label, search, each) for label, search in methods]

    kept = KeptSpots(Path(configuration.keep).expanduser(), _identify(configuration)) if configuration.keep else None
    return measure_losses(configuration, [label for label, _ in methods], begin, kept=kept)


def _identify(configuration: ValueLostConfiguration) -> dict[str, Any]:
    """Returns what a spot's losses depend on: the settings but for how many spots there are, and the networks."""
    asked = dataclasses.asdict(configuration)
    for name in ("spots", "keep", "nets"):
        del asked[name]
    return asked | {"seed": SEED, "networks": digest_nets(configuration.nets)}


def _time(label: str, search: Callable[[_Spot], Rows], each: _Spot) -> Searched:
    """Returns what a search finds, and how long it took."""
    began = time.process_time()
    rows = search(each)
    return Searched(rows, {label: time.process_time() - began})


def conclude(configuration: ValueLostConfiguration, measured: Measured) -> Conclusion:
    """Returns median and worst loss of every kind of leaves, and verdicts on networks."""
    numbers = range(1, configuration.spots + 1)
    rows: list[dict[str, object]] = []
    claims: list[Claim] = []
    for method in configuration.methods:
        label = METHODS[method][0]
        losses = [loss for number in numbers if (loss := measured.at(LOSSES, label, number)) is not None]
        seconds = [taken for number in numbers if (taken := measured.at(SECONDS, label, number)) is not None]
        if not losses:
            continue
        rows.append(
            {
                "leaves": label,
                "spots": len(losses),
                "median loss, % of the pot": round(statistics.median(losses), 3),
                "worst": round(max(losses), 3),
                "processor seconds, median": round(statistics.median(seconds), 2),
            }
        )
        if method in ("end", "some", "after"):
            median, worst = BARS[Street[configuration.street.upper()]]
            is_true = statistics.median(losses) <= median and max(losses) <= worst
            limit = f"a median of {median:g} %" + (f", {worst:g} % at worst" if worst < float("inf") else "")
            claims.append(
                Claim(
                    statement=f"{label}: at most {limit} of the pot lost on {configuration.street}s",
                    source=AIM,
                    verdict=judge(is_true if len(losses) == configuration.spots else None),
                    ours=f"{len(losses)} spots: median {statistics.median(losses):.3f} %, worst {max(losses):.3f} %",
                )
            )
    notes = (
        "Losses are upper bounds, in percent of the pot: the best response to the whole spot's solution, less what the "
        f"spot guarantees with the searched street locked; both solved to {configuration.open_percent:g} % of the pot "
        f"or {configuration.most_iterations} iterations.",
        "The blueprint is solved for all hands alike: it does not know the spots' ranges.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


VALUE_LOST: Final = Study(
    name="value-lost",
    title="Streets searched with values at their end",
    source="Zarick et al. 2020, section 4; measured on spots of our own",
    x_label="spot",
    y_label="percent of the pot",
    sizes={
        Size.QUICK: ValueLostConfiguration(),
        Size.FULL: ValueLostConfiguration(spots=200),
    },
    measure=measure,
    conclude=conclude,
    panels=(LOSSES,),
    seed=SEED,
)
