# SPDX-License-Identifier: Apache-2.0
"""Study `turn-search`: what a hold'em turn loses when it is searched without its river.

Spots are drawn: board, ranges, pot. Each is solved whole, searched with leaves at which one or both players choose how
a blueprint goes on, and solved again with the searcher's turn locked to what the search found (`street_losses.py`).
"""

from __future__ import annotations

import dataclasses
import functools
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np

from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.holdem.cards import Deck, parse_deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.menus import Menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.search.holdem.depth_limit import (
    PLAIN,
    SHARE_OF_ALL,
    LeafChoices,
    limit_depth,
    solve_blueprint,
)
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.studies.orderings import SIGNIFICANCE, sign_test
from equipoise.studies.street_losses import LOSSES, WHOLE, Rows, Searched, measure_losses, read_street
from equipoise.studies.study import Claim, Conclusion, Measured, Size, Step, Study, Verdict, judge
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.vector import TreeStrategy

__all__ = ["TURN_SEARCH", "TurnSearchConfiguration", "draw_turn_spot"]

BUDGET: Final = 20_000  # chips of each player before the hand
BAR: Final = 2.0  # percent of the pot
BLUEPRINT: Final = "blueprint's own turn"
ONE: Final = "one value"
MODICUM: Final = "opponent chooses (Modicum)"
PLURIBUS: Final = "both choose (Pluribus)"
METHODS: Final[Mapping[str, tuple[str, LeafChoices | None]]] = {  # as typed: as shown, what is chosen at leaves
    "blueprint": (BLUEPRINT, None),
    "one": (ONE, LeafChoices(opponent=PLAIN)),
    "modicum": (MODICUM, LeafChoices()),
    "pluribus": (PLURIBUS, LeafChoices.both()),
}
TARGET: Final = "this project's aim"
THESIS: Final = "section 5.2"
SEED: Final = 6


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TurnSearchConfiguration:
    """Which spots are drawn, and how exactly they are solved."""

    spots: int = 3
    pots: tuple[int, ...] = (8000, 4000)  # chips of stacks of 20,000 each, in turns
    menu: str = "100%, a"
    deck: str = "short"
    methods: tuple[str, ...] = tuple(METHODS)
    blueprint_iterations: int = 100
    share_of_all: float = SHARE_OF_ALL  # of hands that the blueprint's ranges have beside the spot's own
    search_iterations: int = 300
    open_percent: float = 0.3  # of the pot: how exactly whole and locked spots are solved
    most_iterations: int = 1500  # of these

    def __post_init__(self) -> None:
        for name in ("spots", "blueprint_iterations", "search_iterations", "most_iterations"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for method in self.methods:
            if method not in METHODS:
                raise UnknownNameError("method", method, METHODS)
        if not self.open_percent > 0:
            raise ConfigError(f"open_percent must be positive, got {self.open_percent}")
        if not 0 <= self.share_of_all <= 1:
            raise ConfigError(f"share_of_all is a number from 0 to 1, got {self.share_of_all}")

    def draw(self) -> Iterator[tuple[HoldemSpot, int]]:
        """Yields spots and who searches them, the same ones every time."""
        deck, menu = parse_deck(self.deck), parse_menu(self.menu)
        for number in range(self.spots):
            rng = np.random.default_rng([SEED, number])
            yield draw_turn_spot(deck, menu, self.pots[number % len(self.pots)], rng=rng), number // len(self.pots) % 2


def draw_turn_spot(deck: Deck, menu: Menu, pot: int, *, rng: np.random.Generator) -> HoldemSpot:
    """Returns a turn with a random board and ranges: a class of hands is missing or has a random weight."""
    board = tuple(int(card) for card in rng.choice(deck.cards, 4, replace=False))
    hands = hands_of(deck)
    first, second = (
        Range(np.clip(rng.uniform(-0.5, 1.0, len(hands.class_names)), 0.0, 1.0)[hands.classes], deck) for _ in range(2)
    )
    behind = BUDGET - pot // 2
    return HoldemSpot(board=board, pot=pot, stacks=(behind, behind), ranges=(first, second), menu=menu, deck=deck)


def search_turn(
    spot: HoldemSpot, blueprint: TreeStrategy[HoldemTree], searcher: int, choices: LeafChoices | None, iterations: int
) -> tuple[Rows, dict[str, float]]:
    """Returns the turn that a search finds, and processor seconds of its table and of its iterations.

    Without choices there is no search: the blueprint's own turn.
    """
    if choices is None:
        return read_street(blueprint.tree, blueprint.table, searcher, spot), {}
    began = time.process_time()
    limited = limit_depth(spot, blueprint, searcher, choices)
    built = time.process_time()
    solver = CFRSolver(limited.tree, CFRPlus(gamma=1.0), frontier=limited.frontier)
    solver.iterate(iterations)
    times = {"table": built - began, "search": time.process_time() - built}
    return read_street(limited.tree, solver.tables.strategy_sum, searcher, spot), times


def measure(configuration: TurnSearchConfiguration) -> Iterator[Step]:
    """Yields losses spot by spot."""
    labels = [METHODS[method][0] for method in configuration.methods]

    def begin(spot: HoldemSpot, searcher: int) -> list[Callable[[], Searched]]:
        blueprint = solve_blueprint(
            spot, iterations=configuration.blueprint_iterations, share_of_all=configuration.share_of_all
        )
        return [functools.partial(search, spot, searcher, blueprint, method) for method in configuration.methods]

    def search(spot: HoldemSpot, searcher: int, blueprint: TreeStrategy[HoldemTree], method: str) -> Searched:
        label, choices = METHODS[method]
        rows, times = search_turn(spot, blueprint, searcher, choices, configuration.search_iterations)
        return Searched(rows, {f"{label}: {part}": taken for part, taken in times.items()})

    return measure_losses(configuration, labels, begin)


def conclude(configuration: TurnSearchConfiguration, measured: Measured) -> Conclusion:
    """Returns losses spot by spot and verdicts on them."""
    rows: list[dict[str, object]] = []
    for number, (spot, searcher) in enumerate(configuration.draw(), start=1):
        shown = [METHODS[method][0] for method in configuration.methods]
        losses = {name: measured.at(LOSSES, name, number) for name in (*shown, WHOLE)}
        rows.append(
            {
                "spot": spot.name,
                "pot": spot.pot,
                "searcher": searcher,
                **{name: _round(y) for name, y in losses.items()},
            }
        )
    claims = [_within(configuration, measured, name) for name in (MODICUM, PLURIBUS)]
    claims += [
        _below(configuration, measured, ONE, MODICUM, "four values lose less than one"),
        _below(configuration, measured, BLUEPRINT, MODICUM, "the search loses less than the blueprint's own turn"),
    ]
    notes = (
        "Losses are upper bounds, in percent of the pot: the best response to the whole spot's solution, less what the "
        f"locked spot guarantees; both solved to {configuration.open_percent:g} % of the pot or "
        f"{configuration.most_iterations} iterations.",
        "The river after a searched turn is the best one against it, not what a search of the river would find.",
        f"The blueprint is solved for the spot's ranges, mixed with {100 * configuration.share_of_all:g} % of hands "
        "drawn from all alike.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _losses(configuration: TurnSearchConfiguration, measured: Measured, name: str) -> dict[int, float]:
    found = {number: measured.at(LOSSES, name, number) for number in range(1, configuration.spots + 1)}
    return {number: loss for number, loss in found.items() if loss is not None}


def _within(configuration: TurnSearchConfiguration, measured: Measured, name: str) -> Claim:
    """Returns the verdict on a search being within the bar on all spots."""
    losses = list(_losses(configuration, measured, name).values())
    is_true = max(losses) <= BAR if len(losses) == configuration.spots else None
    ours = "nothing"
    if losses:
        ours = f"{len(losses)} spots: at most {max(losses):.2f} %, median {statistics.median(losses):.2f} %"
    statement = f"{name}: within {BAR:g} % of the pot of the whole solve's value on every spot"
    return Claim(statement=statement, source=TARGET, verdict=judge(is_true), ours=ours)


def _below(configuration: TurnSearchConfiguration, measured: Measured, above: str, below: str, text: str) -> Claim:
    """Returns the verdict on one method losing less than another, by a sign test over spots."""
    more, less = (_losses(configuration, measured, name) for name in (above, below))
    both = sorted(set(more) & set(less))
    wins = sum(more[number] > less[number] for number in both)
    verdict = Verdict.NOT_MEASURED
    if both:
        is_sure, is_denied = (
            sign_test(wins, len(both) - wins) < SIGNIFICANCE,
            sign_test(len(both) - wins, wins) < SIGNIFICANCE,
        )
        verdict = Verdict.CONFIRMED if is_sure else Verdict.DENIED if is_denied else Verdict.UNDECIDED
    ours = f"{wins} of {len(both)} spots" if both else "nothing"
    return Claim(statement=f"{text} (sign test at {SIGNIFICANCE:g})", source=THESIS, verdict=verdict, ours=ours)


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


TURN_SEARCH: Final = Study(
    name="turn-search",
    title="Hold'em turns searched without their rivers",
    source="Brown 2020, thesis section 5.2 (Modicum) and 6.6 (Pluribus), on turns of our own",
    x_label="spot",
    y_label="percent of the pot",
    sizes={
        Size.QUICK: TurnSearchConfiguration(),
        Size.FULL: TurnSearchConfiguration(spots=20, pots=(8000, 4000), menu="libratus", deck="full", open_percent=0.5),
    },
    measure=measure,
    conclude=conclude,
    panels=(LOSSES,),
    seed=SEED,
)
