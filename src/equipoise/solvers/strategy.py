# SPDX-License-Identifier: Apache-2.0
"""Strategies as tables: what each player does at each information state, by name.

The table knows names alone, so it outlives the tree it was computed on and moves between trees of the same game, in
whatever order and form these number things. Solvers work on arrays of a tree instead.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core import checkpoint
from equipoise.core.checkpoint import Checkpoint, Kind
from equipoise.core.checks import check_flag, check_number, check_text
from equipoise.core.errors import CheckpointError, ConfigError, InvalidStateError
from equipoise.core.files import StrPath, write_text
from equipoise.core.formatting import shorten_text, show_given
from equipoise.core.frames import make_frame
from equipoise.core.markup import MOST_ROWS, html_line, join_html
from equipoise.games.base import Game
from equipoise.games.public import HasPublicForm
from equipoise.games.registry import take_game
from equipoise.kernels.calls import check_integer
from equipoise.solvers.best_response import bind_history_kernel
from equipoise.solvers.infostate_rows import html_rows
from equipoise.solvers.strategy_rows import (
    COLUMNS,
    Row,
    fill_probabilities,
    format_csv,
    read_csv,
    read_dict,
    read_frame,
)
from equipoise.trees.cache import load_or_build_history_tree, load_or_build_public_tree
from equipoise.trees.history import HistoryTree, check_tree
from equipoise.trees.public import PublicTree
from equipoise.trees.segments import flatten_ranges

__all__ = ["TabularStrategy", "check_table", "combine_seats", "list_entries", "mix_strategies"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]
Subject = Game[Any] | str | HistoryTree | PublicTree  # what a strategy may be said to play

PREFIX = "strategy."  # of the table's arrays in a file
SUM_TOLERANCE = 1e-9  # by which probabilities at an information state may miss 1


class _TreeRows(NamedTuple):
    """Where a tree keeps the probabilities of its information states, axes as in `TabularStrategy`."""

    player: IntArray  # [I]
    infostates: tuple[str, ...]  # [I]
    first_action: IntArray  # [I+1]
    actions: tuple[str, ...]  # [E]
    position: npt.NDArray[np.int64]  # [E] in an array over the tree
    blank: FloatArray  # an array over the tree with what a strategy leaves alone


def _tree_rows(tree: HistoryTree | PublicTree) -> _TreeRows:
    check_tree(tree, HistoryTree, PublicTree)
    if isinstance(tree, PublicTree):
        index, first = _find_entries(tree)
        return _TreeRows(
            tree.infoset_player(), tree.infoset_labels, first, tree.sequence_labels(), index, tree.legal_share
        )
    index, first = _find_entries(tree)
    actions = tuple(tree.sequence_labels[sequence] for sequence in index)
    blank = np.ones(int(tree.sequence_start[-1]))
    return _TreeRows(tree.infoset_player(), tree.infoset_labels, first, actions, index, blank)


def _find_entries(tree: HistoryTree | PublicTree) -> tuple[npt.NDArray[np.int64], IntArray]:
    """Returns `[E]` where the actions of information states stand in a table over a tree, `[I+1]` the first of each."""
    if isinstance(tree, PublicTree):
        return tree.sequence_cell.astype(np.int64), tree.infoset_start
    first = np.zeros(tree.num_actions.size + 1, np.int32)
    np.cumsum(tree.num_actions, out=first[1:])
    return flatten_ranges(tree.first_sequence, tree.num_actions), first


def check_table(tree: HistoryTree | PublicTree, table: FloatArray) -> None:
    """Raises `ConfigError` unless a table over a tree, of the tree's size, has probabilities that sum to 1."""
    position, first = _find_entries(tree)
    _check_shares(table[position], first, tree.infoset_labels)


