# SPDX-License-Identifier: Apache-2.0
"""Hold'em spots as arrays: the betting of each street once, and the boards with the hands that each leaves.

A board's tables hold, for each player, its hands in tiles of eight by the player's (decision, action) pairs of that
street. Cards that differ only by the names of suits, given the spot's board and ranges, share one board.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.core.formatting import brief_repr, show_given
from equipoise.core.markup import MOST_NODES, TreeNode, html_line, join_html, svg_tree
from equipoise.core.memory import check_memory
from equipoise.games.holdem.betting import Street, payoffs
from equipoise.games.holdem.betting_tree import DEALING, BettingNode, BettingTree, NodeKind, betting_tree
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.dealing import HAND_SIZE
from equipoise.games.holdem.isomorphism import (
    CardArray,
    find_symmetries,
    hand_permutation,
    relabel_board,
    suit_permutations,
)
from equipoise.games.holdem.line_notation import name_actions
from equipoise.games.holdem.menus import POSITIONS
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.arithmetic import dot
from equipoise.kernels.holdem.arrays import (
    HAND_BYTES,
    MAX_ACTIONS,
    TILE,
    BoardFields,
    HoldemArrays,
    HoldemShape,
    StreetFields,
)
from equipoise.trees.holdem.boards import (
    BoardLevel,
    SuitGroups,
    count_next_boards,
    deal_boards,
    fill_hands,
    first_level,
)
from equipoise.trees.holdem.locks import NodeLock, compile_locks
from equipoise.trees.holdem.places import HoldemPlace, HoldemPlaces
from equipoise.trees.vector import CellTable

__all__ = [
    "Decision",
    "End",
    "HoldemPlan",
    "HoldemTree",
    "StreetForest",
    "build_holdem_tree",
    "make_end",
    "plan_first_street",
    "plan_holdem_tree",
    "plant_street",
]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

LEAST_CELL_BYTES: Final = 4  # regret and average of a cell in 16 bits each


class Decision(NamedTuple):
    """Where the tables keep a decision of the betting tree."""

    player: int
    street: int  # counted from the root's
    first_cell: int  # within the player's cells of that street
    num_actions: int
    line: int  # of those that enter the street
    slots: tuple[int, int]  # of both players where the decision is reached


class End(NamedTuple):
    """Where the betting of a street ends, by player."""

    slots: tuple[int, int]
    scales: tuple[float, float]  # chips won at a fold, the stake at a showdown, the chance of each next card
    rake: float = 0.0  # what each player loses to the house at a showdown, in stakes


class _Ends(NamedTuple):
    """All of them as columns, padded to whole packs."""

    slots: IntArray  # [2, ends]
    scales: FloatArray  # [2, ends]
    rake: FloatArray  # [ends]


class StreetForest(NamedTuple):
    """The betting of one street: all lines that enter it."""

    fields: StreetFields
    nodes: tuple[IntArray, IntArray]  # [D, 3] per player
    flats: _Ends
    folds: _Ends


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HoldemTree(HoldemPlaces):
    """A spot laid out for sweeps.

    >>> from equipoise.games.holdem import parse_board, parse_range
    >>> ranges = parse_range("AA, KQs"), parse_range("JJ, QQ")
    >>> spot = HoldemSpot(board=parse_board("Ks7h2d5cJs"), pot=20, stacks=(40, 40), ranges=ranges)
    >>> build_holdem_tree(spot).num_public_states
    9
    """

    spot: HoldemSpot
    betting: BettingTree
    arrays: HoldemArrays
    boards: tuple[tuple[int, ...], ...]  # cards of each board; the lowest of those that differ by suits' names alone
    hands: tuple[tuple[IntArray, IntArray], ...]  # per board and player: numbers of its hands, in the order of rows
    decisions: dict[int, Decision]  # by index of the betting tree
    symmetries: CardArray  # [G, 4] relabellings of suits under which boards are merged, the identity first
    pair_weight: float  # sum of the products of weights over hands that share no card

    num_players: ClassVar[int] = 2

    def __repr__(self) -> str:
        size = f"{len(self.betting.nodes):,} betting nodes, {len(self.boards):,} boards"
        return f"<HoldemTree of {self.spot.name}: {size}, {self.arrays.num_cells:,} numbers a table>"

    def _repr_html_(self) -> str:
        nodes = self.betting.nodes if len(self.betting.nodes) <= MOST_NODES else ()
        drawn = []
        for node in nodes:
            is_decision = node.kind is NodeKind.DECISION
            text = POSITIONS[node.state.actor] if is_decision else node.kind.value.replace("_", " ")
            edge = "" if node.parent < 0 or node.action == DEALING else self._name_action(node)
            drawn.append(TreeNode(node.parent, text, edge))
        return join_html(html_line(repr(self)), svg_tree(drawn))

    def _name_action(self, node: BettingNode) -> str:
        """Returns the action that leads to a betting node."""
        children = self.betting.nodes[node.parent].children
        return name_actions(self.betting, node.parent)[children.index(node.index)]

    @property
    def num_nodes(self) -> int:
        """Returns the betting nodes of all boards."""
        return self.num_public_states

    @property
    def num_public_states(self) -> int:
        """Returns the betting nodes of all boards."""
        root_street = self.betting.root.state.street
        per_street = collections.Counter(node.state.street - root_street for node in self.betting.nodes)
        return sum(per_street[street] for street in self.arrays.board_field("street").tolist())

    def leaving_nodes(self) -> tuple[int, ...]:
        """Returns the betting nodes at which the first street is left for another one, in the order of its lines."""
        first = self.betting.root.state.street
        ends = (NodeKind.DECISION, NodeKind.FOLD)
        if self.arrays.street(0).is_last:
            return ()
        nodes = self.betting.nodes
        return tuple(node.index for node in nodes if node.state.street == first and node.kind not in ends)

    def watched_cells(self, node: int, player: int) -> IntArray:
        """Returns `[H]` where the kernel finds a player's values at the root (0) or where the first street is left."""
        rows = np.arange(self.hands[0][player].size, dtype=np.int32)
        if node == 0:
            return rows
        lines = self.leaving_nodes()
        if node not in lines:
            raise ConfigError(f"watched nodes must be the root or leave the first street, and {node} does not")
        return rows + np.int32((1 + lines.index(node)) * self.arrays.num_rows(0, player))

    def leaf_cells(self, player: int) -> list[IntArray]:
        """Returns by line that leaves the first street `[H]` where the kernel finds a player's hands, `hands[0]`."""
        num_columns = TILE * self.arrays.street(0).flat_packs
        rows = np.arange(self.hands[0][player].size, dtype=np.int32)
        return [rows * np.int32(num_columns) + np.int32(line) for line in range(len(self.leaving_nodes()))]

    def board_index(self, board: Sequence[int]) -> int:
        """Returns the index of a board; `ConfigError` if it is merged into another one or impossible."""
        try:
            return self.boards.index(tuple(board))
        except ValueError:
            shown = format_board(board)
            raise ConfigError(f"the tree has no board {shown}: impossible, or it shares that of other suits") from None

    def locate(self, board: Sequence[int]) -> tuple[int, npt.NDArray[np.uint8]]:
        """Returns the index of the board that stands for a board, and the relabelling `[4]` of suits that leads there.

        A hand `h` on the given board is hand `hand_permutation(relabelling)[h]` on the one that the tree keeps.
        """
        root = self.spot.board
        if set(board[: len(root)]) == set(root):
            places = {cards: index for index, cards in enumerate(self.boards)}
            for permutation in self.symmetries:
                index = places.get(relabel_board(board, permutation, root))
                if index is not None:
                    return index, permutation
        raise ConfigError(
            f"the tree has no board {format_board(board)}; it begins with {format_board(self.spot.board)}"
        )

    def cells(self, board: int, node: int) -> npt.NDArray[np.int64]:
        """Returns `[H, A]` where tables keep a decision of the betting tree, hands as in `hands[board]`."""
        decision = self.decisions[node]
        fields = self.arrays.board(board)
        if fields.street != decision.street:
            raise ConfigError(f"betting node {node} is not on the street of board {format_board(self.boards[board])}")
        num_cells = self.arrays.street(decision.street).num_cells[decision.player]
        tile, lane = np.divmod(np.arange(self.hands[board][decision.player].size), TILE)
        first = fields.first_cell[decision.player] + tile * num_cells * TILE + lane
        return first[:, None] + TILE * (decision.first_cell + np.arange(decision.num_actions))

    def rows(self, table: CellTable, board: int, node: int) -> FloatArray:
        """Returns `[H, A]` a table's numbers at a decision of the betting tree, hands as in `hands[board]`."""
        numbers: FloatArray = table[self.cells(board, node)].astype(np.float64)
        return numbers

    def rows_at(self, sums: CellTable, place: HoldemPlace) -> FloatArray:
        """Returns `[H, A]` the numbers of a table `[C]` at a decision on any board, 0 for hands outside the range."""
        deck = self.spot.deck
        board, relabelling = self.locate(place.board)
        decision = self.decisions[place.node]
        kept = np.zeros((deck.num_hands, decision.num_actions))
        kept[self.hands[board][decision.player]] = self.rows(sums, board, place.node)
        numbers: FloatArray = kept[hand_permutation(relabelling, deck)]
        return numbers

    def normalize(self, table: CellTable, board: int, node: int) -> FloatArray:
        """Returns `[H, A]` probabilities in proportion to a table's positive numbers, uniform where there are none."""
        sums = np.maximum(self.rows(table, board, node), 0.0)
        totals = sums.sum(axis=1, keepdims=True)
        shares = np.full(sums.shape, 1.0 / sums.shape[1])
        np.divide(sums, totals, out=shares, where=totals > 0)
        return shares

    def mean_value(self, player: int, values: FloatArray) -> float:
        """Returns chips per hand from a player's counterfactual values `[rows]` at the root."""
        num_hands = self.hands[0][player].size
        own, other = self.spot.live_weights(player), self.spot.live_weights(1 - player)
        weights = own[self.hands[0][player]]
        return dot(weights, values[:num_hands]) * float(other.sum()) / self.pair_weight


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HoldemPlan:
    """A spot whose betting and boards are listed: what a tree takes is known, its hands are not laid out yet."""

    spot: HoldemSpot
    betting: BettingTree
    arrays: HoldemShape
    decisions: dict[int, Decision]
    forests: tuple[StreetForest, ...]
    levels: tuple[BoardLevel, ...]
    groups: SuitGroups
    is_cut: bool = False  # streets below are left out: lines end in leaves

    __repr__ = brief_repr

    def build(self) -> HoldemTree:
        """Returns the spot laid out for sweeps."""
        check_memory(self.arrays.num_bytes, "the spot's tree")
        found = fill_hands(self.spot, self.levels, self.groups, is_cut=self.is_cut)
        begin = self.arrays.board_field("first_hand")
        end = begin + self.arrays.board_field("num_hands")
        hands = tuple(
            (found.number[first[0] : last[0]], found.number[first[1] : last[1]])
            for first, last in zip(begin.tolist(), end.tolist(), strict=True)
        )
        forests = self.forests
        return HoldemTree(
            spot=self.spot,
            betting=self.betting,
            arrays=HoldemArrays(
                streets=self.arrays.streets,
                boards=self.arrays.boards,
                nodes=np.concatenate([nodes for forest in forests for nodes in forest.nodes]),
                flat_slot=np.concatenate([forest.flats.slots.ravel() for forest in forests]),
                flat_scale=np.concatenate([forest.flats.scales.ravel() for forest in forests]),
                flat_rake=forests[-1].flats.rake if forests[-1].flats.rake.any() else np.zeros(0),
                fold_slot=np.concatenate([forest.folds.slots.ravel() for forest in forests]),
                fold_scale=np.concatenate([forest.folds.scales.ravel() for forest in forests]),
                cards=found.cards,
                strength=found.strength,
                same_hand=found.same_hand,
                parent_row=found.parent_row,
                value_row=found.value_row,
                root_reach=(_root_reach(self.spot, 0, hands[0][0]), _root_reach(self.spot, 1, hands[0][1])),
            ),
            boards=tuple(tuple(cards) for level in self.levels for cards in level.cards.tolist()),
            hands=hands,
            decisions=self.decisions,
            symmetries=self.groups.groups[0],
            pair_weight=self.spot.pair_weight(),
        )


