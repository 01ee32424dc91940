# SPDX-License-Identifier: Apache-2.0
"""Hold'em spots as arrays: the betting of each street once, and the boards with the hands that each leaves.

A board's tables hold, for each player, its hands in tiles of eight by the player's (decision, action) pairs of that
street. Cards that differ only by the names of suits, given the spot's board and ranges, share one board.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.games.holdem.betting import payoffs
from equipoise.games.holdem.betting_tree import DEALING, BettingNode, BettingTree, NodeKind, betting_tree
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import (
    CardArray,
    find_symmetries,
    fix_card,
    hand_permutation,
    next_cards,
    permute_cards,
    suit_permutations,
)
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.strength import evaluate_boards
from equipoise.kernels.holdem import MAX_ACTIONS, TILE, BoardFields, HoldemArrays, StreetFields, TableArray
from equipoise.trees.holdem_locks import NodeLock, compile_locks

__all__ = ["Decision", "HoldemTree", "build_holdem_tree"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

NOTHING: Final = -1

Scalar = TypeVar("Scalar", bound=np.generic)


class Decision(NamedTuple):
    """Where the tables keep a decision of the betting tree."""

    player: int
    street: int  # counted from the root's
    first_cell: int  # within the player's cells of that street
    num_actions: int
    line: int  # of those that enter the street
    slots: tuple[int, int]  # of both players where the decision is reached


class _End(NamedTuple):
    """Where the betting of a street ends, by player."""

    slots: tuple[int, int]
    scales: tuple[float, float]  # chips won at a fold, the stake at a showdown, the chance of each next card
    rake: float = 0.0  # what each player loses to the house at a showdown, in stakes


class _Ends(NamedTuple):
    """All of them as columns, padded to whole packs."""

    slots: IntArray  # [2, T]
    scales: FloatArray  # [2, T]
    rake: FloatArray  # [T]


class _StreetForest(NamedTuple):
    """The betting of one street: all lines that enter it."""

    fields: StreetFields
    nodes: tuple[IntArray, IntArray]  # [D, 3] per player
    flats: _Ends
    folds: _Ends


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HoldemTree:
    """A spot laid out for sweeps."""

    spot: HoldemSpot
    betting: BettingTree
    arrays: HoldemArrays
    boards: tuple[tuple[int, ...], ...]  # cards of each board; the lowest of those that differ by suits' names alone
    hands: tuple[tuple[IntArray, IntArray], ...]  # per board and player: numbers of its hands, in the order of rows
    decisions: dict[int, Decision]  # by index of the betting tree
    symmetries: CardArray  # [G, 4] relabellings of suits under which boards are merged, the identity first
    pair_weight: float  # sum of the products of weights over hands that share no card

    @property
    def num_public_states(self) -> int:
        """Returns the betting nodes of all boards."""
        per_street = [0] * self.arrays.streets.shape[0]
        root_street = self.betting.root.state.street
        for node in self.betting.nodes:
            per_street[node.state.street - root_street] += 1
        return sum(per_street[street] for street in self.arrays.boards[:, 0].tolist())

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
        size = len(self.spot.board)
        if set(board[:size]) == set(self.spot.board):
            places = {cards: index for index, cards in enumerate(self.boards)}
            for permutation in self.symmetries:
                dealt = permute_cards(board[size:], permutation).tolist()
                if (*self.spot.board, *dealt) in places:
                    return places[*self.spot.board, *dealt], permutation
        raise ConfigError(
            f"the tree has no board {format_board(board)}; it begins with {format_board(self.spot.board)}"
        )

    def cells(self, board: int, node: int) -> npt.NDArray[np.int64]:
        """Returns `[H, A]` where tables keep a decision of the betting tree, hands as in `hands[board]`."""
        decision = self.decisions[node]
        fields = BoardFields(*self.arrays.boards[board].tolist())
        if fields.street != decision.street:
            raise ConfigError(f"betting node {node} is not on the street of board {format_board(self.boards[board])}")
        street = StreetFields(*self.arrays.streets[decision.street].tolist())
        num_cells = (street.num_cells_0, street.num_cells_1)[decision.player]
        tile, lane = np.divmod(np.arange(self.hands[board][decision.player].size), TILE)
        first = (fields.first_cell_0, fields.first_cell_1)[decision.player] + tile * num_cells * TILE + lane
        return first[:, None] + TILE * (decision.first_cell + np.arange(decision.num_actions))

    def rows(self, table: TableArray, board: int, node: int) -> FloatArray:
        """Returns `[H, A]` a table's numbers at a decision of the betting tree, hands as in `hands[board]`."""
        return table[self.cells(board, node)].astype(np.float64)

    def normalize(self, table: TableArray, board: int, node: int) -> FloatArray:
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
        return float(weights @ values[:num_hands]) * float(other.sum()) / self.pair_weight


