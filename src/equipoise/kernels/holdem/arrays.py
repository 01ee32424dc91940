# SPDX-License-Identifier: Apache-2.0
"""A hold'em tree as arrays: its streets, boards and hands, and whether they fit each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.kernels.arrays import check_range
from equipoise.kernels.buckets import NUM_CARDS
from equipoise.kernels.calls import check_integer, check_player

__all__ = [
    "MAX_ACTIONS",
    "TILE",
    "BoardFields",
    "HoldemArrays",
    "HoldemShape",
    "StreetFields",
    "StreetShape",
    "check_betting",
    "check_boards",
    "check_hands",
    "normalize_cells",
]

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

TILE: Final = 8  # hands that a sweep takes at a time, and terminals of a pack
MAX_ACTIONS: Final = 64  # at one decision
MAX_PIECES: Final = 24  # in which a team adds up what the root's children are worth
HAND_BYTES: Final = 18  # of a hand in the arrays over hands
END_BYTES: Final = 32  # of an end of a street in a sweep's list of those that count: slots, scales, rake


class StreetFields(NamedTuple):
    """The betting of a street in numbers, as kernels read it."""

    num_lines: int  # that enter
    is_last: int
    num_cells_0: int  # (decision, action) pairs of each player
    num_cells_1: int
    num_nodes_0: int  # decisions of each player
    num_nodes_1: int
    flat_packs: int  # showdowns or lines that go on, in packs of eight
    fold_packs: int

    @property
    def num_cells(self) -> tuple[int, int]:
        """Returns the (decision, action) pairs of each player."""
        return self.num_cells_0, self.num_cells_1

    @property
    def num_nodes(self) -> tuple[int, int]:
        """Returns the decisions of each player."""
        return self.num_nodes_0, self.num_nodes_1


class BoardFields(NamedTuple):
    """A board in numbers; X is all hands of all boards, by board and player, each padded to whole tiles."""

    street: int  # counted from the root's
    first_child: int
    num_children: int
    num_images: int  # boards that it stands for
    num_hands_0: int
    first_hand_0: int  # into [X]
    first_cell_0: int  # into the tables
    num_hands_1: int
    first_hand_1: int
    first_cell_1: int

    @property
    def num_hands(self) -> tuple[int, int]:
        """Returns the hands of each player."""
        return self.num_hands_0, self.num_hands_1

    @property
    def first_hand(self) -> tuple[int, int]:
        """Returns where the hands of each player begin in [X]."""
        return self.first_hand_0, self.first_hand_1

    @property
    def first_cell(self) -> tuple[int, int]:
        """Returns where the cells of each player begin in the tables."""
        return self.first_cell_0, self.first_cell_1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StreetShape:
    """How large the betting of each street is."""

    streets: IntArray  # [streets, 8] StreetFields

    def street(self, index: int) -> StreetFields:
        """Returns a street in numbers."""
        return StreetFields(*self.streets[index].tolist())

    def street_field(self, name: str) -> LongArray:
        """Returns `[streets]` a field of all streets; `[streets, 2]` one that each player has."""
        return _column(self.streets, StreetFields._fields, name)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemShape(StreetShape):
    """How large a hold'em tree is, known before its hands are listed."""

    boards: LongArray  # [B, 10] BoardFields, the root first

    def board(self, index: int) -> BoardFields:
        """Returns a board in numbers."""
        return BoardFields(*self.boards[index].tolist())

    def board_field(self, name: str) -> LongArray:
        """Returns `[B]` a field of all boards; `[B, 2]` one that each player has."""
        return _column(self.boards, BoardFields._fields, name)

    def num_rows(self, board: int, player: int) -> int:
        """Returns the hands of a player on a board, padding included."""
        return -(-self.board(board).num_hands[player] // TILE) * TILE

    def own_cells(self, player: int) -> list[slice]:
        """Returns where tables keep a player's cells, a run for each board."""
        check_player(player, 2)
        runs = []
        for index in range(len(self.boards)):
            board = self.board(index)
            size = self.num_rows(index, player) * self.street(board.street).num_cells[player]
            runs.append(slice(board.first_cell[player], board.first_cell[player] + size))
        return runs

    def cells_below(self, board: int) -> list[slice]:
        """Returns where tables keep the cells of both players on a board and on all that follow it, a run a street."""
        first, stop, runs = board, board + 1, []
        while first < stop:
            end = self.board(stop).first_cell_0 if stop < len(self.boards) else self.num_cells
            runs.append(slice(self.board(first).first_cell_0, end))
            children = self.board_field("num_children")[first:stop]
            # boards lie street by street, children side by side in the order of what they follow
            below = self.board_field("first_child")[first:stop][children > 0]
            first, stop = (int(below[0]), int(below[0] + children.sum())) if below.size else (stop, stop)
        return runs

    @property
    def num_hands(self) -> int:
        """Returns X, the hands of all boards and both players, padding included."""
        return self.board(-1).first_hand_1 + self.num_rows(-1, 1)

    @property
    def num_cells(self) -> int:
        """Returns the numbers in one table, padding included."""
        last = self.board(-1)
        return last.first_cell_1 + self.num_rows(-1, 1) * self.street(last.street).num_cells_1

    @property
    def node_rows(self) -> LongArray:
        """Returns `[B, 2]` the rows of a table, one for each hand at each decision, padding included."""
        tiles = -(-self.board_field("num_hands") // TILE)
        rows: LongArray = TILE * tiles * self.street_field("num_nodes")[self.board_field("street")]
        return rows

    @property
    def num_node_rows(self) -> int:
        """Returns R, the rows of one table."""
        return int(self.node_rows.sum())

    @property
    def num_bytes(self) -> int:
        """Returns the bytes of the arrays."""
        num_nodes = int(self.street_field("num_nodes").sum())
        num_ends = int((self.street_field("flat_packs") + self.street_field("fold_packs")).sum()) * TILE
        num_root_rows = self.num_rows(0, 0) + self.num_rows(0, 1)
        lists = 3 * 4 * num_nodes + 2 * (4 + 8) * num_ends + 8 * num_root_rows + HAND_BYTES * self.num_hands
        return lists + self.streets.nbytes + self.boards.nbytes

    def estimate_workspace(self, item_bytes: int, num_threads: int) -> int:
        """Returns the bytes that a sweep allocates beside the tables; the same sum as in native/holdem.hpp."""
        total = sum(self.num_rows(0, player) for player in (0, 1))
        streets = [StreetFields(*row) for row in self.streets.tolist()]
        padded = -(-self.board_field("num_hands") // TILE) * TILE
        num_children = self.board(0).num_children
        for street, fields in enumerate(streets):
            rows = int(padded[self.board_field("street") == street].max(axis=0).sum())
            flats, folds = fields.flat_packs * TILE * rows, fields.fold_packs * TILE * rows
            whole = 2 * flats + 2 * folds + (0 if fields.is_last else flats)
            if street:
                total += whole * num_threads
            elif num_children:
                root_rows = sum(self.num_rows(0, player) for player in (0, 1))
                total += whole + min(num_children, MAX_PIECES) * fields.flat_packs * TILE * root_rows
            else:
                total += whole + (0 if fields.is_last else flats) * (num_threads - 1)
        slots = max(fields.num_lines + max(fields.num_cells) for fields in streets)
        ends = sum(TILE * (fields.flat_packs * fields.is_last + fields.fold_packs) for fields in streets[1:])
        lines = sum(fields.num_lines for fields in streets[1:])
        # by player, of iterations and of evaluations
        lists = 2 * 2 * (END_BYTES * ends + lines) * num_threads
        return item_bytes * (total + 3 * TILE * slots * num_threads) + lists


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemArrays(HoldemShape):
    """A hold'em tree as kernels read it."""

    nodes: IntArray  # [D, 3] first cell, number of actions, slot; by street and player, parents first
    flat_slot: IntArray  # by street: slots of player 0, then of player 1, padded to whole packs
    flat_scale: FloatArray  # likewise: stake of showdowns, chance of what follows where lines go on
    flat_rake: FloatArray  # of the last street: what each player loses to the house, in stakes; [0] without rake
    fold_slot: IntArray
    fold_scale: FloatArray  # what the player wins
    cards: npt.NDArray[np.uint8]  # [X, 2]
    strength: IntArray  # [X]
    same_hand: IntArray  # [X] row of the same cards on the other side, -1 if there is none
    parent_row: IntArray  # [X] row on the board above
    value_row: IntArray  # [X] first row that is the same hand but for suits' names; neighbours if cards follow
    root_reach: tuple[FloatArray, FloatArray]  # [rows] weights of each range, in sum 1

    def table_blocks(self) -> Iterator[tuple[slice, IntArray]]:
        """Yields for each board and player where a table keeps its cells, and the decisions `[D, 3]` in them."""
        ends = np.cumsum(self.street_field("num_nodes").ravel())
        nodes = np.split(self.nodes, ends[:-1])
        cells = self.own_cells(0), self.own_cells(1)
        for board, street in enumerate(self.board_field("street").tolist()):
            for player in (0, 1):
                yield cells[player][board], nodes[2 * street + player]


def normalize_cells(arrays: HoldemArrays, sums: npt.NDArray[Any]) -> FloatArray:
    """Returns `[C]` the sums divided by their total at every hand's decision, uniform where that is zero."""
    out = np.zeros(arrays.num_cells)
    for block, nodes in arrays.table_blocks():
        if not nodes.size:  # a street without decisions
            continue
        num_cells = sum(num_actions for _, num_actions, _ in nodes.tolist())
        shares = sums[block].astype(np.float64).reshape(-1, num_cells, TILE)
        played = out[block].reshape(shares.shape)
        for first, num_actions, _ in nodes.tolist():
            own = np.maximum(shares[:, first : first + num_actions], 0.0)
            total = own.sum(axis=1, keepdims=True)
            spread = np.full(own.shape, 1.0 / num_actions)
            played[:, first : first + num_actions] = np.divide(own, total, out=spread, where=total > 0)
    return out


def _column(table: npt.NDArray[Any], names: tuple[str, ...], name: str) -> LongArray:
    """Returns `[rows]` a field, or `[rows, 2]` that of both players."""
    columns = names.index(name) if name in names else [names.index(f"{name}_{player}") for player in (0, 1)]
    return np.asarray(table[:, columns], np.int64)


def check_betting(arrays: HoldemArrays, *, has_leaves: bool) -> None:
    """Raises `ValueError` if decisions or ends of streets point at slots or cells that their street does not have."""
    streets = arrays.streets
    num_lines, is_last, flat_packs, fold_packs = map(
        arrays.street_field, ("num_lines", "is_last", "flat_packs", "fold_packs")
    )
    check_range("num_lines", num_lines, np.arange(len(streets)) == 0, [2, *(TILE * flat_packs[:-1] + 1)])
    last = (np.arange(len(streets)) == len(streets) - 1) & (not has_leaves)
    check_range("is_last", is_last, last, last + 1)
    num_cells, num_nodes = arrays.street_field("num_cells"), arrays.street_field("num_nodes")
    num_slots = num_lines[:, None] + num_cells
    first_cell, num_actions, source = arrays.nodes.T
    check_range("actions of decisions", num_actions, 1, MAX_ACTIONS + 1)
    check_range("first cells of decisions", first_cell, 0, np.repeat(num_cells, num_nodes.ravel()) - num_actions + 1)
    # a decision is reached by a line or by an action of a decision before it
    check_range("slots of decisions", source, 0, np.repeat(num_lines, num_nodes.sum(axis=1)) + first_cell)
    for name, slots, packs in (
        ("flat_slot", arrays.flat_slot, flat_packs),
        ("fold_slot", arrays.fold_slot, fold_packs),
    ):
        check_range(name, slots, 0, np.repeat(num_slots, np.repeat(TILE * packs, 2)))


def check_boards(arrays: HoldemArrays) -> None:
    """Raises `ValueError` unless boards, their hands and their cells follow one another without a gap."""
    street, first_child, num_children = map(arrays.board_field, ("street", "first_child", "num_children"))
    num_boards, num_streets = len(arrays.boards), len(arrays.streets)
    check_range("children of boards", num_children, 0, num_boards)
    check_integer("children of all boards", int(num_children.sum()), num_boards - 1, num_boards - 1)
    expected = 1 + np.cumsum(num_children) - num_children
    check_range("first children of boards", first_child, expected, expected + 1)
    check_range("first children of boards", first_child[num_children > 0], np.flatnonzero(num_children) + 1, num_boards)
    above = np.repeat(np.arange(num_boards), num_children)
    check_range("street of the first board", street[:1], 0, 1)
    check_range("streets of boards", street, 0, num_streets)
    check_range("streets of boards", street[1:], street[above] + 1, street[above] + 2)
    num_hands = arrays.board_field("num_hands")
    check_range("hands of boards", num_hands, 0, arrays.cards.shape[0] + 1)
    rows = -(-num_hands // TILE) * TILE
    check_integer("hands of all boards", int(rows.sum()), arrays.cards.shape[0], arrays.cards.shape[0])
    cells = rows * arrays.street_field("num_cells")[street]
    for name, sizes in (("first_hand", rows), ("first_cell", cells)):
        start = np.cumsum(sizes).reshape(sizes.shape) - sizes
        check_range(f"{name} of boards", arrays.board_field(name), start, start + 1)


def check_hands(arrays: HoldemArrays) -> None:
    """Raises `ValueError` if hands point at rows that their board or the one above does not have."""
    num_hands, num_children = arrays.board_field("num_hands").astype(np.int32), arrays.board_field("num_children")
    above = np.concatenate([[0], np.repeat(np.arange(len(num_hands)), num_children)])
    rows = (-(-num_hands // TILE) * TILE).ravel()
    check_range("cards", arrays.cards, 0, NUM_CARDS)
    check_range("same_hand", arrays.same_hand, -1, np.repeat(num_hands[:, ::-1], rows))
    check_range("parent_row", arrays.parent_row, 0, np.repeat(num_hands[above], rows))
    check_range("value_row", arrays.value_row, 0, np.repeat(num_hands, rows))
