# SPDX-License-Identifier: Apache-2.0
"""Statements about two curves, as limits on the ratio of their values, and the verdicts on them."""

from __future__ import annotations

import dataclasses
import enum
import math
import statistics
from collections.abc import Sequence

from equipoise.studies.study import Claim, Measured, Verdict

__all__ = ["Comparison", "Marks", "compare", "compare_along", "compare_means"]

MOST_OF = 0.75  # of a curve's points
NUM_ERRORS = 2.0  # standard errors beyond which a mean of sampled runs is told from a limit


class Marks(enum.StrEnum):
    """Where the ratio of two curves is tested."""

    EVERY = "at every mark"
    PRACTICAL = "at the marks from 100 to 1,000"  # the window that Brown & Sandholm 2019 call practical
    LAST = "at the last mark"
    ALONG = "along the curve"

    def choose(self, marks: Sequence[int]) -> Sequence[int]:
        """Returns those of the marks that a run reached at which the test is made."""
        if self is Marks.LAST:
            return marks[-1:]
        return marks if self in (Marks.EVERY, Marks.ALONG) else [mark for mark in marks if 100 <= mark <= 1000]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A statement of the text about two curves, as limits on the ratio of their exploitabilities.

    >>> Comparison(statement="b is ahead", above="a", below="b", source="Figure 1", least=1.0).criterion
    'ratio at least 1 at every mark'
    """

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

    >>> from equipoise.studies import Measured, Point
    >>> measured = Measured()
    >>> for curve, y in (("cfr", 0.2), ("cfr+", 0.1)):
    ...     measured.add(Point(panel="kuhn", curve=curve, x=100, y=y))
    >>> claim = Comparison(statement="CFR+ is ahead", above="cfr", below="cfr+", source="Figure 1", least=1.0)
    >>> compare(claim, "kuhn", measured, [100]).verdict.value
    'confirmed'
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


def compare_along(comparison: Comparison, panel: str, measured: Measured, *, start: int) -> Claim:
    """Returns the verdict on a statement about two curves by all points that both have from a start on.

    Points are as far apart as the study measures them, evenly on a logarithmic axis: one mark, where curves may just
    cross, decides nothing. Confirmed is what holds at three quarters of them, denied what holds at a quarter or less.

    >>> from equipoise.studies import Measured, Point
    >>> measured = Measured()
    >>> for x, y in ((100, 0.2), (200, 0.15), (300, 0.1)):
    ...     measured.add(Point(panel="kuhn", curve="cfr", x=x, y=y))
    ...     measured.add(Point(panel="kuhn", curve="cfr+", x=x, y=0.12))
    >>> claim = Comparison(statement="CFR+ is ahead", above="cfr", below="cfr+", source="Figure 1", least=1.0)
    >>> compare_along(claim, "kuhn", measured, start=100).verdict.value
    'undecided'
    """
    xs = [x for x, _ in measured.panels().get(panel, {}).get(comparison.below, []) if x >= start]
    ratios = {x: measured.ratio(panel, comparison.above, comparison.below, x) for x in xs}
    at = [x for x, ratio in ratios.items() if ratio is not None]
    found = [ratio for ratio in ratios.values() if ratio is not None]
    num_held = sum(comparison.least <= ratio <= comparison.most for ratio in found)
    if not found:
        verdict = Verdict.NOT_MEASURED
    elif num_held >= MOST_OF * len(found):
        verdict = Verdict.CONFIRMED
    else:
        verdict = Verdict.DENIED if num_held <= (1 - MOST_OF) * len(found) else Verdict.UNDECIDED
    ours = "nothing"
    if found:
        ours = (
            f"median {statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f}); holds at {num_held} of "
            f"{len(found)} points from {at[0]:,} to {at[-1]:,}"
        )
    criterion = dataclasses.replace(comparison, test=Marks.ALONG).criterion
    return Claim(
        statement=f"{comparison.statement} ({criterion})",
        source=comparison.source,
        verdict=verdict,
        ours=f"{comparison.above} / {comparison.below}: {ours}",
    )


def compare_means(comparison: Comparison, panel: str, measured: Measured, marks: Sequence[int]) -> Claim:
    """Returns the verdict on a statement about two curves of sampled runs, by their means and standard errors.

    Runs of two curves have nothing in common, so ratios are those of geometric means over runs. A ratio whose interval
    of two standard errors either way crosses a limit leaves the statement undecided at its mark.

    >>> from equipoise.studies import Measured, Point
    >>> measured = Measured()
    >>> for run, (first, second) in enumerate([(0.2, 0.1), (0.3, 0.1)]):
    ...     measured.add(Point(panel="kuhn", curve="cfr", x=100, y=first, run=run))
    ...     measured.add(Point(panel="kuhn", curve="cfr+", x=100, y=second, run=run))
    >>> claim = Comparison(statement="CFR+ is ahead", above="cfr", below="cfr+", source="Figure 1", least=1.0)
    >>> compare_means(claim, "kuhn", measured, [100]).verdict.value
    'confirmed'
    """
    estimates = {mark: _estimate(comparison, panel, measured, mark) for mark in comparison.test.choose(marks)}
    known = {mark: estimate for mark, estimate in estimates.items() if estimate is not None}
    listed = ", ".join(f"{low:.2f} to {high:.2f} at {mark:,}" for mark, (low, high) in known.items())
    limits = comparison.least, comparison.most
    if not estimates or len(known) < len(estimates):
        verdict = Verdict.NOT_MEASURED
    elif any(high < limits[0] or low > limits[1] for low, high in known.values()):
        verdict = Verdict.DENIED
    else:
        is_inside = all(limits[0] <= low and high <= limits[1] for low, high in known.values())
        verdict = Verdict.CONFIRMED if is_inside else Verdict.UNDECIDED
    return Claim(
        statement=f"{comparison.statement} ({comparison.criterion})",
        source=comparison.source,
        verdict=verdict,
        ours=f"{comparison.above} / {comparison.below}: {listed or 'nothing'}",
    )


def _estimate(comparison: Comparison, panel: str, measured: Measured, mark: int) -> tuple[float, float] | None:
    """Returns the interval in which the ratio of two curves lies, None unless each has two runs."""
    logs = [
        [math.log(value) for value in measured.runs(panel, curve, mark) if value > 0]
        for curve in (comparison.above, comparison.below)
    ]
    if min(map(len, logs)) < 2:
        return None
    middle = statistics.fmean(logs[0]) - statistics.fmean(logs[1])
    error = math.sqrt(sum(statistics.variance(values) / len(values) for values in logs))
    return math.exp(middle - NUM_ERRORS * error), math.exp(middle + NUM_ERRORS * error)


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
