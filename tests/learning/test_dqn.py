# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning: its update is that of single decisions, its memory a ring, and it learns."""

import numpy as np
import pytest
import torch

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.learning.dqn import DQNConfig, DQNLearner
from equipoise.learning.replay import ReplayBuffers
from equipoise.trees.history import build_history_tree

LEDUC = build_history_tree(make_game("leduc", ranks=2, max_raises=1))


class Recorded:
    """In the place of an optimiser: keeps the gradient."""

    def __init__(self, stack):
        self.stack = stack

    def step(self, loss):
        self.gradients = torch.autograd.grad(loss, self.stack.parameters)


def test_update_is_that_of_single_decisions():
    config = DQNConfig(hidden=(6,), batch_size=9, updates_per_round=1, games_per_round=20, target_rounds=1)
    learner = DQNLearner(LEDUC, config, rng=np.random.default_rng(3))
    learner.train(1)
    learner.optimizer = Recorded(learner.network)
    state = learner.rng.bit_generator.state
    batch = learner.buffers.sample(9, rng=learner.rng)
    losses = []
    values = learner.network(learner.features)[0]  # of the target too, which has just been renewed
    for seat in range(2):
        for row, action, following, returned in zip(*(column[0, seat].tolist() for column in batch), strict=True):
            legal = learner.is_legal[seat, following]
            target = values[seat, following][legal].max().detach() if following >= 0 else returned
            losses.append((values[seat, row, action] - target) ** 2 / 9)
    expected = torch.autograd.grad(torch.stack(losses).sum(), learner.network.parameters)
    learner.rng.bit_generator.state = state
    learner._update(9)
    torch.testing.assert_close(learner.optimizer.gradients, expected, atol=1e-5, rtol=1e-4)
    assert (batch.following >= 0).any()
    assert (batch.following < 0).any()


def test_remembered_decisions_are_those_played():
    learner = DQNLearner(LEDUC, DQNConfig(games_per_round=20), rng=np.random.default_rng(4))
    learner._play_round(20)
    batch = learner.buffers.sample(200, rng=np.random.default_rng(0))
    for seat in range(2):
        start = int(LEDUC.infoset_start[seat])
        for row, action, following in zip(*(column[0, seat].tolist() for column in batch[:3]), strict=True):
            assert 0 <= action < LEDUC.num_actions[start + row]
            parent = LEDUC.parent_sequence[start + following] if following >= 0 else None
            assert parent in (None, LEDUC.first_sequence[start + row] + action)


def test_memory_is_a_ring():
    buffers = ReplayBuffers([3, 5], 2)
    numbers = np.arange(4)
    buffers.add(0, 1, row=numbers, action=numbers, following=numbers, returns=numbers)
    assert buffers.columns["row"][3:6].tolist() == [3, 1, 2]
    buffers.add(1, 0, row=numbers[:2], action=numbers[:2], following=numbers[:2], returns=numbers[:2])
    buffers.add(1, 0, row=numbers, action=numbers, following=numbers, returns=numbers)
    assert buffers.columns["row"][6:11].tolist() == [3, 1, 0, 1, 2]
    with pytest.raises(ConfigError, match="without a decision"):
        buffers.sample(1, rng=np.random.default_rng(0))


def test_drawn_decisions_come_from_their_own_memory():
    buffers = ReplayBuffers([3, 50], 2)
    for member in range(2):
        for seat in range(2):
            marks = np.full(4, 10 * member + seat)
            buffers.add(member, seat, row=marks, action=marks, following=marks, returns=marks)
    batch = buffers.sample(40, rng=np.random.default_rng(0))
    assert batch.row.float().mean(dim=-1).tolist() == [[0.0, 1.0], [10.0, 11.0]]
    assert batch.returns.dtype == torch.float32


def test_it_finds_the_optimum_where_nobody_else_moves():
    game = make_game("matrix", payoffs="1,3,2")
    config = DQNConfig(hidden=(8,), rate=1e-2, games_per_round=16, updates_per_round=8)
    learner = DQNLearner(build_history_tree(game), config, rng=np.random.default_rng(0))
    learner.train(1600)
    assert learner.evaluate().exploitability == 0.0


def test_exploration_falls_and_stays():
    config = DQNConfig(exploration=0.8, last_exploration=0.2, exploration_games=100)
    assert [round(config.explore(games), 3) for games in (0, 50, 100, 1000)] == [0.8, 0.5, 0.2, 0.2]
    assert DQNConfig(exploration=0.05).explore(10) == 0.05


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"replay_size": 0}, "replay_size must be at least 1, got 0"),
        ({"exploration": 1.5}, "exploration must be between 0 and 1, got 1.5"),
        ({"rate": float("nan")}, "rate must be finite and at least 0, got nan"),
    ],
)
def test_settings_out_of_range_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        DQNConfig(**changes)


def test_different_shapes_do_not_learn_side_by_side():
    with pytest.raises(ConfigError, match="must have the same hidden layers"):
        DQNLearner(LEDUC, DQNConfig(batch_size=8), DQNConfig(batch_size=9), rng=np.random.default_rng(0))
