# SPDX-License-Identifier: Apache-2.0
"""Solved hold'em spots on disk: the spot as text, the run's records, and its tables by board.

A large table stays in the file, and only the slices that are asked for are read. What each block holds: docs/spots.md.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import CheckpointError, EquipoiseError
from equipoise.core.files import StrPath
from equipoise.games.holdem.betting_tree import betting_tree
from equipoise.games.holdem.line_notation import find_action, parse_decision
from equipoise.games.holdem.ranges import parse_range
from equipoise.games.holdem.rules import Holdem
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_file import SpotFile, format_spot, parse_spot
from equipoise.games.holdem.spot_game import game_of_spot
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.solvers.best_response import bind_kernel
from equipoise.solvers.holdem.view import Slots, SpotViews
from equipoise.solvers.saved_run import RunRecord
from equipoise.solvers.solution_file import STATE_PREFIX, SolutionFile, StoredTable, encode_state
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree
from equipoise.trees.vector import TreeStrategy

__all__ = ["LARGEST_READ_BYTES", "SolvedSpot", "encode_layout", "make_locks", "view_strategy"]

LAYOUT_PREFIX: Final = "layout."  # of the arrays that say where the tables keep what
FIRST_SLOTS: Final = ("values.first_street_0", "values.first_street_1")  # by player, if the tables are large
MOST_BOARD_CARDS: Final = 5
UNMERGED_METHOD: Final = "external"  # deals cards one by one: boards that differ by suits are kept apart
STRATEGY: Final = STATE_PREFIX + "strategy_sum"
LARGEST_READ_BYTES: Final = 256_000_000  # of a table that is read whole without being asked to

Array = npt.NDArray[Any]


def make_locks(file: SpotFile) -> tuple[NodeLock, ...]:
    """Returns the locks that a spot's file asks for."""
    if not file.locks:
        return ()
    spot = file.spot
    betting = betting_tree(spot.betting_rules, spot.menu)
    locks = []
    for lock in file.locks:
        line = parse_decision(lock.line, betting, spot.board, spot.deck)
        node = betting.nodes[line.node]
        held = spot.ranges[node.state.actor].without(line.board).weights * parse_range(lock.hands, spot.deck).weights
        strategy = np.zeros(len(node.actions))
        for action, share in lock.play.items():
            strategy[node.actions.index(find_action(action, betting, line.node))] = share
        locks.append(NodeLock(node=line.node, strategy=strategy, hands=np.flatnonzero(held).tolist(), board=line.board))
    return tuple(locks)


def encode_layout(tree: HoldemTree) -> dict[str, Array]:
    """Returns where the tables of a tree keep each board's hands and each decision, as arrays of a file."""
    cards = np.full((len(tree.boards), MOST_BOARD_CARDS), -1, np.int8)
    for board, dealt in enumerate(tree.boards):
        cards[board, : len(dealt)] = dealt
    hands = [numbers for pair in tree.hands for numbers in pair]
    decisions = [(node, *decision[:4]) for node, decision in sorted(tree.decisions.items())]
    return {
        "cards": cards,
        "boards": tree.arrays.boards,
        "streets": tree.arrays.streets,
        "hands": np.concatenate(hands).astype(np.uint16),
        "decisions": np.array(decisions, np.int32).reshape(-1, 5),
    }


def view_strategy(strategy: object) -> SpotViews | None:
    """Returns a strategy of a spot with the values of all its decisions; None of others, and of very large ones."""
    if not isinstance(strategy, TreeStrategy) or not isinstance(strategy.tree, HoldemTree):
        return None
    sums = strategy.sums
    if not isinstance(sums, np.ndarray) or sums.nbytes > LARGEST_READ_BYTES:
        return None
    return SpotViews(strategy.tree, sums, kernel=HoldemKernel(strategy.tree.arrays))


class _BoardTables:
    """Tables of which one board at a time is read, with all that follow it; pages of others are never touched."""

    def __init__(self, solved: SolvedSpot) -> None:
        self._solved = solved
        self._board: int | None = None  # that is in memory

    @property
    def kernel(self) -> HoldemKernel:
        return self._solved.kernel

    def read_below(self, board: int) -> Array:
        """Returns a table of which the cells of a board and of all that follow it can be relied on."""
        table, arrays = self._solved.strategy_sum, self._solved.tree.arrays
        if board != self._board:
            self._board, self._cells = None, np.zeros(arrays.num_cells, table.dtype)
            for run in arrays.cells_below(board):
                self._cells[run] = table.read_run(run)
            self._board = board
        return self._cells


