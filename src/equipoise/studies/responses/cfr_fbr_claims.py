# SPDX-License-Identifier: Apache-2.0
"""What the thesis states of its hold'em runs (R10 to R15), tested on the points of study `cfr-fbr-holdem`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from equipoise.studies.study import Claim, Measured, Verdict, judge

__all__ = [
    "CFR_CURVE",
    "CPU",
    "EXPLOITABILITY",
    "FBR_CURVE",
    "PLATEAU",
    "RACE",
    "RACE_MILLISECONDS",
    "VALUE",
    "WIDTH",
    "against_curve",
    "judge_race",
    "judge_training",
    "uct_curve",
]

VALUE: Final = "value against FBR"  # panels
WIDTH: Final = "half of its 95 % interval"
EXPLOITABILITY: Final = "exploitability"
CPU: Final = "CPU seconds of training"
RACE: Final = "what responses earn"
RACE_MILLISECONDS: Final = "CPU milliseconds of an answer"
CFR_CURVE: Final = "CFR"
FBR_CURVE: Final = "FBR"

FIGURE_3: Final = "Fig. 5.3, section 5.2.2"
FIGURE_4: Final = "Fig. 5.4, section 5.2.2"
ALWAYS_FOLD: Final = 750.0  # mbb/g
PLATEAU: Final = 1000.0  # mbb/g, of the thesis's exploitability
THESIS_HANDS: Final = 100_000  # with which FBR beat the strategy that UCT did not
FAST_SHARE: Final = 0.25  # of a run, within which "very quickly" lies
LEVEL_SHARE: Final = 0.95  # an exploitability above this share of the mark before has levelled off

Marks = tuple[int, ...]
Curve = list[tuple[float, float]]  # (CPU time, figure) in the order of time


def against_curve(updates: int) -> str:
    """Returns the name of a CFR-FBR run by how many updates an answer stands for."""
    return f"CFR-FBR, {updates} update{'' if updates == 1 else 's'} an answer"


def uct_curve(constant: float) -> str:
    """Returns the name of UCT with a constant."""
    return f"UCT, C = {constant:g}"


def judge_race(measured: Measured, races: Mapping[str, Marks]) -> Iterator[Claim]:
    """Yields R10: at equal time, FBR earns more than UCT; FBR wins with 100,000 hands; UCT goes on losing."""
    curves = {curve: _against_time(measured, curve, marks, RACE, RACE_MILLISECONDS) for curve, marks in races.items()}
    fbr = curves.pop(FBR_CURVE)
    named = [n for n in races[FBR_CURVE] if n <= THESIS_HANDS]
    spent_named = measured.at(RACE_MILLISECONDS, FBR_CURVE, named[-1]) if named else None
    for curve, points in curves.items():
        pairs = [(spent, earned, _at_time(points, spent)) for spent, earned in fbr]
        known = [(spent, ours, other) for spent, ours, other in pairs if other is not None]
        at_named = [ours > other for spent, ours, other in known if spent == spent_named]
        described = "; ".join(f"{spent:.0f} ms: {ours:+.0f} to {other:+.0f}" for spent, ours, other in known)
        yield Claim(
            statement=f"R10: at equal CPU time FBR earns more than {curve} (test: at the time that FBR takes for "
            f"{named[-1] if named else THESIS_HANDS:,} hands; UCT interpolated between its points)",
            source="section 5.2",
            verdict=judge(at_named[0] if at_named else None),
            ours=described or "nothing",
        )
        yield Claim(
            statement=f"the same of {curve} at every time, however few the hands",
            source="not stated so: the thesis gives FBR up to 100,000 hands",
            verdict=judge(all(ours > other for _, ours, other in known) if known else None),
            ours=described or "nothing",
        )
    earned = [(n, value) for n in named if (value := measured.at(RACE, FBR_CURVE, n)) is not None]
    yield Claim(
        statement="R10: FBR beats the CFR strategy with less than 100,000 hands (test: with at most 100,000)",
        source="section 5.2",
        verdict=judge(any(value > 0 for _, value in earned) if earned else None),
        ours=", ".join(f"{n:,}: {value:+.0f}" for n, value in earned) or "nothing",
    )
    last = {curve: measured.at(RACE, curve, races[curve][-1]) for curve in curves}
    losses = {curve: value for curve, value in last.items() if value is not None}
    yield Claim(
        statement="R10: UCT still loses to the CFR strategy at the most iterations (thesis: 41 mbb/g after 50 million)",
        source="section 5.2",
        verdict=judge(all(value < 0 for value in losses.values()) if losses else None),
        ours=", ".join(f"{curve}, {races[curve][-1]:,}: {value:+.0f}" for curve, value in losses.items()) or "nothing",
    )


def judge_training(measured: Measured, curves: Mapping[str, Marks]) -> Iterator[Claim]:
    """Yields R11 on CFR, R12 to R15 on every run of CFR-FBR, and how those compare."""
    plain = _against_time(measured, CFR_CURVE, curves[CFR_CURVE], VALUE, CPU)
    yield _judge_plateau(plain)
    trained = [curve for curve in curves if curve != CFR_CURVE]
    for curve in trained:
        yield from _judge_run(measured, curve, curves[curve], plain)
    yield _compare_runs(measured, {curve: curves[curve] for curve in trained})


def _judge_plateau(plain: Curve) -> Claim:
    early = [value for spent, value in plain if spent <= FAST_SHARE * plain[-1][0]]
    is_true = bool(early) and early[-1] > 0 and abs(plain[-1][1] - early[-1]) <= abs(early[-1]) / 2
    return Claim(
        statement=f"R11: CFR quickly does well against FBR, then stays there (test: positive within {FAST_SHARE:g} of "
        "the run's time, and within half of that value at its end)",
        source=FIGURE_3,
        verdict=judge(is_true if len(plain) > 1 else None),
        ours=_describe(plain),
    )


def _judge_run(measured: Measured, curve: str, marks: Marks, plain: Curve) -> Iterator[Claim]:
    values = _against_time(measured, curve, marks, VALUE, CPU)
    levels = [level for mark in marks if (level := measured.at(EXPLOITABILITY, curve, mark)) is not None]
    settled = next((spent for spent, value in plain if value > 0), None)
    late = None if settled is None or not values else [value for spent, value in values if spent <= settled]
    first = values[0][1] if values else None
    yield Claim(
        statement=f"R12: {curve} starts very poor, and is still negative when CFR has long become positive (test: "
        "every mark up to that time, or the first one if it is later)",
        source=FIGURE_3,
        verdict=judge(None if late is None or first is None else all(value < 0 for value in late or [first])),
        ours=_describe(values) + ("" if settled is None else f"; CFR positive after {settled:.3g} s"),
    )
    yield _judge_passing(measured, curve, marks, values, plain)
    yield from _judge_levels(curve, values, levels)


def _judge_passing(measured: Measured, curve: str, marks: Marks, values: Curve, plain: Curve) -> Claim:
    width = measured.at(WIDTH, curve, marks[-1])
    verdict, ours = Verdict.NOT_MEASURED, "nothing"
    if len(values) > 1 and plain and width is not None:
        last, theirs = values[-1][1], plain[-1][1]
        verdict, ours = judge(last - width > theirs), f"{last:+.0f} ± {width:.0f}, CFR {theirs:+.0f}"
        if verdict is Verdict.DENIED and last - width > values[-2][1]:
            verdict, ours = Verdict.NOT_MEASURED, f"{ours}; the run ended while it was rising"
    return Claim(
        statement=f"R13: {curve} passes CFR against FBR in the end (test: by more than its 95 % interval)",
        source=FIGURE_3,
        verdict=verdict,
        ours=ours,
    )


def _judge_levels(curve: str, values: Curve, levels: list[float]) -> Iterator[Claim]:
    """Yields R14 and R15, which are about an exploitability that has levelled off."""
    is_level = len(levels) > 1 and levels[-1] >= LEVEL_SHARE * levels[-2]
    described = ", ".join(f"{level:.0f}" for level in levels) or "nothing"
    if levels and not is_level:
        described += "; the run ended while it was falling"
    for bound, what in ((PLATEAU, "1,000"), (ALWAYS_FOLD, "always folding, 750")):
        is_true = levels[-1] > bound if is_level else None
        if levels and levels[-1] <= bound:
            is_true = False
        yield Claim(
            statement=f"R14: the exploitability of {curve} settles above {what} (test: at the last mark, which is at "
            f"least {LEVEL_SHARE:g} of the one before)",
            source=FIGURE_4,
            verdict=judge(is_true),
            ours=described,
        )
    improves = None
    if is_level and len(values) == len(levels):
        improves = values[-1][1] > values[-2][1]
    yield Claim(
        statement=f"R15: {curve} goes on improving against FBR while its exploitability has levelled off or worsens "
        "(test: from the last mark but one to the last)",
        source=FIGURE_4,
        verdict=judge(improves),
        ours=f"value {', '.join(f'{value:+.0f}' for _, value in values[-2:])}; exploitability {described}",
    )


def _compare_runs(measured: Measured, curves: Mapping[str, Marks]) -> Claim:
    """Returns how answers that stand for one update and for many compare at the time that the shorter run took."""
    values = {curve: _against_time(measured, curve, marks, VALUE, CPU) for curve, marks in curves.items()}
    levels = {curve: _against_time(measured, curve, marks, EXPLOITABILITY, CPU) for curve, marks in curves.items()}
    ends = [points[-1][0] for points in values.values() if points]
    spent = min(ends, default=0.0)
    parts = [
        f"{curve}: value {value:+.0f}, exploitability {level:.0f}"
        for curve in curves
        if (value := _at_time(values[curve], spent)) is not None
        and (level := _at_time(levels[curve], spent)) is not None
    ]
    return Claim(
        statement="the number of updates that an answer stands for, compared at equal CPU time",
        source="section 5.2.1 uses 1,200 and compares nothing",
        verdict=Verdict.NOT_STATED if len(parts) == len(curves) else Verdict.NOT_MEASURED,
        ours=f"after {spent:.3g} s: {'; '.join(parts)}" if parts else "nothing",
    )


def _against_time(measured: Measured, curve: str, marks: Marks, panel: str, clock: str) -> Curve:
    """Returns a curve's figures against the CPU time at its marks."""
    pairs = [(measured.at(clock, curve, mark), measured.at(panel, curve, mark)) for mark in marks]
    return sorted((spent, figure) for spent, figure in pairs if spent is not None and figure is not None)


def _at_time(points: Curve, spent: float) -> float | None:
    """Returns a curve's figure at a time, interpolated over its logarithm; None outside of the curve."""
    if not points or not points[0][0] <= spent <= points[-1][0]:
        return None
    times, figures = np.array(points).T
    return float(np.interp(np.log(spent), np.log(times), figures))


def _describe(points: Curve) -> str:
    return ", ".join(f"{spent:.2g} s: {value:+.0f}" for spent, value in points) or "nothing"
