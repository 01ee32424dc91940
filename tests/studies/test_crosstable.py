# SPDX-License-Identifier: Apache-2.0
"""Study `crosstable` at a tiny size, and what its verdicts are made of."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.leduc import Leduc
from equipoise.studies.responses.crosstable import (
    CROSSTABLE,
    EARNED,
    MEASURES,
    RANKINGS,
    CrosstableConfiguration,
    abstractions,
    rank_by_bankroll,
    rank_by_runoff,
    see,
)
from equipoise.studies.study import Measured, Point, Verdict
from equipoise.trees.history import build_history_tree
from equipoise.trees.merging import group_infosets, merge_infosets


@pytest.fixture(scope="module")
def result():
    return CROSSTABLE.run(CrosstableConfiguration(iterations=60, responding_iterations=20))


def test_every_abstraction_is_measured_and_placed(result):
    assert not result.is_partial
    rows = result.conclusion.rows
    assert [row["abstraction"] for row in rows] == list(abstractions())
    for row in rows:
        assert row["exploitability"] > 0
        assert row["domination value"] < row["exploitability"]  # equilibria are some of all responses
    for ranking in RANKINGS:
        assert sorted(row[ranking] for row in rows) == list(range(16))
    assert sum(row[EARNED] for row in rows) == pytest.approx(0.0, abs=1e-9)
    assert len(result.conclusion.claims) == 8
    assert Verdict.NOT_MEASURED not in {claim.verdict for claim in result.conclusion.claims}


def test_the_finest_abstraction_is_the_game_and_the_coarsest_has_perfect_recall():
    tree = build_history_tree(Leduc(merge_suits=True))
    sizes = [
        merge_infosets(tree, group_infosets(tree, lambda _, label, kind=kind: see(label, *kind))).tree.size.num_infosets
        for kind in (("J.Q.K", "card and board"), ("JQK", "pair"))
    ]
    assert sizes[0] == tree.size.num_infosets
    assert sizes[1] < 0.3 * tree.size.num_infosets


def test_rankings_differ_where_a_strong_one_lives_off_the_weakest():
    earned = np.array([[0.0, -1.0, 5.0], [1.0, 0.0, 0.0], [-5.0, 0.0, 0.0]])
    assert rank_by_bankroll(earned) == [0, 1, 2]
    assert rank_by_runoff(earned) == [1, 0, 2]


@pytest.mark.parametrize(
    ("domination", "verdict"), [(range(16), Verdict.CONFIRMED), (range(16, 0, -1), Verdict.DENIED)]
)
def test_the_order_of_correlations_is_judged(domination, verdict):
    measured = Measured()
    for number, value in enumerate(domination):
        for panel, y in ((MEASURES[0], 1 + number % 4), (MEASURES[1], value), (RANKINGS[0], number)):
            measured.add(Point(panel=panel, curve="leduc", x=number, y=float(y)))
    first = CROSSTABLE.conclude(CrosstableConfiguration(), measured).claims[0]
    assert "domination value" in first.statement
    assert first.verdict is verdict


def test_correlations_that_are_close_are_not_told_apart():
    measured = Measured()
    for number in range(16):
        for panel in (MEASURES[0], MEASURES[1], RANKINGS[0]):
            measured.add(Point(panel=panel, curve="leduc", x=number, y=1.0 + number))
    first, _, hardly, *_ = CROSSTABLE.conclude(CrosstableConfiguration(), measured).claims
    assert first.verdict is Verdict.UNDECIDED
    assert (hardly.verdict, hardly.ours) == (Verdict.UNDECIDED, "1.00")


def test_no_iterations_are_refused():
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        CrosstableConfiguration(iterations=0)