class SolvedSpot(SolutionFile):
    r"""A run on a spot: its tree is built when the file is opened, tables are read where they are asked for.

    >>> import tempfile
    >>> from equipoise.runs import load_spot, solve
    >>> text = "board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nmenu = '50%'\nranges = {oop = 'AA', ip = 'KK, QQ'}"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     solve(load_spot(text), iterations=10).save(f"{folder}/river.eq")
    ...     with SolvedSpot(f"{folder}/river.eq") as file:
    ...         print(file.spot.root_pot)
    20
    """

    KINDS = (Kind.SPOT,)

    def _check(self) -> None:
        _ = self.run
        try:
            self.file = parse_spot(str(self.metadata["spot"]))
        except (KeyError, EquipoiseError) as error:
            raise CheckpointError(f"{self.path} does not describe its spot: {error}") from None

    @property
    def spot(self) -> HoldemSpot:
        """Returns what was solved."""
        return self.file.spot

    @property
    def game(self) -> Holdem:
        """Returns the game that is played from the spot on."""
        return game_of_spot(self.spot)

    @property
    def seats(self) -> tuple[str, str]:
        """Returns what both players are called."""
        return self.file.seat_names

    @property
    def label(self) -> str:
        """Returns the spot, how long it was solved and how well."""
        spot, last = self.spot, self.progress[-1]
        share = (
            ""
            if last.exploitability is None
            else f", exploitable by {100 * last.exploitability / spot.root_pot:.3g}% of the pot"
        )
        return f"{self.file.name}, pot {spot.root_pot:,}, after {last.iteration:,} iterations{share}"

    @functools.cached_property
    def locks(self) -> tuple[NodeLock, ...]:
        """Returns what the spot's players may not choose."""
        return make_locks(self.file)

    @functools.cached_property
    def tree(self) -> HoldemTree:
        """Returns what the tables lie over; raises unless they lie as trees lay them out today."""
        merges_suits = self.config.method != UNMERGED_METHOD
        tree = build_holdem_tree(self.spot, locks=self.locks, merges_suits=merges_suits)
        self._check_layout(tree)
        return tree

    @property
    def strategy_sum(self) -> StoredTable:
        """Returns the table of the average strategy."""
        return StoredTable(self.reader, STRATEGY)

    @property
    def is_large(self) -> bool:
        """Returns whether its tables are too large to be read whole without being asked to."""
        return self.strategy_sum.num_bytes > LARGEST_READ_BYTES

    @functools.cached_property
    def strategy(self) -> TreeStrategy[HoldemTree]:
        """Returns what every hand plays; a table that is not too large is read now, of others the boards asked for."""
        table = self.strategy_sum
        return TreeStrategy(self.tree, table if self.is_large else table.read())

    @functools.cached_property
    def kernel(self) -> HoldemKernel:
        """Returns what sweeps the tree within the spot's locks."""
        return bind_kernel(self.tree, locks=self.locks)

    @functools.cached_property
    def views(self) -> SpotViews:
        """Returns what is held, played and won at decisions.

        Of a table that is too large to be read whole, values of the first street are those that the file keeps; those
        of later streets are found from what follows their board alone.
        """
        sums = self.strategy.sums
        if isinstance(sums, np.ndarray):
            return SpotViews(self.tree, sums, kernel=self.kernel)
        tables = _BoardTables(self)
        return SpotViews(self.tree, sums, kernel=None, first_slots=self._read_first_slots(), tables=tables)

    def _read_first_slots(self) -> Slots | None:
        """Returns what the file keeps of values, None if it keeps none."""
        if FIRST_SLOTS[0] not in self.reader.names:
            return None
        first, second = map(self.reader.read, FIRST_SLOTS)
        if (len(first), len(second)) != tuple(held.size for held in self.tree.hands[0]):
            raise CheckpointError(
                f"{self.path} keeps values of {len(first)} and {len(second)} hands, which its spot lacks"
            )
        return first, second

    def read_values(self) -> None:
        """Reads the table whole if it was not, so that `views` have values whatever its size."""
        if not isinstance(self.strategy.sums, np.ndarray):
            self.strategy = TreeStrategy(self.tree, self.strategy_sum.read())
            self.views = SpotViews(self.tree, self.strategy.sums, kernel=self.kernel)

    @staticmethod
    def save(
        path: StrPath,
        run: RunRecord,
        *,
        file: SpotFile,
        tree: HoldemTree,
        state: Mapping[str, npt.NDArray[np.generic]],
        first_slots: Slots | None = None,
    ) -> None:
        """Writes a run atomically.

        Args:
            path: where to.
            run: what it was and how far it got.
            file: what is solved.
            tree: what the solver works on.
            state: of the solver.
            first_slots: values of the first street (`SpotViews.find_first_slots`), for who does not read the tables.
        """
        metadata = {**run.as_metadata(), "spot": format_spot(file)}
        layout = {LAYOUT_PREFIX + name: array for name, array in encode_layout(tree).items()}
        values = {} if first_slots is None else dict(zip(FIRST_SLOTS, first_slots, strict=True))
        checkpoint.save(path, Kind.SPOT, metadata, {**layout, **encode_state(state), **values})

    def _check_layout(self, tree: HoldemTree) -> None:
        """Raises unless the tables lie as trees lay them out today."""
        for name, expected in encode_layout(tree).items():
            if not np.array_equal(self.reader.read(LAYOUT_PREFIX + name), expected):
                raise CheckpointError(
                    f"{self.path} keeps its tables in another order (layout.{name}) than this version of Equipoise: "
                    f"version {self.config.equipoise_version} wrote it; solve the spot again"
                )
        if self.reader.size_of(STRATEGY) != tree.arrays.num_cells:
            raise CheckpointError(
                f"{self.path} has {self.reader.size_of(STRATEGY):,} numbers in its strategy, its spot has "
                f"{tree.arrays.num_cells:,}"
            )
