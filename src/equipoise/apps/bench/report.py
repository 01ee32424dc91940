# SPDX-License-Identifier: Apache-2.0
"""The measurements of `equipoise bench tabular` as tables for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from equipoise.apps.bench.tabular import TabularReport
from equipoise.apps.machine import describe_origin

__all__ = ["print_report"]

SAME = {True: Text("yes"), False: Text("NO", "bold red"), None: Text("-")}


def print_report(report: TabularReport, console: Console) -> None:
    """Prints every table of a report, what was left out, and on what it was measured."""
    for table in _tables(report):
        console.print(table)
    for row in report.exploitability:
        console.print(
            f"one exact exploitability of {row['game']} ({row['histories']:,} histories, one thread): "
            f"{row['milliseconds']:.2f} ms"
        )
    for row in report.vector:
        console.print(f"vector form on {row['game']}, {row['rule']}: {row['ratio']:.2f}x the history form")
    for line in report.missing:
        console.print(f"left out: {line}", style="yellow")
    origin = describe_origin()
    machine = origin["machine"]
    console.print(
        f"equipoise {origin['version']} ({origin['commit'] or 'no commit'}); {machine['processor']}, "
        f"{machine['num_cores']} cores, Python {machine['python']}; medians of {report.settings.repeats} "
        f"interleaved measurements of {report.settings.seconds:g} s",
        style="dim",
    )


def _tables(report: TabularReport) -> Iterator[Table]:
    if report.rows:
        yield _speed_table(report)
    if report.growth:
        yield _growth_table(report.growth)


def _speed_table(report: TabularReport) -> Table:
    settings = report.settings
    title = "Iterations per second: same game, same algorithm, one thread"
    caption = (
        "faster: the rate of Equipoise's history form over this one; ns: per history and player update; same: "
        f"exploitability after {settings.check_iterations} iterations agrees to {settings.tolerance:g}"
    )
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left", box=box.SIMPLE_HEAD)
    for name in ("game", "rule", "engine"):
        table.add_column(name, no_wrap=True)
    for name in ("per second", "faster", "ns"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("same")
    last = None
    for row in report.rows:
        group = (row["game"], row["rule"])
        if last is not None and last != group:
            table.add_section()
        last = group
        speedup, cost = row["speedup_of_equipoise"], row["nanoseconds_per_history"]
        table.add_row(
            row["game"],
            row["rule"],
            row["engine"],
            _format_rate(row["iterations_per_second"]),
            "-" if speedup is None else f"{speedup:,.2f}x",
            "-" if cost is None else f"{cost:,.2f}",
            SAME[row["is_same_result"]],
        )
    return table


def _format_rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:,.1f}"


def _growth_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(
        title="Cost against tree size: Leduc with more ranks, two suits", title_justify="left", box=box.SIMPLE_HEAD
    )
    for name in ("histories", "threads", "ns per history and update", "smallest = 1", "speed-up"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            f"{row['histories']:,}",
            str(row["threads"]),
            f"{row['nanoseconds_per_history_and_update']:.2f}",
            f"{row['ratio_to_smallest']:.2f}x",
            f"{row['speedup_of_threads']:.2f}x",
        )
    return table
