# SPDX-License-Identifier: Apache-2.0
"""Study `regret-transfer`: the thesis's Figure 4.5, Leduc after its bets have changed, cards drawn and all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from equipoise.solvers.parametric import ParametricSolver, increase_weight
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.trees.parametric import build_parametric_tree, group_by_chance

__all__ = ["REGRET_TRANSFER", "TransferConfiguration"]

DRAWN, WHOLE = "cards drawn", "all cards"  # panels
SCRATCH, UNSCALED = "from scratch", "w = 1"
BEFORE, AFTER = (2.0, 4.0), (2.1, 4.1)
AVERAGE_PAYOFF: Final = 5.0
PRINTED_WEIGHT: Final = 0.125
FACTS: Final = "facts"  # a panel that is not drawn: weights by what they follow from
LARGEST_INCREASE, BY_PAYOFF, BY_POTENTIALS = "largest increase", "w by (4.52), U = 5", "w by potentials"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TransferConfiguration:
    """How long both games are played, and how often."""

    iterations_before: int = 100_000
    marks: tuple[int, ...] = (100, 1000, 10_000, 31_600, 100_000, 316_000)
    weights: tuple[float, ...] = (1.0, PRINTED_WEIGHT, 0.02)
    runs: int = 3
    seed: int = 0


def measure_regret_transfer(configuration: TransferConfiguration) -> Iterator[Step]:
    """Yields average exploitability after the change, from scratch and with what was done before weighted."""
    tree = build_parametric_tree("leduc(merge_suits=true)", ["raise_sizes"])
    groups = group_by_chance(tree.tree)
    seeds = np.random.SeedSequence(configuration.seed).spawn(configuration.runs)
    total, done = (1 + configuration.runs) * (1 + len(configuration.weights)), 0
    for run in range(-1, configuration.runs):
        panel = WHOLE if run < 0 else DRAWN
        rng = None if run < 0 else np.random.default_rng(seeds[run])
        learnt = ParametricSolver(tree, BEFORE, rng=rng, groups=groups)
        learnt.iterate(configuration.iterations_before)
        yield Step(fraction=done / total, text=f"{panel}, run {max(run, 0) + 1}", points=_find_facts(learnt, run))
        for weight in (None, *configuration.weights):
            solver = ParametricSolver(tree, AFTER, rng=rng, groups=groups)
            if weight is not None:
                _take_over(solver, learnt, weight)
            name = SCRATCH if weight is None else _name_weight(weight)
            points = tuple(_follow(solver, configuration, panel, name, max(run, 0)))
            done += 1
            yield Step(fraction=done / total, text=f"{panel}: {name}", points=points)


def _take_over(solver: ParametricSolver, learnt: ParametricSolver, weight: float) -> None:
    """Gives a run what another has learnt, weighted; the other one stays as it is."""
    solver.tables.regret_sum[...] = learnt.tables.regret_sum
    solver.tables.strategy_sum[...] = learnt.tables.strategy_sum
    solver.iterations = learnt.iterations
    solver.discount(weight)
    solver.move(AFTER)


def _follow(
    solver: ParametricSolver, configuration: TransferConfiguration, panel: str, name: str, run: int
) -> Iterator[Point]:
    done = 0
    for mark in configuration.marks:
        solver.iterate(mark - done)
        done = mark
        yield Point(panel=panel, curve=name, x=mark, y=solver.evaluate().exploitability, run=run)


def _find_facts(learnt: ParametricSolver, run: int) -> tuple[Point, ...]:
    increase = learnt.increase_at(AFTER)
    weight = increase_weight(
        increase, num_actions=learnt.num_actions, iterations=learnt.iterations, payoff=AVERAGE_PAYOFF
    )
    ratio = _find_ratio(learnt)
    curve = WHOLE if run < 0 else DRAWN
    facts = {LARGEST_INCREASE: increase, BY_PAYOFF: weight, BY_POTENTIALS: ratio}
    return tuple(
        Point(panel=f"{FACTS}: {name}", curve=curve, x=1, y=value, run=max(run, 0)) for name, value in facts.items()
    )


def _find_ratio(learnt: ParametricSolver) -> float:
    old, new = (np.sum(np.maximum(learnt.regrets(point), 0.0) ** 2) for point in (BEFORE, AFTER))
    return float(min(1.0, old / new)) if new > 0 else 1.0


def _name_weight(weight: float) -> str:
    return f"w = {weight:g}"


def conclude_regret_transfer(configuration: TransferConfiguration, measured: Measured) -> Conclusion:
    """Returns exploitability by iterations after the change, and verdicts on what the figure's text says."""
    names = [SCRATCH, *map(_name_weight, configuration.weights)]
    rows = [
        {"cards": panel, "iterations": mark, **{name: _round(measured.at(panel, name, mark)) for name in names}}
        for panel in (DRAWN, WHOLE)
        for mark in configuration.marks
    ]
    first, last = configuration.marks[0], configuration.marks[-1]
    printed = _name_weight(PRINTED_WEIGHT)
    claims = (
        _compare(
            measured,
            (DRAWN, SCRATCH, first),
            (DRAWN, printed, first),
            10.0,
            f"what was learnt is ten times ahead {first:,} iterations after the change",
        ),
        _compare(
            measured,
            (DRAWN, printed, last),
            (DRAWN, SCRATCH, last),
            1 / 1.2,
            f"no long-term harm: {printed} is at most 1.2 times from scratch after {last:,}",
        ),
        _compare(
            measured,
            (WHOLE, UNSCALED, last),
            (WHOLE, SCRATCH, last),
            1.0,
            "without scaling it is detrimental in the long run (all cards)",
        ),
        _compare(
            measured,
            (WHOLE, UNSCALED, last),
            (WHOLE, printed, last),
            1.0,
            f"{printed} is better than no scaling in the long run (all cards)",
        ),
        _judge_weight(measured),
    )
    notes = (
        "The thesis's 20 runs with intervals are of sampled CFR: here cards are drawn, one deal an update, and medians "
        f"of {configuration.runs} runs are shown; its vanilla form is the second panel, where what was learnt is so "
        "exact that the distance of the two games' equilibria is all that is left of it.",
        f"{configuration.iterations_before:,} iterations before the change (the thesis: 1,000,000).",
        *_describe_facts(measured),
    )
    return Conclusion(rows=tuple(rows), claims=claims, notes=notes)


