# SPDX-License-Identifier: Apache-2.0
"""One call from a game or a spot to its solution, and what can be done with that: save, resume, look, search.

What is text on the command line may be text here: games, spots, rules, targets, places.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import tempfile
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypedDict, TypeVar, Unpack, cast, overload

from equipoise.abstraction.solutions import open_solution
from equipoise.core.checkpoint import Kind
from equipoise.core.checks import check_callable, check_flag, check_number, check_text
from equipoise.core.errors import CheckpointError, ConfigError, UnknownNameError
from equipoise.core.files import StrPath
from equipoise.core.formatting import format_duration, show_given
from equipoise.core.frames import make_frame
from equipoise.core.interruption import first_ctrl_c
from equipoise.core.markup import html_facts, html_line, join_html
from equipoise.core.progress import Progress, SampledFigures
from equipoise.core.reporting import Reporter
from equipoise.evaluation.plots import plot_convergence
from equipoise.games.base import Game, check_given_game
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_file import SpotFile
from equipoise.games.holdem.spot_game import game_of_spot
from equipoise.kernels.calls import check_integer
from equipoise.runs.game_run import GameRun, find_stopping, make_config, prepare_game
from equipoise.runs.preparation import PreparedRun, grow_tree
from equipoise.runs.progress_display import DisplayReporter, ProgressDisplay, curve_of
from equipoise.runs.request import RunRequest, Subject, find_subject
from equipoise.runs.run import Quality
from equipoise.runs.spot_places import SpotPlaces, StoredSpot
from equipoise.runs.spot_run import SpotRun, prepare_spot
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.game_views import GameViews, describe_state, find_public_state
from equipoise.solvers.holdem.push_fold import find_push_fold
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.holdem.view import NodeView
from equipoise.solvers.infostate_rows import InfostateRows, find_rows, list_columns
from equipoise.solvers.methods import METHODS, SIMULTANEOUS
from equipoise.solvers.own_minimizers import MakeMinimizer, MinimizerSolver, is_minimizer
from equipoise.solvers.rule_notation import format_rule, parse_rule
from equipoise.solvers.rules import Rule
from equipoise.solvers.saved_run import RunConfig
from equipoise.solvers.solution_file import SolvedGame
from equipoise.solvers.stopping import Form, StopReason, TreeSolver
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.history import HistoryTree
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.public_edges import find_children
from equipoise.trees.vector import TreeStrategy

if TYPE_CHECKING:  # slow to import
    from matplotlib.figure import Figure

    from equipoise.runs.search_game import GameSearch
    from equipoise.runs.search_spot import SpotSearch

__all__ = ["Solution", "load", "prepare_run", "solve"]

AnyRun = TypeVar("AnyRun", GameRun, SpotRun)
Found = TypeVar("Found")  # a TabularStrategy of a game, a TreeStrategy of a spot


class SolveOptions(TypedDict, total=False):
    """What `solve` takes beside the game and the rule."""

    iterations: int | None
    target: float | str | None
    seconds: float | None
    form: Form | str | None
    make_solver: Callable[[HistoryTree], TreeSolver] | None
    max_histories: int
    num_threads: int | None
    on_progress: Callable[[Progress], None] | None
    progress: bool
    method: str | None
    prune: str | None
    baseline: str | None
    traversals: int | None
    updates: str | None
    seed: int | None
    precision: str | None
    keep: str | None
    against: str | None
    updates_per_response: int | None
    seat: int | None
    merge: str | None


class SearchOptions(TypedDict, total=False):
    """What `Solution.search` takes beside the line and the method."""

    player: int | None
    iterations: int | None
    rule: str
    menu: str | None
    leaves: str | None
    expensive: bool
    num_threads: int
    max_histories: int


class Solution(Generic[Found]):
    """What a solve found, and how it got there; it can be saved, gone on with, looked at and searched.

    >>> solution = solve("kuhn", "cfr+", iterations=100)
    >>> round(solution.game_value, 2), solution.stopped_by.value
    (-0.06, 'iterations')
    """

    def __init__(self, run: GameRun | SpotRun | StoredSpot) -> None:
        self._source = run
        self._strategy: tuple[int, Found] | None = None
        self._views: tuple[int, GameViews] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns how it is pickled and copied: as its file would be, a large file's own by the name of the file."""
        if isinstance(self._source, StoredSpot):
            return load, (os.path.abspath(self._source.solved.path),)
        if self.config.method not in METHODS:
            raise ConfigError("a run of a solver that no text names cannot be pickled or copied: its `strategy` can")
        with tempfile.TemporaryDirectory() as folder:
            self.save(f"{folder}/solution.eq")
            content = Path(folder, "solution.eq").read_bytes()
        return _restore, (content, self.game if isinstance(self._source, GameRun) else None)

    def __copy__(self) -> Self:
        """Returns another one of the same run."""
        return type(self)(self._source)

    def __repr__(self) -> str:
        last = self.progress[-1] if self.progress else None
        if last is None:
            return f"<Solution of {self._source.label}: nothing computed yet>"
        quality = "exploitability not known"
        if last.exploitability is not None:
            quality = f"exploitability {self._source.format_exploitability(last.exploitability)}"
        spent = f"{last.iteration:,} iterations in {format_duration(last.seconds)}"
        return f"<Solution of {self._source.label}: {quality}, {spent}, stopped by {self.stopped_by}>"

    def _repr_html_(self) -> str:
        last = self.progress[-1] if self.progress else None
        if last is None:
            return html_line(repr(self))
        facts = {
            "exploitability": self._source.format_exploitability(last.exploitability),
            "value of player 0": last.game_value,
            "iterations": last.iteration,
            "time": format_duration(last.seconds),
            "stopped by": str(self.stopped_by),
        }
        return join_html(html_facts(self._source.label, facts), curve_of(self.progress))

    @property
    def run(self) -> GameRun | SpotRun:
        """Returns the run that goes on; the tables of a large file are read for it."""
        if isinstance(self._source, StoredSpot):
            solved = self._source.solved
            self._source = _reopen(prepare_spot, solved.file, solved)
        return self._source

    @property
    def config(self) -> RunConfig:
        """Returns what was computed."""
        return self._source.config

    @property
    def game(self) -> Game[Any]:
        """Returns what was solved, as a game that can be played."""
        return self._source.game if isinstance(self._source, GameRun) else game_of_spot(self._source.file.spot)

    @property
    def strategy(self) -> Found:
        """Returns the average, the one that converges: by information state of a game, by place of a spot."""
        if isinstance(self._source, StoredSpot):
            return cast("Found", self._source.strategy())
        iteration = self._source.solver.iteration
        if self._strategy is None or self._strategy[0] != iteration:
            self._strategy = iteration, cast("Found", self._source.strategy())
        return self._strategy[1]

    @property
    def is_partial(self) -> bool:
        """Returns whether there are information states that the strategy never met; it moves uniformly there."""
        return self.config.form == Form.GAME

    @property
    def quality(self) -> Quality:
        """Returns the exact evaluation, or what was sampled where there is none."""
        return self.run.measure()

    @property
    def evaluation(self) -> Evaluation:
        """Returns the exact evaluation; raises `ConfigError` where the game is too large for one."""
        quality = self.quality
        if isinstance(quality, SampledFigures):
            raise ConfigError(f"there is no exploitability: {self.run.sizes.why}")
        return quality

    @property
    def exploitability(self) -> float:
        """Returns the gain of a best response, averaged over players; of a spot in chips."""
        return self.evaluation.exploitability

    @property
    def game_value(self) -> float:
        """Returns player 0's utility under the strategy."""
        return self.evaluation.values[0]

    @property
    def progress(self) -> tuple[Progress, ...]:
        """Returns one record per evaluation."""
        return tuple(self._source.records)

    @property
    def stopped_by(self) -> StopReason:
        """Returns why the solve ended."""
        return self._source.stopped_by or StopReason.INTERRUPTED

    def describe(self) -> dict[str, Any]:
        """Returns the result under the keys of `solve --json`.

        >>> solve("kuhn", iterations=10).describe()["stopped_by"]
        'iterations'
        """
        return self.run.describe(self.quality)

    def save(self, path: StrPath) -> None:
        """Writes strategy and run to a file, which `load` and every command read.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     solve("kuhn", iterations=10).save(f"{folder}/kuhn.eq")
        ...     load(f"{folder}/kuhn.eq").resume(iterations=20).progress[-1].iteration
        20
        """
        self.run.save(path)

    def resume(
        self,
        *,
        iterations: int | None = None,
        target: str | float | None = None,
        seconds: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        progress: bool = False,
    ) -> Self:
        """Goes on to new limits, all of them totals, and returns the solution, which is this one.

        >>> solve("kuhn", iterations=10).resume(iterations=30).progress[-1].iteration
        30
        """
        check_callable("on_progress", on_progress)
        check_flag("progress", progress)
        request = RunRequest(iterations=iterations, target=target, seconds=seconds)
        self.run.set_limits(request)
        with _open_display(self.run.label, is_wanted=progress) as display:
            _advance(self.run, on_progress, display)
        return self

    @overload
    def view(self: Solution[TabularStrategy], line: str = "", *, has_values: bool = True) -> InfostateRows: ...
    @overload
    def view(self: Solution[TreeStrategy[HoldemTree]], line: str = "", *, has_values: bool = True) -> NodeView: ...
    def view(self, line: str = "", *, has_values: bool = True) -> NodeView | InfostateRows:
        """Returns what is done somewhere.

        Of a spot: what both players' hands do and are worth at a line such as `"check, bet 50%"`. Of a game: the
        probability of each action at every information state that has the text in its name or matches it as a glob;
        what is done and won at one public state is in `describe_place`.

        Args:
            line: a line, or a text.
            has_values: False leaves a large file unread where values need all of it: on the first street, if it keeps
                none of it. They are not a number then.

        >>> rows = solve("kuhn", iterations=1000).view("K:")
        >>> list(rows)
        ['K:', 'K:pb', 'K:p', 'K:b']
        """
        check_text("line", line)
        if isinstance(self._source, SpotPlaces):
            return self._source.view(line, has_values=has_values)
        strategy = self._source.strategy()
        return InfostateRows({strategy.infostates[row]: strategy.row(row) for row in find_rows(strategy, line)})

    def children(self, line: str = "") -> tuple[str, ...]:
        """Returns the places one step further, as `view`, `search` and `children` take them.

        Of a spot lines, by an action or by a card; of a game, which must be for two players, labels of public states.
        None follow where the game is over.

        >>> solve("kuhn", iterations=10).children("pb")
        ('pbp', 'pbb')
        """
        check_text("line", line)
        if isinstance(self._source, SpotPlaces):
            return self._source.list_children(line)
        tree = self._game_views().tree
        return tuple(tree.public_labels[child] for child in find_children(tree, find_public_state(tree, line)).tolist())

    def describe_place(self, line: str = "") -> dict[str, Any]:
        """Returns what led to a place, who moves, what both hold, what is done and what it is worth.

        Keys are those of `place` in `equipoise show --json`. Places are lines of a spot, public states of a game.

        >>> place = solve("kuhn", iterations=10).describe_place("p")
        >>> place["player"], [action["name"] for action in place["actions"]]
        (1, ['check', 'bet'])
        """
        check_text("line", line)
        if isinstance(self._source, SpotPlaces):
            return self._source.describe_place(line)
        return describe_state(self._game_views(), line)

    def describe_runouts(self, line: str) -> dict[str, Any]:
        r"""Returns every card that may come where a line of a spot ends a street: first actions, values, equities.

        Keys: docs/spots.md, as `show --line 'check, check, [*]' --json` has them.

        >>> from equipoise import load_spot
        >>> spot = "board = 'Ks7h2d5c'\npot = 20\nstacks = 30\nmenu = 'a'\nranges = {oop = 'AA', ip = 'KQ'}"
        >>> found = solve(load_spot(spot), iterations=10).describe_runouts("check, check")
        >>> len(found["cards"]), found["names"]
        (48, ['check', 'all-in'])
        """
        check_text("line", line)
        return self._places().describe_runouts(line)

    def describe_gain(self, line: str = "", *, respects_locks: bool = True) -> dict[str, Any]:
        """Returns what a best response would win more at a decision of a spot, hand by hand.

        Keys: docs/spots.md, as `show --exploit --json` has them.

        Args:
            line: the decision.
            respects_locks: whether whoever answers keeps to its own locks.
        """
        check_text("line", line)
        check_flag("respects_locks", respects_locks)
        return self._places().describe_gain(line, respects_locks=respects_locks)

    def list_lines(
        self, street: str | None = None, *, min_reach: float = 0.0, depth: int | None = None
    ) -> list[dict[str, Any]]:
        """Returns the lines of a spot with how often each is played, cards taken together.

        Args:
            street: `"turn"`, ...; None: the first.
            min_reach: rarer lines are left out.
            depth: the most actions of a line.
        """
        check_number("min_reach", min_reach)
        if not 0 <= min_reach <= 1:
            raise ConfigError(f"min_reach must be from 0 to 1, got {min_reach}")
        if depth is not None:
            check_integer("depth", depth, 0)
        return self._places().list_lines(street, min_reach=min_reach, depth=depth)

    def _places(self) -> SpotPlaces:
        if not isinstance(self._source, SpotPlaces):
            raise ConfigError(f"{self._source.label} is a game: only spots have cards to come, lines and hands")
        return self._source

    def _game_views(self) -> GameViews:
        """Returns what is held, played and won at public states; kept until the run goes on."""
        assert isinstance(self.run, GameRun)
        iteration = self.run.solver.iteration
        if self._views is None or self._views[0] != iteration:
            self._views = iteration, self.run.views()
        return self._views[1]

    def to_frame(self, line: str = "", *, library: str | None = None, has_values: bool = True) -> Any:
        """Returns what is done as a data frame of pandas or polars, whichever is there.

        Of a game a row for each action of the information states that `view` shows; of a spot a row for each hand at a
        line, with its weight, equity and value, and how often it takes each action: what `show --csv` writes.

        Args:
            line: as for `view`.
            library: `"pandas"` or `"polars"`, if both are installed.
            has_values: as for `view`.

        >>> frame = solve("kuhn", iterations=10).to_frame("K:b", library="pandas")
        >>> list(frame.columns), len(frame)
        (['player', 'infostate', 'action', 'probability'], 2)
        """
        check_text("line", line)
        if isinstance(self._source, SpotPlaces):
            return make_frame(self._source.view(line, has_values=has_values).columns(), library)
        strategy = self._source.strategy()
        return make_frame(list_columns(strategy, find_rows(strategy, line)), library)

    def plot(self, path: StrPath | None = None) -> Figure:
        """Returns the curve of exploitability as a Matplotlib figure, and writes it to a file if one is named.

        >>> solve("kuhn", iterations=20).plot().axes[0].get_xlabel()
        'iterations'
        """
        source = self._source
        target = source.target if isinstance(source, StoredSpot) else source.stopping.target
        return plot_convergence(self, path, title=self._source.label, target=target)

    def search(
        self, line: str, method: str = "reach-maxmargin", **how: Unpack[SearchOptions]
    ) -> GameSearch | SpotSearch:
        """Returns the rest of the game solved again from one public state on, as if it had come up in play.

        Ctrl-C returns what the iterations so far have found.

        Args:
            line: of a spot a line or a public state; of a game the public state's label, or `"root"`.
            method: as `equipoise search --method`.
            how: other fields of `SearchRequest`: player, iterations, rule, menu, leaves, expensive, num_threads.

        >>> found = solve("leduc", iterations=20).search("root", "maxmargin", player=0, iterations=100)
        >>> found.searcher, found.iterations
        (0, 100)
        """
        from equipoise.runs.search_game import GameSearch  # noqa: PLC0415 - slow to import
        from equipoise.runs.search_request import SearchRequest, run_in_pieces  # noqa: PLC0415 - slow to import
        from equipoise.runs.search_spot import SpotSearch  # noqa: PLC0415 - slow to import

        check_text("line", line)
        for name in how.keys() - set(SearchOptions.__annotations__):
            raise UnknownNameError("option of a search", name, SearchOptions.__annotations__)
        request = SearchRequest(state=line, method=method, **how)
        interrupted = threading.Event()
        run = functools.partial(run_in_pieces, is_interrupted=interrupted.is_set)
        with first_ctrl_c(interrupted.set):
            source = self._source
            if not isinstance(source, GameRun):
                return SpotSearch(source.strategy(), request, run=run, find_response=source.last_iterate)
            respond, table = source.last_iterate, source.strategy()
            return GameSearch(source.game, table, request, is_partial=self.is_partial, run=run, find_response=respond)


