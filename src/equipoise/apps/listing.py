# SPDX-License-Identifier: Apache-2.0
"""`equipoise games`: every game with what can be set."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from typing import Annotated, Any, ClassVar, Final

import typer
from rich.table import Table
from rich.text import Text

from equipoise.apps.display import make_console
from equipoise.apps.output import write_json
from equipoise.games.registry import GAMES, describe_parameters, game_names

__all__ = ["GamesOptions", "games"]

LEAST_WIDTH: Final = 20  # of a description


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GamesOptions:
    """What `equipoise games` is told."""

    examples: ClassVar[tuple[str, ...]] = ("equipoise games leduc", "equipoise games openspiel:leduc_poker")

    name: Annotated[str | None, typer.Argument(help="This game alone, with its parameters.")] = None
    json: Annotated[bool, typer.Option("--json", help="Write JSON to standard output, parameters included.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No tables.")] = False


def games(options: GamesOptions) -> None:
    """List the games, a line each; of one that is named, its parameters, their defaults and what they mean."""
    names = game_names() if options.name is None else (options.name,)
    rows = [_describe(name) for name in names]
    if options.json:
        write_json(rows)
        return
    output = make_console(is_stderr=False, is_quiet=options.quiet)
    if options.name is None:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="bold", no_wrap=True)
        table.add_column(no_wrap=True)
        room = max(output.width - 2 - max(len(row["name"]) for row in rows), LEAST_WIDTH)
        for row in rows:
            table.add_row(row["name"], textwrap.shorten(row["description"], room, placeholder=" ..."))
        output.print(table)
        output.print("\n`equipoise games NAME` says what can be set; openspiel:NAME is any game of OpenSpiel.")
        return
    for row in rows:
        output.print(Text.assemble((row["name"], "bold"), f"  {row['description']}"))
        if row["parameters"]:
            output.print(_table(row["parameters"]))


def _describe(name: str) -> dict[str, Any]:
    parameters = [dataclasses.asdict(row) for row in describe_parameters(name)]
    doc = inspect.getdoc(GAMES[name]) if name in GAMES else f"{name.partition(':')[2]} as OpenSpiel plays it."
    return {"name": name, "description": (doc or "").partition("\n")[0], "parameters": parameters}


def _table(parameters: list[dict[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(min_width=16, style="cyan")
    table.add_column(min_width=10)
    table.add_column(overflow="fold")
    for row in parameters:
        table.add_row(
            f"  {row['name']}", row["default"], Text.assemble(row["description"], (f" ({row['type']})", "dim"))
        )
    return table
