# SPDX-License-Identifier: Apache-2.0
"""Matches of hold'em strategies stored on trees, thousands of hands at a time as arrays.

All agents play the betting tree of one spot; each has its own way from cards to rows of its table.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar, Final, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.bucketed_strategy import BucketedStrategy
from equipoise.agents.base import Observation, PolicyAgent
from equipoise.agents.simple import ClassAgent, UniformAgent
from equipoise.agents.strategies import StrategyAgent
from equipoise.evaluation.batched import BATCH_STREAM
from equipoise.evaluation.matches import DealRange, MatchConfig, list_rotations
from equipoise.games.base import ActionClass
from equipoise.games.holdem.betting import CALL, FOLD, payoffs
from equipoise.games.holdem.betting_tree import BettingNode, BettingTree, NodeKind
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.pair_showdowns import find_pair_odds
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.strength import hand_kernel
from equipoise.kernels.holdem.arrays import TILE
from equipoise.trees.holdem.bucketed import BucketAssigner
from equipoise.trees.holdem.places import HoldemPlace, HoldemStrategy

__all__ = ["BatchedHoldem", "BlindRows", "BucketRows", "HoldemDeals", "PolicyRows", "deal_hands", "make_rows"]

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

BOARDS_AT_ONCE: Final = 1024  # whose buckets are looked up together: ten megabytes of them
NOWHERE: Final = -1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HoldemDeals:
    """Cards of many hands."""

    hands: IndexArray  # [deals, 2] number of each seat's hand
    boards: npt.NDArray[np.uint8]  # [deals, cards] the last street's boards, the flop ascending


class RowSource(Protocol):
    """From many decisions to what is played there."""

    @property
    def name(self) -> str:
        """Returns the agent's name."""
        ...

    def prepare(self, spot: HoldemSpot, deals: HoldemDeals) -> object:
        """Returns whatever deals need to be looked up only once."""
        ...

    def shares(self, prepared: object, seat: int, nodes: IndexArray, deals: IndexArray) -> FloatArray:
        """Returns `[B, A]` numbers in proportion to which a seat plays at betting nodes in deals, by their place."""
        ...


class BucketRows:
    """A blueprint's rows: those of its buckets."""

    def __init__(self, blueprint: BucketedStrategy, *, name: str) -> None:
        self.name = name
        tree = blueprint.tree
        self.table = np.maximum(blueprint.sums, 0.0)
        self.assigner: BucketAssigner = tree.assigner
        self.streets = tree.streets
        most = max(decision.num_actions for decision in tree.decisions.values())
        size = len(tree.betting.nodes)
        # by node: where row 0 of its street begins, how many cells a tile of rows takes, and the street
        self.first, self.step, self.street = (np.zeros(size, np.int64) for _ in range(3))
        self.is_action = np.zeros((size, most), np.bool_)
        for node, decision in tree.decisions.items():
            first = tree.rows.first_cell[decision.street][decision.player]
            self.first[node] = first + decision.first_cell * TILE
            self.step[node] = tree.arrays.street(decision.street).num_cells[decision.player] * TILE
            self.street[node] = decision.street
            self.is_action[node, : decision.num_actions] = True

    def prepare(self, spot: HoldemSpot, deals: HoldemDeals) -> IndexArray:
        """Returns `[streets, deals, 2]` the bucket of each seat's hand on each street."""
        return find_buckets(self.assigner, self.streets, deals)

    def shares(self, prepared: object, seat: int, nodes: IndexArray, deals: IndexArray) -> FloatArray:
        """Returns `[B, A]` the table's numbers."""
        assert isinstance(prepared, np.ndarray)
        row = prepared[self.street[nodes], deals, seat]
        tile, lane = np.divmod(row, TILE)
        first = self.first[nodes] + tile * self.step[nodes] + lane
        is_action = self.is_action[nodes]
        cells = first[:, None] + TILE * np.arange(is_action.shape[1])
        sums = np.where(is_action, self.table[np.where(is_action, cells, 0)], 0.0)
        is_empty = sums.sum(axis=1) <= 0
        sums[is_empty] = is_action[is_empty]
        return sums


