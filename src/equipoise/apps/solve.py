# SPDX-License-Identifier: Apache-2.0
"""`equipoise solve`: solve a game or a hold'em spot, watch it converge, keep the result, go on later."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from equipoise.abstraction.bucketed_strategy import SolvedBuckets
from equipoise.abstraction.solutions import open_solution
from equipoise.apps.display import describe_figures, make_console
from equipoise.apps.methods import Method, check_config, find_method, normalize_pruning, normalize_rule
from equipoise.apps.parse import parse_game_options
from equipoise.apps.preparation import GrownTree, PreparedRun, grow_tree, prepare
from equipoise.apps.session import Job, JobSizes, Quality, check_resumable, run_job
from equipoise.apps.solve_options import SolveOptions, Updates
from equipoise.apps.solve_push_fold import find_stakes, solve_push_fold_spot
from equipoise.apps.solve_spot import is_spot, prepare_spot, read_spot
from equipoise.apps.warm_start import begin_warm, check_start, read_start
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import ConfigError
from equipoise.core.files import check_writable, format_bytes, lock
from equipoise.core.formatting import format_small, format_utility
from equipoise.core.progress import SampledFigures
from equipoise.evaluation.plots import check_plot_path
from equipoise.evaluation.statistics import big_blind_of
from equipoise.games.base import Game
from equipoise.games.parameters import format_value
from equipoise.games.public import HasPublicForm
from equipoise.games.registry import format_game
from equipoise.responses.against import AgainstSolver
from equipoise.responses.notation import parse_response
from equipoise.responses.solve_against import SeatOutcome, report_seats
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.pruned_warm_start import warm_start_pruned
from equipoise.solvers.pruning import PrunedSolver
from equipoise.solvers.saved_run import RunConfig
from equipoise.solvers.solution_file import SolvedGame
from equipoise.solvers.solve import Form, Stopping, StopReason
from equipoise.solvers.substitution import WarmStart, WarmStartReport
from equipoise.solvers.warm_start import warm_start

__all__ = ["make_config", "solve"]

REPORT_SECONDS: Final = 2.0  # that drawing responses to the result may take


def solve(options: SolveOptions) -> None:
    """Solve a game or a hold'em spot and say how exploitable the result is.

    Stops at the first of --iterations, --target and --seconds; with none of them a game at 1e-5 of the payoff range or
    after a minute, a spot at what its file says or 0.5 % of the pot. Ctrl-C keeps what was computed.
    """
    with contextlib.nullcontext() if options.out is None else lock(options.out):
        console = make_console(is_quiet=options.quiet)
        saved = _open_outputs(options, console)
        check_start(options)
        if is_spot(options):
            _refuse_other_kind(options, saved, SolvedSpot)
            file = read_spot(options)
            stakes = find_stakes(file)
            if stakes is not None:
                solve_push_fold_spot(file, stakes, options, console)
                return
            job = prepare_spot(file, options, saved if isinstance(saved, SolvedSpot) else None, console)
        else:
            _refuse_other_kind(options, saved, SolvedGame)
            job = _prepare_game(options, saved if isinstance(saved, SolvedGame) else None, console)
        if saved is not None:
            job.solver.restore(saved.state)
        begin_warm(job, options, console)
        run_job(job, options, console)


def _prepare_game(options: SolveOptions, saved: SolvedGame | None, console: Console) -> Job:
    """Returns the run that the options ask for, sizes said."""
    for name in ("menu", "precision"):
        if getattr(options, name) is not None:
            raise ConfigError(f"--{name} is for hold'em spots, and {options.game} is a game")
    target = _parse_target(options.target)
    game = _parse_game(options, saved)
    config = make_config(game, options, saved)
    if saved is not None:
        check_resumable(options, saved.config, config)
    check_config(config)
    stopping = Stopping.from_options(
        game.spec.utility_range, iterations=options.iterations, target=target, seconds=options.seconds
    )
    grown = grow_tree(game, config.form, max_histories=options.max_histories, console=console)
    if grown.why is not None:
        stopping = _without_target(target, stopping, grown)
    if find_method(config.method).is_exact:
        stopping = Stopping(iterations=1)
    return _GameJob(prepare(grown, config, console=console), config, stopping, saved, target)


class _GameJob(Job):
    """A run on a game."""

    def __init__(
        self,
        prepared: PreparedRun,
        config: RunConfig,
        stopping: Stopping,
        saved: SolvedGame | None,
        target: float | None,
    ) -> None:
        self.prepared = prepared
        self.is_exact = find_method(config.method).is_exact
        super().__init__(
            name=format_game(prepared.grown.game),
            config=config,
            solver=prepared.solver,
            stopping=stopping,
            records=list(saved.progress) if saved is not None else [],
            is_target_asked_for=target is not None,
        )

    @property
    def is_full(self) -> bool:
        """Returns whether tables that grow have reached their limit, so that the run is over."""
        return self.prepared.is_full

    @property
    def sizes(self) -> JobSizes:
        """Returns how large it is now."""
        grown = self.prepared.grown
        return JobSizes(
            num_histories=grown.num_histories,
            num_infosets=grown.num_infosets,
            tree_bytes=grown.num_bytes,
            table_bytes=self.prepared.table_bytes,
            build_seconds=grown.seconds,
            why=grown.why,
        )

    def measure(self) -> Quality:
        """Returns the quality of the result: exact, or from more games than a progress record is worth."""
        return self.prepared.measure()

    def warm_start(self, path: Path, config: WarmStart) -> WarmStartReport:
        """Begins where the strategy in a file leaves off."""
        if isinstance(self.solver, PrunedSolver):
            return warm_start_pruned(self.solver, read_start(path, self.solver.tree), config)
        if not isinstance(self.solver, CFRSolver):
            raise ConfigError(f"warm starts are for method cfr on a tree, got method {self.config.method}")
        return warm_start(self.solver, read_start(path, self.solver.tree), config)

    def describe(self, quality: Quality) -> dict[str, Any]:
        """Returns the keys of a run against a response."""
        config = self.config
        seats = [dataclasses.asdict(outcome) for outcome in self._outcomes]
        return {
            "against": config.against,
            "updates_per_response": config.updates_per_response,
            "seat": config.seat,
            "merge": config.merge,
            "seats": seats if config.against is not None else None,
        }

    @functools.cached_property
    def _outcomes(self) -> tuple[SeatOutcome, ...]:
        """Returns how each seat's learner fared against its response; asked for when the run is over."""
        if not isinstance(self.solver, AgainstSolver):
            return ()
        return report_seats(self.solver, seed=self.config.seed, seconds=REPORT_SECONDS)

    def file_content(self) -> dict[str, Any]:
        """Returns the arrays and strings that a file of the run holds now."""
        return {**self.prepared.make_strategy().encode(), **self.solver.state()}

    def save(self, path: Path, reason: StopReason | None) -> None:
        """Writes the run to a file; no reason: it goes on."""
        SolvedGame.save(path, self.record(reason), strategy=self.prepared.make_strategy(), state=self.solver.state())

    def summarize(self, quality: Quality) -> dict[str, Any]:
        """Returns rows of the summary for people: what was solved, and how good it is."""
        spec = self.prepared.grown.game.spec
        if isinstance(quality, SampledFigures):
            return {
                "game": self.name,
                "exploitability": f"not known: {self.prepared.grown.why}",
                **describe_figures(quality),
            }
        share = quality.exploitability / spec.utility_range if spec.utility_range else 0.0
        figure = (format_small(quality.exploitability), "bold")
        beside = f" ({share:.1e} of the range)"
        big_blind = big_blind_of(self.prepared.grown.game)
        if big_blind is not None:
            beside += f", {1000 * quality.exploitability / big_blind:.3g} mbb/h"
        return {
            "game": self.name,
            "exploitability": Text.assemble(figure, beside),
            "nash_conv": format_small(quality.nash_conv),
            "values": ", ".join(map(format_utility, quality.values)),
            **{f"seat {one.seat}": _describe_seat(one, self.config.against) for one in self._outcomes},
            **_describe_pruning(self.solver),
        }


