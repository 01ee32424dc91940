# SPDX-License-Identifier: Apache-2.0
"""Neural fictitious self-play."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.learning.deep_cfr.nfsp import NFSPLearner, NFSPTraining
from equipoise.learning.deep_cfr.settings import DeepCFRSettings, Learner
from equipoise.learning.dqn import DQNConfig
from equipoise.trees.history import build_history_tree
from tests.learning.deep_cfr.test_training import run_in_pieces

KUHN = build_history_tree(make_game("kuhn"))
SETTINGS = DeepCFRSettings(
    learner=Learner.NFSP, iterations=20, traversals=320, hidden=16, rate=0.005, capacity=20_000, anticipation=0.2
)


def test_averages_become_less_exploitable():
    run = NFSPTraining(KUHN, SETTINGS)
    before = run.evaluate().exploitability
    run.iterate(12)
    assert run.evaluate().exploitability < before / 2
    assert run.nodes_touched > 12 * 320 * 3


def test_only_best_responses_are_imitated():
    config = DQNConfig(hidden=(8,), games_per_round=400, updates_per_round=1, batch_size=8, exploration=0.5)
    learner = NFSPLearner(KUHN, config, anticipation=0.25, rng=np.random.default_rng(1))
    learner.train(400)
    imitated, played = (np.array([len(one) for one in learner.memories]), learner.buffers.count[0])
    assert (imitated / played > 0.15).all()
    assert (imitated / played < 0.35).all()


def test_a_run_goes_on_to_the_bit():
    whole, first, second = (NFSPTraining(KUHN, SETTINGS) for _ in range(3))
    whole.iterate(3)
    first.iterate(2)
    second.restore(first.state())
    second.iterate(1)
    ours, theirs = whole.state(), second.state()
    for name in ours:
        if name != "progress":
            assert np.array_equal(ours[name], theirs[name]), name


def test_a_state_of_another_game_is_refused():
    other = NFSPTraining(build_history_tree(make_game("leduc", ranks=2, max_raises=1)), SETTINGS)
    with pytest.raises(ConfigError, match="the saved training is of another one"):
        other.restore(NFSPTraining(KUHN, SETTINGS).state())


def test_anticipation_must_be_a_share():
    with pytest.raises(ConfigError, match="anticipation must be above 0 and at most 1, got 0"):
        dataclasses.replace(SETTINGS, anticipation=0.0)


def test_an_iteration_that_is_interrupted_goes_on_to_the_bit():
    whole = NFSPTraining(KUHN, SETTINGS)
    whole.iterate(2)
    run, pieces = run_in_pieces(lambda: NFSPTraining(KUHN, SETTINGS), every=2, iterations=2)
    assert pieces >= 4
    for part, array in whole.state().items():
        if part != "progress":
            assert np.array_equal(array, run.state()[part], equal_nan=array.dtype.kind == "f"), part
