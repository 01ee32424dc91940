# SPDX-License-Identifier: Apache-2.0
"""Sweeps over hold'em trees, board by board: iterations, values and best responses."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterable
from typing import Any, ClassVar, Final, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import arrays_by_name, check_array, check_range, check_segments
from equipoise.kernels.calls import check_finished, check_integer, check_num_threads
from equipoise.kernels.frontier import Frontier
from equipoise.kernels.gates import RootGate, gate_arrays
from equipoise.kernels.holdem.arrays import (
    TILE,
    BoardFields,
    HoldemArrays,
    HoldemShape,
    StreetFields,
    check_betting,
    check_boards,
    check_hands,
    normalize_cells,
)
from equipoise.kernels.holdem.leaves import HoldemLeaves
from equipoise.kernels.rules import KernelRule, check_discounts
from equipoise.kernels.turns import LastBound, OneCaller
from equipoise.kernels.vector import (
    NO_HOOKS,
    Hooks,
    Reaches,
    RunTables,
    VectorKernel,
    WatchedValues,
    check_root_reach,
)

__all__ = [
    "QUICK_TYPES",
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


QUICK_TYPES: Final = (np.dtype(np.float32), np.dtype(np.uint16))  # of tables that are evaluated in float32 on demand


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemTables(RunTables):
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
    cells: npt.NDArray[np.int64]  # where tables keep what is locked
    probabilities: FloatArray  # of those cells

    @property
    def num_bytes(self) -> int:
        """Returns the bytes of the arrays."""
        return sum(getattr(self, field.name).nbytes for field in dataclasses.fields(self))


class SubstituteWeights(NamedTuple):
    """How substitute values become the tables of a run."""

    positive: float  # factor on what an action is worth beyond its information state
    negative: float  # the same where it is worth less
    average: float  # factor on own reach
    trace: float  # what regrets of exactly zero become
    floors_regrets: bool  # regrets below zero are forgotten


NO_WEIGHTS: Final = SubstituteWeights(0.0, 0.0, 0.0, 0.0, False)  # where no tables are written


class HoldemKernel(VectorKernel):
    """A hold'em tree as the native module reads it.

    Paper: Johanson, Waugh, Bowling & Zinkevich 2011, "Accelerating Best Response Calculation in Large Extensive
        Games", IJCAI, for showdowns in one walk over sorted hands and for merging suits.
    Symbols: a player's reach at a betting line -> slots of a tile of hands; values of terminals -> columns.
    Departs from the paper: all terminals of a board are evaluated together, columns of terminals innermost.
    Checked by: tests/solvers/test_holdem.py, tests/trees/test_holdem.py.
    """

    num_players = 2
    dtypes: ClassVar[tuple[np.dtype[Any], ...]] = tuple(np.dtype(each) for each in (np.float32, np.float64, np.int16))

    def __init__(
        self,
        arrays: HoldemArrays,
        locks: HoldemLocks | None = None,
        leaves: HoldemLeaves | Frontier | None = None,
    ) -> None:
        """Checks and binds a tree; with leaves it is one street, and they say what its lines are worth."""
        if isinstance(leaves, Frontier):
            # values of lines come as they are, whatever chance follows
            arrays = dataclasses.replace(arrays, flat_scale=np.where(arrays.flat_scale != 0, 1.0, 0.0))
        self.arrays, self.locks, self.leaves = arrays, locks, leaves
        first = arrays.street(0)
        self._num_lines = 0 if first.is_last else TILE * first.flat_packs  # that leave the first street, and padding
        num_boards, num_hands = arrays.boards.shape[0], arrays.cards.shape[0]
        check_array("boards", arrays.boards, np.int64, (num_boards, len(BoardFields._fields)))
        check_array("cards", arrays.cards, np.uint8, (num_hands, 2))
        integers = {
            "streets": (arrays.streets, (arrays.streets.shape[0], len(StreetFields._fields))),
            "nodes": (arrays.nodes, (int(arrays.street_field("num_nodes").sum()), 3)),
            "flat_slot": (arrays.flat_slot, (2 * TILE * int(arrays.street_field("flat_packs").sum()),)),
            "fold_slot": (arrays.fold_slot, (2 * TILE * int(arrays.street_field("fold_packs").sum()),)),
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
            "root_reach_0": (arrays.root_reach[0], (arrays.num_rows(0, 0),)),
            "root_reach_1": (arrays.root_reach[1], (arrays.num_rows(0, 1),)),
            "flat_rake": (arrays.flat_rake, (TILE * arrays.street(-1).flat_packs if arrays.flat_rake.size else 0,)),
        }
        if locks is not None:
            numbers["strategy"] = locks.strategy, (locks.strategy.size,)
        for name, (array, shape) in integers.items():
            check_array(name, array, np.int32, shape)
        for name, (values, shape) in numbers.items():
            check_array(name, values, np.float64, shape)
        check_betting(arrays, has_leaves=leaves is not None)
        if leaves is not None:
            num_rows = arrays.num_rows(0, 0), arrays.num_rows(0, 1)
            if isinstance(leaves, HoldemLeaves):
                leaves.check(num_boards, num_rows, TILE * first.flat_packs)
            else:
                leaves.check(TILE * first.flat_packs * max(num_rows))
        check_boards(arrays)
        check_hands(arrays)
        if locks is not None:
            check_segments("tile_start", locks.tile_start, locks.entries.shape[0])
            check_range("hands of locks", locks.entries[:, 1], 1, 1 << TILE)
            check_range("first numbers of locks", locks.entries[:, 2], 0, max(locks.strategy.size - TILE, 0) + 1)
        self._one_caller = OneCaller("solver")
        named: dict[str, npt.NDArray[Any]] = {"boards": arrays.boards, "cards": arrays.cards}
        named |= {name: array for name, (array, _) in integers.items()}
        named |= {name: values for name, (values, _) in numbers.items()}
        self.form = _native.HoldemForm(named)
        self._steps: LastBound[Any] = LastBound()
        self._bound_leaves = self._bind_leaves()
        self._pauses = _native.HoldemPauses()  # where iterations were interrupted; evaluations are only given up

    @classmethod
    def check_run(
        cls, rule: KernelRule, dtype: npt.DTypeLike, *, name: str = "of this kind", threshold: float = 0.0
    ) -> None:
        """Raises `ConfigError` if tables of this dtype cannot hold a run of the rule."""
        super().check_run(rule, dtype)
        if rule.needs_scale and np.dtype(dtype) == np.int16:
            raise ConfigError(f"rule {name} needs dtype float32 or float64: its steps are floats, got int16")
        if threshold > 0:
            raise ConfigError(
                f"hold'em trees play whatever is positive, got rule {name}; a history tree has thresholds"
            )

    def allocate_tables(
        self, rule: KernelRule, dtype: npt.DTypeLike = np.float32, scale: FloatArray | None = None
    ) -> HoldemTables:
        """Returns the tables of a run that has not begun."""
        tables = HoldemTables.allocate(self.arrays, dtype, rule)
        if scale is not None:
            tables.scale[:] = scale
        return tables

    def begin(self, tables: RunTables, *, root_reach: Reaches | None = None, gate: RootGate | None = None) -> None:
        """Puts locked strategies where averages are read."""
        self.write_locks(tables)

    def write_locks(self, tables: RunTables) -> None:
        """Puts locked strategies where averages are read; iterations leave them there."""
        self.lock_sums(tables.strategy_sum)

    def lock_sums(self, averages: npt.NDArray[Any]) -> None:
        """Overwrites sums `[C]` with what locks say, where they say anything."""
        if self.locks is None:
            return
        probabilities = self.locks.probabilities
        if averages.dtype == np.uint16:  # only proportions count
            probabilities = np.rint(probabilities * np.iinfo(np.uint16).max)
        averages[self.locks.cells] = probabilities

    def iterate(
        self,
        rule: KernelRule,
        discounts: FloatArray,
        tables: HoldemTables,
        *,
        first_t: int,
        is_alternating: bool,
        num_threads: int = 1,
        hooks: Hooks = NO_HOOKS,
    ) -> int:
        """Runs iterations, see `VectorKernel.iterate`; discounts have no thresholds. `stop` cuts them short."""
        check_discounts(discounts, first_t)
        num_done = 0
        with self._one_caller:
            for rows, team in _plan_calls(discounts, self.pause_of(tables), num_threads):
                steps = self.bind_steps(rule, tables, is_alternating=is_alternating, num_threads=team, hooks=hooks)
                done = steps.run(rows, first_t + num_done)
                num_done += done
                if done < len(rows):
                    break
        return num_done

    def bind_steps(
        self,
        rule: KernelRule,
        tables: HoldemTables,
        *,
        is_alternating: bool,
        num_threads: int = 1,
        hooks: Hooks = NO_HOOKS,
    ) -> Any:
        """Returns iterations as the native module runs them, see `VectorKernel.bind_steps`; the last ones are kept."""
        check_num_threads(num_threads)

        def bind() -> Any:
            run, bound = self._bind_run(rule, tables), self._bind_hooks(hooks)
            team = is_alternating, num_threads, self._one_caller.turn
            can_stop = hooks.gate is None and hooks.watched is None and self.leaves is None
            return run.bind_steps(self.form, *team, bound, *self._bound_leaves, self._pauses, can_stop)

        return self._steps.find((rule, tables, is_alternating, num_threads, *hooks.parts), bind)

    def stop(self, num_boards: int = 1) -> None:
        """Lets the call under way end after so many boards, from whatever thread; 0: not at all.

        What an iteration had done by then is kept with the kernel, and the next call does the rest of it first, so that
        the tables become those of an iteration that nobody interrupted. Evaluations are given up.
        """
        self._pauses.stop(num_boards)

    def pause_of(self, tables: HoldemTables) -> Any:
        """Returns where an iteration over such tables was interrupted, as the native module keeps it."""
        return self._pauses.float64 if tables.regret_sum.dtype == np.float64 else self._pauses.float32

    def is_paused(self, tables: HoldemTables) -> bool:
        """Returns whether an iteration over such tables was interrupted and not finished."""
        return bool(self.pause_of(tables).num_threads())

    def forget_pause(self, tables: HoldemTables) -> None:
        """Lets the next iteration begin at its beginning."""
        self.pause_of(tables).clear()

    def describe_pause(self, tables: HoldemTables) -> dict[str, npt.NDArray[Any]]:
        """Returns an interrupted iteration as arrays for `restore_pause`; none if all were done to their end."""
        pause = self.pause_of(tables)
        if not self.is_paused(tables):
            return {}
        return {"pause_places": np.array(pause.places(), np.int64), "pause_sums": np.array(pause.sums())}

    def restore_pause(self, tables: HoldemTables, places: npt.NDArray[np.int64], sums: FloatArray) -> bool:
        """Returns whether arrays describe an interrupted iteration of this tree, which the next call then finishes."""
        return bool(self.pause_of(tables).restore(self.form, places, sums))

    def _bind_run(self, rule: KernelRule, tables: HoldemTables) -> Any:
        """Returns a run as the native module reads it, once the tables fit tree and rule."""
        dtype = tables.regret_sum.dtype
        _check_dtype(dtype, AVERAGE_TYPES)
        if rule.needs_scale and dtype == np.int16:
            raise ValueError("Hedge's scales and steps are floats, got tables of int16")
        for name, (shape, kind) in HoldemTables.shapes(self.arrays, dtype, rule).items():
            check_array(name, getattr(tables, name), kind, shape, is_written=True)
        return getattr(_native, f"HoldemRun_{dtype}")(*rule.native_arguments, arrays_by_name(tables))

    def _bind_leaves(self) -> tuple[Any, Any]:
        """Returns leaf tables and frontier as the native module reads them."""
        if isinstance(self.leaves, Frontier):
            return HoldemLeaves.none(), self.leaves.bound
        return HoldemLeaves.none() if self.leaves is None else self.leaves.bind(), Frontier.none()

    def _bind_hooks(self, hooks: Hooks) -> Any:
        """Returns hooks as the native module reads them; leaves are those that the kernel was bound with."""
        gate, watched, root_reach = hooks.gate, hooks.watched, hooks.root_reach
        if hooks.frontier is not None and hooks.frontier is not self.leaves:
            raise ConfigError("leaves of a hold'em tree are bound with its kernel, got others: begin another run")
        if root_reach is not None:
            root = self.arrays.board(0)
            check_root_reach(root_reach, (root.num_hands_0, root.num_hands_1))
        reach, seen = np.zeros(0), watched or WatchedValues((), ((), ()))
        arrays = gate_arrays(gate) | seen.native_arrays
        if gate is not None:
            num_rows = self.arrays.num_rows(0, gate.player)
            if gate.mass.size != num_rows:  # padding may be there, without mass
                check_array("mass", gate.mass, np.float64, (self.arrays.board(0).num_hands[gate.player],))
            reach = np.zeros(num_rows)
        for player in (0, 1):
            rows = self.arrays.root_reach[player]
            if root_reach is not None:
                rows = np.pad(root_reach[player], (0, rows.size - root_reach[player].size))
            arrays[f"root_reach_{player}"] = rows
            own = slice(*seen.player_start[player : player + 2].tolist())
            check_range("watched cells", seen.cells[own], 0, (1 + self._num_lines) * rows.size)
        player, kind, share = (-1, 0, 1.0) if gate is None else (gate.player, int(gate.kind), gate.share)
        return _native.HoldemHooks(player, kind, share, max(self._num_lines, 1), arrays | {"reach": reach})

    def normalize(self, sums: npt.NDArray[Any]) -> FloatArray:
        """Returns `[C]` the sums divided by their total at every hand's decision, uniform where that is zero."""
        self._check_sums(sums)
        return normalize_cells(self.arrays, sums)

    def values(
        self,
        strategy: TableArray,
        *,
        is_best: bool,
        respects_locks: bool = True,
        root_reach: Reaches | None = None,
        frontier: Frontier | HoldemLeaves | None = None,
        num_threads: int = 1,
        is_quick: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """Returns `[H]` each player's counterfactual values at the root, in double whatever the table's dtype.

        Hands are in the order of the root's rows, without padding; leaves are those that the kernel was bound with. See
        `VectorKernel.values`. If it has to be quick, everything is computed in float32, where tables are not float64.
        """
        self._check_sums(strategy)
        check_num_threads(num_threads)
        values = np.empty(self.arrays.num_rows(0, 0)), np.empty(self.arrays.num_rows(0, 1))
        is_quick = is_quick and strategy.dtype in QUICK_TYPES
        evaluate = getattr(_native, f"holdem_evaluate_{'quickly_' if is_quick else ''}{strategy.dtype}")
        pause = self._pauses.quick_evaluation if is_quick else self._pauses.evaluation
        leaves, bound_frontier = self._bound_leaves
        hooks = self._bind_hooks(Hooks(root_reach=root_reach, frontier=frontier))
        # buffers of a frontier serve one call at a time; everything else is read alone
        with self._one_caller if isinstance(self.leaves, Frontier) else contextlib.nullcontext():
            is_done = evaluate(
                self.form,
                is_best,
                respects_locks,
                sums=strategy,
                num_threads=num_threads,
                given=hooks,
                leaves=leaves,
                frontier=bound_frontier,
                first_out=values[0],
                second_out=values[1],
                pause=pause,
            )
        pause.stop(0)
        check_finished(is_done, "the evaluation")
        root = self.arrays.board(0)
        return values[0][: root.num_hands_0], values[1][: root.num_hands_1]

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
                sums=sums,
                row_bound=nothing if bound is None else bound,
                factor=factor,
                positive_weight=weights.positive,
                negative_weight=weights.negative,
                average_weight=weights.average,
                trace=weights.trace,
                floors_regrets=weights.floors_regrets,
                num_threads=num_threads,
                row_value=nothing if row_value is None else row_value,
                regret_sum=regrets,
                strategy_sum=averages,
                first_out=values[0],
                second_out=values[1],
            )
        return values

    def slot_values(
        self,
        sums: TableArray,
        board: int,
        line: int,
        reach: tuple[FloatArray, FloatArray],
        *,
        is_best: bool = False,
        respects_locks: bool = True,
        num_threads: int = 1,
    ) -> tuple[FloatArray, FloatArray]:
        """Returns `[rows, slots]` each player's counterfactual values of every slot of a board's street.

        Raises `AbandonedError` where `stop` was called meanwhile: nothing of it is kept.

        Args:
            sums: `[C]` what both players play in proportion to below.
            board: index of the board.
            line: of those that enter its street.
            reach: `[rows]` of each player on that line; other lines are not reached.
            is_best: whether each player answers the other's strategy best from there on, or plays its own.
            respects_locks: whether best responses keep to the kernel's locks.
            num_threads: size of the team.
        """
        self._check_sums(sums)
        check_integer("board", board, 0, self.arrays.boards.shape[0] - 1)
        check_num_threads(num_threads)
        fields = self.arrays.street(self.arrays.board(board).street)
        check_integer("line", line, 0, fields.num_lines - 1)
        out = []
        for player, num_cells in enumerate(fields.num_cells):
            num_rows = self.arrays.num_rows(board, player)
            check_array(f"reach[{player}]", reach[player], np.float64, (num_rows,))
            out.append(np.zeros((num_rows // TILE, fields.num_lines + num_cells, TILE)))
        slots = getattr(_native, f"holdem_slots_{sums.dtype}")
        is_done = slots(
            self.form,
            board,
            line,
            is_best,
            respects_locks,
            sums=sums,
            first_reach=reach[0],
            second_reach=reach[1],
            num_threads=num_threads,
            first_out=out[0].reshape(-1),
            second_out=out[1].reshape(-1),
            pause=self._pauses.viewing,
        )
        self._pauses.viewing.stop(0)
        check_finished(is_done, "the evaluation")
        first, second = (tiles.transpose(0, 2, 1).reshape(-1, tiles.shape[1]) for tiles in out)
        return first, second

    def _check_sums(self, sums: TableArray) -> None:
        _check_dtype(sums.dtype, AVERAGE_TYPES.values())
        check_array("sums", sums, sums.dtype, (self.arrays.num_cells,))


def _plan_calls(discounts: FloatArray, pause: Any, num_threads: int) -> list[tuple[FloatArray, int]]:
    """Returns rows of discounts with the size of the team for each call: who began an iteration finishes it."""
    begun = pause.num_threads()
    if not begun or not len(discounts):
        return [(discounts, num_threads)]
    calls = [(discounts[:1], begun), (discounts[1:], num_threads)]
    return [(np.ascontiguousarray(rows), team) for rows, team in calls if len(rows)]


def _check_dtype(dtype: np.dtype[np.generic], allowed: Iterable[np.dtype[Any]]) -> None:
    # another one would be converted into a copy, and what is written would be lost
    if dtype not in allowed:
        raise TypeError(f"tables must have dtype {' or '.join(str(each) for each in allowed)}, got {dtype}")
