# SPDX-License-Identifier: Apache-2.0
"""One bar for work whose share done is known: benchmarks and studies. Everything goes to the error stream."""

from __future__ import annotations

import time
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from equipoise.core.formatting import format_duration

__all__ = ["TaskDisplay"]

SECONDS_BETWEEN_LINES = 5.0  # where the output is not a terminal
NARROW = 72  # columns below which there is room for figures alone: they are not to be cut
MIN_FRACTION = 0.005  # below it the time left is not foreseen


class TaskDisplay:
    """Shows what is being done, which share of the whole is done, and the time left."""

    def __init__(self, console: Console, title: str) -> None:
        self.console = console
        self.title = title
        self.began = time.monotonic()
        self.last_line = self.began
        is_narrow = console.width < NARROW
        columns = (
            *(() if is_narrow else (TextColumn("[bold]{task.description}"), BarColumn())),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[left]}"),
            TextColumn("[dim]{task.fields[step]}"),
        )
        self.bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.task = self.bar.add_task(title, total=1.0, left="", step="")

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def update(self, fraction: float, step: str, seconds_left: float | None = None) -> None:
        """Shows which share is done and what comes now; the time left is reckoned from the share unless it is known."""
        now = time.monotonic()
        if seconds_left is None and fraction >= MIN_FRACTION:
            seconds_left = (now - self.began) * (1 - fraction) / fraction
        left = "" if seconds_left is None else f"{format_duration(seconds_left)} left"
        self.bar.update(self.task, completed=fraction, left=left, step=step)
        if not self.console.is_terminal and now - self.last_line >= SECONDS_BETWEEN_LINES:
            self.last_line = now
            self.console.print(f"{self.title}: {fraction:.0%}{', ' + left if left else ''}, {step}")