class PolicyRows:
    """Rows of any strategy of hands, looked up board by board: for spots with few boards."""

    def __init__(self, policy: HoldemStrategy, *, name: str) -> None:
        self.name = name
        self.policy = policy
        self.most = max(len(node.actions) for node in policy.tree.betting.nodes)
        self.num_cards = np.array([node.state.street.num_board_cards for node in policy.tree.betting.nodes])

    def prepare(self, spot: HoldemSpot, deals: HoldemDeals) -> HoldemDeals:
        """Returns the deals themselves."""
        return deals

    def shares(self, prepared: object, seat: int, nodes: IndexArray, deals: IndexArray) -> FloatArray:
        """Returns `[B, A]` what the hands play."""
        assert isinstance(prepared, HoldemDeals)
        out = np.zeros((nodes.size, self.most))
        hands = prepared.hands[deals, seat]
        boards = prepared.boards[deals].tolist()
        for place, (node, hand, board) in enumerate(zip(nodes.tolist(), hands.tolist(), boards, strict=True)):
            row = self.policy.probabilities(HoldemPlace(node, tuple(board[: self.num_cards[node]])))[hand].tolist()
            out[place, : len(row)] = row
        return out


class BlindRows:
    """An agent that does not look at cards: one row for each betting node."""

    def __init__(self, agent: PolicyAgent, betting: BettingTree) -> None:
        self.name = agent.name
        most = max(len(node.actions) for node in betting.nodes)
        self.table = np.zeros((len(betting.nodes), most))
        for node in betting.nodes:
            if node.kind is NodeKind.DECISION:
                observation = Observation(node.state.actor, "", "", node.actions, _classes(node))
                shares = agent.probabilities(observation, rng=np.random.default_rng(0))
                self.table[node.index, : len(shares)] = shares

    def prepare(self, spot: HoldemSpot, deals: HoldemDeals) -> object:
        """Returns nothing."""
        return None

    def shares(self, prepared: object, seat: int, nodes: IndexArray, deals: IndexArray) -> FloatArray:
        """Returns `[B, A]` what is played whatever the cards."""
        rows: FloatArray = self.table[nodes]
        return rows


def make_rows(agent: PolicyAgent, betting: BettingTree) -> RowSource | None:
    """Returns an agent as rows of arrays; None if it has no table and looks at its cards."""
    if isinstance(agent, StrategyAgent):
        strategy = agent.hand_strategy
        if strategy is None or strategy.tree.betting.nodes != betting.nodes:
            return None
        if isinstance(strategy, BucketedStrategy):
            return BucketRows(strategy, name=agent.name)
        return PolicyRows(strategy, name=agent.name)
    return BlindRows(agent, betting) if isinstance(agent, ClassAgent | UniformAgent) else None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchedHoldem:
    """Plays deals of a spot between two strategies, all hands of a chunk at once."""

    spot: HoldemSpot
    betting: BettingTree  # of the spot
    rows: tuple[RowSource, RowSource]
    config: MatchConfig
    plays_singly: ClassVar[bool] = False
    _ends: _Ends = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ends", _Ends(self.betting, expects_all_ins=self.config.expects_all_ins))

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the agents' names."""
        return tuple(source.name for source in self.rows)

    def __call__(self, deals: DealRange) -> FloatArray:
        """Returns `[deals, rotations, agents]` chips won; seats as in `HandByHand`."""
        config, count = self.config, self.config.deals_per_chunk
        chunk, begin = divmod(deals.first, count)
        rng = np.random.default_rng([config.seed, BATCH_STREAM, chunk])
        dealt = deal_hands(self.spot, count, rng=rng)
        prepared = [source.prepare(self.spot, dealt) for source in self.rows]
        out = np.zeros((count, config.num_rotations(2), 2))
        for rotation, places, column in list_rotations(config, chunk, 2):
            seats = [(self.rows[agent], prepared[agent]) for agent in (rotation, 1 - rotation)]
            won = self._ends.pay(self.spot, dealt, _walk(self._ends, seats, places, rng), places)  # of seat 0
            out[places, column, rotation] = won
            out[places, column, 1 - rotation] = -won
        return out[begin : begin + deals.size]


