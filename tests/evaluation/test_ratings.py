# SPDX-License-Identifier: Apache-2.0
"""Ratings and rankings from known results."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.evaluation.ratings import fit_elo, rank_by_bankroll, rank_by_runoff
from equipoise.evaluation.statistics import estimate_mean


def test_two_agents_have_the_elo_of_their_score():
    found = fit_elo(("a", "b"), [[0, 7500], [2500, 0]], anchor=1)
    assert found.elo[1] == 0.0
    assert found.elo[0] == pytest.approx(400 * np.log10(3), rel=1e-3)
    # delta method: the log odds of 10,000 games have variance 1 / (n p q)
    assert found.half_widths[0] == pytest.approx(1.96 * 400 / np.log(10) / np.sqrt(1875), rel=1e-3)


def test_ratings_recover_the_strengths_behind_expected_scores():
    strengths = np.array([0.0, 120.0, -80.0, 300.0])
    odds = 1 / (1 + 10 ** ((strengths[None, :] - strengths[:, None]) / 400))
    scores = 100_000 * odds * (1 - np.eye(4))
    np.testing.assert_allclose(fit_elo("abcd", scores).elo, strengths, atol=0.05)


def test_an_agent_that_never_lost_has_a_finite_rating():
    found = fit_elo(("a", "b"), [[0, 10], [0, 0]])
    assert -1200 < found.elo[1] < -300


def test_ratings_say_what_they_cannot_compare():
    with pytest.raises(ConfigError, match="no game links c to a"):
        fit_elo("abc", [[0, 1, 0], [1, 0, 0], [0, 0, 0]])


def test_runoff_and_bankroll_differ_where_somebody_robs_the_weakest():
    # the first wins a fortune from the last and loses to everybody else
    table = [[0, -1, -1, 50], [1, 0, -1, 2], [1, 1, 0, 1], [-50, -2, -1, 0]]
    order, means = rank_by_bankroll(table)
    assert order == (0, 2, 1, 3)
    assert means[0] == pytest.approx(16)
    assert rank_by_runoff(table) == (2, 1, 0, 3)


def test_an_estimate_is_the_mean_with_its_interval():
    found = estimate_mean(np.array([1.0, 2.0, 3.0, 4.0]))
    assert found.mean == 2.5
    assert found.standard_error == pytest.approx(np.std([1, 2, 3, 4], ddof=1) / 2)
    assert found.interval[1] - found.mean == pytest.approx(1.95996 * found.standard_error, rel=1e-4)
    assert found.scale(-10).interval[0] == pytest.approx(-10 * found.interval[1])
