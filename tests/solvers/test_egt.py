# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.solvers.egt import EGTConfig, EGTSolver
from equipoise.trees.history import build_history_tree

GAMES = {
    "kuhn": make_game("kuhn"),
    "leduc": make_game("leduc", merge_suits=True),
    "goofspiel4": make_game("goofspiel", cards=4),
    "rps_plus": make_game("rps_plus"),
}


@pytest.mark.parametrize("growth", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("name", GAMES)
def test_the_excessive_gap_condition_holds_and_bounds_nash_conv(name, growth):
    solver = EGTSolver(build_history_tree(GAMES[name]), EGTConfig(weight_growth=growth))
    for _ in range(40):
        before = solver.mu.copy()
        solver.iterate(1)
        # recomputed from the strategies, not from the mixed gradients that the solver keeps
        fresh = sum(solver.kernel.terminal_values(player, solver.realization) for player in range(2))
        assert solver.smoothed_gap(fresh, solver.mu) <= 1e-12
        assert solver.excess == pytest.approx(solver.smoothed_gap(fresh, solver.mu), abs=1e-12)
        assert solver.evaluate().nash_conv <= solver.gap_bound + 1e-12
        assert (solver.mu <= before).all()
        assert (solver.mu < before).sum() == 1


@pytest.mark.parametrize(
    ("name", "value", "bound"),
    [("kuhn", -1 / 18, 2e-3), ("leduc", -0.0856064, 0.02), ("goofspiel4", 0.0, 0.03), ("rps_plus", 0.0, 4e-3)],
)
def test_it_converges_at_one_over_t(name, value, bound):
    solver = EGTSolver(build_history_tree(GAMES[name]))
    solver.iterate(100)
    early = solver.evaluate().exploitability
    solver.iterate(900)
    late = solver.evaluate()
    assert early < bound
    assert late.exploitability < early / 3
    assert late.values[0] == pytest.approx(value, abs=2 * late.nash_conv)


def test_a_resumed_run_goes_on_to_the_bit():
    tree = build_history_tree(GAMES["kuhn"])
    whole, first, second = EGTSolver(tree), EGTSolver(tree), EGTSolver(tree)
    whole.iterate(60)
    first.iterate(25)
    second.restore({name: array.copy() for name, array in first.state().items()})
    second.iterate(35)
    assert second.average_strategy().tobytes() == whole.average_strategy().tobytes()
    assert (second.iteration, second.nodes_touched) == (60, whole.nodes_touched)


def test_nodes_are_counted_by_gradients():
    tree = build_history_tree(GAMES["kuhn"])
    solver = EGTSolver(tree, EGTConfig(initial_mu=10.0))
    assert solver.nodes_touched == 3 * tree.actor.size  # the first guess is large enough: one response each way
    solver.iterate(1)
    assert solver.nodes_touched == 6 * tree.actor.size


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel4"])  # in which no reach underflows to zero
def test_a_threshold_below_every_reach_changes_no_bit(name):
    tree = build_history_tree(GAMES[name])
    exact, walked = EGTSolver(tree), EGTSolver(tree, EGTConfig(threshold=1e-300))
    exact.iterate(40)
    walked.iterate(40)
    assert walked.realization.tobytes() == exact.realization.tobytes()
    assert walked.nodes_touched == exact.nodes_touched


def test_a_threshold_leaves_nodes_out_and_still_converges():
    tree = build_history_tree(GAMES["leduc"])
    exact, cut = EGTSolver(tree), EGTSolver(tree, EGTConfig(threshold=0.005))
    exact.iterate(300)
    cut.iterate(300)
    assert cut.nodes_touched < exact.nodes_touched
    assert cut.evaluate().exploitability < 1.5 * exact.evaluate().exploitability


def test_a_run_at_the_end_of_precision_stands_still():
    solver = EGTSolver(build_history_tree(GAMES["kuhn"]))
    solver.iterate(10)
    solver.step_size = 1e-12
    before = solver.average_strategy()
    solver.iterate(3)
    np.testing.assert_array_equal(solver.average_strategy(), before)
    assert solver.iteration == 13


def test_a_game_without_stakes_is_solved_at_once():
    solver = EGTSolver(build_history_tree(make_game("matrix", payoffs="0,0;0,0")))
    solver.iterate(5)
    assert solver.evaluate().exploitability == 0.0


def test_games_that_are_not_two_player_zero_sum_are_refused():
    with pytest.raises(ConfigError, match="needs a two-player zero-sum game"):
        EGTSolver(build_history_tree(make_game("kuhn", players=3)))


def test_a_team_of_no_threads_is_refused():
    with pytest.raises(ConfigError, match="num_threads must be between 1 and 256"):
        EGTSolver(build_history_tree(GAMES["kuhn"]), num_threads=0)


@pytest.mark.parametrize(
    "bad",
    [
        {"weight_growth": -1.0},
        {"initial_mu": 0.0},
        {"initial_step": 1.0},
        {"initial_step": float("nan")},
        {"threshold": -0.1},
        {"threshold": float("inf")},
    ],
)
def test_bad_configurations_are_refused(bad):
    with pytest.raises(ConfigError, match=next(iter(bad))):
        EGTConfig(**bad)
