# SPDX-License-Identifier: Apache-2.0
"""Actor and critic: their gradients from sums are those of single decisions, and they learn."""

import numpy as np
import pytest
import torch

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.learning.a2c import A2CConfig, A2CLearner
from equipoise.trees.history import build_history_tree

LEDUC = build_history_tree(make_game("leduc", ranks=2, max_raises=1))
ENTROPY = 0.7


def make_learner(*configs, tree=LEDUC, seed=3):
    return A2CLearner(tree, *configs, rng=np.random.default_rng(seed))


class Recorded:
    """In the place of an optimiser: keeps the gradient."""

    def __init__(self, stack):
        self.stack = stack

    def step(self, loss, share=None):
        self.gradients = torch.autograd.grad(loss, self.stack.parameters)


def plain_losses(learner, games):
    """Returns the losses of actor and critic, decision by decision: a mean over each seat's, summed over seats."""
    tree, losses = learner.tree, ([], [])
    owner, player = tree.sequence_infoset(), tree.infoset_player()
    for seat in range(tree.num_players):
        terms = ([], [])
        for sequence, _, returned in zip(*games, strict=True):
            infoset = owner[sequence]
            if player[infoset] != seat:
                continue
            row = int(learner.layout.infoset_row[infoset])
            num_actions = int(tree.num_actions[infoset])
            features = learner.features[:, row : row + 1]
            logits, value = learner.actor(features)[0, seat, 0, :num_actions], learner.critic(features)[0, seat, 0, 0]
            policy = torch.log_softmax(logits, dim=0)
            advantage = returned - value.detach()
            gain = advantage * policy[sequence - tree.first_sequence[infoset]]
            terms[0].append(-gain - ENTROPY * -(policy.exp() * policy).sum())
            terms[1].append((value - returned) ** 2)
        for out, own in zip(losses, terms, strict=True):
            out.append(torch.stack(own).mean())
    return torch.stack(losses[0]).sum(), torch.stack(losses[1]).sum()


def test_gradients_are_those_of_single_decisions():
    config = A2CConfig(hidden=(6,), games_per_update=30, critic_updates=1, entropy_cost=ENTROPY)
    learner = make_learner(config)
    words = learner.random_words.copy()
    games = learner.kernel.play(learner.strategy(), words, 30)
    actor_loss, critic_loss = plain_losses(learner, games)
    actor_expected = torch.autograd.grad(actor_loss, learner.actor.parameters)
    critic_expected = torch.autograd.grad(critic_loss, learner.critic.parameters)
    learner.actor_optimizer, learner.critic_optimizer = Recorded(learner.actor), Recorded(learner.critic)
    learner.train(1)
    torch.testing.assert_close(learner.actor_optimizer.gradients, actor_expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(learner.critic_optimizer.gradients, critic_expected, atol=1e-5, rtol=1e-4)


def test_strategies_are_distributions_over_legal_actions():
    learner = make_learner(A2CConfig(), A2CConfig(), tree=build_history_tree(make_game("kuhn", players=3)))
    tree = learner.tree
    for member in range(learner.num_members):
        strategy = learner.strategy(member)
        sums = np.add.reduceat(strategy[learner.layout.sequence], np.cumsum(tree.num_actions) - tree.num_actions)
        np.testing.assert_allclose(sums, 1.0, atol=1e-6)
    assert not np.allclose(learner.strategy(0), learner.strategy(1))
    learner.table()


def test_actor_waits_for_its_critic():
    configs = [A2CConfig(critic_updates=count, games_per_update=10) for count in (1, 3)]
    learner = make_learner(*configs)
    start = learner.strategy(1)
    learner.train(20)
    assert learner.num_updates == 2
    np.testing.assert_array_equal(learner.strategy(1), start)
    learner.train(10)
    assert not np.array_equal(learner.strategy(1), start)


def test_it_comes_near_equilibrium_in_kuhn():
    tree = build_history_tree(make_game("kuhn"))
    config = A2CConfig(hidden=(32,), actor_rate=3e-3, critic_updates=1, entropy_cost=0.2, games_per_update=512)
    learner = make_learner(config, tree=tree)
    before = learner.evaluate().exploitability
    learner.train(512 * 500)
    assert before > 0.3
    assert learner.evaluate().exploitability < 0.15


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"critic_updates": 0}, "critic_updates must be at least 1, got 0"),
        ({"actor_rate": -1.0}, "actor_rate must be finite and at least 0, got -1.0"),
        ({"hidden": (0,)}, "size of a hidden layer must be at least 1, got 0"),
    ],
)
def test_settings_out_of_range_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        A2CConfig(**changes)


def test_different_shapes_do_not_learn_side_by_side():
    with pytest.raises(ConfigError, match="must have the same hidden layers"):
        make_learner(A2CConfig(hidden=(3,)), A2CConfig(hidden=(4,)))
