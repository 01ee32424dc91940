# SPDX-License-Identifier: Apache-2.0
"""`equipoise games`: every game with what can be set."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import numpy as np
import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from equipoise.apps.completion import complete_game
from equipoise.apps.display import make_console
from equipoise.apps.exit_codes import ExitCode
from equipoise.apps.output import print_result, write_json
from equipoise.core.errors import ConfigError, InvalidGameError
from equipoise.games.base import Game
from equipoise.games.conformance import Violation, check_game
from equipoise.games.gambit import save_efg
from equipoise.games.registry import describe_game, describe_parameters, game_names, parse_game_options

__all__ = ["GamesOptions", "games"]

NAME_WIDTH: Final = 16  # of a parameter
VALUE_WIDTH: Final = 10  # of its default
LEAST_WIDTH: Final = 30  # of a description beside its name
PART_END: Final = re.compile(r"[:;,.](?= |$)| (?=\(|(?:with|that|after|of|on|by|from|at) )")  # of a sentence


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GamesOptions:
    """What `equipoise games` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise games leduc",
        "equipoise games openspiel:leduc_poker",
        "equipoise games mine.py:MyGame --check",
    )

    name: Annotated[
        str | None,
        typer.Argument(
            help="Only this game, for instance openspiel:leduc_poker or mine.py:Class.", autocompletion=complete_game
        ),
    ] = None
    parameters: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", help="With --check or --efg: of the game.", metavar="KEY=VALUE"),
    ] = None
    efg: Annotated[Path | None, typer.Option(help="Write the game as a file of Gambit's.", metavar="FILE.efg")] = None
    check: Annotated[bool, typer.Option("--check", help="Check that the game keeps every law of a game.")] = False
    json: Annotated[bool, typer.Option("--json", help="Write JSON to standard output, parameters included.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No tables.")] = False


def games(options: GamesOptions) -> None:
    """List the games, a line each; of one that is named what can be set, or whether it keeps the laws of games."""
    if options.check or options.efg is not None:
        if options.name is None:
            raise ConfigError("say which game: equipoise games mine.py:Class --check")
        game = parse_game_options(options.name, options.parameters or [])
        if options.efg is not None:
            save_efg(game, options.efg)
            make_console(is_quiet=options.quiet).print(f"written to {options.efg}")
        if options.check:
            _check(options, game)
        return
    if options.parameters:
        raise ConfigError("-p is for the game that --check checks or --efg writes")
    names = game_names() if options.name is None else (options.name,)
    rows = [_describe(name) for name in names]
    if options.json:
        write_json(rows)
        return
    output = make_console(is_stderr=False, is_quiet=options.quiet)
    if options.name is None:
        names_width = max(len(row["name"]) for row in rows) + 2
        room = output.width - names_width
        for row in rows:
            name, said = row["name"], row["description"]
            if room >= LEAST_WIDTH:
                output.print(Text.assemble((f"{name:<{names_width}}", "bold"), _fit(said, room)))
            else:
                output.print(Text.assemble((name, "bold"), f"\n  {_fit(said, output.width - 2)}"))
        output.print("\n`equipoise games NAME` says what can be set.")
        output.print(
            "Also openspiel:NAME for any game of OpenSpiel, FILE.efg for one of Gambit's, and FILE.py:CLASS for one of "
            "your own."
        )
        return
    for row in rows:
        print_result(Group(Text.assemble((row["name"], "bold"), f"  {row['description']}")), is_quiet=options.quiet)
        if row["parameters"]:
            is_narrow = output.width - NAME_WIDTH - VALUE_WIDTH < LEAST_WIDTH
            print_result(_table(row["parameters"], is_narrow=is_narrow), is_quiet=options.quiet)


def _fit(sentence: str, room: int) -> str:
    """Returns a sentence, or as many of its first parts as there is room for."""
    parts = [sentence[: end.start()].rstrip(",;:") for end in PART_END.finditer(sentence)]
    return next((part for part in (sentence, *reversed(parts)) if len(part) <= room), parts[0])


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
