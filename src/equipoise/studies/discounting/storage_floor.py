# SPDX-License-Identifier: Apache-2.0
"""Study `storage-floor`: how far a hold'em spot can be solved in tables of 64, 32 and 16 bits."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.core.machine import num_usable_cores
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import DCFR
from equipoise.studies.curves import EvaluatedSolver, Panel, measure_curves
from equipoise.studies.endgames import require_endgames
from equipoise.studies.study import Claim, Conclusion, Measured, Size, Step, Study, Verdict
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree

__all__ = ["STORAGE_FLOOR", "StorageConfiguration"]

SOURCE: Final = "this project: no paper states it"
PRECISIONS: Final = ("float64", "float32", "int16")
MARKS: Final = (100, 316, 1000, 3162, 10_000, 31_623, 100_000)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StorageConfiguration:
    """What is solved and for how long."""

    data: str = ""  # the directory of the endgames
    subgames: tuple[str, ...] = ("subgame3", "subgame4")
    iterations: int = 100_000
    threads: int = 0  # 0: one per core

    def __post_init__(self) -> None:
        if self.iterations < MARKS[0]:
            raise ConfigError(f"iterations must be at least {MARKS[0]}, got {self.iterations}")
        if self.threads < 0:
            raise ConfigError(f"threads must be at least 0, got {self.threads}")

    @property
    def marks(self) -> tuple[int, ...]:
        """Returns the marks within a run."""
        return tuple(mark for mark in MARKS if mark <= self.iterations)


def measure(configuration: StorageConfiguration) -> Iterator[Step]:
    """Yields the curves of DCFR in every precision, in mbb/g."""
    spots = require_endgames("storage-floor", configuration.data, configuration.subgames)
    threads = configuration.threads or num_usable_cores()
    panels = []
    for name, spot in spots.items():
        tree = build_holdem_tree(spot)
        panels.append(Panel(name, tree, configuration.iterations, tree.arrays.num_cells, scale=1000 / spot.big_blind))
    yield from measure_curves(panels, {precision: _maker(precision, threads) for precision in PRECISIONS}, marks=MARKS)


def _maker(precision: str, num_threads: int) -> Callable[[HoldemTree], EvaluatedSolver]:
    return lambda tree: CFRSolver(tree, DCFR(), dtype=precision, num_threads=num_threads)


def conclude(configuration: StorageConfiguration, measured: Measured) -> Conclusion:
    """Returns the table at the marks, and the lowest exploitability that each precision reached."""
    rows = tuple(
        {
            "subgame": subgame,
            "precision": precision,
            "iterations": mark,
            "ours": measured.at(subgame, precision, mark),
            "paper": None,
        }
        for subgame in configuration.subgames
        for precision in PRECISIONS
        for mark in configuration.marks
    )
    notes = (
        "DCFR, alternating updates, exploitability in mbb/g (nash_conv / 2) of the average as it is stored.",
        "A floor is where a curve stops falling while float64's goes on.",
    )
    return Conclusion(rows=rows, claims=tuple(_claims(configuration, measured)), notes=notes)


def _claims(configuration: StorageConfiguration, measured: Measured) -> Iterator[Claim]:
    panels = measured.panels()
    for subgame in configuration.subgames:
        lowest = [
            f"{precision} {min(y for _, y in points):.3g}"
            for precision, points in panels.get(subgame, {}).items()
            if points
        ]
        yield Claim(
            statement=f"{subgame}: the lowest exploitability that tables of each precision reached",
            source=SOURCE,
            verdict=Verdict.NOT_STATED,
            ours=", ".join(lowest) or "nothing",
        )


STORAGE_FLOOR: Final = Study(
    name="storage-floor",
    title="How far DCFR takes two river endgames in tables of 64, 32 and 16 bits",
    source=SOURCE,
    x_label="iterations",
    y_label="exploitability (mbb/g)",
    sizes={Size.QUICK: StorageConfiguration(iterations=10_000), Size.FULL: StorageConfiguration()},
    measure=measure,
    conclude=conclude,
    data="the Libratus endgames",
)
