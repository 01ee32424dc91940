# SPDX-License-Identifier: Apache-2.0
"""Study `zero-reach`: best responses in sequences that are not played, Figure 3.13."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from equipoise.solvers.pruning import Pruning, PruningKind, ZeroReach
from equipoise.solvers.rules import CFR, CFRPlus
from equipoise.studies.pruning.pruned_curves import (
    CONVENTIONS,
    LEDUC,
    LEDUC_5,
    PrunedConfiguration,
    Variant,
    label_pruned_axes,
    measure_pruned_curves,
    tabulate_curves,
)
from equipoise.studies.pruning.pruned_statements import Quantity, Statement, judge_statements
from equipoise.studies.study import Conclusion, Measured, Size, Step, Study

__all__ = ["ZERO_REACH"]

SOURCE: Final = "Brown 2020, thesis section 3.3.1, Fig. 3.13"
SECTION: Final = "section 3.3.1"
PLAIN: Final = "cfr"
RESPONDING: Final = "cfr, best responses"
STRICT: Final = "cfr, best responses where R <= -L"
PLUS: Final = "cfr+"
PLUS_RESPONDING: Final = "cfr+, best responses"


def _prune(zero_reach: ZeroReach) -> Pruning:
    return Pruning(kind=PruningKind.PARTIAL, zero_reach=zero_reach)


VARIANTS: Final = (
    Variant(name=PLAIN, rule=CFR(), pruning=_prune(ZeroReach.OFF)),
    Variant(name=RESPONDING, beside=PLAIN, rule=CFR(), pruning=_prune(ZeroReach.ALL)),
    Variant(name=STRICT, beside=PLAIN, rule=CFR(), pruning=_prune(ZeroReach.STRICT)),
    Variant(name=PLUS, rule=CFRPlus(gamma=1.0), pruning=_prune(ZeroReach.OFF)),
    Variant(name=PLUS_RESPONDING, beside=PLUS, rule=CFRPlus(gamma=1.0), pruning=_prune(ZeroReach.ALL)),
)
STATEMENTS: Final = (
    *(
        Statement(
            text="best responses lead to a dramatic improvement over CFR in the iterations needed",
            source=SECTION,
            game=game,
            quantity=Quantity.ITERATIONS,
            above=PLAIN,
            below=RESPONDING,
            least=1.5,
        )
        for game in (LEDUC, LEDUC_5)
    ),
    *(
        Statement(
            text="each iteration touches more nodes",
            source=SECTION,
            game=game,
            quantity=Quantity.COST,
            above=RESPONDING,
            below=PLAIN,
            least=1.0,
        )
        for game in (LEDUC, LEDUC_5)
    ),
    *(
        Statement(
            text="no substantial difference when combined with CFR+",
            source=SECTION,
            game=game,
            quantity=Quantity.LEVEL,
            above=PLUS_RESPONDING,
            below=PLUS,
            least=1 / 1.5,
            most=1.5,
        )
        for game in (LEDUC, LEDUC_5)
    ),
    Statement(
        text="slightly more nodes for a given level of convergence",
        source=SECTION,
        game=LEDUC_5,
        quantity=Quantity.NODES,
        above=RESPONDING,
        below=PLAIN,
        least=1.0,
        most=1.5,
    ),
)
MARKS: Final = (100, 1000, 10_000, 100_000)


def measure(configuration: PrunedConfiguration) -> Iterator[Step]:
    """Yields CFR and CFR+ with and without best responses, under partial pruning."""
    return measure_pruned_curves(configuration, VARIANTS, marks=MARKS)


def conclude(configuration: PrunedConfiguration, measured: Measured) -> Conclusion:
    """Returns the curves at the marks, and a verdict on each statement of the text."""
    notes = (
        *CONVENTIONS,
        "'Best responses' are played below every action that has probability 0. The thesis adds that R <= -L(I) keeps "
        "the action's regret from turning positive; under that rule little happens in such runs.",
    )
    return Conclusion(
        rows=tuple(tabulate_curves(configuration, VARIANTS, measured, MARKS)),
        claims=tuple(judge_statements(STATEMENTS, configuration, measured)),
        notes=notes,
    )


ZERO_REACH: Final = Study(
    name="zero-reach",
    title="Best responses in sequences that are not played",
    source=SOURCE,
    x_label="iterations",
    y_label="total exploitability",
    sizes={
        Size.QUICK: PrunedConfiguration(iterations=(10_000, 1000)),
        Size.FULL: PrunedConfiguration(iterations=(100_000, 10_000)),
    },
    measure=measure,
    conclude=conclude,
    own_labels=label_pruned_axes,
)
