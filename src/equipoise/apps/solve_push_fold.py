# SPDX-License-Identifier: Apache-2.0
"""`equipoise solve` on spots that are push or fold: an exact chart in place of a run.

All-in before the flop leads to every board, of which no memory holds a tree; equities of classes of hands say the same.
"""

from __future__ import annotations

import time
from typing import Any, Final

import typer
from rich.console import Console

from equipoise.apps.display import make_console
from equipoise.apps.exit_codes import ExitCode
from equipoise.apps.output import write_json
from equipoise.apps.push_fold import describe_chart, make_chart, print_chart
from equipoise.apps.solve_options import SolveOptions
from equipoise.apps.solve_request import make_request
from equipoise.core.errors import ConfigError
from equipoise.core.provenance import find_commit, version
from equipoise.games.holdem.spot_file import SpotFile
from equipoise.games.holdem.targets import parse_target
from equipoise.games.holdem.units import describe_units, format_chips, format_shares, spot_parameters
from equipoise.responses.configured import AGAINST_FIELDS
from equipoise.runs.spot_run import refuse_game_options
from equipoise.solvers.holdem.push_fold import PushFold, PushFoldChart, find_push_fold

__all__ = ["find_stakes", "solve_push_fold_spot"]

RUN_OPTIONS: Final = (
    "iterations",
    "seconds",
    "rule",
    "prune",
    "precision",
    "updates",
    "warm_start",
)  # of a solver that comes nearer and nearer
FILE_OPTIONS: Final = ("out", "plot")


def find_stakes(file: SpotFile) -> PushFold | None:
    """Returns the stakes of a spot that has an exact chart, None if it needs a run."""
    return None if file.locks else find_push_fold(file.spot)


def solve_push_fold_spot(file: SpotFile, stakes: PushFold, options: SolveOptions, console: Console) -> None:
    """Solves push or fold and says who does what, and what it is worth in chips."""
    _refuse_run_options(file, options)
    target = file.target if options.target is None else parse_target(options.target)
    target_chips = None if target is None else target.chips(file.spot)
    console.print(f"{file.spot.name}: push or fold with {stakes.stack_bb:g} big blinds, solved exactly")
    began = time.perf_counter()
    chart = make_chart(stakes, console)
    result = _describe(file, chart, target_chips, time.perf_counter() - began)
    if options.json:
        write_json(result)
    elif not options.quiet:
        print_chart(chart)
        make_console(is_stderr=False).print(format_shares(file, result["values"]))
    if target_chips is not None and result["exploitability"] > target_chips:
        found = format_chips(file.spot, result["exploitability"])
        console.print(f"target {format_chips(file.spot, target_chips)} not reached: {found}", style="yellow")
        raise typer.Exit(ExitCode.TARGET_NOT_REACHED)


def _describe(file: SpotFile, chart: PushFoldChart, target_chips: float | None, seconds: float) -> dict[str, Any]:
    """Returns the result under the documented keys: those of a spot in chips, the chart's in big blinds."""
    spot = file.spot
    small_blind, big_blind = (value * spot.big_blind for value in chart.values_bb)
    values = [big_blind, small_blind]  # out of position first, as in every spot
    exploitability = chart.exploitability_bb * spot.big_blind
    return {
        "game": "spot",
        "method": "push_fold",
        "parameters": spot_parameters(file),
        "seconds": seconds,
        "stopped_by": "solved",
        "target": target_chips,
        "exploitability": exploitability,
        "nash_conv": chart.nash_conv_bb * spot.big_blind,
        "game_value": values[0],
        "values": values,
        **describe_units(spot, exploitability, values),
        "version": version(),
        "commit": find_commit(),
        "chart": describe_chart(chart),
    }


def _refuse_run_options(file: SpotFile, options: SolveOptions) -> None:
    """Raises if something was asked for that an exact chart does not have."""
    request = make_request(options)
    refuse_game_options(request, options.method or "cfr")
    for name in AGAINST_FIELDS:
        if getattr(request, name) is not None:
            raise ConfigError(
                f"--{name.replace('_', '-')} is for spots that CFR solves; push or fold has an exact chart"
            )
    if options.method not in (None, "cfr"):
        raise ConfigError(f"the spot is push or fold, which is solved exactly: leave out --method {options.method}")
    for name in RUN_OPTIONS:
        if getattr(options, name) is not None or getattr(file, name, None) is not None:
            raise ConfigError(f"the spot is push or fold, which is solved exactly: leave out {name}")
    for name in FILE_OPTIONS:
        if getattr(options, name) is not None:
            raise ConfigError(
                f"the spot is push or fold, which is solved in a moment and has no run to keep: leave out --{name}; "
                "--json writes the chart"
            )
