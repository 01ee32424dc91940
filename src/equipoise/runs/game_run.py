# SPDX-License-Identifier: Apache-2.0
"""A solve of a game: from what is asked to a run, its configuration and its limits."""

from __future__ import annotations

import dataclasses
from typing import Any

from equipoise.core.errors import ConfigError
from equipoise.core.files import StrPath
from equipoise.core.own_code import parse_class_text
from equipoise.core.reporting import Reporter
from equipoise.games.base import Game
from equipoise.games.own import find_own_text
from equipoise.games.parameters import format_value
from equipoise.games.public import HasPublicForm
from equipoise.games.registry import format_game
from equipoise.responses.configured import check_against, describe_against
from equipoise.runs.preparation import FINAL_PLAYOUTS, GrownTree, PreparedRun, build_vector_tree, grow_tree, prepare
from equipoise.runs.request import BEST, RunRequest
from equipoise.runs.run import Quality, Run, RunSizes, check_resumable
from equipoise.search.last_iterates import play_regrets
from equipoise.solvers.average_regret import bound_average_regrets
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.game_views import GameViews
from equipoise.solvers.methods import (
    ALTERNATING,
    LINEAR,
    METHODS,
    Method,
    check_config,
    find_method,
    normalize_pruning,
    normalize_rule,
)
from equipoise.solvers.pruned_warm_start import warm_start_pruned
from equipoise.solvers.pruning import PrunedSolver
from equipoise.solvers.saved_run import RunConfig
from equipoise.solvers.solution_file import SolvedGame, view_game
from equipoise.solvers.stopping import Form, Stopping
from equipoise.solvers.strategy import TabularStrategy
from equipoise.solvers.substitution import WarmStart, WarmStartReport
from equipoise.solvers.treeless_mccfr import TreelessMCCFRSolver
from equipoise.solvers.warm_start import warm_start
from equipoise.trees.history import DEFAULT_MAX_HISTORIES, HistoryTree
from equipoise.trees.public import PublicTree
from equipoise.trees.vector import TreeStrategy

__all__ = ["GameRun", "choose_rule_text", "find_stopping", "make_config", "prepare_game"]


def prepare_game(
    game: Game[Any], request: RunRequest, reporter: Reporter, saved: SolvedGame | None = None, *, where: object = None
) -> GameRun:
    """Returns the run that is asked for, sizes said, what does not fit refused.

    Args:
        game: what is solved.
        request: how.
        reporter: is told about sizes.
        saved: the run to go on with, None for a fresh one.
        where: that is kept, for messages.
    """
    if request.precision is not None:
        raise ConfigError(f"`precision` is for hold'em spots, and {game.spec.name} is a game")
    config = make_config(game, request, saved)
    if saved is not None:
        check_resumable(where, saved.config, config)
    check_config(config)
    check_against(config)
    find_stopping(game, request)  # what is wrong is said before a tree is built
    grown = grow_tree(game, config.form, max_histories=request.max_histories, reporter=reporter)
    stopping, is_target_asked_for = _find_stopping(grown, config.method, request)
    prepared = prepare(grown, config, reporter=reporter, stopping=stopping if saved is None else None)
    run = GameRun(prepared, stopping, saved, is_target_asked_for=is_target_asked_for)
    run.keeps_best = request.keep == BEST
    if run.keeps_best and grown.why is not None:
        raise ConfigError(f"the best profile is that with the lowest exploitability; {grown.why}")
    if saved is not None:
        run.solver.restore(saved.state)
    if request.num_threads is None and saved is None:  # else what it had before
        run.try_threads()
    return run


