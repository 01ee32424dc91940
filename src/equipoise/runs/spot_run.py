# SPDX-License-Identifier: Apache-2.0
"""A solve of a hold'em spot: from what is asked to a run, and its figures in the units of players."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np

from equipoise.core import memory
from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.core.files import StrPath, format_bytes
from equipoise.core.formatting import format_duration, shorten_text
from equipoise.core.interruption import call_interruptibly
from equipoise.core.machine import num_usable_cores
from equipoise.core.progress import Progress
from equipoise.core.reporting import Reporter
from equipoise.games.holdem.menu_notation import format_menu
from equipoise.games.holdem.spot_file import SpotFile
from equipoise.games.holdem.targets import Target, TargetUnit, parse_target
from equipoise.games.holdem.units import describe_units, format_amount, format_chips, format_net, spot_parameters
from equipoise.responses.against import AgainstSolver
from equipoise.responses.configured import (
    build_run,
    check_against,
    describe_against,
    estimate_run_bytes,
)
from equipoise.runs.game_run import choose_rule_text
from equipoise.runs.request import BEST, RunRequest
from equipoise.runs.run import Quality, Run, RunSizes, check_resumable
from equipoise.runs.sizing import COMFORTABLE_SHARE, choose_menu, list_others, list_sizes
from equipoise.runs.spot_places import SpotPlaces
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.description import SolvedPlaces
from equipoise.solvers.holdem.solved_spot import LARGEST_READ_BYTES, SolvedSpot, encode_layout, make_locks
from equipoise.solvers.holdem.transfer import transfer_cells
from equipoise.solvers.holdem.view import Slots, SpotViews
from equipoise.solvers.methods import (
    ALTERNATING,
    METHODS,
    HoldemRun,
    check_config,
    choose_rule,
    find_dtype,
    find_method,
    normalize_pruning,
    normalize_rule,
)
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.saved_run import RunConfig
from equipoise.solvers.saved_state import name_tables
from equipoise.solvers.stopping import DEFAULT_SECONDS, Stopping, StopReason
from equipoise.solvers.substitution import WarmStart, WarmStartReport
from equipoise.solvers.warm_start import warm_start
from equipoise.trees.history import DEFAULT_MAX_HISTORIES
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import HoldemPlan, HoldemTree, plan_holdem_tree
from equipoise.trees.vector import CellTable, TreeStrategy

__all__ = ["SpotRun", "find_target", "prepare_spot", "refuse_game_options"]

SPOT_VERSION: Final = 1  # of what a spot means
DEFAULT_TARGET: Final = Target(0.5, TargetUnit.POT)
FEWEST_MEASURED_ITERATIONS: Final = 8  # before which a slope says little of the time to a target
MEASURED_SECONDS: Final = 10.0  # or so long
MOST_SUGGESTED: Final = 3
CARRIED_ITERATIONS: Final = 30  # that carried regrets stand for; of 0 to 264 the best on two locked turns
GAME_OPTIONS: Final = ("form", "baseline", "traversals")


def prepare_spot(
    file: SpotFile, request: RunRequest, reporter: Reporter, saved: SolvedSpot | None = None, *, where: object = None
) -> SpotRun:
    """Returns the run that is asked for, sizes said, what does not fit refused; arguments as for `prepare_game`.

    What takes more than half of the free memory is asked about.
    """
    if request.keep == BEST:
        raise ConfigError("keep best is for games: of a spot the last iteration is kept")
    file = _find_menu(file, request, reporter, saved)
    config = _make_config(file, request, saved)
    refuse_game_options(request, config.method, is_against=config.against is not None)
    if saved is not None:
        check_resumable(where, saved.config, config)
    check_config(config)
    check_against(config)
    method = find_method(config.method)
    target, stopping = _make_stopping(file, request, config)
    began = time.perf_counter()
    locks = make_locks(file)
    with reporter.stage("planning the tree"):
        try:
            plan = plan_holdem_tree(file.spot, locks=locks, merges_suits=method.merges_suits)
        except GameTooLargeError as error:
            raise GameTooLargeError(f"{error}. {_suggest_smaller(list_others(file))}") from None
    finds_threads = request.num_threads is None and file.threads is None and saved is None  # else what it had before
    most_threads = num_usable_cores() if finds_threads else config.threads
    num_bytes = estimate_run_bytes(plan, dataclasses.replace(config, threads=most_threads), locks)
    label = f"{config.rule or config.method} in {config.parameters['precision']}"
    reporter.say(_describe_plan(plan))
    reporter.say(f"{label}: {format_bytes(num_bytes)} of memory, {plan.arrays.num_cells:,} numbers a table")
    _check_size(file, num_bytes, label, reporter)
    with reporter.stage(f"building the tree, {plan.arrays.num_bytes / 1e6:,.0f} MB"):
        tree = plan.build()
    seconds = time.perf_counter() - began
    if saved is None:
        config = choose_rule(config, lambda one: build_run(tree, one, locks), stopping)
    sizes = RunSizes(
        num_histories=None,
        num_infosets=_count_infosets(tree),
        tree_bytes=tree.arrays.num_bytes,
        table_bytes=num_bytes - tree.arrays.num_bytes,
        build_seconds=seconds,
    )
    with reporter.stage(f"allocating {format_bytes(sizes.table_bytes)}"):
        solver = build_run(tree, config, locks)
    run = SpotRun(file, solver, config, stopping, sizes, saved, is_target_asked_for=target is not None)
    if saved is not None:
        solver.restore(saved.state)
    if finds_threads:
        run.try_threads()
    return run


def _find_menu(file: SpotFile, request: RunRequest, reporter: Reporter, saved: SolvedSpot | None) -> SpotFile:
    """Returns a spot that names no menu with the one of the saved run, or with one that fits."""
    if not file.chooses_menu:
        return file
    if saved is not None:
        spot = dataclasses.replace(file.spot, menu=saved.spot.menu)
        return dataclasses.replace(file, spot=spot, chooses_menu=False)
    precision = str(request.precision or file.precision or "float32")
    with reporter.stage("choosing a menu"):
        chosen = choose_menu(
            file, precision=precision, num_threads=request.num_threads or file.threads or num_usable_cores()
        )
    if chosen is not file:
        reporter.say(f"no menu is given: {format_menu(chosen.spot.menu)!r} fits street and memory (`equipoise size`)")
    return chosen


def _check_size(file: SpotFile, num_bytes: int, label: str, reporter: Reporter) -> None:
    """Raises `GameTooLargeError` with smaller choices if a spot does not fit, or somebody minds what it takes."""
    available = memory.available_bytes()
    if available is None or num_bytes <= COMFORTABLE_SHARE * available:
        return
    need, free = format_bytes(num_bytes), format_bytes(available)
    what = f"solving the spot with {label} needs {need} of memory, {free} are available"
    if num_bytes <= available and reporter.confirm(f"{what}; go on?"):
        return
    raise GameTooLargeError(f"{what}. {_suggest_smaller(file)}")


def _suggest_smaller(file: SpotFile) -> str:
    """Returns what would take at most half of the free memory, the largest first, as it is typed."""
    available = memory.available_bytes()
    smaller = [
        f"`menu` '{format_menu(menu)}' `precision` {precision} ({format_bytes(one)})"
        for menu, precision, one in list_sizes(file)
        if available is None or one <= COMFORTABLE_SHARE * available
    ]
    if not smaller:
        return "No menu of ours takes little enough: narrow the ranges, or start on a later street"
    return f"Smaller: {'; '.join(smaller[:MOST_SUGGESTED])}"


class _Now(NamedTuple):
    """A run as places are described from it."""

    tree: HoldemTree
    views: SpotViews
    locks: tuple[NodeLock, ...]
    seats: tuple[str, str]


class SpotRun(SpotPlaces, Run):
    r"""A run on a spot.

    >>> from equipoise.runs import RunRequest, load_spot, prepare_run
    >>> text = "board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nmenu = '50%'\nranges = {oop = 'AA', ip = 'KK, QQ'}"
    >>> run = prepare_run(load_spot(text), RunRequest(iterations=10))
    >>> [record.iteration for record in run.advance()][-1], run.list_children("check")
    (10, ('check, check', 'check, all-in'))
    """

    def __init__(
        self,
        file: SpotFile,
        solver: HoldemRun,
        config: RunConfig,
        stopping: Stopping,
        sizes: RunSizes,
        saved: SolvedSpot | None,
        *,
        is_target_asked_for: bool,
    ) -> None:
        self.file, self.tree, self._sizes = file, solver.tree, sizes
        self._views: tuple[int, SpotViews] | None = None  # of an iteration
        self.typical_slope = _typical_slope(config)
        super().__init__(
            name=file.name,
            config=config,
            solver=solver,
            stopping=stopping,
            records=list(saved.progress) if saved is not None else [],
            is_target_asked_for=is_target_asked_for,
        )

    @property
    def sizes(self) -> RunSizes:
        """Returns how large it is."""
        return self._sizes

    def set_limits(self, request: RunRequest) -> None:
        """Sets where the run stops when it goes on."""
        target, self.stopping = _make_stopping(self.file, request, self.config)
        self.is_target_asked_for = target is not None

    def _sums(self) -> Any:
        """Returns a copy of the table in proportion to which both players would play now."""
        with self._guarded.turns.taken():
            return self.solver.state()["strategy_sum"].copy()

    def strategy(self) -> TreeStrategy[HoldemTree]:
        """Returns what every hand would play now."""
        return TreeStrategy(self.tree, self._sums())

    def last_iterate(self) -> TreeStrategy[HoldemTree]:
        """Returns what the run's regrets play now; for estimates of searches."""
        return TreeStrategy(self.tree, self.regrets())

    @contextlib.contextmanager
    def _look(self, is_enough: Callable[[SpotViews], bool]) -> Iterator[SolvedPlaces]:
        with self._guarded.turns.taken():
            yield self._now()

    def _now(self) -> _Now:
        """Returns the run as it stands; to be asked within a turn."""
        return _Now(self.tree, self._find_views(), make_locks(self.file), self.file.seat_names)

    def _find_views(self) -> SpotViews:
        """Returns what is held, played and won now; to be asked within a turn. What they share is kept for the next."""
        solver, iteration = cast("HoldemRun", self.solver), self.solver.iteration
        if self._views is None or self._views[0] != iteration:
            sums = cast("CellTable", solver.state()["strategy_sum"])
            self._views = iteration, SpotViews(self.tree, sums, kernel=solver.kernel, num_threads=self.config.threads)
        return self._views[1]

    def warm_start(self, path: StrPath, config: WarmStart) -> WarmStartReport:
        """Begins where the strategy in the file of a solved spot leaves off."""
        if not isinstance(self.solver, CFRSolver):
            raise ConfigError(f"warm starts are for method cfr, got method {self.config.method}")
        with SolvedSpot(path) as stored:
            ours, theirs = spot_parameters(self.file), spot_parameters(stored.file)
            differing = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
            if differing:
                listed = "; ".join(
                    f"{name} {shorten_text(theirs.get(name, 'none'))}, expected {shorten_text(ours.get(name, 'none'))}"
                    for name in differing
                )
                raise ConfigError(f"{path} holds another spot: {listed}")
            sums = stored.strategy_sum.read()
        return warm_start(self.solver, sums, config)

    def begin_from(self, stored: SolvedSpot) -> None:
        """Begins with the regrets of a solved spot that is the same but for its locks.

        Averages begin anew: what was played before the locks changed is not what is looked for. The run counts as
        `CARRIED_ITERATIONS` at most, so that later iterations soon outweigh regrets that no longer hold.
        """
        if not isinstance(self.solver, CFRSolver):
            got = f"method {self.config.method}" if self.config.against is None else f"`against` {self.config.against}"
            raise ConfigError(f"tables are carried over by method cfr, of players against each other, got {got}")
        _check_same_spot(self, stored)
        state = dict(stored.state)
        if not np.array_equal(stored.tree.symmetries, self.tree.symmetries):
            if self.solver.tables.regret_sum.dtype == np.int16:
                raise ConfigError(f"the locks tell suits apart that {stored.path} merges, in tables of 16 bits")
            for name in ("regret_sum", "last_regret"):
                if state[name].size:
                    state[name] = transfer_cells(stored.tree, self.tree, state[name])
        before = int(state["iteration"])
        tables = name_tables(self.solver.tables)
        with self._guarded.turns.taken():
            for name, table in tables.items():
                if not name.startswith("strategy"):
                    table[...] = state[name]
            self.solver.begin_after(min(before, CARRIED_ITERATIONS))
        self.config = dataclasses.replace(self.config, warm_start=f"the regrets of {Path(stored.path).name}")

    def file_content(self) -> dict[str, Any]:
        """Returns the arrays that a file of the run holds now."""
        return {**encode_layout(self.tree), **self._guarded.state()}

    def save(self, path: StrPath) -> None:
        """Writes the run as it stands to a file."""
        with self._guarded.turns.taken():
            state = self.solver.state()
            # whoever opens a large file should not have to read it whole to see what the hands are worth
            is_large = state["strategy_sum"].nbytes > LARGEST_READ_BYTES
            SolvedSpot.save(
                path,
                self._record_now(),
                file=self.file,
                tree=self.tree,
                state=state,
                first_slots=self._find_first_slots() if is_large else None,
            )

    def _find_first_slots(self) -> Slots:
        """Returns what hands are worth on the first street; a pass over the whole table, which a signal may end."""
        views, found = self._find_views(), list[Slots]()
        call_interruptibly(lambda: found.append(views.find_first_slots()))
        return found[0]

    def format_exploitability(self, value: float | None) -> str:
        """Returns an exploitability in chips, percent of the pot and mbb."""
        return super().format_exploitability(value) if value is None else format_chips(self.file.spot, value)

    def format_value(self, value: float) -> str:
        """Returns what the first player wins beyond what it has paid, in chips."""
        return format_net(value)

    def estimate_time(self, record: Progress) -> str | None:
        """Returns what a record says of the time that the run will take, None if nothing yet."""
        is_early = record.iteration < FEWEST_MEASURED_ITERATIONS and record.seconds < MEASURED_SECONDS
        if is_early or record.seconds_left is None or not record.iterations_per_second:
            return None
        milliseconds = 1e3 / record.iterations_per_second
        left = format_duration(record.seconds_left)
        return f"{format_amount(milliseconds)} ms an iteration, about {left} more by the first {record.iteration}"

    def describe_own(self, quality: Quality) -> dict[str, Any]:
        """Returns the keys that only spots have."""
        assert isinstance(quality, Evaluation)
        rate = self.records[-1].iterations_per_second
        return {
            **describe_units(self.file.spot, quality.exploitability, quality.values),
            "exploitability_without_locks": self.measure_without_locks(),
            "ms_per_iteration": 1e3 / rate if rate else None,
            "num_boards": len(self.tree.boards),
            "num_public_states": self.tree.num_public_states,
            **self.describe_against(),
        }

    def measure_without_locks(self) -> float | None:
        """Returns the exploitability if locks bind no best response, so that they count as mistakes.

        None without locks, and where somebody who interrupted would have to wait for it.
        """
        if not self.file.locks or (self.stopped_by is StopReason.INTERRUPTED and self.is_slow):
            return None
        assert isinstance(self.solver, (CFRSolver, AgainstSolver))  # sampling refuses locks
        with self._guarded.turns.taken():
            return self.solver.evaluate(respects_locks=False).exploitability


