# SPDX-License-Identifier: Apache-2.0
"""`equipoise solve`: solve a game, watch it converge, keep the result, go on later."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import shlex
import time
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from equipoise.apps.display import (
    SolveDisplay,
    describe_figures,
    format_duration,
    format_optional,
    format_small,
    format_utility,
    make_console,
)
from equipoise.apps.exit_codes import ExitCode
from equipoise.apps.methods import ALTERNATING, METHODS, SIMULTANEOUS, check_config, find_method, normalize_rule
from equipoise.apps.output import print_result, write_json
from equipoise.apps.parse import format_game, parse_game_options, rule_names
from equipoise.apps.plots import check_plot_path, plot_convergence
from equipoise.apps.preparation import GrownTree, PreparedRun, grow_tree, prepare
from equipoise.apps.signals import SignalFlag
from equipoise.core.checkpoint import count_payload_bytes
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.files import check_writable, lock
from equipoise.core.progress import Progress, SampledFigures
from equipoise.core.provenance import find_commit
from equipoise.games.base import Game
from equipoise.games.parameters import format_value
from equipoise.kernels.calls import MAX_THREADS
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.driver import is_at_most, run
from equipoise.solvers.saved_run import RunConfig, SavedRun
from equipoise.solvers.solve import Form, Stopping, StopReason
from equipoise.trees.history import DEFAULT_MAX_HISTORIES

__all__ = ["GameOptions", "SolveOptions", "Updates", "make_config", "solve"]

SAVE_EVERY_SECONDS: Final = 10.0
SAVE_SHARE: Final = 0.05  # of the time that saving may take
HEADER_BYTES: Final = 100_000  # of a file: the configuration and some hundred records of progress


class Updates(enum.StrEnum):
    """Whether players see each other's updates of the same iteration."""

    ALTERNATING = ALTERNATING
    SIMULTANEOUS = SIMULTANEOUS


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GameOptions:
    """Which game, and how much of the machine it may take."""

    game: Annotated[str, typer.Argument(help="A game that `equipoise games` lists, or openspiel:NAME.")]
    parameters: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="A parameter of the game.", metavar="KEY=VALUE")
    ] = None
    max_histories: Annotated[int, typer.Option(min=1, help="Refuse games with more.")] = DEFAULT_MAX_HISTORIES
    threads: Annotated[
        int | None, typer.Option(min=1, max=MAX_THREADS, help="Size of the team (default 1).", show_default=False)
    ] = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SolveOptions(GameOptions):
    """What `equipoise solve` is told."""

    rule: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(rule_names())}; with numbers: dcfr(1.5,0,2) (default dcfr).")
    ] = None
    method: Annotated[str | None, typer.Option(help=f"One of {', '.join(METHODS)} (default cfr).")] = None
    form: Annotated[
        Form | None,
        typer.Option(
            help="Sweep single histories, or public states with all private states at once, or sample the rules "
            "without a tree: external and outcome, for games too large for one (default history)."
        ),
    ] = None
    updates: Annotated[
        Updates | None,
        typer.Option(help="Whether players see each other's updates of the same iteration (default alternating)."),
    ] = None
    iterations: Annotated[int | None, typer.Option("--iterations", "-n", help="Stop after so many in total.")] = None
    target: Annotated[float | None, typer.Option(help="Stop at this exploitability.")] = None
    seconds: Annotated[float | None, typer.Option(help="Stop after this time in total.")] = None
    seed: Annotated[int | None, typer.Option(min=0, help="Of methods that sample (default 0).")] = None
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Keep strategy and run in this file.")] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing --out.")] = False
    plot: Annotated[Path | None, typer.Option(help="Draw the curve: .png, .svg or .pdf.")] = None
    json: Annotated[bool, typer.Option("--json", help="Write the result as JSON to standard output.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages, progress or tables.")] = False


def solve(options: SolveOptions) -> None:
    """Solve a game and say how exploitable the result is.

    Stops at the first of --iterations, --target and --seconds; with none of them at 1e-5 of the payoff range or after
    a minute. Ctrl-C keeps what was computed.
    """
    with contextlib.nullcontext() if options.out is None else lock(options.out):
        _solve(options, make_console(is_quiet=options.quiet))


