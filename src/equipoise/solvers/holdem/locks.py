# SPDX-License-Identifier: Apache-2.0
"""Locks laid out beside a hold'em tree's tables, tile by tile, as sweeps read them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from equipoise.kernels.holdem.arrays import TILE
from equipoise.kernels.holdem.sweeps import HoldemLocks
from equipoise.trees.holdem.locks import LockedHands, NodeLock, compile_locks
from equipoise.trees.holdem.tree import HoldemPlan, HoldemTree

__all__ = ["estimate_lock_bytes", "lay_locks"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def estimate_lock_bytes(tree: HoldemTree | HoldemPlan, locks: Sequence[NodeLock]) -> int:
    """Returns the bytes that locks take laid out, at the most: as if no two locked hands shared a tile."""
    if not locks:
        return 0
    street, num_held = tree.arrays.board_field("street"), tree.arrays.board_field("num_hands")
    total = 4 * (tree.arrays.num_hands // TILE + 1)
    for (node, board), locked in compile_locks(tree.spot, tree.betting, locks).places.items():
        decision = tree.decisions[node]
        held = num_held[street == decision.street, decision.player]
        if board is not None:
            held = np.sort(held)[-1:]  # whichever it is
        num_hands = np.minimum(held, locked.is_locked.sum())
        num_tiles = np.minimum(num_hands, -(-held // TILE))
        entry_bytes = 3 * 4 + 8 * TILE * decision.num_actions
        hand_bytes = (8 + 8) * decision.num_actions  # where tables keep them, and what is kept there
        total += int(num_tiles.sum()) * entry_bytes + int(num_hands.sum()) * hand_bytes
    return total


def lay_locks(tree: HoldemTree, locks: Sequence[NodeLock]) -> HoldemLocks | None:
    """Returns locks laid out, None if there are none; `ConfigError` if the tree merges suits that they tell apart."""
    if not locks:
        return None
    table = compile_locks(tree.spot, tree.betting, locks)
    table.check_symmetries(tree.symmetries)
    layout = _Layout(tree)
    for node in sorted({node for node, _ in table.places}):
        for board in np.flatnonzero(tree.arrays.board_field("street") == tree.decisions[node].street).tolist():
            locked = table.find(node, tree.boards[board])
            if locked is not None:
                layout.add(board, node, locked)
    return layout.finish()


class _Layout:
    """Lists in the making, one entry a decision and board."""

    def __init__(self, tree: HoldemTree) -> None:
        self.tree = tree
        self.entries: list[IntArray] = [np.zeros((0, 4), np.int64)]  # tile, first cell, hands as bits, numbers
        self.strategy: list[FloatArray] = [np.zeros(0)]
        self.cells: list[IntArray] = [np.zeros(0, np.int64)]
        self.probabilities: list[FloatArray] = [np.zeros(0)]

    def add(self, board: int, node: int, locked: LockedHands) -> None:
        decision = self.tree.decisions[node]
        numbers = self.tree.hands[board][decision.player]
        is_locked, strategy = locked.is_locked[numbers], locked.strategy[numbers]
        self.cells.append(self.tree.cells(board, node)[is_locked].ravel())
        self.probabilities.append(strategy[is_locked].ravel())
        num_rows = self.tree.arrays.num_rows(board, decision.player)
        lanes = np.zeros(num_rows, np.bool_)
        lanes[: numbers.size] = is_locked
        padded = np.zeros((num_rows, decision.num_actions))
        padded[: numbers.size] = strategy
        bits = lanes.reshape(-1, TILE) @ (1 << np.arange(TILE))
        tiles = np.flatnonzero(bits)
        entry = np.empty((tiles.size, 4), np.int64)
        entry[:, 0] = tiles + self.tree.arrays.board(board).first_hand[decision.player] // TILE
        entry[:, 1] = decision.first_cell
        entry[:, 2] = bits[tiles]
        entry[:, 3] = TILE * decision.num_actions
        self.entries.append(entry)
        self.strategy.append(padded.reshape(-1, TILE, decision.num_actions)[tiles].transpose(0, 2, 1).ravel())

    def finish(self) -> HoldemLocks:
        entries = np.concatenate(self.entries)
        first = np.cumsum(entries[:, 3]) - entries[:, 3]
        order = np.lexsort((entries[:, 1], entries[:, 0]))
        num_tiles = self.tree.arrays.cards.shape[0] // TILE
        return HoldemLocks(
            tile_start=np.searchsorted(entries[order, 0], np.arange(num_tiles + 1)).astype(np.int32),
            entries=np.column_stack([entries[:, 1], entries[:, 2], first])[order].astype(np.int32),
            strategy=np.concatenate(self.strategy),
            cells=np.concatenate(self.cells),
            probabilities=np.concatenate(self.probabilities),
        )