class _Ends:
    """The betting as arrays over its nodes, and what its ends pay."""

    def __init__(self, betting: BettingTree, *, expects_all_ins: bool) -> None:
        nodes = betting.nodes
        most = max(len(node.children) for node in nodes)
        self.actor = np.array([node.state.actor if node.kind is NodeKind.DECISION else NOWHERE for node in nodes])
        self.children = np.zeros((len(nodes), most), np.int64)
        self.is_end = np.zeros(len(nodes), np.bool_)
        self.pays = np.zeros((len(nodes), 3))  # seat 0's chips if it wins, loses, ties
        self.num_cards = np.array([node.state.street.num_board_cards for node in nodes])
        for node in reversed(nodes):
            self.children[node.index, : len(node.children)] = node.children
            if node.kind is NodeKind.FOLD:
                self.is_end[node.index], self.pays[node.index] = True, payoffs(node.state)[0]
            elif node.kind is NodeKind.SHOWDOWN:
                self.is_end[node.index] = True
                self.pays[node.index] = [payoffs(node.state, cards)[0] for cards in ((1, 0), (0, 1), (1, 1))]
            elif node.kind is NodeKind.STREET_END and expects_all_ins:
                below = node.children[0]
                # nobody acts below: the hand ends here, and the end below says what it pays
                self.is_end[node.index], self.pays[node.index] = self.is_end[below], self.pays[below]
        self.is_fold = np.array([node.kind is NodeKind.FOLD for node in nodes])

    def pay(self, spot: HoldemSpot, dealt: HoldemDeals, nodes: IndexArray, places: IndexArray) -> FloatArray:
        """Returns `[B]` what seat 0 wins where hands have ended."""
        odds = np.zeros((nodes.size, 3))
        odds[:, 0] = 1.0  # folds pay the same in any case
        last = spot.last_street.num_board_cards
        shown = ~self.is_fold[nodes]
        is_open = shown & (self.num_cards[nodes] < last)
        for index in np.flatnonzero(is_open).tolist():
            first, second = dealt.hands[places[index]].tolist()
            board = tuple(dealt.boards[places[index], : self.num_cards[nodes[index]]].tolist())
            odds[index] = find_pair_odds(first, second, board, spot.deck, num_board_cards=last)
        closed = np.flatnonzero(shown & ~is_open)
        cards, boards = hands_of(spot.deck).cards, dealt.boards[places[closed]]
        strengths = [
            hand_kernel(spot.deck).evaluate_hands(
                np.ascontiguousarray(np.hstack([cards[dealt.hands[places[closed], seat]], boards]))
            )
            for seat in (0, 1)
        ]
        odds[closed] = np.stack([np.greater(*strengths), np.less(*strengths), np.equal(*strengths)], axis=1)
        paid: FloatArray = (odds * self.pays[nodes]).sum(axis=1)
        return paid


def _walk(
    ends: _Ends, seats: Sequence[tuple[RowSource, object]], places: IndexArray, rng: np.random.Generator
) -> IndexArray:
    """Returns `[B]` the betting node at which each hand ends."""
    node = np.zeros(places.size, np.int64)
    active = np.flatnonzero(~ends.is_end[node])
    while active.size:
        here = node[active]
        choice = np.zeros(active.size, np.int64)  # where cards are dealt there is one way on
        for seat, (source, prepared) in enumerate(seats):
            own = np.flatnonzero(ends.actor[here] == seat)
            if own.size:
                shares = source.shares(prepared, seat, here[own], places[active[own]])
                choice[own] = _draw(shares, rng)
        node[active] = ends.children[here, choice]
        active = active[~ends.is_end[node[active]]]
    return node


