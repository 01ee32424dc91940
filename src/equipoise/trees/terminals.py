# SPDX-License-Identifier: Apache-2.0
"""Terminals of a public tree, grouped for evaluation.

A player's values at a terminal are a matrix times the other's reach. Terminals whose matrices are equal up to a scale
(every line that ends in a showdown on one board, say) share one dense matrix and stand together; matrices with few
entries become entries of one list. Nothing here knows a game.
"""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.kernels.public import DenseGroup, TerminalGroups
from equipoise.trees.public_layout import LANES, View, pad

__all__ = ["TerminalPlanner"]

# a dense matrix takes a quarter of a multiply-add per number, an entry of the list a load, an add and a store
DENSE_FACTOR: Final = 8
SAME_DIGITS: Final = 13  # matrices that agree to so many decimals, largest entry one, are one

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(slots=True, eq=False)
class _Shared:
    """A matrix and the terminals that use it."""

    matrix: FloatArray  # [columns, rows]
    members: list[tuple[View, int, View, int, float]]  # own view, its offset, the other's, its offset, scale


class TerminalPlanner:
    """Collects terminals while a tree is built, then groups them."""

    def __init__(self) -> None:
        self.shared: tuple[dict[bytes, _Shared], dict[bytes, _Shared]] = ({}, {})
        self.sparse: tuple[list[tuple[View, View, FloatArray]], list[tuple[View, View, FloatArray]]] = ([], [])

    def add(self, own: View, other: View, matrix: FloatArray) -> None:
        """Records a terminal's matrix `[own private, other private]` for the player of `own`."""
        player = own.block.player
        rows, columns = np.nonzero(matrix)
        if rows.size == 0:
            return
        own_slot, other_slot = own.slot[rows], other.slot[columns]
        low = int(own_slot.min())
        low -= low % LANES
        num_rows = -(-(int(own_slot.max()) + 1 - low) // LANES) * LANES
        first, num_columns = int(other_slot.min()), int(np.ptp(other_slot)) + 1
        if pad(own.extent) < LANES or num_rows * num_columns > DENSE_FACTOR * rows.size:
            self.sparse[player].append((own, other, matrix))
            return
        dense = np.zeros((num_columns, num_rows))
        dense[other_slot - first, own_slot - low] = matrix[rows, columns]
        scale = float(dense.flat[np.argmax(np.abs(dense))])
        normal = dense / scale
        key = repr(dense.shape).encode() + (np.round(normal, SAME_DIGITS) + 0.0).tobytes()  # + 0.0: no negative zeros
        shared = self.shared[player].setdefault(key, _Shared(normal, []))
        shared.members.append((own, low, other, first, scale))

    def group(self) -> TerminalGroups:
        """Returns the groups, once cells are assigned."""
        groups: list[DenseGroup] = []
        matrices: list[FloatArray] = []
        dense: list[tuple[int, int, float]] = []
        matrix_start = 0
        for player in (0, 1):
            for shared in self.shared[player].values():
                columns, rows = shared.matrix.shape
                groups.append(DenseGroup(player, rows, columns, matrix_start, len(dense), len(shared.members)))
                matrices.append(shared.matrix.ravel())
                matrix_start += shared.matrix.size
                dense.extend(
                    sorted(
                        (own.first_cell + low, other.first_cell + first, scale)
                        for own, low, other, first, scale in shared.members
                    )
                )
        sparse = [self._list_entries(player) for player in (0, 1)]
        own, other, scale = (list(column) for column in zip(*dense, strict=True)) if dense else ([], [], [])
        group_rows = [dataclasses.astuple(group) for group in groups]
        return TerminalGroups(
            groups=np.array(group_rows, np.int32).reshape(len(groups), len(dataclasses.fields(DenseGroup))),
            group_start=np.array([0, len(self.shared[0]), len(groups)], np.int32),
            matrix=np.concatenate([np.empty(0), *matrices]),
            dense_own=np.array(own, np.int32),
            dense_other=np.array(other, np.int32),
            dense_scale=np.array(scale, np.float64),
            sparse_start=np.cumsum([0, sparse[0][2].size, sparse[1][2].size]).astype(np.int32),
            sparse_own=np.concatenate([entries[0] for entries in sparse]).astype(np.int32),
            sparse_other=np.concatenate([entries[1] for entries in sparse]).astype(np.int32),
            sparse_weight=np.concatenate([entries[2] for entries in sparse]),
        )

    def _list_entries(self, player: int) -> tuple[IntArray, IntArray, FloatArray]:
        own_cells: list[IntArray] = [np.empty(0, np.int32)]
        other_cells: list[IntArray] = [np.empty(0, np.int32)]
        weights: list[FloatArray] = [np.empty(0)]
        for own, other, matrix in self.sparse[player]:
            rows, columns = np.nonzero(matrix)
            own_cells.append((own.first_cell + own.slot[rows]).astype(np.int32))
            other_cells.append((other.first_cell + other.slot[columns]).astype(np.int32))
            weights.append(matrix[rows, columns])
        return np.concatenate(own_cells), np.concatenate(other_cells), np.concatenate(weights)
