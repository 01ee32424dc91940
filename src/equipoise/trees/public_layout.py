# SPDX-License-Identifier: Apache-2.0
"""Where a public tree's numbers stand in memory, and in which order a sweep walks them.

A *block* is a run of cells that holds one number per private state: a player's reach of a public state, and its
counterfactual value. Most edges do not need one of their own: an edge that only selects private states, or passes an
action's row on, is a *view* of the block above, so that reach and values cross it for free. What is left for a sweep
are decisions (an [A, H] block each) and relations that deal, merge or weigh. Cells of decisions come first: tables
(regrets, averages) exist for those alone. Nothing here knows a game.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.kernels.public import DECISION, RELATION, Cells, Step

__all__ = ["LANES", "Block", "BlockPlanner", "View", "pad"]

LANES: Final = 4  # doubles in one vector register
SPARE_FACTOR: Final = 2  # a decision is packed anew when its rows would be this many times longer than needed

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


def pad(count: int) -> int:
    """Returns the length of a row that holds `count` numbers: whole vectors, except for one or two.

    >>> [pad(count) for count in (1, 2, 3, 6, 8)]
    [1, 2, 4, 8, 8]
    """
    return count if count <= 2 else -(-count // LANES) * LANES


@dataclasses.dataclass(slots=True, eq=False)
class Block:
    """Cells of one player that are written together."""

    player: int
    level: int  # longest chain of blocks above: a sweep may do a level's blocks in any order
    num_cells: int
    source: View | None = None  # where a decision's reach comes from, or a relation's
    num_actions: int = 0  # decisions alone
    stride: int = 0  # decisions alone: cells of a row
    is_masked: bool = False  # decisions alone: some private state lacks some action
    entry_source: IntArray = dataclasses.field(default_factory=lambda: np.empty(0, np.int32))  # within source's block
    entry_target: IntArray = dataclasses.field(default_factory=lambda: np.empty(0, np.int32))  # within this block
    entry_weight: FloatArray = dataclasses.field(default_factory=lambda: np.empty(0))
    first_cell: int = -1  # assigned at the end
    first_row: int = -1  # likewise; decisions alone


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class View:
    """A run of cells inside a block, and where a node's private states stand in it."""

    block: Block
    start: int  # within the block
    extent: int  # cells from the first to the last private state
    slot: IntArray  # [H] cell of each private state, from `start`

    @property
    def first_cell(self) -> int:
        """Returns the number of the view's first cell, once cells are assigned."""
        return self.block.first_cell + self.start


