# SPDX-License-Identifier: Apache-2.0
"""How far work is, for whoever asks for it in Python: a bar on a terminal, a picture in a notebook, lines elsewhere.

Only `progress=True` makes one; it writes to the error stream. The command line has displays of its own.
"""

from __future__ import annotations

import contextlib
import importlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Self, TextIO

from equipoise.core.formatting import format_duration, format_optional
from equipoise.core.markup import html_facts, join_html, svg_bar, svg_curve
from equipoise.core.progress import Progress
from equipoise.core.reporting import OnGrowth, OnStep, Reporter

__all__ = ["DisplayReporter", "ProgressDisplay", "curve_of", "describe_record"]

SECONDS_BETWEEN_LINES: Final = 5.0  # where there is neither a terminal nor a notebook
SECONDS_BETWEEN_PICTURES: Final = 0.2
BAR_LETTERS: Final = 20
LEAST_SHARE: Final = 0.005  # below it the time left is not foreseen
CLEAR: Final = "\r\x1b[2K"  # what stands in a terminal's line


class ProgressDisplay:
    """Shows how far some work is, for as long as it is entered."""

    def __init__(self, title: str, *, stream: TextIO | None = None) -> None:
        self.title, self._stream = title, stream or sys.stderr
        self._show_html = None if stream is not None else _find_notebook()
        self._is_terminal = self._show_html is None and self._stream is not None and self._stream.isatty()
        self._began = self._last = time.monotonic()
        self._shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._is_terminal and self._shown:
            self._write(f"{CLEAR}{self._shown}\n")

    def update(self, share: float | None, text: str, *, picture: str = "", is_last: bool = False) -> None:
        """Shows which share is done, None if that is not known, and what there is to say.

        Args:
            share: 0 to 1.
            text: what there is to say.
            picture: HTML for notebooks.
            is_last: whether nothing follows, so that it must be shown.
        """
        now = time.monotonic()
        self._shown = f"{self.title}: {text}"
        if self._show_html is not None:
            if is_last or now - self._last >= SECONDS_BETWEEN_PICTURES:
                self._last = now
                told = html_facts(self.title, {"now": text, "left": self._tell_left(share)})
                self._show_html(join_html(told, "" if share is None else svg_bar(share), picture))
        elif self._is_terminal:
            bar = "" if share is None else f"{_bar(share)} {share:4.0%} "
            width = shutil.get_terminal_size().columns - 1
            self._write(CLEAR + f"{bar}{self._shown}"[:width])
        elif now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            self._write(f"{self._shown}{'' if share is None else f', {share:.0%}'}\n")

    def update_run(
        self,
        record: Progress,
        records: Sequence[Progress],
        format_quality: Callable[[Any], str],
        *,
        is_last: bool = False,
    ) -> None:
        """Shows the record of a run: how far it is by the time that it foresees, and its curve."""
        total = None if record.seconds_left is None else record.seconds + record.seconds_left
        share = None if not total else min(1.0, record.seconds / total)
        self.update(share, describe_record(record, format_quality), picture=curve_of(records), is_last=is_last)

    def _tell_left(self, share: float | None) -> str | None:
        if share is None or not LEAST_SHARE <= share < 1:
            return None
        return format_duration((time.monotonic() - self._began) * (1 - share) / share)

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # a terminal that was closed is no reason to end the work
            self._stream.write(text)
            self._stream.flush()


class DisplayReporter(Reporter):
    """Shows on a display what preparing a run says of its share done; warnings stay on it until the next line."""

    def __init__(self, display: ProgressDisplay) -> None:
        self.display = display

    def warn(self, text: str) -> None:
        """Shows a line that deserves attention."""
        self.display.update(None, text, is_last=True)

    @contextlib.contextmanager
    def task(self, title: str) -> Iterator[OnStep]:
        """Gives what shows how far a piece of work is."""
        yield lambda share, step: self.display.update(share, f"{title}, {step}")

    @contextlib.contextmanager
    def growth(self, label: str) -> Iterator[OnGrowth]:
        """Gives what shows how far a tree has grown."""
        yield lambda count, share: self.display.update(share, f"building {label}, {count:,} histories")


def describe_record(record: Progress, format_quality: Callable[[Any], str] = format_optional) -> str:
    """Returns a record in a line."""
    left = "" if not record.seconds_left else f", {format_duration(record.seconds_left)} left"
    quality = f"exploitability {format_quality(record.exploitability)}"
    if record.sampled is not None:
        quality = f"regret bound, sampled, {format_optional(record.sampled.regret_bound)}"
    return f"iteration {record.iteration:,}, {quality}, {format_duration(record.seconds)}{left}"


def curve_of(records: Sequence[Progress]) -> str:
    """Returns how a run converged, as a small picture; empty where there is no curve."""
    points = [(float(record.iteration), record.exploitability or 0.0) for record in records]
    return svg_curve(points, x="iterations", y="exploitability")


def _bar(share: float) -> str:
    done = round(BAR_LETTERS * min(max(share, 0.0), 1.0))
    return "█" * done + "░" * (BAR_LETTERS - done)


def _find_notebook() -> Callable[[str], None] | None:
    """Returns what shows HTML in the cell of a notebook, over and over in the same place; None outside notebooks."""
    if "IPython" not in sys.modules:
        return None
    shell = sys.modules["IPython"].get_ipython()
    if shell is None or not hasattr(shell, "kernel"):  # a terminal's shell has none
        return None
    cells = importlib.import_module("IPython.display")
    handle = cells.display(cells.HTML(""), display_id=True)

    def show(text: str) -> None:
        handle.update(cells.HTML(text))

    return show