@overload
def solve(
    game: Game[Any], rule: Rule | MakeMinimizer | str | None = None, **how: Unpack[SolveOptions]
) -> Solution[TabularStrategy]: ...


@overload
def solve(
    game: SpotFile | HoldemSpot, rule: Rule | MakeMinimizer | str | None = None, **how: Unpack[SolveOptions]
) -> Solution[TreeStrategy[HoldemTree]]: ...


@overload
def solve(
    game: StrPath, rule: Rule | MakeMinimizer | str | None = None, **how: Unpack[SolveOptions]
) -> Solution[Any]: ...


def solve(
    game: Game[Any] | SpotFile | HoldemSpot | StrPath,
    rule: Rule | MakeMinimizer | str | None = None,
    *,
    iterations: int | None = None,
    target: float | str | None = None,
    seconds: float | None = None,
    form: Form | str | None = None,
    make_solver: Callable[[HistoryTree], TreeSolver] | None = None,
    num_threads: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    progress: bool = False,
    **how: Any,
) -> Solution[Any]:
    """Returns an approximate equilibrium of a game or a spot.

    Ctrl-C returns what was computed so far, once the iteration under way and an evaluation are done; a second one
    raises `KeyboardInterrupt`.

    Args:
        game: a game, its name (`"leduc(ranks=4)"`), a spot, or the file of one (`"turn.toml"`).
        rule: the variant of CFR, or its name; `DCFR()` if None; or the class of a regret minimiser of your own
            (`Minimizer`), which runs in Python and slowly.
        iterations: stop after so many.
        target: stop at this exploitability; of a spot in chips, or as in `"0.5%"` or `"20mbb"`.
        seconds: stop after this time. With no criterion at all: 1e-5 of the payoff range or a minute; a spot at what
            its file says, or 0.5 % of the pot.
        form: what CFR sweeps; `Form.VECTOR` is faster where public states hold many private ones, for two players.
        make_solver: builds another solver on the history tree, in place of a method by name.
        num_threads: size of the team of full-width CFR.
        on_progress: called with each record.
        progress: whether to show how far it is: a bar on a terminal, a picture in a notebook.
        how: other fields of `RunRequest`: method, prune, seed, against, precision, keep; a game with more histories
            than `max_histories` is refused with `GameTooLargeError`.

    >>> solution = solve("kuhn", target=1e-3)
    >>> abs(solution.game_value + 1 / 18) < 2e-3
    True
    """
    check_callable("on_progress", on_progress)
    check_callable("make_solver", make_solver)
    check_flag("progress", progress)
    for name in how.keys() - SolveOptions.__annotations__.keys():
        raise UnknownNameError("option of solve", name, SolveOptions.__annotations__)
    if make_solver is None and is_minimizer(rule):
        make_solver, rule = functools.partial(_build_minimizer, rule, how.get("updates")), None
    request = RunRequest(
        rule=_name_rule(rule),
        iterations=iterations,
        target=target,
        seconds=seconds,
        form=form,
        num_threads=num_threads,
        **how,
    )
    subject = _find_subject(game)
    with _open_display(_name_subject(subject), is_wanted=progress) as display:
        reporter = None if display is None else DisplayReporter(display)
        if make_solver is not None:
            run: GameRun | SpotRun = _prepare_own(subject, request, make_solver)
        else:
            run = prepare_run(subject, request, reporter)
        _advance(run, on_progress, display)
    return Solution(run)


