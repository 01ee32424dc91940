# SPDX-License-Identifier: Apache-2.0
"""Study `brp`: time and memory of best-response pruning, Figures 3.18 to 3.21."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

from equipoise.solvers.pruning import Pruning, PruningKind
from equipoise.solvers.rules import CFR, CFRPlus, Rule
from equipoise.studies.pruning.pruned_curves import (
    AT_ITERATIONS,
    AT_NODES,
    BYTES,
    CONVENTIONS,
    GAMES,
    LEDUC,
    LEDUC_5,
    REGRETS,
    UPDATES,
    PrunedConfiguration,
    Variant,
    label_pruned_axes,
    measure_pruned_curves,
    panel_name,
    tabulate_curves,
)
from equipoise.studies.pruning.pruned_statements import Quantity, Statement, judge_statements
from equipoise.studies.study import Claim, Conclusion, Measured, Size, Step, Study, judge

__all__ = ["BRP", "BRPConfiguration"]

SOURCE: Final = "Brown 2020, thesis section 3.5.4, Figs. 3.18 to 3.21"
SECTION: Final = "section 3.5.4"
RM: Final = "cfr"
RM_PLUS: Final = "cfr with RM+"  # floored regrets, all iterations weigh the same
PLUS: Final = "cfr+"
RULES: Final[dict[str, Rule]] = {RM: CFR(), RM_PLUS: CFRPlus(gamma=0.0), PLUS: CFRPlus(gamma=1.0)}
MARKS: Final = (1000, 3000, 10_000, 100_000)
LARGE: Final = 0.1  # C of the statements about Leduc-5
TESTED: Final = 0.01  # the least C of which the thesis shows curves
PATIENT: Final = 25.0  # iterations, the threshold of the thesis for RBP: fewer nodes, less memory freed


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BRPConfiguration(PrunedConfiguration):
    """Pruned runs, and the constants C: averages below C / sqrt(T) are dropped."""

    constants: tuple[float, ...] = (0.0, 0.001, 0.01, 0.1)

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Returns the curves of Figs. 3.20 and 3.21, those of the constants among them."""
        responding = [_respond(rule, constant) for rule in (RM, RM_PLUS) for constant in self.constants]
        return (
            Variant(name=f"{RM}, no pruning", rule=CFR(), pruning=Pruning(kind=PruningKind.NONE)),
            *(
                Variant(
                    name=f"{rule}, {word}",
                    beside="" if kind is PruningKind.PARTIAL else f"{rule}, partial pruning",
                    rule=RULES[rule],
                    pruning=Pruning(kind=kind),
                    is_best_so_far=rule == PLUS,
                )
                for rule in (RM, PLUS)
                for kind, word in ((PruningKind.PARTIAL, "partial pruning"), (PruningKind.REGRET, "RBP"))
            ),
            *responding,
            dataclasses.replace(
                _respond(RM, 0.0),
                name=BRP_PATIENT,
                pruning=Pruning(kind=PruningKind.BEST_RESPONSE, threshold=PATIENT),
            ),
        )


def brp(rule: str, constant: float) -> str:
    """Returns the name of a rule's curve under best-response pruning."""
    return f"{rule}, BRP, C = {constant:g}"


BRP_PATIENT: Final = f"{brp(RM, 0.0)}, from {PATIENT:g} iterations"


def _respond(rule: str, constant: float) -> Variant:
    return Variant(
        name=brp(rule, constant),
        beside=f"{RM}, partial pruning" if rule == RM else "",
        rule=RULES[rule],
        pruning=Pruning(kind=PruningKind.BEST_RESPONSE, discard=constant),
    )


def _statements(configuration: BRPConfiguration) -> Iterator[Statement]:
    responding = [(rule, constant) for rule in (RM, RM_PLUS) for constant in configuration.constants]
    for rule, constant in responding:
        yield Statement(
            text="space drops quickly to about half",
            source=SECTION,
            game=LEDUC,
            quantity=Quantity.REGRETS,
            above=brp(rule, constant),
            most=0.6,
        )
    for rule in (RM, RM_PLUS):
        yield Statement(
            text="a threshold of 0.1 reduces space by about a factor of 7",
            source=SECTION,
            game=LEDUC_5,
            quantity=Quantity.REGRETS,
            above=brp(rule, LARGE),
            most=0.19,
        )
    low, high = min(configuration.constants), max(configuration.constants)
    for game in (LEDUC, LEDUC_5):
        yield Statement(
            text="higher thresholds reduce space faster",
            source=SECTION,
            game=game,
            quantity=Quantity.BYTES,
            above=brp(RM, high),
            below=brp(RM, low),
            most=1.0,
        )
        yield Statement(
            text="lower thresholds converge somewhat faster",
            source=SECTION,
            game=game,
            quantity=Quantity.NODES,
            above=brp(RM, high),
            below=brp(RM, low),
            least=1.0,
        )
        for constant in (value for value in configuration.constants if 0 < value < TESTED):
            yield Statement(
                text=f"below {TESTED:g} the speed of convergence is essentially that of {TESTED:g}",
                source=SECTION,
                game=game,
                quantity=Quantity.LEVEL,
                above=brp(RM, constant),
                below=brp(RM, TESTED),
                least=1 / 1.1,
                most=1.1,
            )
        yield Statement(
            text="BRP keeps the convergence of CFR in iterations",
            source="section 3.5.1",
            game=game,
            quantity=Quantity.LEVEL,
            above=brp(RM, low),
            below=f"{RM}, partial pruning",
            most=1.5,
        )
    yield from _speed_statements(low)