class GameRun(Run):
    """A run on a game.

    >>> from equipoise.runs import RunRequest, prepare_run
    >>> run = prepare_run("leduc", RunRequest(iterations=10))
    >>> isinstance(run, GameRun), run.game.spec.name
    (True, 'leduc')
    """

    def __init__(
        self, prepared: PreparedRun, stopping: Stopping, saved: SolvedGame | None, *, is_target_asked_for: bool
    ) -> None:
        self.prepared = prepared
        method = METHODS.get(prepared.config.method)  # None: somebody's own
        self.is_exact = method is not None and method.is_exact
        super().__init__(
            name=format_game(prepared.grown.game),
            config=prepared.config,
            solver=prepared.solver,
            stopping=stopping,
            records=list(saved.progress) if saved is not None else [],
            is_target_asked_for=is_target_asked_for,
        )

    @property
    def game(self) -> Game[Any]:
        """Returns what is solved."""
        return self.prepared.grown.game

    @property
    def is_full(self) -> bool:
        """Returns whether tables that grow have reached their limit, so that the run is over."""
        return self.prepared.is_full

    @property
    def sizes(self) -> RunSizes:
        """Returns how large it is now."""
        grown = self.prepared.grown
        return RunSizes(
            num_histories=grown.num_histories,
            num_infosets=grown.num_infosets,
            tree_bytes=grown.num_bytes,
            table_bytes=self.prepared.table_bytes,
            build_seconds=grown.seconds,
            why=grown.why,
        )

    def set_limits(self, request: RunRequest) -> None:
        """Sets where the run stops when it goes on."""
        self.stopping, self.is_target_asked_for = _find_stopping(self.prepared.grown, self.config.method, request)

    def strategy(self) -> TabularStrategy:
        """Returns what the run would output now."""
        with self._guarded.turns.taken():
            return self.prepared.make_strategy()

    def views(self) -> GameViews:
        """Returns what is held, played and won at public states now; where there is no public tree, it is built."""
        grown = self.prepared.grown

        def build(game: Game[Any]) -> PublicTree:
            if isinstance(grown.tree, PublicTree):
                return grown.tree
            return build_vector_tree(game, max_histories=DEFAULT_MAX_HISTORIES, reporter=Reporter())

        return view_game(self.game, self.strategy(), build, is_partial=self.config.form == Form.GAME)

    def last_iterate(self, tree: PublicTree) -> TreeStrategy[PublicTree]:
        """Returns what the run's regrets play now, on a public tree of its game; for estimates of searches."""
        if isinstance(self.solver, TreelessMCCFRSolver):
            raise ConfigError("the run has no tree: its last iterate, by which to estimate, is not known everywhere")
        regrets, own = self.regrets(), getattr(self.solver, "tree", None)
        return TreeStrategy(tree, play_regrets(own, regrets, tree) if isinstance(own, HistoryTree) else regrets)

    def measure(self) -> Quality:
        """Returns the quality of the result: exact, or from more games than a progress record is worth."""
        if isinstance(self.solver, TreelessMCCFRSolver) and self.solver.tree is None:
            with self._guarded.turns.taken():
                return self.solver.sample_figures(FINAL_PLAYOUTS)
        return super().measure()

    def warm_start(self, path: StrPath, config: WarmStart) -> WarmStartReport:
        """Begins where the strategy in a file, of a run or by itself, leaves off; uniform where it never came."""
        solver = self.solver
        if not isinstance(solver, PrunedSolver | CFRSolver):
            raise ConfigError(f"warm starts are for method cfr on a tree, got method {self.config.method}")
        strategy = TabularStrategy.load(path)
        if strategy.game_label != solver.tree.game_label:
            raise ConfigError(
                f"{path} holds a strategy for {strategy.game_label}, expected one for {solver.tree.game_label}"
            )
        table = strategy.to_tree(solver.tree, is_partial=True)
        if isinstance(solver, PrunedSolver):
            return warm_start_pruned(solver, table, config)
        return warm_start(solver, table, config)

    @property
    def has_guarantee(self) -> bool:
        """Returns whether exploitability comes to 0 and seats of different solutions fit: two players in sum zero."""
        return self.game.spec.num_players == 2 and self.game.spec.is_zero_sum

    def average_regrets(self) -> tuple[float, ...] | None:
        """Returns a bound on each player's average regret, see `bound_average_regrets`; None where nothing tells."""
        solver = self.solver
        if not isinstance(solver, CFRSolver) or not isinstance(solver.tree, HistoryTree) or self.outcomes:
            return None
        with self._guarded.turns.taken():
            return bound_average_regrets(solver.tree, solver.tables.regret_sum, solver.rule, solver.iteration)

    def describe_own(self, quality: Quality) -> dict[str, Any]:
        """Returns the keys of a run against a response, and what there is without a guarantee."""
        regrets = None if self.has_guarantee else self.average_regrets()
        return {
            **self.describe_against(),
            "has_guarantee": self.has_guarantee,
            "average_regrets": None if regrets is None else list(regrets),
        }

    def file_content(self) -> dict[str, Any]:
        """Returns the arrays and strings that a file of the run holds now."""
        with self._guarded.turns.taken():
            return {**self.prepared.make_strategy().encode(), **self.solver.state()}

    def save(self, path: StrPath) -> None:
        """Writes the run as it stands to a file."""
        with self._guarded.turns.taken():
            strategy = self.prepared.make_strategy()
            SolvedGame.save(path, self._record_now(), strategy=strategy, state=self.solver.state())