def prepare_run(
    what: Game[Any] | SpotFile | HoldemSpot | StrPath,
    request: RunRequest | None = None,
    reporter: Reporter | None = None,
) -> GameRun | SpotRun:
    """Returns a run that is ready to be advanced, by whoever drives it: a notebook, a server.

    Args:
        what: as for `solve`.
        request: how it is solved, and where it stops.
        reporter: is told about sizes.

    >>> run = prepare_run("kuhn", RunRequest(iterations=20))
    >>> [record.iteration for record in run.advance()][-1], run.stopped_by.value
    (20, 'iterations')
    """
    if request is not None and not isinstance(request, RunRequest):
        raise ConfigError(f"request must be a RunRequest such as RunRequest(iterations=100), got {show_given(request)}")
    subject, request, reporter = _find_subject(what), request or RunRequest(), reporter or Reporter()
    if not isinstance(subject, SpotFile):
        return prepare_game(subject, request, reporter)
    if not subject.locks and find_push_fold(subject.spot) is not None:
        raise ConfigError("the spot is push or fold, which has an exact chart: `equipoise solve` shows it")
    return prepare_spot(subject, request, reporter)


def load(path: StrPath) -> Solution[Any]:
    """Returns the solution in a file of `save` or of `solve --out`.

    A run by a solver of one's own that no text names is refused, as a strategy without a run is: only its own program
    can go on with it, and what it found is what `TabularStrategy.load` reads.
    The tables of a spot stay in the file if they are large (beyond 256 MB): a line's boards and those that follow them
    are read when it is looked at, everything when the run goes on, is measured or saved.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     solve("kuhn", iterations=10).save(f"{folder}/kuhn.eq")
    ...     print(load(f"{folder}/kuhn.eq").exploitability < 0.1)
    True
    """
    return _load(path)


