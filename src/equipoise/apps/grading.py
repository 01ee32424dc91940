# SPDX-License-Identifier: Apache-2.0
"""`equipoise evaluate --responses`: what a strategy earns against graded opponents, as a table and a picture."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt
import typer
from rich.console import Console, RenderableType

from equipoise.apps.exit_codes import ExitCode
from equipoise.apps.output import make_rows
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.errors import ConfigError
from equipoise.core.formatting import format_duration, format_small, format_utility
from equipoise.evaluation.plots import plot_bars
from equipoise.evaluation.response_table import GradedRow, grade_strategy
from equipoise.responses.forms import PlayForm, PlayTree
from equipoise.responses.notation import RESPONSES, ResponseSpec
from equipoise.responses.on_tree import OnTree

__all__ = ["Graded", "Grading", "grade"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """How responses are drawn and where they are drawn to."""

    num_responses: int  # of each response that samples
    seed: int
    plot: Path | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """What was measured, all of it or as much as an interruption left."""

    rows: tuple[GradedRow, ...]
    grading: Grading
    exit_code: int | None  # of the signal that cut it short

    def as_table(self) -> RenderableType:
        """Returns the rows for people."""
        rows = [
            (
                row.response,
                format_utility(row.value.mean),
                _format_width(row.value.half_width),
                *map(format_utility, row.seat_values),
                str(row.value.num_responses) + ("" if row.is_done else f" of {row.num_wanted}"),
                format_duration(row.seconds),
            )
            for row in self.rows
        ]
        heads = ("response", "earns", "± 95 %", "seat 0", "seat 1", "draws", "time")
        return make_rows(heads, rows, title="against responses, mean of both seats")

    def as_json(self) -> dict[str, Any]:
        """Returns the keys of a result."""
        return {
            "responses": [row.as_json() for row in self.rows],
            "responses_seed": self.grading.seed,
            "plot": None if self.grading.plot is None else str(self.grading.plot),
        }

    def end(self, console: Console) -> None:
        """Draws, and ends with the exit code of an interruption."""
        if self.grading.plot is not None and self.rows:
            bars = {
                row.response: (row.value.mean, row.value.half_width if math.isfinite(row.value.half_width) else 0.0)
                for row in self.rows
            }
            plot_bars(bars, self.grading.plot, title="Earned against responses", label="units of utility per game")
            console.print(f"picture in {self.grading.plot}")
        if self.exit_code is not None:
            console.print("interrupted: these are the responses so far", style="yellow")
            raise typer.Exit(self.exit_code)


def _format_width(half_width: float) -> str:
    """Returns how far an interval reaches, nothing where a single draw says nothing of it."""
    if not math.isfinite(half_width):
        return ""
    return format_small(half_width) if half_width else "exact"


def grade(
    tree: PlayTree | PlayForm,
    strategy: npt.NDArray[Any],
    specs: Sequence[ResponseSpec],
    grading: Grading,
    console: Console,
) -> Graded:
    """Returns what a strategy `[Q]` earns against each response; Ctrl-C keeps what was drawn so far."""
    for spec in specs:
        if RESPONSES[spec.name].is_for_training:
            raise ConfigError(f"response {spec.text} learns as it plays: it is for --against, not for evaluation")
    on_tree = OnTree(tree)
    responses = [spec.bind(on_tree.form) for spec in specs]
    rows: dict[int, GradedRow] = {}
    place = 0
    with SignalFlag() as flag, TaskDisplay(console, "responses") as display:
        for row in grade_strategy(
            on_tree,
            strategy,
            responses,
            num_responses=grading.num_responses,
            seed=grading.seed,
            is_interrupted=flag,
        ):
            rows[place] = row
            share = row.value.num_responses / row.num_wanted
            display.update((place + share) / len(responses), row.response)
            place += row.is_done
        is_cut = len(rows) < len(responses) or not all(row.is_done for row in rows.values())
    exit_code = (flag.exit_code or ExitCode.INTERRUPTED) if is_cut else None
    return Graded(rows=tuple(rows.values()), grading=grading, exit_code=exit_code)
