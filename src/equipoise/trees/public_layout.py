# SPDX-License-Identifier: Apache-2.0
"""Where a public tree's numbers stand in memory, and in which order a sweep walks them.

A *block* is a run of cells that holds one number per private state: a player's reach of a public state, and its
counterfactual value. Most edges do not need one of their own: an edge that only selects private states, or passes an
action's row on, is a *view* of the block above, so that reach and values cross it for free. What is left for a sweep
are decisions (an [A, H] block each) and relations that deal, merge or weigh. Cells of decisions come first: tables
(regrets, averages) exist for those alone. Nodes are laid out a depth of the tree at a time, all at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.kernels.public import DECISION, LANES, RELATION, Cells, Step
from equipoise.trees.public_arrays import PublicArrays
from equipoise.trees.segments import flatten_ranges, join, number_within, starts

__all__ = ["Layout", "lay_out", "pad"]

SPARE_FACTOR: Final = 2  # a decision is packed anew when its rows would be this many times longer than needed

# a node's blocks are numbered 4n + these; the root's first two are the reaches that are given from outside
ENTRIES: Final = 0  # + player: what a relation of the edge into the node computes
PACKED: Final = 2  # the actor's private states, packed anew
TABLE: Final = 3
NO_BLOCK: Final = -1

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
OnLevel = Callable[[int], None]  # nodes laid out so far


def pad(count: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns the lengths of rows that hold `count` numbers: whole vectors, except for one or two.

    >>> pad(np.array([1, 2, 3, 6, 8])).tolist()
    [1, 2, 4, 8, 8]
    """
    return np.where(count <= 2, count, (count + LANES - 1) // LANES * LANES)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """Where everything stands. Segments of a node and player are numbered 2n + i, as in `PublicTree`."""

    slot_start: IntArray  # [2N+1] segments of `slot`
    slot: IntArray  # cell of each private state, from the view's first cell
    view_cell: IntArray  # [2N] first cell of the run in which a player's private states stand
    view_extent: IntArray  # [2N] cells from the first to the last private state
    table_cell: IntArray  # [N] -1 unless a player moves
    table_row: IntArray  # [N] likewise
    stride: IntArray  # [N] cells from one action's row to the next, 0 unless a player moves
    cells: Cells


class _Planner:
    """Makes blocks and views from the root down, then numbers their cells."""

    def __init__(self, arrays: PublicArrays, landmarks: npt.NDArray[Any]) -> None:
        num_nodes = arrays.actor.size
        self.arrays = arrays
        self.actor = arrays.actor.astype(np.int64)
        self.num_private = arrays.num_private.ravel().astype(np.int64)
        self.slot_start = starts(self.num_private)
        self.slot = number_within(self.num_private).astype(np.int32)  # of a block of its own; views overwrite it
        self.view_block = np.zeros(2 * num_nodes, np.int64)
        self.view_start = np.zeros(2 * num_nodes, np.int64)  # within the block
        self.view_extent = self.num_private.copy()
        self.stride = np.zeros(num_nodes, np.int64)
        self.block_cells = np.zeros(4 * num_nodes, np.int64)  # 0: no such block
        self.block_level = np.zeros(4 * num_nodes, np.int64)  # longest chain of blocks above: a level has no order
        self.block_source = np.full(4 * num_nodes, NO_BLOCK, np.int64)
        self.block_source_start = np.zeros(4 * num_nodes, np.int64)  # where a decision reads, within that block
        self.is_selection = _find_selections(arrays)
        self.is_selection[2 * landmarks] = self.is_selection[2 * landmarks + 1] = False
        self.entry_source = np.zeros(arrays.relation_private.size, np.int32)  # cell read, within the block above
        self.packed_nodes: list[LongArray] = []
        self.packed_source: list[npt.NDArray[Any]] = []  # cell read of each private state, within the block above

    def open_root(self) -> None:
        """Gives the root's private states blocks, whose reach is given from outside."""
        self.view_block[:2] = ENTRIES, ENTRIES + 1
        self.block_cells[:2] = pad(self.num_private[:2])

    def follow_edges(self, nodes: LongArray) -> None:
        """Makes both players' views of nodes whose parents are done."""
        arrays = self.arrays
        view = (2 * nodes[:, None] + np.arange(2)).ravel()
        player = view % 2
        parent = arrays.parent[view // 2].astype(np.int64)
        above = 2 * parent + player
        is_actor = self.actor[parent] == player
        source = np.where(is_actor, 4 * parent + TABLE, self.view_block[above])
        source_start = np.where(is_actor, 0, self.view_start[above])
        row_length = np.where(is_actor, self.stride[parent], 0)
        count = arrays.relation_start[view + 1] - arrays.relation_start[view]
        entry = flatten_ranges(arrays.relation_start[view], count)
        owner = np.repeat(np.arange(view.size), count)
        slot = self.slot[self.slot_start[above][owner] + arrays.relation_private[entry]]
        slot = slot + arrays.relation_action[entry] * row_length[owner]
        self.entry_source[entry] = slot + source_start[owner]

        is_selection = self.is_selection[view]
        self._open_blocks(
            4 * (view // 2) + ENTRIES + player, pad(self.num_private[view]), source, source_start, where=~is_selection
        )
        self.view_block[view] = np.where(is_selection, source, 4 * (view // 2) + ENTRIES + player)
        first = np.cumsum(count) - count
        low, high = np.minimum.reduceat(slot, first), np.maximum.reduceat(slot, first)
        extent = high - low + 1
        spare = low % LANES
        is_aligned = pad(extent + spare) <= pad(extent)
        low = np.where(is_aligned, low - spare, low)
        extent = np.where(is_aligned, extent + spare, extent)
        chosen = view[is_selection]
        self.view_start[chosen] = (source_start + low)[is_selection]
        self.view_extent[chosen] = extent[is_selection]
        moved = is_selection[owner]
        place = self.slot_start[view][owner[moved]] + arrays.relation_target[entry[moved]]
        self.slot[place] = slot[moved] - low[owner[moved]]

    def open_tables(self, nodes: LongArray) -> None:
        """Gives decisions their [A, H] blocks; a view with many gaps is packed anew before."""
        view = 2 * nodes + self.actor[nodes]
        block, start = self.view_block[view], self.view_start[view]
        row = pad(self.view_extent[view])
        # threads own blocks: a row must not reach past the block that it reads
        is_torn = start + row > self.block_cells[block]
        is_packed = is_torn | (row > SPARE_FACTOR * pad(self.num_private[view]))
        if is_packed.any():
            self._pack(nodes[is_packed], view[is_packed])
        self.stride[nodes] = pad(self.view_extent[view])
        num_cells = self.arrays.num_actions[nodes] * self.stride[nodes]
        self._open_blocks(4 * nodes + TABLE, num_cells, self.view_block[view], self.view_start[view])

    def _pack(self, nodes: LongArray, view: LongArray) -> None:
        count = self.num_private[view]
        place = flatten_ranges(self.slot_start[view], count)
        self.packed_nodes.append(nodes)
        self.packed_source.append(self.slot[place] + np.repeat(self.view_start[view], count))
        block = 4 * nodes + PACKED
        self._open_blocks(block, pad(count), self.view_block[view], self.view_start[view])
        self.slot[place] = number_within(count)
        self.view_block[view], self.view_start[view], self.view_extent[view] = block, 0, count

    def _open_blocks(
        self,
        block: LongArray,
        num_cells: npt.NDArray[Any],
        source: LongArray,
        source_start: LongArray,
        *,
        where: npt.NDArray[np.bool_] | slice = slice(None),
    ) -> None:
        block, source = block[where], source[where]
        self.block_cells[block] = num_cells[where]
        self.block_level[block] = self.block_level[source] + 1
        self.block_source[block] = source
        self.block_source_start[block] = source_start[where]

    def list_entries(self) -> tuple[LongArray, LongArray, LongArray, FloatArray]:
        """Returns block, cell within it, cell within the source and weight of every entry of a relation."""
        arrays = self.arrays
        view = np.flatnonzero(~self.is_selection[2:]) + 2  # the root has none
        count = arrays.relation_start[view + 1] - arrays.relation_start[view]
        entry = flatten_ranges(arrays.relation_start[view], count)
        nodes = join(self.packed_nodes, np.int64)
        num_packed = self.num_private[2 * nodes + self.actor[nodes]]
        return (
            join([np.repeat(4 * (view // 2) + view % 2, count), np.repeat(4 * nodes + PACKED, num_packed)], np.int64),
            join([arrays.relation_target[entry], number_within(num_packed)], np.int64),
            join([self.entry_source[entry], *self.packed_source], np.int64),
            join([arrays.relation_weight[entry], np.ones(int(num_packed.sum()))], np.float64),
        )


def lay_out(arrays: PublicArrays, *, landmarks: npt.NDArray[Any], on_level: OnLevel | None = None) -> Layout:
    """Returns where the numbers of a public game stand.

    Args:
        arrays: the game.
        landmarks: nodes that get blocks of their own in place of views: what stands there is their value alone, not
            that of all that views the same cells.
        on_level: called after each level of the tree.
    """
    planner = _Planner(arrays, landmarks)
    planner.open_root()
    num_done = 0
    for nodes in _levels(arrays.depth):
        if num_done:
            planner.follow_edges(nodes)
        decisions = nodes[arrays.actor[nodes] >= 0]
        if decisions.size:
            planner.open_tables(decisions)
        num_done += nodes.size
        if on_level is not None:
            on_level(num_done)
    return _assign_cells(planner)


def _levels(depth: IntArray) -> Iterator[LongArray]:
    """Yields the nodes of each depth, ascending."""
    order = np.argsort(depth, kind="stable")
    yield from np.split(order, np.cumsum(np.bincount(depth))[:-1])


def _find_selections(arrays: PublicArrays) -> npt.NDArray[np.bool_]:
    """Returns `[2N]` whether an edge only selects: every private state below is one (state, action) above, weight 1."""
    count = np.diff(arrays.relation_start)
    segment = np.repeat(np.arange(count.size), count)
    is_selection: npt.NDArray[np.bool_] = count == arrays.num_private.ravel()
    is_selection[segment[arrays.relation_weight != 1.0]] = False
    width = int(arrays.num_actions.max(initial=0)) + 1
    sources = arrays.relation_private.astype(np.int64) * width + (arrays.relation_action + 1)
    for values in (arrays.relation_target, sources):
        is_selection[segment[_find_repeats(segment, values)]] = False
    return is_selection


def _find_repeats(segment: LongArray, values: npt.NDArray[Any]) -> LongArray:
    """Returns places of items whose value occurs more than once in their segment."""
    if values.size == 0 or bool(np.all((np.diff(values) > 0) | (np.diff(segment) > 0))):
        return np.empty(0, np.int64)
    order = np.lexsort((values, segment))
    is_same = (np.diff(segment[order]) == 0) & (np.diff(values[order]) == 0)
    repeats: LongArray = order[1:][is_same]
    return repeats


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """Blocks of one player, level and shape: `order[begin:end]`."""

    player: int
    num_actions: int
    stride: int
    is_masked: bool
    is_given: bool  # the root's
    begin: int
    end: int


def _assign_cells(planner: _Planner) -> Layout:
    """Numbers the cells of every block and writes the order of a sweep down."""
    num_nodes = planner.actor.size
    order, batches = _batch_blocks(planner)
    sizes = planner.block_cells[order]
    first_cell, first_row, cell_start, num_rows = _number_cells(order, sizes, batches, planner.block_cells.size)
    entry_block, target, source, weight = planner.list_entries()
    rank = np.empty(planner.block_cells.size, np.int64)
    rank[order] = np.arange(order.size)
    sort = np.lexsort((source, target, rank[entry_block]))
    entry_block, target, source, weight = entry_block[sort], target[sort], source[sort], weight[sort]
    entry_end = np.cumsum(np.bincount(rank[entry_block], minlength=order.size))

    steps: list[Step] = []
    step_start = [0, 0, 0]
    sources: list[LongArray] = []
    num_sources = 0
    for batch in (batch for batch in batches if not batch.is_given):
        blocks = order[batch.begin : batch.end]
        start = int(first_cell[blocks[0]])
        if batch.num_actions:
            shape = (blocks.size, batch.num_actions, batch.stride, num_sources, int(batch.is_masked))
            steps.append(Step(DECISION, start, *shape, int(first_row[blocks[0]])))
            sources.append(first_cell[planner.block_source[blocks]] + planner.block_source_start[blocks])
            num_sources += blocks.size
        else:
            begin, end = int(entry_end[batch.begin - 1]) if batch.begin else 0, int(entry_end[batch.end - 1])
            run = int(first_cell[blocks[-1]] + planner.block_cells[blocks[-1]]) - start
            steps.append(Step(RELATION, start, end - begin, 0, run, begin, 0, 0))
        step_start[batch.player + 1 :] = [len(steps)] * (2 - batch.player)
    rows = [dataclasses.astuple(step) for step in steps]
    is_table = planner.stride > 0
    tables = 4 * np.arange(num_nodes) + TABLE
    return Layout(
        slot_start=planner.slot_start,
        slot=planner.slot,
        view_cell=(first_cell[planner.view_block] + planner.view_start).astype(np.int32),
        view_extent=planner.view_extent.astype(np.int32),
        table_cell=np.where(is_table, first_cell[tables], -1).astype(np.int32),
        table_row=np.where(is_table, first_row[tables], -1).astype(np.int32),
        stride=planner.stride.astype(np.int32),
        cells=Cells(
            cell_start=cell_start,
            num_rows=num_rows,
            steps=np.array(rows, np.int32).reshape(len(rows), len(dataclasses.fields(Step))),
            step_start=np.array(step_start, np.int32),
            source=join(sources, np.int32),
            entry_source=(source + first_cell[planner.block_source[entry_block]]).astype(np.int32),
            entry_target=(target + first_cell[entry_block]).astype(np.int32),
            entry_weight=weight,
        ),
    )


def _batch_blocks(planner: _Planner) -> tuple[LongArray, list[_Batch]]:
    """Returns blocks by player, level and shape, widest rows first within a level so that vectors stay aligned."""
    arrays = planner.arrays
    blocks = np.flatnonzero(planner.block_cells)
    node, kind = blocks // 4, blocks % 4
    is_table = kind == TABLE
    player = np.where(kind >= PACKED, planner.actor[node], kind - ENTRIES)
    stride = np.where(is_table, planner.stride[node], 0)
    num_actions = np.where(is_table, arrays.num_actions[node], 0)
    is_masked = is_table & _find_masked(arrays)[node]
    is_given = planner.block_source[blocks] == NO_BLOCK
    keys = np.stack([player, planner.block_level[blocks], -stride, num_actions, is_masked, is_given])
    sort = np.lexsort(keys[::-1])
    keys = keys[:, sort]
    ends = [*(np.flatnonzero(np.any(np.diff(keys, axis=1) != 0, axis=0)) + 1).tolist(), blocks.size]
    batches, begin = [], 0
    for end in ends:
        owner, _, minus_stride, actions, masked, given = keys[:, begin].tolist()
        batch = _Batch(
            player=owner,
            num_actions=actions,
            stride=-minus_stride,
            is_masked=bool(masked),
            is_given=bool(given),
            begin=begin,
            end=end,
        )
        batches.append(batch)
        begin = end
    return blocks[sort], batches


def _find_masked(arrays: PublicArrays) -> npt.NDArray[np.bool_]:
    """Returns `[N]` whether some private state of the actor lacks some action."""
    decisions = np.flatnonzero(arrays.actor >= 0)
    num_infosets = arrays.num_private[decisions, arrays.actor[decisions]]
    ends = np.cumsum(num_infosets)
    num_legal = arrays.infoset_start[ends] - arrays.infoset_start[ends - num_infosets]
    is_masked = np.zeros(arrays.actor.size, np.bool_)
    is_masked[decisions] = num_legal != num_infosets * arrays.num_actions[decisions]
    return is_masked


def _number_cells(
    order: LongArray, sizes: LongArray, batches: list[_Batch], num_blocks: int
) -> tuple[LongArray, LongArray, IntArray, int]:
    """Returns the first cell and row of each block, where each player's runs of cells start, and the number of rows."""
    first_cell, first_row = np.full(num_blocks, -1), np.full(num_blocks, -1)
    next_cell = next_row = 0
    cell_start = [0]
    for is_decision in (True, False):
        for player in (0, 1):
            for batch in batches:
                if batch.player != player or (batch.num_actions > 0) != is_decision:
                    continue
                next_cell = -(-next_cell // LANES) * LANES
                blocks, ends = order[batch.begin : batch.end], np.cumsum(sizes[batch.begin : batch.end])
                first_cell[blocks] = next_cell + ends - sizes[batch.begin : batch.end]
                first_row[blocks] = next_row + batch.stride * np.arange(blocks.size)
                next_cell += int(ends[-1])
                next_row += batch.stride * blocks.size
            next_cell = -(-next_cell // LANES) * LANES
            cell_start.append(next_cell)
    cell_start[-1] += LANES  # the last view may be read a vector past its end
    return first_cell, first_row, np.array(cell_start, np.int32), next_row
