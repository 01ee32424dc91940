# SPDX-License-Identifier: Apache-2.0
"""From a game and a configuration to a solver that is ready to run, sizes said before anything is allocated."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

import numpy as np

from equipoise.abstraction.joint_law import load_or_count_law
from equipoise.core.errors import GameTooLargeError
from equipoise.core.files import format_bytes
from equipoise.core.formatting import brief_repr, format_duration
from equipoise.core.memory import available_bytes, check_memory
from equipoise.core.reporting import Reporter
from equipoise.games.base import Game
from equipoise.games.holdem.bucket_law import has_law
from equipoise.games.holdem.bucketed_limit import BucketedLimitHoldem
from equipoise.games.public import HasPublicForm
from equipoise.games.registry import format_game
from equipoise.kernels.sampling import Scheme
from equipoise.responses.configured import build_run, estimate_run_bytes
from equipoise.solvers.driver import Solver
from equipoise.solvers.methods import build_treeless_solver, choose_rule
from equipoise.solvers.pruning import PrunedSolver
from equipoise.solvers.saved_run import RunConfig
from equipoise.solvers.stopping import Form, Stopping, TreeSolver
from equipoise.solvers.strategy import TabularStrategy
from equipoise.solvers.treeless_mccfr import TreelessMCCFRSolver, estimate_traversal_nodes
from equipoise.trees.cache import load_or_build_history_tree, load_or_build_public_tree
from equipoise.trees.history import (
    BYTES_PER_HISTORY,
    HOPELESS_RATIO,
    HistoryTree,
    describe_giant,
    estimate_num_histories,
    format_count,
    format_tree_bytes,
)
from equipoise.trees.public import PublicTree

__all__ = [
    "FINAL_PLAYOUTS",
    "GrownTree",
    "PreparedRun",
    "build_any_tree",
    "build_tree",
    "build_vector_tree",
    "find_tree",
    "grow_tree",
    "prepare",
]

WORTH_SAYING = 50_000  # histories; smaller trees are there before anybody has read their estimate
MEASURED_HISTORIES: Final = 1_000_000  # larger games are not enumerated merely to measure a run without a tree
MOST_TRAVERSAL_NODES: Final = 1e8  # of external sampling without a tree: a quarter of an hour that no Ctrl-C ends
BYTES_PER_INFOSET: Final = 500  # of a public form that is not enumerated, peak while building, measured
FINAL_PLAYOUTS: Final = 2000  # of each player, behind the figures of a result that cannot be exact


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
    """A tree, if there is one, with the game it is of and what it took."""

    game: Game[Any]
    tree: HistoryTree | PublicTree | None
    num_histories: int | None
    num_infosets: int | None
    num_bytes: int
    seconds: float
    why: str | None = None  # there is no tree, and so no exploitability

    __repr__ = brief_repr


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRun:
    """A solver with the tree or the game that it works on."""

    grown: GrownTree
    config: RunConfig
    solver: Solver
    initial_bytes: int  # of the solver's tables

    __repr__ = brief_repr

    @property
    def table_bytes(self) -> int:
        """Returns what the solver's tables take now."""
        if isinstance(self.solver, PrunedSolver):
            return self.solver.bytes_in_use
        return self.solver.tables.num_bytes if isinstance(self.solver, TreelessMCCFRSolver) else self.initial_bytes

    def make_strategy(self) -> TabularStrategy:
        """Returns what the run would output now."""
        if isinstance(self.solver, TreelessMCCFRSolver):
            return self.solver.average_strategy()
        assert self.grown.tree is not None
        return TabularStrategy.from_tree(self.grown.tree, cast("TreeSolver", self.solver).average_strategy())

    @property
    def is_full(self) -> bool:
        """Returns whether tables that grow have reached their limit, so that the run is over."""
        return isinstance(self.solver, TreelessMCCFRSolver) and self.solver.is_full


def build_tree(game: Game[Any], *, max_histories: int, reporter: Reporter) -> HistoryTree:
    """Returns the history tree of a game; refuses one that is larger than the limit or than memory, with figures."""
    with (
        _size_guard(game, Form.HISTORY, max_histories, reporter) as limit,
        reporter.growth(format_game(game)) as on_growth,
    ):
        return load_or_build_history_tree(game, max_histories=limit, on_progress=on_growth)


