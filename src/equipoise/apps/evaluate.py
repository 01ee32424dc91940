# SPDX-License-Identifier: Apache-2.0
"""`equipoise evaluate`: what a saved strategy is worth."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import numpy as np
import typer
from rich.console import Group

from equipoise.abstraction.solutions import open_solution
from equipoise.agents.notation import AGENTS
from equipoise.apps.display import ConsoleReporter, describe_figures, explain_no_guarantee, make_console
from equipoise.apps.evaluate_agent import evaluate_agent
from equipoise.apps.grading import Graded, Grading, grade
from equipoise.apps.output import make_rows, print_result, write_json
from equipoise.apps.shared_options import Json, Quiet
from equipoise.apps.show_spot import SHOWN, evaluate_spot
from equipoise.core.errors import ConfigError
from equipoise.core.formatting import format_duration, format_small, format_utility
from equipoise.evaluation.plots import check_plot_path
from equipoise.games.base import Game
from equipoise.kernels.calls import MAX_THREADS
from equipoise.responses.forms import BoardForm
from equipoise.responses.notation import ResponseSpec, parse_responses
from equipoise.responses.tables import as_play_table
from equipoise.runs.evaluation import is_agent_text
from equipoise.runs.preparation import FINAL_PLAYOUTS, build_any_tree, find_tree
from equipoise.runs.request import find_named_game
from equipoise.solvers.best_response import Evaluation, bind_kernel
from equipoise.solvers.best_response import evaluate as evaluate_strategy
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.playouts import sample_figures, strategy_policy
from equipoise.solvers.solution_file import SolvedGame
from equipoise.trees.history import DEFAULT_MAX_HISTORIES, HistoryTree
from equipoise.trees.public import PublicTree

__all__ = ["EvaluateOptions", "evaluate"]

NUM_RESPONSES: Final = 100  # draws of responses that sample, unless others are asked for


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """What `equipoise evaluate` is told."""

    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "An agent": ("seeds", "playthroughs", "whole_states"),
        "Against responses": ("responses", "num_responses", "seed", "plot"),
        "What it may take": ("max_histories", "threads"),
        "What is shown": ("json", "quiet"),
    }
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise evaluate leduc.eq",
        "equipoise evaluate kuhn.eq --responses uct:100,best",
        "equipoise evaluate call --game kuhn",
    )

    file: Annotated[Path, typer.Argument(help="A file written by `solve --out`, CSV, or an agent as in `match`.")]
    game: Annotated[str | None, typer.Option("--game", "-g", help="Of an agent or CSV: what it plays.")] = None
    parameters: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="A parameter of --game.", metavar="KEY=VALUE")
    ] = None
    seeds: Annotated[int, typer.Option(min=1, help="Of an agent: strategies to assemble, one a seed.")] = 1
    playthroughs: Annotated[
        int, typer.Option(min=1, help="Of `rebel`: games over which what it draws is averaged.")
    ] = 1024
    whole_states: Annotated[
        bool, typer.Option("--whole-states", help="Of an agent: ask for whole public states, not information states.")
    ] = False
    max_histories: Annotated[int, typer.Option(min=1, help="Refuse games with more.")] = DEFAULT_MAX_HISTORIES
    threads: Annotated[int, typer.Option("--threads", "-t", min=1, max=MAX_THREADS, help="Size of the team.")] = 1
    responses: Annotated[
        str | None,
        typer.Option(
            help="Also say what it earns against responses, in this order, as in uct:100,uct:1000,best.",
            metavar="RESPONSE,...",
        ),
    ] = None
    num_responses: Annotated[
        int | None, typer.Option(min=1, help="With --responses: draws of those that sample, 100 unless given.")
    ] = None
    seed: Annotated[int | None, typer.Option(min=0, help="With --responses: of the draws, 0 unless given.")] = None
    plot: Annotated[Path | None, typer.Option(help="With --responses: draw them, .png, .svg or .pdf.")] = None
    json: Json = False
    quiet: Quiet = False


def evaluate(options: EvaluateOptions) -> None:
    """Say exactly what a saved strategy earns and what a best response would gain.

    Where a run without a tree solved a game too large for one, say why there is no exact answer, and what is sampled.
    """
    if options.plot is not None:
        check_plot_path(options.plot)
    if options.responses is None:
        for name in ("plot", "num_responses", "seed"):
            if getattr(options, name) is not None:
                raise ConfigError(f"--{name.replace('_', '-')} is for what --responses LIST measures: no list is given")
    specs = () if options.responses is None else parse_responses(options.responses)
    if is_agent_text(options.file):
        if specs:
            raise ConfigError(f"--responses are for strategies in files, and {options.file} is an agent")
        evaluate_agent(
            str(options.file),
            game_name=options.game,
            parameters=options.parameters,
            num_seeds=options.seeds,
            num_playthroughs=options.playthroughs,
            is_public=options.whole_states,
            max_histories=options.max_histories,
            is_json=options.json,
            is_quiet=options.quiet,
        )
        return
    if options.whole_states:
        raise ConfigError(f"--whole-states is of agents ({', '.join(AGENTS)}); {options.file} is taken for a file")
    with open_solution(options.file, *SHOWN, game=find_named_game(options.game, options.parameters)) as solution:
        if isinstance(solution, SolvedGame):
            _evaluate_table(options, solution, specs)
            return
        assert isinstance(solution, SolvedSpot)
        _evaluate_spot(options, solution, specs)


def _evaluate_table(options: EvaluateOptions, file: SolvedGame, specs: tuple[ResponseSpec, ...]) -> None:
    """Evaluates a strategy of information states, graded by responses if there are any."""
    console = make_console(is_quiet=options.quiet)
    game = file.game
    tree: HistoryTree | PublicTree
    if not file.is_partial:
        tree = build_any_tree(game, max_histories=options.max_histories, reporter=ConsoleReporter(console))
    else:
        found, why = find_tree(game, max_histories=options.max_histories, reporter=ConsoleReporter(console))
        if found is None:
            if specs:
                raise ConfigError(f"--responses need a tree: {why}")
            _report_samples(options, file, game, why)
            return
        tree = found
    began = time.perf_counter()
    table = file.table.to_tree(tree, is_partial=file.is_partial)
    evaluation = evaluate_strategy(tree, table, num_threads=options.threads)
    seconds = time.perf_counter() - began
    num_histories = tree.num_histories if isinstance(tree, PublicTree) else tree.size.num_histories
    sizes = {"num_histories": num_histories, "num_infosets": tree.size.num_infosets}
    if not (options.json or (game.spec.num_players == 2 and game.spec.is_zero_sum)):
        console.print(explain_no_guarantee(game))
    if not specs:
        _report_evaluation(options, file.describe(), sizes, evaluation, seconds)
        return
    graded = grade(tree, table, specs, _make_grading(options), console)
    _report_evaluation(options, file.describe(), sizes, evaluation, seconds, graded)
    graded.end(console)


def _evaluate_spot(options: EvaluateOptions, solved: SolvedSpot, specs: tuple[ResponseSpec, ...]) -> None:
    """Evaluates a solved spot, graded by responses if there are any."""
    began = time.perf_counter()
    described, evaluation = evaluate_spot(solved, num_threads=options.threads)
    seconds = time.perf_counter() - began
    sizes = {"num_histories": None, "num_infosets": None}
    if not specs:
        _report_evaluation(options, described, sizes, evaluation, seconds)
        return
    console = make_console(is_quiet=options.quiet)
    form = BoardForm(solved.tree, kernel=bind_kernel(solved.tree, locks=solved.locks))
    graded = grade(form, as_play_table(solved.strategy_sum.read()), specs, _make_grading(options), console)
    _report_evaluation(options, described, sizes, evaluation, seconds, graded)
    graded.end(console)


def _make_grading(options: EvaluateOptions) -> Grading:
    num_responses = NUM_RESPONSES if options.num_responses is None else options.num_responses
    return Grading(num_responses=num_responses, seed=options.seed or 0, plot=options.plot)


def _report_evaluation(
    options: EvaluateOptions,
    described: Mapping[str, Any],
    sizes: Mapping[str, int | None],
    evaluation: Evaluation,
    seconds: float,
    graded: Graded | None = None,
) -> None:
    """Says what an exact evaluation found, and what responses did."""
    if not options.json:
        _print_evaluation(options, described, evaluation, seconds)
        if graded is not None:
            print_result(graded.as_table(), is_quiet=options.quiet)
        return
    write_json(
        {
            **described,
            "file": str(options.file),
            "exploitability": evaluation.exploitability,
            "nash_conv": evaluation.nash_conv,
            "game_value": evaluation.values[0],
            "values": list(evaluation.values),
            "best_response_values": list(evaluation.best_response_values),
            **sizes,
            "seconds": seconds,
            "why": None,
            "sampled": None,
            **({} if graded is None else graded.as_json()),
        }
    )


def _report_samples(options: EvaluateOptions, file: SolvedGame, game: Game[Any], why: str) -> None:
    """Says why a strategy has no exact evaluation, and what games against uniform opponents gave."""
    began = time.perf_counter()
    figures = sample_figures(
        game,
        strategy_policy(file.table),
        num_infostates=len(file.table.infostates),
        regret_bound=file.regret_bound,
        num_playouts=FINAL_PLAYOUTS,
        rng=np.random.default_rng(0),
    )
    unknown = (
        "exploitability",
        "nash_conv",
        "game_value",
        "values",
        "best_response_values",
        "num_histories",
        "num_infosets",
    )
    if options.json:
        result = {**file.describe(), "file": str(options.file), **dict.fromkeys(unknown)}
        seconds = time.perf_counter() - began
        write_json({**result, "seconds": seconds, "why": why, "sampled": dataclasses.asdict(figures)})
        return
    lines = [f"{name}: {text}" for name, text in describe_figures(figures).items()]
    print_result("\n".join([f"exploitability not known: {why}", *lines]), is_quiet=options.quiet)


def _print_evaluation(
    options: EvaluateOptions, described: Mapping[str, Any], evaluation: Evaluation, seconds: float
) -> None:
    rows = [
        (str(player), format_utility(value), format_utility(best), format_small(best - value))
        for player, (value, best) in enumerate(zip(evaluation.values, evaluation.best_response_values, strict=True))
    ]
    title = f"{described['label']}, evaluated in {format_duration(seconds)}"
    table = make_rows(("player", "value", "best response", "gain"), rows, title=title, spare=("best response",))
    exploitability, nash_conv = format_small(evaluation.exploitability), format_small(evaluation.nash_conv)
    free = described.get("exploitability_without_locks")
    beside = "" if free is None else f" (without locks {format_small(free)})"
    print_result(
        Group(table, f"exploitability {exploitability}{beside}, nash_conv {nash_conv}"), is_quiet=options.quiet
    )
