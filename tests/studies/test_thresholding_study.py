# SPDX-License-Identifier: Apache-2.0
"""Curves over nodes, and the study of dynamic thresholding at a small size and on invented numbers."""

import pytest

from equipoise.games.registry import make_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR
from equipoise.studies.node_curves import NodePanel, advance, measure_node_curves, typical_speedup
from equipoise.studies.pruning.dynamic_thresholding import (
    DYNAMIC_THRESHOLDING,
    EGT,
    HEDGE,
    HEDGE_RBP,
    RM_RBP,
    ThresholdingConfiguration,
    conclude,
    name_panel,
)
from equipoise.studies.registry import STUDIES
from equipoise.studies.study import Measured, Point, Size, Verdict
from equipoise.trees.history import build_history_tree

SMALL = ThresholdingConfiguration(games=("leduc",), nodes=(10**6,), first_nodes=(10**5,))
BOTH = ThresholdingConfiguration(nodes=(10**6, 10**8), first_nodes=(10**4, 10**6))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EQUIPOISE_CACHE", str(tmp_path_factory.mktemp("cache")))
        return DYNAMIC_THRESHOLDING.run(SMALL)


def invent(factors, configuration=BOTH):
    """Returns curves that fall as 1 / nodes, each so many times faster than that; the same in every panel."""
    measured = Measured()
    for game in configuration.games:
        for panel, curves in configuration.panels.items():
            for curve in curves:
                for mark in configuration.marks(game):
                    y = 1e4 / (mark * factors.get((game, curve), factors.get(curve, 1.0)))
                    measured.add(Point(panel=name_panel(game, panel), curve=curve, x=mark, y=y))
    return measured


def verdict(conclusion, *words):
    (found,) = [claim.verdict for claim in conclusion.claims if all(word in claim.statement for word in words)]
    return found


@pytest.mark.parametrize("factor", [0.2, 1.0, 3.0])
def test_a_curve_that_needs_a_third_of_the_nodes_is_three_times_as_fast(factor):
    measured = invent({HEDGE_RBP: factor})
    assert typical_speedup(measured, "leduc: methods", HEDGE, HEDGE_RBP) == pytest.approx(factor)
    assert typical_speedup(measured, "leduc: methods", HEDGE_RBP, HEDGE) == pytest.approx(1 / factor)


def test_curves_without_a_quality_in_common_are_not_compared():
    measured = invent({HEDGE_RBP: 1e6})
    assert typical_speedup(measured, "leduc: methods", HEDGE, HEDGE_RBP) is None
    assert typical_speedup(measured, "leduc: methods", HEDGE, "nothing") is None


def test_a_bad_point_does_not_take_back_what_was_reached():
    measured = invent({})
    measured.add(Point(panel="leduc: methods", curve=HEDGE, x=10**6, y=5.0))
    assert typical_speedup(measured, "leduc: methods", HEDGE, EGT) == pytest.approx(1.0)


def test_a_run_passes_its_mark_by_less_than_an_iteration():
    tree = build_history_tree(make_game("kuhn"))
    solver = CFRSolver(tree, CFR())
    for mark in (1, 1000, 12345):
        advance(solver, mark)
        assert mark <= solver.nodes_touched < mark + 2 * tree.actor.size


def test_steps_end_at_the_whole():
    tree = build_history_tree(make_game("kuhn"))
    panels = [NodePanel("a", tree, (500, 1000)), NodePanel("b", tree, (2000,))]
    steps = list(measure_node_curves(panels, {"cfr": lambda tree: CFRSolver(tree, CFR())}))
    assert [step.points[0].x for step in steps] == [500, 1000, 2000]
    assert [step.fraction for step in steps] == pytest.approx([500 / 3000, 1000 / 3000, 1.0])


def test_marks_are_round_numbers_up_to_the_last():
    assert SMALL.marks("leduc") == [100_000, 200_000, 500_000, 1_000_000]


def test_the_study_is_registered_with_both_sizes():
    assert STUDIES["dynamic-thresholding"] is DYNAMIC_THRESHOLDING
    assert DYNAMIC_THRESHOLDING.sizes[Size.FULL].nodes > DYNAMIC_THRESHOLDING.sizes[Size.QUICK].nodes


def test_a_small_run_measures_every_curve(small):
    assert not small.is_partial
    assert all(row["ours"] > 0 for row in small.conclusion.rows)
    assert all(
        claim.verdict is not Verdict.NOT_MEASURED for claim in small.conclusion.claims if "leduc:" in claim.statement
    )
    assert {len(points) for curves in small.curves.values() for points in curves.values()} == {4}


def test_thresholds_help_hedge_on_leduc(small):
    assert verdict(small.conclusion, "leduc: thresholds benefit Hedge") is Verdict.CONFIRMED
    assert verdict(small.conclusion, "increases with the size of the game: EGT") is Verdict.NOT_MEASURED


def test_verdicts_follow_the_numbers():
    good = conclude(BOTH, invent({("leduc", RM_RBP): 0.5, ("leduc5", HEDGE_RBP): 7.0, ("leduc5", RM_RBP): 9.0}))
    bad = conclude(BOTH, invent({("leduc", RM_RBP): 2.0, ("leduc5", HEDGE_RBP): 3.0}))
    for words in (
        ("leduc: with thresholds and RBP, Hedge outperforms",),
        ("leduc5: thresholds and RBP improve Hedge by a factor of 7",),
        ("leduc5: with RBP, regret matching outperforms",),
    ):
        assert verdict(good, *words) is Verdict.CONFIRMED
        assert verdict(bad, *words) is Verdict.DENIED
    assert verdict(good, "increases with the size of the game: Hedge, with RBP") is Verdict.CONFIRMED


def test_sensitivity_is_the_spread_of_the_curves():
    alike, unlike = (conclude(BOTH, invent({"hedge, d = 2": factor})) for factor in (1.2, 4.0))
    assert verdict(alike, "leduc: performance is not sensitive to d") is Verdict.CONFIRMED
    assert verdict(unlike, "leduc: performance is not sensitive to d") is Verdict.DENIED