def _solve(options: SolveOptions, console: Console) -> None:
    saved = _open_outputs(options, console)
    game = _parse_game(options, saved)
    config = make_config(game, options, saved)
    if saved is not None:
        _check_resumable(options, saved, config, console)
    check_config(config)
    stopping = Stopping.from_options(
        game.spec.utility_range, iterations=options.iterations, target=options.target, seconds=options.seconds
    )
    grown = grow_tree(game, config.form, max_histories=options.max_histories, console=console)
    if grown.why is not None:
        stopping = _without_target(options, stopping, grown)
    prepared = prepare(grown, config, console=console)
    records = list(saved.progress) if saved is not None else []
    if saved is not None:
        prepared.solver.restore(saved.state)
    if options.out is not None:
        check_writable(options.out, num_bytes=_estimate_file_bytes(prepared))
    session = _Session(prepared=prepared, config=config, records=records, out=options.out, console=console)
    method = find_method(config.method)
    if method.is_exact:
        stopping = Stopping(iterations=1)
    with SignalFlag(is_immediate=method.is_exact) as flag:
        console.print(_announce(stopping, options.out))
        reason = session.advance(stopping, flag)
        failure = session.save_at_the_end(reason)
        evaluation = prepared.measure()
        out = options.out if failure is None else None
        result = _describe(options, config, prepared, records, evaluation, reason, stopping, out)
        # a disk without room is no reason to keep the result to ourselves
        _report(options, game, result, evaluation, console)
        if failure is not None:
            raise failure
        if options.plot is not None:
            name = config.rule or config.method
            title = f"{format_game(game)}, {name}"
            plot_convergence({name: records}, options.plot, title=title, target=stopping.target)
            console.print(f"curve in {options.plot}")
    if flag():
        raise typer.Exit(flag.exit_code)
    if options.target is not None and not is_at_most(records[-1].exploitability, options.target):
        console.print(
            f"target {format_small(options.target)} not reached: stopped by {reason} at "
            f"{format_optional(records[-1].exploitability)}",
            style="yellow",
        )
        raise typer.Exit(ExitCode.TARGET_NOT_REACHED)


def _without_target(options: SolveOptions, stopping: Stopping, grown: GrownTree) -> Stopping:
    """Returns the other limits for a run without an exploitability; raises if a target was asked for."""
    if options.target is not None:
        raise ConfigError(
            f"--target {options.target:g} needs an exploitability; {grown.why}. Stop with --iterations or --seconds"
        )
    return dataclasses.replace(stopping, target=None)


def make_config(game: Game[Any], options: SolveOptions, saved: SavedRun | None) -> RunConfig:
    """Returns what is to be computed: what was asked for, else what the saved run did, else the defaults."""
    before = saved.config if saved is not None else None
    method_name = options.method if options.method is not None else (before.method if before else "cfr")
    method = find_method(method_name)
    if options.updates is not None and not method.has_updates:
        raise ConfigError(f"method {method_name} has no --updates")
    rule_text = options.rule
    if rule_text is None and before is not None and before.method == method_name:
        rule_text = before.rule
    updates = options.updates or (before.updates if before else Updates.ALTERNATING)
    spec = game.spec
    return RunConfig(
        game=spec.name,
        parameters={key: format_value(value) for key, value in spec.parameters.items()},
        game_version=spec.version,
        method=method_name,
        form=str(options.form or (before.form if before else Form.HISTORY)),
        rule=normalize_rule(method_name, rule_text),
        updates=str(updates),
        seed=options.seed if options.seed is not None else (before.seed if before else 0),
        threads=options.threads if options.threads is not None else (before.threads if before else 1),
    )


def _open_outputs(options: SolveOptions, console: Console) -> SavedRun | None:
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
        return SavedRun.load(options.out)
    if options.resume:
        console.print(f"nothing to go on with at {options.out} yet: starting from the beginning")
    elif options.out.exists() and not options.overwrite:
        raise ConfigError(
            f"{options.out} exists: give --resume to go on with it, --overwrite to replace it, or another --out"
        )
    return None


def _parse_game(options: SolveOptions, saved: SavedRun | None) -> Game[Any]:
    """Returns the game asked for; without parameters a saved run of the same game lends its own."""
    pairs = options.parameters or []
    if saved is not None and saved.config.game == options.game and not pairs:
        pairs = [f"{key}={value}" for key, value in saved.config.parameters.items()]
    return parse_game_options(options.game, pairs)


