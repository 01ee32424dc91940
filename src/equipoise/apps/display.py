# SPDX-License-Identifier: Apache-2.0
"""Progress for people: live on a terminal, now and then a line anywhere else. Everything goes to the error stream."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, Self, TextIO, cast

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table
from rich.text import Text

from equipoise.apps.task_display import TaskDisplay
from equipoise.core.formatting import format_duration, format_estimate, format_optional, format_utility
from equipoise.core.progress import Progress, SampledFigures
from equipoise.core.reporting import OnGrowth, OnStep, Reporter

if TYPE_CHECKING:
    from equipoise.games.base import Game

__all__ = [
    "BuildDisplay",
    "ConsoleReporter",
    "SolveDisplay",
    "describe_figures",
    "explain_no_guarantee",
    "make_console",
    "sparkline",
]

SECONDS_BETWEEN_LINES = 5.0  # where the output is not a terminal
SECONDS_OF_SILENCE = 0.5  # where the output is not a terminal and a stage has begun
BLOCKS = "▁▂▃▄▅▆▇█"
SPARKLINE_WIDTH = 32
COMMAND = "equipoise "  # how commands begin
NARROW = 72  # columns below which figures stand one below the other


def make_console(*, is_stderr: bool = True, is_quiet: bool = False) -> Console:
    """Returns a console that prints text as it is: on the error stream for messages, on standard output for results."""
    # a stream that is not open is None, and so is a console's when it should find the stream itself
    file = _ForgivingStream(sys.stderr) if is_stderr and sys.stderr is not None else None
    return _WordConsole(
        file=cast("IO[str] | None", file),
        stderr=is_stderr,
        quiet=is_quiet,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )


class _WordConsole(Console):
    """A console that breaks lines on a terminal between words, but for commands: those are copied, and stay whole."""

    def print(self, *objects: Any, **settings: Any) -> None:
        if self.is_terminal and all(isinstance(one, str) and COMMAND not in one for one in objects):
            settings.setdefault("soft_wrap", False)
        super().print(*objects, **settings)


class _ForgivingStream:
    """The error stream, where failures are dropped: nobody reads a closed terminal, and work must not end for it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def describe_figures(figures: SampledFigures) -> dict[str, str]:
    """Returns figures that were sampled, each under a name that says so."""
    estimates = zip(figures.values_against_uniform, figures.standard_errors, strict=True)
    values = ", ".join(format_estimate(mean, error) for mean, error in estimates)
    return {
        "information states met": f"{figures.num_infostates:,}",
        "regret bound, sampled": format_optional(figures.regret_bound),
        "values against uniform, sampled": f"{values} (standard errors, {figures.num_playouts:,} games each)",
        "uniform against uniform, sampled": ", ".join(f"{value:+.3f}" for value in figures.uniform_values),
    }


def sparkline(values: Sequence[float]) -> str:
    """Returns a curve in one line of blocks, on a logarithmic scale.

    >>> sparkline([1.0, 0.1, 0.01, 0.001])
    '█▆▃▁'
    """
    logs = [math.log10(max(value, 1e-300)) for value in values if value > 0][-SPARKLINE_WIDTH:]
    if not logs:
        return ""
    low, high = min(logs), max(logs)
    scale = (len(BLOCKS) - 1) / (high - low) if high > low else 0.0
    return "".join(BLOCKS[round((value - low) * scale)] for value in logs)


class BuildDisplay:
    """Shows a tree growing; small trees are done before there is anything to show."""

    def __init__(self, console: Console, label: str) -> None:
        self.console = console
        self.label = label
        self.bar: ProgressBar | None = None
        self.task = TaskID(0)
        self.last_line = time.monotonic()

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            columns = (
                TextColumn("building {task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[histories]:,} histories"),
                TimeRemainingColumn(),
            )
            self.bar = ProgressBar(*columns, console=self.console, transient=True)
            self.task = self.bar.add_task(self.label, total=1.0, histories=0)
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def update(self, num_histories: int, fraction: float) -> None:
        """Shows how many histories there are and which share of the tree is done."""
        if self.bar is not None:
            self.bar.start()
            self.bar.update(self.task, completed=fraction, histories=num_histories)
        elif time.monotonic() - self.last_line >= SECONDS_BETWEEN_LINES:
            self.last_line = time.monotonic()
            self.console.print(f"building {self.label}: {num_histories:,} histories, {fraction:.0%}")


