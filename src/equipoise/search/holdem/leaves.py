# SPDX-License-Identifier: Apache-2.0
"""Lines that leave a street of hold'em as public states that evaluators are asked about, before or after the cards.

Hands are numbered as in the deck, and reaches and values are theirs; where a kernel keeps them is known here alone.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import BettingRules, BettingState, Stage, Street, next_street, pot
from equipoise.games.holdem.betting_tree import DEALING, NO_PARENT, BettingTree, betting_tree, cut_betting
from equipoise.games.holdem.dealing import HAND_SIZE
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.menus import Menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.frontier import BeliefBatch, Frontier, LeafValues
from equipoise.search.holdem.copying import copy_strategy
from equipoise.search.leaves import FixedLeaves, LeafEvaluator, LeafPart
from equipoise.trees.holdem.places import HoldemPlaces, HoldemStrategy, SpotPlaces
from equipoise.trees.holdem.tree import HoldemTree, plan_holdem_tree
from equipoise.trees.joint import CardRemoval
from equipoise.trees.vector import UniformStrategy

__all__ = ["AfterDeal", "HoldemRest", "HoldemState", "bind_lines", "equity_leaves", "place_spot", "trace_line"]

FloatArray = npt.NDArray[np.float64]
Line = tuple[int, ...]


class HoldemState(NamedTuple):
    """A public state of hold'em."""

    line: Line  # actions since the hand began, deals left out
    betting: BettingState  # where they have led
    board: tuple[int, ...]

    @property
    def pot(self) -> int:
        """Returns the chips that were put in."""
        return pot(self.betting)

    @property
    def stacks(self) -> tuple[int, ...]:
        """Returns the chips that players have left."""
        return self.betting.stacks


def trace_line(betting: BettingTree, node: int) -> Line:
    """Returns the actions from the root of some betting to a node, deals left out."""
    actions: list[int] = []
    while (here := betting.nodes[node]).parent != NO_PARENT:
        actions += [] if here.action == DEALING else [here.action]
        node = here.parent
    return tuple(reversed(actions))


def place_spot(
    begin: HoldemSpot, state: BettingState, board: tuple[int, ...], ranges: tuple[Range, Range]
) -> HoldemSpot:
    """Returns the spot of the street on which a state is.

    Args:
        begin: the spot with which the hand began.
        state: where the betting stands.
        board: cards that lie there.
        ranges: what players hold.
    """
    if not board:
        return dataclasses.replace(begin, ranges=ranges)
    paid = zip(state.committed, state.stacks, strict=True)
    first, second = (max(chips + left - state.base, 1) for chips, left in paid)  # a spot has some, all-in or not
    return dataclasses.replace(begin, board=board, pot=2 * state.base, stacks=(first, second), ranges=ranges)


def bind_lines(tree: HoldemTree, line: Line, evaluator: LeafEvaluator) -> Frontier:
    """Returns the lines that leave the first street of a tree, valued by an evaluator.

    Args:
        tree: of that street alone.
        line: that led to its root.
        evaluator: is asked before the next cards.
    """
    nodes, board, deck = tree.betting.nodes, tuple(tree.spot.board), tree.spot.deck
    leaving = tree.leaving_nodes()
    return Frontier(
        evaluator.evaluate,
        (tree.leaf_cells(0), tree.leaf_cells(1)),
        states=[HoldemState(line + trace_line(tree.betting, node), nodes[node].state, board) for node in leaving],
        joint=[CardRemoval(deck, board)] * len(leaving),
        private=tree.hands[0],
        num_private=deck.num_hands,
    )