def _check_resumable(options: SolveOptions, saved: SavedRun, config: RunConfig, console: Console) -> None:
    """Raises `ConfigError` with every difference if the saved run is another one."""
    differences = saved.config.differences(config)
    if differences:
        raise ConfigError(f"{options.out} holds another run: {'; '.join(differences)}")
    if saved.config.threads != config.threads:
        console.print(
            f"{config.threads} threads in place of {saved.config.threads}: sums will differ in their last bits, and "
            "where regrets tie exactly the run will soon go another way, to like quality",
            style="yellow",
        )


def _estimate_file_bytes(prepared: PreparedRun) -> int:
    """Returns about what a file of the run takes; tables that grow are counted as they are."""
    content = {**prepared.make_strategy().encode(), **prepared.solver.state()}
    return HEADER_BYTES + count_payload_bytes(content)


def _announce(stopping: Stopping, out: Path | None) -> str:
    """Returns where the run will stop, and that it may be stopped before."""
    limits = {
        "iteration": None if stopping.iterations is None else f"{stopping.iterations:,}",
        "exploitability": None if stopping.target is None else format_small(stopping.target),
        "time": None if stopping.seconds is None else format_duration(stopping.seconds),
    }
    until = " or ".join(f"{name} {limit}" for name, limit in limits.items() if limit is not None)
    return f"solving to {until}; Ctrl-C stops it" + (f" and keeps the work in {out}" if out is not None else "")


@dataclasses.dataclass(slots=True, kw_only=True)
class _Session:
    """A run under way: records so far, and saves now and then."""

    prepared: PreparedRun
    config: RunConfig
    records: list[Progress]  # grows
    out: Path | None
    console: Console
    next_save: float = 0.0
    has_warned: bool = False

    def advance(self, stopping: Stopping, flag: SignalFlag) -> StopReason:
        """Runs to the stopping point and returns which one it was."""
        if self.records and (reason := stopping.reason(self.records[-1])) is not None:
            self.console.print(f"nothing left to do: the saved run has met its limit ({reason})")
            return reason
        if self.prepared.is_full and self.records:
            self.console.print("nothing left to do: the tables have reached the memory that they may take")
            return StopReason.MEMORY
        self.next_save = time.monotonic() + SAVE_EVERY_SECONDS
        before = self.records[-1].seconds if self.records else 0.0
        title = f"{self.config.game} · {self.config.rule or self.config.method}"
        with SolveDisplay(self.console, title) as display:
            for record in run(
                self.prepared.solver,
                iterations=stopping.iterations,
                target=stopping.target,
                seconds=stopping.seconds,
                seconds_before=before,
                is_interrupted=flag,
            ):
                self.records.append(record)
                display.update(record)
                if self.out is not None and time.monotonic() >= self.next_save:
                    self.save_on_the_way()
        if find_method(self.config.method).is_exact:
            return StopReason.SOLVED
        if (met := stopping.reason(self.records[-1])) is not None:
            return met
        return StopReason.MEMORY if self.prepared.is_full and not flag() else StopReason.INTERRUPTED

    def save(self, reason: StopReason | None) -> None:
        """Writes the run to its file."""
        assert self.out is not None
        SavedRun(
            config=self.config,
            progress=tuple(self.records),
            stopped_by=None if reason is None else str(reason),
            strategy=self.prepared.make_strategy(),
            state=self.prepared.solver.state(),
        ).save(self.out)

    def save_at_the_end(self, reason: StopReason) -> CheckpointError | None:
        """Saves if there is a file to save to, and returns why that failed."""
        try:
            if self.out is not None:
                self.save(reason)
        except CheckpointError as error:
            return error
        return None

    def save_on_the_way(self) -> None:
        """Saves; a failure is said once, because the run may still end well on a disk with room again."""
        began = time.monotonic()
        try:
            self.save(None)
        except CheckpointError as error:
            if not self.has_warned:
                self.console.print(f"not saved, the run goes on: {error}", style="yellow")
            self.has_warned = True
        spent = time.monotonic() - began
        self.next_save = time.monotonic() + max(SAVE_EVERY_SECONDS, spent / SAVE_SHARE)


