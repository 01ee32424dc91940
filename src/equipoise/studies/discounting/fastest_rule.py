# SPDX-License-Identifier: Apache-2.0
"""Study `fastest-rule`: how many iterations rules of full-width CFR need on hold'em spots that are drawn at random.

Spots differ in street, ranges, depth and menu. Rules are compared spot by spot, with a sign test against the first of
them; the numbers of the rules that the study tries were not chosen on these spots.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import FULL_DECK
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rule_notation import parse_rule
from equipoise.studies.orderings import sign_test
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree

__all__ = ["FASTEST_RULE", "FastestRuleConfiguration", "draw_spot"]

SOURCE: Final = "this project: no paper states it"
POT: Final = 100
BOARD_CARDS: Final = {"rivers": 5, "turns": 4, "flops": 3}
STACKS: Final = (150, 300, 600, 1200)
MENUS: Final = ("50%, 100%, a / 100%, a", "67%, a", "33%, 75% / 75%, a")
SMALL_MENU: Final = "67%, a"  # of flops
NARROWEST: Final = 20  # hands a side
SPACING: Final = 1.05  # of the iterations at which a run is measured
FIRST: Final = 8  # iteration that is measured


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FastestRuleConfiguration:
    """Which rules, and how many spots of which streets."""

    rules: tuple[str, ...] = ("dcfr", "dcfr(1.5,0,5)", "dcfr(1.5,-inf,5)", "dcfr(1,0.5,3)", "cfr+", "lcfr", "scheduled")
    percents: tuple[float, ...] = (1.0, 0.5, 0.1)  # of the pot
    rivers: int = 20
    turns: int = 16
    flops: int = 6
    most_hands: int = 300  # a side; of turns half as many, of flops a fifth
    limit: int = 2000  # iterations after which a rule is given up
    threads: int = 1
    seed: int = 1  # of the spots

    def __post_init__(self) -> None:
        for rule in self.rules:
            parse_rule(rule)
        if len(self.rules) < 2:
            raise ConfigError(f"rules must be at least two, got {', '.join(self.rules) or 'none'}")
        if not self.percents or not all(0 < percent < math.inf for percent in self.percents):
            raise ConfigError(f"percents must be positive shares of the pot, got {self.percents}")
        if min(self.rivers, self.turns, self.flops) < 0 or not self.num_spots:
            raise ConfigError("rivers, turns and flops must not be negative, and at least one of them positive")
        if self.most_hands < 5 * NARROWEST:
            raise ConfigError(f"most_hands must be at least {5 * NARROWEST}, got {self.most_hands}")
        if self.limit < FIRST or self.threads < 1:
            raise ConfigError(f"limit must be at least {FIRST} and threads at least 1")

    @property
    def num_spots(self) -> int:
        """Returns how many spots are drawn."""
        return self.rivers + self.turns + self.flops


def draw_spot(street: str, most_hands: int, rng: np.random.Generator) -> HoldemSpot:
    """Returns a spot of a street in BOARD_CARDS: board, ranges, stacks and menu at random."""
    board = tuple(sorted(rng.choice(FULL_DECK.num_cards, BOARD_CARDS[street], replace=False).tolist()))
    num_hands = round(math.exp(rng.uniform(math.log(NARROWEST), math.log(most_hands))))
    return HoldemSpot(
        board=board,
        pot=POT,
        stacks=(stack := int(rng.choice(STACKS)), stack),
        ranges=(_draw_range(board, num_hands, rng), _draw_range(board, num_hands, rng)),
        menu=parse_menu(SMALL_MENU if street == "flops" else str(rng.choice(MENUS))),
    )


def _draw_range(board: tuple[int, ...], num_hands: int, rng: np.random.Generator) -> Range:
    cards = hands_of(FULL_DECK).cards
    free = np.flatnonzero(~np.isin(cards, board).any(axis=1))
    weights = np.zeros(len(cards))
    weights[rng.choice(free, num_hands, replace=False)] = 1.0
    return Range(weights)


def measure(configuration: FastestRuleConfiguration) -> Iterator[Step]:
    """Yields the iterations that each rule takes to each target, spot by spot; nothing where a rule was given up."""
    shares = {"rivers": 1, "turns": 2, "flops": 5}
    index = 0
    for street, share in shares.items():
        for number in range(getattr(configuration, street)):
            rng = np.random.default_rng([configuration.seed, BOARD_CARDS[street], number])
            tree = build_holdem_tree(draw_spot(street, configuration.most_hands // share, rng))
            for place, rule in enumerate(configuration.rules):
                found = _find_iterations(tree, rule, configuration)
                fraction = (index + (place + 1) / len(configuration.rules)) / configuration.num_spots
                yield Step(
                    fraction=fraction,
                    text=f"{street[:-1]} {number + 1}: {rule}",
                    points=tuple(
                        Point(panel=f"{percent:g} %", curve=rule, x=index, y=t) for percent, t in found.items()
                    ),
                )
            index += 1


def _find_iterations(tree: HoldemTree, rule: str, configuration: FastestRuleConfiguration) -> dict[float, int]:
    """Returns by target the first measured iteration that meets it."""
    solver = CFRSolver(tree, parse_rule(rule), num_threads=configuration.threads)
    found: dict[float, int] = {}
    goal = FIRST
    while len(found) < len(configuration.percents) and goal <= configuration.limit:
        solver.iterate(goal - solver.iteration)
        percent = 100 * solver.evaluate_quickly().exploitability / tree.spot.root_pot
        for target in configuration.percents:
            if percent <= target:
                found.setdefault(target, goal)
        goal = max(goal + 1, int(goal * SPACING))
    return found


def conclude(configuration: FastestRuleConfiguration, measured: Measured) -> Conclusion:
    """Returns each rule's iterations beside the first one's, over the spots that both solved."""
    rows: list[dict[str, Any]] = []
    claims: list[Claim] = []
    first = configuration.rules[0]
    for percent in configuration.percents:
        curves = {rule: dict(points) for rule, points in measured.panels().get(f"{percent:g} %", {}).items()}
        for rule in configuration.rules:
            own, others = curves.get(rule, {}), curves.get(first, {})
            ratios = [own[x] / others[x] for x in own if x in others]
            wins, losses = sum(ratio < 1 for ratio in ratios), sum(ratio > 1 for ratio in ratios)
            mean = statistics.geometric_mean(ratios) if ratios else None
            p_value = sign_test(wins, losses) if ratios else None
            rows.append(
                {
                    "percent": percent,
                    "rule": rule,
                    "spots": len(own),
                    "ratio": mean,
                    "wins": wins,
                    "losses": losses,
                    "p": p_value,
                    "paper": None,
                }
            )
            if rule != first:
                said = (
                    "nothing"
                    if mean is None
                    else f"{mean:.2f}, fewer on {wins} and more on {losses} (p = {p_value:.2g})"
                )
                claims.append(
                    Claim(
                        statement=f"iterations of {rule} beside {first} to {percent:g} % of the pot",
                        source=SOURCE,
                        verdict=Verdict.NOT_STATED,
                        ours=said,
                    )
                )
    notes = (
        f"ratio: to {first}, geometric mean over the spots that both rules solved; p: one-tailed sign test.",
        "Float32, alternating updates; measured at steps of 5 %, so that less than that tells no two rules apart.",
        "Spots are boards, hands, stacks and menus at random, of a pot of 100.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


FASTEST_RULE: Final = Study(
    name="fastest-rule",
    title="Iterations that rules need on hold'em spots drawn at random",
    source=SOURCE,
    x_label="spot",
    y_label="iterations",
    sizes={
        Size.QUICK: FastestRuleConfiguration(rivers=8, turns=2, flops=0, most_hands=120, limit=1000),
        Size.FULL: FastestRuleConfiguration(),
    },
    measure=measure,
    conclude=conclude,
)