def _check_shares(shares: FloatArray, first: IntArray, infostates: Sequence[str]) -> None:
    """Raises `ConfigError` unless `[E]` numbers are probabilities at every information state."""
    if not np.isfinite(shares).all() or (shares < 0).any():
        raise ConfigError("probabilities must be finite and at least 0")
    if not shares.size:
        return
    sums = np.add.reduceat(shares, first[:-1])
    worst = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[worst] - 1) > SUM_TOLERANCE:
        raise ConfigError(f"probabilities at {infostates[worst]!r} must sum to 1, got {sums[worst]}")


def list_entries(tree: HistoryTree | PublicTree, numbers: npt.NDArray[Any]) -> FloatArray:
    """Returns `[E]` numbers over a tree, such as regrets, in the order of `TabularStrategy.from_tree`."""
    rows = _tree_rows(tree)
    if numbers.shape != rows.blank.shape:
        raise ConfigError(f"numbers over {tree.game_label} must have shape {rows.blank.shape}, got {numbers.shape}")
    return np.asarray(numbers[rows.position], dtype=np.float64)


def _find_tree(game: Subject) -> HistoryTree | PublicTree:
    """Returns the tree of a game, of its name, or of itself."""
    if isinstance(game, HistoryTree | PublicTree):
        return game
    rules = take_game(game)
    return load_or_build_public_tree(rules) if isinstance(rules, HasPublicForm) else load_or_build_history_tree(rules)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class TabularStrategy:
    """Action probabilities at the information states of all players; axis I information states, E their actions.

    >>> import equipoise
    >>> strategy = equipoise.solve("kuhn", iterations=1000).strategy
    >>> strategy.action_names(1, "K:b"), strategy.probabilities(1, "K:b").round(2)
    (('fold', 'call'), array([0., 1.]))
    """

    game_label: str
    player: IntArray  # [I]
    infostates: tuple[str, ...]  # [I] unique for each player
    first_action: IntArray  # [I+1] into the axis E
    actions: tuple[str, ...]  # [E] names, unique at each information state
    probability: FloatArray  # [E]

    def __post_init__(self) -> None:
        num_infostates, num_actions = len(self.infostates), len(self.actions)
        if self.player.shape != (num_infostates,) or self.first_action.shape != (num_infostates + 1,):
            raise ConfigError(f"player and first_action must have {num_infostates} and one more entries")
        if self.first_action[0] != 0 or self.first_action[-1] != num_actions or (np.diff(self.first_action) < 1).any():
            raise ConfigError(f"first_action must ascend from 0 to {num_actions}")
        if self.probability.shape != (num_actions,):
            raise ConfigError(f"probability must have shape ({num_actions},), got {self.probability.shape}")
        _check_shares(self.probability, self.first_action, self.infostates)

    def __repr__(self) -> str:
        return f"<TabularStrategy of {shorten_text(self.game_label, 120)}: {len(self.infostates):,} information states>"

    def _repr_html_(self) -> str:
        shown = {f"{self.player[row]}: {name}": self.row(row) for row, name in enumerate(self.infostates[:MOST_ROWS])}
        return join_html(html_line(repr(self)), html_rows(shown, len(self.infostates)))

    @classmethod
    def from_tree(cls, tree: HistoryTree | PublicTree, strategy: FloatArray) -> TabularStrategy:
        """Returns a strategy over a tree (`[Q]`, or a public tree's cells) as a table, in the tree's order."""
        rows = _tree_rows(tree)
        if strategy.shape != rows.blank.shape:
            raise ConfigError(
                f"a strategy on {tree.game_label} must have shape {rows.blank.shape}, got {strategy.shape}"
            )
        return cls(
            game_label=tree.game_label,
            player=rows.player,
            infostates=rows.infostates,
            first_action=rows.first_action,
            actions=rows.actions,
            probability=np.asarray(strategy[rows.position], dtype=np.float64),
        )

    def to_tree(self, tree: HistoryTree | PublicTree, *, is_partial: bool = False) -> FloatArray:
        """Returns the strategy in a tree's numbering, 1 at empty sequences (uniform at a public tree's padding).

        Raises `ConfigError` naming the first information state or action that the tree has and the table lacks; with
        `is_partial` information states that the table lacks are played uniformly. The table may have more than the
        tree.
        """
        rows = _tree_rows(tree)
        out = rows.blank.copy()
        for infoset, player in enumerate(rows.player.tolist()):
            first, last = rows.first_action[infoset], rows.first_action[infoset + 1]
            where, names = rows.position[first:last], rows.actions[first:last]
            if is_partial and (player, rows.infostates[infoset]) not in self._rows:
                out[where] = 1.0 / len(names)
                continue
            row = self._find(player, rows.infostates[infoset], f"{tree.game_label} asks for it")
            start, end = self.first_action[row], self.first_action[row + 1]
            if self.actions[start:end] == names:
                out[where] = self.probability[start:end]
                continue
            table = dict(zip(self.actions[start:end], self.probability[start:end], strict=True))
            if set(table) != set(names):
                raise ConfigError(
                    f"the strategy for {self.game_label} has actions {', '.join(table)} at {self.infostates[row]!r} of "
                    f"player {player}, expected {', '.join(names)}"
                )
            out[where] = [table[name] for name in names]
        return out

    def probabilities(self, player: int, infostate: str) -> FloatArray:
        """Returns `[A]` the probability of each action, in the game's order; `action_names` has the same order."""
        start, end = self._span(player, infostate)
        return self.probability[start:end].copy()

    def probabilities_or_none(self, player: int, infostate: str) -> FloatArray | None:
        """Returns `[A]` the probability of each action, None where the table has nothing: it may be partial."""
        row = self._rows.get((player, infostate))
        return None if row is None else self.probability[self.first_action[row] : self.first_action[row + 1]]

    def action_names(self, player: int, infostate: str) -> tuple[str, ...]:
        """Returns `[A]` the names of the actions at an information state."""
        start, end = self._span(player, infostate)
        return self.actions[start:end]

    def row(self, index: int) -> dict[str, float]:
        """Returns the probability of each action by name at the information state of that index."""
        check_integer("index", index, 0, len(self.infostates) - 1)
        start, end = self.first_action[index], self.first_action[index + 1]
        return {
            name: float(value) for name, value in zip(self.actions[start:end], self.probability[start:end], strict=True)
        }

    def to_rows(self, indices: Iterable[int] | None = None) -> Iterator[Row]:
        """Yields one row an action, of all information states or of those of some indices."""
        for index in range(len(self.infostates)) if indices is None else indices:
            for action, probability in self.row(index).items():
                yield Row(int(self.player[index]), self.infostates[index], action, probability)

    @classmethod
    def from_rows(cls, rows: Iterable[Row], game: Subject, *, is_partial: bool = False) -> TabularStrategy:
        """Returns a strategy that is written row by row, once all of it is checked against the game.

        Args:
            rows: in any order; actions that are left out have probability 0.
            game: what it plays: the game, its name or its tree.
            is_partial: whether information states that are left out are played uniformly; an error else.

        Raises:
            ConfigError: information states or actions that the game lacks, probabilities that do not sum to 1,
                information states of which nothing is said: which ones.
        """
        check_flag("is_partial", is_partial)
        tree = _find_tree(game)
        places = _tree_rows(tree)
        first = places.first_action.tolist()
        labels = [
            (player, places.infostates[row], places.actions[first[row] : first[row + 1]])
            for row, player in enumerate(places.player.tolist())
        ]
        return cls(
            game_label=tree.game_label,
            player=places.player,
            infostates=places.infostates,
            first_action=places.first_action,
            actions=places.actions,
            probability=fill_probabilities(rows, labels, label=tree.game_label, is_partial=is_partial),
        )

    def to_dict(self) -> dict[int, dict[str, dict[str, float]]]:
        """Returns the probability of each action by player, information state and name.

        >>> from equipoise.runs.solution import solve
        >>> table = solve("kuhn", target=1e-3).strategy.to_dict()
        >>> round(table[1]["K:b"]["call"], 2)
        1.0
        """
        table: dict[int, dict[str, dict[str, float]]] = {}
        for row in self.to_rows():
            table.setdefault(row.player, {}).setdefault(row.infostate, {})[row.action] = row.probability
        return table

    @classmethod
    def from_dict(
        cls, table: Mapping[Any, Mapping[str, Mapping[str, float]]], game: Subject, *, is_partial: bool = False
    ) -> TabularStrategy:
        """Returns the strategy of `{player: {infostate: {action: probability}}}`, checked as by `from_rows`.

        >>> strategy = TabularStrategy.from_dict({0: {"K:": {"bet": 1.0}}}, "kuhn", is_partial=True)
        >>> strategy.probabilities(0, "K:").tolist()
        [0.0, 1.0]
        """
        return cls.from_rows(read_dict(table), game, is_partial=is_partial)

    def to_csv(self, path: StrPath) -> None:
        """Writes the strategy as CSV: player, infostate, action, probability, a line an action."""
        write_text(path, format_csv(self.to_rows()))

    @classmethod
    def from_csv(cls, path: StrPath, game: Subject, *, is_partial: bool = False) -> TabularStrategy:
        """Returns the strategy in a CSV file, written by `to_csv`, by `show --csv --limit 0` or by hand."""
        return cls.from_rows(read_csv(path), game, is_partial=is_partial)

    def to_frame(self, library: str | None = None) -> Any:
        """Returns the strategy as a data frame of pandas or polars, a row an action."""
        columns = zip(*self.to_rows(), strict=True)
        return make_frame(dict(zip(COLUMNS, map(list, columns), strict=True)), library)

    @classmethod
    def from_frame(cls, frame: Any, game: Subject, *, is_partial: bool = False) -> TabularStrategy:
        """Returns the strategy in a data frame with the columns of `to_frame`, checked as by `from_rows`."""
        return cls.from_rows(read_frame(frame), game, is_partial=is_partial)

    def save(self, path: StrPath, metadata: Mapping[str, Any] | None = None) -> None:
        """Writes the strategy to a file atomically, with metadata of the caller's."""
        checkpoint.save(path, Kind.STRATEGY, {**(metadata or {}), "game_label": self.game_label}, self.encode())

    @classmethod
    def load(cls, path: StrPath) -> TabularStrategy:
        """Returns the strategy in a file, be it of a strategy alone or of a whole run."""
        return cls.decode(checkpoint.load(path, Kind.STRATEGY, Kind.RUN))

    def encode(self) -> dict[str, npt.NDArray[Any] | Sequence[str]]:
        """Returns the table as content of a file."""
        return {
            PREFIX + "player": self.player,
            PREFIX + "infostates": self.infostates,
            PREFIX + "first_action": self.first_action,
            PREFIX + "actions": self.actions,
            PREFIX + "probability": self.probability,
        }

    @classmethod
    def decode(cls, content: Checkpoint) -> TabularStrategy:
        """Returns the table in a file's content."""
        try:
            return cls(
                game_label=str(content.metadata["game_label"]),
                player=content.arrays[PREFIX + "player"],
                infostates=content.strings[PREFIX + "infostates"],
                first_action=content.arrays[PREFIX + "first_action"],
                actions=content.strings[PREFIX + "actions"],
                probability=content.arrays[PREFIX + "probability"],
            )
        except KeyError as error:
            raise CheckpointError(f"the file holds no strategy: {error} is missing") from None

    @functools.cached_property
    def _rows(self) -> dict[tuple[int, str], int]:
        return {key: row for row, key in enumerate(zip(self.player.tolist(), self.infostates, strict=True))}

    def _span(self, player: int, infostate: str) -> tuple[int, int]:
        """Returns where an information state's actions begin and end; raises `InvalidStateError` if it is unknown."""
        try:
            row = self._find(player, infostate)
        except ConfigError as error:
            raise InvalidStateError(str(error)) from None
        return int(self.first_action[row]), int(self.first_action[row + 1])

    def _find(self, player: int, infostate: str, reason: str = "") -> int:
        check_integer("player", player, 0)
        check_text("infostate", infostate)
        row = self._rows.get((player, infostate))
        if row is None:
            because = f" ({reason})" if reason else ""
            raise ConfigError(
                f"the strategy for {self.game_label} has nothing at {infostate!r} of player {player}{because}"
            )
        return row