def build_holdem_tree(
    spot: HoldemSpot, *, locks: Sequence[NodeLock] = (), merges_suits: bool = True, max_nodes: int = 1_000_000
) -> HoldemTree:
    """Returns a spot laid out for sweeps.

    Args:
        spot: What is solved.
        locks: Strategies that a solver will be given; suits that they tell apart are not merged.
        merges_suits: Whether cards that differ only by the names of suits share one board; exact, and less work.
        max_nodes: Refuse menus whose betting has more nodes.
    """
    betting = betting_tree(spot.betting_rules, spot.menu, max_nodes=max_nodes)
    first_street = betting.root.state.street
    num_streets = betting.rules.last_street - first_street + 1
    decisions: dict[int, Decision] = {}
    forests = []
    for street in range(num_streets):
        nodes = [node for node in betting.nodes if node.state.street == first_street + street]
        forests.append(_plant(spot, nodes, street, decisions))
    boards = _Boards(spot, [forest.fields for forest in forests])
    group = find_symmetries(spot.board, spot.ranges, spot.deck) if merges_suits else suit_permutations(spot.deck)[:1]
    if locks:
        group = compile_locks(spot, betting, locks).keep_symmetries(group)
    boards.deal(group)
    return HoldemTree(
        spot=spot,
        betting=betting,
        arrays=boards.arrays(forests),
        boards=tuple(boards.cards),
        hands=tuple(boards.hands),
        decisions=decisions,
        symmetries=group,
        pair_weight=spot.pair_weight(),
    )


def _plant(
    spot: HoldemSpot, nodes: Sequence[BettingNode], street: int, decisions: dict[int, Decision]
) -> _StreetForest:
    """Returns one street's betting; adds its decisions to `decisions`.

    Args:
        spot: What is solved.
        nodes: Of the street, in pre-order.
        street: Counted from the root's.
        decisions: By index of the betting tree.
    """
    is_last = nodes[0].state.street == spot.betting_rules.last_street
    num_lines = sum(node.action == DEALING for node in nodes)
    slots: dict[int, list[int]] = {}
    rows: tuple[list[tuple[int, int, int]], ...] = ([], [])
    num_cells = [0, 0]
    ends: dict[bool, list[_End]] = {True: [], False: []}  # by whether somebody folded
    num_seen = 0
    for node in nodes:
        if node.action == DEALING:
            slots[node.index] = [num_seen, num_seen]
            num_seen += 1
        here = slots[node.index]
        if node.kind is not NodeKind.DECISION:
            ends[node.kind is NodeKind.FOLD].append(_make_end(spot, node, (here[0], here[1])))
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
        is_last=is_last,
        num_cells_0=num_cells[0],
        num_cells_1=num_cells[1],
        num_nodes_0=len(rows[0]),
        num_nodes_1=len(rows[1]),
        flat_packs=flats.rake.size // TILE,
        fold_packs=folds.rake.size // TILE,
    )
    first, second = (np.array(own, np.int32).reshape(-1, 3) for own in rows)
    return _StreetForest(fields, (first, second), flats, folds)


