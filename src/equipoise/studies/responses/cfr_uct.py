# SPDX-License-Identifier: Apache-2.0
"""Study `cfr-uct`: Leduc strategies trained against UCT, Figures 5.1 and 5.2, with several constants of UCT."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any, Final

from equipoise.responses.on_tree import OnTree
from equipoise.responses.sampled import UCTResponse
from equipoise.studies.responses.trained_responses import (
    BASELINE,
    EXPLOITABILITY,
    LOSS_TO_BASELINE,
    Cell,
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

__all__ = ["CFR_UCT", "UCTConfiguration"]

SOURCE: Final = "Davis 2015, thesis section 5.1.2, Figs. 5.1 and 5.2"
MUCH: Final = 3.0  # times as many iterations are "much larger"
SMALLEST_PRINTED: Final = 1000  # n that the text names
HIGHLY: Final = 10.0  # times as exploitable as CFR
LITTLE: Final = 1 / 3  # of the exploitability is "a little"
PER_ANSWER: Final = 1500.0  # iterations of UCT that the rest of an answer costs


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class UCTConfiguration(TrainingConfiguration):
    """What is trained, for how long, and how it is evaluated."""

    constants: tuple[float, ...]  # C of UCT, chips; the first has all training seeds, the others one


def panel_name(constant: float) -> str:
    """Returns the panel of a constant."""
    return f"C = {constant:g}"


def curve_name(strength: int) -> str:
    """Returns the curve of a strategy."""
    return f"CFR-UCT-{strength:,}" if strength else BASELINE


def measure(configuration: UCTConfiguration) -> Iterator[Step]:
    """Yields every constant's training runs, each evaluated against every strength."""
    tree = build_leduc()
    on_tree = OnTree(tree)
    baseline = train_baseline(tree, configuration.baseline_iterations)
    weights = [configuration.num_seeds, *([1] * (len(configuration.constants) - 1))]
    done = 0
    for constant, num_seeds in zip(configuration.constants, weights, strict=True):
        courses = [
            Course(
                name=curve_name(strength),
                strength=strength,
                run=seed,
                response=UCTResponse(tree, strength, exploration=constant),
                iterations=iterations,
            )
            for strength, iterations in zip(configuration.strengths, configuration.iterations, strict=True)
            for seed in range(num_seeds)
        ]
        yield from measure_against(
            on_tree,
            panel_name(constant),
            baseline,
            courses,
            [(count, UCTResponse(tree, count, exploration=constant)) for count in configuration.evaluations],
            num_responses=configuration.num_responses,
            span=(done / sum(weights), (done + num_seeds) / sum(weights)),
            cost=lambda strength: strength + PER_ANSWER,
        )
        done += num_seeds
    yield Step(fraction=1.0, text="done")


def conclude(configuration: UCTConfiguration, measured: Measured) -> Conclusion:
    """Returns all values, and a verdict on each statement for each constant."""
    claims: list[Claim] = []
    for constant in configuration.constants:
        claims += _judge_constant(configuration, measured, constant)
    notes = (
        "Values are thousandths of a chip per game, means over both seats; halve them for 2-chip bets (the thesis says "
        "milli-bets and not which bet).",
        "The thesis prints neither the constant C of UCT nor the iterations of CFR-UCT: C = 2 chips is our choice "
        "after the fact, and verdicts are given for every constant that was run.",
        "Intervals are of 95 % over independent responses, each evaluated exactly, drawn apart from those of training. "
        "A comparison is decided where intervals of all training seeds are apart.",
        f"'Much larger' is tested as at least {MUCH:g} times, 'highly exploitable' as at least {HIGHLY:g} times what "
        "CFR is, 'a little' as at most a third of that; 'does not lose' is undecided if an interval holds 0.",
        "Suits are told apart (936 information sets can be reached; the thesis's 1,116 counts impossible deals).",
    )
    return Conclusion(rows=tuple(_tabulate(configuration, measured)), claims=tuple(claims), notes=notes)


def _tabulate(configuration: UCTConfiguration, measured: Measured) -> Iterator[dict[str, Any]]:
    for constant in configuration.constants:
        panel = panel_name(constant)
        for strength in (0, *configuration.strengths):
            curve = curve_name(strength)
            x = max(strength, 1)
            yield {
                "constant": constant,
                "strategy": curve,
                "exploitability": measured.at(f"{panel}, {EXPLOITABILITY}", curve, x),
                "loss to CFR": measured.at(f"{panel}, {LOSS_TO_BASELINE}", curve, x),
                **{
                    f"UCT-{count:,}": list_cells(read_cell(measured, panel, curve, count))
                    for count in configuration.evaluations
                },
            }


def _judge_constant(configuration: UCTConfiguration, measured: Measured, constant: float) -> Iterator[Claim]:
    panel = panel_name(constant)
    for strength in configuration.strengths:
        cells = {count: read_cell(measured, panel, curve_name(strength), count) for count in configuration.evaluations}
        yield from _beats_cfr(configuration, measured, panel, strength, cells)
        yield _loses_little(measured, panel, strength)
        yield from _robust(panel, strength, cells)
    curve = {count: read_cell(measured, panel, BASELINE, count) for count in configuration.evaluations}
    rows = list(curve.values())
    is_falling = all(first[0].mean > second[0].mean for first, second in itertools.pairwise(rows) if first and second)
    ends = compare_cells([(rows[0], rows[-1])])
    yield claim(
        f"{panel}: UCT-n gets stronger with n: CFR's value falls with each n, and its ends are apart (R9)",
        "Fig. 5.1",
        ends if is_falling or ends is Verdict.NOT_MEASURED else Verdict.DENIED,
        ", ".join(f"{list_cells(cells)} at {count:,}" for count, cells in curve.items()),
    )


