# SPDX-License-Identifier: Apache-2.0
"""From a solver that is ready to run to its result: progress, saves on the way, figures, plot, exit code."""

from __future__ import annotations

import abc
import dataclasses
import shlex
import time
from pathlib import Path
from typing import Any, Final

import typer
from rich.console import Console
from rich.table import Table

from equipoise.apps.display import SolveDisplay
from equipoise.apps.exit_codes import ExitCode
from equipoise.apps.output import print_result, write_json
from equipoise.apps.signals import SignalFlag
from equipoise.apps.solve_options import SolveOptions
from equipoise.core.checkpoint import count_payload_bytes
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.files import check_writable
from equipoise.core.formatting import format_duration, format_optional, format_small
from equipoise.core.progress import Progress, SampledFigures
from equipoise.core.provenance import find_commit
from equipoise.evaluation.plots import plot_convergence
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.driver import Solver, is_at_most, run
from equipoise.solvers.saved_run import RunConfig, RunRecord
from equipoise.solvers.solve import Stopping, StopReason
from equipoise.solvers.substitution import WarmStart, WarmStartReport

__all__ = ["Job", "JobSizes", "Quality", "check_resumable", "run_job"]

SAVE_EVERY_SECONDS: Final = 10.0
SAVE_SHARE: Final = 0.05  # of the time that saving may take
HEADER_BYTES: Final = 100_000  # of a file: the configuration and some hundred records of progress

Quality = Evaluation | SampledFigures


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class JobSizes:
    """How large something to solve is; None: not known, or not counted."""

    num_histories: int | None
    num_infosets: int | None
    tree_bytes: int
    table_bytes: int
    build_seconds: float
    why: str | None = None  # there is no exploitability


class Job(abc.ABC):
    """Something to solve, ready to run: what differs between games and spots."""

    is_exact = False  # whether one iteration is the whole of it
    typical_slope = 0.0  # of log-log curves, where experience says more than the first iterations

    def __init__(
        self,
        *,
        name: str,
        config: RunConfig,
        solver: Solver,
        stopping: Stopping,
        records: list[Progress],
        is_target_asked_for: bool,
    ) -> None:
        self.name = name  # for titles
        self.config = config
        self.solver = solver
        self.stopping = stopping
        self.records = records  # grows
        self.is_target_asked_for = is_target_asked_for  # so that missing it is worth an exit code

    @property
    def is_full(self) -> bool:
        """Returns whether tables that grow have reached their limit, so that the run is over."""
        return False

    @property
    @abc.abstractmethod
    def sizes(self) -> JobSizes:
        """Returns how large it is now."""

    def measure(self) -> Quality:
        """Returns the quality of the result."""
        return self.solver.evaluate()

    @abc.abstractmethod
    def warm_start(self, path: Path, config: WarmStart) -> WarmStartReport:
        """Begins where the strategy in a file leaves off."""

    @abc.abstractmethod
    def file_content(self) -> dict[str, Any]:
        """Returns the arrays and strings that a file of the run holds now."""

    @abc.abstractmethod
    def save(self, path: Path, reason: StopReason | None) -> None:
        """Writes the run to a file; no reason: it goes on."""

    def record(self, reason: StopReason | None) -> RunRecord:
        """Returns what a file says of the run; no reason: it goes on."""
        stopped_by = None if reason is None else str(reason)
        return RunRecord(config=self.config, progress=tuple(self.records), stopped_by=stopped_by)

    def format_exploitability(self, value: float | None) -> str:
        """Returns an exploitability as people read it."""
        return format_optional(value)

    def estimate_time(self, record: Progress) -> str | None:
        """Returns what a record says of the time that the run will take, None if nothing yet."""
        return None

    def describe(self, quality: Quality) -> dict[str, Any]:
        """Returns the result's own keys."""
        return {}

    @abc.abstractmethod
    def summarize(self, quality: Quality) -> dict[str, Any]:
        """Returns rows of the summary for people: what was solved, and how good it is."""


