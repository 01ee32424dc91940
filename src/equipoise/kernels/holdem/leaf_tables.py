# SPDX-License-Identifier: Apache-2.0
"""What lines that enter the last street pay every pair of hands, for every pair of strategies that go on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.kernels.arrays import check_array, check_range
from equipoise.kernels.calls import check_integer, check_num_threads, check_player
from equipoise.kernels.holdem.arrays import TILE
from equipoise.kernels.holdem.leaves import EntryArray
from equipoise.kernels.holdem.sweeps import AVERAGE_TYPES, HoldemKernel, TableArray

__all__ = ["NUM_KINDS", "LeafLine", "add_leaf_values"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

NUM_KINDS: Final = 3  # of actions: fold, call, raise


class LeafLine(NamedTuple):
    """The part of the last street below one of the lines that enter it, as runs of its nodes and columns."""

    line: int
    first_node_0: int
    end_node_0: int
    first_node_1: int
    end_node_1: int
    first_flat: int  # showdowns
    end_flat: int
    first_fold: int
    end_fold: int

    @property
    def has_decisions(self) -> bool:
        """Returns whether anybody still acts."""
        return self.first_node_0 < self.end_node_0 or self.first_node_1 < self.end_node_1


def add_leaf_values(
    kernel: HoldemKernel,
    sums: TableArray,
    kinds: Sequence[npt.NDArray[np.uint8]],
    weights: Sequence[FloatArray],
    line: LeafLine,
    player: int,
    boards: IntArray,
    rows: Sequence[IntArray],
    *,
    num_threads: int = 1,
    out: EntryArray,
) -> None:
    """Adds into `out` what a line that enters the last street pays a player, summed over boards.

    Args:
        kernel: of a tree with the last street.
        sums: `[C]` what both players play in proportion to.
        kinds: by player, `[cells of the last street]` which kind of action each is, 0 to 2.
        weights: by player, `[choice, kind]` factors on actions, all positive.
        line: which part of the last street.
        player: whose values.
        boards: `[boards]` of the tree, on the last street.
        rows: by player, `[boards, row of out]` where each board has a hand, -1 if it cannot be there.
        num_threads: size of the team.
        out: `[other's choice, other's row, own choice, own row]`, float32 or float64.
    """
    check_player(player, 2)
    check_num_threads(num_threads)
    _check_out(out, weights, player)
    arrays = kernel.arrays
    fields = arrays.street(-1)
    _check_dtype("sums", sums, AVERAGE_TYPES.values())
    check_array("sums", sums, sums.dtype, (arrays.num_cells,))
    check_array("boards", boards, np.int32, (boards.size,))
    check_range("boards", boards, 0, arrays.boards.shape[0])
    check_range("streets of boards", arrays.board_field("street")[boards], len(arrays.streets) - 1, len(arrays.streets))
    num_rows = out.shape[3 if player == 0 else 1], out.shape[1 if player == 0 else 3]
    for each in (0, 1):
        check_array(f"kinds[{each}]", kinds[each], np.uint8, (fields.num_cells[each],))
        check_range(f"kinds[{each}]", kinds[each], 0, NUM_KINDS)
        check_array(f"weights[{each}]", weights[each], np.float64, (weights[each].shape[0], NUM_KINDS))
        check_array(f"rows[{each}]", rows[each], np.int32, (boards.size, num_rows[each]))
        check_range(f"rows[{each}]", rows[each], -1, arrays.board_field("num_hands")[boards, each, None])
    check_integer("line", line.line, 0, fields.num_lines - 1)
    for name, low, high, end in (
        ("nodes of player 0", line.first_node_0, line.end_node_0, fields.num_nodes_0),
        ("nodes of player 1", line.first_node_1, line.end_node_1, fields.num_nodes_1),
        ("showdowns", line.first_flat, line.end_flat, TILE * fields.flat_packs),
        ("folds", line.first_fold, line.end_fold, TILE * fields.fold_packs),
    ):
        check_integer(f"first of {name}", low, 0, end)
        check_integer(f"end of {name}", high, low, end)
    build = getattr(_native, f"holdem_leaf_table_{out.dtype}_{sums.dtype}")
    build(
        kernel.form,
        sums=sums,
        first_kinds=kinds[0],
        second_kinds=kinds[1],
        first_weights=weights[0],
        second_weights=weights[1],
        line=list(line),
        player=player,
        boards=boards,
        first_rows=rows[0],
        second_rows=rows[1],
        num_threads=num_threads,
        out=out,
    )


def _check_out(out: EntryArray, weights: Sequence[FloatArray], player: int) -> None:
    """Raises `ValueError` unless a table of values has an axis for each player's choices and rows."""
    if out.ndim != 4 or (out.shape[0], out.shape[2]) != (weights[1 - player].shape[0], weights[player].shape[0]):
        raise ValueError(f"out must be [other's choice, other's row, own choice, own row], got shape {out.shape}")
    _check_dtype("out", out, (np.dtype(np.float32), np.dtype(np.float64)))
    check_array("out", out, out.dtype, out.shape, is_written=True)


def _check_dtype(name: str, array: npt.NDArray[Any], allowed: Iterable[np.dtype[Any]]) -> None:
    if array.dtype not in allowed:
        raise TypeError(f"{name} must have dtype {' or '.join(str(each) for each in allowed)}, got {array.dtype}")
