# SPDX-License-Identifier: Apache-2.0
"""Lines that leave a street of hold'em as public states that evaluators are asked about, before or after the cards.

Hands are numbered as in the deck, and reaches and values are theirs; where a kernel keeps them is known here alone.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import BettingRules, BettingState, Stage, Street, next_street, pot
from equipoise.games.holdem.betting_tree import DEALING, NO_PARENT, BettingTree, betting_tree, cut_betting
from equipoise.games.holdem.dealing import HAND_SIZE
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menus import Menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.frontier import BeliefBatch, Frontier, LeafValues
from equipoise.search.holdem.copying import copy_strategy
from equipoise.search.leaves import LeafEvaluator, LeafPart, RecentPlans
from equipoise.trees.holdem.places import HoldemPlaces, HoldemStrategy, SpotPlaces
from equipoise.trees.holdem.tree import HoldemTree, plan_first_street, plan_holdem_tree
from equipoise.trees.joint import CardRemoval

__all__ = ["AfterDeal", "HoldemRest", "HoldemState", "bind_lines", "place_spot", "trace_line"]

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
    return dataclasses.replace(begin, board=board, pot=2 * state.base, stacks=(first, second), ante=0, ranges=ranges)


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

    def __init__(
        self,
        spot: HoldemSpot,
        *,
        places: HoldemPlaces | None = None,
        menu: Menu | None = None,
        ends: Mapping[Street, LeafEvaluator] | None = None,
    ) -> None:
        """Says what is bet.

        Args:
            spot: with which the hand began.
            places: bets that are known, those of the spot's menu if None.
            menu: of what follows instead; behind bets that are not known it is that of the places if None.
            ends: by street, what lines that leave it are worth, if it is all that follows; a menu is needed.
        """
        self.spot, self.menu, self.ends = spot, menu, ends or {}
        if self.ends and menu is None:
            raise ConfigError("streets that end before the hand does need a menu")
        self._places = places

    @functools.cached_property
    def places(self) -> HoldemPlaces:
        """Returns the bets that are known."""
        return self._places or SpotPlaces.of(self.spot)

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
        if state.betting.stage is Stage.ACT and state.betting.street in self.ends:
            street = plan_first_street(spot, betting=betting).build()
            frontier = bind_lines(street, state.line, self.ends[state.betting.street])
            return LeafPart(tree=street, copy=self._copier(street, node), private=street.hands[0], frontier=frontier)
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
        is_one_round = state.betting.stage is Stage.ACT and state.betting.street in self.ends
        menu = self.menu or self.places.betting.menu
        return betting_tree(rules, menu, root=state.betting, is_one_round=is_one_round)

    def _copier(self, tree: HoldemTree, node: int | None) -> Callable[[HoldemStrategy], npt.NDArray[Any]]:
        """Returns what copies strategies into a tree; nothing is known behind unknown bets."""
        outer = {} if node is None else {inner: node + inner for inner in tree.decisions}  # pre-order
        return lambda strategy: copy_strategy(strategy, tree, outer)


class _Deal(NamedTuple):
    """Leaves on one board, L of them, behind some of the cards that may come, C of them."""

    leaves: npt.NDArray[np.int64]  # [lines] rows of the batch
    states: list[HoldemState]  # [cards * lines] cards first
    joint: list[CardRemoval]  # [cards * lines]
    is_held: npt.NDArray[np.bool_]  # [cards, H] hands that the new board leaves
    chance: float  # of each of the cards, both hands known


def _sum_held(values: FloatArray, is_held: npt.NDArray[np.bool_]) -> FloatArray:
    """Returns `[lines, H]` values `[cards, lines, H]` summed over cards, where hands `[cards, H]` can be held."""
    total = np.zeros(values.shape[1:])
    for own, held in zip(values, is_held, strict=True):  # one by one: they stay in the cache
        total += np.where(held, own, 0.0)
    return total


class _Deals:
    """The cards that may come for leaves on one board, in groups, of which one or all are asked about."""

    def __init__(self, groups: list[_Deal], rng: np.random.Generator) -> None:
        self.groups, self._rng = groups, rng
        self._coming: list[int] = []

    def draw(self) -> _Deal:
        """Returns a group: all of them come in turn, in an order that changes."""
        if not self._coming:
            self._coming = self._rng.permutation(len(self.groups)).tolist()
        return self.groups[self._coming.pop()]


class AfterDeal:
    """Another evaluator, asked behind the next cards: about all that may come, or about some at a time.

    Asked about some, values are right in the mean over calls: whoever iterates many times sees every card often, and
    all leaves of a call see the same ones, so that what actions are worth beside each other is hardly disturbed. Turns
    that were searched with a river network behind 4 cards a call lost 0.32 and 0.18 % of the pot, behind all 48 cards
    0.28 and 0.17 % in five times as long, with a network before the card 0.86 and 0.47 %.

    Three cards may come in too many ways for one batch, which is then asked for in parts. One question at a time.
    """

    MAX_ROWS = 1 << 13  # of a batch

    def __init__(self, inner: LeafEvaluator, spot: HoldemSpot, *, num_cards: int = 0, seed: int = 0) -> None:
        """Keeps the evaluator.

        Args:
            inner: is asked behind the cards.
            spot: by whose rules the next street begins.
            num_cards: that a call is about, or ways in which three may come; 0: all.
            seed: of the order of cards, which begins anew with new leaves.
        """
        if num_cards < 0:
            raise ConfigError(f"num_cards must be at least 0, got {num_cards}")
        self.inner, self.rules = inner, spot.betting_rules
        self.num_cards, self.seed = num_cards, seed
        self._deals = RecentPlans(self._plan)
        self._kept: tuple[FloatArray, FloatArray] = np.empty(0), np.empty(0)

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns the mean of the inner values over the cards that may come, given both hands."""
        out = np.zeros(batch.reach[0].shape), np.zeros(batch.reach[1].shape)
        for deals in self._deals.find(batch):
            if self.num_cards:
                self._add(batch, deals.draw(), len(deals.groups), out)
                continue
            for deal in deals.groups:
                self._add(batch, deal, 1, out)
        return LeafValues(out)

    def _add(self, batch: BeliefBatch, deal: _Deal, weight: int, out: tuple[FloatArray, FloatArray]) -> None:
        """Adds what some cards bring into `out`, as if there were so many groups like this one."""
        shape = (len(deal.is_held), len(deal.leaves), deal.is_held.shape[1])
        reach = self._room(len(deal.states), shape[2])
        for own, there in zip(batch.reach, reach, strict=True):
            np.multiply(own[deal.leaves], deal.is_held[:, None], out=there.reshape(shape))
        counts = np.ascontiguousarray(np.tile(batch.num_private[deal.leaves], (shape[0], 1)))
        dealt = BeliefBatch(states=deal.states, reach=reach, num_private=counts, joint=deal.joint)
        for total, found in zip(out, self.inner.evaluate(dealt).cfv, strict=True):
            total[deal.leaves] += weight * deal.chance * _sum_held(found.reshape(shape), deal.is_held)

    def _room(self, num_rows: int, num_hands: int) -> tuple[FloatArray, FloatArray]:
        """Returns two arrays that are kept: new ones of this size would take as long as filling them."""
        size = num_rows * num_hands
        if self._kept[0].size < size:
            self._kept = np.empty(size), np.empty(size)
        first, second = (own[:size].reshape(num_rows, num_hands) for own in self._kept)
        return first, second

    def _plan(self, batch: BeliefBatch) -> list[_Deals]:
        """Returns the public states behind all cards, leaves on the same board together."""
        leaves: dict[tuple[int, ...], list[int]] = {}
        for place, state in enumerate(batch.states):
            if state.betting.stage is not Stage.DEAL:
                raise ConfigError("there are no cards to deal where a street goes on")
            leaves.setdefault(state.board, []).append(place)
        return [
            _Deals(list(self._deal(batch, board, places)), np.random.default_rng([self.seed, 1, *board]))
            for board, places in leaves.items()
        ]

    def _deal(self, batch: BeliefBatch, board: tuple[int, ...], places: list[int]) -> Iterator[_Deal]:
        deck = batch.joint[places[0]].deck
        after = [next_street(self.rules, batch.states[place].betting) for place in places]
        num_new = Street(after[0].street).num_board_cards - len(board)
        cards = [card for card in deck.cards if card not in board]
        boards = [(*board, *new) for new in itertools.combinations(cards, num_new)]
        most = max(self.MAX_ROWS // len(places), 1)
        if self.num_cards:
            most = min(most, self.num_cards)
            order = np.random.default_rng([self.seed, 0, *board]).permutation(len(boards))
            boards = [boards[place] for place in order.tolist()]
        for part in np.array_split(np.arange(len(boards)), math.ceil(len(boards) / most)):
            some = boards[part[0] : part[-1] + 1]
            yield _Deal(
                leaves=np.array(places),
                states=[
                    batch.states[place]._replace(betting=betting, board=new)
                    for new in some
                    for place, betting in zip(places, after, strict=True)
                ],
                joint=[joint for new in some for joint in [CardRemoval(deck, new)] * len(places)],
                is_held=np.array([~hands_of(deck).blocked(new) for new in some]),
                chance=1.0 / math.comb(len(cards) - 2 * HAND_SIZE, num_new),
            )
