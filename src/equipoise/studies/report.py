# SPDX-License-Identifier: Apache-2.0
"""A study's result as tables for people, and as files: JSON, picture, text."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path
from typing import Any, BinaryIO, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from equipoise.core.errors import CheckpointError
from equipoise.core.files import check_writable, describe_os_error, write_atomically
from equipoise.core.formatting import format_duration, format_small
from equipoise.evaluation.plots import PanelLabels, plot_grids, plot_panels
from equipoise.studies.sources import hash_modules, read_sources
from equipoise.studies.study import Study, StudyResult, Verdict

__all__ = ["check_output_directory", "draw_result", "format_cell", "print_result", "write_result"]

SUFFIXES: Final = (".json", ".png", ".txt")
STYLES: Final = {
    Verdict.CONFIRMED: "green",
    Verdict.DENIED: "bold red",
    Verdict.UNDECIDED: "yellow",
    Verdict.NOT_STATED: "dim",
    Verdict.NOT_MEASURED: "yellow",
}
TEXT_WIDTH: Final = 120  # of the text file
WIDEST: Final = 1000  # letters in a line


def check_output_directory(directory: Path, study: str) -> None:
    """Makes the directory and raises unless a study's files can be written there; called before measuring."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise CheckpointError(f"cannot write to {directory}: it is a file, expected a directory") from None
    except OSError as error:
        raise CheckpointError(f"cannot write to {directory}: {describe_os_error(error)}") from None
    for suffix in SUFFIXES:
        check_writable(directory / f"{study}{suffix}")


def print_result(result: StudyResult, console: Console) -> None:
    """Prints the table, the claims, the notes and the origin of a result."""
    partial = (" (partial: interrupted)", "bold yellow") if result.is_partial else ""
    console.print(Text.assemble((result.title, "bold"), partial, f"\n{result.source}"))
    _print_whole(_row_table(result), console)
    console.print(_claim_table(result))
    for note in result.conclusion.notes:
        console.print(f"- {note}")
    origin = result.origin
    console.print(
        f"size {result.size}, {format_duration(result.seconds)}; equipoise {origin['version']} "
        f"({origin['commit'] or 'no commit'}), seed {result.seed}",
        style="dim",
    )


def _print_whole(table: Table, console: Console) -> None:
    """Prints a table whose words and figures are whole, over the edge of a console that is too narrow for them."""
    width, wide = console.width, console.options.update(width=WIDEST)
    if console.measure(table, options=wide).maximum > width:
        for column in table.columns:  # rich breaks the widest columns first, and words too
            column.width = column.min_width if column.justify == "right" else None
    console.width = max(width, console.measure(table, options=wide).minimum)
    console.print(table)
    console.width = width


def write_result(study: Study[Any], result: StudyResult, directory: Path) -> list[Path]:
    """Writes JSON, picture and text of a result, and returns where they are.

    >>> import tempfile
    >>> from equipoise.studies import find_study, reproduce
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = reproduce("coin-toss")
    ...     print([path.name for path in write_result(find_study("coin-toss"), result, Path(folder))])
    ['coin-toss.json', 'coin-toss.png', 'coin-toss.txt']
    """
    paths = [directory / f"{result.study}{suffix}" for suffix in SUFFIXES]
    sources = read_sources()
    if sources is not None:
        found = hash_modules(result.study, json.loads(json.dumps(result.configuration)), sources)
        result = dataclasses.replace(result, origin={**result.origin, "modules": found})
    _write_text(paths[0], json.dumps(result.as_json(), indent=2) + "\n")
    written = [paths[0], paths[1]] if draw_result(study, result, paths[1]) else [paths[0]]
    text = io.StringIO()
    print_result(result, Console(file=text, width=TEXT_WIDTH, highlight=False))
    _write_text(paths[2], text.getvalue())
    return [*written, paths[2]]


def draw_result(study: Study[Any], result: StudyResult, path: Path) -> bool:
    """Draws the panels of a result that its study shows, and returns whether there are any."""
    drawn = {name: curves for name, curves in result.curves.items() if not study.panels or name in study.panels}
    if not drawn:
        return False
    title = f"{result.title}{' (partial)' if result.is_partial else ''}"
    if study.are_grids:
        plot_grids(drawn, path, title=title)
    else:
        labels = PanelLabels(study.x_label, study.y_label, study.is_log_y)
        printed = study.printed if study.is_printed_of(result.configuration) else None
        plot_panels(drawn, path, title=title, labels=labels, own_labels=study.own_labels, printed=printed)
    return True


def _write_text(path: Path, text: str) -> None:
    def write(file: BinaryIO) -> None:
        file.write(text.encode())

    write_atomically(path, write)


def _row_table(result: StudyResult) -> Table:
    rows = result.conclusion.rows
    table = Table(title_justify="left")
    for key, value in (rows[0] if rows else {}).items():
        cells = [key, *(format_cell(row[key]) for row in rows)]
        longest = max(len(word) for cell in cells for word in cell.split())
        table.add_column(key, justify="left" if isinstance(value, str) else "right", min_width=longest)
    group = None
    for row in rows:
        first = next(iter(row.values()))
        if group is not None and first != group and len(rows) > len({next(iter(other.values())) for other in rows}):
            table.add_section()
        group = first
        table.add_row(*(format_cell(value) for value in row.values()))
    return table


def format_cell(value: Any) -> str:
    """Returns a value of a row as tables show it."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return format_small(value) if isinstance(value, float) else str(value)


def _claim_table(result: StudyResult) -> Table:
    table = Table(title="What the text states", title_justify="left", show_lines=True)
    table.add_column("verdict")
    table.add_column("claim", overflow="fold", ratio=1)
    table.add_column("ours", overflow="fold", ratio=1)
    for claim in result.conclusion.claims:
        statement = Text.assemble(claim.statement, (f" ({claim.source})", "dim"))
        table.add_row(Text(claim.verdict, STYLES[claim.verdict]), statement, claim.ours)
    return table