def _check_same_spot(run: SpotRun, stored: SolvedSpot) -> None:
    """Raises `ConfigError` unless tables of a solved spot fit a run, locks aside."""
    ours, theirs = spot_parameters(run.file), spot_parameters(stored.file)
    ours |= {"precision": run.config.parameters["precision"], "rule": str(run.config.rule)}
    theirs |= {"precision": stored.config.parameters["precision"], "rule": str(stored.config.rule)}
    theirs["method"], ours["method"] = stored.config.method, run.config.method
    for name in {**ours, **theirs}:
        if name != "locks" and ours.get(name) != theirs.get(name):
            got, expected = (shorten_text(one.get(name, "none")) for one in (theirs, ours))
            raise ConfigError(f"{stored.path} holds another run than is asked for: {name} {got}, expected {expected}")


def refuse_game_options(request: RunRequest, method_name: str, *, is_against: bool = False) -> None:
    """Raises `ConfigError` if something is asked for that spots do not have."""
    for name in GAME_OPTIONS:
        if getattr(request, name) is not None:
            raise ConfigError(f"`{name}` is for games; a spot has none")
    if request.max_histories != DEFAULT_MAX_HISTORIES:
        raise ConfigError("`max_histories` is for games: a spot's tree is planned, and refused if memory is too small")
    able = [name for name, one in METHODS.items() if one.has_holdem]
    method = find_method(method_name)
    if not method.has_holdem:
        raise ConfigError(
            f"spots are solved with method {', '.join(able[:-1])} or {able[-1]}, got `method` {method_name}"
        )
    sampled = {name: METHODS[name] for name in able if METHODS[name].is_sampled}
    for option, its in (("seed", sampled), ("prune", [name for name in sampled if sampled[name].normalize_pruning])):
        if getattr(request, option) is None or method.is_sampled or (option == "seed" and is_against):
            continue
        beside = " or `against` a response" if option == "seed" else ""
        raise ConfigError(f"`{option}` is for games, and for spots under `method` {' or '.join(its)}{beside}")
    if request.updates is not None and not method.has_updates:
        raise ConfigError(f"method {method_name} has no `updates`")


