# SPDX-License-Identifier: Apache-2.0
"""Results on standard output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer
from rich.console import JustifyMethod, RenderableType
from rich.table import Table

from equipoise.apps.display import make_console
from equipoise.core.files import write_text
from equipoise.core.records import make_finite

__all__ = ["format_json", "make_table", "print_result", "write_document", "write_json"]


WIDEST: Final = 1000  # letters in a line
FRAME: Final = 3  # letters around a column of a table


def print_result(result: RenderableType, *, is_quiet: bool = False) -> None:
    """Prints a result for people to standard output, unless they asked for quiet.

    What does not fit a narrow terminal runs over its edge: cut numbers are no result.
    """
    console = make_console(is_stderr=False, is_quiet=is_quiet)
    least = console.measure(result, options=console.options.update(width=WIDEST)).minimum
    console.width = max(console.width, least)
    console.print(result)


def make_table(columns: Mapping[str, Sequence[str]], *, texts: Sequence[str] = (), spare: Sequence[str] = ()) -> Table:
    """Returns a table whose cells are never broken or cut: numbers to the right, the first column and `texts` left.

    Args:
        columns: cells of each column by its head.
        texts: heads of columns that hold words.
        spare: heads of columns that a terminal too narrow for all does without, the first of them first; which these
            are is said below the table.
    """
    columns, left_out = _fit(columns, spare)
    if left_out:
        return _make_table(columns, texts, f"too narrow for: {', '.join(left_out)}")
    return _make_table(columns, texts, None)


def _fit(columns: Mapping[str, Sequence[str]], spare: Sequence[str]) -> tuple[dict[str, Sequence[str]], list[str]]:
    """Returns the columns that a terminal has room for, and the heads of the others; all of them anywhere else."""
    console = make_console(is_stderr=False)
    kept, left_out = dict(columns), []
    for name in spare if console.is_terminal else ():
        if 1 + sum(max(map(len, (head, *cells))) + FRAME for head, cells in kept.items()) <= console.width:
            break
        if name in kept:
            del kept[name]
            left_out.append(name)
    return kept, left_out


def _make_table(columns: Mapping[str, Sequence[str]], texts: Sequence[str], caption: str | None) -> Table:
    """Returns a table of all columns."""
    table = Table(caption=caption, caption_justify="left")
    for place, (head, cells) in enumerate(columns.items()):
        width = max(map(len, (head, *cells)))
        justify: JustifyMethod = "left" if place == 0 or head in texts else "right"
        table.add_column(head, justify=justify, no_wrap=True, min_width=width)
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
