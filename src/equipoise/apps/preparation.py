# SPDX-License-Identifier: Apache-2.0
"""From a game and a configuration to a solver that is ready to run, sizes said before anything is allocated."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console

from equipoise.apps.display import BuildDisplay, format_duration
from equipoise.apps.methods import find_method
from equipoise.core.errors import GameTooLargeError
from equipoise.core.files import format_bytes
from equipoise.core.memory import available_bytes, check_memory
from equipoise.games.base import Game
from equipoise.solvers.driver import Solver
from equipoise.solvers.saved_run import RunConfig
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.cache import load_or_build_history_tree
from equipoise.trees.history import HistoryTree

__all__ = ["PreparedRun", "build_tree", "prepare"]

BUILD_BYTES_PER_HISTORY = 200  # measured peak while a tree is built: growing arrays, their copies, labels


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRun:
    """A solver with the facts about its tree."""

    solver: Solver
    make_strategy: Callable[[], TabularStrategy]  # what the run would output now
    num_histories: int
    num_infosets: int
    tree_bytes: int
    table_bytes: int
    build_seconds: float


def build_tree(game: Game[Any], *, max_histories: int, console: Console) -> HistoryTree:
    """Returns the tree of a game; refuses one that is larger than the limit or than memory, with figures."""
    label = game.spec.label
    available = available_bytes()
    fitting = max_histories if available is None else max(1, available // BUILD_BYTES_PER_HISTORY)
    with BuildDisplay(console, label) as display:
        try:
            return load_or_build_history_tree(
                game, max_histories=min(max_histories, fitting), on_progress=display.update
            )
        except GameTooLargeError:
            if fitting >= max_histories or available is None:
                raise
            raise GameTooLargeError(
                f"{label} does not fit in memory: {format_bytes(available)} are available, enough to build a tree of "
                f"about {fitting:,} histories, and it has more"
            ) from None


def prepare(game: Game[Any], config: RunConfig, *, max_histories: int, console: Console) -> PreparedRun:
    """Returns a fresh run of a configuration, after saying what it takes."""
    began = time.perf_counter()
    tree = build_tree(game, max_histories=max_histories, console=console)
    build_seconds = time.perf_counter() - began
    method = find_method(config.method)
    size, table_bytes = tree.size, method.estimate_bytes(tree, config)
    console.print(
        f"{game.spec.label}: {size.num_histories:,} histories, {size.num_infosets:,} information sets; "
        f"tree {format_bytes(size.num_bytes)}, tables {format_bytes(table_bytes)}; "
        f"ready in {format_duration(build_seconds)}"
    )
    check_memory(table_bytes, f"solving {game.spec.label} with {config.method}")
    solver = method.build(tree, config)
    return PreparedRun(
        solver=solver,
        make_strategy=lambda: TabularStrategy.from_tree(tree, solver.average_strategy()),
        num_histories=size.num_histories,
        num_infosets=size.num_infosets,
        tree_bytes=size.num_bytes,
        table_bytes=table_bytes,
        build_seconds=build_seconds,
    )
