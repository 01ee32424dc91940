# SPDX-License-Identifier: Apache-2.0
"""Sampled sweeps of hold'em: public chance and external sampling on trees, and sweeps over a runout in buckets."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import arrays_by_name, check_array, check_generator
from equipoise.kernels.calls import check_integer, check_player
from equipoise.kernels.holdem.arrays import MAX_ACTIONS, TILE, StreetFields, StreetShape
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.kernels.sampling import NO_NODE_LIMIT, Scheme
from equipoise.kernels.skipping import NO_SKIPPING, SkipKind, Skipping
from equipoise.kernels.turns import OneCaller

__all__ = [
    "DEAL",
    "FOLD",
    "SHOWDOWN",
    "BettingArrays",
    "HoldemSamplingKernel",
    "HoldemSamplingTables",
    "RunoutArrays",
    "RunoutKernel",
    "SampledArray",
    "StrategyPair",
    "StreetArrays",
    "draw_cards",
]

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
WordArray = npt.NDArray[np.uint64]
CardArray = npt.NDArray[np.uint8]
SampledArray: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]

FOLD, SHOWDOWN, DEAL = 2, 3, 4  # kinds of betting nodes beside the two players


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemSamplingTables:
    """What a sampled run changes."""

    regret_sum: SampledArray  # [C] as in HoldemTables
    strategy_sum: SampledArray  # [C]
    random_words: WordArray  # [4] state of the generator (xoshiro256**), not all zero
    nodes_touched: WordArray  # [1] betting nodes visited, ends included
    # [C] reach of visits left out in a row, of the same dtype; empty where regrets do not decide how many
    missed: SampledArray = dataclasses.field(default_factory=lambda: np.zeros(0))
    num_skipped: WordArray = dataclasses.field(default_factory=lambda: np.zeros(1, np.uint64))  # [1] actions left out


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BettingArrays:
    """A hold'em tree's betting as single deals walk it: N nodes in pre-order, B boards."""

    nodes: IntArray  # [N, 4] kind (0 and 1: that player acts; or FOLD, SHOWDOWN, DEAL), first cell, first child, count
    children: IntArray  # nodes, in the order of actions
    scale: FloatArray  # [2, N] folds: chips that each player wins; showdowns: the stake
    rake: FloatArray  # [N] what each player loses to the house at a showdown, in stakes
    first_row: LongArray  # [B, 2] into child_row; the root's is not read
    child_row: IntArray  # by board and player: row of each hand of the board above, -1 if the board blocks it

    @property
    def kind(self) -> IntArray:
        """Returns `[N]` who acts, or what ends or begins."""
        return self.nodes[:, 0]

    @property
    def first_child(self) -> IntArray:
        """Returns `[N]` where the children of each node begin."""
        return self.nodes[:, 2]

    @property
    def num_children(self) -> IntArray:
        """Returns `[N]` how many children each node has."""
        return self.nodes[:, 3]


class HoldemSamplingKernel:
    """A hold'em tree as sampled iterations read it.

    Paper: Johanson, Bard, Lanctot, Gibson & Bowling 2012, "Efficient Nash Equilibrium Approximation through Monte Carlo
        Counterfactual Regret Minimization" (public chance sampling); Lanctot et al. 2009, "Monte Carlo Sampling for
        Regret Minimization in Extensive Games" (external sampling).
    Symbols: a sampled public chance event -> a runout, one board a street; q(z) -> `RunoutBoard.weight`.
    Departs from the paper: each player's sweep draws a runout of its own. A runout is drawn with the chance that boards
        have when no hand is known; hands that it blocks get nothing, and the constant between the two chances is
        part of the values on their way up. Regrets of a board's rows leave out the chance of the board, a constant
        factor of each row, as those of full-width sweeps do.
    Checked by: tests/kernels/test_holdem_sampling.py.
    """

    def __init__(self, kernel: HoldemKernel, betting: BettingArrays) -> None:
        self.kernel = kernel
        self.num_betting_nodes = betting.nodes.shape[0]  # of a runout: one board a street
        arrays = kernel.arrays
        num_nodes, num_boards = betting.nodes.shape[0], arrays.boards.shape[0]
        check_array("nodes", betting.nodes, np.int32, (num_nodes, 4))
        check_array("children", betting.children, np.int32, (betting.children.size,))
        check_array("scale", betting.scale, np.float64, (2, num_nodes))
        check_array("rake", betting.rake, np.float64, (num_nodes,))
        check_array("first_row", betting.first_row, np.int64, (num_boards, 2))
        check_array("child_row", betting.child_row, np.int32, (betting.child_row.size,))
        check_integer("most actions of a decision", int(betting.num_children.max(initial=0)), 0, MAX_ACTIONS)
        self.num_actions = betting.children.size  # of all decisions, and deals
        self._one_caller = OneCaller("solver")
        cumulative = [np.cumsum(reach) for reach in arrays.root_reach]
        named = {"cumulative_0": cumulative[0], "cumulative_1": cumulative[1]}
        self._betting = _native.HoldemBetting(arrays_by_name(betting) | named)

    def iterate(
        self,
        scheme: Scheme,
        tables: HoldemSamplingTables,
        num_iterations: int,
        *,
        node_limit: int = NO_NODE_LIMIT,
        skipping: Skipping = NO_SKIPPING,
    ) -> int:
        """Runs iterations, each of which updates both players, and returns how many; updates `tables` in place.

        Args:
            scheme: external or public chance.
            tables: the run so far.
            num_iterations: at most so many.
            node_limit: no iteration begins once `nodes_touched` has reached it.
            skipping: which of the traverser's actions are left out, over `BettingArrays.children`; external alone.
        """
        self._check(tables)
        check_integer("num_iterations", num_iterations, 0)
        check_integer("node_limit", node_limit, 0)
        if scheme not in (Scheme.EXTERNAL, Scheme.PUBLIC_CHANCE):
            raise ValueError(f"hold'em trees are sampled by external or public chance sampling, got {scheme.name}")
        if skipping.kind is not SkipKind.NONE and scheme is not Scheme.EXTERNAL:
            raise ConfigError(f"actions are left out of external sampling alone, got {scheme.name} sampling")
        missed_shape = tables.regret_sum.shape if skipping.needs_missed else (0,)
        missed = tables.missed if skipping.needs_missed else np.zeros(0, tables.regret_sum.dtype)
        check_array("missed", missed, tables.regret_sum.dtype, missed_shape, is_written=True)
        limits, arrays = (num_iterations, node_limit), _tables_by_name(tables)
        rule = skipping.bind(self.num_actions)
        with self._one_caller:
            if scheme is Scheme.EXTERNAL:
                done: int = _native.holdem_sample_external(
                    self.kernel.form,
                    self._betting,
                    *limits,
                    **arrays,
                    skipping=rule,
                    missed=missed,
                    num_skipped=tables.num_skipped,
                )
            else:
                done = _native.holdem_sample_public(self.kernel.form, self.num_betting_nodes, *limits, **arrays)
        return done

    def sweep(self, tables: HoldemSamplingTables, player: int, boards: Sequence[int]) -> None:
        """Adds one player's sweep over a given runout, one board for each street, into `tables`."""
        self._check(tables)
        if len(boards) != self.kernel.arrays.streets.shape[0]:
            raise ValueError(f"a runout has {self.kernel.arrays.streets.shape[0]} boards, got {len(boards)}")
        for board in boards:
            check_integer("board", board, 0, self.kernel.arrays.boards.shape[0] - 1)
        check_player(player, 2)
        runout = np.array(boards, np.int64)
        with self._one_caller:
            _native.holdem_sweep_public(
                self.kernel.form,
                boards=runout,
                player=player,
                regret_sum=tables.regret_sum,
                strategy_sum=tables.strategy_sum,
            )

    def _check(self, tables: HoldemSamplingTables) -> None:
        num_cells = self.kernel.arrays.num_cells
        _check_tables(tables.regret_sum, tables.strategy_sum, num_cells)
        check_generator(tables.random_words)
        for name in ("nodes_touched", "num_skipped"):
            check_array(name, getattr(tables, name), np.uint64, (1,), is_written=True)


