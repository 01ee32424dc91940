# SPDX-License-Identifier: Apache-2.0
"""Terminals of a public tree, grouped for evaluation.

A player's values at a terminal are a matrix times the other's reach. Terminals whose matrices are equal up to a scale
(every line that ends in a showdown on one board, say) share one dense matrix and stand together; matrices with few
entries become entries of one list. Nothing here knows a game.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.games.base import TERMINAL
from equipoise.kernels.public import LANES, DenseGroup, TerminalGroups
from equipoise.trees.public_arrays import PublicArrays
from equipoise.trees.public_layout import Layout, pad
from equipoise.trees.segments import flatten_ranges, join, starts

__all__ = ["group_terminals"]

# a dense matrix takes a quarter of a multiply-add per number, an entry of the list a load, an add and a store
DENSE_FACTOR: Final = 8
SAME_DIGITS: Final = 13  # matrices that agree to so many decimals, largest entry one, are one
CHUNK_NUMBERS: Final = 1 << 20  # of dense matrices that are compared at a time

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(slots=True, eq=False)
class _Entries:
    """One player's payoffs that are not zero, terminal after terminal, then by own and by the other's private state.

    Terminals that read one table of payoffs in the same way are members of one Z.
    """

    start: LongArray  # [Z+1] Z terminals that have any
    own_slot: LongArray  # [K] cells from each side's first
    other_slot: LongArray  # [K]
    weight: FloatArray  # [K]
    own_extent: LongArray  # [Z]
    member_start: LongArray  # [Z+1]
    own_cell: LongArray  # [members] first cells of both sides
    other_cell: LongArray  # [members]
    factor: FloatArray  # [members] on the weights

    @property
    def num_terminals(self) -> int:
        return self.own_extent.size

    def of_terminals(self, chosen: LongArray) -> tuple[LongArray, LongArray]:
        """Returns the places of some terminals' entries, and which of those terminals each belongs to."""
        count = self.start[chosen + 1] - self.start[chosen]
        return flatten_ranges(self.start[chosen], count), np.repeat(np.arange(chosen.size), count)


@dataclasses.dataclass(slots=True, eq=False)
class _Shared:
    """A matrix and the terminals that use it."""

    matrix: FloatArray  # [columns, rows]
    first_terminal: int
    own: list[int]  # first cell written
    other: list[int]  # first cell read
    scale: list[float]


def group_terminals(arrays: PublicArrays, layout: Layout) -> TerminalGroups:
    """Returns the terminals of a tree, grouped."""
    shared: list[list[_Shared]] = []
    sparse: list[tuple[LongArray, LongArray, FloatArray]] = []
    for player in (0, 1):
        entries = _list_entries(arrays, layout, player)
        dense, listed = _split(entries)
        shared.append(sorted(dense, key=lambda group: group.first_terminal))
        num_members = np.diff(entries.member_start)[listed]
        member = flatten_ranges(entries.member_start[listed], num_members)
        place, owner = entries.of_terminals(np.repeat(listed, num_members))
        own = entries.own_cell[member][owner] + entries.own_slot[place]
        other = entries.other_cell[member][owner] + entries.other_slot[place]
        sparse.append((own, other, entries.weight[place] * entries.factor[member][owner]))
    members = [_sort_members(group) for groups in shared for group in groups]
    matrix_start = starts([group.matrix.size for groups in shared for group in groups])
    first_terminal = starts([own.size for own, _, _ in members])
    rows = [
        dataclasses.astuple(
            DenseGroup(
                player,
                group.matrix.shape[1],
                group.matrix.shape[0],
                int(matrix_start[index]),
                int(first_terminal[index]),
                len(group.own),
            )
        )
        for index, (player, group) in enumerate((player, group) for player in (0, 1) for group in shared[player])
    ]
    return TerminalGroups(
        groups=np.array(rows, np.int32).reshape(len(rows), len(dataclasses.fields(DenseGroup))),
        group_start=np.array([0, len(shared[0]), len(rows)], np.int32),
        matrix=join([group.matrix.ravel() for groups in shared for group in groups], np.float64),
        dense_own=join([own for own, _, _ in members], np.int32),
        dense_other=join([other for _, other, _ in members], np.int32),
        dense_scale=join([scale for _, _, scale in members], np.float64),
        sparse_start=starts([sparse[0][2].size, sparse[1][2].size]),
        sparse_own=join([own for own, _, _ in sparse], np.int32),
        sparse_other=join([other for _, other, _ in sparse], np.int32),
        sparse_weight=join([weight for _, _, weight in sparse], np.float64),
    )