class HoldemRest:
    """What follows public states of a spot: its betting from there on, for every hand that can be dealt."""

    def __init__(self, spot: HoldemSpot, *, places: HoldemPlaces | None = None, menu: Menu | None = None) -> None:
        """Says what is bet.

        Args:
            spot: with which the hand began.
            places: bets that are known, those of the spot's menu if None.
            menu: of what follows instead; behind bets that are not known it is that of the places if None.
        """
        self.spot, self.menu = spot, menu
        self.places = places or SpotPlaces.of(spot)

    @classmethod
    def of(cls, strategy: HoldemStrategy) -> HoldemRest:
        """Returns what a strategy of a whole hand is about."""
        return cls(strategy.tree.spot, places=strategy.tree)

    def part(self, state: HoldemState) -> LeafPart:
        """Returns what follows a public state, cards first if they are due."""
        first, second = (Range((self.spot.live_weights(player) > 0).astype(float), self.spot.deck) for player in (0, 1))
        spot = place_spot(self.spot, state.betting, state.board, (first, second))
        node = self._find_node(state) if self.menu is None else None
        betting = self._find_betting(state, spot.betting_rules, node)
        tree = plan_holdem_tree(spot, betting=betting, merges_suits=False).build()
        return LeafPart(tree=tree, copy=self._copier(tree, node), private=tree.hands[0])

    def _find_node(self, state: HoldemState) -> int | None:
        """Returns the node of the betting that a state is, None behind an unknown bet."""
        nodes, node = self.places.betting.nodes, self.places.betting.root
        for action in state.line:
            if node.state.stage is Stage.DEAL:
                node = nodes[node.children[0]]
            if action not in node.actions:
                return None
            node = nodes[node.children[node.actions.index(action)]]
        is_dealt = node.state.stage is Stage.DEAL and state.betting.stage is not Stage.DEAL
        return node.children[0] if is_dealt else node.index

    def _find_betting(self, state: HoldemState, rules: BettingRules, node: int | None) -> BettingTree:
        if node is not None:
            return cut_betting(self.places.betting, node)
        return betting_tree(rules, self.menu or self.places.betting.menu, root=state.betting)

    def _copier(self, tree: HoldemTree, node: int | None) -> Callable[[HoldemStrategy], npt.NDArray[Any]]:
        """Returns what copies strategies into a tree; nothing is known behind unknown bets."""
        outer = {} if node is None else {inner: node + inner for inner in tree.decisions}  # pre-order
        return lambda strategy: copy_strategy(strategy, tree, outer)


def equity_leaves(spot: HoldemSpot) -> FixedLeaves:
    """Returns what hands are worth if nobody bets again."""
    rest = HoldemRest(spot, menu=parse_menu("none"))
    return FixedLeaves(rest, UniformStrategy(rest.places))


class AfterDeal:
    """Another evaluator, asked behind the next cards: about all that may come, in one batch."""

    def __init__(self, inner: LeafEvaluator, spot: HoldemSpot) -> None:
        """Keeps the evaluator, and the spot by whose rules the next street begins."""
        self.inner, self.rules = inner, spot.betting_rules

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns the mean of the inner values over the cards that may come, given both hands."""
        dealt, leaf, share = self._deal(batch)
        found = self.inner.evaluate(dealt).cfv
        out = np.zeros(batch.reach[0].shape), np.zeros(batch.reach[1].shape)
        for row, place in enumerate(leaf):
            is_held = ~hands_of(dealt.joint[row].deck).blocked(dealt.states[row].board)
            for player in (0, 1):
                out[player][place] += share[row] * np.where(is_held, found[player][row], 0.0)
        return LeafValues(out)

    def _deal(self, batch: BeliefBatch) -> tuple[BeliefBatch, list[int], list[float]]:
        """Returns the public states behind all cards, which leaf each belongs to, and how likely it is there."""
        states, leaf, share = [], [], []
        for place, state in enumerate(batch.states):
            if state.betting.stage is not Stage.DEAL:
                raise ConfigError("there are no cards to deal where a street goes on")
            deck, after = batch.joint[place].deck, next_street(self.rules, state.betting)
            num_new = Street(after.street).num_board_cards - len(state.board)
            cards = [card for card in deck.cards if card not in state.board]
            chance = 1.0 / math.comb(len(cards) - 2 * HAND_SIZE, num_new)
            for new in itertools.combinations(cards, num_new):
                states.append(state._replace(betting=after, board=(*state.board, *new)))
                leaf.append(place)
                share.append(chance)
        joint = [CardRemoval(batch.joint[place].deck, state.board) for place, state in zip(leaf, states, strict=True)]
        held = np.array([~hands_of(each.deck).blocked(each.board) for each in joint])
        first, second = (own[leaf] * held for own in batch.reach)
        counts = np.ascontiguousarray(batch.num_private[leaf])
        return BeliefBatch(states=states, reach=(first, second), num_private=counts, joint=joint), leaf, share