def build_vector_tree(game: Game[Any], *, max_histories: int, reporter: Reporter) -> PublicTree:
    """Returns the public tree of a game; refuses one that is larger than the limit or than memory, with figures."""
    if isinstance(game, HasPublicForm):
        return _build_public_form(game, reporter)
    with (
        _size_guard(game, Form.VECTOR, max_histories, reporter) as limit,
        reporter.growth(format_game(game)) as on_growth,
    ):
        return load_or_build_public_tree(game, max_histories=limit, on_progress=on_growth)


def build_any_tree(game: Game[Any], *, max_histories: int, reporter: Reporter) -> HistoryTree | PublicTree:
    """Returns the history tree of a game, or the public tree of one that says its public form itself."""
    if isinstance(game, HasPublicForm):
        return _build_public_form(game, reporter)
    return build_tree(game, max_histories=max_histories, reporter=reporter)


def _build_public_form(game: Game[Any], reporter: Reporter) -> PublicTree:
    """Returns the public tree of a game that need not be enumerated, sizes said beforehand."""
    assert isinstance(game, HasPublicForm)
    label, num_infosets = format_game(game), game.count_infosets()
    num_bytes = BYTES_PER_INFOSET * num_infosets
    if num_infosets >= WORTH_SAYING:
        reporter.say(f"{label}: {num_infosets:,} information sets, about {format_bytes(num_bytes)} while it is built")
    check_memory(num_bytes, f"the tree of {label}")
    if isinstance(game, BucketedLimitHoldem) and not has_law(game.buckets):
        reporter.say(f"{label}: counting every deal of the cards for its joint law, once and for all; minutes")
        with reporter.task("joint law") as on_step:
            load_or_count_law(game.buckets, on_progress=on_step)
    with reporter.task(f"building {label}") as on_step:
        return load_or_build_public_tree(
            game, on_progress=lambda count, done: on_step(done, f"{count:,} public states")
        )


def find_tree(game: Game[Any], *, max_histories: int, reporter: Reporter) -> tuple[HistoryTree | None, str]:
    """Returns the history tree of a game if it is likely to fit, else None and why there is none."""
    label = format_game(game)
    expected = estimate_num_histories(game, rng=np.random.default_rng(0))
    why = (
        f"{label} has {format_count(expected)} histories, by sampling; a best response would visit all of them, and "
        f"at most {max_histories:,} are enumerated to measure a run"
    )
    if expected > max_histories:
        return None, why
    try:
        return build_tree(game, max_histories=max_histories, reporter=reporter), ""
    except GameTooLargeError as error:
        return None, str(error)


def grow_tree(game: Game[Any], form: str, *, max_histories: int, reporter: Reporter) -> GrownTree:
    """Returns the tree of a game in either form with its sizes, which are also said; none may fit in the form game."""
    if form == Form.GAME:
        return _grow_for_measuring(game, max_histories=min(max_histories, MEASURED_HISTORIES), reporter=reporter)
    try:
        return _grow(game, form, max_histories=max_histories, reporter=reporter)
    except GameTooLargeError as error:
        other = "Without a tree: `form` game, under `method` external or outcome"
        if isinstance(game, HasPublicForm) and form != Form.VECTOR:
            other = "Its public states fit: `form` vector"
        raise GameTooLargeError(f"{error}. {other}") from None


def _grow_for_measuring(game: Game[Any], *, max_histories: int, reporter: Reporter) -> GrownTree:
    """Returns the tree that makes evaluations exact, or why there is none."""
    began = time.perf_counter()
    tree, why = find_tree(game, max_histories=max_histories, reporter=reporter)
    if tree is None:
        reporter.warn(f"no exploitability: {why}")
    return GrownTree(
        game=game,
        tree=tree,
        num_histories=None if tree is None else tree.actor.size,
        num_infosets=None if tree is None else tree.size.num_infosets,
        num_bytes=0 if tree is None else tree.size.num_bytes,
        seconds=time.perf_counter() - began,
        why=why or None,
    )


