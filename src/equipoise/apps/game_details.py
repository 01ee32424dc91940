# SPDX-License-Identifier: Apache-2.0
"""`equipoise games NAME`: what can be set in a game, whether it keeps the laws of games, its file of Gambit's."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from equipoise.apps.display import make_console
from equipoise.apps.exit_codes import ExitCode
from equipoise.apps.listing import LEAST_WIDTH, GamesOptions
from equipoise.apps.output import print_result, write_json
from equipoise.core.errors import ConfigError, InvalidGameError
from equipoise.games.base import Game
from equipoise.games.conformance import Violation, check_game
from equipoise.games.gambit import save_efg
from equipoise.games.registry import describe_game, describe_parameters, game_names, parse_game_options

__all__ = ["show_games"]

NAME_WIDTH: Final = 16  # of a parameter
VALUE_WIDTH: Final = 10  # of its default


def show_games(options: GamesOptions) -> None:
    """Shows one game, or all as JSON; checks one, or writes it as a file of Gambit's."""
    if options.name is not None and (options.check or options.efg is not None):
        game = parse_game_options(options.name, options.parameters or [])
        if options.efg is not None:
            save_efg(game, options.efg)
            make_console(is_quiet=options.quiet).print(f"written to {options.efg}")
        if options.check:
            _check(options, game)
        return
    if options.parameters:
        raise ConfigError("-p is for the game that --check checks or --efg writes")
    rows = [_describe(name) for name in (game_names() if options.name is None else (options.name,))]
    if options.json:
        write_json(rows)
        return
    output = make_console(is_stderr=False, is_quiet=options.quiet)
    for row in rows:
        print_result(Group(Text.assemble((row["name"], "bold"), f"  {row['description']}")), is_quiet=options.quiet)
        if row["parameters"]:
            is_narrow = output.width - NAME_WIDTH - VALUE_WIDTH < LEAST_WIDTH
            print_result(_table(row["parameters"], is_narrow=is_narrow), is_quiet=options.quiet)


def _check(options: GamesOptions, game: Game[Any]) -> None:
    """Says that a game keeps every law, or each law that it breaks, and ends with the exit code of bad input."""
    violations: list[dict[str, Any]] = []
    report, message = None, ""
    try:
        report = check_game(game, rng=np.random.default_rng(0))
    except InvalidGameError as error:
        violations = [dataclasses.asdict(one) for one in error.violations if isinstance(one, Violation)]
        message = str(error)
    if options.json:
        seen = None if report is None else dataclasses.asdict(report)
        write_json({"label": game.spec.label, "is_valid": report is not None, "violations": violations, "seen": seen})
    elif report is None:
        make_console(is_quiet=options.quiet).print(Text(message, style="red"))
    else:
        seen_of = "all of its" if report.is_complete else "the"
        print_result(
            f"{game.spec.label} keeps every law in {seen_of} {report.num_histories:,} histories looked at",
            is_quiet=options.quiet,
        )
    if report is None:
        raise typer.Exit(ExitCode.BAD_INPUT)


def _describe(name: str) -> dict[str, Any]:
    parameters = [dataclasses.asdict(row) for row in describe_parameters(name)]
    return {"name": name, "description": describe_game(name), "parameters": parameters}


def _table(parameters: list[dict[str, str]], *, is_narrow: bool) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(min_width=0 if is_narrow else NAME_WIDTH, style="cyan")
    table.add_column(min_width=0 if is_narrow else VALUE_WIDTH)
    table.add_column(overflow="fold")
    for row in parameters:
        table.add_row(
            f"  {row['name']}", row["default"], Text.assemble(row["description"], (f" ({row['type']})", "dim"))
        )
    return table
