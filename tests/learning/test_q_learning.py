# SPDX-License-Identifier: Apache-2.0
"""Q-learning: what it comes to, and how strategies of learners are read and saved."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.apps.cli import app
from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.learning.learner import play_greedily
from equipoise.learning.q_learning import QLearner, QLearningConfig
from equipoise.trees.history import build_history_tree


def test_against_nobody_it_finds_the_optimum():
    game = make_game("matrix", payoffs="1,3,2")  # the column player's best is the first column
    learner = QLearner(build_history_tree(game), rng=np.random.default_rng(0))
    learner.train(2000)
    assert learner.evaluate().exploitability == 0.0


def test_kuhn_stays_as_far_from_equilibrium_as_published():
    learner = QLearner(build_history_tree(make_game("kuhn")), rng=np.random.default_rng(1))
    learner.train(100_000)
    levels = []
    for _ in range(40):
        learner.train(5000)
        levels.append(1000 * learner.evaluate().exploitability)
    assert learner.num_games == 300_000
    assert 190 < np.mean(levels) < 310  # around 250 in the paper
    assert max(levels) > min(levels) + 100  # it never settles


def test_greedy_play_shares_ties():
    tree = build_history_tree(make_game("kuhn"))
    value = np.zeros(int(tree.sequence_start[-1]))
    first = int(tree.first_sequence[0])
    value[first + 1] = 0.5
    strategy = play_greedily(tree, value)
    assert strategy[first : first + 2].tolist() == [0.0, 1.0]
    second = int(tree.first_sequence[1])
    assert strategy[second : second + 2].tolist() == [0.5, 0.5]
    assert (strategy[tree.sequence_start[:-1]] == 1.0).all()


def test_saved_strategies_are_evaluated_by_the_command_line(tmp_path):
    learner = QLearner(build_history_tree(make_game("kuhn")), rng=np.random.default_rng(0))
    learner.train(10_000)
    learner.table().save(tmp_path / "learned.eq")
    result = CliRunner().invoke(app, ["evaluate", str(tmp_path / "learned.eq"), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["exploitability"] == pytest.approx(learner.evaluate().exploitability)


@pytest.mark.parametrize("changes", [{"step_size": 0.0}, {"step_size": 1.1}, {"exploration": -0.1}])
def test_settings_out_of_range_are_refused(changes):
    with pytest.raises(ConfigError, match="must be"):
        QLearningConfig(**changes)