def combine_seats(strategies: Sequence[TabularStrategy]) -> TabularStrategy:
    """Returns the profile in which seat i is played as the i-th strategy says; all are of one game.

    With two players in sum zero, seats of different equilibria are one again; in other games they need not be.

    >>> import equipoise
    >>> runs = [equipoise.solve("kuhn", rule, iterations=100) for rule in ("cfr", "cfr+")]
    >>> len(combine_seats([run.strategy for run in runs]).infostates)
    12
    """
    if not strategies or len({strategy.game_label for strategy in strategies}) != 1:
        labels = ", ".join(sorted({strategy.game_label for strategy in strategies})) or "nothing"
        raise ConfigError(f"seats must be of one game, got {labels}")
    num_players = int(max(strategy.player.max(initial=-1) for strategy in strategies)) + 1
    if len(strategies) != num_players:
        raise ConfigError(f"{strategies[0].game_label} has {num_players} seats, got {len(strategies)} strategies")
    rows = [
        row
        for player, strategy in enumerate(strategies)
        for row in strategy.to_rows(np.flatnonzero(strategy.player == player).tolist())
    ]
    return TabularStrategy.from_rows(rows, strategies[0].game_label)


def mix_strategies(
    tree: HistoryTree, first: TabularStrategy, second: TabularStrategy, *, weight: float
) -> TabularStrategy:
    """Returns the strategy that is, as a whole plan, `first` with probability `weight` and else `second`.

    Behaviour is weighted by each plan's own reach, so that values are mixed too: against any fixed opponents a player
    earns `weight` times the first plus `1 - weight` times the second. Where neither plan goes, behaviour is averaged.

    >>> from equipoise.games.kuhn import Kuhn
    >>> from equipoise.trees.history import build_history_tree
    >>> tree = build_history_tree(Kuhn())
    >>> sequences = range(int(tree.sequence_start[-1]))
    >>> names = [tree.sequence_labels[sequence] for sequence in sequences]
    >>> passive, active = (
    ...     TabularStrategy.from_tree(tree, np.array([float(name in ("", *always)) for name in names]))
    ...     for always in (("check", "fold"), ("bet", "call"))
    ... )
    >>> mix_strategies(tree, passive, active, weight=0.25).probabilities(0, "K:")
    array([0.25, 0.75])
    """
    check_number("weight", weight)
    if not 0 <= weight <= 1:
        raise ConfigError(f"weight must be between 0 and 1, got {weight}")
    for strategy in (first, second):
        if not isinstance(strategy, TabularStrategy):
            raise ConfigError(f"mixed are strategies such as TabularStrategy, got {show_given(strategy)}")
    kernel = bind_history_kernel(tree)
    out = np.zeros(int(tree.sequence_start[-1]))
    behaviour = np.zeros_like(out)
    for strategy, share in ((first, weight), (second, 1.0 - weight)):
        table = strategy.to_tree(tree)
        out += share * kernel.realize(table)
        behaviour += share * table
    taken = flatten_ranges(tree.first_sequence, tree.num_actions)
    counts = tree.num_actions
    reach = np.repeat(out[tree.parent_sequence], counts)
    mixed = np.ones_like(out)
    mixed[taken] = np.where(reach > 0, out[taken] / np.where(reach > 0, reach, 1.0), behaviour[taken])
    return TabularStrategy.from_tree(tree, mixed)
