# SPDX-License-Identifier: Apache-2.0
"""Sweeps over hold'em trees, board by board: iterations, values and best responses."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.kernels.arrays import check_array, check_range, check_segments
from equipoise.kernels.calls import OneCaller, check_integer, check_num_threads
from equipoise.kernels.holdem.arrays import (
    TILE,
    BoardFields,
    HoldemArrays,
    HoldemShape,
    StreetFields,
    check_betting,
    check_boards,
    check_hands,
)
from equipoise.kernels.holdem.leaves import HoldemLeaves
from equipoise.kernels.public_hooks import RootGate
from equipoise.kernels.sweeps import NUM_DISCOUNT_COLUMNS, KernelRule

__all__ = [
    "HoldemGate",
    "HoldemKernel",
    "HoldemLocks",
    "HoldemTables",
    "SubstituteWeights",
]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
ExponentArray = npt.NDArray[np.uint8]
TableArray: TypeAlias = (
    npt.NDArray[np.float32] | npt.NDArray[np.float64] | npt.NDArray[np.int16] | npt.NDArray[np.uint16]
)

AVERAGE_TYPES: Final[dict[np.dtype[Any], np.dtype[Any]]] = {  # of averages by the type of regrets
    np.dtype(np.float32): np.dtype(np.float32),
    np.dtype(np.float64): np.dtype(np.float64),
    np.dtype(np.int16): np.dtype(np.uint16),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemTables:
    """The tables of a run over cells: by board, player, tile, (decision, action), hand of the tile.

    Rows, R of them, are by board, player, tile, decision, hand of the tile. Tables of 16 bits have exponents over rows.
    Proportions within a row need none; its numbers are cells times 2 to the (exponent - 127), in units of 2**-14
    (2**-15 for averages). What a rule does not need is empty.
    """

    regret_sum: TableArray  # [C]
    strategy_sum: TableArray  # [C] weighted by own reach; without sign if regrets are int16
    last_regret: TableArray  # [C], or [0] for rules that are not optimistic
    regret_exponent: ExponentArray  # [R], or [0] for tables of floats
    strategy_exponent: ExponentArray
    last_exponent: ExponentArray
    scale: TableArray  # [R] only for Hedge: what its step is divided by, or at least
    step: TableArray  # [R] likewise: eta of the strategy that the next iteration plays
    value_moments: TableArray  # [R, 2] mean and sum of squared deviations of v(I), only when the variance is tracked

    @classmethod
    def shapes(
        cls, arrays: HoldemShape, dtype: npt.DTypeLike, rule: KernelRule
    ) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Returns the shape and dtype of every table, by its name."""
        numbers, num_cells, num_rows = np.dtype(dtype), arrays.num_cells, arrays.num_node_rows
        exponent, num_exponents = np.dtype(np.uint8), num_rows if numbers == np.int16 else 0
        has_last, has_scale = int(rule.needs_last_regret), int(rule.needs_scale)
        return {
            "regret_sum": ((num_cells,), numbers),
            "strategy_sum": ((num_cells,), AVERAGE_TYPES[numbers]),
            "last_regret": ((num_cells * has_last,), numbers),
            "regret_exponent": ((num_exponents,), exponent),
            "strategy_exponent": ((num_exponents,), exponent),
            "last_exponent": ((num_exponents * has_last,), exponent),
            "scale": ((num_rows * has_scale,), numbers),
            "step": ((num_rows * has_scale,), numbers),
            "value_moments": ((num_rows * int(rule.tracks_variance), 2), numbers),
        }

    @classmethod
    def allocate(cls, arrays: HoldemShape, dtype: npt.DTypeLike, rule: KernelRule) -> Self:
        """Returns the tables of a run that has not begun; scales are for the caller to fill."""
        return cls(**{name: np.zeros(*field) for name, field in cls.shapes(arrays, dtype, rule).items()})

    @classmethod
    def estimate_bytes(cls, arrays: HoldemShape, dtype: npt.DTypeLike, rule: KernelRule) -> int:
        """Returns the bytes that `allocate` takes."""
        return sum(math.prod(shape) * kind.itemsize for shape, kind in cls.shapes(arrays, dtype, rule).values())


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemLocks:
    """Decisions at which some hands play what is given, by tile of hands."""

    tile_start: IntArray  # [X / TILE + 1] first entry of each tile
    entries: IntArray  # [K, 3] first cell of the decision (ascending within a tile), hands as bits, first number
    strategy: FloatArray  # numbers: [A, TILE] for each entry

    @property
    def num_bytes(self) -> int:
        """Returns the bytes of the arrays."""
        return self.tile_start.nbytes + self.entries.nbytes + self.strategy.nbytes


