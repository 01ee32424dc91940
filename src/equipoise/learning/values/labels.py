# SPDX-License-Identifier: Apache-2.0
"""What situations are worth: both players' hands under the solution of the betting that follows."""

from __future__ import annotations

import dataclasses
import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street, pot
from equipoise.games.holdem.cards import FULL_DECK, Deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.menus import Menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.frontier import Frontier
from equipoise.learning.values.situations import HalfArray, Situation, round_ranges
from equipoise.search.holdem.leaves import AfterDeal, HoldemRest, HoldemState, bind_lines, trace_line
from equipoise.search.leaves import LeafEvaluator
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.rules import Rule
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import HoldemTree, plan_first_street, plan_holdem_tree
from equipoise.trees.vector import TreeStrategy, follow_reach

__all__ = ["Labels", "SolvedSituation", "ValueSolver", "spot_of"]

FloatArray = npt.NDArray[np.float64]

POT: Final = 10_000  # chips of the pot that situations are solved for
EASY_RATIO: Final = 4.0  # pots behind, up to which values settle soon
LEAST_MASS: Final = 1e-2  # of a range, with which a line must be entered for its values to be kept


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """How situations are solved."""

    menu: str = "100%, a"
    iterations: int = 300  # where no more than `EASY_RATIO` pots are behind
    growth: float = 0.5  # beyond, they grow with this power of the ratio: 46 % of the pot off after as many at 41 pots
    rule: str = "dcfr(1.5,0,4)"  # of CFR; early strategies are soon forgotten
    is_alternating: bool = True  # else both players are updated at once, as in the papers
    num_lines: int = 0  # of those that leave the street, drawn at random, whose values are kept too

    def __post_init__(self) -> None:
        if self.iterations < 1 or self.num_lines < 0:
            raise ConfigError(f"iterations must be positive, lines not negative, got {self}")
        if not 0.0 <= self.growth <= 2.0:
            raise ConfigError(f"growth must be between 0 and 2, got {self.growth}")
        parse_rule(self.rule)
        parse_menu(self.menu)

    def iterations_for(self, ratio: float) -> int:
        """Returns how long a situation with so many pots behind is solved.

        >>> [Labels(iterations=100).iterations_for(ratio) for ratio in (0.5, 4.0, 16.0, 100.0)]
        [100, 100, 200, 500]
        """
        return round(self.iterations * math.pow(max(ratio / EASY_RATIO, 1.0), self.growth))

    @property
    def update(self) -> Rule:
        """Returns the rule of CFR."""
        return parse_rule(self.rule)

    @property
    def bets(self) -> Menu:
        """Returns the bets that are considered."""
        return parse_menu(self.menu)


class SolvedSituation(NamedTuple):
    """A situation with both players' values, in pots and for ranges that add up to 1."""

    situation: Situation
    value: HalfArray  # [2, n] over the hands that the board leaves


def spot_of(situation: Situation, menu: Menu, deck: Deck = FULL_DECK) -> HoldemSpot:
    """Returns a situation as a spot."""
    live = np.flatnonzero(~hands_of(deck).blocked(situation.board))
    weights = np.zeros((2, deck.num_hands))
    weights[:, live] = situation.ranges
    first, second = (Range(own / own.max(), deck) for own in weights)
    stack = max(round(situation.ratio * POT), 1)
    return HoldemSpot(
        board=situation.board,
        pot=POT,
        stacks=(stack, stack),
        ranges=(first, second),
        menu=menu,
        big_blind=100,
        deck=deck,
    )


