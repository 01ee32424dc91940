# SPDX-License-Identifier: Apache-2.0
"""`equipoise games`: every game in a line; what takes numbers and games themselves is in `game_details`."""

from __future__ import annotations

import dataclasses
import importlib
import re
from pathlib import Path
from typing import Annotated, ClassVar, Final

import typer
from rich.text import Text

from equipoise.apps.completion import complete_game
from equipoise.apps.display import make_console
from equipoise.core.errors import ConfigError
from equipoise.games.catalogue import GAMES, game_names

__all__ = ["LEAST_WIDTH", "GamesOptions", "games"]

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
    if options.name is None and (options.check or options.efg is not None):
        raise ConfigError("say which game: equipoise games mine.py:Class --check")
    if options.name is None and not options.parameters and not options.json:
        _list_games(is_quiet=options.quiet)
        return
    importlib.import_module("equipoise.apps.game_details").show_games(options)


def _list_games(*, is_quiet: bool) -> None:
    """Prints our own games, a line each; none of them is loaded."""
    output = make_console(is_stderr=False, is_quiet=is_quiet)
    names_width = max(map(len, game_names())) + 2
    room = output.width - names_width
    for name in game_names():
        said = GAMES.describe(name)
        if room >= LEAST_WIDTH:
            output.print(Text.assemble((f"{name:<{names_width}}", "bold"), _fit(said, room)))
        else:
            output.print(Text.assemble((name, "bold"), f"\n  {_fit(said, output.width - 2)}"))
    output.print("\n`equipoise games NAME` says what can be set.")
    output.print(
        "Also openspiel:NAME for any game of OpenSpiel, FILE.efg for one of Gambit's, and FILE.py:CLASS for one of "
        "your own."
    )


def _fit(sentence: str, room: int) -> str:
    """Returns a sentence without its full stop, or as many of its first parts as there is room for."""
    sentence = sentence.removesuffix(".")
    parts = [sentence[: end.start()].rstrip(",;:") for end in PART_END.finditer(sentence)]
    return next((part for part in (sentence, *reversed(parts)) if len(part) <= room), parts[0])