class SubstituteWeights(NamedTuple):
    """How substitute values become the tables of a run."""

    positive: float  # factor on what an action is worth beyond its information state
    negative: float  # the same where it is worth less
    average: float  # factor on own reach
    trace: float  # what regrets of exactly zero become
    floors_regrets: bool  # regrets below zero are forgotten


NO_WEIGHTS: Final = SubstituteWeights(0.0, 0.0, 0.0, 0.0, False)  # where no tables are written


class HoldemGate:
    """A gate through which one player's hands enter a tree, in place of its range; rows are those of the root."""

    def __init__(self, gate: RootGate) -> None:
        """Opens a gate that has not begun; padding must have no mass."""
        self.gate = gate
        self.reach: FloatArray = gate.first_reach()  # [rows] what enters next

    @staticmethod
    def none() -> Any:
        """Returns what stands for no gate."""
        empty = np.zeros(0)
        return _native.HoldemGate(-1, 0, 1.0, [empty] * 4, np.zeros((2, 0)), np.zeros(0))

    def reset(self) -> None:
        """Begins the gate again."""
        self.gate.regret[:] = 0.0
        self.reach[:] = self.gate.first_reach()

    def bind(self, arrays: HoldemArrays) -> Any:
        """Returns the gate as the native module reads it."""
        check_array("mass", self.gate.mass, np.float64, (arrays.num_rows(0, self.gate.player),))
        gate = self.gate
        numbers = [gate.mass, gate.leave, gate.deviation, gate.prior]
        return _native.HoldemGate(gate.player, int(gate.kind), gate.share, numbers, gate.regret, self.reach)