class ValueSolver:
    """Solves situations: to the end of the hand, or of the street with leaves that are valued."""

    def __init__(
        self,
        labels: Labels,
        *,
        deck: Deck = FULL_DECK,
        leaves: LeafEvaluator | None = None,
        is_after_deal: bool = False,
    ) -> None:
        """Keeps how.

        Args:
            labels: bets and iterations.
            deck: the cards in play.
            leaves: values where the street is left; None: the rest of the hand is solved too.
            is_after_deal: whether they are asked behind the next card.
        """
        self.labels, self.deck = labels, deck
        self.leaves, self.is_after_deal = leaves, is_after_deal
        self.menu = labels.bets

    def solve(self, situation: Situation, rng: np.random.Generator) -> tuple[SolvedSituation, list[SolvedSituation]]:
        """Returns a situation with its values, and those where some lines leave its street.

        Args:
            situation: what is solved.
            rng: draws lines.
        """
        spot = spot_of(situation, self.menu, self.deck)
        tree, frontier = self._plant(spot)
        lines = self._draw_lines(tree, rng)
        solver = CFRSolver(tree, self.labels.update, is_alternating=self.labels.is_alternating, frontier=frontier)
        solver.iterate(self.labels.iterations_for(situation.ratio))
        values = solver.kernel.values(solver.tables.strategy_sum, is_best=False)
        live = np.flatnonzero(~hands_of(self.deck).blocked(situation.board))
        found = self._spread(tree, (values[0], values[1]), live)
        ends = [end for line in lines if (end := self._read_line(solver, line, situation, live)) is not None]
        return SolvedSituation(situation, (found / POT).astype(np.float16)), ends

    def _plant(self, spot: HoldemSpot) -> tuple[HoldemTree, Frontier | None]:
        """Returns what is solved: a street and what values its lines, or all that follows."""
        if self.leaves is None or spot.betting_rules.first_street is Street.RIVER:
            return plan_holdem_tree(spot, merges_suits=False).build(), None
        tree = plan_first_street(spot, is_one_round=not self.labels.num_lines).build()
        return tree, bind_lines(tree, (), self._ends(spot))

    def _ends(self, spot: HoldemSpot) -> LeafEvaluator:
        """Returns what values the lines that leave the street."""
        assert self.leaves is not None
        return AfterDeal(self.leaves, spot) if self.is_after_deal else self.leaves

    def _spread(
        self, tree: HoldemTree, values: tuple[FloatArray, FloatArray], live: npt.NDArray[np.int64]
    ) -> FloatArray:
        """Returns `[2, n]` values by number of the hand, where the tree has some order of its own."""
        out = np.zeros((2, self.deck.num_hands))
        for player, own in enumerate(values):
            out[player, tree.hands[0][player]] = own[: tree.hands[0][player].size]
        return out[:, live]

    def _draw_lines(self, tree: HoldemTree, rng: np.random.Generator) -> list[int]:
        """Returns nodes that leave the street with chips behind."""
        nodes = tree.betting.nodes
        open_lines = [node for node in tree.leaving_nodes() if min(nodes[node].state.stacks) > 0]
        count = min(self.labels.num_lines, len(open_lines))
        return sorted(rng.choice(open_lines, count, replace=False).tolist()) if count else []

    def _read_line(
        self, solver: CFRSolver[HoldemTree], line: int, situation: Situation, live: npt.NDArray[np.int64]
    ) -> SolvedSituation | None:
        """Returns the situation where a line leaves the street, None where hardly anybody comes.

        Hands that never come by the solution have learnt nothing there: values are those of best responses to it,
        which differ by what is left to gain, and half of what both gain together is taken off each.
        """
        tree = solver.tree
        state = tree.betting.nodes[line].state
        strategy = TreeStrategy(tree, solver.average_sums)
        first, second = (tree.spot.live_weights(player) for player in (0, 1))
        place = HoldemPlace(line, tuple(tree.spot.board))
        reach = follow_reach(tree, strategy, (first / first.sum(), second / second.sum()), place)
        mass = [own.sum() for own in reach]
        if min(mass) < LEAST_MASS:
            return None
        part = HoldemRest.of(strategy).part(HoldemState(trace_line(tree.betting, line), state, tuple(tree.spot.board)))
        first, second = (own / total for own, total in zip(reach, mass, strict=True))
        best = part.values(part.copy(strategy), (first, second), is_best=True)
        value = np.stack(best)[:, live] / pot(state)
        shares = np.stack([first, second])[:, live]
        met = np.stack([hands_of(self.deck).compatible(own)[live] for own in (second, first)])
        value -= (shares * value).sum() / (2.0 * (shares[0] @ met[0])) * met
        there = Situation(situation.board, float(np.float32(state.stacks[0] / pot(state))), round_ranges(shares))
        return SolvedSituation(there, value.astype(np.float16))