def find_target(file: SpotFile, request: RunRequest) -> Target | None:
    """Returns the exploitability that is asked for, the request before the file."""
    return file.target if request.target is None else parse_target(str(request.target))


def _make_config(file: SpotFile, request: RunRequest, saved: SolvedSpot | None) -> RunConfig:
    """Returns what is to be computed: what is asked for, else what the spot or the saved run says, else defaults."""
    before = saved.config if saved is not None else None
    method_name = request.method
    if method_name is None:
        method_name = before.method if before is not None else "cfr"
    method = find_method(method_name)
    same = before if before is not None and before.method == method_name else None
    # what a file says of its rule is about full-width CFR
    rule = request.rule or (file.rule if method.has_updates else None)
    against = describe_against(request, before)
    rule = choose_rule_text(rule, same)
    if against["against"] is not None and rule is None and method_name == "cfr":
        rule = "cfr"  # the paper's, whose averages weigh all iterations alike
    precision = request.precision or file.precision or (before.parameters.get("precision") if before else None)
    # sums of single samples lose less in 64 bits
    default_precision = "float64" if method.is_sampled else "float32"
    config = RunConfig(
        game="spot",
        parameters={**spot_parameters(file), "precision": str(precision or default_precision)},
        game_version=SPOT_VERSION,
        method=method_name,
        form="board",
        rule=normalize_rule(method_name, rule),
        prune=normalize_pruning(method_name, request.prune or (same.prune if same else None))
        if method.is_sampled
        else None,
        updates=str(request.updates or (before.updates if before is not None else ALTERNATING)),
        seed=request.seed if request.seed is not None else (before.seed if before is not None else 0),
        threads=request.num_threads or file.threads or (before.threads if before is not None else 1),
        warm_start=before.warm_start if before is not None else None,
        **against,
    )
    if np.issubdtype(find_dtype(config), np.integer) and method.is_sampled:
        raise ConfigError(f"method {method_name} samples, and 16 bits lose single updates: got `precision` {precision}")
    return config