class HoldemKernel:
    """A hold'em tree as the native module reads it.

    Paper: Johanson, Waugh, Bowling & Zinkevich 2011, "Accelerating Best Response Calculation in Large Extensive
        Games", IJCAI, for showdowns in one walk over sorted hands and for merging suits.
    Symbols: a player's reach at a betting line -> slots of a tile of hands; values of terminals -> columns.
    Departs from the paper: all terminals of a board are evaluated together, columns of terminals innermost.
    Checked by: tests/solvers/test_holdem.py, tests/trees/test_holdem.py.
    """

    def __init__(
        self, arrays: HoldemArrays, locks: HoldemLocks | None = None, leaves: HoldemLeaves | None = None
    ) -> None:
        """Checks and binds a tree; with leaves it is one street, and they say what its lines are worth."""
        self.arrays, self.locks, self.leaves = arrays, locks, leaves
        num_boards, num_hands = arrays.boards.shape[0], arrays.cards.shape[0]
        check_array("boards", arrays.boards, np.int64, (num_boards, len(BoardFields._fields)))
        check_array("cards", arrays.cards, np.uint8, (num_hands, 2))
        integers = {
            "streets": (arrays.streets, (arrays.streets.shape[0], len(StreetFields._fields))),
            "nodes": (arrays.nodes, (int(arrays.streets[:, 4:6].sum()), 3)),
            "flat_slot": (arrays.flat_slot, (2 * TILE * int(arrays.streets[:, 6].sum()),)),
            "fold_slot": (arrays.fold_slot, (2 * TILE * int(arrays.streets[:, 7].sum()),)),
            "strength": (arrays.strength, (num_hands,)),
            "same_hand": (arrays.same_hand, (num_hands,)),
            "parent_row": (arrays.parent_row, (num_hands,)),
            "value_row": (arrays.value_row, (num_hands,)),
        }
        if locks is not None:
            integers["tile_start"] = locks.tile_start, (num_hands // TILE + 1,)
            integers["entries"] = locks.entries, (locks.entries.shape[0], 3)
        numbers = {
            "flat_scale": (arrays.flat_scale, arrays.flat_slot.shape),
            "fold_scale": (arrays.fold_scale, arrays.fold_slot.shape),
            "root_reach[0]": (arrays.root_reach[0], (arrays.num_rows(0, 0),)),
            "root_reach[1]": (arrays.root_reach[1], (arrays.num_rows(0, 1),)),
            "flat_rake": (arrays.flat_rake, (TILE * int(arrays.streets[-1, 6]) if arrays.flat_rake.size else 0,)),
        }
        if locks is not None:
            numbers["strategy"] = locks.strategy, (locks.strategy.size,)
        for name, (array, shape) in integers.items():
            check_array(name, array, np.int32, shape)
        for name, (values, shape) in numbers.items():
            check_array(name, values, np.float64, shape)
        check_betting(arrays, has_leaves=leaves is not None)
        if leaves is not None:
            fields = StreetFields(*arrays.streets[0].tolist())
            num_rows = arrays.num_rows(0, 0), arrays.num_rows(0, 1)
            leaves.check(num_boards, num_rows, TILE * fields.flat_packs)
        check_boards(arrays)
        check_hands(arrays)
        if locks is not None:
            check_segments("tile_start", locks.tile_start, locks.entries.shape[0])
            check_range("hands of locks", locks.entries[:, 1], 1, 1 << TILE)
            check_range("first numbers of locks", locks.entries[:, 2], 0, max(locks.strategy.size - TILE, 0) + 1)
        self._one_caller = OneCaller("solver")
        self.form = _native.HoldemForm(
            arrays.boards,
            arrays.cards,
            [array for array, _ in integers.values()],
            [values for values, _ in numbers.values()],
        )

    def iterate(
        self,
        rule: KernelRule,
        discounts: FloatArray,
        tables: HoldemTables,
        *,
        first_t: int,
        is_alternating: bool,
        num_threads: int,
        gate: HoldemGate | None = None,
    ) -> None:
        """Runs one iteration per row of `discounts` `[B, 6]` (no thresholds); updates `tables` and `gate` in place."""
        check_array("discounts", discounts, np.float64, (discounts.shape[0], NUM_DISCOUNT_COLUMNS))
        dtype = tables.regret_sum.dtype
        _check_dtype(dtype, AVERAGE_TYPES)
        if rule.needs_scale and dtype == np.int16:
            raise ValueError("Hedge's scales and steps are floats, got tables of int16")
        for name, (shape, kind) in HoldemTables.shapes(self.arrays, dtype, rule).items():
            check_array(name, getattr(tables, name), kind, shape, is_written=True)
        check_num_threads(num_threads)
        bound = HoldemGate.none() if gate is None else gate.bind(self.arrays)
        leaves = HoldemLeaves.none() if self.leaves is None else self.leaves.bind()
        with self._one_caller:
            getattr(_native, f"holdem_iterate_{dtype}")(
                self.form,
                *rule.native_arguments,
                discounts,
                first_t,
                is_alternating,
                num_threads,
                tables.regret_sum,
                tables.strategy_sum,
                tables.last_regret,
                tables.regret_exponent,
                tables.strategy_exponent,
                tables.last_exponent,
                tables.scale,
                tables.step,
                tables.value_moments,
                bound,
                leaves,
            )

    def root_values(
        self, sums: TableArray, *, is_best_response: bool, respects_locks: bool = True, num_threads: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Returns `[rows]` each player's counterfactual values at the root, in double whatever the table's dtype.

        Args:
            sums: `[C]` what both players play in proportion to, uniformly where there is nothing.
            is_best_response: whether each player answers the other's strategy best instead of playing its own.
            respects_locks: whether best responses keep to the player's own locks; strategies always do.
            num_threads: size of the team.
        """
        self._check_sums(sums)
        check_num_threads(num_threads)
        values = np.empty(self.arrays.num_rows(0, 0)), np.empty(self.arrays.num_rows(0, 1))
        evaluate = getattr(_native, f"holdem_evaluate_{sums.dtype}")
        leaves = HoldemLeaves.none() if self.leaves is None else self.leaves.bind()
        evaluate(self.form, is_best_response, respects_locks, sums, num_threads, leaves, *values)
        return values

    def row_values(self, sums: TableArray, *, num_threads: int = 1) -> npt.NDArray[np.float32]:
        """Returns `[R]` what each hand's best response to the other's strategy is worth at each decision.

        Args:
            sums: `[C]` of floats; what both players play in proportion to.
            num_threads: size of the team.
        """
        out = np.zeros(self.arrays.num_node_rows, np.float32)
        self._substitute(sums, row_value=out, num_threads=num_threads)
        return out

    def substitute(
        self, sums: TableArray, bound: npt.NDArray[np.float32], factor: float, *, num_threads: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Returns `[rows]` each player's substitute values at the root, see `SweepKernel.substitute`.

        Args:
            sums: `[C]` of floats; what both players play in proportion to.
            bound: `[R]` budgets up to a factor.
            factor: of the budgets.
            num_threads: size of the team.
        """
        return self._substitute(sums, bound=bound, factor=factor, num_threads=num_threads)

    def write_substitutes(
        self,
        bound: npt.NDArray[np.float32],
        factor: float,
        weights: SubstituteWeights,
        tables: HoldemTables,
        *,
        num_threads: int = 1,
    ) -> tuple[FloatArray, FloatArray]:
        """Overwrites regrets and averages with those of a warm start from the averages; returns the root's values.

        Averages keep their proportions, in sequence form, wherever own reach has any.

        Args:
            bound: `[R]` budgets up to a factor.
            factor: of the budgets.
            weights: by which values and reach become regrets and averages.
            tables: of floats.
            num_threads: size of the team.
        """
        return self._substitute(
            tables.strategy_sum, bound=bound, factor=factor, weights=weights, tables=tables, num_threads=num_threads
        )

    def _substitute(
        self,
        sums: TableArray,
        *,
        bound: npt.NDArray[np.float32] | None = None,
        factor: float = 0.0,
        row_value: npt.NDArray[np.float32] | None = None,
        weights: SubstituteWeights = NO_WEIGHTS,
        tables: HoldemTables | None = None,
        num_threads: int,
    ) -> tuple[FloatArray, FloatArray]:
        self._check_sums(sums)
        _check_dtype(sums.dtype, (np.dtype(np.float32), np.dtype(np.float64)))
        check_num_threads(num_threads)
        nothing, num_rows = np.zeros(0, np.float32), (self.arrays.num_node_rows,)
        if bound is not None:
            check_array("bound", bound, np.float32, num_rows)
        if not 0 <= factor < math.inf:
            raise ValueError(f"factor must be at least 0 and finite, got {factor}")
        regrets, averages = np.zeros(0, sums.dtype), np.zeros(0, sums.dtype)
        if tables is not None:
            regrets, averages = tables.regret_sum, tables.strategy_sum
            for name, table in (("regret_sum", regrets), ("strategy_sum", averages)):
                check_array(name, table, sums.dtype, (self.arrays.num_cells,), is_written=True)
        values = np.empty(self.arrays.num_rows(0, 0)), np.empty(self.arrays.num_rows(0, 1))
        with self._one_caller:
            getattr(_native, f"holdem_substitute_{sums.dtype}")(
                self.form,
                sums,
                nothing if bound is None else bound,
                factor,
                weights.positive,
                weights.negative,
                weights.average,
                weights.trace,
                weights.floors_regrets,
                num_threads,
                nothing if row_value is None else row_value,
                regrets,
                averages,
                *values,
            )
        return values

    def slot_values(
        self,
        sums: TableArray,
        board: int,
        line: int,
        reach: tuple[FloatArray, FloatArray],
        *,
        num_threads: int = 1,
    ) -> tuple[FloatArray, FloatArray]:
        """Returns `[rows, slots]` each player's counterfactual values of every slot of a board's street.

        Args:
            sums: `[C]` what both players play in proportion to below.
            board: index of the board.
            line: of those that enter its street.
            reach: `[rows]` of each player on that line; other lines are not reached.
            num_threads: size of the team.
        """
        self._check_sums(sums)
        check_integer("board", board, 0, self.arrays.boards.shape[0] - 1)
        check_num_threads(num_threads)
        fields = StreetFields(*self.arrays.streets[int(self.arrays.boards[board, 0])].tolist())
        check_integer("line", line, 0, fields.num_lines - 1)
        out = []
        for player, num_cells in enumerate((fields.num_cells_0, fields.num_cells_1)):
            num_rows = self.arrays.num_rows(board, player)
            check_array(f"reach[{player}]", reach[player], np.float64, (num_rows,))
            out.append(np.zeros((num_rows // TILE, fields.num_lines + num_cells, TILE)))
        slots = getattr(_native, f"holdem_slots_{sums.dtype}")
        slots(self.form, board, line, sums, *reach, num_threads, out[0].reshape(-1), out[1].reshape(-1))
        first, second = (tiles.transpose(0, 2, 1).reshape(-1, tiles.shape[1]) for tiles in out)
        return first, second

    def _check_sums(self, sums: TableArray) -> None:
        _check_dtype(sums.dtype, AVERAGE_TYPES.values())
        check_array("sums", sums, sums.dtype, (self.arrays.num_cells,))


def _check_dtype(dtype: np.dtype[np.generic], allowed: Iterable[np.dtype[Any]]) -> None:
    # another one would be converted into a copy, and what is written would be lost
    if dtype not in allowed:
        raise TypeError(f"tables must have dtype {' or '.join(str(each) for each in allowed)}, got {dtype}")
