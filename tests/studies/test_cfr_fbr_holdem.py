# SPDX-License-Identifier: Apache-2.0
"""Study `cfr-fbr-holdem` at a tiny size, and how its statements are judged."""

import pytest

from equipoise.core.errors import ConfigError
from equipoise.studies.report import write_result
from equipoise.studies.responses.cfr_fbr_claims import (
    CFR_CURVE,
    CPU,
    EXPLOITABILITY,
    FBR_CURVE,
    RACE,
    RACE_MILLISECONDS,
    VALUE,
    WIDTH,
    against_curve,
    judge_race,
    judge_training,
    uct_curve,
)
from equipoise.studies.responses.cfr_fbr_holdem import CFR_FBR_HOLDEM, HoldemFBRConfiguration
from equipoise.studies.study import Measured, Point, Verdict

TINY = HoldemFBRConfiguration(
    hands=50,
    marks=(1, 3),
    stale_updates=3,
    stale_marks=(1, 2),
    draws=2,
    target_updates=2,
    race_hands=(10, 100),
    race_iterations=(10, 20_000),
    explorations=(20.0,),
    race_draws=2,
)
RUN = against_curve(1)
MARKS = (1, 2, 3)


def test_tiny_study_is_complete(tmp_path):
    result = CFR_FBR_HOLDEM.run(TINY)

    assert not result.is_partial
    rows = {(row["curve"], row["x"]): row for row in result.conclusion.rows}
    assert [x for curve, x in rows if curve == against_curve(3)] == [3, 6]
    assert rows[CFR_CURVE, 3]["exploitability"] < rows[CFR_CURVE, 1]["exploitability"]
    assert all(row["value"] is not None and row["cpu_seconds"] > 0 for row in rows.values())
    assert len({claim.statement for claim in result.conclusion.claims}) == len(result.conclusion.claims)
    assert len(write_result(CFR_FBR_HOLDEM, result, tmp_path)) == 3


def measured_runs(values, levels, plain=(-100.0, 150.0, 140.0), width=10.0):
    """Returns points of CFR and of one run, at times 1, 10 and 100 and ten times that."""
    measured = Measured()
    for curve, numbers, scale in ((CFR_CURVE, plain, 1.0), (RUN, values, 10.0)):
        for place, (mark, value) in enumerate(zip(MARKS, numbers, strict=True)):
            figures = {VALUE: value, WIDTH: width, CPU: scale * 10.0**place}
            figures[EXPLOITABILITY] = levels[place] if curve == RUN else 5.0
            for panel, y in figures.items():
                measured.add(Point(panel=panel, curve=curve, x=mark, y=y))
    return measured


def verdicts(measured):
    claims = judge_training(measured, {CFR_CURVE: MARKS, RUN: MARKS})
    return [claim.verdict for claim in claims][:-1]  # the last one compares and judges nothing


YES, NO, OPEN = Verdict.CONFIRMED, Verdict.DENIED, Verdict.NOT_MEASURED


@pytest.mark.parametrize(
    ("values", "levels", "expected"),
    [  # R11, R12, R13, R14 above 1,000, R14 above 750, R15
        ((-900.0, -50.0, 400.0), (2000.0, 1300.0, 1310.0), [YES, YES, YES, YES, YES, YES]),
        ((-900.0, -50.0, 145.0), (2000.0, 900.0, 890.0), [YES, YES, OPEN, NO, YES, YES]),
        ((-900.0, 130.0, 120.0), (2000.0, 700.0, 690.0), [YES, YES, NO, NO, NO, NO]),
        ((50.0, 100.0, 400.0), (3000.0, 2500.0, 1500.0), [YES, NO, YES, OPEN, OPEN, OPEN]),
    ],
)
def test_training_is_judged(values, levels, expected):
    assert verdicts(measured_runs(values, levels)) == expected


def test_a_slow_rise_of_cfr_is_no_plateau():
    values, levels = (-900.0, -50.0, 400.0), (2000.0, 1300.0, 1310.0)

    assert verdicts(measured_runs(values, levels, plain=(-100.0, -20.0, 140.0)))[0] is Verdict.DENIED
    assert verdicts(measured_runs(values, levels, plain=(10.0, 20.0, 140.0)))[0] is Verdict.DENIED


def test_nothing_measured_is_nothing_judged():
    claims = [*judge_training(Measured(), {CFR_CURVE: MARKS, RUN: MARKS}), *judge_race(Measured(), {FBR_CURVE: (10,)})]

    assert {claim.verdict for claim in claims} == {Verdict.NOT_MEASURED}


def race(fbr, uct):
    """Returns the verdicts on a race with points (samples, milliseconds, earnings)."""
    measured = Measured()
    for curve, points in ((FBR_CURVE, fbr), (uct_curve(2.0), uct)):
        for x, spent, earned in points:
            measured.add(Point(panel=RACE, curve=curve, x=x, y=earned))
            measured.add(Point(panel=RACE_MILLISECONDS, curve=curve, x=x, y=spent))
    marks = {FBR_CURVE: tuple(x for x, _, _ in fbr), uct_curve(2.0): tuple(x for x, _, _ in uct)}
    return [claim.verdict for claim in judge_race(measured, marks)]


def test_races_are_judged_at_equal_time():
    uct = [(1000, 1.0, -300.0), (100_000, 100.0, -100.0)]

    # at 10 ms, half way in logarithms, UCT earns -200
    assert race([(1000, 10.0, -210.0), (100_000, 50.0, 30.0)], uct) == [YES, NO, YES, YES]
    assert race([(1000, 10.0, -190.0), (100_000, 50.0, -20.0)], uct) == [YES, YES, NO, YES]
    assert race([(100_000, 500.0, 30.0)], [*uct[:1], (100_000, 100.0, 5.0)]) == [OPEN, OPEN, YES, NO]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"marks": (3, 1)}, "marks must be numbers in ascending order, got 3, 1"),
        ({"hands": 0}, "hands must be at least 1, got 0"),
        ({"draws": 1}, "draws and race_draws must be at least 2, got 1 and 5"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        HoldemFBRConfiguration(**changes)
