# SPDX-License-Identifier: Apache-2.0
"""`equipoise report`: one spot on many boards, solved in a queue that can be stopped and gone on with, as one table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from rich.console import Console

from equipoise.apps.amount_units import Amounts, AmountUnit, format_percent
from equipoise.apps.display import ConsoleReporter, make_console
from equipoise.apps.output import format_json, make_table, print_result, write_document
from equipoise.apps.shared_options import Quiet
from equipoise.apps.show_spot import format_columns
from equipoise.apps.signals import SignalFlag
from equipoise.apps.solve_options import Precision
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.core.runs import RunFolder
from equipoise.distributed.pools import open_pool
from equipoise.evaluation.plots import check_plot_path, plot_shares
from equipoise.games.holdem.menus import POSITIONS
from equipoise.runs.board_report import (
    REPORT_KIND,
    BoardReport,
    ReportSpec,
    average_rows,
    check_report_memory,
    describe_spec,
    load_report,
    load_spec,
    report_columns,
    restore_spec,
    run_report,
)
from equipoise.runs.request import RunRequest

__all__ = ["ReportOptions", "report"]

MOST_DRAWN = 60  # boards with a name below their column


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """What `equipoise report` is told."""

    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "When to stop": ("target", "iterations", "seconds"),
        "How": ("menu", "precision", "workers", "ray", "keep", "resume", "overwrite"),
        "What is shown": ("sort", "unit", "limit", "json", "csv", "out", "plot", "quiet"),
    }
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise report examples/spots/flop.toml --boards 'spread 25' --run flops --workers 2",
        "equipoise report --run flops --resume --workers 2",
        "equipoise report --run flops --sort 'ev oop' --csv --out flops.csv",
    )

    spot: Annotated[
        str | None, typer.Argument(help="A hold'em spot SPOT.toml, whose board is replaced; none: show --run.")
    ] = None
    run: Annotated[Path, typer.Option(help="Folder of the report: each board is kept as it is done.", metavar="DIR")]
    boards: Annotated[
        str | None,
        typer.Option(help="'all' flops, 'spread 25' of them, or 'Ks7h2d, Qs8h3d' (default the file's `boards`)."),
    ] = None
    menu: Annotated[str | None, typer.Option(help="Bets, in place of the file's.")] = None
    target: Annotated[str | None, typer.Option(help="Solve to this, as in 0.5% or 20mbb.", metavar="AMOUNT")] = None
    iterations: Annotated[int | None, typer.Option("--iterations", "-n", min=1, help="At most so many a board.")] = None
    seconds: Annotated[float | None, typer.Option(help="At most so long a board.")] = None
    precision: Annotated[Precision | None, typer.Option(help="Of tables (default float32).")] = None
    workers: Annotated[int, typer.Option("--workers", "-w", min=1, help="Boards that are solved at once.")] = 1
    ray: Annotated[
        str | None, typer.Option(help="Solve on a Ray cluster: HOST:PORT, auto or local.", metavar="ADDRESS")
    ] = None
    keep: Annotated[bool, typer.Option("--keep", help="Keep every solution in DIR/solutions too.")] = False
    resume: Annotated[bool, typer.Option("--resume", help="Solve what is missing in --run.")] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin the report in --run anew.")] = False
    sort: Annotated[str | None, typer.Option(help="By a column, largest first.", metavar="COLUMN")] = None
    unit: Annotated[AmountUnit, typer.Option(help="What EVs are shown in; files have chips.")] = AmountUnit.BB
    limit: Annotated[int, typer.Option(min=0, help="At most so many rows; 0: all.")] = 50
    json: Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")] = False
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV to standard output.")] = False
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write JSON or CSV to this file instead.")] = None
    plot: Annotated[Path | None, typer.Option(help="Draw what both players do first (.png, .svg, .pdf).")] = None
    quiet: Quiet = False


def report(options: ReportOptions) -> None:
    """Solve one spot on many boards and show them as one table: EV, equity and first actions of each.

    Each board is kept in the folder as it is done; Ctrl-C, or a machine that fails, costs the boards under way.
    """
    _check(options)
    console = make_console(is_quiet=options.quiet)
    exit_code = 0
    if options.spot is None and not options.resume:
        folder = RunFolder(options.run)
        folder.check_kind(REPORT_KIND)
        found = load_report(folder)
    else:
        found, exit_code = _solve(options, console)
    _show(options, found, console)
    if exit_code:
        console.print(f"interrupted; go on with: equipoise report --run {options.run} --resume", style="yellow")
        raise typer.Exit(exit_code)


def _check(options: ReportOptions) -> None:
    if options.json and options.csv:
        raise ConfigError("--json and --csv are two formats: give one of them")
    if options.out is not None and not (options.json or options.csv):
        raise ConfigError("--out needs a format: give --csv or --json with it")
    if options.plot is not None:
        check_plot_path(options.plot)
    if options.spot is None:
        asked = ("boards", "menu", "target", "iterations", "seconds", "precision")
        for name in asked:
            if getattr(options, name) is not None:
                raise ConfigError(f"--{name} is for a new report: name its spot")


def _solve(options: ReportOptions, console: Console) -> tuple[BoardReport, int]:
    """Returns the rows that are done in the end, and the exit code if a signal came."""
    reporter = ConsoleReporter(console)
    goes_on = options.resume and RunFolder.is_run(options.run)
    if goes_on:
        folder = RunFolder(options.run)
        folder.check_kind(REPORT_KIND)
        spec, request = restore_spec(folder)
        if options.spot is not None:
            _check_same(options, folder, *_ask(options))
    else:
        spec, request = _ask(options)
        folder = RunFolder.open_or_create(
            options.run,
            REPORT_KIND,
            describe_spec(spec, request),
            is_resumed=options.resume,
            is_overwritten=options.overwrite,
        )
    if options.ray is None:
        check_report_memory(spec, min(options.workers, len(spec.boards)), request.precision, reporter)
    with SignalFlag() as flag, open_pool(options.workers, options.ray) as pool, folder.writing():
        found = run_report(
            spec, folder, pool, request, keeps_solutions=options.keep, is_interrupted=flag, reporter=reporter
        )
    return found, flag.exit_code


def _ask(options: ReportOptions) -> tuple[ReportSpec, RunRequest]:
    if options.spot is None:
        raise ConfigError(f"{options.run} holds no report to go on with: name a spot to begin one")
    precision = None if options.precision is None else str(options.precision)
    spec = load_spec(options.spot, options.boards, menu=options.menu, precision=precision)
    request = RunRequest(
        target=options.target, iterations=options.iterations, seconds=options.seconds, precision=precision
    )
    return spec, request


def _check_same(options: ReportOptions, folder: RunFolder, spec: ReportSpec, request: RunRequest) -> None:
    asked = describe_spec(spec, request)
    for name in ("spot", "boards", "request"):
        if folder.config.get(name) != asked[name]:
            raise ConfigError(
                f"{options.run} holds another report: its {name} differs; leave the spot out to go on with it, or give "
                "--overwrite"
            )


def _show(options: ReportOptions, found: BoardReport, console: Console) -> None:
    columns = report_columns(found.rows)
    seats = next((row["seats"] for row in found.rows if row["error"] is None), POSITIONS)
    order = _sort(columns, options.sort, seats=seats)
    columns = {name: [column[row] for row in order] for name, column in columns.items()}
    failed = [row for row in found.rows if row["error"] is not None]
    if options.json:
        rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
        document = {
            "spec": found.spec,
            "num_boards": found.num_boards,
            "average": average_rows(columns) if rows else None,
            "rows": rows,
            "failed": failed,
        }
        write_document(format_json(document), options.out, is_quiet=options.quiet)
    elif options.csv:
        write_document(format_columns(columns), options.out, is_quiet=options.quiet)
    elif order:
        print_result(_as_table(options, found, columns), is_quiet=options.quiet)
        if options.limit and len(order) > options.limit:
            console.print(f"{options.limit} of {len(order):,} boards; --limit 0 shows all")
    if options.plot is not None and order:
        _draw(options.plot, found, columns)
        console.print(f"written to {options.plot}")
    if not found.is_whole:
        console.print(f"{len(found.rows):,} of {found.num_boards:,} boards are done", style="yellow")
    for row in failed:
        console.print(f"{row['board']}: {row['error']}", style="yellow")


def _sort(columns: dict[str, list[Any]], name: str | None, *, seats: Sequence[str]) -> list[int]:
    """Returns the order of rows by a column, whose player may be called by seat or by position (`ev BB`, `ev oop`)."""
    rows = list(range(len(columns["board"])))
    if name is None or not rows:
        return rows
    if name not in columns:
        by_position = dict(zip(POSITIONS, seats, strict=True))
        named = " ".join(by_position.get(word, word) for word in name.split(" "))
        name = named if named in columns else name
    if name not in columns:
        raise UnknownNameError("column to sort by", name, columns)
    column = columns[name]
    if isinstance(column[0], str):
        return sorted(rows, key=lambda row: column[row])
    return sorted(rows, key=lambda row: float("inf") if column[row] is None else -column[row])


def _as_table(options: ReportOptions, found: BoardReport, columns: dict[str, list[Any]]) -> Any:
    first = next(row for row in found.rows if row["error"] is None)
    amounts = Amounts(options.unit, first["big_blind"], first["pot"])
    average = average_rows(columns)
    left_out = {"exploitability", "iterations", "seconds", *(f"eqr {seat}" for seat in first["seats"])}
    left_out.add(f"equity {first['seats'][1]}")
    shown: dict[str, Sequence[str]] = {}
    for name, column in columns.items():
        if name in left_out:
            continue
        cells = [average[name], *column[: options.limit or None]]
        if name in ("board", "texture"):
            shown[name] = cells
        elif name.startswith("ev "):
            shown[f"{name}, {amounts.head}"] = [amounts.format(cell) for cell in cells]
        elif name == "percent_of_pot":
            shown["exploitable, % pot"] = ["-" if cell is None else f"{cell:.3f}" for cell in cells]
        else:
            shown[name] = [format_percent(cell) for cell in cells]
    return make_table(shown, texts=("texture",))


def _draw(path: Path, found: BoardReport, columns: dict[str, list[Any]]) -> None:
    """Draws how often both players take their first actions, boards in the order of the table."""
    first = next(row for row in found.rows if row["error"] is None)
    panels = {}
    for decider, title in ((first, "{} first"), (first["reply"], "{} after a check")):
        if decider is not None:
            seat = first["seats"][decider["player"]]
            shares = zip(*(columns[f"{seat} {name}"] for name in decider["names"]), strict=True)
            panels[title.format(seat)] = (decider["names"], list(shares))
    names = columns["board"] if len(columns["board"]) <= MOST_DRAWN else [""] * len(columns["board"])
    plot_shares(panels, names, path, title=f"{len(columns['board'])} boards")
