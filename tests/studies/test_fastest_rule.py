# SPDX-License-Identifier: Apache-2.0
"""Study `fastest-rule` on two small spots, and what its numbers amount to."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rule_notation import parse_rule
from equipoise.studies.discounting.fastest_rule import FASTEST_RULE, FastestRuleConfiguration, draw_spot
from equipoise.studies.study import Measured, Point, Size
from equipoise.trees.holdem.tree import build_holdem_tree

SMALL = FastestRuleConfiguration(
    rules=("dcfr", "lcfr"), percents=(5.0, 1.0), rivers=2, turns=0, flops=0, most_hands=100, limit=200
)


def test_iterations_are_the_first_measured_ones_that_meet_a_target():
    result = FASTEST_RULE.run(SMALL)
    assert not result.is_partial
    assert [(row["percent"], row["rule"], row["spots"]) for row in result.conclusion.rows] == [
        (5.0, "dcfr", 2),
        (5.0, "lcfr", 2),
        (1.0, "dcfr", 2),
        (1.0, "lcfr", 2),
    ]
    tree = build_holdem_tree(draw_spot("rivers", 100, np.random.default_rng([1, 5, 0])))
    for rule in SMALL.rules:
        ((_, t), _) = result.curves["1 %"][rule]
        solver = CFRSolver(tree, parse_rule(rule))
        solver.iterate(t)
        assert solver.evaluate().exploitability <= 1.0
        assert t < 200


def test_ratios_and_signs_are_those_of_spots_that_both_solved():
    measured = Measured()
    for rule, iterations in (("dcfr", (100, 100, 100, 50)), ("lcfr", (200, 50, 400))):
        for spot, t in enumerate(iterations):
            measured.add(Point(panel="1 %", curve=rule, x=spot, y=t))
    first, second = FASTEST_RULE.conclude(SMALL, measured).rows[2:]
    assert (first["ratio"], first["wins"], first["losses"], first["spots"]) == (1.0, 0, 0, 4)
    assert second["ratio"] == pytest.approx(4 ** (1 / 3))
    assert (second["wins"], second["losses"], second["spots"]) == (1, 2, 3)
    assert second["p"] == pytest.approx(7 / 8)


def test_without_points_nothing_is_claimed():
    claims = FASTEST_RULE.conclude(SMALL, Measured()).claims
    assert [claim.ours for claim in claims] == ["nothing", "nothing"]


@pytest.mark.parametrize(("street", "num_cards"), [("rivers", 5), ("turns", 4), ("flops", 3)])
def test_spots_are_of_their_street_and_differ(street, num_cards):
    spots = [draw_spot(street, 60, np.random.default_rng([1, seed])) for seed in range(5)]
    assert {len(spot.board) for spot in spots} == {num_cards}
    assert len({spot.board for spot in spots}) == 5
    for spot in spots:
        counts = [int((held.weights > 0).sum()) for held in spot.ranges]
        assert counts[0] == counts[1]
        assert 20 <= counts[0] <= 60
        assert all(spot.live_weights(player).sum() == counts[player] for player in (0, 1))


def test_both_sizes_have_the_same_first_rule_and_the_full_one_forty_spots():
    quick, full = FASTEST_RULE.sizes[Size.QUICK], FASTEST_RULE.sizes[Size.FULL]
    assert quick.rules[0] == full.rules[0] == "dcfr"
    assert full.num_spots >= 40


@pytest.mark.parametrize(
    "fields",
    [
        {"rules": ("dcfr",)},
        {"rules": ("dcfr", "magic")},
        {"percents": ()},
        {"percents": (0.0,)},
        {"rivers": 0, "turns": 0, "flops": 0},
        {"flops": -1},
        {"most_hands": 50},
        {"limit": 2},
        {"threads": 0},
    ],
    ids=str,
)
def test_senseless_settings_are_refused(fields):
    with pytest.raises((ConfigError, ValueError)):
        FastestRuleConfiguration(**fields)