def _tables_by_name(tables: HoldemSamplingTables) -> dict[str, SampledArray | WordArray]:
    return {
        "regret_sum": tables.regret_sum,
        "strategy_sum": tables.strategy_sum,
        "words": tables.random_words,
        "counter": tables.nodes_touched,
    }


def _check_tables(regret_sum: SampledArray, strategy_sum: SampledArray, num_cells: int) -> None:
    if regret_sum.dtype not in (np.float32, np.float64):
        raise TypeError(f"sampled tables are float32 or float64, got {regret_sum.dtype}")
    check_array("regret_sum", regret_sum, regret_sum.dtype, (num_cells,), is_written=True)
    check_array("strategy_sum", strategy_sum, regret_sum.dtype, (num_cells,), is_written=True)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StreetArrays(StreetShape):
    """The betting of all streets as sweeps read it; fields as in `HoldemArrays`.

    `flat_scale` is, where lines go on, the chance of a deal given two hands over its chance given none.
    """

    nodes: IntArray
    flat_slot: IntArray
    flat_scale: FloatArray
    flat_rake: FloatArray
    fold_slot: IntArray
    fold_scale: FloatArray

    @property
    def num_streets(self) -> int:
        """Returns how many streets are played."""
        return int(self.streets.shape[0])


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunoutArrays:
    """A board for each street and the hands that it leaves, the same for both players, in whole tiles.

    Where the numbers of hands are not whole tiles the last hand is repeated.
    """

    num_hands: tuple[int, ...]  # by street
    cards: tuple[CardArray, ...]  # by street [rows, 2]
    strength: tuple[IntArray, ...]  # by street [rows], ascending on the last
    parent_row: tuple[IntArray, ...]  # by street [rows] on the board above; of the first not read
    table_row: tuple[tuple[IntArray, IntArray], ...]  # by street and player [rows] row of the tables
    first_cell: tuple[tuple[int, int], ...]  # by street and player: where the tables keep the street's rows
    num_table_rows: tuple[tuple[int, int], ...]  # by street and player, whole tiles


