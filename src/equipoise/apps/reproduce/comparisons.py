# SPDX-License-Identifier: Apache-2.0
"""Statements about two curves, as limits on the ratio of their values, and the verdicts on them."""

from __future__ import annotations

import dataclasses
import enum
import math
import statistics
from collections.abc import Sequence

from equipoise.apps.reproduce.study import Claim, Measured, Verdict

__all__ = ["Comparison", "Marks", "compare"]


class Marks(enum.StrEnum):
    """Where the ratio of two curves is tested."""

    EVERY = "at every mark"
    PRACTICAL = "at the marks from 100 to 1,000"  # the window that Brown & Sandholm 2019 call practical
    LAST = "at the last mark"

    def choose(self, marks: Sequence[int]) -> Sequence[int]:
        """Returns those of the marks that a run reached at which the test is made."""
        if self is Marks.LAST:
            return marks[-1:]
        return marks if self is Marks.EVERY else [mark for mark in marks if 100 <= mark <= 1000]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A statement of the text about two curves, as limits on the ratio of their exploitabilities."""

    statement: str
    above: str
    below: str
    source: str
    least: float = 0.0
    most: float = math.inf
    test: Marks = Marks.EVERY
    horizon: int = 0  # a run that ends before says nothing

    @property
    def criterion(self) -> str:
        """Returns the limits in words."""
        if self.least == 0.0:
            return f"ratio at most {self.most:.2g} {self.test}"
        if self.most == math.inf:
            return f"ratio at least {self.least:.2g} {self.test}"
        return f"ratio from {self.least:.2g} to {self.most:.2g} {self.test}"


def compare(comparison: Comparison, panel: str, measured: Measured, marks: Sequence[int]) -> Claim:
    """Returns the verdict on a statement about two curves: confirmed or denied only if all runs agree.

    Args:
        comparison: the statement and its test.
        panel: whose curves are compared.
        measured: all points.
        marks: those that the run was to reach, in order.
    """
    at = comparison.test.choose(marks)
    ratios = {mark: measured.run_ratios(panel, comparison.above, comparison.below, mark) for mark in at}
    listed = ", ".join(f"{_format_runs(runs)} at {mark:,}" for mark, runs in ratios.items() if runs)
    is_long_enough = bool(marks) and marks[-1] >= comparison.horizon
    return Claim(
        statement=f"{comparison.statement} ({comparison.criterion})",
        source=comparison.source,
        verdict=_judge_runs(comparison, list(ratios.values())) if is_long_enough else Verdict.NOT_MEASURED,
        ours=f"{comparison.above} / {comparison.below}: {listed or 'nothing'}",
    )


def _format_runs(runs: list[float]) -> str:
    middle = f"{statistics.median(runs):.2f}"
    return middle if len(runs) == 1 else f"{middle} ({runs[0]:.2f} to {runs[-1]:.2f})"


def _judge_runs(comparison: Comparison, ratios: list[list[float]]) -> Verdict:
    """Returns the verdict on ratios by mark and run: a mark at which every run fails denies the statement."""
    if not ratios or not all(ratios):
        return Verdict.NOT_MEASURED
    passed = [[comparison.least <= ratio <= comparison.most for ratio in runs] for runs in ratios]
    if all(all(runs) for runs in passed):
        return Verdict.CONFIRMED
    return Verdict.UNDECIDED if all(any(runs) for runs in passed) else Verdict.DENIED