def _list_entries(arrays: PublicArrays, layout: Layout, player: int) -> _Entries:
    """Returns a player's payoffs by terminal."""
    node = np.flatnonzero(arrays.actor == TERMINAL)
    members = _find_members(arrays, layout, node)
    leader = np.array([same[0] for same in members], np.int64)  # [groups]
    table = arrays.payoff_table[leader]
    count = (arrays.payoff_start[table + 1] - arrays.payoff_start[table]).astype(np.int64)
    group = np.repeat(np.arange(leader.size), count)
    place = flatten_ranges(arrays.payoff_start[table].astype(np.int64), count)
    is_paid = arrays.payoff[player, place] != 0.0
    place, group = place[is_paid], group[is_paid]
    if player == 1:  # pairs stand in the order of player 0's private states
        order = np.lexsort((arrays.payoff_private[0, place], arrays.payoff_private[1, place], group))
        place, group = place[order], group[order]
    present, count = np.unique(group, return_counts=True)
    views = 2 * node + player, 2 * node + 1 - player
    own_slot, other_slot = (
        layout.slot[layout.slot_start[view[leader]][group] + arrays.payoff_private[side, place]].astype(np.int64)
        for view, side in zip(views, (player, 1 - player), strict=True)
    )
    listed = [members[index] for index in present.tolist()]
    terminal = join(listed, np.int64)
    return _Entries(
        start=starts(count).astype(np.int64),
        own_slot=own_slot,
        other_slot=other_slot,
        weight=arrays.payoff[player, place],
        own_extent=layout.view_extent[views[0][leader[present]]].astype(np.int64),
        member_start=starts([same.size for same in listed]).astype(np.int64),
        own_cell=layout.view_cell[views[0][terminal]].astype(np.int64),
        other_cell=layout.view_cell[views[1][terminal]].astype(np.int64),
        factor=arrays.payoff_factor[terminal],
    )


def _find_members(arrays: PublicArrays, layout: Layout, node: LongArray) -> list[LongArray]:
    """Returns terminals that share a table and lay out their private states alike, in the order of the first."""
    num_users = np.bincount(arrays.payoff_table)
    found: dict[tuple[int, ...] | tuple[int, bytes], list[int]] = {}
    for terminal, table in enumerate(arrays.payoff_table.tolist()):
        key: tuple[int, ...] | tuple[int, bytes] = (table,)
        if num_users[table] > 1:
            first, last = layout.slot_start[2 * node[terminal]], layout.slot_start[2 * node[terminal] + 2]
            key = (table, layout.slot[first:last].tobytes())
        found.setdefault(key, []).append(terminal)
    return [np.array(same, np.int64) for same in found.values()]


def _split(entries: _Entries) -> tuple[list[_Shared], LongArray]:
    """Returns the shared matrices of terminals that are worth one, and which terminals are not."""
    if entries.num_terminals == 0:
        return [], np.empty(0, np.int64)
    first = entries.start[:-1]
    low = np.minimum.reduceat(entries.own_slot, first) // LANES * LANES
    num_rows = pad_to_lanes(np.maximum.reduceat(entries.own_slot, first) + 1 - low)
    left = np.minimum.reduceat(entries.other_slot, first)
    num_columns = np.maximum.reduceat(entries.other_slot, first) + 1 - left
    is_listed = (pad(entries.own_extent) < LANES) | (num_rows * num_columns > DENSE_FACTOR * np.diff(entries.start))
    shared: dict[tuple[int, int, bytes], _Shared] = {}
    for chosen in _by_shape(np.flatnonzero(~is_listed), num_rows, num_columns):
        rows, columns = int(num_rows[chosen[0]]), int(num_columns[chosen[0]])
        place, owner = entries.of_terminals(chosen)
        dense = np.zeros((chosen.size, columns, rows))
        dense[owner, entries.other_slot[place] - left[chosen][owner], entries.own_slot[place] - low[chosen][owner]] = (
            entries.weight[place]
        )
        _share(dense, chosen, low[chosen], left[chosen], entries, shared)
    return list(shared.values()), np.flatnonzero(is_listed)


def pad_to_lanes(count: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns counts rounded up to whole vectors."""
    return (count + LANES - 1) // LANES * LANES


def _by_shape(chosen: LongArray, num_rows: LongArray, num_columns: LongArray) -> Iterator[LongArray]:
    """Yields terminals of one shape, ascending, in portions that fit in little memory."""
    order = chosen[np.lexsort((chosen, num_columns[chosen], num_rows[chosen]))]
    shapes = np.stack([num_rows[order], num_columns[order]])
    for same in np.split(order, np.flatnonzero(np.any(np.diff(shapes, axis=1) != 0, axis=0)) + 1):
        if same.size:
            portion = max(1, CHUNK_NUMBERS // int(num_rows[same[0]] * num_columns[same[0]]))
            yield from np.split(same, range(portion, same.size, portion))


def _share(
    dense: FloatArray,
    chosen: LongArray,
    low: LongArray,
    left: LongArray,
    entries: _Entries,
    shared: dict[tuple[int, int, bytes], _Shared],
) -> None:
    """Files matrices of one shape `[Z, columns, rows]` under what they are up to a scale, into `shared`."""
    flat = dense.reshape(len(dense), -1)
    scale = flat[np.arange(len(flat)), np.argmax(np.abs(flat), axis=1)]
    normal = flat / scale[:, None]
    rounded = np.round(normal, SAME_DIGITS) + 0.0  # + 0.0: no negative zeros
    for index, terminal in enumerate(chosen.tolist()):
        key = (*dense.shape[1:], rounded[index].tobytes())
        group = shared.get(key)
        if group is None:
            matrix = normal[index].reshape(dense.shape[1:]).copy()
            group = shared[key] = _Shared(matrix, terminal, [], [], [])
        members = slice(entries.member_start[terminal], entries.member_start[terminal + 1])
        group.own.extend((entries.own_cell[members] + low[index]).tolist())
        group.other.extend((entries.other_cell[members] + left[index]).tolist())
        group.scale.extend((entries.factor[members] * scale[index]).tolist())


def _sort_members(group: _Shared) -> tuple[LongArray, LongArray, FloatArray]:
    """Returns the cells and scales of a group's terminals in the order of cells."""
    own, other, scale = np.array(group.own), np.array(group.other), np.array(group.scale)
    order = np.lexsort((scale, other, own))
    return own[order], other[order], scale[order]