def _grow(game: Game[Any], form: str, *, max_histories: int, reporter: Reporter) -> GrownTree:
    began = time.perf_counter()
    tree: HistoryTree | PublicTree
    num_histories: int | None
    if form == Form.VECTOR:
        tree = build_vector_tree(game, max_histories=max_histories, reporter=reporter)
        num_histories, shape = (
            tree.num_histories,
            f"{tree.actor.size:,} public states, {tree.cells.num_cells:,} cells, ",
        )
    else:
        tree = build_tree(game, max_histories=max_histories, reporter=reporter)
        num_histories, shape = tree.actor.size, ""
    seconds = time.perf_counter() - began
    size = tree.size
    if num_histories is not None:
        shape = f"{num_histories:,} histories, {shape}"
    reporter.say(
        f"{format_game(game)}: {shape}{size.num_infosets:,} information sets, "
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


def prepare(
    grown: GrownTree, config: RunConfig, *, reporter: Reporter, stopping: Stopping | None = None
) -> PreparedRun:
    """Returns a fresh run of a configuration, after saying what its tables take and refusing what does not fit.

    Args:
        grown: what it works on.
        config: what is computed.
        reporter: is told about sizes.
        stopping: where it will stop, by which periods of linear discounting are chosen; None: it goes on with a run.
    """
    build, num_bytes = _plan(grown, config, reporter)
    if stopping is not None:
        config = choose_rule(config, build, stopping)
    solver = build(config)
    return PreparedRun(grown=grown, config=config, solver=solver, initial_bytes=num_bytes)


def _plan(grown: GrownTree, config: RunConfig, reporter: Reporter) -> tuple[Callable[[RunConfig], Solver], int]:
    """Returns what builds a run, and what its tables take; raises where they do not fit."""
    if config.form == Form.GAME:
        _check_treeless(grown, config, reporter)
        return lambda one: build_treeless_solver(grown.game, _history_tree(grown), one), 0
    tree = grown.tree
    assert tree is not None
    table_bytes = estimate_run_bytes(tree, config)
    name = config.rule or config.method
    reporter.say(f"{name}: tables of {format_bytes(table_bytes)}")
    check_memory(table_bytes, f"solving {format_game(grown.game)} with {name}")
    return lambda one: build_run(tree, one), table_bytes


def _history_tree(grown: GrownTree) -> HistoryTree | None:
    assert not isinstance(grown.tree, PublicTree)
    return grown.tree


def _check_treeless(grown: GrownTree, config: RunConfig, reporter: Reporter) -> None:
    """Says how far the tables of a run on the rules may grow; raises if a single traversal would take too long."""
    solver = build_treeless_solver(grown.game, _history_tree(grown), config)
    name = f"{config.method} sampling of {format_game(grown.game)}"
    limit = "" if math.isinf(solver.max_bytes) else f", up to {format_bytes(solver.max_bytes)}"
    reporter.say(f"{name}, no tree: tables grow with the information states met{limit}")
    if solver.config.scheme is Scheme.EXTERNAL:
        nodes = estimate_traversal_nodes(grown.game, rng=np.random.default_rng(0))
        reporter.say(f"about {nodes:.2g} nodes a traversal")
        if nodes > MOST_TRAVERSAL_NODES:
            raise GameTooLargeError(
                f"{name} would visit about {nodes:.2g} nodes in a single traversal, at most "
                f"{MOST_TRAVERSAL_NODES:.2g} are sensible; `method` outcome walks single paths"
            )


@contextlib.contextmanager
def _size_guard(game: Game[Any], form: Form, max_histories: int, reporter: Reporter) -> Iterator[int]:
    """Says what size to expect and yields the histories that may be built; explains a game that has more."""
    label = format_game(game)
    available = available_bytes()
    fitting = max_histories if available is None else max(1, available // BYTES[form].building)
    limit = min(max_histories, fitting)
    # with public states to fall back on, nobody should wait for what will not fit
    most = (1 if isinstance(game, HasPublicForm) else HOPELESS_RATIO) * limit
    expected = estimate_num_histories(game, rng=np.random.default_rng(0))
    if WORTH_SAYING <= expected <= most:
        reporter.say(
            f"{label}: about {expected:.2g} histories expected by sampling, {_tree_bytes(expected, form)} as a tree"
        )
    if expected > most:
        raise GameTooLargeError(describe_giant(label, expected, limit, lambda count: _tree_bytes(count, form)))
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
    most = "at most " if form is Form.VECTOR and math.isfinite(num_histories) else ""
    return most + format_tree_bytes(num_histories, BYTES[form].finished)