def build_holdem_tree(
    spot: HoldemSpot,
    *,
    locks: Sequence[NodeLock] = (),
    merges_suits: bool = True,
    max_nodes: int = 1_000_000,
    betting: BettingTree | None = None,
) -> HoldemTree:
    """Returns a spot laid out for sweeps; arguments as for `plan_holdem_tree`.

    >>> from equipoise.games.holdem import parse_board, parse_range
    >>> ranges = parse_range("AA, KQs"), parse_range("JJ, QQ")
    >>> spot = HoldemSpot(board=parse_board("Ks7h2d5cJs"), pot=20, stacks=(40, 40), ranges=ranges)
    >>> tree = build_holdem_tree(spot)
    >>> tree.num_nodes, len(tree.boards)
    (9, 1)
    """
    plan = plan_holdem_tree(spot, locks=locks, merges_suits=merges_suits, max_nodes=max_nodes, betting=betting)
    return plan.build()


def plan_holdem_tree(
    spot: HoldemSpot,
    *,
    locks: Sequence[NodeLock] = (),
    merges_suits: bool = True,
    max_nodes: int = 1_000_000,
    betting: BettingTree | None = None,
) -> HoldemPlan:
    """Returns a spot's betting and boards, from which its memory is estimated and its tree built.

    Args:
        spot: What is solved.
        locks: Strategies that a solver will be given; suits that they tell apart are not merged.
        merges_suits: Whether cards that differ only by the names of suits share one board; exact, and less work.
        max_nodes: Refuse menus whose betting has more nodes.
        betting: What is bet, from somewhere in the spot's first street on; by default from its beginning, by its menu.
    """
    if not isinstance(spot, HoldemSpot):
        raise ConfigError(f"spot must be a HoldemSpot such as load_spot('turn.toml').spot, got {show_given(spot)}")
    if betting is None:
        betting = betting_tree(spot.betting_rules, spot.menu, max_nodes=max_nodes)
    decisions: dict[int, Decision] = {}
    forests: list[StreetForest] = []
    for street in range(betting.root.state.street, betting.rules.last_street + 1):
        nodes = [node for node in betting.nodes if node.state.street == street]
        forests.append(plant_street(spot, nodes, len(forests), decisions))
    group = find_symmetries(spot.board, spot.ranges, spot.deck) if merges_suits else suit_permutations(spot.deck)[:1]
    groups = SuitGroups(spot.deck, compile_locks(spot, betting, locks).keep_symmetries(group))
    levels = [first_level(spot)]
    for forest in forests[1:]:
        _check_growth(spot, forest.fields, levels[-1], groups)
        levels.append(deal_boards(spot, levels[-1], groups))
    fields = [forest.fields for forest in forests]
    return HoldemPlan(
        spot=spot,
        betting=betting,
        arrays=HoldemShape(streets=np.array(fields, np.int32), boards=_board_fields(fields, levels)),
        decisions=decisions,
        forests=tuple(forests),
        levels=tuple(levels),
        groups=groups,
    )


