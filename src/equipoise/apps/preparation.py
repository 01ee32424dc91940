# SPDX-License-Identifier: Apache-2.0
"""From a game and a configuration to a solver that is ready to run, sizes said before anything is allocated."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from equipoise.apps.display import BuildDisplay, format_duration
from equipoise.apps.methods import build_solver, estimate_bytes
from equipoise.apps.parse import format_game
from equipoise.core.errors import GameTooLargeError
from equipoise.core.files import format_bytes
from equipoise.core.memory import available_bytes, check_memory
from equipoise.games.base import Game
from equipoise.solvers.driver import Solver
from equipoise.solvers.saved_run import RunConfig
from equipoise.solvers.solve import Form
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.cache import load_or_build_history_tree, load_or_build_public_tree
from equipoise.trees.history import BYTES_PER_HISTORY, HistoryTree, estimate_num_histories
from equipoise.trees.public import PublicTree

__all__ = ["GrownTree", "PreparedRun", "build_tree", "grow_tree", "prepare"]

WORTH_SAYING = 50_000  # histories; smaller trees are there before anybody has read their estimate
# The estimate is unbiased, so by Markov's inequality at most one game in this many is refused that would have fitted.
HOPELESS_RATIO = 100


class _BytesPerHistory(NamedTuple):
    """What a tree takes, measured."""

    finished: int  # arrays
    building: int  # peak: growing arrays, their copies, labels


# the vector form's are the most that was met, in tic-tac-toe, where every history is a public state of its own;
# Liar's Dice takes 30 and 280
BYTES: Mapping[Form, _BytesPerHistory] = {
    Form.HISTORY: _BytesPerHistory(finished=BYTES_PER_HISTORY, building=200),
    Form.VECTOR: _BytesPerHistory(finished=150, building=1200),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GrownTree:
    """A tree with the game it is of and what it took."""

    game: Game[Any]
    tree: HistoryTree | PublicTree
    num_histories: int
    num_infosets: int
    num_bytes: int
    seconds: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRun:
    """A solver with the tree that it works on."""

    grown: GrownTree
    solver: Solver
    make_strategy: Callable[[], TabularStrategy]  # what the run would output now
    table_bytes: int


def build_tree(game: Game[Any], *, max_histories: int, console: Console) -> HistoryTree:
    """Returns the history tree of a game; refuses one that is larger than the limit or than memory, with figures."""
    with (
        _size_guard(game, Form.HISTORY, max_histories, console) as limit,
        BuildDisplay(console, format_game(game)) as display,
    ):
        return load_or_build_history_tree(game, max_histories=limit, on_progress=display.update)


def build_vector_tree(game: Game[Any], *, max_histories: int, console: Console) -> PublicTree:
    """Returns the public tree of a game; refuses one that is larger than the limit or than memory, with figures."""
    with (
        _size_guard(game, Form.VECTOR, max_histories, console) as limit,
        BuildDisplay(console, format_game(game)) as display,
    ):
        return load_or_build_public_tree(game, max_histories=limit, on_progress=display.update)


def grow_tree(game: Game[Any], form: str, *, max_histories: int, console: Console) -> GrownTree:
    """Returns the tree of a game in either form with its sizes, which are also said."""
    began = time.perf_counter()
    tree: HistoryTree | PublicTree
    if form == Form.VECTOR:
        tree = build_vector_tree(game, max_histories=max_histories, console=console)
        num_histories, shape = (
            tree.num_histories or 0,
            f"{tree.actor.size:,} public states, {tree.cells.num_cells:,} cells, ",
        )
    else:
        tree = build_tree(game, max_histories=max_histories, console=console)
        num_histories, shape = tree.actor.size, ""
    seconds = time.perf_counter() - began
    size = tree.size
    console.print(
        f"{format_game(game)}: {num_histories:,} histories, {shape}{size.num_infosets:,} information sets, "
        f"{form} tree of {format_bytes(size.num_bytes)} in {format_duration(seconds)}"
    )
    return GrownTree(
        game=game,
        tree=tree,
        num_histories=num_histories,
        num_infosets=size.num_infosets,
        num_bytes=size.num_bytes,
        seconds=seconds,
    )


def prepare(grown: GrownTree, config: RunConfig, *, console: Console) -> PreparedRun:
    """Returns a fresh run of a configuration, after saying what its tables take and refusing what does not fit."""
    tree = grown.tree
    table_bytes = estimate_bytes(tree, config)
    name = config.rule or config.method
    console.print(f"{name}: tables of {format_bytes(table_bytes)}")
    check_memory(table_bytes, f"solving {format_game(grown.game)} with {name}")
    solver = build_solver(tree, config)
    return PreparedRun(
        grown=grown,
        solver=solver,
        make_strategy=lambda: TabularStrategy.from_tree(tree, solver.average_strategy()),
        table_bytes=table_bytes,
    )


@contextlib.contextmanager
def _size_guard(game: Game[Any], form: Form, max_histories: int, console: Console) -> Iterator[int]:
    """Says what size to expect and yields the histories that may be built; explains a game that has more."""
    label = format_game(game)
    available = available_bytes()
    fitting = max_histories if available is None else max(1, available // BYTES[form].building)
    limit = min(max_histories, fitting)
    expected = estimate_num_histories(game, rng=np.random.default_rng(0))
    if expected >= WORTH_SAYING:
        console.print(
            f"{label}: about {expected:.2g} histories expected by sampling, {_tree_bytes(expected, form)} as a tree"
        )
    if expected > HOPELESS_RATIO * limit:
        raise GameTooLargeError(
            f"{label} is too large: sampling suggests about {expected:.2g} histories, that is "
            f"{_tree_bytes(expected, form)} as a tree. What fits: smaller parameters with at most {limit:,} histories "
            f"({_tree_bytes(limit, form)})"
        )
    try:
        yield limit
    except GameTooLargeError:
        if fitting >= max_histories or available is None:
            raise
        raise GameTooLargeError(
            f"{label} does not fit in memory: {format_bytes(available)} are available, enough to build a tree of "
            f"about {fitting:,} histories, and it has more; sampling suggests about {expected:.2g}"
        ) from None


def _tree_bytes(num_histories: float, form: Form) -> str:
    most = "at most " if form is Form.VECTOR else ""
    return most + format_bytes(num_histories * BYTES[form].finished)
