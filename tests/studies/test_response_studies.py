# SPDX-License-Identifier: Apache-2.0
"""The studies of responses at a tiny size, and how their statements are judged."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.studies.report import write_result
from equipoise.studies.responses.cfr_fbr import CFR_FBR
from equipoise.studies.responses.cfr_uct import CFR_UCT, UCTConfiguration
from equipoise.studies.responses.graded_responses import (
    GRADED_RESPONSES,
    GradedConfiguration,
    LeducStrengths,
    panel_name,
)
from equipoise.studies.responses.rnr import RNR, RNRConfiguration
from equipoise.studies.responses.trained_responses import (
    HALF_WIDTH,
    Cell,
    TrainingConfiguration,
    compare_cells,
    read_cell,
)
from equipoise.studies.study import Measured, Point, Verdict

TINY_UCT = UCTConfiguration(
    constants=(2.0,),
    strengths=(50,),
    iterations=(100,),
    evaluations=(50, 200),
    num_seeds=2,
    num_responses=5,
    baseline_iterations=100,
)
TINY_FBR = TrainingConfiguration(
    strengths=(20, 50, 100),
    iterations=(60, 60, 60),
    evaluations=(20, 50, 100),
    num_seeds=1,
    num_responses=5,
    baseline_iterations=100,
)
STUDIES = {
    "cfr-uct": (CFR_UCT, TINY_UCT),
    "cfr-fbr": (CFR_FBR, TINY_FBR),
    "rnr": (RNR, RNRConfiguration(percents=(10, 90), iterations=60)),
    "graded-responses": (
        GRADED_RESPONSES,
        GradedConfiguration(
            ranks=3,
            preflop=(2,),
            flop=(3,),
            larger_flop=5,
            response_preflop=(1, 2, 3),
            response_flop=(1, 2, 3),
            iterations=60,
            num_orders=2,
        ),
    ),
}


@pytest.mark.parametrize("name", STUDIES)
def test_tiny_study_is_complete(name, tmp_path):
    study, configuration = STUDIES[name]
    result = study.run(configuration)
    assert not result.is_partial
    assert result.conclusion.rows
    assert {claim.verdict for claim in result.conclusion.claims} & {Verdict.CONFIRMED, Verdict.DENIED}
    assert Verdict.NOT_MEASURED not in {claim.verdict for claim in result.conclusion.claims}
    assert len(write_result(study, result, tmp_path)) == 3


@pytest.mark.parametrize("name", STUDIES)
def test_an_interrupted_study_claims_nothing(name):
    study, configuration = STUDIES[name]
    result = study.run(configuration, is_interrupted=lambda: True)
    assert result.is_partial
    assert {claim.verdict for claim in result.conclusion.claims} <= {Verdict.NOT_MEASURED}


def test_comparisons_need_intervals_that_are_apart():
    high, middle, low = [Cell(10.0, 1.0)], [Cell(9.0, 1.0)], [Cell(5.0, 1.0)]
    assert compare_cells([(high, low)]) is Verdict.CONFIRMED
    assert compare_cells([(low, high)]) is Verdict.DENIED
    assert compare_cells([(high, middle)]) is Verdict.UNDECIDED
    assert compare_cells([(high, low), (low, high)]) is Verdict.DENIED
    assert compare_cells([([*high, Cell(4.0, 1.0)], low)]) is Verdict.UNDECIDED
    assert compare_cells([(high, [])]) is Verdict.NOT_MEASURED
    assert compare_cells([(high, low)], margin=4.0) is Verdict.UNDECIDED


def test_cells_take_the_widest_interval_of_their_runs():
    measured = Measured()
    for run, (mean, width) in enumerate([(3.0, 0.1), (1.0, 0.5)]):
        measured.add(Point(panel="p", curve="c", x=1, y=mean, run=run))
        measured.add(Point(panel=HALF_WIDTH + "p", curve="c", x=1, y=width, run=run))
    assert read_cell(measured, "p", "c", 1) == [Cell(1.0, 0.5), Cell(3.0, 0.5)]
    assert read_cell(measured, "p", "c", 2) == []


@pytest.mark.parametrize(
    ("value", "exploitability", "verdicts"),
    [
        (5.0, 500.0, (Verdict.CONFIRMED, Verdict.CONFIRMED)),
        (0.5, 20.0, (Verdict.DENIED, Verdict.UNDECIDED)),  # hardly more exploitable than CFR; may lose
        (-5.0, 500.0, (Verdict.CONFIRMED, Verdict.DENIED)),
    ],
)
def test_what_uct_taught_is_judged_by_both_halves_of_a_statement(value, exploitability, verdicts):
    configuration = dataclasses.replace(TINY_UCT, strengths=(50,), evaluations=(50,), iterations=(100,), num_seeds=1)
    measured, panel = Measured(), "C = 2"
    for curve, x, exploited, earned in (("CFR", 1, 10.0, 3.0), ("CFR-UCT-50", 50, exploitability, value)):
        measured.add(Point(panel=f"{panel}, exploitability", curve=curve, x=x, y=exploited))
        measured.add(Point(panel=f"{panel}, loss to CFR", curve=curve, x=x, y=1.0))
        measured.add(Point(panel=panel, curve=curve, x=50, y=earned))
        measured.add(Point(panel=HALF_WIDTH + panel, curve=curve, x=50, y=1.0))
    claims = {claim.statement: claim.verdict for claim in CFR_UCT.conclude(configuration, measured).claims}
    found = [next(claims[text] for text in claims if part in text) for part in ("(R7)", "does not lose to any")]
    assert tuple(found) == verdicts


def test_strengths_of_leduc():
    strengths = LeducStrengths(3)
    np.testing.assert_array_equal(np.diag(strengths.strength), 1.0)
    assert strengths.strength[2, 0] == pytest.approx((2 + 0.5) / 4)  # king on a jack: two queens, a tie, a paired jack
    assert strengths.strength[0, 2] == pytest.approx(0.5 / 4)
    first, second = LeducStrengths(6).percentiles(3, 5)
    assert first.tolist() == [0, 0, 1, 1, 2, 2]
    assert np.bincount(second.ravel(), weights=LeducStrengths(6).weight.ravel()).max() <= 132 / 5 + 4
    assert (np.diff(second.ravel()[np.argsort(LeducStrengths(6).strength.ravel(), kind="stable")]) >= 0).all()


def test_orders_of_equal_strengths_make_other_buckets_as_heavy():
    strengths = LeducStrengths(6)
    for order in (1, 2):
        _, buckets = strengths.percentiles(3, 5, order)
        assert (buckets != strengths.percentiles(3, 5)[1]).any()
        np.testing.assert_array_equal(buckets, strengths.percentiles(3, 5, order)[1])
        assert np.bincount(buckets.ravel(), weights=strengths.weight.ravel()).max() <= 132 / 5 + 4
        # a weaker pair of ranks is never in a higher bucket
        for level in np.unique(np.round(strengths.strength, 9)):
            below = buckets[np.round(strengths.strength, 9) < level]
            assert below.max(initial=0) <= buckets[np.round(strengths.strength, 9) == level].min()


def test_orders_that_disagree_leave_a_statement_undecided():
    panel = panel_name(2, 3)
    measured = Measured()
    for run, gap in enumerate((5.0, -5.0)):  # CFR ahead against the small response in the first order alone
        losses = {"CFR": {10: 0.0, 40: 50.0, 60: 100.0}, "CFR-BR": {10: gap, 40: 40.0, 60: 50.0}}
        for curve, points in losses.items():
            for x, y in points.items():
                measured.add(Point(panel=panel, curve=curve, x=x, y=y, run=run))
        for curve, y in (
            ("training size", 20),
            ("CFR-BR to CFR", 3.0),
            ("CFR to a larger abstraction", 5.0),
            ("CFR-BR to a larger abstraction", 4.0),
        ):
            measured.add(Point(panel=f"{panel}, head to head", curve=curve, x=1, y=y, run=run))
    configuration = GradedConfiguration(preflop=(2,), flop=(3,), num_orders=2)
    claims = GRADED_RESPONSES.conclude(configuration, measured).claims
    assert len(claims) == 8
    by_text = {claim.statement.removeprefix(f"{panel}: ")[:20]: claim for claim in claims}
    assert by_text["against a best respo"].verdict is Verdict.CONFIRMED
    assert by_text["against responses sm"].verdict is Verdict.UNDECIDED
    assert "holds in 1 of 2 orders" in by_text["against responses sm"].ours
    assert by_text["CFR is still ahead a"].verdict is Verdict.DENIED


def test_bad_settings_are_refused():
    with pytest.raises(ConfigError, match="must be as many"):
        GradedConfiguration(preflop=(1,))
    with pytest.raises(ConfigError, match="num_orders must be at least 1, got 0"):
        GradedConfiguration(num_orders=0)
    with pytest.raises(ConfigError, match="must be as many"):
        CFR_FBR.configure("quick", {"strengths": "1,2"})
    with pytest.raises(ConfigError, match="must be as many"):
        CFR_UCT.configure("quick", {"strengths": "1"})
    with pytest.raises(ConfigError, match="percents must be from 0 to 100"):
        RNRConfiguration(percents=(101,), iterations=1)
