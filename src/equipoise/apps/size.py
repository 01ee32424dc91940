# SPDX-License-Identifier: Apache-2.0
"""`equipoise size`: what a hold'em spot would take in memory and time, before anything is allocated."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import typer
from rich.table import Table
from rich.text import Text

from equipoise.apps.display import ConsoleReporter, make_console
from equipoise.apps.output import print_result, write_json
from equipoise.apps.shared_options import Quiet, Threads
from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.core.files import format_bytes
from equipoise.core.formatting import format_duration
from equipoise.core.memory import available_bytes
from equipoise.games.holdem.menu_notation import format_menu
from equipoise.games.holdem.menus import Menu
from equipoise.games.holdem.spot_file import SpotFile
from equipoise.runs.request import find_subject
from equipoise.runs.sizing import SizeChoice, choose_menu, list_choices, list_others

__all__ = ["SizeOptions", "show_sizes", "size"]

MENU_WIDTH: Final = 20  # least letters of a menu
NARROW: Final = 60  # columns below which memory and time stand one above the other


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SizeOptions:
    """What `equipoise size` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = ("equipoise size examples/spots/first_flop.toml",)

    spot: Annotated[str, typer.Argument(help="A hold'em spot SPOT.toml.")]
    menu: Annotated[str | None, typer.Option(help="A menu of your own, beside ours.")] = None
    threads: Threads = None
    json: Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")] = False
    quiet: Quiet = False


def size(options: SizeOptions) -> None:
    """Say what a hold'em spot would take: memory and time of an iteration, by menu and precision.

    Nothing large is allocated. The time is that of a short run on one later board, for as many numbers.
    """
    subject = find_subject(options.spot, menu=options.menu)
    if not isinstance(subject, SpotFile):
        raise ConfigError(f"sizes are of hold'em spots such as spot.toml, and {options.spot} is a game")
    show_sizes(subject, options.spot, threads=options.threads, is_json=options.json, is_quiet=options.quiet)


def show_sizes(file: SpotFile, name: str | Path, *, threads: int | None, is_json: bool, is_quiet: bool) -> None:
    """Lists what a spot would take, and which choice `solve` would make."""
    console = make_console(is_quiet=is_quiet)
    with ConsoleReporter(console).stage("planning trees"):
        try:
            choices = list(list_choices(file, num_threads=threads))
        except GameTooLargeError as error:
            console.print(f"{error}; other menus take", style="yellow")
            choices = list(list_choices(list_others(file), num_threads=threads))
        taken = choose_menu(file, num_threads=threads or 1).spot.menu
    available = available_bytes()
    if is_json:
        rows = [_describe(choice, taken) for choice in choices]
        write_json({"available_bytes": available, "choices": rows})
        return
    by_menu: dict[str, list[SizeChoice]] = {}
    for choice in choices:
        by_menu.setdefault(format_menu(choice.menu), []).append(choice)
    title = f"{file.spot.name}: {_say_free(available)}; memory and time of an iteration"
    is_narrow = make_console(is_stderr=False).width < NARROW
    table = Table(title=title, title_justify="left", show_lines=is_narrow)
    table.add_column("menu", overflow="fold", min_width=0 if is_narrow else MENU_WIDTH)
    for choice in next(iter(by_menu.values())):
        table.add_column(choice.precision, justify="right", no_wrap=True)
    for menu, row in by_menu.items():
        is_taken = row[0].menu == taken
        between = "\n" if is_narrow else ", "
        cells = [f"{format_bytes(one.num_bytes)}{between}{format_duration(one.seconds)}" for one in row]
        styles = ["" if one.is_comfortable else "dim" for one in row]
        marked = Text(f"{menu}  <- solve takes this" if is_taken else menu, style="bold" if is_taken else "")
        table.add_row(marked, *(Text(cell, style=style) for cell, style in zip(cells, styles, strict=True)))
    print_result(table, is_quiet=is_quiet)
    fitting = [choice for choice in choices if choice.is_comfortable]
    if fitting:
        first = next((choice for choice in fitting if choice.menu == taken), fitting[0])
        command = ["equipoise", "solve", str(name), "--menu", format_menu(first.menu), "--precision", first.precision]
        print_result(f"To paste:\n{shlex.join(command)}", is_quiet=is_quiet)


def _say_free(available: int | None) -> str:
    return "free memory not known" if available is None else f"{format_bytes(available)} of memory are free"


def _describe(choice: SizeChoice, taken: Menu) -> dict[str, Any]:
    return {
        "menu": format_menu(choice.menu),
        "precision": choice.precision,
        "bytes": choice.num_bytes,
        "numbers_per_table": choice.num_cells,
        "seconds_per_iteration": choice.seconds,
        "is_comfortable": choice.is_comfortable,
        "is_taken": choice.menu == taken and choice.precision == "float32",
    }
