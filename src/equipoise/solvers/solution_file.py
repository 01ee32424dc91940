# SPDX-License-Identifier: Apache-2.0
"""Files of strategies and runs: opened once, the header read at once and the rest when it is asked for.

`SolvedGame` is a run or a strategy of a game by its information states, `SolvedSpot` (`solvers/holdem/`) of a spot by
its hands, `SolvedBuckets` (`abstraction/`) of hold'em in buckets. `abstraction.solutions.open_solution` opens any of
them. What the blocks of a file hold: docs/cli.md, docs/spots.md.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from equipoise.core import checkpoint
from equipoise.core.checkpoint import CheckpointReader, Kind
from equipoise.core.errors import CheckpointError, ConfigError, EquipoiseError
from equipoise.core.files import StrPath
from equipoise.core.formatting import shorten_text
from equipoise.core.progress import Progress
from equipoise.core.provenance import version
from equipoise.games.base import Game
from equipoise.games.public import HasPublicForm
from equipoise.games.registry import is_game_name, make_game, parse_game
from equipoise.solvers.game_views import GameViews
from equipoise.solvers.saved_run import RunConfig, RunRecord
from equipoise.solvers.stopping import Form
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.cache import load_or_build_public_tree
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import PublicTree

__all__ = ["STATE_PREFIX", "SolutionFile", "SolvedGame", "StoredTable", "WrittenGame", "encode_state", "view_game"]

STATE_PREFIX: Final = "state."  # of the solver's arrays in a file

Array = npt.NDArray[Any]


class StoredTable:
    """A table of a file, of which the cells that are asked for are read, and those between them."""

    def __init__(self, reader: CheckpointReader, name: str) -> None:
        self.reader, self.name = reader, name

    def __getitem__(self, cells: npt.NDArray[np.int64]) -> Array:
        """Returns the numbers of some cells, at least one."""
        first, last = int(cells.min()), int(cells.max())
        return self.reader.read_slice(self.name, first, last + 1)[cells - first]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Returns what its numbers are."""
        return self.reader.dtype_of(self.name)

    @property
    def num_bytes(self) -> int:
        """Returns what the whole table takes."""
        return self.reader.size_of(self.name) * self.dtype.itemsize

    def read_run(self, cells: slice) -> Array:
        """Returns the numbers of cells that lie side by side."""
        return self.reader.read_slice(self.name, cells.start, cells.stop)

    def read(self) -> Array:
        """Returns the whole table."""
        return self.reader.read(self.name)


class SolutionFile(abc.ABC):
    """An open file with a strategy; a context manager that closes it.

    >>> import tempfile
    >>> from equipoise.runs import solve
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     solve("kuhn", iterations=10).save(f"{folder}/kuhn.eq")
    ...     with SolvedGame(f"{folder}/kuhn.eq") as file:
    ...         print(file.config.rule)
    dcfr
    """

    KINDS: ClassVar[tuple[Kind, ...]]

    def __init__(self, path: StrPath, *, reader: CheckpointReader | None = None) -> None:
        """Opens a file and checks its header; raises `CheckpointError` for anything else.

        Args:
            path: of the file.
            reader: of a file that is open already, and of a kind that fits.
        """
        self.path = path
        self.reader = reader or CheckpointReader(path, *self.KINDS)
        self.kind, self.metadata = self.reader.kind, self.reader.metadata
        try:
            self._check()
        except EquipoiseError:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path}: {shorten_text(self.label, 100)}>"

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Returns a file that was read whole, all of it checked, and closed."""
        with cls(path) as solution:
            solution.read_all()
        return solution

    def read_all(self) -> None:
        """Reads and checks everything that a run goes on from."""
        _ = self.run, self.state

    def _check(self) -> None:  # noqa: B027  # nothing beyond the header unless a kind has more
        """Raises unless what belongs to the kind is there."""

    @property
    @abc.abstractmethod
    def game(self) -> Game[Any]:
        """Returns the game that the strategy is for; raises if its rules have changed since."""

    @property
    @abc.abstractmethod
    def label(self) -> str:
        """Returns what was solved, in a few words."""

    @functools.cached_property
    def run(self) -> RunRecord | None:
        """Returns what the file says of its run; None if it has a strategy alone."""
        has_run = self.kind in (Kind.RUN, Kind.SPOT)
        return RunRecord.from_metadata(self.path, self.metadata) if has_run else None

    @property
    def config(self) -> RunConfig:
        """Returns what the run computes."""
        return self._record.config

    @property
    def progress(self) -> tuple[Progress, ...]:
        """Returns the records of the run, the last one of the saved iteration."""
        return self._record.progress

    @property
    def stopped_by(self) -> str | None:
        """Returns what ended the run; None while it is going on."""
        return self._record.stopped_by

    @functools.cached_property
    def state(self) -> dict[str, Array]:
        """Returns the solver's arrays, from which the run goes on to the bit."""
        names = [name for name in self.reader.names if name.startswith(STATE_PREFIX)]
        return {name.removeprefix(STATE_PREFIX): self.reader.read(name) for name in names}

    def describe(self) -> dict[str, Any]:
        """Returns what the file says of its run, under the keys that `solve --json` uses."""
        found = self.metadata
        return {
            "game": found.get("game", self.label.partition("(")[0]),
            "label": self.label,
            "rule": found.get("rule"),
            "method": found.get("method"),
            "iterations": found.get("iteration"),
            "seed": found.get("seed"),
            "version": version(),
            "solved_by_version": found.get("equipoise_version"),
            "solved_by_commit": found.get("commit"),
        }

    def close(self) -> None:
        """Closes the file; what was not read cannot be asked for any more."""
        self.reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def _record(self) -> RunRecord:
        if self.run is None:
            raise CheckpointError(f"{self.path} holds a strategy alone, expected a run")
        return self.run