def plan_first_street(
    spot: HoldemSpot,
    *,
    max_nodes: int = 1_000_000,
    betting: BettingTree | None = None,
    is_one_round: bool = False,
) -> HoldemPlan:
    """Returns the first street of a spot alone, for sweeps that are told what the lines that leave it are worth.

    Suits are not merged: what leaves are worth may tell them apart.

    Args:
        spot: What is solved; its betting goes on after the first street.
        max_nodes: Refuse menus whose betting has more nodes.
        betting: What is bet; see `plan_holdem_tree`.
        is_one_round: Whether nobody asks what is bet on later streets, of which large menus have millions of nodes;
            nodes have the numbers of the whole betting otherwise.
    """
    if betting is None:
        betting = betting_tree(spot.betting_rules, spot.menu, is_one_round=is_one_round, max_nodes=max_nodes)
    street = betting.root.state.street
    if street == betting.rules.last_street:
        raise ConfigError(f"there is nothing to leave out behind {spot.name}: it is the last street")
    decisions: dict[int, Decision] = {}
    forest = plant_street(spot, [node for node in betting.nodes if node.state.street == street], 0, decisions)
    level = first_level(spot)
    return HoldemPlan(
        spot=spot,
        betting=betting,
        arrays=HoldemShape(streets=np.array([forest.fields], np.int32), boards=_board_fields([forest.fields], [level])),
        decisions=decisions,
        forests=(forest,),
        levels=(level,),
        groups=SuitGroups(spot.deck, suit_permutations(spot.deck)[:1]),
        is_cut=True,
    )