class ConsoleReporter(Reporter):
    """Says what a run says on a console."""

    def __init__(self, console: Console, *, is_confirmed: bool = False) -> None:
        """Begins; `is_confirmed`: every question is answered yes beforehand."""
        self.console = console
        self.is_confirmed = is_confirmed

    def confirm(self, question: str) -> bool:
        """Asks whoever sits at the terminal; where nobody does, the answer is no unless it was given beforehand."""
        if self.is_confirmed:
            return True
        if not (self.console.is_terminal and sys.stdin is not None and sys.stdin.isatty()) or self.console.quiet:
            return False
        return typer.confirm(question, err=True)

    def say(self, text: str) -> None:
        """Prints a line."""
        self.console.print(text)

    def warn(self, text: str) -> None:
        """Prints a line that stands out."""
        self.console.print(text, style="yellow")

    @contextlib.contextmanager
    def stage(self, title: str) -> Iterator[None]:
        """Says what is being done: with a clock that runs on a terminal, elsewhere in a line if it takes long."""
        if not self.console.is_terminal:
            timer = threading.Timer(SECONDS_OF_SILENCE, self.console.print, [f"{title} ..."])
            timer.daemon = True
            timer.start()
            try:
                yield
            finally:
                timer.cancel()
                timer.join()
            return
        began = time.monotonic()

        def render() -> Text:
            return Text(f"{title} ... {format_duration(time.monotonic() - began)}", style="dim")

        with Live(console=self.console, transient=True, refresh_per_second=8, get_renderable=render):
            yield

    @contextlib.contextmanager
    def task(self, title: str) -> Iterator[OnStep]:
        """Shows a bar for as long as it is entered."""
        with TaskDisplay(self.console, title) as display:
            yield display.update

    @contextlib.contextmanager
    def growth(self, label: str) -> Iterator[OnGrowth]:
        """Shows a tree growing for as long as it is entered."""
        with BuildDisplay(self.console, label) as display:
            yield display.update


