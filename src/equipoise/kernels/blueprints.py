# SPDX-License-Identifier: Apache-2.0
"""External-sampling Monte Carlo CFR on flat betting trees, for two to six players, regrets in 32-bit integers.

Rows lie in one arena and come into being on first visit. Threads share it without locks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_axes, check_generator, check_range
from equipoise.kernels.betting import MAX_PLAYERS, NUM_STREETS, BettingArrays, fill_rises
from equipoise.kernels.calls import check_integer, check_num_threads
from equipoise.kernels.handeval import HandKernel
from equipoise.kernels.skipping import SkipKind
from equipoise.kernels.turns import OneCaller

__all__ = [
    "LINE_CELLS",
    "MAX_REGRET",
    "BlueprintKernel",
    "BlueprintPruning",
    "BlueprintTables",
    "CardDeals",
    "ListedDeals",
    "TrainingCounts",
    "block_lines",
]

LINE_CELLS: Final = 16  # of 32 bits, in a line of the arena
MAX_REGRET: Final = 2_000_000_000
MAX_LINES: Final = 2**32 - 1
MAX_BUCKETS: Final = 1 << 16

IntArray = npt.NDArray[np.int32]
Buckets = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BlueprintTables:
    """What training changes."""

    base: npt.NDArray[np.uint32]  # [slots] line of each block; 0: none yet
    arena: IntArray  # [lines * 16]
    next_line: npt.NDArray[np.int64]  # [1] the first that is free

    @classmethod
    def allocate(cls, num_slots: int, num_lines: int) -> BlueprintTables:
        """Returns tables without a block; memory of the arena is taken as it is touched."""
        check_integer("lines", num_lines, 1, MAX_LINES)
        return cls(
            base=np.zeros(num_slots, np.uint32),
            arena=np.zeros(num_lines * LINE_CELLS, np.int32),
            next_line=np.ones(1, np.int64),
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BlueprintPruning:
    """Which of the traverser's actions are left out, in the unit of regrets; see `solvers.sampled_pruning`."""

    kind: SkipKind = SkipKind.NONE
    threshold: int = 0
    softness: float = 1.0
    probability: float = 0.95


class TrainingCounts(NamedTuple):
    """What a call did."""

    deals: int
    touched: int  # nodes visited, ends included
    skipped: int  # actions left out
    is_full: bool  # the arena had no room for a block: the call ended early


class CardDeals:
    """Hands and boards drawn from a deck, with every player's buckets."""

    def __init__(
        self,
        evaluator: HandKernel,
        *,
        deck: Sequence[int],
        hole_cards: npt.NDArray[np.uint8],
        boards: Mapping[int, npt.NDArray[np.uint8]],
        buckets: Sequence[Mapping[int, Buckets]],
        cluster_of_flop: npt.NDArray[np.uint16] | None = None,
        num_within: Mapping[int, int] | None = None,
    ) -> None:
        """Keeps the tables.

        Args:
            evaluator: of hands.
            deck: its cards; suits that it has must have the same ranks.
            hole_cards: `[H, 2]`.
            boards: by street that is played, the first to the last: canonical boards `[B, cards]`.
            buckets: of each player by street: `[B, H]`, whatever where the board blocks the hand.
            cluster_of_flop: `[flops]` cluster of each canonical flop, within which those buckets are; None: all alike.
            num_within: buckets within a cluster, by street from the flop on.
        """
        streets = sorted(boards)
        num_players, num_hands = len(buckets), len(hole_cards)
        check_integer("players", num_players, 2, MAX_PLAYERS)
        check_array("hole_cards", hole_cards, np.uint8, (num_hands, 2))
        num_cards = 2 * num_players + boards[streets[-1]].shape[1]
        if num_cards > len(deck):
            raise ConfigError(f"{num_players} players and the board need {num_cards} cards, the deck has {len(deck)}")
        arrays: dict[str, npt.NDArray[Any]] = {"deck": np.array(deck, np.uint8), "hole_cards": hole_cards}
        for street in streets:
            if street > 0:
                arrays[f"boards_{street}"] = np.ascontiguousarray(boards[street], np.uint8)
            for player, rows in enumerate(buckets):
                table = rows[street]
                check_array("buckets", table, table.dtype, (len(boards[street]), num_hands))
                width = {1: "narrow", 2: "wide"}[table.dtype.itemsize]
                arrays[f"{width}_{player}_{street}"] = table
        if cluster_of_flop is not None:
            check_array("cluster_of_flop", cluster_of_flop, np.uint16, (len(boards[1]),))
            sizes = [0] * NUM_STREETS
            for street, size in (num_within or {}).items():
                sizes[street] = size
                if size * (int(cluster_of_flop.max()) + 1) > MAX_BUCKETS:
                    raise ConfigError(f"a street has at most {MAX_BUCKETS:,} buckets in all clusters")
            arrays |= {"cluster_of_flop": cluster_of_flop, "num_within": np.array(sizes, np.int32)}
        self.num_players, self.streets, self.hole_cards, self.deck = num_players, streets, hole_cards, tuple(deck)
        self._num_board = boards[streets[-1]].shape[1]
        self.form = _native.CardDeals(evaluator.native, arrays, num_players, streets[0], streets[-1])

    def look_up(
        self, boards: npt.NDArray[np.uint8], hole_cards: npt.NDArray[np.uint8]
    ) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
        """Returns buckets `[deals, players, 4]` and strengths `[deals, players]` of deals that are given.

        Args:
            boards: `[deals, cards]` complete boards.
            hole_cards: `[deals, players, 2]`.
        """
        check_array("boards", boards, np.uint8, (len(boards), self._num_board))
        check_array("hole_cards", hole_cards, np.uint8, (len(boards), self.num_players, 2))
        buckets = np.zeros((len(boards), self.num_players, NUM_STREETS), np.uint16)
        strengths = np.zeros((len(boards), self.num_players), np.uint16)
        hands = hole_cards.reshape(len(boards), -1)
        _native.look_up_deals(self.form, boards=boards, hole_cards=hands, buckets=buckets, strengths=strengths)
        return buckets, strengths