def _restore(content: bytes, game: Game[Any] | None) -> Solution[Any]:
    """Returns a solution that was pickled, of a game that comes along."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "solution.eq").write_bytes(content)
        found = _load(f"{folder}/solution.eq", game)
        return Solution(found.run)  # whose tables are read, however large: the file goes


def _load(path: StrPath, game: Game[Any] | None = None) -> Solution[Any]:
    with contextlib.ExitStack() as stack:
        saved = stack.enter_context(open_solution(path, Kind.RUN, Kind.SPOT, Kind.STRATEGY, game=game))
        if isinstance(saved, SolvedSpot) and saved.is_large:
            stored = StoredSpot(saved)
            stack.pop_all()  # it stays open
            return Solution(stored)
        assert isinstance(saved, SolvedGame | SolvedSpot)
        saved.read_all()
    if isinstance(saved, SolvedSpot):
        return Solution(_reopen(prepare_spot, saved.file, saved))
    if saved.run is None or saved.config.method not in METHODS:
        held = "a strategy alone" if saved.run is None else "a run of a solver that no text names"
        raise CheckpointError(f"{path} holds {held}, which cannot go on: TabularStrategy.load reads the strategy")
    return Solution(_reopen(prepare_game, saved.game, saved))


def _reopen(prepare: Callable[..., AnyRun], what: Any, saved: SolvedGame | SolvedSpot) -> AnyRun:
    """Returns a saved run, ready to go on."""
    request = RunRequest(iterations=max(1, saved.progress[-1].iteration))
    run = prepare(what, request, Reporter(), saved, where=saved.path)
    run.stopped_by = None if saved.stopped_by is None else StopReason(saved.stopped_by)
    return run


def _find_subject(what: Any) -> Subject:
    """Returns a game or a spot, whatever it was given as."""
    if isinstance(what, HoldemSpot):
        return SpotFile(spot=what)
    if isinstance(what, str | PathLike):
        return find_subject(str(what))
    if not isinstance(what, SpotFile):
        check_given_game(what, "a Game such as Kuhn(), a spot, or the name of one")
    subject: Subject = what
    return subject


def _name_rule(rule: Any) -> str | None:
    """Returns a rule as it is typed."""
    if rule is None or isinstance(rule, str):
        return rule
    if isinstance(rule, type) or not isinstance(rule, Rule):
        raise ConfigError(f"rule must be a rule such as DCFR(), or its name, got {show_given(rule)}")
    name = format_rule(rule)
    if parse_rule(name) != rule:
        raise ConfigError(f"rule {name} cannot be told from its name: build a solver with make_solver")
    return name


def _prepare_own(subject: Subject, request: RunRequest, make_solver: Callable[[HistoryTree], TreeSolver]) -> GameRun:
    """Returns a run of somebody's own solver, under the name of its class."""
    if isinstance(subject, SpotFile):
        raise ConfigError("make_solver builds on the history tree of a game, got a spot")
    if request.form not in (None, Form.HISTORY):
        raise ConfigError(f"make_solver builds on the history tree, got form {request.form}")
    stopping = find_stopping(subject, request)
    grown = grow_tree(subject, Form.HISTORY, max_histories=request.max_histories, reporter=Reporter())
    assert isinstance(grown.tree, HistoryTree)
    solver = make_solver(grown.tree)
    if not all(callable(getattr(solver, name, None)) for name in ("iterate", "average_strategy", "evaluate")):
        raise ConfigError(f"make_solver must return a solver such as CFRSolver(tree), got {show_given(solver)}")
    name = getattr(solver, "name", type(solver).__name__)
    config = dataclasses.replace(make_config(subject, request, None), method=name, rule=None)
    if isinstance(solver, MinimizerSolver) and solver.text is not None:
        config = dataclasses.replace(config, method="own", rule=solver.text)
    prepared = PreparedRun(grown=grown, config=config, solver=solver, initial_bytes=0)
    return GameRun(prepared, stopping, None, is_target_asked_for=request.target is not None)


def _build_minimizer(rule: MakeMinimizer, updates: str | None, tree: HistoryTree) -> MinimizerSolver:
    """Returns a run of a user's regret minimiser."""
    return MinimizerSolver(tree, rule, is_alternating=updates != SIMULTANEOUS)


def _advance(
    run: GameRun | SpotRun, on_progress: Callable[[Progress], None] | None, display: ProgressDisplay | None
) -> None:
    """Runs to the stopping point, or to Ctrl-C."""

    def show(record: Progress, *, is_last: bool = False) -> None:
        if display is not None:
            display.update_run(record, run.records, run.format_exploitability, is_last=is_last)

    with first_ctrl_c(run.stop):
        for record in run.advance(on_advance=show):
            show(record)
            if on_progress is not None:
                on_progress(record)
    if run.records:
        show(run.records[-1], is_last=True)


def _open_display(title: str, *, is_wanted: bool) -> AbstractContextManager[ProgressDisplay | None]:
    return ProgressDisplay(title) if is_wanted else contextlib.nullcontext()


def _name_subject(subject: Subject) -> str:
    return subject.spot.name if isinstance(subject, SpotFile) else subject.spec.name
