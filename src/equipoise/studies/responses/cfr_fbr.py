# SPDX-License-Identifier: Apache-2.0
"""Study `cfr-fbr`: Leduc strategies trained against frequentist best responses, in the place of Figure 5.5."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from equipoise.responses.on_tree import OnTree
from equipoise.responses.sampled import FBRResponse
from equipoise.studies.responses.trained_responses import (
    BASELINE,
    EXPLOITABILITY,
    LOSS_TO_BASELINE,
    Course,
    TrainingConfiguration,
    build_leduc,
    claim,
    compare_cells,
    list_cells,
    measure_against,
    read_cell,
    train_baseline,
)
from equipoise.studies.study import Claim, Conclusion, Measured, Size, Step, Study, Verdict, judge

__all__ = ["CFR_FBR"]

SOURCE: Final = "Davis 2015, thesis section 5.2.3, Fig. 5.5, with Leduc in the place of bucketed hold'em"
PANEL: Final = "Leduc"
PER_ANSWER: Final = 2000.0  # hands that the rest of an answer costs
ALWAYS_FOLD: Final = 1000.0  # exploitability of folding, an ante a game
EVEN: Final = 20.0  # thousandths of a chip within which two values are roughly equal


def curve_name(strength: int) -> str:
    """Returns the curve of a strategy."""
    return f"CFR-FBR-{strength:,}" if strength else BASELINE


def measure(configuration: TrainingConfiguration) -> Iterator[Step]:
    """Yields training runs, each evaluated against every strength."""
    tree = build_leduc()
    courses = [
        Course(
            name=curve_name(strength),
            strength=strength,
            run=seed,
            response=FBRResponse(tree, strength),
            iterations=iterations,
        )
        for strength, iterations in zip(configuration.strengths, configuration.iterations, strict=True)
        for seed in range(configuration.num_seeds)
    ]
    yield from measure_against(
        OnTree(tree),
        PANEL,
        train_baseline(tree, configuration.baseline_iterations),
        courses,
        [(count, FBRResponse(tree, count)) for count in configuration.evaluations],
        num_responses=configuration.num_responses,
        span=(0.0, 1.0),
        cost=lambda strength: strength + PER_ANSWER,
    )
    yield Step(fraction=1.0, text="done")


def conclude(configuration: TrainingConfiguration, measured: Measured) -> Conclusion:
    """Returns all values, and a verdict on each statement."""
    notes = (
        "Values are thousandths of a chip per game, means over both seats; halve them for 2-chip bets.",
        "The thesis trains in bucketed limit hold'em with n from 1k to 100k and 1,200 updates a response; here every "
        "update has its own response, and n is smaller as the game is: its small, middle and large n are ours.",
        "A comparison is decided where intervals of 95 % of all training seeds are apart; 'roughly equal' means a "
        f"difference of at most {EVEN:g}.",
    )
    return Conclusion(
        rows=tuple(_tabulate(configuration, measured)), claims=tuple(_judge(configuration, measured)), notes=notes
    )


def _tabulate(configuration: TrainingConfiguration, measured: Measured) -> Iterator[dict[str, Any]]:
    for strength in (0, *configuration.strengths):
        curve, x = curve_name(strength), max(strength, 1)
        yield {
            "strategy": curve,
            "exploitability": measured.at(f"{PANEL}, {EXPLOITABILITY}", curve, x),
            "loss to CFR": measured.at(f"{PANEL}, {LOSS_TO_BASELINE}", curve, x),
            **{
                f"FBR-{count:,}": list_cells(read_cell(measured, PANEL, curve, count))
                for count in configuration.evaluations
            },
        }


def _judge(configuration: TrainingConfiguration, measured: Measured) -> Iterator[Claim]:
    def cells(strength: int, count: int) -> Any:
        return read_cell(measured, PANEL, curve_name(strength), count)

    def beside(strength: int, counts: list[int]) -> str:
        pairs = {count: (list_cells(cells(strength, count)), list_cells(cells(0, count))) for count in counts}
        return "; ".join(f"{ours} (CFR {theirs}) at {count:,}" for count, (ours, theirs) in pairs.items())

    small, large = configuration.strengths[0], configuration.strengths[-1]
    weaker = [count for count in configuration.evaluations if count <= small]
    yield claim(
        f"for small n ({small:,}) CFR-FBR-n does better than CFR against FBR-n and weaker (R16)",
        "section 5.2.3, Fig. 5.5",
        compare_cells([(cells(small, count), cells(0, count)) for count in weaker]),
        beside(small, weaker),
    )
    for strength in configuration.strengths[1:]:
        weaker = [count for count in configuration.evaluations if count < strength]
        yield claim(
            f"robust downwards: CFR-FBR-{strength:,} does better than CFR against weaker FBR (R16)",
            "section 5.2.3, Fig. 5.5",
            compare_cells([(cells(strength, count), cells(0, count)) for count in weaker]),
            beside(strength, weaker),
        )
    middle = _find_middle(configuration, measured)
    yield claim(
        "for some n in between CFR-FBR-n roughly equals CFR against FBR-n (R17)",
        "section 5.2.3, Fig. 5.5",
        Verdict.NOT_MEASURED if not cells(large, large) else judge(middle is not None),
        f"n = {middle:,}: {beside(middle, [middle])}" if middle else "none",
    )
    yield claim(
        f"for large n ({large:,}) CFR-FBR-n does worse than CFR against FBR-n (R18)",
        "section 5.2.3, Fig. 5.5",
        compare_cells([(cells(0, large), cells(large, large))]),
        f"{list_cells(cells(large, large))}, CFR {list_cells(cells(0, large))}",
    )
    strongest = max(configuration.evaluations)
    yield claim(
        f"strategies of large n ({large:,}) remain clearly exploitable by the strongest FBR ({strongest:,}) (R19)",
        "section 5.2.3, Fig. 5.5",
        compare_cells([(cells(0, strongest), cells(large, strongest))], margin=EVEN),
        f"{list_cells(cells(large, strongest))}, CFR {list_cells(cells(0, strongest))}",
    )
    worst = measured.at(f"{PANEL}, {EXPLOITABILITY}", curve_name(small), small)
    yield claim(
        f"trained against small n ({small:,}), a strategy is more exploitable than always folding (R14)",
        "section 5.2.2, Fig. 5.4",
        judge(None if worst is None else worst > ALWAYS_FOLD),
        "nothing" if worst is None else f"{worst:.0f}, folding {ALWAYS_FOLD:.0f}",
    )


def _find_middle(configuration: TrainingConfiguration, measured: Measured) -> int | None:
    """Returns a strength between the first and the last at which a strategy earns what CFR does, None without one."""
    for strength in configuration.strengths[1:-1]:
        ours = measured.at(PANEL, curve_name(strength), strength)
        theirs = measured.at(PANEL, BASELINE, strength)
        if ours is not None and theirs is not None and abs(ours - theirs) <= EVEN:
            return strength
    return None


CFR_FBR: Final = Study(
    name="cfr-fbr",
    title="Strategies trained against frequentist best responses in Leduc",
    source=SOURCE,
    x_label="n of the FBR counter-strategy",
    y_label="value, thousandths of a chip per game",
    sizes={
        Size.QUICK: TrainingConfiguration(
            strengths=(100, 1000, 10_000),
            iterations=(2000, 3000, 600),
            evaluations=(100, 1000, 10_000, 100_000),
            num_seeds=1,
            num_responses=40,
            baseline_iterations=5000,
        ),
        Size.FULL: TrainingConfiguration(
            strengths=(100, 300, 1000, 10_000),
            iterations=(10_000, 30_000, 100_000, 5000),
            evaluations=(100, 300, 1000, 10_000, 100_000),
            num_seeds=3,
            num_responses=100,
        ),
    },
    measure=measure,
    conclude=conclude,
    is_log_y=False,
    panels=(PANEL,),
)
