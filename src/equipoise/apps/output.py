# SPDX-License-Identifier: Apache-2.0
"""Results on standard output."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer
from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from equipoise.apps.display import make_console
from equipoise.core.files import write_text
from equipoise.core.records import make_finite

__all__ = ["format_json", "make_rows", "make_table", "print_result", "write_document", "write_json"]


WIDEST: Final = 1000  # letters in a line
FRAME: Final = 3  # letters around a column of a table
LEAST_FOLDED: Final = 12  # letters of a first column whose words stand one below the other


def print_result(result: RenderableType, *, is_quiet: bool = False) -> None:
    """Prints a result for people to standard output, unless they asked for quiet.

    What does not fit a narrow terminal runs over its edge: cut numbers are no result.
    """
    console = make_console(is_stderr=False, is_quiet=is_quiet)
    if isinstance(result, str):
        console.print(result)
    else:
        least = console.measure(result, options=console.options.update(width=WIDEST)).minimum
        console.width = max(console.width, least)
        console.print(result, soft_wrap=not console.is_terminal)


def make_rows(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    texts: Sequence[str] = (),
    spare: Sequence[str] = (),
) -> RenderableType:
    """Returns the table of `make_table` from its rows, a title above it."""
    columns = {head: [row[place] for row in rows] for place, head in enumerate(heads)}
    table = make_table(columns, texts=texts, spare=spare)
    return Group(Text(title, style="italic"), table) if title else table


def make_table(
    columns: Mapping[str, Sequence[str]], *, texts: Sequence[str] = (), spare: Sequence[str] = ()
) -> RenderableType:
    """Returns a table whose words and numbers are never broken: numbers to the right, the first column, `texts` left.

    On a terminal too narrow for all columns the words of the first one stand on several lines, and columns behind the
    edge in a table below.

    Args:
        columns: cells of each column by its head.
        texts: heads of columns that hold words.
        spare: heads of columns that a narrow terminal does without instead, the first of them first; which these
            are is said below the table.
    """
    columns, left_out = _spare(columns, spare)
    *tables, last = (_make_table(part, texts) for part in _split(_fold(columns)))
    if left_out:
        last.caption, last.caption_justify = f"too narrow for: {', '.join(left_out)}", "left"
    return Group(*tables, last) if tables else last


def _spare(columns: Mapping[str, Sequence[str]], spare: Sequence[str]) -> tuple[dict[str, Sequence[str]], list[str]]:
    """Returns the columns that are left for the room that there is, and the heads of the others."""
    room, kept, left_out = _find_room(), dict(columns), []
    for name in spare:
        if 1 + sum(map(_find_width, kept.items())) <= room:
            break
        if name in kept:
            del kept[name]
            left_out.append(name)
    return kept, left_out


def _fold(columns: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Returns columns with the words of the first one on several lines, if there is no room for all of them else."""
    (head, cells), *others = columns.items()
    room = _find_room() - 1 - FRAME - sum(map(_find_width, others))
    if _find_width((head, cells)) - FRAME <= room:
        return dict(columns)
    width = max(LEAST_FOLDED, int(room))
    folded = [textwrap.fill(cell, width, break_long_words=False, break_on_hyphens=False) for cell in cells]
    return {head: folded, **dict(others)}


def _split(columns: Mapping[str, Sequence[str]]) -> list[dict[str, Sequence[str]]]:
    """Returns columns as tables that there is room for, each with the first column."""
    room = _find_room()
    first, *others = columns.items()
    parts = [dict([first])]
    for column in others:
        if len(parts[-1]) > 1 and 1 + sum(map(_find_width, (*parts[-1].items(), column))) > room:
            parts.append(dict([first]))
        parts[-1][column[0]] = column[1]
    return parts


def _find_room() -> float:
    """Returns how many letters a line has: any number where there is no terminal."""
    console = make_console(is_stderr=False)
    return console.width if console.is_terminal else float("inf")


def _find_width(column: tuple[str, Sequence[str]]) -> int:
    """Returns how many letters a column takes, with its frame."""
    head, cells = column
    return max(len(line) for cell in (head, *cells) for line in cell.split("\n")) + FRAME


def _make_table(columns: Mapping[str, Sequence[str]], texts: Sequence[str]) -> Table:
    """Returns a table of all columns."""
    table = Table(show_lines=any("\n" in cell for cell in next(iter(columns.values()))))
    for place, (head, cells) in enumerate(columns.items()):
        justify: JustifyMethod = "left" if place == 0 or head in texts else "right"
        table.add_column(head, justify=justify, no_wrap=True, min_width=_find_width((head, cells)) - FRAME)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return table


def write_document(text: str, path: Path | None, *, is_quiet: bool = False) -> None:
    """Writes a document to the file that was asked for, which is said, or to standard output."""
    if path is None:
        typer.echo(text, nl=False)
        return
    write_text(path, text)
    make_console(is_quiet=is_quiet).print(f"written to {path}")


def write_json(result: Any) -> None:
    """Writes a result as one JSON document to standard output; numbers that JSON lacks become null."""
    typer.echo(format_json(result), nl=False)


def format_json(result: Any) -> str:
    """Returns a result as one JSON document; numbers that JSON lacks become null."""
    return json.dumps(make_finite(result), indent=2, allow_nan=False) + "\n"
