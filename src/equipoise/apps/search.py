# SPDX-License-Identifier: Apache-2.0
"""`equipoise search`: a saved strategy's subgame at one public state, solved again."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import typer
from rich.console import Console

from equipoise.abstraction.solutions import is_spot_text, open_solution
from equipoise.apps.display import ConsoleReporter, make_console
from equipoise.apps.output import print_result, write_json
from equipoise.apps.search_options import SearchOptions
from equipoise.apps.search_text import show_game_search, show_spot_search
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.errors import ConfigError
from equipoise.core.machine import describe_origin
from equipoise.runs.request import find_named_game
from equipoise.runs.search_game import GameSearch
from equipoise.runs.search_request import SearchRequest, run_in_pieces
from equipoise.runs.search_spot import SpotSearch
from equipoise.search.last_iterates import find_response
from equipoise.solvers.solution_file import SolvedGame

__all__ = ["SearchOptions", "search"]


def search(options: SearchOptions) -> None:
    """Solve the rest of a game again from one public state on, as if it had come up in play.

    Shows what the searching player does there, before and after, and for every private state of the opponent what it
    can get now beside what it could get without coming here: its margin.
    """
    names = [field.name for field in dataclasses.fields(SearchRequest) if field.name != "state"]
    request = SearchRequest(state=options.line, **{name: getattr(options, name.removeprefix("num_")) for name in names})
    if is_spot_text(str(options.file)) and options.file.exists():
        raise ConfigError(
            f"{options.file} describes a spot that is not solved: `equipoise solve {options.file} --out FILE` first"
        )
    console = make_console(is_quiet=options.quiet)
    game = find_named_game(options.game, options.parameters)
    with SignalFlag() as flag, open_solution(options.file, game=game) as solution:
        run, reporter = functools.partial(_run, console, flag), ConsoleReporter(console)
        if not isinstance(solution, SolvedGame):
            respond = functools.partial(find_response, solution)
            spot_search = SpotSearch(solution.strategy, request, run=run, reporter=reporter, find_response=respond)
            found, described = spot_search.as_json(), describe_origin()
            text = show_spot_search(spot_search, options.limit)
        else:
            game_search = GameSearch(
                solution.game,
                solution.table,
                request,
                is_partial=solution.is_partial,
                run=run,
                reporter=reporter,
                find_response=functools.partial(find_response, solution),
            )
            found, described = game_search.as_json(), solution.describe()
            text = show_game_search(game_search, options.limit)
    if options.json:
        write_json({**described, "file": str(options.file), **found})
    else:
        print_result(text, is_quiet=options.quiet)
    if flag():
        console.print("interrupted: this is what the iterations so far have found", style="yellow")
        raise typer.Exit(flag.exit_code)


def _run(console: Console, flag: SignalFlag, iterate: Callable[[int], None], num_iterations: int) -> int:
    """Runs iterations, shows how far they are, and stops early if the program is asked to end."""
    with TaskDisplay(console, "search") as display:

        def show(done: int, total: int) -> None:
            display.update(done / total, f"{done:,} of {total:,} iterations")

        return run_in_pieces(iterate, num_iterations, is_interrupted=flag, on_piece=show)