class ListedDeals:
    """Deals that are all written down with their weights: of small games, and of games in buckets."""

    def __init__(
        self,
        weights: npt.NDArray[np.float64],
        buckets: npt.NDArray[np.uint16],
        strengths: npt.NDArray[np.uint16],
    ) -> None:
        """Keeps them.

        Args:
            weights: `[deals]` positive.
            buckets: `[deals, players, 4]` by street.
            strengths: `[deals, players]` at the showdown.
        """
        check_axes("strengths", strengths, 2)
        num_deals, num_players = strengths.shape
        check_integer("players", num_players, 2, MAX_PLAYERS)
        check_array("weights", weights, np.float64, (num_deals,))
        check_array("buckets", buckets, np.uint16, (num_deals, num_players, NUM_STREETS))
        check_array("strengths", strengths, np.uint16, (num_deals, num_players))
        if not num_deals or not (weights > 0).all():
            raise ConfigError("deals must have positive weights")
        self.weights, self.buckets, self.strengths, self.num_players = weights, buckets, strengths, num_players
        arrays = {"cumulative": np.cumsum(weights / weights.sum()), "buckets": buckets, "strengths": strengths}
        self.form = _native.ListDeals(arrays)


class BlueprintKernel:
    """Training on one tree with one set of tables.

    Checked by: tests/kernels/test_blueprints.py, tests/kernels/test_blueprint_clusters.py.
    """

    def __init__(
        self,
        betting: BettingArrays,
        tables: BlueprintTables,
        *,
        posted: Sequence[int],
        num_buckets: IntArray,
        last_street: int,
        walked_streets: int = 0,
        has_snapshots: bool = False,
        has_missed: bool = False,
    ) -> None:
        """Checks and binds the arrays.

        Args:
            betting: the tree.
            tables: of this tree, or allocated for it.
            posted: chips of each player in the pot before the first action.
            num_buckets: `[players, 4]` by street.
            last_street: on which pruning by a coin leaves nothing out.
            walked_streets: streets from the first whose averages are walked for, of 0 to 4.
            has_snapshots: whether the others have averages of snapshots.
            has_missed: whether visits that are left out are counted, which regret-based sampling needs.
        """
        num_players = len(posted)
        check_integer("players", num_players, 2, MAX_PLAYERS)
        check_integer("walked_streets", walked_streets, 0, NUM_STREETS)
        check_array("nodes", betting.nodes, np.int32, (len(betting.nodes), 4))
        check_array("num_buckets", num_buckets, np.int32, (num_players, NUM_STREETS))
        check_range("num_buckets", num_buckets, 1, MAX_BUCKETS + 1)
        num_slots = len(betting.width)
        check_array("base", tables.base, np.uint32, (num_slots,), is_written=True)
        check_array("next_line", tables.next_line, np.int64, (1,), is_written=True)
        check_array("arena", tables.arena, np.int32, (len(tables.arena),), is_written=True)
        num_lines = len(tables.arena) // LINE_CELLS
        check_range("next_line", tables.next_line, 1, num_lines + 1)
        self.betting, self.tables = betting, tables
        self.num_players, self.num_buckets = num_players, num_buckets
        self.walked_streets, self.has_snapshots, self.has_missed = walked_streets, has_snapshots, has_missed
        if tables.base.any():
            lines = block_lines(
                betting, num_buckets, walked_streets=walked_streets, has_snapshots=has_snapshots, has_missed=has_missed
            )
            ends = np.where(tables.base > 0, tables.base + lines, 0)
            if int(ends.max()) > int(tables.next_line[0]):
                raise ConfigError("blocks reach beyond the arena: these tables are of another tree or other settings")
        arrays = {
            "nodes": betting.nodes,
            "width": betting.width,
            "street": betting.street,
            "side_pots": betting.side_pots,
            "base": tables.base,
            "arena": tables.arena,
            "next_line": tables.next_line,
            "num_buckets": num_buckets,
            "posted": np.array(posted, np.int32),
            **({"rise": fill_rises(betting)} if has_missed else {}),
        }
        self.form = _native.BlueprintForm(arrays, num_players, int(last_street), walked_streets, has_snapshots)
        self.one_caller = OneCaller("blueprint")

    def train(
        self,
        deals: CardDeals | ListedDeals,
        words: npt.NDArray[np.uint64],
        num_deals: int,
        *,
        scale: float = 1.0,
        floor: int = -MAX_REGRET,
        pruning: BlueprintPruning | None = None,
        walk_every: int = 1,
    ) -> TrainingCounts:
        """Draws deals on a thread for each generator; every player traverses each of them.

        Args:
            deals: for as many players.
            words: `[threads, 4]` generators, which go on from where they are.
            num_deals: of each thread.
            scale: regret of a chip: regrets are whole numbers.
            floor: where regrets stop falling.
            pruning: what is left out; None: nothing.
            walk_every: deals from one walk for the average to the next; 0: none.
        """
        check_axes("words", words, 2)
        check_num_threads(len(words))
        for row in words:
            check_generator(row)
        check_integer("num_deals", num_deals, 0)
        check_integer("walk_every", walk_every, 0)
        settings = self.bind_settings(deals, scale=scale, floor=floor, pruning=pruning)
        with self.one_caller:
            every = walk_every if self.walked_streets else 0
            return TrainingCounts(*_native.train_blueprint(self.form, deals.form, settings, words, num_deals, every))

    def bind_settings(
        self, deals: CardDeals | ListedDeals, *, scale: float, floor: int, pruning: BlueprintPruning | None
    ) -> Any:
        """Returns settings as the native module takes them, checked against deals and tables."""
        pruning = pruning or BlueprintPruning()
        check_integer("floor", floor, -MAX_REGRET, 0)
        check_integer("threshold", pruning.threshold, -MAX_REGRET, 0)
        if deals.num_players != self.num_players:
            raise ConfigError(f"deals are for {deals.num_players} players, the tree has {self.num_players}")
        if pruning.kind is SkipKind.REGRET_BASED and not self.has_missed:
            raise ConfigError("regret-based sampling needs tables that count visits left out")
        return _native.BlueprintSettings(
            scale, floor, int(pruning.kind), pruning.threshold, pruning.softness, pruning.probability
        )

    def discount(self, factor: float, *, num_threads: int = 1) -> None:
        """Multiplies regrets, and averages that are walked for, by a factor of 0 to 1."""
        if not 0 <= factor <= 1:
            raise ConfigError(f"factor must be from 0 to 1, got {factor}")
        check_num_threads(num_threads)
        with self.one_caller:
            _native.discount_blueprint(self.form, factor, num_threads)

    def snapshot(self, share: float, *, num_threads: int = 1) -> None:
        """Moves averages of snapshots towards what is played now, by a share above 0 and up to 1."""
        if not 0 < share <= 1 or not self.has_snapshots:
            raise ConfigError(f"snapshots need tables for them and a share above 0 and up to 1, got {share}")
        check_num_threads(num_threads)
        with self.one_caller:
            _native.snapshot_blueprint(self.form, share, num_threads)

    def pack(self, *, has_average: bool, num_threads: int = 1) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """Returns where each slot's rows begin, -1 where it has none, and all rows in parts of 255.

        Args:
            has_average: whether snapshots were taken; else those streets have what is played now.
            num_threads: that work on it.
        """
        check_num_threads(num_threads)
        cells = slot_cells(self.betting, self.num_buckets)
        has_block = self.tables.base > 0
        cells = np.where(has_block, cells, 0)
        start = np.where(has_block, np.cumsum(cells) - cells, -1)
        out = np.zeros(int(cells.sum()), np.uint8)
        with self.one_caller:
            _native.pack_blueprint(self.form, has_average and self.has_snapshots, start, num_threads, out)
        return start, out


def slot_cells(betting: BettingArrays, num_buckets: IntArray) -> npt.NDArray[np.int64]:
    """Returns `[slots]` how many actions of rows each block has."""
    player = np.arange(len(betting.width)) % len(num_buckets)
    cells: npt.NDArray[np.int64] = betting.width.astype(np.int64) * num_buckets[player, betting.street]
    return cells


def block_lines(
    betting: BettingArrays,
    num_buckets: IntArray,
    *,
    walked_streets: int = 0,
    has_snapshots: bool = False,
    has_missed: bool = False,
) -> npt.NDArray[np.int64]:
    """Returns `[slots]` the lines of each block; arguments as of `BlueprintKernel`."""
    cells = slot_cells(betting, num_buckets)
    full, half = -(-cells // LINE_CELLS), -(-cells // (2 * LINE_CELLS))
    average = np.where(betting.street < walked_streets, full, half if has_snapshots else 0)
    lines: npt.NDArray[np.int64] = full + average + (half if has_missed else 0)
    return lines