def _describe_seat(outcome: SeatOutcome, against: str | None) -> str:
    """Returns a row of the summary: what the average and the current strategy earn, and what theory says."""
    parts = []
    for name, value in (("average", outcome.average_value), ("current", outcome.current_value)):
        if value is not None:
            error = f" ± {format_small(value.half_width)}" if 0 < value.half_width < math.inf else ""
            parts.append(f"{name} earns {format_utility(value.mean)}{error}")
    earned = f"against {against}: {', '.join(parts)}; " if parts else ""
    return f"{earned}measured regret {format_small(outcome.epsilon)}; guarantee: {outcome.guarantee.statement}"


def _describe_pruning(solver: object) -> dict[str, str]:
    """Returns a row about what a pruned run visited and what of its tables is left; none of other runs."""
    if not isinstance(solver, PrunedSolver):
        return {}
    found = solver.statistics()
    share = solver.bytes_in_use / solver.first_bytes
    return {
        "pruning": f"{found.nodes_touched:,} nodes touched, {found.num_infosets_pruned:,} information sets pruned now, "
        f"tables of {format_bytes(solver.bytes_in_use)} ({share:.0%} of the first)"
    }


def _parse_target(text: str | None) -> float | None:
    """Returns a target in a game's unit of utility."""
    if text is None:
        return None
    try:
        target = float(text)
    except ValueError:
        raise ConfigError(f"--target of a game must be a number such as 1e-4, got {text!r}") from None
    if not 0 <= target < math.inf:
        raise ConfigError(f"target must be at least 0 and finite, got {target}")
    return target


def _without_target(target: float | None, stopping: Stopping, grown: GrownTree) -> Stopping:
    """Returns the other limits for a run without an exploitability; raises if a target was asked for."""
    if target is not None:
        raise ConfigError(
            f"--target {target:g} needs an exploitability; {grown.why}. Stop with --iterations or --seconds"
        )
    return dataclasses.replace(stopping, target=None)