def _make_stopping(file: SpotFile, request: RunRequest, config: RunConfig) -> tuple[Target | None, Stopping]:
    """Returns the target if one is asked for, and where the run stops; the request goes before the file.

    Runs against a response need not come close to an equilibrium: what a file aims at is not for them.
    """
    is_against = config.against is not None
    target = None if is_against and request.target is None else find_target(file, request)
    iterations = request.iterations if request.iterations is not None else file.iterations
    seconds = request.seconds if request.seconds is not None else file.seconds
    if is_against and iterations is None and seconds is None:
        seconds = DEFAULT_SECONDS
    is_open = target is None and iterations is None and seconds is None
    chips = DEFAULT_TARGET if is_open else target
    stopping = Stopping(
        iterations=iterations, target=None if chips is None else chips.chips(file.spot), seconds=seconds
    )
    # a limit that is asked for is reason enough to stop before what the file aims at
    is_cut = request.target is None and (request.iterations is not None or request.seconds is not None)
    return (None if is_cut else target), stopping


def _typical_slope(config: RunConfig) -> float:
    """Returns the slope that log-log curves of spots come to: measured on the Libratus endgames and on flops."""
    if find_method(config.method).is_sampled:
        return 0.0
    if config.rule is None:  # fictitious play
        return -1.0
    later = parse_rule(config.rule).discounts(10)
    favours_later_iterations = later.average_decay < 1.0 or later.average_weight > 1.0
    return -1.5 if favours_later_iterations else -1.0


def _describe_plan(plan: HoldemPlan) -> str:
    root, num_boards = plan.arrays.board(0), len(plan.arrays.boards)
    return (
        f"{plan.spot.name}: {root.num_hands_0:,} and {root.num_hands_1:,} hands, "
        f"{len(plan.betting.nodes):,} betting nodes, {num_boards:,} board{'s' * (num_boards > 1)}"
    )


def _count_infosets(tree: HoldemTree) -> int:
    """Returns the decisions of every hand on every board."""
    num_nodes = tree.arrays.street_field("num_nodes")[tree.arrays.board_field("street")]
    return int((tree.arrays.board_field("num_hands") * num_nodes).sum())