def _compare(
    measured: Measured, above: tuple[str, str, int], below: tuple[str, str, int], factor: float, statement: str
) -> Claim:
    high, low = measured.at(*above), measured.at(*below)
    is_true = None if high is None or low is None else bool(high >= low * factor)
    if factor < 1:  # the first is to be small, not large
        is_true = None if high is None or low is None else bool(high * factor <= low)
    ours = "nothing" if high is None or low is None else f"{above[1]}: {high:.3g}, {below[1]}: {low:.3g}"
    return Claim(statement=statement, source="Fig. 4.5", verdict=judge(is_true), ours=ours)


def _judge_weight(measured: Measured) -> Claim:
    found = measured.at(f"{FACTS}: {BY_PAYOFF}", DRAWN, 1)
    return Claim(
        statement="the rule with the average payoff gives w = 0.125 (after 1,000,000 iterations; U = 5 here)",
        source="section 4.2.4",
        verdict=judge(None if found is None else 0.1 <= found <= 0.5),
        ours="nothing" if found is None else f"{found:.3f}",
    )


def _describe_facts(measured: Measured) -> Iterator[str]:
    for name in (LARGEST_INCREASE, BY_PAYOFF, BY_POTENTIALS):
        values = {curve: measured.at(f"{FACTS}: {name}", curve, 1) for curve in (DRAWN, WHOLE)}
        if all(value is not None for value in values.values()):
            yield f"{name}: " + ", ".join(f"{value:.4g} ({curve})" for curve, value in values.items())


def _round(value: float | None) -> Any:
    return None if value is None else float(f"{value:.4g}")


REGRET_TRANSFER: Final = Study(
    name="regret-transfer",
    title="Leduc after its bets have changed from 2 and 4 to 2.1 and 4.1",
    source="Brown 2020, thesis section 4.2.4, Fig. 4.5",
    x_label="iterations after the change",
    y_label="average exploitability, chips",
    sizes={
        Size.QUICK: TransferConfiguration(),
        Size.FULL: TransferConfiguration(
            iterations_before=1_000_000,
            marks=(100, 1000, 10_000, 31_600, 100_000, 316_000, 1_000_000, 3_160_000),
            runs=20,
        ),
    },
    measure=measure_regret_transfer,
    conclude=conclude_regret_transfer,
    panels=(DRAWN, WHOLE),
)