def _draw(shares: FloatArray, rng: np.random.Generator) -> IndexArray:
    """Returns `[B]` a column of each row, drawn in proportion to its number."""
    bounds = np.cumsum(shares, axis=1)
    number = np.minimum(rng.random(len(shares)) * bounds[:, -1], np.nextafter(bounds[:, -1], 0.0))
    chosen: IndexArray = (bounds <= number[:, None]).sum(axis=1)
    return chosen


def deal_hands(spot: HoldemSpot, count: int, *, rng: np.random.Generator) -> HoldemDeals:
    """Returns deals of a spot: two hands by the weights of the ranges, and the rest of the board."""
    hands = hands_of(spot.deck)
    weights = [spot.live_weights(player) for player in (0, 1)]
    pairs = np.zeros((0, 2), np.int64)
    while len(pairs) < count:  # independent draws that share no card have the weights of the pairs
        drawn = np.stack([rng.choice(own.size, 2 * count, p=own / own.sum()) for own in weights], axis=1)
        pairs = np.concatenate([pairs, drawn[(hands.masks[drawn[:, 0]] & hands.masks[drawn[:, 1]]) == 0]])
    pairs = pairs[:count]
    num_missing = spot.last_street.num_board_cards - len(spot.board)
    cards = np.array(spot.deck.cards, np.uint8)
    keys = rng.random((count, cards.size))
    position = np.zeros(256, np.int64)
    position[cards] = np.arange(cards.size)
    held = position[hands.cards[pairs].reshape(count, 4)]
    keys[np.arange(count)[:, None], held] = np.inf
    keys[:, position[list(spot.board)]] = np.inf
    new = cards[np.argsort(keys, axis=1)[:, :num_missing]]
    boards = np.hstack([np.broadcast_to(np.array(spot.board, np.uint8), (count, len(spot.board))), new])
    if not spot.board:
        boards[:, :3].sort(axis=1)
    return HoldemDeals(hands=pairs, boards=np.ascontiguousarray(boards))


def find_buckets(assigner: BucketAssigner, streets: Sequence[int], deals: HoldemDeals) -> IndexArray:
    """Returns `[streets, deals, 2]` the bucket of each seat's hand on each street."""
    count = len(deals.hands)
    out = np.zeros((len(streets), count, 2), np.int64)
    for place, street in enumerate(streets):
        num_cards = (0, 3, 4, 5)[street]
        for begin in range(0, count, BOARDS_AT_ONCE):
            part = slice(begin, begin + BOARDS_AT_ONCE)
            out[place, part] = _assign(assigner, deals.boards[part, :num_cards], deals.hands[part])
    return out


def _assign(assigner: BucketAssigner, boards: npt.NDArray[np.uint8], hands: IndexArray) -> IndexArray:
    """Returns `[B, 2]` the buckets of two hands on each board."""
    if not boards.shape[1]:
        before: IndexArray = assigner.assign(())[hands].astype(np.int64)
        return before
    together = getattr(assigner, "assign_boards", None)
    if together is None:
        rows = np.stack([assigner.assign(tuple(board)) for board in boards.tolist()])
    else:
        rows = together(np.ascontiguousarray(boards))
    found: IndexArray = np.take_along_axis(rows, hands, axis=1).astype(np.int64)
    return found


def _classes(node: BettingNode) -> tuple[ActionClass, ...]:
    kinds = {FOLD: ActionClass.FOLD, CALL: ActionClass.CALL}
    return tuple(kinds.get(action, ActionClass.RAISE) for action in node.actions)
