# SPDX-License-Identifier: Apache-2.0
"""A run on the command line: signals, progress, saves on the way, figures, plot, exit code."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from equipoise.apps.display import ConsoleReporter, SolveDisplay, describe_figures, explain_no_guarantee
from equipoise.apps.exit_codes import ExitCode
from equipoise.apps.output import print_result, write_json
from equipoise.apps.signals import SignalFlag
from equipoise.apps.solve_options import SolveOptions
from equipoise.core.files import format_bytes
from equipoise.core.formatting import format_duration, format_small, format_utility
from equipoise.core.progress import SampledFigures
from equipoise.core.runs import RunFolder
from equipoise.evaluation.plots import plot_convergence
from equipoise.evaluation.statistics import big_blind_of
from equipoise.games.holdem.menu_notation import format_menu
from equipoise.games.holdem.units import format_shares
from equipoise.runs.game_run import GameRun
from equipoise.runs.keeping import Keeper
from equipoise.runs.run import Quality
from equipoise.runs.spot_run import SpotRun
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.pruning import PrunedSolver
from equipoise.solvers.stopping import StopReason

__all__ = ["run_shown"]


def run_shown(run: GameRun | SpotRun, options: SolveOptions, console: Console, folder: RunFolder | None = None) -> None:
    """Runs to the stopping point, saves, reports and draws; ends with the exit code that the run deserves."""
    reporter = ConsoleReporter(console)
    keeper = Keeper(run, options.out, reporter, folder)
    display = SolveDisplay(console, run.label, run.format_exploitability, run.format_value)
    with SignalFlag(is_immediate=run.is_exact, on_first=display.say_stopping) as flag:
        kept = f" and keeps the work in {options.out}" if options.out is not None else "; --out FILE would keep it"
        console.print(f"solving to {run.describe_limits()}; Ctrl-C stops it{kept}")
        _advance(run, keeper, flag, display, console)
        if not run.records:
            console.print("interrupted within the first iteration: nothing is computed or saved yet")
            raise typer.Exit(flag.exit_code)
        if options.out is not None:
            flag.on_first = display.say_saving
        failure = keeper.save_at_the_end()
        flag.on_first = display.say_stopping
        quality = run.measure_at_the_end()
        out = options.out if failure is None else None
        # a disk without room is no reason to keep the result to ourselves
        _report(run, options, out, quality, console)
        if failure is not None:
            raise failure
        if options.plot is not None:
            title, target = f"{run.name}, {run.algorithm}", run.stopping.target
            plot_convergence({run.algorithm: run.records}, options.plot, title=title, target=target)
            console.print(f"curve in {options.plot}")
    if flag():
        raise typer.Exit(flag.exit_code)
    if run.misses_target:
        console.print(
            f"target {run.format_exploitability(run.stopping.target)} not reached: stopped by {run.stopped_by} at "
            f"{run.format_exploitability(run.records[-1].exploitability)}",
            style="yellow",
        )
        raise typer.Exit(ExitCode.TARGET_NOT_REACHED)


def _advance(run: GameRun | SpotRun, keeper: Keeper, flag: SignalFlag, display: SolveDisplay, console: Console) -> None:
    """Runs to the stopping point, shown; says once how long it will take, as soon as the first records tell."""
    if (end := run.find_end()) is not None:
        has_memory = end is not StopReason.MEMORY
        reason = (
            f"the saved run has met its limit ({end})"
            if has_memory
            else "the tables have reached the memory that they may take"
        )
        console.print(f"nothing left to do: {reason}")
    has_estimated = False
    with display:
        for record in run.advance(is_interrupted=flag, on_advance=display.update):
            if not has_estimated and (estimate := run.estimate_time(record)) is not None:
                console.print(estimate)
                has_estimated = True
            display.update(record)
            with flag.raising():  # nobody waits for a save on the way: the last one follows
                keeper.save_now_and_then()


def _report(
    run: GameRun | SpotRun, options: SolveOptions, out: Path | None, quality: Quality | None, console: Console
) -> None:
    """Says the result: JSON to standard output, or a table; then where it is and how to go on.

    There is no quality where a run that goes on was interrupted before it was measured, which would have taken long.
    """
    if quality is None:
        console.print("not measured since it went on: it was interrupted before")
    elif options.json:
        files = {"out": None if out is None else str(out), "plot": None if options.plot is None else str(options.plot)}
        write_json({**run.describe(quality), **files})
    else:
        print_result(_summary(run, quality), is_quiet=options.quiet)
    if out is not None:
        console.print(f"saved in {out}")
    if run.stopped_by is StopReason.INTERRUPTED:
        console.print(_how_to_go_on(run, options, is_saved=out is not None), style="yellow")


def _summary(run: GameRun | SpotRun, quality: Quality) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    config, last = run.config, run.records[-1]
    parts = [part for part in (config.method, config.rule, config.prune) if part is not None]
    algorithm = " · ".join([*parts, config.updates if config.against is None else f"against {config.against}"])
    reason = str(run.stopped_by)
    if run.stopped_by is StopReason.TARGET and run.stopping.target is not None:
        reason = f"{reason} ({run.format_exploitability(run.stopping.target)})"
    (what, name), *figures = _figures(run, quality).items()
    rows = {
        what: name,
        "solved with": algorithm,
        **dict(figures),
        "iterations": f"{last.iteration:,} in {format_duration(last.seconds)}",
        "stopped by": reason,
    }
    for heading, text in rows.items():
        table.add_row(heading, text)
    return table


def _figures(run: GameRun | SpotRun, quality: Quality) -> dict[str, Any]:
    """Returns rows of the summary for people: what was solved, and how good it is."""
    return _figures_of_spot(run, quality) if isinstance(run, SpotRun) else _figures_of_game(run, quality)


def _figures_of_game(run: GameRun, quality: Quality) -> dict[str, Any]:
    if isinstance(quality, SampledFigures):
        return {
            "game": run.name,
            "exploitability": f"not known: {run.sizes.why}",
            **describe_figures(quality),
        }
    utility_range = run.game.spec.utility_range
    share = quality.exploitability / utility_range if utility_range else 0.0
    beside = f" ({share:.1e} of the range)"
    big_blind = big_blind_of(run.game)
    if big_blind is not None:
        beside += f", {1000 * quality.exploitability / big_blind:.3g} mbb/h"
    return {
        "game": run.name,
        "exploitability": Text.assemble((format_small(quality.exploitability), "bold"), beside),
        "nash_conv": format_small(quality.nash_conv),
        "values": ", ".join(map(format_utility, quality.values)),
        **_describe_guarantee(run),
        **{f"seat {one.seat}": one.describe(run.config.against) for one in run.outcomes},
        **_describe_pruning(run.solver),
    }


def _describe_guarantee(run: GameRun) -> dict[str, str]:
    """Returns rows on what a result is good for where it is no game of two in sum zero; none where it is."""
    if run.has_guarantee:
        return {}
    rows = {"no guarantee": explain_no_guarantee(run.game)}
    if (regrets := run.average_regrets()) is not None:
        shown = ", ".join(format_small(max(regret, 0.0)) for regret in regrets)
        rows["average regret"] = f"{shown}: the largest is the gap to a coarse correlated equilibrium, at most"
    return rows


def _figures_of_spot(run: SpotRun, quality: Quality) -> dict[str, Any]:
    assert not isinstance(quality, SampledFigures)
    spot = run.file.spot
    stacks = " and ".join(f"{stack:,}" for stack in sorted(set(spot.behind)))
    free = run.measure_without_locks()
    return {
        "spot": f"{run.name}, pot {spot.root_pot:,}, {stacks} behind, big blind {spot.big_blind:,}",
        "menu": format_menu(spot.menu),
        "exploitability": Text(run.format_exploitability(quality.exploitability), style="bold"),
        **({} if free is None else {"without locks": run.format_exploitability(free)}),
        "nash_conv": f"{format_small(quality.nash_conv)} chips",
        "values": format_shares(run.file, quality.values),
        **{run.file.seat_names[one.seat]: one.describe(run.config.against) for one in run.outcomes},
    }


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


def _how_to_go_on(run: GameRun | SpotRun, options: SolveOptions, *, is_saved: bool) -> str:
    """Returns where the work is after an interruption, and the command that continues it."""
    where = f"interrupted at iteration {run.records[-1].iteration:,}"
    if isinstance(run.solver, CFRSolver) and run.solver.is_within_iteration:
        where = f"interrupted within iteration {run.solver.iteration + 1:,}"
    if options.out is None:
        return f"{where}; nothing was saved (--out FILE keeps a run)"
    if not is_saved:
        return f"{where}; the last of it was not saved"
    command = ["equipoise", "solve", *([] if options.game is None else [options.game])]
    command += _repeat(options, "endgame", "menu", "out" if options.run is None else "run")
    if options.run is None:  # a folder keeps its spot, locks included
        command += _repeat(
            options, "lock", "lock_from", "at", "seat", *(["carry_from"] if options.game is None else [])
        )
    command += ["--resume", *_repeat(options, "iterations", "target", "seconds")]
    return f"{where}; go on with: {shlex.join(command)}"


def _repeat(options: SolveOptions, *names: str) -> list[str]:
    """Returns options that were given, as they would be typed."""
    spelled = {name: f"--{name.replace('_', '-').replace('carry-', '')}" for name in names}
    given = [(spelled[name], getattr(options, name)) for name in names]
    listed = [(name, one) for name, value in given for one in (value if isinstance(value, list) else [value])]
    return [word for name, value in listed if value is not None for word in (name, str(value))]
