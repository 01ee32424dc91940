# SPDX-License-Identifier: Apache-2.0
"""`equipoise compare`: several rules on one game, as curves and as a table."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from rich.console import Console, Group, RenderableType

from equipoise.apps.display import ConsoleReporter, SolveDisplay, make_console
from equipoise.apps.output import make_table, print_result, write_json
from equipoise.apps.parse import parse_names
from equipoise.apps.shared_options import Json, Quiet
from equipoise.apps.signals import SignalFlag, Stopped
from equipoise.apps.solve_options import GameOptions, Updates
from equipoise.core.errors import ConfigError, EquipoiseError
from equipoise.core.formatting import format_duration, format_estimate, format_optional, format_utility
from equipoise.core.progress import Progress
from equipoise.core.provenance import find_commit, version
from equipoise.evaluation.plots import check_plot_path, plot_convergence
from equipoise.games.base import Game
from equipoise.games.parameters import format_value
from equipoise.games.registry import format_game, parse_game_options
from equipoise.runs.preparation import GrownTree, grow_tree, prepare
from equipoise.solvers.driver import run
from equipoise.solvers.methods import METHODS, check_config, find_method, normalize_rule
from equipoise.solvers.saved_run import RunConfig
from equipoise.solvers.stopping import Form, Stopping

__all__ = ["CompareOptions", "compare"]

DEFAULT_ITERATIONS = 1000
MOST_SEEDS = 1000

Runs = dict[str, list[list[Progress]]]  # by name: the records of each seed


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions(GameOptions):
    """What `equipoise compare` is told."""

    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "When to stop": ("iterations", "target", "seconds"),
        "How": ("rules", "form", "updates", "seed", "seeds"),
        "What it may take": ("max_histories", "threads"),
        "What is shown": ("plot", "json", "quiet"),
    }
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise compare leduc --iterations 200 --plot rules.png",
        "equipoise compare kuhn --rules external,outcome --seeds 5 -n 2000",
    )

    rules: Annotated[
        str, typer.Option(help="Rules, methods, or METHOD:RULE, separated by commas.", metavar="NAME,NAME,...")
    ] = "cfr,cfr+,lcfr,dcfr"
    iterations: Annotated[
        int | None, typer.Option("--iterations", "-n", help=f"Of each (default {DEFAULT_ITERATIONS}).")
    ] = None
    target: Annotated[float | None, typer.Option(help="Stop each at this exploitability.")] = None
    seconds: Annotated[float | None, typer.Option(help="Stop each after this time.")] = None
    form: Annotated[Form, typer.Option(help="What full-width CFR sweeps.")] = Form.HISTORY
    updates: Annotated[Updates, typer.Option(help="Of full-width methods.")] = Updates.ALTERNATING
    seed: Annotated[int, typer.Option(min=0, help="Of methods that sample.")] = 0
    seeds: Annotated[
        int, typer.Option(min=1, max=MOST_SEEDS, help="Runs of each method that samples: a median and a band of them.")
    ] = 1
    plot: Annotated[Path | None, typer.Option(help="Draw the curves: .png, .svg or .pdf.")] = None
    json: Json = False
    quiet: Quiet = False


def compare(options: CompareOptions) -> None:
    """Solve one game with several rules or methods, and draw exploitability against iterations and time."""
    console = make_console(is_quiet=options.quiet)
    if options.plot is not None:
        check_plot_path(options.plot)
    game = parse_game_options(options.game, options.parameters or [])
    configs = _parse_configs(game, options)
    stopping = _stopping(options)
    curves: Runs = {}
    failure: EquipoiseError | None = None
    grown = grow_tree(game, options.form, max_histories=options.max_histories, reporter=ConsoleReporter(console))
    if grown.why is not None and stopping.target is not None:
        raise ConfigError(f"--target needs an exploitability; {grown.why}")
    with SignalFlag() as flag:
        try:
            _run_all(game, grown, _list_runs(configs, options.seeds), stopping, flag, console, curves)
        except EquipoiseError as error:
            if not curves:
                raise
            failure = error  # what the others found is told first
        flag.is_immediate = False
        _report(options, game, grown, configs, curves)
        if options.plot is not None:
            middle = {name: find_middle(runs) for name, runs in curves.items()}
            bands = {name: runs for name, runs in curves.items() if len(runs) > 1}
            plot_convergence(middle, options.plot, title=format_game(game), target=stopping.target, bands=bands)
            console.print(f"curves in {options.plot}")
    if failure is not None:
        raise failure
    if flag():
        console.print(f"interrupted after {len(curves)} of {len(configs)}", style="yellow")
        raise typer.Exit(flag.exit_code)


def _list_runs(configs: dict[str, RunConfig], num_seeds: int) -> list[tuple[str, RunConfig]]:
    """Returns every run: of what samples one a seed, of the rest one."""
    return [
        (name, dataclasses.replace(config, seed=config.seed + number))
        for name, config in configs.items()
        for number in range(num_seeds if find_method(config.method).is_sampled else 1)
    ]


def find_middle(runs: list[list[Progress]]) -> list[Progress]:
    """Returns the run whose end is the median of all."""
    return sorted(runs, key=lambda records: _rank(records[-1]))[(len(runs) - 1) // 2]


def _run_all(
    game: Game[Any],
    grown: GrownTree,
    listed: list[tuple[str, RunConfig]],
    stopping: Stopping,
    flag: SignalFlag,
    console: Console,
    curves: Runs,
) -> None:
    """Adds the records of each run to `curves`, until all are done or a signal came."""
    for name, config in listed:
        records: list[Progress] = []
        is_exact = find_method(config.method).is_exact
        flag.is_immediate = is_exact
        try:
            prepared = prepare(grown, config, stopping=stopping, reporter=ConsoleReporter(console))
            with SolveDisplay(console, f"{game.spec.name} · {name}") as display:
                for record in run(
                    prepared.solver,
                    iterations=1 if is_exact else stopping.iterations,
                    target=stopping.target,
                    seconds=stopping.seconds,
                    is_interrupted=flag,
                    on_advance=display.update,
                ):
                    if not records:
                        curves.setdefault(name, []).append(records)
                    records.append(record)
                    display.update(record)
        except Stopped:
            if not (is_exact and curves):  # else there is something to tell
                raise
        if flag():
            break


def _report(
    options: CompareOptions,
    game: Game[Any],
    grown: GrownTree,
    configs: dict[str, RunConfig],
    curves: Runs,
) -> None:
    """Says the results: JSON to standard output, or a table."""
    rows = [_describe(configs[name], runs) for name, runs in curves.items()]
    if options.json:
        write_json(
            {
                "game": game.spec.name,
                "label": game.spec.label,
                "num_histories": grown.num_histories,
                "num_infosets": grown.num_infosets,
                "seed": options.seed,
                "seeds": options.seeds,
                "version": version(),
                "commit": find_commit(),
                "plot": None if options.plot is None else str(options.plot),
                "why": grown.why,
                "rows": rows,
            }
        )
    else:
        print_result(_as_table(game, curves), is_quiet=options.quiet)


def _stopping(options: CompareOptions) -> Stopping:
    is_open = options.iterations is None and options.target is None and options.seconds is None
    iterations = DEFAULT_ITERATIONS if is_open else options.iterations
    return Stopping(iterations=iterations, target=options.target, seconds=options.seconds)


def _parse_configs(game: Game[Any], options: CompareOptions) -> dict[str, RunConfig]:
    """Returns what each name in the list means; an unknown one is an error before anything runs."""
    spec = game.spec
    configs: dict[str, RunConfig] = {}
    for text in parse_names("--rules", options.rules):
        method, rule_text = _split_method(text)
        rule = normalize_rule(method, rule_text)
        name = f"{method}:{rule}" if method != "cfr" and rule else (rule or method)
        if name in configs:
            raise ConfigError(f"--rules names {name} twice: {options.rules!r}")
        configs[name] = RunConfig(
            game=spec.name,
            parameters={key: format_value(value) for key, value in spec.parameters.items()},
            game_version=spec.version,
            method=method,
            form=str(options.form),
            rule=rule,
            updates=str(options.updates),
            seed=options.seed,
            threads=(options.threads or 1) if find_method(method).has_threads else 1,
        )
        check_config(configs[name])
    return configs


def _split_method(text: str) -> tuple[str, str | None]:
    """Returns method and rule: a rule alone is one of full-width CFR, a method alone takes its default rule."""
    method, colon, rule = text.partition(":")
    if colon:
        return method.strip().lower(), rule.strip()
    if text.lower() in METHODS and text.lower() != "cfr":  # cfr alone is the rule of that name
        return text.lower(), None
    return "cfr", text


def _describe(config: RunConfig, runs: list[list[Progress]]) -> dict[str, Any]:
    records = find_middle(runs)
    last = records[-1]
    return {
        "rule": config.rule,
        "method": config.method,
        "iterations": last.iteration,
        "seconds": last.seconds,
        "exploitability": last.exploitability,
        "nash_conv": last.nash_conv,
        "game_value": last.game_value,
        "sampled": None if last.sampled is None else dataclasses.asdict(last.sampled),
        "progress": [dataclasses.asdict(record) for record in records],
        "runs": [
            {"seed": config.seed + number, "iterations": own[-1].iteration, "exploitability": own[-1].exploitability}
            for number, own in enumerate(runs)
        ],
    }


def _as_table(game: Game[Any], curves: Runs) -> RenderableType:
    is_sampled = any(run[-1].sampled is not None for runs in curves.values() for run in runs)
    has_bands = any(len(runs) > 1 for runs in curves.values())
    quality, value = (
        ("regret bound (sampled)", "against uniform (sampled)") if is_sampled else ("exploitability", "value")
    )
    ranked = sorted(curves.items(), key=lambda item: _rank(find_middle(item[1])[-1]))
    lasts = [find_middle(runs)[-1] for _, runs in ranked]
    found = [_quality(last) for last in lasts]
    columns = {
        "rule": [name for name, _ in ranked],
        "iterations": [f"{last.iteration:,}" for last in lasts],
        "time": [format_duration(last.seconds) for last in lasts],
        quality: [one[0] for one in found],
    }
    if has_bands:  # all of it would not fit into 80 columns
        columns["seeds: best ... worst"] = [_say_band(runs) for _, runs in ranked]
    else:
        columns[value] = [one[1] for one in found]
    return Group(format_game(game), make_table(columns, spare=("time", "iterations", value)))


def _say_band(runs: list[list[Progress]]) -> str:
    """Returns the ends of the best and of the worst run, and how many there are; nothing for one run."""
    if len(runs) == 1:
        return ""
    ends = sorted(_rank(run[-1]) for run in runs)
    return f"{len(runs)}: {format_optional(ends[0])} ... {format_optional(ends[-1])}"


def _rank(record: Progress) -> float:
    value = record.exploitability if record.sampled is None else record.sampled.regret_bound
    return math.inf if value is None else value


def _quality(record: Progress) -> tuple[str, str]:
    """Returns how good the result is and its value, in the columns of the table."""
    if record.sampled is not None:
        figures = record.sampled
        estimate = format_estimate(figures.values_against_uniform[0], figures.standard_errors[0])
        return format_optional(figures.regret_bound), estimate
    return format_optional(record.exploitability), "" if record.game_value is None else format_utility(
        record.game_value
    )