def _speed_statements(constant: float) -> Iterator[Statement]:
    yield Statement(
        text="BRP and RBP perform comparably when added to CFR",
        source=SECTION,
        game=LEDUC,
        quantity=Quantity.NODES,
        above=f"{RM}, RBP",
        below=brp(RM, constant),
        least=1 / 1.5,
        most=1.5,
    )
    yield Statement(
        text="RBP with CFR+ does significantly better than BRP with CFR",
        source=SECTION,
        game=LEDUC,
        quantity=Quantity.NODES,
        above=brp(RM, constant),
        below=f"{PLUS}, RBP",
        least=1.5,
    )
    yield Statement(
        text="BRP with CFR using RM+ sees no improvement over BRP with CFR",
        source=SECTION,
        game=LEDUC,
        quantity=Quantity.NODES,
        above=brp(RM, constant),
        below=brp(RM_PLUS, constant),
        most=1.1,
    )
    for below in (brp(RM, constant), BRP_PATIENT):
        yield Statement(
            text="BRP outperforms RBP by a factor of 2 when added to CFR",
            source=SECTION,
            game=LEDUC_5,
            quantity=Quantity.NODES,
            above=f"{RM}, RBP",
            below=below,
            least=1.5,
        )
    yield Statement(
        text="BRP with CFR using RM+ performs comparably to RBP with CFR+",
        source=SECTION,
        game=LEDUC_5,
        quantity=Quantity.NODES,
        above=brp(RM_PLUS, constant),
        below=f"{PLUS}, RBP",
        least=1 / 1.5,
        most=1.5,
    )


def measure(configuration: BRPConfiguration) -> Iterator[Step]:
    """Yields every kind of pruning, best-response pruning with several constants."""
    return measure_pruned_curves(configuration, configuration.variants, marks=MARKS)


def conclude(configuration: BRPConfiguration, measured: Measured) -> Conclusion:
    """Returns the curves at the marks, and a verdict on each statement of the text."""
    notes = (
        *CONVENTIONS,
        "Space is judged by regrets R(I,a) that are followed, as a share of all: of actions neither pruned nor "
        "below one that is (column 'regrets'). Column 'memory' has the bytes that are allocated, as a share of those "
        "before the first iteration: they also hold averages and what pruning itself keeps.",
        "Curves of CFR+ show the lowest exploitability so far, as in the thesis. BRP is not run with linear averages, "
        "which the thesis found to do badly.",
        "A factor that the text calls 'about n' is confirmed from three quarters of n on.",
    )
    statements = list(_statements(configuration))
    claims = (*judge_statements(statements, configuration, measured), *_falling_claims(configuration, measured))
    return Conclusion(
        rows=tuple(tabulate_curves(configuration, configuration.variants, measured, MARKS)), claims=claims, notes=notes
    )


def _falling_claims(configuration: BRPConfiguration, measured: Measured) -> Iterator[Claim]:
    for updates in configuration.updates:
        points = measured.panels().get(panel_name(LEDUC_5, updates, REGRETS), {}).get(brp(RM, LARGE), [])
        end = configuration.horizons.get(LEDUC_5, 0)
        late = [y for t, y in points if t >= end / 2]
        is_done = bool(points) and points[-1][0] == end
        yield Claim(
            statement=f"{LEDUC_5}: the reduction appears to continue (fewer regrets at the end than half way; "
            f"{updates} updates)",
            source=SECTION,
            verdict=judge(late[-1] < late[0] if is_done else None),
            ours=f"{late[0]:.3g}, then {late[-1]:.3g}" if is_done else "nothing",
        )


BRP: Final = Study(
    name="brp",
    title="Best-response pruning: time and memory",
    source=SOURCE,
    x_label="iterations",
    y_label="total exploitability",
    sizes={
        Size.QUICK: BRPConfiguration(iterations=(10_000, 1000)),
        Size.FULL: BRPConfiguration(iterations=(100_000, 100_000)),
    },
    measure=measure,
    conclude=conclude,
    panels=tuple(
        panel_name(title, updates, quantity)
        for title, _ in GAMES.values()
        for updates in UPDATES
        for quantity in (AT_NODES, AT_ITERATIONS, BYTES, REGRETS)
    ),
    own_labels=label_pruned_axes,
)