def run_job(job: Job, options: SolveOptions, console: Console) -> None:
    """Runs to the stopping point, saves, reports and draws; ends with the exit code that the run deserves."""
    if options.out is not None:
        check_writable(options.out, num_bytes=HEADER_BYTES + count_payload_bytes(job.file_content()))
    session = _Session(job=job, out=options.out, console=console)
    with SignalFlag(is_immediate=job.is_exact) as flag:
        console.print(_announce(job, options.out))
        reason = session.advance(flag)
        failure = session.save_at_the_end(reason)
        quality = job.measure()
        result = _describe(job, quality, reason, options, options.out if failure is None else None)
        # a disk without room is no reason to keep the result to ourselves
        _report(job, options, result, quality, console)
        if failure is not None:
            raise failure
        if options.plot is not None:
            curve = job.config.rule or job.config.method
            plot_convergence(
                {curve: job.records}, options.plot, title=f"{job.name}, {curve}", target=job.stopping.target
            )
            console.print(f"curve in {options.plot}")
    if flag():
        raise typer.Exit(flag.exit_code)
    last = job.records[-1].exploitability
    if job.is_target_asked_for and not is_at_most(last, job.stopping.target):
        console.print(
            f"target {job.format_exploitability(job.stopping.target)} not reached: stopped by {reason} at "
            f"{job.format_exploitability(last)}",
            style="yellow",
        )
        raise typer.Exit(ExitCode.TARGET_NOT_REACHED)


def check_resumable(options: SolveOptions, before: RunConfig, config: RunConfig) -> None:
    """Raises `ConfigError` with every difference if the saved run is another one."""
    differences = before.differences(config)
    if differences:
        raise ConfigError(f"{options.out} holds another run: {'; '.join(differences)}")


def _announce(job: Job, out: Path | None) -> str:
    """Returns where the run will stop, and that it may be stopped before."""
    stopping = job.stopping
    limits = {
        "iteration": None if stopping.iterations is None else f"{stopping.iterations:,}",
        "exploitability": None if stopping.target is None else job.format_exploitability(stopping.target),
        "time": None if stopping.seconds is None else format_duration(stopping.seconds),
    }
    until = " or ".join(f"{name} {limit}" for name, limit in limits.items() if limit is not None)
    return f"solving to {until}; Ctrl-C stops it" + (f" and keeps the work in {out}" if out is not None else "")


@dataclasses.dataclass(slots=True, kw_only=True)
class _Session:
    """A run under way: records so far, and saves now and then."""

    job: Job
    out: Path | None
    console: Console
    next_save: float = 0.0
    has_warned: bool = False
    has_estimated: bool = False

    def advance(self, flag: SignalFlag) -> StopReason:
        """Runs to the stopping point and returns which one it was."""
        job, stopping, records = self.job, self.job.stopping, self.job.records
        if records and (reason := stopping.reason(records[-1])) is not None:
            self.console.print(f"nothing left to do: the saved run has met its limit ({reason})")
            return reason
        if job.is_full and records:
            self.console.print("nothing left to do: the tables have reached the memory that they may take")
            return StopReason.MEMORY
        self.next_save = time.monotonic() + SAVE_EVERY_SECONDS
        before = records[-1].seconds if records else 0.0
        title = f"{job.name} · {job.config.rule or job.config.method}"
        with SolveDisplay(self.console, title, job.format_exploitability) as display:
            for record in run(
                job.solver,
                iterations=stopping.iterations,
                target=stopping.target,
                seconds=stopping.seconds,
                seconds_before=before,
                is_interrupted=flag,
                on_advance=display.update,
                typical_slope=job.typical_slope,
            ):
                records.append(record)
                self.say_estimate(record)
                display.update(record)
                if self.out is not None and time.monotonic() >= self.next_save:
                    self.save_on_the_way()
        if job.is_exact:
            return StopReason.SOLVED
        if (met := stopping.reason(records[-1])) is not None:
            return met
        return StopReason.MEMORY if job.is_full and not flag() else StopReason.INTERRUPTED

    def say_estimate(self, record: Progress) -> None:
        """Says once, as soon as the first records tell, how long the run will take."""
        if not self.has_estimated and (estimate := self.job.estimate_time(record)) is not None:
            self.console.print(estimate)
            self.has_estimated = True

    def save_at_the_end(self, reason: StopReason) -> CheckpointError | None:
        """Saves if there is a file to save to, and returns why that failed."""
        try:
            if self.out is not None:
                self.job.save(self.out, reason)
        except CheckpointError as error:
            return error
        return None

    def save_on_the_way(self) -> None:
        """Saves; a failure is said once, because the run may still end well on a disk with room again."""
        assert self.out is not None
        began = time.monotonic()
        try:
            self.job.save(self.out, None)
        except CheckpointError as error:
            if not self.has_warned:
                self.console.print(f"not saved, the run goes on: {error}", style="yellow")
            self.has_warned = True
        spent = time.monotonic() - began
        self.next_save = time.monotonic() + max(SAVE_EVERY_SECONDS, spent / SAVE_SHARE)