def _beats_cfr(
    configuration: UCTConfiguration, measured: Measured, panel: str, strength: int, cells: dict[int, list[Cell]]
) -> Iterator[Claim]:
    ranges = {
        f"n from {SMALLEST_PRINTED:,} and below {strength:,}": (SMALLEST_PRINTED, strength - 1),
        f"n = {strength:,}, the one that it was trained against": (strength, strength),
        f"n below {SMALLEST_PRINTED:,}, which the text does not name": (0, min(SMALLEST_PRINTED, strength) - 1),
    }
    for where, (low, high) in ranges.items():
        counts = [count for count in configuration.evaluations if low <= count <= high]
        theirs = {count: read_cell(measured, panel, BASELINE, count) for count in counts}
        if counts:
            yield claim(
                f"{panel}: {curve_name(strength)} does better than CFR against UCT-n, {where} (R6)",
                "section 5.1.2, Fig. 5.1",
                compare_cells([(cells[count], theirs[count]) for count in counts]),
                "; ".join(
                    f"{list_cells(cells[count])} (CFR {list_cells(theirs[count])}) at {count:,}" for count in counts
                ),
            )


def _loses_little(measured: Measured, panel: str, strength: int) -> Claim:
    exploitability = measured.at(f"{panel}, {EXPLOITABILITY}", curve_name(strength), strength)
    loss = measured.at(f"{panel}, {LOSS_TO_BASELINE}", curve_name(strength), strength)
    of_cfr = measured.at(f"{panel}, {EXPLOITABILITY}", BASELINE, 1)
    is_true, text = None, "nothing"
    if exploitability is not None and loss is not None and of_cfr is not None:
        is_true = exploitability >= HIGHLY * of_cfr and loss <= LITTLE * exploitability
        text = f"exploitable for {exploitability:.0f} (CFR {of_cfr:.1f}), loses {loss:.0f}"
    return claim(
        f"{panel}: {curve_name(strength)} is highly exploitable, yet loses only a little to CFR (R7)",
        "section 5.1.2, Fig. 5.2",
        judge(is_true),
        text,
    )


def _robust(panel: str, strength: int, cells: dict[int, list[Cell]]) -> Iterator[Claim]:
    weaker = {count: row for count, row in cells.items() if count <= strength}
    zero = [Cell(0.0, 0.0)]
    yield claim(
        f"{panel}: {curve_name(strength)} does not lose to any UCT-n with n up to {strength:,} (R8)",
        "section 5.1.2, Fig. 5.1",
        _not_below(weaker),
        ", ".join(f"{list_cells(row)} at {count:,}" for count, row in weaker.items()),
    )
    beaten = [count for count, row in cells.items() if row and compare_cells([(zero, row)]) is Verdict.CONFIRMED]
    unknown = any(not row for row in cells.values())
    yield claim(
        f"{panel}: UCT-n beats {curve_name(strength)} only for n much larger than {strength:,} (R8)",
        "section 5.1.2, Fig. 5.1",
        Verdict.NOT_MEASURED if unknown else judge(not beaten or min(beaten) >= MUCH * strength),
        f"beaten first by n = {min(beaten):,}" if beaten else f"by none up to {max(cells):,}",
    )


def _not_below(rows: dict[int, list[Cell]]) -> Verdict:
    """Returns whether no value is below zero: denied by an interval below it, undecided while one reaches there."""
    if not rows or any(not row for row in rows.values()):
        return Verdict.NOT_MEASURED
    cells = [cell for row in rows.values() for cell in row]
    if any(cell.high < 0 for cell in cells):
        return Verdict.DENIED
    return Verdict.CONFIRMED if all(cell.low >= 0 for cell in cells) else Verdict.UNDECIDED


CFR_UCT: Final = Study(
    name="cfr-uct",
    title="Strategies trained against UCT in Leduc",
    source=SOURCE,
    x_label="n of the UCT counter-strategy",
    y_label="value, thousandths of a chip per game",
    sizes={
        Size.QUICK: UCTConfiguration(
            constants=(2.0, 18.4),
            strengths=(1000, 10_000),
            iterations=(3000, 600),
            evaluations=(100, 1000, 10_000, 30_000),
            num_seeds=1,
            num_responses=40,
            baseline_iterations=5000,
        ),
        Size.FULL: UCTConfiguration(
            constants=(2.0, 6.0, 18.4),
            strengths=(1000, 10_000, 100_000),
            iterations=(20_000, 5000, 2000),
            evaluations=(100, 1000, 3000, 10_000, 30_000, 100_000, 300_000),
            num_seeds=3,
            num_responses=100,
        ),
    },
    measure=measure,
    conclude=conclude,
    is_log_y=False,
    panels=tuple(panel_name(constant) for constant in (2.0, 6.0, 18.4)),
)