def find_stopping(game: Game[Any], request: RunRequest) -> Stopping:
    """Returns where a run on a game is asked to stop, or the default."""
    return Stopping.from_options(
        game.spec.utility_range,
        iterations=request.iterations,
        target=request.parse_target(),
        seconds=request.seconds,
    )


def _find_stopping(grown: GrownTree, method: str, request: RunRequest) -> tuple[Stopping, bool]:
    """Returns where a run stops on what is there, and whether a target was asked for."""
    target, stopping = request.parse_target(), find_stopping(grown.game, request)
    if grown.why is not None:
        stopping = _without_target(target, stopping, grown)
    if method in METHODS and METHODS[method].is_exact:
        stopping = Stopping(iterations=1)
    return stopping, target is not None


def _without_target(target: float | None, stopping: Stopping, grown: GrownTree) -> Stopping:
    """Returns the other limits for a run without an exploitability; raises if a target was asked for."""
    if target is not None:
        raise ConfigError(
            f"a target of {target:g} needs an exploitability; {grown.why}. Stop after iterations or seconds"
        )
    return dataclasses.replace(stopping, target=None)


def make_config(game: Game[Any], request: RunRequest, saved: SolvedGame | None) -> RunConfig:
    """Returns what is to be computed: what was asked for, else what the saved run did, else the defaults."""
    before = saved.config if saved is not None else None
    method_name = request.method
    if method_name is None:
        method_name = before.method if before else _default_method(request.rule)
    method = find_method(method_name)
    if request.updates is not None and not method.has_updates:
        raise ConfigError(f"method {method_name} has no `updates`")
    same = before if before is not None and before.method == method_name else None  # lends what it did by its method
    rule_text = choose_rule_text(request.rule, same)
    against = describe_against(request, before)
    if against["against"] is not None and rule_text is None and method_name == "cfr":
        rule_text = "cfr"  # the paper's, whose averages weigh all iterations alike
    spec = game.spec
    return RunConfig(
        game=spec.name,
        parameters={key: format_value(value) for key, value in spec.parameters.items()},
        game_version=spec.version,
        game_class=find_own_text(game),
        method=method_name,
        form=str(request.form or (before.form if before else _default_form(game, method))),
        rule=normalize_rule(method_name, rule_text),
        prune=normalize_pruning(method_name, request.prune or (same.prune if same else None)),
        updates=str(request.updates or (before.updates if before else ALTERNATING)),
        seed=request.seed if request.seed is not None else (before.seed if before else 0),
        threads=request.num_threads if request.num_threads is not None else (before.threads if before else 1),
        warm_start=before.warm_start if before else None,
        baseline=request.baseline or (same.baseline if same else None),
        traversals=request.traversals or (same.traversals if same else None),
        **against,
    )


def _default_method(rule: str | None) -> str:
    """Returns the method of a rule: a class of the user's is a regret minimiser."""
    return "own" if rule is not None and parse_class_text(rule) is not None else "cfr"


def choose_rule_text(asked: str | None, before: RunConfig | None) -> str | None:
    """Returns the rule that is asked for, or a saved run's, which knows the periods that its discounting has."""
    if before is None or before.rule is None:
        return asked
    has_periods = asked is not None and asked.strip().lower() == LINEAR and before.rule.startswith(f"{LINEAR}(")
    return before.rule if asked is None or has_periods else asked


def _default_form(game: Game[Any], method: Method) -> Form:
    """Returns what is swept if nothing is said: public states where a game says them itself and the method can."""
    is_vector = isinstance(game, HasPublicForm) and method.has_vector
    return Form.VECTOR if is_vector else Form.HISTORY