def _make_end(spot: HoldemSpot, node: BettingNode, slots: tuple[int, int]) -> _End:
    if node.kind is NodeKind.STREET_END:
        chance = 1.0 / (spot.deck.num_cards - node.state.street.num_board_cards - 4)
        return _End(slots, (chance, chance))
    rake = spot.rake(node.state)
    won = payoffs(node.state, (1, 0))  # at a showdown: if player 0 wins
    if node.kind is NodeKind.FOLD:
        return _End(slots, (won[0] - rake * (won[0] > 0), won[1] - rake * (won[1] > 0)))
    stake = won[0] - rake / 2  # what the winner gets beyond a split, and the loser does not
    return _End(slots, (stake, stake), rake / 2 / stake)


def _pad_ends(ends: Sequence[_End]) -> _Ends:
    size = -(-len(ends) // TILE) * TILE
    columns = _Ends(np.zeros((2, size), np.int32), np.zeros((2, size)), np.zeros(size))
    for column, end in enumerate(ends):
        columns.slots[:, column] = end.slots
        columns.scales[:, column] = end.scales
        columns.rake[column] = end.rake
    return columns


class _Boards:
    """Boards in the making: lists over boards that become arrays."""

    def __init__(self, spot: HoldemSpot, streets: Sequence[StreetFields]) -> None:
        self.spot, self.streets = spot, streets
        self.all_hands = hands_of(spot.deck)
        self.in_range = [spot.live_weights(player) > 0 for player in (0, 1)]
        self.cards: list[tuple[int, ...]] = []
        self.hands: list[tuple[IntArray, IntArray]] = []
        self.row_of: list[tuple[IntArray, IntArray]] = []  # by board and player: row of each hand, or NOTHING
        self.groups: list[CardArray] = []
        self.streets_of: list[int] = []
        self.images: list[tuple[int, list[IntArray]]] = []  # board above, and where hands are there, image by image
        self.children: list[tuple[int, int]] = []  # first and number
        self.strengths: list[tuple[IntArray, IntArray]] = []

    def deal(self, group: CardArray) -> None:
        """Lists the root's board and all that follow, level by level."""
        identity = np.arange(self.all_hands.num_hands, dtype=np.int32)
        self._add(self.spot.board, 0, group, NOTHING, [identity])
        board = 0
        while board < len(self.cards):
            first = len(self.cards)
            street = self.streets_of[board] + 1
            if street < len(self.streets):
                following = next_cards(self.cards[board], self.groups[board], self.spot.deck)
                for card in following.canonical()[0].tolist():
                    same = following.permutations[following.representatives == card]
                    images = [np.argsort(hand_permutation(p, self.spot.deck)).astype(np.int32) for p in same]
                    self._add((*self.cards[board], card), street, fix_card(self.groups[board], card), board, images)
            self.children.append((first, len(self.cards) - first))
            board += 1

    def _add(self, cards: tuple[int, ...], street: int, group: CardArray, above: int, images: list[IntArray]) -> None:
        possible = ~self.all_hands.blocked(cards)
        is_last = street == len(self.streets) - 1
        strength = evaluate_boards([cards], self.spot.deck)[0].astype(np.int32) if is_last else None
        hands, rows, strengths = [], [], []
        for player in (0, 1):
            numbers = np.flatnonzero(possible & self.in_range[player]).astype(np.int32)
            if strength is not None:
                numbers = numbers[np.argsort(strength[numbers], kind="stable")]
            row_of = np.full(self.all_hands.num_hands, NOTHING, np.int32)
            row_of[numbers] = np.arange(numbers.size)
            hands.append(numbers)
            rows.append(row_of)
            strengths.append(np.zeros_like(numbers) if strength is None else strength[numbers])
        self.cards.append(cards)
        self.streets_of.append(street)
        self.groups.append(group)
        self.images.append((above, images))
        self.hands.append((hands[0], hands[1]))
        self.row_of.append((rows[0], rows[1]))
        self.strengths.append((strengths[0], strengths[1]))

    def arrays(self, forests: Sequence[_StreetForest]) -> HoldemArrays:
        """Returns everything as kernels read it."""
        fields, columns = [], _HandColumns()
        num_hands = num_cells = num_targets = 0
        for board in range(len(self.cards)):
            sides: list[int] = []
            street = self.streets[self.streets_of[board]]
            for player in (0, 1):
                size = self.hands[board][player].size
                num_rows = -(-size // TILE) * TILE
                sides += [size, num_hands, num_cells, num_targets]
                self._fill(columns, board, player, num_rows)
                num_hands += num_rows
                num_cells += num_rows * (street.num_cells_0, street.num_cells_1)[player]
                num_targets += num_rows * len(self.images[board][1])
            fields.append(
                BoardFields(self.streets_of[board], *self.children[board], len(self.images[board][1]), *sides)
            )
        return HoldemArrays(
            streets=np.array([forest.fields for forest in forests], np.int32),
            nodes=np.concatenate([nodes for forest in forests for nodes in forest.nodes]),
            flat_slot=np.concatenate([forest.flats.slots.ravel() for forest in forests]),
            flat_scale=np.concatenate([forest.flats.scales.ravel() for forest in forests]),
            flat_rake=forests[-1].flats.rake if forests[-1].flats.rake.any() else np.zeros(0),
            fold_slot=np.concatenate([forest.folds.slots.ravel() for forest in forests]),
            fold_scale=np.concatenate([forest.folds.scales.ravel() for forest in forests]),
            boards=np.array(fields, np.int64),
            cards=np.concatenate(columns.cards),
            strength=np.concatenate(columns.strength),
            same_hand=np.concatenate(columns.same_hand),
            parent_row=np.concatenate(columns.parent_row),
            value_row=np.concatenate(columns.value_row),
            target=np.concatenate(columns.target),
            root_reach=(self._root_reach(0), self._root_reach(1)),
        )

    def _fill(self, columns: _HandColumns, board: int, player: int, num_rows: int) -> None:
        numbers, row_of = self.hands[board][player], self.row_of[board][player]
        above, images = self.images[board]
        orbit = np.min([hand_permutation(p, self.spot.deck) for p in self.groups[board]], axis=0)
        rows_above = row_of if above == NOTHING else self.row_of[above][player]
        columns.cards.append(_pad_rows(self.all_hands.cards[numbers], num_rows))
        columns.strength.append(_pad_rows(self.strengths[board][player], num_rows))
        columns.same_hand.append(_pad_rows(self.row_of[board][1 - player][numbers], num_rows))
        columns.parent_row.append(_pad_rows(rows_above[numbers], num_rows))
        columns.value_row.append(_pad_rows(row_of[orbit[numbers]], num_rows))
        columns.target += [_pad_rows(rows_above[image[numbers]], num_rows) for image in images]

    def _root_reach(self, player: int) -> FloatArray:
        weights = self.spot.live_weights(player)
        numbers = self.hands[0][player]
        reach = np.zeros(-(-numbers.size // TILE) * TILE)
        reach[: numbers.size] = weights[numbers] / weights.sum()
        return reach


class _HandColumns:
    """Arrays over hands, board after board."""

    def __init__(self) -> None:
        self.cards: list[npt.NDArray[np.uint8]] = []
        self.strength: list[IntArray] = []
        self.same_hand: list[IntArray] = []
        self.parent_row: list[IntArray] = []
        self.value_row: list[IntArray] = []
        self.target: list[IntArray] = []


def _pad_rows(values: npt.NDArray[Scalar], num_rows: int) -> npt.NDArray[Scalar]:
    """Returns an array over hands with its last entry repeated."""
    padded: npt.NDArray[Scalar] = values[np.minimum(np.arange(num_rows), values.shape[0] - 1)]
    return padded