class SolvedGame(SolutionFile):
    """A run of a game, or a strategy alone, by information states.

    >>> import tempfile
    >>> from equipoise.runs import solve
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     solve("kuhn", iterations=10).save(f"{folder}/kuhn.eq")
    ...     with SolvedGame(f"{folder}/kuhn.eq") as file:
    ...         print(file.label)
    kuhn(players=2)
    """

    KINDS = (Kind.RUN, Kind.STRATEGY)

    @functools.cached_property
    def game(self) -> Game[Any]:
        """Returns the game that the strategy is for; raises if its rules have changed since."""
        found = self.metadata
        if "game" not in found:
            return parse_game(str(found.get("game_label")))
        name, parameters = found["game"], found.get("parameters")
        if not isinstance(name, str) or not isinstance(parameters, dict) or "game_version" not in found:
            raise CheckpointError(
                f"{self.path} does not describe its game: it has {name!r} with parameters {parameters!r}"
            )
        own = found.get("game_class")
        if own is None and not is_game_name(name):
            raise CheckpointError(
                f"{self.path} is of {name}, a game of somebody's own, and does not say where that lives: name it with "
                "`game` file.py:Class"
            )
        game = make_game(own or name, **parameters)
        if game.spec.version != found["game_version"]:
            raise CheckpointError(
                f"{self.path} was solved under version {found['game_version']} of {game.spec.name}, "
                f"this is version {game.spec.version}: `equipoise solve {game.spec.name}` solves it again"
            )
        return game

    def play(self, game: Game[Any]) -> None:
        """Takes a game for the one that the file is of, which it may not know how to make; raises if it is another."""
        if game.spec.label != self.label:
            raise ConfigError(f"{self.path} is a strategy for {self.label}, the game is {game.spec.label}")
        self.__dict__["game"] = game

    @property
    def label(self) -> str:
        """Returns the game with its parameters."""
        return self.table.game_label

    @functools.cached_property
    def table(self) -> TabularStrategy:
        """Returns the strategy by names of information states."""
        return TabularStrategy.decode(self.reader.read_all())

    def read_all(self) -> None:
        """Reads and checks tables and strategy."""
        super().read_all()
        _ = self.table

    @property
    def is_partial(self) -> bool:
        """Returns whether the strategy has entries only where a run without a tree came by."""
        return bool(self.metadata.get("form") == Form.GAME)

    @property
    def regret_bound(self) -> float | None:
        """Returns the sampled regret bound that the run's last record has, if it has one."""
        sampled = None if self.run is None else self.run.progress[-1].sampled
        return None if sampled is None else sampled.regret_bound

    @functools.cached_property
    def views(self) -> GameViews:
        """Returns what is held, played and won at public states; the game's tree is built or read from the cache."""
        return view_game(self.game, self.table, load_or_build_public_tree, is_partial=self.is_partial)

    @staticmethod
    def save(
        path: StrPath, run: RunRecord, *, strategy: TabularStrategy, state: Mapping[str, npt.NDArray[np.generic]]
    ) -> None:
        """Writes a run atomically.

        Args:
            path: where to.
            run: what it was and how far it got.
            strategy: its average.
            state: of the solver.
        """
        metadata = {**run.as_metadata(), "game_label": strategy.game_label}
        checkpoint.save(path, Kind.RUN, metadata, {**strategy.encode(), **encode_state(state)})


class WrittenGame(SolvedGame):
    """A strategy by information states in a CSV file, of a game that somebody has to name."""

    SUFFIX: ClassVar[str] = ".csv"

    def __init__(self, path: StrPath, game: Game[Any] | None) -> None:
        """Reads the file and checks all of it against the game.

        Args:
            path: of a table with a line an action.
            game: what it plays; raises `ConfigError` without one.
        """
        if game is None:
            raise ConfigError(f"{path} is a table of probabilities, which does not say its game: name it with `game`")
        self.path, self.kind, self.metadata = path, Kind.STRATEGY, {}
        self.game, self.table = game, TabularStrategy.from_csv(path, game)

    def close(self) -> None:
        """Does nothing: the file was read at once."""


def view_game(
    game: Game[Any], table: TabularStrategy, build: Callable[[Game[Any]], PublicTree], *, is_partial: bool
) -> GameViews:
    """Returns what is held, played and won at public states of a game.

    Args:
        game: for two players.
        table: what is played.
        build: makes the public tree.
        is_partial: whether the strategy moves uniformly where it has nothing.
    """
    if game.spec.num_players != 2:
        raise ConfigError(f"public states are walked with 2 players, and {game.spec.label} has more")
    tree = build(game)
    form = game.public_form if isinstance(game, HasPublicForm) else functools.partial(derive_public_game, game)
    return GameViews(tree, table.to_tree(tree, is_partial=is_partial), form)


def encode_state(state: Mapping[str, npt.NDArray[np.generic]]) -> dict[str, Array | Sequence[str]]:
    """Returns a solver's arrays as content of a file."""
    return {STATE_PREFIX + name: np.asarray(array) for name, array in state.items()}