class StrategyPair(NamedTuple):
    """What each player plays in proportion to, and with what it arrives."""

    sums: tuple[SampledArray, SampledArray]  # tables of the same dtype, of each of which one player's rows are read
    reach: tuple[FloatArray, FloatArray]  # [rows of the first board]

    @property
    def native_arguments(self) -> dict[str, SampledArray]:
        """Returns them by the names that the native module knows."""
        names = ("first_sums", "second_sums", "first_reach", "second_reach")
        return dict(zip(names, (*self.sums, *self.reach), strict=True))


class RunoutKernel:
    """Betting whose hands share rows of tables, and the memory of sweeps over runouts: one call at a time."""

    def __init__(self, arrays: StreetArrays) -> None:
        self.arrays = arrays
        check_array("streets", arrays.streets, np.int32, (arrays.num_streets, len(StreetFields._fields)))
        check_array("nodes", arrays.nodes, np.int32, (int(arrays.street_field("num_nodes").sum()), 3))
        for name, packs in (("flat_slot", "flat_packs"), ("fold_slot", "fold_packs")):
            check_array(name, getattr(arrays, name), np.int32, (2 * TILE * int(arrays.street_field(packs).sum()),))
        check_array("flat_scale", arrays.flat_scale, np.float64, (arrays.flat_slot.size,))
        check_array("fold_scale", arrays.fold_scale, np.float64, (arrays.fold_slot.size,))
        num_raked = TILE * arrays.street(-1).flat_packs if arrays.flat_rake.size else 0
        check_array("flat_rake", arrays.flat_rake, np.float64, (num_raked,))
        self._one_caller = OneCaller("solver")
        self._form = _native.RunoutForm(arrays_by_name(arrays))

    @property
    def num_bytes(self) -> int:
        """Returns the bytes of the memory that sweeps have worked with so far."""
        return int(self._form.num_bytes())

    def bind(self, runout: RunoutArrays) -> object:
        """Returns a runout as the methods of this class take it; checks its arrays."""
        streets = []
        for street, cards in enumerate(runout.cards):
            rows = -(-runout.num_hands[street] // TILE) * TILE
            check_array("cards", cards, np.uint8, (rows, 2))
            named = {
                "strength": runout.strength[street],
                "same_hand": np.arange(rows, dtype=np.int32),
                "parent_row": runout.parent_row[street],
                "table_row_0": runout.table_row[street][0],
                "table_row_1": runout.table_row[street][1],
            }
            for name, array in named.items():
                check_array(name, array, np.int32, (rows,))
            streets.append({"cards": cards, **named})
        return _native.Runout(
            runout.num_hands,
            streets,
            [cell for pair in runout.first_cell for cell in pair],
            [count for pair in runout.num_table_rows for count in pair],
        )

    def update(
        self, runout: object, player: int, played: StrategyPair, own_weight: FloatArray, tables: HoldemSamplingTables
    ) -> None:
        """Adds a player's regrets and own reach times strategy on a runout into `tables`.

        Args:
            runout: from `bind`.
            player: whose rows are updated.
            played: what both players play; the player's own sums are usually those that are updated.
            own_weight: `[rows of the first board]` of what each hand adds to its row.
            tables: of the same dtype as the sums.
        """
        _check_tables(tables.regret_sum, tables.strategy_sum, played.sums[0].size)
        self._check(player, played)
        check_array("own_weight", own_weight, np.float64, played.reach[player].shape)
        with self._one_caller:
            _native.runout_update(
                self._form,
                runout,
                player,
                **played.native_arguments,
                own_weight=own_weight,
                regret_sum=tables.regret_sum,
                strategy_sum=tables.strategy_sum,
            )

    def values(self, runout: object, player: int, played: StrategyPair) -> FloatArray:
        """Returns `[rows of the first board]` a player's counterfactual values on a runout; 0 for blocked hands."""
        self._check(player, played)
        out = np.zeros_like(played.reach[player])
        with self._one_caller:
            _native.runout_values(self._form, runout, player, **played.native_arguments, out=out)
        return out

    def collect(
        self,
        runout: object,
        player: int,
        played: StrategyPair,
        own_weight: FloatArray,
        *,
        flat_sums: Sequence[FloatArray],
        fold_sums: Sequence[FloatArray],
    ) -> None:
        """Adds what each end of a street is worth to each row of a player into `flat_sums` and `fold_sums`.

        Args:
            runout: from `bind`; the player's `table_row` may differ from that of the strategies.
            player: whose values are collected; what it plays is not read.
            played: what the opponent plays.
            own_weight: `[rows of the first board]` of each hand's values.
            flat_sums: by street `[table rows, flat columns]`; only that of the last street is written.
            fold_sums: by street `[table rows, fold columns]`.
        """
        self._check(player, played)
        check_array("own_weight", own_weight, np.float64, played.reach[player].shape)
        for street, (flats, folds) in enumerate(zip(flat_sums, fold_sums, strict=True)):
            fields = self.arrays.street(street)
            check_array("flat_sums", flats, np.float64, (flats.shape[0], TILE * fields.flat_packs), is_written=True)
            check_array("fold_sums", folds, np.float64, (flats.shape[0], TILE * fields.fold_packs), is_written=True)
        with self._one_caller:
            _native.runout_collect(
                self._form,
                runout,
                player,
                **played.native_arguments,
                own_weight=own_weight,
                flat_sums=list(flat_sums),
                fold_sums=list(fold_sums),
            )

    def _check(self, player: int, played: StrategyPair) -> None:
        check_player(player, 2)
        dtype = played.sums[0].dtype
        if dtype not in (np.float32, np.float64):
            raise TypeError(f"sampled tables are float32 or float64, got {dtype}")
        for sums in played.sums:
            check_array("sums", sums, dtype, played.sums[0].shape)
        for reach in played.reach:
            check_array("reach", reach, np.float64, (reach.size,))


def draw_cards(random_words: WordArray, cards: Sequence[int], count: int) -> tuple[int, ...]:
    """Returns cards drawn one after the other from those given; advances the generator `random_words` in place."""
    check_array("random_words", random_words, np.uint64, (4,), is_written=True)
    check_integer("cards drawn", count, 0, len(cards))
    drawn = np.array(cards, np.uint8)
    _native.draw_cards(random_words, drawn, count)
    return tuple(drawn[:count].tolist())