def _describe(
    job: Job, quality: Quality, reason: StopReason, options: SolveOptions, out: Path | None
) -> dict[str, Any]:
    """Returns the result under the documented keys."""
    config, last, sizes = job.config, job.records[-1], job.sizes
    exact = quality if isinstance(quality, Evaluation) else None
    sampled = quality if isinstance(quality, SampledFigures) else None
    return {
        "game": config.game,
        "rule": config.rule,
        "iterations": last.iteration,
        "seconds": last.seconds,
        "exploitability": None if exact is None else exact.exploitability,
        "nash_conv": None if exact is None else exact.nash_conv,
        "game_value": None if exact is None else exact.values[0],
        "num_histories": sizes.num_histories,
        "num_infosets": sizes.num_infosets,
        "seed": config.seed,
        "version": config.equipoise_version,
        "commit": find_commit(),
        "parameters": dict(config.parameters),
        "game_version": config.game_version,
        "method": config.method,
        "form": config.form,
        "prune": config.prune,
        "updates": config.updates,
        "threads": config.threads,
        "warm_start": config.warm_start,
        "baseline": config.baseline,
        "stopped_by": str(reason),
        "target": job.stopping.target,
        "values": None if exact is None else list(exact.values),
        "best_response_values": None if exact is None else list(exact.best_response_values),
        "why": sizes.why,
        "sampled": None if sampled is None else dataclasses.asdict(sampled),
        "nodes_touched": last.nodes_touched,
        "build_seconds": sizes.build_seconds,
        "tree_bytes": sizes.tree_bytes,
        "table_bytes": sizes.table_bytes,
        "out": None if out is None else str(out),
        "plot": None if options.plot is None else str(options.plot),
        **job.describe(quality),
        "progress": [dataclasses.asdict(record) for record in job.records],
    }


def _report(job: Job, options: SolveOptions, result: dict[str, Any], quality: Quality, console: Console) -> None:
    """Says the result: JSON to standard output, or a table; then where it is and how to go on."""
    if options.json:
        write_json(result)
    else:
        print_result(_summary(job, result, quality), is_quiet=options.quiet)
    if result["out"] is not None:
        console.print(f"saved in {result['out']}")
    if result["stopped_by"] == StopReason.INTERRUPTED:
        console.print(_how_to_go_on(options, result), style="yellow")


def _summary(job: Job, result: dict[str, Any], quality: Quality) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    parts = [str(result[key]) for key in ("method", "rule", "prune") if result[key] is not None]
    against = result.get("against")
    algorithm = " · ".join([*parts, str(result["updates"]) if against is None else f"against {against}"])
    reason = result["stopped_by"]
    if reason == StopReason.TARGET:
        reason = f"{reason} ({format_small(result['target'])})"
    (what, name), *figures = job.summarize(quality).items()
    rows = {
        what: name,
        "solved with": algorithm,
        **dict(figures),
        "iterations": f"{result['iterations']:,} in {format_duration(result['seconds'])}",
        "stopped by": reason,
    }
    for heading, text in rows.items():
        table.add_row(heading, text)
    return table


def _how_to_go_on(options: SolveOptions, result: dict[str, Any]) -> str:
    """Returns where the work is after an interruption, and the command that continues it."""
    where = f"interrupted at iteration {result['iterations']:,}"
    if options.out is None:
        return f"{where}; nothing was saved (--out FILE keeps a run)"
    if result["out"] is None:
        return f"{where}; the last of it was not saved"
    command = ["equipoise", "solve", *([] if options.game is None else [options.game])]
    command += _repeat(options, "endgame", "menu", "out")
    command += ["--resume", *_repeat(options, "iterations", "target", "seconds")]
    return f"{where}; go on with: {shlex.join(command)}"


def _repeat(options: SolveOptions, *names: str) -> list[str]:
    """Returns options that were given, as they would be typed."""
    given = [(name, getattr(options, name)) for name in names]
    return [word for name, value in given if value is not None for word in (f"--{name}", str(value))]