class SolveDisplay:
    """Shows a run converging."""

    def __init__(
        self,
        console: Console,
        title: str,
        format_quality: Callable[[float | None], str] | None = None,
        format_value: Callable[[float], str] = format_utility,
    ) -> None:
        self.console = console
        self.title = title
        self.format_quality = format_quality or format_optional  # of an exploitability
        self.format_value = format_value  # of what the first player wins
        self.live: Live | None = None
        self.history: list[float] = []
        self.began = self.last_line = time.monotonic()
        self.stage = "first iteration"  # what is being done, while there is no figure that says so
        self.record: Progress | None = None

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self.live = Live(console=self.console, transient=True, refresh_per_second=8, get_renderable=self._render)
            self.live.start()
        return self

    def say_stopping(self) -> None:
        """Shows at once that the work was told to end."""
        self.stage = "stopping"
        if self.live is None:
            self.console.print("stopping ...", style="yellow")

    def say_saving(self) -> None:
        """Says at once that the work ends when it is saved, which was under way."""
        self.console.print("stopping once it is saved; Ctrl-C again leaves it unsaved ...", style="yellow")

    def __exit__(self, *error: object) -> None:
        if self.live is not None:
            self.live.stop()
            if self.stage == "stopping":  # it goes with the live figures, and saving and measuring are still to come
                self.console.print("stopping ...", style="yellow")

    def update(self, record: Progress) -> None:
        """Shows a record."""
        if record.evaluated_at is None:
            height = record.sampled.regret_bound if record.sampled is not None else record.exploitability
            self.history.append(height or 0.0)
        if self.stage != "stopping":
            self.stage = ""
        self.record = record
        if self.live is not None:
            self.live.refresh()
        elif time.monotonic() - self.last_line >= SECONDS_BETWEEN_LINES:
            self.last_line = time.monotonic()
            self.console.print(_line(self.title, record, self.format_quality))

    def _render(self) -> Group:
        """Returns what is shown now: the last figures, and what is being done if that is not plain."""
        shown: list[RenderableType] = [Text(self.title, style="bold")] if self.record is None else []
        if self.record is not None:
            shown.append(self._narrow_panel(self.record) if self.console.width < NARROW else self._panel(self.record))
        if self.stage:
            shown.append(Text(f"{self.stage} ... {format_duration(time.monotonic() - self.began)}", style="yellow"))
        return Group(*shown)

    def _narrow_panel(self, record: Progress) -> Group:
        """Returns the figures that matter most, one a line, the first of them first."""
        figures = record.sampled
        quality = self.format_quality(record.exploitability)
        if figures is not None:
            quality = format_optional(figures.regret_bound) + " (regret bound, sampled)"
        left = "" if record.seconds_left is None else f", {format_duration(record.seconds_left)} left"
        return Group(
            Text(quality, style="bold green"),
            Text(f"iteration {record.iteration:,}"),
            Text(f"{format_duration(record.seconds)}{left}"),
        )

    def _panel(self, record: Progress) -> Group:
        grid = Table.grid(padding=(0, 3))
        grid.add_column(style="dim")
        grid.add_column(justify="right", min_width=14)
        grid.add_column(style="dim")
        grid.add_column(justify="right", min_width=12)
        left = "-" if record.seconds_left is None else format_duration(record.seconds_left)
        figures = record.sampled
        if figures is None:
            quality = ("exploitability", Text(self.format_quality(record.exploitability), style="bold green"))
            value = ("value", "-" if record.game_value is None else self.format_value(record.game_value))
        else:
            quality = ("regret bound, sampled", Text(format_optional(figures.regret_bound), style="bold"))
            value = ("value against uniform, sampled", _first_estimate(figures))
        if record.evaluated_at is not None:
            quality = (f"{quality[0]} at {record.evaluated_at:,}", quality[1])
        grid.add_row("iteration", f"{record.iteration:,}", *quality)
        grid.add_row("rate", f"{_format_rate(record.iterations_per_second)} /s", *value)
        grid.add_row("elapsed", format_duration(record.seconds), "left", left)
        if figures is not None:
            grid.add_row("information states", f"{figures.num_infostates:,}", "", "")
        return Group(Text(self.title, style="bold"), grid, Text(sparkline(self.history), style="green"))


def explain_no_guarantee(game: Game[Any]) -> str:
    """Returns what an exploitability does not say of a game that is not one of two players in sum zero."""
    spec = game.spec
    what = f"{spec.num_players} players" if spec.num_players > 2 else "not of sum zero"
    return (
        f"{what}: exploitability is what a player gains by changing alone; nothing makes it go to 0, and seats of "
        "different solutions need not fit together"
    )


def _line(title: str, record: Progress, format_quality: Callable[[float | None], str]) -> str:
    left = "" if record.seconds_left is None else f", {format_duration(record.seconds_left)} left"
    at = "" if record.evaluated_at is None else f" at {record.evaluated_at:,}"
    quality = f"exploitability{at} {format_quality(record.exploitability)}"
    if record.sampled is not None:
        quality = (
            f"{record.sampled.num_infostates:,} information states, "
            f"player 0 against uniform {_first_estimate(record.sampled)} (sampled)"
        )
    return (
        f"{title}: iteration {record.iteration:,}, {quality}, "
        f"{_format_rate(record.iterations_per_second)} iterations/s, {format_duration(record.seconds)}{left}"
    )


def _format_rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def _first_estimate(figures: SampledFigures) -> str:
    return format_estimate(figures.values_against_uniform[0], figures.standard_errors[0])
