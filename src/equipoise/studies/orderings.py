# SPDX-License-Identifier: Apache-2.0
"""Statements that one method is better than another over many blueprints, by a sign test."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Sequence

from equipoise.studies.study import Claim, Measured, Verdict

__all__ = ["Ordering", "judge_ordering", "judge_ratios", "sign_test"]

SIGNIFICANCE = 0.05
SAME = 1e-3  # relative difference below which two values count as equal


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ordering:
    """One curve is above another.

    >>> Ordering(above="unsafe", below="maxmargin", source="Table 1").text
    'unsafe > maxmargin'
    """

    above: str
    below: str
    source: str
    statement: str = ""

    @property
    def text(self) -> str:
        """Returns the statement in words."""
        return self.statement or f"{self.above} > {self.below}"


def sign_test(wins: int, losses: int) -> float:
    """Returns the probability of as many wins or more if each were a fair coin.

    >>> sign_test(5, 0)
    0.03125
    """
    total = wins + losses
    return float(sum(math.comb(total, count) for count in range(wins, total + 1)) / 2**total)


def judge_ordering(
    ordering: Ordering,
    measured: Measured,
    *,
    panel_names: Collection[str] | None = None,
    what: str = "blueprints",
) -> Claim:
    """Returns the verdict on an ordering from all panels, marks and runs that have both curves.

    Args:
        ordering: what is to be judged.
        measured: the points.
        panel_names: only these panels; all if None.
        what: is counted, one for each run at each mark.

    >>> from equipoise.studies import Measured, Point
    >>> measured = Measured()
    >>> for number in range(6):
    ...     measured.add(Point(panel=f"game {number}", curve="unsafe", x=0, y=2.0))
    ...     measured.add(Point(panel=f"game {number}", curve="maxmargin", x=0, y=1.0))
    >>> judge_ordering(Ordering(above="unsafe", below="maxmargin", source="Table 1"), measured).verdict.value
    'confirmed'
    """
    ratios: list[float] = []
    for panel, curves in measured.panels().items():
        if panel_names is not None and panel not in panel_names:
            continue
        for x, _ in curves.get(ordering.below, []):
            ratios += measured.run_ratios(panel, ordering.above, ordering.below, x)
    return judge_ratios(ordering, ratios, what=what)


def judge_ratios(ordering: Ordering, ratios: Sequence[float], *, what: str = "blueprints") -> Claim:
    """Returns the verdict on an ordering from how many times larger the upper one is, once for each of `what`."""
    wins = sum(ratio > 1 + SAME for ratio in ratios)
    losses = sum(ratio < 1 - SAME for ratio in ratios)
    if not ratios:
        verdict = Verdict.NOT_MEASURED
    elif sign_test(wins, losses) < SIGNIFICANCE:
        verdict = Verdict.CONFIRMED
    elif losses >= wins and (losses == wins == 0 or sign_test(losses, wins) < SIGNIFICANCE):
        verdict = Verdict.DENIED
    else:
        verdict = Verdict.UNDECIDED
    ours = "nothing"
    if ratios:
        middle = sorted(ratios)[len(ratios) // 2]
        ours = (
            f"{wins} of {len(ratios)} {what}, {len(ratios) - wins - losses} equal; median ratio {middle:.3g}; "
            f"p = {sign_test(wins, losses):.2g}"
        )
    return Claim(
        statement=f"{ordering.text} (sign test at {SIGNIFICANCE:g})",
        source=ordering.source,
        verdict=verdict,
        ours=ours,
    )