def _next_chance(spot: HoldemSpot, street: Street) -> float | None:
    """Returns the chance of each set of cards that may follow a street, given two hands; None after the last."""
    if street == spot.last_street:
        return None
    num_left = spot.deck.num_cards - street.num_board_cards - 2 * HAND_SIZE
    return 1.0 / math.comb(num_left, Street(street + 1).num_board_cards - street.num_board_cards)


def _check_growth(spot: HoldemSpot, street: StreetFields, level: BoardLevel, groups: SuitGroups) -> None:
    """Raises `GameTooLargeError` before boards are listed that could never be solved."""
    num_boards = count_next_boards(spot, level, groups)
    num_left, num_new = spot.deck.num_cards - level.num_cards, level.num_new_cards
    hands = level.num_hands.mean(axis=0) * math.comb(num_left - HAND_SIZE, num_new) / math.comb(num_left, num_new)
    num_cells = num_boards * float(hands @ [street.num_cells_0, street.num_cells_1])
    check_memory(int(num_boards * hands.sum() * HAND_BYTES + num_cells * LEAST_CELL_BYTES), "the spot, at the least,")


def _board_fields(streets: Sequence[StreetFields], levels: Sequence[BoardLevel]) -> npt.NDArray[np.int64]:
    """Returns `[B, 10]` BoardFields of all boards."""
    num_boards = np.array([level.num_boards for level in levels])
    street_of = np.repeat(np.arange(len(levels)), num_boards)
    counts = [np.bincount(below.above, minlength=level.num_boards) for level, below in itertools.pairwise(levels)]
    num_children = np.concatenate([*counts, np.zeros(num_boards[-1], np.int64)])
    first_child = num_boards[0] + np.cumsum(num_children) - num_children
    rows = np.concatenate([level.num_rows for level in levels])
    cells = rows * np.array([[street.num_cells_0, street.num_cells_1] for street in streets])[street_of]
    first_hand, first_cell = (np.cumsum(sizes).reshape(sizes.shape) - sizes for sizes in (rows, cells))
    num_hands = np.concatenate([level.num_hands for level in levels])
    fields = {
        "street": street_of,
        "first_child": first_child,
        "num_children": num_children,
        "num_images": np.concatenate([level.num_images for level in levels]),
    }
    for player in (0, 1):
        fields |= {
            f"num_hands_{player}": num_hands[:, player],
            f"first_hand_{player}": first_hand[:, player],
            f"first_cell_{player}": first_cell[:, player],
        }
    return np.ascontiguousarray(np.stack([fields[name] for name in BoardFields._fields], axis=1), np.int64)


