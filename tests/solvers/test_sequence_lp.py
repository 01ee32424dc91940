# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy import optimize

from equipoise.core.errors import ConfigError, NotConvergedError
from equipoise.games.registry import make_game
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.sequence_lp import solve_sequence_lp
from equipoise.trees.history import build_history_tree

CASES = {
    "kuhn": (make_game("kuhn"), -1 / 18),
    "leduc": (make_game("leduc"), -0.0856064240780),
    "merged leduc": (make_game("leduc", merge_suits=True), -0.0856064240780),
    "rock paper scissors": (make_game("rock_paper_scissors"), 0.0),
    "rps_plus": (make_game("rps_plus"), 0.0),
    "goofspiel4": (make_game("goofspiel", cards=4), 0.0),
    "liars_dice 1x4": (make_game("liars_dice", faces=4), 0.0625),
    "saddle point": (make_game("matrix", payoffs="3,1;0,-2"), 1.0),
    "mixed": (make_game("matrix", payoffs="1,0;0,2"), 2 / 3),
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_known_and_strategies_exact(name):
    game, value = CASES[name]
    tree = build_history_tree(game)
    equilibrium = solve_sequence_lp(tree)
    assert equilibrium.value == pytest.approx(value, abs=1e-9)
    evaluation = evaluate(tree, equilibrium.strategy)
    assert 0 <= evaluation.exploitability + 1e-12 < 1e-8
    assert evaluation.values[0] == pytest.approx(value, abs=1e-8)


def test_the_mixed_equilibrium_is_two_to_one_for_both():
    strategy = solve_sequence_lp(build_history_tree(CASES["mixed"][0])).strategy
    np.testing.assert_allclose(strategy, [1, 2 / 3, 1 / 3, 1, 2 / 3, 1 / 3], atol=1e-9)


def test_payoffs_of_any_size_are_solved():
    tree = build_history_tree(make_game("matrix", payoffs="0,1000000;1,0"))
    equilibrium = solve_sequence_lp(tree)
    assert equilibrium.value == pytest.approx(1e6 / (1e6 + 1), rel=1e-9)
    assert evaluate(tree, equilibrium.strategy).exploitability < 1e-8 * 1e6


def test_three_players_are_refused():
    with pytest.raises(ConfigError, match=r"needs two players, and kuhn\(players=3\) has 3"):
        solve_sequence_lp(build_history_tree(make_game("kuhn", players=3)))


def test_general_sum_games_are_refused():
    game = make_game("matrix", payoffs="1,0;0,1", column_payoffs="1,0;0,1")
    with pytest.raises(ConfigError, match="needs a zero-sum game"):
        solve_sequence_lp(build_history_tree(game))


def test_a_failing_solver_is_reported(monkeypatch):
    def give_up(*args, **kwargs):
        return optimize.OptimizeResult(status=1, x=None, fun=None, message="iteration limit reached")

    monkeypatch.setattr(optimize, "linprog", give_up)
    with pytest.raises(NotConvergedError, match="iteration limit reached"):
        solve_sequence_lp(build_history_tree(make_game("kuhn")))
