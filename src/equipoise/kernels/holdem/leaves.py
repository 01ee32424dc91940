# SPDX-License-Identifier: Apache-2.0
"""Leaves of a hold'em street: what its lines are worth where both players choose how the hand goes on.

A table says what each pair of hands earns for each pair of choices; players match regrets at the choice, in every hand
alone. Entries are floats, or 16 bits with a unit for each row of a table.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.kernels.arrays import check_array, check_range
from equipoise.kernels.calls import check_integer

__all__ = ["ENTRY_TYPES", "MAX_CHOICES", "EntryArray", "HoldemLeaves", "LeafTables"]

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
EntryArray: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64] | npt.NDArray[np.int16]

MAX_CHOICES: Final = 16  # of one player at a leaf
ENTRY_TYPES: Final = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int16))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeafTables:
    """What the leaves of a street pay; T tables, L leaves, one for each line that leaves the street."""

    tables: IntArray  # [tables, 4] first leaf, number of leaves, choices of player 0, of player 1
    lines: IntArray  # [leaves] line of each leaf, by table
    scale: FloatArray  # [leaves] factor on what the table says
    num_rows: tuple[int, int]  # of each player, in whole tiles
    # by player whose values: for each table [other's choice, other's row, own choice, own row]
    entries: tuple[EntryArray, EntryArray]
    unit: tuple[FloatArray, FloatArray]  # by player: for each table [other's choice, other's row]; [0] for floats

    @property
    def num_bytes(self) -> int:
        """Returns the bytes of the arrays."""
        return sum(array.nbytes for array in (*self.entries, *self.unit, self.tables, self.lines, self.scale))

    def starts(self, player: int) -> tuple[LongArray, LongArray]:
        """Returns `[tables + 1]` where the entries of each table begin, and where its units do."""
        choices = self.tables[:, 2:].astype(np.int64)
        units = choices[:, 1 - player] * self.num_rows[1 - player]
        entries = units * choices[:, player] * self.num_rows[player]
        first, second = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in (entries, units))
        return first, second

    def payoffs(self, player: int, table: int) -> FloatArray:
        """Returns `[other's choice, other's row, own choice, own row]` what a table pays a player."""
        entry, unit = (slice(*start[table : table + 2].tolist()) for start in self.starts(player))
        choices = self.tables[table, 2:].tolist()
        shape = choices[1 - player], self.num_rows[1 - player], choices[player], self.num_rows[player]
        found: FloatArray = self.entries[player][entry].reshape(shape).astype(np.float64)
        if self.unit[player].size:
            found *= self.unit[player][unit].reshape(*shape[:2], 1, 1)
        return found


class HoldemLeaves:
    """Leaves with what players have learned to choose there."""

    def __init__(self, tables: LeafTables) -> None:
        """Checks the tables; nobody has chosen yet."""
        self.tables = tables
        num_tables, num_leaves = tables.tables.shape[0], tables.lines.size
        check_array("tables", tables.tables, np.int32, (num_tables, 4))
        check_array("lines", tables.lines, np.int32, (num_leaves,))
        check_array("scale", tables.scale, np.float64, (num_leaves,))
        check_range("choices", tables.tables[:, 2:], 1, MAX_CHOICES + 1)
        first = np.concatenate([[0], np.cumsum(tables.tables[:, 1])])
        check_range("first leaves of tables", tables.tables[:, 0], first[:-1], first[:-1] + 1)
        check_integer("leaves of all tables", int(first[-1]), num_leaves, num_leaves)
        dtype = tables.entries[0].dtype
        if dtype not in ENTRY_TYPES:
            raise TypeError(f"entries must be {' or '.join(str(each) for each in ENTRY_TYPES)}, got {dtype}")
        self._starts: list[LongArray] = []
        for player in (0, 1):
            entries, units = tables.starts(player)
            check_array(f"entries[{player}]", tables.entries[player], dtype, (int(entries[-1]),))
            has_units = dtype == np.int16
            check_array(f"unit[{player}]", tables.unit[player], np.float64, (int(units[-1]) * has_units,))
        self._starts = [np.ascontiguousarray(tables.starts(player)[kind]) for kind in (0, 1) for player in (0, 1)]
        of_leaf = np.repeat(tables.tables[:, 2:], tables.tables[:, 1], axis=0)  # [leaves, 2]
        ends = np.cumsum(of_leaf, axis=0)
        self.num_choices: tuple[int, int] = int(ends[-1, 0]), int(ends[-1, 1])
        self.first_choice: IntArray = (ends - of_leaf).astype(np.int32)  # [leaves, 2] into [choice, row]
        shapes = [(count, rows) for count, rows in zip(self.num_choices, tables.num_rows, strict=True)]
        self.regret_sum: tuple[FloatArray, FloatArray] = np.zeros(shapes[0]), np.zeros(shapes[1])
        self.strategy_sum: tuple[FloatArray, FloatArray] = np.zeros(shapes[0]), np.zeros(shapes[1])

    @staticmethod
    def none() -> Any:
        """Returns what stands for no leaves."""
        return _native.HoldemLeaves()

    def reset(self) -> None:
        """Forgets all choices."""
        for table in (*self.regret_sum, *self.strategy_sum):
            table[:] = 0.0

    def check(self, num_boards: int, num_rows: tuple[int, int], num_columns: int) -> None:
        """Raises `ValueError` unless leaves belong to a street with one board, such rows and such columns of lines."""
        check_integer("boards of a tree with leaves", num_boards, 1, 1)
        for player in (0, 1):
            check_integer(f"rows of player {player}", self.tables.num_rows[player], num_rows[player], num_rows[player])
        check_range("lines of leaves", self.tables.lines, 0, num_columns)
        if np.unique(self.tables.lines).size != self.tables.lines.size:
            raise ValueError("lines of leaves must be different, got one twice")

    def bind(self) -> Any:
        """Returns the leaves as the native module reads them."""
        tables = self.tables
        places = np.ascontiguousarray(np.column_stack([tables.lines, self.first_choice]), np.int32)
        arrays: dict[str, npt.NDArray[Any]] = {
            "tables": tables.tables,
            "leaves": places,
            "scale": tables.scale,
            "num_rows": np.array(tables.num_rows, np.int32),
            "num_choices": np.array(self.num_choices, np.int32),
        }
        for player in (0, 1):
            arrays |= {
                f"entries_{player}": tables.entries[player],
                f"first_entry_{player}": self._starts[player],
                f"first_unit_{player}": self._starts[2 + player],
                f"unit_{player}": tables.unit[player],
                f"regret_sum_{player}": self.regret_sum[player],
                f"strategy_sum_{player}": self.strategy_sum[player],
            }
        return getattr(_native, f"holdem_leaves_{tables.entries[0].dtype}")(arrays)