class BlockPlanner:
    """Makes blocks and views while a tree is built, then numbers their cells."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []

    def open_root(self, player: int, num_private: int) -> View:
        """Returns a block for the private states of the tree's root; its reach is given from outside."""
        block = self._add(Block(player, 0, pad(num_private)))
        return View(block, 0, num_private, np.arange(num_private, dtype=np.int32))

    def open_decision(self, view: View, num_actions: int, *, is_masked: bool) -> tuple[View, Block]:
        """Returns the view that a decision reads, packed anew if it had many gaps, and its [A, H] block."""
        num_private = view.slot.size
        # threads own blocks: a row must not reach past the block that it reads
        is_torn = view.start + pad(view.extent) > view.block.num_cells
        if is_torn or pad(view.extent) > SPARE_FACTOR * pad(num_private):
            targets = np.arange(num_private, dtype=np.int32)
            view = self._relate(view, view.slot, targets, np.ones(num_private), num_private)
        stride = pad(view.extent)
        block = Block(view.block.player, view.block.level + 1, num_actions * stride, source=view)
        block.num_actions, block.stride, block.is_masked = num_actions, stride, is_masked
        return view, self._add(block)

    def follow(self, view: View, slot: IntArray, target: IntArray, weight: FloatArray, num_private: int) -> View:
        """Returns the view of a child whose private state `target[k]` gets what stands in `slot[k]` of `view`."""
        chosen = slot.tolist()
        is_selection = (
            target.size == num_private
            and len(set(target.tolist())) == num_private
            and len(set(chosen)) == num_private
            and set(weight.tolist()) == {1.0}
        )
        if not is_selection:
            return self._relate(view, slot, target, weight, num_private)
        slots = np.empty(num_private, np.int32)
        slots[target] = slot
        low, extent = min(chosen), max(chosen) - min(chosen) + 1
        aligned = low - low % LANES
        if pad(extent + low - aligned) <= pad(extent):
            low, extent = aligned, extent + low - aligned
        return View(view.block, view.start + low, extent, slots - np.int32(low))

    def _relate(self, view: View, slot: IntArray, target: IntArray, weight: FloatArray, num_private: int) -> View:
        block = Block(view.block.player, view.block.level + 1, pad(num_private), source=view)
        order = np.lexsort((slot, target))
        block.entry_source = (slot[order] + view.start).astype(np.int32)
        block.entry_target = target[order].astype(np.int32)
        block.entry_weight = np.asarray(weight, np.float64)[order]
        self._add(block)
        return View(block, 0, num_private, np.arange(num_private, dtype=np.int32))

    def _add(self, block: Block) -> Block:
        self.blocks.append(block)
        return block

    def assign_cells(self) -> Cells:
        """Numbers the cells of every block and returns the order of a sweep."""
        batches = [_batch_blocks(self.blocks, player) for player in (0, 1)]
        cell_start, num_rows = _number_cells(batches)
        steps: list[Step] = []
        step_start = [0]
        source: list[int] = []
        entries: list[Block] = []
        num_entries = 0
        for player in batches:
            for batch in player:
                first = batch[0]
                if first.source is None:
                    continue
                if first.num_actions:
                    shape = (len(batch), first.num_actions, first.stride, len(source), int(first.is_masked))
                    steps.append(Step(DECISION, first.first_cell, *shape, first.first_row))
                    source.extend(block.source.first_cell for block in batch if block.source)
                else:
                    count = sum(block.entry_weight.size for block in batch)
                    run = batch[-1].first_cell + batch[-1].num_cells - first.first_cell
                    steps.append(Step(RELATION, first.first_cell, count, 0, run, num_entries, 0, 0))
                    entries.extend(batch)
                    num_entries += count
            step_start.append(len(steps))
        rows = [dataclasses.astuple(step) for step in steps]
        return Cells(
            cell_start=cell_start,
            num_rows=num_rows,
            steps=np.array(rows, np.int32).reshape(len(rows), len(dataclasses.fields(Step))),
            step_start=np.array(step_start, np.int32),
            source=np.array(source, np.int32),
            entry_source=_join([b.entry_source + b.source.block.first_cell for b in entries if b.source], np.int32),
            entry_target=_join([block.entry_target + block.first_cell for block in entries], np.int32),
            entry_weight=_join([block.entry_weight for block in entries], np.float64),
        )


def _number_cells(batches: list[list[list[Block]]]) -> tuple[IntArray, int]:
    """Numbers the cells and rows of blocks; returns where each player's runs start, and the number of rows."""
    next_cell = next_row = 0
    cell_start = [0]
    for is_decision in (True, False):
        for player in batches:
            for batch in (batch for batch in player if (batch[0].num_actions > 0) == is_decision):
                next_cell = -(-next_cell // LANES) * LANES
                for block in batch:
                    block.first_cell, block.first_row = next_cell, next_row
                    next_cell += block.num_cells
                    next_row += block.stride
            next_cell = -(-next_cell // LANES) * LANES
            cell_start.append(next_cell)
    cell_start[-1] += LANES  # the last view may be read a vector past its end
    return np.array(cell_start, np.int32), next_row


def _batch_blocks(blocks: list[Block], player: int) -> list[list[Block]]:
    """Returns a player's blocks by level and shape, widest rows first within a level so that vectors stay aligned."""

    def shape(block: Block) -> tuple[int, ...]:
        return (block.level, -block.stride, block.num_actions, block.is_masked, block.source is None)

    batches: dict[tuple[int, ...], list[Block]] = {}
    for block in blocks:
        if block.player == player:
            batches.setdefault(shape(block), []).append(block)
    return [batches[key] for key in sorted(batches)]


def _join(parts: list[npt.NDArray[Any]], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Returns the concatenation of parts, empty if there are none."""
    return np.concatenate([np.empty(0, dtype), *parts]).astype(dtype, copy=False)
