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


def print_result(result: RenderableType, *, is_quiet: bool = False) -> None:
    """Prints a result for people to standard output, unless they asked for quiet.

    What does not fit a narrow terminal runs over its edge: cut numbers are no result.
    """
    console = make_console(is_stderr=False, is_quiet=is_quiet)
    least = console.measure(result, options=console.options.update(width=WIDEST)).minimum
    console.width = max(console.width, least)
    console.print(result)


def make_table(columns: Mapping[str, Sequence[str]], *, texts: Sequence[str] = ()) -> Table:
    """Returns a table whose cells are never broken or cut: numbers to the right, the first column and `texts` left.

    Args:
        columns: cells of each column by its head.
        texts: heads of columns that hold words.
    """
    table = Table()
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
