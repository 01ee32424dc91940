# SPDX-License-Identifier: Apache-2.0
"""`equipoise solve --warm-start FILE`: from its options to a run that begins where a strategy leaves off."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from rich.console import Console

from equipoise.abstraction.solutions import open_solution
from equipoise.apps.solve_options import SolveOptions
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import ConfigError
from equipoise.core.formatting import format_small
from equipoise.runs.run import Run
from equipoise.solvers.substitution import RegretBound, WarmStart, WarmStartReport

__all__ = ["begin_warm", "check_start"]

AUTO = "auto"
DETAILS = ("warm_start_iterations", "warm_start_lambda", "warm_start_bound")


def check_start(options: SolveOptions, *, is_spot: bool) -> None:
    """Raises if what the options say of a warm start cannot be, before a tree is built for it."""
    if _parse_warm_start(options) is not None and options.warm_start is not None:
        expected = (Kind.SPOT,) if is_spot else (Kind.STRATEGY, Kind.RUN)
        open_solution(options.warm_start, *expected).close()


def begin_warm(run: Run, options: SolveOptions, console: Console) -> None:
    """Starts a run from the strategy that the options name, if any, and says how; a run that goes on is left alone."""
    config = _parse_warm_start(options)
    if config is None or options.warm_start is None:
        return
    if run.records:
        console.print(f"going on with the run in {options.out}: --warm-start is for its beginning", style="yellow")
        return
    report = run.warm_start(options.warm_start, config)
    limit = run.stopping.iterations
    if limit is not None and limit <= report.iterations:
        raise ConfigError(
            f"--iterations counts those that the warm start stands for: it must be above {report.iterations:,}, "
            f"got {limit:,}"
        )
    run.config = dataclasses.replace(
        run.config,
        warm_start=f"{options.warm_start.name}: {report.iterations} iterations, lambda {report.bound_share:.3g} "
        f"({report.bound})",
    )
    console.print(_describe(report, options.warm_start))
    if not report.is_plain:
        console.print(
            f"theory covers --rule cfr; under {run.config.rule} a warm start is a heuristic, and may lose much of a "
            "good strategy before it gains",
            style="yellow",
        )
    if not report.is_covered:
        console.print(
            f"substitute values sum to {format_small(sum(report.substitute_values))}, above 0: lambda "
            f"{report.bound_share:g} is less than theory asks for",
            style="yellow",
        )


def _parse_warm_start(options: SolveOptions) -> WarmStart | None:
    if options.warm_start is None:
        for name in DETAILS:
            if getattr(options, name) is not None:
                raise ConfigError(f"--{name.replace('_', '-')} needs --warm-start FILE, the strategy to start from")
        return None
    config = WarmStart(
        iterations=_parse_iterations(options.warm_start_iterations),
        bound_share=_parse_lambda(options.warm_start_lambda),
    )
    bound = options.warm_start_bound
    return config if bound is None else dataclasses.replace(config, bound=RegretBound(bound))


def _parse_iterations(text: str | None) -> int | None:
    if text in (None, AUTO):
        return None
    try:
        return int(text)
    except ValueError:
        raise ConfigError(f"--warm-start-iterations must be {AUTO} or a whole number, got {text!r}") from None


def _parse_lambda(text: str | None) -> float | None:
    if text in (None, AUTO):
        return None
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"--warm-start-lambda must be {AUTO} or a number from 0 to 1, got {text!r}") from None


def _describe(report: WarmStartReport, path: Path) -> str:
    """Returns what was chosen, in a line."""
    why = "" if report.projection is None else f" (a short run goes as {report.projection:.3g}/T)"
    return (
        f"warm start from {path}: nash_conv {format_small(report.nash_conv)}, taken for {report.iterations:,} "
        f"iterations{why}; lambda {report.bound_share:.3g} of bound {report.bound}"
    )