def _root_reach(spot: HoldemSpot, player: int, numbers: IntArray) -> FloatArray:
    weights = spot.live_weights(player)
    reach = np.zeros(-(-numbers.size // TILE) * TILE)
    reach[: numbers.size] = weights[numbers] / weights.sum()
    return reach


def plant_street(
    spot: HoldemSpot, nodes: Sequence[BettingNode], street: int, decisions: dict[int, Decision]
) -> StreetForest:
    """Returns one street's betting; adds its decisions to `decisions`.

    Args:
        spot: What is solved.
        nodes: Of the street, in pre-order.
        street: Counted from the root's.
        decisions: By index of the betting tree.
    """
    next_chance = _next_chance(spot, nodes[0].state.street)
    num_lines = sum(node.action == DEALING for node in nodes)
    slots: dict[int, list[int]] = {}
    rows: tuple[list[tuple[int, int, int]], ...] = ([], [])
    num_cells = [0, 0]
    ends: dict[bool, list[End]] = {True: [], False: []}  # by whether somebody folded
    num_seen = 0
    for node in nodes:
        if node.action == DEALING:
            slots[node.index] = [num_seen, num_seen]
            num_seen += 1
        here = slots[node.index]
        if node.kind is not NodeKind.DECISION:
            ends[node.kind is NodeKind.FOLD].append(make_end(spot, node, (here[0], here[1]), next_chance))
            continue
        player, num_actions = node.state.actor, len(node.actions)
        if num_actions > MAX_ACTIONS:
            raise GameTooLargeError(f"a decision may have {MAX_ACTIONS} actions, the menu gives {num_actions}")
        # lines enter in pre-order, so that the last one seen is this node's
        decisions[node.index] = Decision(
            player, street, num_cells[player], num_actions, num_seen - 1, (here[0], here[1])
        )
        rows[player].append((num_cells[player], num_actions, here[player]))
        for action, child in enumerate(node.children):
            slots[child] = list(here)
            slots[child][player] = num_lines + num_cells[player] + action
        num_cells[player] += num_actions
    flats, folds = _pad_ends(ends[False]), _pad_ends(ends[True])
    fields = StreetFields(
        num_lines=num_lines,
        is_last=next_chance is None,
        num_cells_0=num_cells[0],
        num_cells_1=num_cells[1],
        num_nodes_0=len(rows[0]),
        num_nodes_1=len(rows[1]),
        flat_packs=flats.rake.size // TILE,
        fold_packs=folds.rake.size // TILE,
    )
    first, second = (np.array(own, np.int32).reshape(-1, 3) for own in rows)
    return StreetForest(fields, (first, second), flats, folds)


def make_end(spot: HoldemSpot, node: BettingNode, slots: tuple[int, int], next_chance: float | None) -> End:
    """Returns what each player wins at a node that is no decision, or the chance of what is dealt there."""
    if next_chance is not None and node.kind is NodeKind.STREET_END:
        return End(slots, (next_chance, next_chance))
    rake = spot.rake(node.state)
    won = payoffs(node.state, (1, 0))  # at a showdown: if player 0 wins
    if node.kind is NodeKind.FOLD:
        return End(slots, (won[0] - rake * (won[0] > 0), won[1] - rake * (won[1] > 0)))
    stake = won[0] - rake / 2  # what the winner gets beyond a split, and the loser does not
    return End(slots, (stake, stake), rake / 2 / stake)


def _pad_ends(ends: Sequence[End]) -> _Ends:
    size = -(-len(ends) // TILE) * TILE
    columns = _Ends(np.zeros((2, size), np.int32), np.zeros((2, size)), np.zeros(size))
    for column, end in enumerate(ends):
        columns.slots[:, column] = end.slots
        columns.scales[:, column] = end.scales
        columns.rake[column] = end.rake
    return columns
