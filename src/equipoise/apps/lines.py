# SPDX-License-Identifier: Apache-2.0
"""`equipoise lines` and `equipoise export`: the tree of a solved spot with frequencies, and all of it as a file."""

from __future__ import annotations

import dataclasses
import enum
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from equipoise.apps.amount_units import format_percent
from equipoise.apps.display import ConsoleReporter, make_console
from equipoise.apps.output import format_json, make_table, print_result, write_document
from equipoise.apps.shared_options import Quiet
from equipoise.apps.show_spot import format_columns
from equipoise.core.errors import ConfigError
from equipoise.core.files import format_bytes
from equipoise.games.holdem.betting import Street
from equipoise.runs.export import export_spot
from equipoise.runs.locking import open_spot
from equipoise.solvers.holdem.lines import list_lines

__all__ = ["ExportOptions", "LinesOptions", "export", "lines"]


class StreetName(enum.StrEnum):
    """A round of betting."""

    PREFLOP = "preflop"
    FLOP = "flop"
    TURN = "turn"
    RIVER = "river"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LinesOptions:
    """What `equipoise lines` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise lines turn.eq",
        "equipoise lines turn.eq --street river --min-reach 0.01",
    )

    file: Annotated[Path, typer.Argument(help="A solved spot, written by `solve --out`.")]
    street: Annotated[StreetName | None, typer.Option(help="Lines of this street (default the first).")] = None
    min_reach: Annotated[float, typer.Option(min=0, max=1, help="Leave out lines that are played less often.")] = 0.0
    depth: Annotated[int | None, typer.Option(min=0, help="At most so many actions (default any).")] = None
    limit: Annotated[int, typer.Option(min=0, help="At most so many in the table; 0: all.")] = 100
    json: Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")] = False
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV to standard output.")] = False
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write JSON or CSV to this file instead.")] = None
    quiet: Quiet = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """What `equipoise export` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise export turn.eq --street turn --out turn.csv",
        "equipoise export turn.eq --values --out everything.jsonl",
    )

    file: Annotated[Path, typer.Argument(help="A solved spot, written by `solve --out`.")]
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to: .csv, .json or .jsonl.")]
    street: Annotated[StreetName | None, typer.Option(help="Decisions of this street alone (default all).")] = None
    values: Annotated[bool, typer.Option("--values", help="Equities and EVs too; takes many times as long.")] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages or progress.")] = False


def lines(options: LinesOptions) -> None:
    """List the lines of a solved spot with how often each is played, cards taken together."""
    if options.json and options.csv:
        raise ConfigError("--json and --csv are two formats: give one of them")
    if options.out is not None and not (options.json or options.csv):
        raise ConfigError("--out needs a format: give --csv or --json with it")
    console = make_console(is_quiet=options.quiet)
    with open_spot(options.file) as solved:
        found = list_lines(
            solved,
            street=_find_street(options.street),
            min_reach=options.min_reach,
            depth=options.depth,
            reporter=ConsoleReporter(console),
        )
        described = {**solved.describe(), "label": solved.label, "lines": found}
    if options.json:
        write_document(format_json(described), options.out, is_quiet=options.quiet)
    elif options.csv:
        names = ("line", "street", "kind", "seat", "pot", "depth", "reach", "frequency")
        write_document(
            format_columns({name: [row[name] for row in found] for name in names}), options.out, is_quiet=options.quiet
        )
    else:
        console_lines = found[: options.limit or None]
        print_result(described["label"], is_quiet=options.quiet)
        if console_lines:
            print_result(_as_table(console_lines, described), is_quiet=options.quiet)
        if len(console_lines) < len(found):
            console.print(f"{len(console_lines)} of {len(found):,} lines; --limit 0 shows all, --min-reach fewer")
    if not found:
        console.print(_explain_none(options), style="yellow")


def export(options: ExportOptions) -> None:
    """Write every decision of a solved spot, or of one street, to a file, hand by hand."""
    console = make_console(is_quiet=options.quiet)
    if options.out.exists() and not options.overwrite:
        raise ConfigError(f"{options.out} exists: give --overwrite to replace it, or another --out")
    with open_spot(options.file) as solved:
        num_written = export_spot(
            solved,
            options.out,
            street=_find_street(options.street),
            has_values=options.values,
            reporter=ConsoleReporter(console),
        )
    size = format_bytes(options.out.stat().st_size)
    console.print(f"{num_written:,} decisions, {size} written to {options.out}")


def _explain_none(options: LinesOptions) -> str:
    """Returns which of the options left no line."""
    given = {"--street": options.street, "--depth": options.depth, "--min-reach": options.min_reach or None}
    asked = ", ".join(f"{name} {value}" for name, value in given.items() if value is not None)
    return f"no line is left by {asked}" if asked else "the spot has no lines"


def _find_street(name: StreetName | None) -> Street | None:
    return None if name is None else Street[name.name]


def _as_table(rows: list[dict[str, Any]], described: dict[str, Any]) -> Any:
    return make_table(
        {
            "line": [row["line"] or "root" for row in rows],
            "next": [row["seat"] or row["kind"] for row in rows],
            "pot, chips": [f"{row['pot']:,}" for row in rows],
            "last step": [format_percent(row["frequency"]) if row["depth"] else "" for row in rows],
            "reach": [f"{100 * row['reach']:.3f}%" for row in rows],
        },
        texts=("next",),
        spare=("pot, chips", "next"),
    )