def make_config(game: Game[Any], options: SolveOptions, saved: SolvedGame | None) -> RunConfig:
    """Returns what is to be computed: what was asked for, else what the saved run did, else the defaults."""
    before = saved.config if saved is not None else None
    method_name = options.method if options.method is not None else (before.method if before else "cfr")
    method = find_method(method_name)
    if options.updates is not None and not method.has_updates:
        raise ConfigError(f"method {method_name} has no --updates")
    rule_text = options.rule
    if rule_text is None and before is not None and before.method == method_name:
        rule_text = before.rule
    prune_text = options.prune
    if prune_text is None and before is not None and before.method == method_name:
        prune_text = before.prune
    updates = options.updates or (before.updates if before else Updates.ALTERNATING)
    baseline: str | None = options.baseline
    if baseline is None and before is not None and before.method == method_name:
        baseline = before.baseline
    spec = game.spec
    against = _describe_against(options, before)
    if against["against"] is not None and rule_text is None and method_name == "cfr":
        rule_text = "cfr"  # the paper's, whose averages weigh all iterations alike
    return RunConfig(
        game=spec.name,
        parameters={key: format_value(value) for key, value in spec.parameters.items()},
        game_version=spec.version,
        method=method_name,
        form=str(options.form or (before.form if before else _default_form(game, method))),
        rule=normalize_rule(method_name, rule_text),
        prune=normalize_pruning(method_name, prune_text),
        updates=str(updates),
        seed=options.seed if options.seed is not None else (before.seed if before else 0),
        threads=options.threads if options.threads is not None else (before.threads if before else 1),
        warm_start=before.warm_start if before else None,
        baseline=None if baseline is None else str(baseline),
        **against,
    )


def _default_form(game: Game[Any], method: Method) -> Form:
    """Returns what is swept if nothing is said: public states where a game says them itself and the method can."""
    is_vector = isinstance(game, HasPublicForm) and method.build_vector is not None
    return Form.VECTOR if is_vector else Form.HISTORY


def _describe_against(options: SolveOptions, before: RunConfig | None) -> dict[str, Any]:
    """Returns the fields of a configuration that say against what is trained."""
    names = ("against", "updates_per_response", "seat", "merge")
    fields = {name: getattr(options, name) for name in names}
    if before is not None:
        fields = {name: getattr(before, name) if value is None else value for name, value in fields.items()}
    if fields["against"] is None:
        return {**fields, "against_digest": None}
    if options.warm_start is not None:
        raise ConfigError("--warm-start is for learners that train against each other, got --against")
    if options.updates is not None:
        raise ConfigError("--updates is for learners that train against each other, got --against")
    spec = parse_response(fields["against"])
    updates = fields["updates_per_response"] or 1
    return {**fields, "against": spec.text, "updates_per_response": updates, "against_digest": spec.digest()}


def _open_outputs(options: SolveOptions, console: Console) -> SolvedGame | SolvedSpot | None:
    """Returns the run to go on with, if any; raises if an output could not be written."""
    if options.plot is not None:
        check_plot_path(options.plot)
        if options.out is not None and options.out.resolve() == options.plot.resolve():
            raise ConfigError(f"--out and --plot must be two files, got {options.out} for both")
    if options.out is None:
        if options.resume:
            raise ConfigError("--resume needs --out FILE, the run to go on with")
        return None
    if options.resume and options.overwrite:
        raise ConfigError("--resume goes on with a file and --overwrite replaces it: give one of them")
    check_writable(options.out)
    if options.resume and options.out.exists():
        found = open_solution(options.out, Kind.RUN, Kind.SPOT)
        assert not isinstance(found, SolvedBuckets)
        with found:
            found.read_all()
        return found
    if options.resume:
        console.print(f"nothing to go on with at {options.out} yet: starting from the beginning")
    elif options.out.exists() and not options.overwrite:
        raise ConfigError(
            f"{options.out} exists: give --resume to go on with it, --overwrite to replace it, or another --out"
        )
    return None


def _refuse_other_kind(
    options: SolveOptions, saved: SolvedGame | SolvedSpot | None, expected: type[SolvedGame] | type[SolvedSpot]
) -> None:
    if saved is not None and not isinstance(saved, expected):
        asked = "a spot" if expected is SolvedSpot else f"game {options.game}"
        raise ConfigError(f"{options.out} holds another run: game {saved.config.game}, asked for {asked}")


def _parse_game(options: SolveOptions, saved: SolvedGame | None) -> Game[Any]:
    """Returns the game asked for; without parameters a saved run of the same game lends its own."""
    if options.game is None:
        raise ConfigError("name a game that `equipoise games` lists, a spot such as spot.toml, or --endgame FILE")
    pairs = options.parameters or []
    if saved is not None and saved.config.game == options.game and not pairs:
        pairs = [f"{key}={value}" for key, value in saved.config.parameters.items()]
    return parse_game_options(options.game, pairs)
