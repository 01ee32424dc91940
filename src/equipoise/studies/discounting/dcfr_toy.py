# SPDX-License-Identifier: Apache-2.0
"""Study `dcfr-toy`: how long one terrible action of the first iteration is remembered."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import numpy as np

from equipoise.games.matrix import Matrix
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.driver import next_evaluation
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.rules import CFRPlus, Rule
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge
from equipoise.trees.history import HistoryTree, build_history_tree

__all__ = ["DCFR_TOY", "ToyConfiguration", "find_certainty"]

SOURCE: Final = "Brown 2020, thesis section 3.1.2; Brown & Sandholm 2019, arXiv:1809.04040"
TEXT: Final = "section 3.1.2"
PANEL: Final = "payoffs 0, 1, -1,000,000"
REGRETS_PANEL: Final = "regrets of CFR+"  # x: iteration, curve: action
BAD_PAYOFF: Final = -1_000_000.0
NUM_ACTIONS: Final = 3
BEST: Final = 1  # the action that pays 1
PRINTED: Final = {"cfr": 471_407, "cfr+": 471_407, "lcfr": 970}
TOLERANCE: Final = {"cfr": 0, "cfr+": 0, "lcfr": 3}  # iterations; the paper does not say how it counts
REFERENCE: Final = {"cfr": 471_407, "cfr+": 471_407, "lcfr": 972, "dcfr": 52_127}  # an independent implementation


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ToyConfiguration:
    """Which rules decide among the three actions."""

    rules: tuple[str, ...] = ("cfr", "cfr+", "lcfr", "lcfr+", "dcfr", "dcfr(1.5,0.5,2)", "dcfr(1.5,-inf,2)")
    limit: int = 1_000_000  # iterations after which a rule is given up


def make_solver(rule: Rule) -> CFRSolver[HistoryTree]:
    """Returns a fresh run of the one-agent problem: a matrix game whose column player has one column."""
    game = Matrix(payoffs=((0.0,), (1.0,), (BAD_PAYOFF,)))
    return CFRSolver(build_history_tree(game), rule)


def missing_probability(solver: CFRSolver[HistoryTree]) -> float:
    """Returns how likely the next iteration plays another action than the best; exactly 0 when it is certain."""
    first = int(solver.tree.first_sequence[0])
    others = np.delete(solver.tables.strategy[first : first + NUM_ACTIONS], BEST)
    return float(others.sum())


def find_certainty(rule: Rule, *, limit: int) -> Iterator[tuple[int, float]]:
    """Yields an iteration and the probability that its best action lacks, up to the first iteration that is certain.

    Once the best action is certain it stays so: the others then only lose regret. Hence stretches of iterations are
    run in one native call each, and the first certain iteration is found by halving the last stretch.
    """
    solver = make_solver(rule)
    yield 1, missing_probability(solver)
    while solver.iteration < limit:
        saved = {name: array.copy() for name, array in solver.state().items()}
        solver.iterate(next_evaluation(solver.iteration) - solver.iteration)
        if missing_probability(solver) > 0.0:
            yield solver.iteration + 1, missing_probability(solver)
            continue
        low, high = int(saved["iteration"]), solver.iteration  # uncertain after low iterations, certain after high
        while high - low > 1:
            solver.restore(saved)
            solver.iterate((low + high) // 2 - low)
            if missing_probability(solver) > 0.0:
                low = solver.iteration
                saved = {name: array.copy() for name, array in solver.state().items()}
            else:
                high = solver.iteration
        yield high + 1, 0.0
        return


def measure(configuration: ToyConfiguration) -> Iterator[Step]:
    """Yields how much probability the best action lacks, rule by rule, and the first regrets of CFR+."""
    yield Step(fraction=0.0, text="first iterations of CFR+", points=tuple(_first_regrets()))
    for index, name in enumerate(configuration.rules):
        for t, missing in find_certainty(parse_rule(name), limit=configuration.limit):
            share = 1.0 if missing == 0.0 else min(t / configuration.limit, 1.0)
            point = Point(panel=PANEL, curve=name, x=t, y=missing)
            fraction = (index + share) / len(configuration.rules)
            yield Step(fraction=fraction, text=f"{name}: iteration {t:,}", points=(point,))
        yield Step(fraction=(index + 1) / len(configuration.rules), text=f"{name}: done")


def _first_regrets() -> Iterator[Point]:
    """Yields the regrets of CFR+ after one and after two iterations."""
    solver = make_solver(CFRPlus())
    first = int(solver.tree.first_sequence[0])
    for t in (1, 2):
        solver.iterate(1)
        for action in range(NUM_ACTIONS):
            regret = float(solver.tables.regret_sum[first + action])
            yield Point(panel=REGRETS_PANEL, curve=f"action {action + 1}", x=t, y=regret)


def conclude(configuration: ToyConfiguration, measured: Measured) -> Conclusion:
    """Returns the first certain iteration of every rule beside the printed one."""
    found = {name: _certain_iteration(measured, name) for name in configuration.rules}
    rows = tuple(
        {"rule": name, "ours": t, "paper": PRINTED.get(name), "reference": REFERENCE.get(name)}
        for name, t in found.items()
    )
    claims = [*_regret_claims(measured), *(_claim(name, found.get(name)) for name in PRINTED)]
    claims += [
        Claim(
            statement=f"iterations that {name} needs",
            source=TEXT,
            verdict=Verdict.NOT_STATED,
            ours=f"{t:,}" if t else "nothing",
        )
        for name, t in found.items()
        if name not in PRINTED
    ]
    notes = (
        "Counted is the first iteration that plays the best action with probability 1; it follows one iteration fewer "
        "of learning.",
        "LCFR needs 972 by this count, under which CFR+ agrees to the iteration; the paper's 970 is accepted with a "
        "tolerance of 3.",
        "Run by the solvers' own kernels, as a matrix game whose second player has one action.",
    )
    return Conclusion(rows=rows, claims=tuple(claims), notes=notes)


def _certain_iteration(measured: Measured, rule: str) -> int | None:
    points = measured.panels().get(PANEL, {}).get(rule, [])
    return next((t for t, missing in points if missing == 0.0), None)


def _claim(rule: str, found: int | None) -> Claim:
    printed, tolerance = PRINTED[rule], TOLERANCE[rule]
    return Claim(
        statement=f"{rule} plays the best action with probability 1 after {printed:,} iterations"
        + (f" (within {tolerance})" if tolerance else ""),
        source=TEXT,
        verdict=judge(None if found is None else abs(found - printed) <= tolerance),
        ours="nothing" if found is None else f"{found:,}",
    )


def _regret_claims(measured: Measured) -> Iterator[Claim]:
    for t, printed, tolerance, word in (
        (1, (333_333.0, 333_334.0, 0.0), 0.5, "are"),
        (2, (333_332.5, 333_334.5), 0.5, "are roughly"),
    ):
        ours = [measured.at(REGRETS_PANEL, f"action {action + 1}", t) for action in range(len(printed))]
        known = [value for value in ours if value is not None]
        is_near = [abs(value - figure) <= tolerance for value, figure in zip(known, printed, strict=False)]
        listed = " and ".join(f"{figure:,.1f}" for figure in printed)
        yield Claim(
            statement=f"regrets of CFR+ after iteration {t} {word} {listed}",
            source=TEXT,
            verdict=judge(all(is_near) if len(known) == len(printed) else None),
            ours=", ".join(f"{value:,.2f}" for value in known) or "nothing",
        )


DCFR_TOY: Final = Study(
    name="dcfr-toy",
    title="One agent, three actions: iterations until the best one is certain",
    source=SOURCE,
    x_label="iteration",
    y_label="probability that the best action lacks",
    sizes={Size.QUICK: ToyConfiguration(rules=("cfr+", "lcfr", "dcfr")), Size.FULL: ToyConfiguration()},
    measure=measure,
    conclude=conclude,
    is_log_y=False,
    panels=(PANEL,),
    printed={PANEL: {rule: ((iteration, 0.0),) for rule, iteration in PRINTED.items()}},
)