def _describe(
    options: SolveOptions,
    config: RunConfig,
    prepared: PreparedRun,
    records: list[Progress],
    evaluation: Evaluation | SampledFigures,
    reason: StopReason,
    stopping: Stopping,
    out: Path | None,
) -> dict[str, Any]:
    """Returns the result under the documented keys."""
    last = records[-1]
    exact = evaluation if isinstance(evaluation, Evaluation) else None
    sampled = evaluation if isinstance(evaluation, SampledFigures) else None
    return {
        "game": config.game,
        "rule": config.rule,
        "iterations": last.iteration,
        "seconds": last.seconds,
        "exploitability": None if exact is None else exact.exploitability,
        "nash_conv": None if exact is None else exact.nash_conv,
        "game_value": None if exact is None else exact.values[0],
        "num_histories": prepared.grown.num_histories,
        "num_infosets": prepared.grown.num_infosets,
        "seed": config.seed,
        "version": config.equipoise_version,
        "commit": find_commit(),
        "parameters": dict(config.parameters),
        "game_version": config.game_version,
        "method": config.method,
        "form": config.form,
        "updates": config.updates,
        "threads": config.threads,
        "stopped_by": str(reason),
        "target": stopping.target,
        "values": None if exact is None else list(exact.values),
        "best_response_values": None if exact is None else list(exact.best_response_values),
        "why": prepared.grown.why,
        "sampled": None if sampled is None else dataclasses.asdict(sampled),
        "nodes_touched": last.nodes_touched,
        "build_seconds": prepared.grown.seconds,
        "tree_bytes": prepared.grown.num_bytes,
        "table_bytes": prepared.table_bytes,
        "out": None if out is None else str(out),
        "plot": None if options.plot is None else str(options.plot),
        "progress": [dataclasses.asdict(record) for record in records],
    }


def _report(
    options: SolveOptions,
    game: Game[Any],
    result: dict[str, Any],
    evaluation: Evaluation | SampledFigures,
    console: Console,
) -> None:
    """Says the result: JSON to standard output, or a table; then where it is and how to go on."""
    if options.json:
        write_json(result)
    else:
        print_result(_summary(game, result, evaluation), is_quiet=options.quiet)
    if result["out"] is not None:
        console.print(f"saved in {result['out']}")
    if result["stopped_by"] == StopReason.INTERRUPTED:
        console.print(_how_to_go_on(options, result), style="yellow")


def _summary(game: Game[Any], result: dict[str, Any], evaluation: Evaluation | SampledFigures) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    algorithm = " · ".join(str(result[key]) for key in ("method", "rule", "updates") if result[key] is not None)
    table.add_row("game", format_game(game))
    table.add_row("solved with", algorithm)
    if isinstance(evaluation, SampledFigures):
        table.add_row("exploitability", f"not known: {result['why']}")
        for name, text in describe_figures(evaluation).items():
            table.add_row(name, text)
    else:
        share = evaluation.exploitability / game.spec.utility_range if game.spec.utility_range else 0.0
        figure = (format_small(evaluation.exploitability), "bold")
        table.add_row("exploitability", Text.assemble(figure, f" ({share:.1e} of the range)"))
        table.add_row("nash_conv", format_small(evaluation.nash_conv))
        table.add_row("values", ", ".join(map(format_utility, evaluation.values)))
    table.add_row("iterations", f"{result['iterations']:,} in {format_duration(result['seconds'])}")
    table.add_row("stopped by", _explain_stop(result))
    return table


def _explain_stop(result: dict[str, Any]) -> str:
    reason = result["stopped_by"]
    return f"{reason} ({format_small(result['target'])})" if reason == StopReason.TARGET else str(reason)


def _how_to_go_on(options: SolveOptions, result: dict[str, Any]) -> str:
    """Returns where the work is after an interruption, and the command that continues it."""
    where = f"interrupted at iteration {result['iterations']:,}"
    if options.out is None:
        return f"{where}; nothing was saved (--out FILE keeps a run)"
    if result["out"] is None:
        return f"{where}; the last of it was not saved"
    command = ["equipoise", "solve", options.game, "--out", str(options.out), "--resume"]
    for name in ("iterations", "target", "seconds"):
        value = getattr(options, name)
        if value is not None:
            command += [f"--{name}", str(value)]
    return f"{where}; go on with: {shlex.join(command)}"
