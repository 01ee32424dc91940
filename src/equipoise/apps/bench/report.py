# SPDX-License-Identifier: Apache-2.0
"""The measurements of `equipoise bench` as tables for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from equipoise.apps.bench.beliefs import BeliefsReport
from equipoise.apps.bench.decisions import DecisionsReport
from equipoise.apps.bench.first_evening import FirstEveningReport
from equipoise.apps.bench.holdem import HoldemReport
from equipoise.apps.bench.loops import TARGET_MBB
from equipoise.apps.bench.matches import MatchesReport
from equipoise.apps.bench.page import PageReport
from equipoise.apps.bench.peers import PeersReport
from equipoise.apps.bench.responses import ResponsesReport
from equipoise.apps.bench.search import SearchReport
from equipoise.apps.bench.tabular import TabularReport
from equipoise.apps.bench.values import ValuesReport
from equipoise.core.files import format_bytes
from equipoise.core.machine import describe_origin

__all__ = [
    "print_decisions_report",
    "print_first_evening_report",
    "print_holdem_report",
    "print_matches_report",
    "print_page_report",
    "print_peers_report",
    "print_responses_report",
    "print_search_report",
    "print_tabular_report",
    "print_values_report",
]

SAME = {True: Text("yes"), False: Text("NO", "bold red"), None: Text("-")}


def print_tabular_report(report: TabularReport, console: Console) -> None:
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
    _print_origin(console, f"{report.settings.repeats} interleaved measurements of {report.settings.seconds:g} s")


def print_matches_report(report: MatchesReport, console: Console) -> None:
    """Prints one line per runner and number of processes, and on what it was measured."""
    caption = "wanted: hands a second on two quiet cores"
    title = report.rows[0]["game"] if report.rows else "Matches"
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("runner", no_wrap=True)
    for name in ("processes", "hands/s", "hands/CPU s", "wanted"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in report.rows:
        table.add_row(
            row["runner"],
            str(row["workers"]),
            f"{row['hands_per_second']:,.0f}",
            f"{row['hands_per_cpu_second']:,.0f}",
            f"{row['wanted_on_two_cores']:,}",
        )
    console.print(table)
    _print_origin(console, f"measurements of {report.settings.seconds:g} s")


def print_beliefs_report(report: BeliefsReport, console: Console) -> None:
    """Prints one line per width of the network, number of lanes and of processes, and on what it was measured."""
    settings = report.settings
    table = Table(
        title=f"Searches of self-play in {settings.game}, horizon {settings.horizon}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for name in ("width", "lanes", "processes", "iterations", "a CPU second", "a second", "in the network"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in report.rows:
        counts = [str(row[name]) for name in ("width", "lanes", "processes", "iterations")]
        rates = [f"{row[name]:,.0f}" for name in ("searches_per_cpu_second", "searches_per_second")]
        table.add_row(*counts, *rates, f"{row['net_share']:.0%}")
    console.print(table)
    _print_origin(console, f"measurements of {settings.seconds:g} s")


def print_first_evening_report(report: FirstEveningReport, console: Console) -> None:
    """Prints one line for each thing that newcomers wait for, with its bar."""
    table = Table(title="A first evening", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("what", overflow="fold")
    for name in ("seconds", "bar", "", "CPU s"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in report.rows:
        table.add_row(
            row["what"],
            "never" if row["seconds"] is None else f"{row['seconds']:.2f}",
            f"{row['bar']:g}",
            "PASS" if row["is_met"] else "MISS",
            "" if row["cpu_seconds"] is None else f"{row['cpu_seconds']:.2f}",
        )
    console.print(table)
    num_kept = sum(row["is_met"] for row in report.rows)
    console.print(f"{num_kept} of {len(report.rows)} pass; bars are for two idle cores")
    _print_origin(console, "every wait, wall time", statistic="one run")


def print_page_report(report: PageReport, console: Console) -> None:
    """Prints one line per measurement, and on what it was taken."""
    settings = report.settings
    title = f"The page: {settings.clients} readers, {settings.pause:g} s between an answer and the next question"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("what", "measured", "unit", "wanted"):
        table.add_column(name, justify="left" if name in ("what", "unit") else "right", no_wrap=True)
    for row in report.rows:
        wanted = "" if row["wanted"] is None else f"< {row['wanted']:g}"
        table.add_row(row["what"], f"{row['value']:,.1f}", row["unit"], wanted)
    console.print(table)
    _print_origin(
        console, f"{settings.repeats} interleaved solves of {settings.iterations} iterations", statistic="fastest"
    )


def print_values_report(report: ValuesReport, console: Console) -> None:
    """Prints one line per kind of situation and number of processes, and on what it was measured."""
    settings = report.settings
    title = f"Situations of hold'em, menu {settings.menu}, {settings.iterations} iterations"
    caption = "wanted: situations a second on two quiet cores"
    table = _open_table(title, caption, "situations", "processes", "a second", "a CPU second", "wanted")
    for row in report.rows:
        wanted = row["wanted_on_two_cores"]
        table.add_row(
            row["situations"],
            str(row["workers"]),
            f"{row['situations_per_second']:,.1f}",
            f"{row['situations_per_cpu_second']:,.1f}",
            "" if wanted is None else str(wanted),
        )
    console.print(table)
    _print_origin(console, f"measurements of {settings.seconds:g} s")


def print_decisions_report(report: DecisionsReport, console: Console) -> None:
    """Prints one line per street, and on what it was measured."""
    settings = report.settings
    title = f"Decisions of {settings.agent} against {settings.opponent}, {settings.game}"
    caption = "seconds by the clock; CPU: of the processor; wanted: on two quiet cores"
    figures = ("count", "median", "worst", "CPU median", "CPU worst", "wanted")
    table = _open_table(title, caption, "decisions", *figures)
    for row in report.rows:
        wanted = [row["wanted_median"], row["wanted_worst"]]
        said = " / ".join("" if bar is None else f"{bar:g}" for bar in wanted) if any(wanted) else ""
        taken = [f"{row[name]:.2f}" for name in ("median", "worst", "cpu_median", "cpu_worst")]
        table.add_row(row["decisions"], str(row["count"]), *taken, said)
    console.print(table)
    _print_origin(console, f"{settings.hands} hands")


def print_holdem_report(report: HoldemReport, console: Console) -> None:
    """Prints one line per spot and number of threads, and on what it was measured."""
    caption = (
        "ms: of an iteration, both players updated; floor: the tables once through memory, none for tables that fit "
        "the cache; to 0.5 %, to 0.1 %: seconds of iterations until the exploitability is that share of the pot"
    )
    table = Table(
        title="Hold'em, DCFR in float32",
        title_justify="left",
        caption=caption,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("spot", no_wrap=True)
    for name in ("threads", "ms", "floor", "ratio", "bytes", "to 0.5 %", "to 0.1 %"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in report.rows:
        table.add_row(
            row["spot"],
            str(row["threads"]),
            _format_figure(row["ms_per_iteration"]),
            _format_figure(row["floor_ms"]),
            "-" if row["ratio_to_floor"] is None else f"{row['ratio_to_floor']:.2f}x",
            format_bytes(row["bytes"]),
            _format_figure(row["seconds_to_half_percent"]),
            _format_figure(row["seconds_to_tenth_percent"]),
        )
    console.print(table)
    for threads, rate in report.bandwidth.items():
        console.print(f"a copy on {threads} thread{'s' * (threads > 1)} moves {rate / 1e9:.1f} GB/s, read and written")
    _print_origin(console, f"{report.settings.repeats} measurements of {report.settings.seconds:g} s")


def print_peers_report(report: PeersReport, console: Console) -> None:
    """Prints one line per spot, target and program, and on what it was measured."""
    settings = report.settings
    title = f"To a target beside other programs, {settings.threads} thread{'s' * (settings.threads > 1)}"
    caption = (
        "CPU s: processor time from a spot to the target, least of the repeats; of other programs with their start; "
        "reached: exploitability in percent of the pot, as each program says; ratio: of processor time, to ours"
    )
    table = _open_table(title, caption, "spot", "target", "program", "CPU s", "s", "reached", "ratio")
    for row in report.rows:
        table.add_row(
            row["spot"],
            f"{row['target_percent']:g} %",
            row["program"],
            _format_figure(row["cpu_seconds"]),
            _format_figure(row["seconds"]),
            "-" if row["percent"] is None else f"{row['percent']:.3g} %",
            "-" if row["ratio"] is None else f"{row['ratio']:.2f}x",
        )
    console.print(table)
    _print_origin(console, f"{settings.repeats} runs in turns", statistic="least")


def print_responses_report(report: ResponsesReport, console: Console) -> None:
    """Prints one line per measurement, and on what it was measured."""
    settings = report.settings
    table = Table(
        title=f"Processor time on {settings.game}, one thread, nanoseconds",
        title_justify="left",
        caption=f"calls of {settings.count:,} iterations or hands; a CFR-BR update includes its best response",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for name in ("what", "against"):
        table.add_column(name, no_wrap=True)
    for name in ("ns", "fastest", "slowest"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in report.rows:
        figures = (f"{row[name]:,.0f}" for name in ("nanoseconds", "fastest", "slowest"))
        table.add_row(row["what"], row["opponent"], *figures)
    console.print(table)
    _print_origin(console, f"{2 * settings.repeats} measurements, half in each seat")


def print_search_report(report: SearchReport, console: Console) -> None:
    """Prints how long searches took beside their bars, what tables of leaves took, and how fast loops are."""
    settings = report.settings
    table = Table(
        title=f"Hold'em searches, all hands, a resolving gate, threads: {settings.threads}",
        title_justify="left",
        caption=f"{settings.river_iterations} iterations on rivers, {settings.turn_iterations} on turns; cpu: of all "
        "threads; turns have the Libratus menu; table: of what leaves pay, once for a blueprint and a spot",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("search", no_wrap=True)
    for name in ("pot", "s", "cpu s", "bar, s", "table, s", "table"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in (row for row in report.rows if row["what"] != "loop"):
        figures = [_format_figure(row[name]) for name in ("seconds", "cpu_seconds", "bar_seconds", "table_seconds")]
        size = "-" if row["table_bytes"] is None else format_bytes(row["table_bytes"])
        name = f"{row['what']}, {row['menu']}" if row["table_bytes"] is None else row["what"]
        table.add_row(name, f"{row['pot']:,}", *figures, size)
    if table.row_count:
        console.print(table)
    if any(row["what"] == "loop" for row in report.rows):
        _print_loops(report, console)
    _print_origin(console, f"{settings.repeats} searches")


def _print_loops(report: SearchReport, console: Console) -> None:
    """Prints iterations a second by rule and loop."""
    table = Table(
        title=f"Rivers by rule and loop, all hands, alternating, threads: {report.settings.threads}",
        title_justify="left",
        caption=f"seconds of iterations until both best responses together gain {TARGET_MBB:g} mbb a game; "
        f"-: not within {report.settings.loop_seconds:g} s",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for name in ("loop", "rule", "menu"):
        table.add_column(name, no_wrap=True)
    for name in ("pot", "iterations/s", f"s to {TARGET_MBB:g} mbb", "iterations"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in (row for row in report.rows if row["what"] == "loop"):
        figures = [_format_figure(row[name]) for name in ("iterations_per_second", "seconds_to_target")]
        table.add_row(
            row["loop"], row["rule"], row["menu"], f"{row['pot']:,}", *figures, f"{row['target_iterations']:,}"
        )
    console.print(table)


def _format_figure(value: float | None) -> str:
    return "-" if value is None else f"{value:#.3g}"


def _open_table(title: str, caption: str, first: str, *others: str) -> Table:
    """Returns a table without rows: the first column says what a row is about, the others are numbers."""
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left", box=box.SIMPLE_HEAD)
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _print_origin(console: Console, what: str, *, statistic: str = "medians") -> None:
    origin = describe_origin()
    machine = origin["machine"]
    console.print(
        f"equipoise {origin['version']} ({origin['commit'] or 'no commit'}); {machine['processor']}, "
        f"{machine['num_cores']} cores, Python {machine['python']}; {statistic} of {what}",
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
