# SPDX-License-Identifier: Apache-2.0
"""Solved hold'em spots on disk: the spot as text, the run's records, and its tables by board.

A file is read whole to go on with a run (`SavedSpot`), or opened (`StoredSpot`) to look at some boards: then only the
slices of a table that are asked for are read. What each block holds: docs/spots.md.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from equipoise.core import checkpoint
from equipoise.core.checkpoint import CheckpointReader, Kind
from equipoise.core.errors import CheckpointError, EquipoiseError
from equipoise.core.files import StrPath
from equipoise.core.progress import Progress
from equipoise.games.holdem.betting_tree import betting_tree
from equipoise.games.holdem.line_notation import find_action, parse_decision
from equipoise.games.holdem.ranges import parse_range
from equipoise.games.holdem.spot_file import SpotFile, format_spot, parse_spot
from equipoise.solvers.saved_run import STATE_PREFIX, RunConfig, describe_run, parse_run
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree

__all__ = ["SavedSpot", "StoredSpot", "StoredTable", "encode_layout", "make_locks"]

LAYOUT_PREFIX: Final = "layout."  # of the arrays that say where the tables keep what
MOST_BOARD_CARDS: Final = 5
STRATEGY: Final = STATE_PREFIX + "strategy_sum"

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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SavedSpot:
    """A run on a spot as a file holds it."""

    file: SpotFile
    config: RunConfig
    progress: tuple[Progress, ...]  # the last record is of the saved iteration
    stopped_by: str | None  # None while the run is going on
    state: Mapping[str, npt.NDArray[np.generic]]  # of the solver

    def save(self, path: StrPath, tree: HoldemTree) -> None:
        """Writes the run atomically.

        Args:
            path: where to.
            tree: what the solver works on.
        """
        metadata = {**describe_run(self.config, self.progress, self.stopped_by), "spot": format_spot(self.file)}
        content = {LAYOUT_PREFIX + name: array for name, array in encode_layout(tree).items()}
        content |= {STATE_PREFIX + name: np.asarray(array) for name, array in self.state.items()}
        checkpoint.save(path, Kind.SPOT, metadata, content)

    @classmethod
    def load(cls, path: StrPath) -> SavedSpot:
        """Returns the run in a file, everything checked; raises `CheckpointError` for anything else."""
        content = checkpoint.load(path, Kind.SPOT)
        config, progress, stopped_by = parse_run(path, content.metadata)
        state = {
            name.removeprefix(STATE_PREFIX): array
            for name, array in content.arrays.items()
            if name.startswith(STATE_PREFIX)
        }
        return cls(
            file=_parse_spot(path, content.metadata),
            config=config,
            progress=progress,
            stopped_by=stopped_by,
            state=state,
        )


class StoredTable:
    """A table of a file, of which the cells that are asked for are read, and those between them."""

    def __init__(self, reader: CheckpointReader, name: str) -> None:
        self.reader, self.name = reader, name

    def __getitem__(self, cells: npt.NDArray[np.int64]) -> Array:
        """Returns the numbers of some cells, at least one."""
        first, last = int(cells.min()), int(cells.max())
        return self.reader.read_slice(self.name, first, last + 1)[cells - first]

    @property
    def num_bytes(self) -> int:
        """Returns what the whole table takes."""
        return self.reader.size_of(self.name) * self.reader.dtype_of(self.name).itemsize

    def read(self) -> Array:
        """Returns the whole table."""
        return self.reader.read(self.name)


class StoredSpot:
    """An open file of a spot: header and layout are read, tables where they are asked for."""

    def __init__(self, path: StrPath) -> None:
        self.reader = CheckpointReader(path, Kind.SPOT)
        try:
            self.config, self.progress, self.stopped_by = parse_run(path, self.reader.metadata)
            self.file = _parse_spot(path, self.reader.metadata)
            self.locks = make_locks(self.file)
            self.tree = build_holdem_tree(self.file.spot, locks=self.locks)
            self._check_layout(path)
        except EquipoiseError:
            self.close()
            raise

    @property
    def strategy_sum(self) -> StoredTable:
        """Returns the table of the average strategy."""
        return StoredTable(self.reader, STRATEGY)

    def close(self) -> None:
        """Closes the file."""
        self.reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_layout(self, path: StrPath) -> None:
        """Raises unless the tables lie as trees lay them out today."""
        for name, expected in encode_layout(self.tree).items():
            if not np.array_equal(self.reader.read(LAYOUT_PREFIX + name), expected):
                raise CheckpointError(
                    f"{path} keeps its tables in another order (layout.{name}) than this version of Equipoise: "
                    f"version {self.config.equipoise_version} wrote it"
                )
        if self.reader.size_of(STRATEGY) != self.tree.arrays.num_cells:
            raise CheckpointError(
                f"{path} has {self.reader.size_of(STRATEGY):,} numbers in its strategy, its spot has "
                f"{self.tree.arrays.num_cells:,}"
            )


def _parse_spot(path: StrPath, metadata: Mapping[str, Any]) -> SpotFile:
    try:
        return parse_spot(str(metadata["spot"]))
    except (KeyError, EquipoiseError) as error:
        raise CheckpointError(f"{path} does not describe its spot: {error}") from None
