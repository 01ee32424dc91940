# SPDX-License-Identifier: Apache-2.0
"""The studies of pruning at a tiny size, and how their statements are judged."""

import pytest

from equipoise.core.errors import ConfigError
from equipoise.studies.curves import crossing
from equipoise.studies.pruning.brp import BRP, BRP_PATIENT, BRPConfiguration, brp
from equipoise.studies.pruning.pruned_curves import (
    ALTERNATING,
    AT_ITERATIONS,
    AT_NODES,
    AT_WALKED,
    BYTES,
    COST,
    LEDUC,
    LEDUC_5,
    REGRETS,
    SIMULTANEOUS,
    PrunedConfiguration,
    final_speedup,
    panel_name,
)
from equipoise.studies.pruning.pruned_statements import Quantity, Statement, judge_statements
from equipoise.studies.pruning.rbp import RBP, RBPConfiguration
from equipoise.studies.pruning.zero_reach import ZERO_REACH
from equipoise.studies.report import write_result
from equipoise.studies.study import Measured, Point, Verdict

TINY = {"games": ("leduc",), "iterations": (300,)}
STUDIES = {
    "zero-reach": (ZERO_REACH, PrunedConfiguration(**TINY)),
    "rbp": (RBP, RBPConfiguration(**TINY, long_iterations=(1000,))),
    "brp": (BRP, BRPConfiguration(**TINY)),
}


@pytest.fixture(scope="module", params=STUDIES)
def study_and_result(request):
    study, configuration = STUDIES[request.param]
    return study, study.run(configuration)


def test_tiny_study_is_complete(study_and_result, tmp_path):
    study, result = study_and_result
    assert not result.is_partial
    assert {row["updates"] for row in result.conclusion.rows} == {"simultaneous", "alternating"}
    assert all(row["nodes"] > 0 and row["total exploitability"] > 0 for row in result.conclusion.rows)
    verdicts = {claim.verdict for claim in result.conclusion.claims}
    assert verdicts & {Verdict.CONFIRMED, Verdict.DENIED}
    assert len(write_result(study, result, tmp_path)) == 3


def test_pruning_saves_nodes_in_the_table():
    rows = RBP.run(RBPConfiguration(**TINY, long_iterations=(1000,))).conclusion.rows
    saved = {(row["updates"], row["algorithm"]): row["beside"] for row in rows if row["beside"]}
    assert all(value > 1.0 for (_, name), value in saved.items() if name == "cfr, RBP")
    printed = {(row["updates"], row["iterations"]) for row in rows if row["algorithm"] == "cfr, RBP as printed"}
    assert printed == {("simultaneous", mark) for mark in (300, 1000)}  # which runs longer


def test_pruning_as_printed_is_judged_of_long_runs_alone():
    claims = []
    for iterations in (30_000, 1_000_000):
        measured = Measured()
        for curve, scale in (("cfr, partial pruning, one walk", 9.0), ("cfr, RBP as printed", 1.0)):
            for quantity in (AT_NODES, AT_WALKED, AT_ITERATIONS):
                for x, y in ((iterations // 10, 1.0), (iterations, 0.1)):
                    factor = 1.0 if quantity == AT_ITERATIONS else scale
                    panel = panel_name(LEDUC, SIMULTANEOUS, quantity)
                    measured.add(Point(panel=panel, curve=curve, x=int(x * factor), y=y))
        configuration = RBPConfiguration(**TINY, long_iterations=(iterations,))
        claims.append([one for one in RBP.conclude(configuration, measured).claims if "factor of 8" in one.statement])
    assert [claim.verdict for claim in claims[0]] == [Verdict.NOT_MEASURED] * 2
    assert [(claim.verdict, claim.ours) for claim in claims[1]] == [
        (Verdict.CONFIRMED, "9 after 1,000,000 iterations")
    ] * 2


def test_memory_falls_under_best_response_pruning():
    result = BRP.run(BRPConfiguration(**TINY))
    curves = result.curves[panel_name(LEDUC, ALTERNATING, BYTES)]
    named = {brp(rule, constant) for rule in ("cfr", "cfr with RM+") for constant in (0.0, 0.001, 0.01, 0.1)}
    assert set(curves) == {*named, BRP_PATIENT}
    assert curves[brp("cfr", 0.1)][-1][1] < 1.0
    followed = dict(result.curves[panel_name(LEDUC, ALTERNATING, REGRETS)][brp("cfr", 0.0)])
    assert 0.1 < followed[300] < curves[brp("cfr", 0.0)][-1][1]  # bytes hold what pruning keeps as well


def test_an_interrupted_study_claims_nothing_about_what_it_has_not_measured():
    result = RBP.run(RBPConfiguration(**TINY, long_iterations=(1000,)), is_interrupted=lambda: True)
    assert result.is_partial
    assert {claim.verdict for claim in result.conclusion.claims} == {Verdict.NOT_MEASURED}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"games": ("leduc", "kuhn")}, "expected any of leduc, leduc5, got 'kuhn'"),
        ({"iterations": (5,)}, "iterations must be given for each of 2 games"),
        ({"updates": ("both",)}, "expected any of simultaneous, alternating, got 'both'"),
    ],
)
def test_bad_settings_are_named(changes, message):
    with pytest.raises(ConfigError, match=message):
        PrunedConfiguration(**changes)


def test_crossings_follow_the_lowest_level_so_far():
    assert crossing([(1, 1.0), (100, 0.01)], 0.1) == pytest.approx(10.0)
    assert crossing([(5, 0.1)], 0.1) == 5.0
    assert crossing([(1, 1.0), (2, 0.0)], 0.1) == 2.0
    assert crossing([], 1.0) is None


def fill(quantity, curves):
    measured = Measured()
    for name, points in curves.items():
        for x, y in points:
            measured.add(Point(panel=panel_name(LEDUC, ALTERNATING, quantity), curve=name, x=x, y=y))
    return measured


def test_speedup_is_taken_at_the_level_that_both_reach():
    measured = fill(AT_NODES, {"slow": [(10, 1.0), (1000, 0.01)], "fast": [(10, 1.0), (100, 0.001)]})
    panel = panel_name(LEDUC, ALTERNATING, AT_NODES)
    assert final_speedup(measured, panel, "slow", "fast") == pytest.approx(1000 / 10 ** (5 / 3))
    assert final_speedup(measured, panel, "slow", "other") is None


@pytest.mark.parametrize(
    ("quantity", "panel", "expected"), [(Quantity.COST, COST, 4.0), (Quantity.LEVEL, AT_ITERATIONS, 4.0)]
)
@pytest.mark.parametrize(("least", "verdict"), [(3.0, Verdict.CONFIRMED), (5.0, Verdict.DENIED)])
def test_statements_are_judged_by_their_ratio(quantity, panel, expected, least, verdict):
    measured = fill(panel, {"above": [(1, 9.0), (2, 8.0)], "below": [(1, 9.0), (2, 2.0)]})
    statement = Statement(
        text="t", source="s", game=LEDUC, quantity=quantity, above="above", below="below", least=least
    )
    configuration = PrunedConfiguration(games=("leduc",), iterations=(2,), updates=(ALTERNATING,))
    (claim,) = judge_statements([statement], configuration, measured)
    assert (claim.verdict, claim.ours) == (verdict, f"{expected:.3g}")


def test_statements_about_a_game_left_out_are_left_out():
    statement = Statement(text="t", source="s", game=LEDUC_5, quantity=Quantity.BYTES, above="a", most=0.5)
    configuration = PrunedConfiguration(games=("leduc",), iterations=(2,))
    assert list(judge_statements([statement], configuration, Measured())) == []
