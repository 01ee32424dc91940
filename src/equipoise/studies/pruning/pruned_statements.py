# SPDX-License-Identifier: Apache-2.0
"""What the thesis states about pruned curves, as limits on ratios of two of them, and the verdicts on it."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Iterator, Sequence

from equipoise.studies.pruning.pruned_curves import (
    AT_ITERATIONS,
    AT_NODES,
    AT_WALKED,
    BYTES,
    COST,
    REGRETS,
    UPDATES,
    PrunedConfiguration,
    final_speedup,
    last_point,
    panel_name,
)
from equipoise.studies.study import Claim, Measured, judge

__all__ = ["Quantity", "Statement", "judge_statements", "measure_quantity"]


class Quantity(enum.StrEnum):
    """What is compared of two curves: how many times larger it is for the first than for the second."""

    NODES = "nodes to the lowest exploitability that both reach"
    WALKED = "nodes of walks alone to the lowest exploitability that both reach"
    ITERATIONS = "iterations to the lowest exploitability that both reach"
    COST = "nodes per iteration at the end"
    LEVEL = "exploitability after the same iterations"
    BYTES = "bytes in use at the end"
    REGRETS = "share of regrets followed at the end"


PANELS = {
    Quantity.NODES: AT_NODES,
    Quantity.WALKED: AT_WALKED,
    Quantity.ITERATIONS: AT_ITERATIONS,
    Quantity.COST: COST,
    Quantity.LEVEL: AT_ITERATIONS,
    Quantity.BYTES: BYTES,
    Quantity.REGRETS: REGRETS,
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement about two curves of a game, with limits on their ratio; words made numbers are ours."""

    text: str
    source: str
    game: str
    quantity: Quantity
    above: str
    below: str = ""  # none: of memory, the share of what there was at first
    least: float = 0.0
    most: float = math.inf
    updates: tuple[str, ...] = UPDATES  # under which it is judged
    least_iterations: int = 0  # of a run that says something

    @property
    def criterion(self) -> str:
        """Returns the test in words."""
        pair = f"{self.above} / {self.below}" if self.below else self.above
        limits = [f"at least {self.least:.3g}"] if self.least else []
        limits += [f"at most {self.most:.3g}"] if self.most < math.inf else []
        return f"{self.quantity}, {pair}: {' and '.join(limits)}"


def measure_quantity(
    measured: Measured, game: str, updates: str, quantity: Quantity, above: str, below: str
) -> float | None:
    """Returns how many times larger a quantity is for one curve than for another, None where either is missing."""
    panel = panel_name(game, updates, PANELS[quantity])
    if quantity in (Quantity.NODES, Quantity.WALKED, Quantity.ITERATIONS):
        return final_speedup(measured, panel, above, below)
    numerator = last_point(measured, panel, above)
    denominator = last_point(measured, panel, below) if below else (0, 1.0)
    if numerator is None or denominator is None or (below and numerator[0] != denominator[0]):
        return None
    return numerator[1] / denominator[1]


def judge_statements(
    statements: Sequence[Statement], configuration: PrunedConfiguration, measured: Measured
) -> Iterator[Claim]:
    """Yields the verdict on every statement under each kind of updates, as the thesis does not say which it used."""
    for statement in statements:
        if statement.game not in configuration.horizons:
            continue
        for updates in (kind for kind in configuration.updates if kind in statement.updates):
            ratio = measure_quantity(
                measured, statement.game, updates, statement.quantity, statement.above, statement.below
            )
            end = last_point(measured, panel_name(statement.game, updates, AT_ITERATIONS), statement.above)
            is_short = statement.least_iterations > 0 and (end is None or end[0] < statement.least_iterations)
            after = f" after {end[0]:,} iterations" if end is not None and statement.least_iterations else ""
            yield Claim(
                statement=f"{statement.game}: {statement.text} ({statement.criterion}; {updates} updates)",
                source=statement.source,
                verdict=judge(None if ratio is None or is_short else statement.least <= ratio <= statement.most),
                ours="nothing" if ratio is None else f"{ratio:.3g}{after}",
            )
