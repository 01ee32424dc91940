# SPDX-License-Identifier: Apache-2.0
"""The studies of Deep CFR at small sizes and on invented numbers."""

import dataclasses

import pytest

from equipoise.learning.deep_cfr.settings import Fallback, Memory, Weighting
from equipoise.studies.learning.deep_cfr import DEEP_CFR, KUHN, LEDUC, NFSP, POLICY, TABLE, VALUES, conclude
from equipoise.studies.learning.deep_cfr_ablations import (
    BASELINE,
    CHANGES,
    CURVES,
    DEEP_CFR_ABLATIONS,
    FRACTIONS,
    STATED,
)
from equipoise.studies.learning.deep_cfr_ablations import conclude as conclude_ablations
from equipoise.studies.study import Measured, Point, Size, Verdict

pytest.importorskip("torch", reason="training needs torch")

QUICK = DEEP_CFR.sizes[Size.QUICK]
ABLATIONS = DEEP_CFR_ABLATIONS.sizes[Size.QUICK]


def invent(panel, ends, seeds):
    """Returns one point of each curve and seed, a little above and below its end."""
    measured = Measured()
    for curve, value in ends.items():
        for run in range(seeds):
            measured.add(Point(panel=panel, curve=curve, x=16, y=value * (0.99 + 0.02 * run / seeds), run=run))
    return measured


def test_all_curves_are_measured_at_the_same_histories():
    tiny = dataclasses.replace(
        QUICK, games=(KUHN,), seeds=1, kuhn_iterations=2, traversals=20, steps=5, policy_steps=5, batch=64, marks=2
    )
    result = DEEP_CFR.run(tiny)
    assert not result.is_partial
    curves = result.curves[KUHN]
    assert set(curves) == {POLICY, VALUES, NFSP, TABLE}
    assert {tuple(x for x, _ in points) for points in curves.values()} == {tuple(x for x, _ in curves[TABLE])}
    assert all(row["seeds"] == 1 for row in result.conclusion.rows)


def test_orders_and_levels_are_judged():
    measured = invent(LEDUC, {POLICY: 60.0, VALUES: 50.0, NFSP: 300.0, TABLE: 20.0}, seeds=6)
    verdicts = [claim.verdict for claim in conclude(QUICK, measured).claims]
    assert verdicts == [Verdict.CONFIRMED, Verdict.CONFIRMED, Verdict.DENIED, Verdict.NOT_MEASURED]
    turned = invent(LEDUC, {POLICY: 60.0, VALUES: 70.0, NFSP: 50.0}, seeds=6)
    verdicts = [claim.verdict for claim in conclude(QUICK, turned).claims]
    assert verdicts == [Verdict.DENIED, Verdict.DENIED, Verdict.CONFIRMED, Verdict.NOT_MEASURED]


def test_nothing_measured_is_nothing_judged():
    conclusion = conclude(QUICK, Measured())
    assert conclusion.rows == ()
    assert all(claim.verdict is Verdict.NOT_MEASURED for claim in conclusion.claims)


def test_each_ablation_changes_one_thing():
    baseline = ABLATIONS.settings(BASELINE, 0)
    assert ABLATIONS.settings("uniform weights", 0) == dataclasses.replace(baseline, weighting=Weighting.UNIFORM)
    assert ABLATIONS.settings("fine-tuned", 0) == dataclasses.replace(baseline, is_refitted=False)
    assert ABLATIONS.settings("uniform fallback", 0) == dataclasses.replace(baseline, fallback=Fallback.UNIFORM)
    assert ABLATIONS.settings("sliding window", 0) == dataclasses.replace(baseline, memory=Memory.SLIDING)
    assert ABLATIONS.settings("a quarter of the steps", 0) == dataclasses.replace(baseline, steps=15)
    assert set(CURVES) == {BASELINE, *CHANGES, *FRACTIONS}
    assert {ordering.above for ordering in STATED} == set(CURVES) - {BASELINE}


def test_ablations_are_measured_and_judged_at_their_ends():
    tiny = dataclasses.replace(
        ABLATIONS, iterations=1, traversals=16, steps=4, policy_steps=4, batch=32, hidden=8, marks=1
    )
    result = DEEP_CFR_ABLATIONS.run(tiny)
    assert {row["curve"] for row in result.conclusion.rows} == set(CURVES)
    worse = invent("leduc", {BASELINE: 50.0} | {curve: 75.0 for curve in CURVES if curve != BASELINE}, seeds=6)
    claims = conclude_ablations(dataclasses.replace(ABLATIONS, seeds=6, iterations=16), worse).claims
    assert {claim.verdict for claim in claims} == {Verdict.CONFIRMED}
