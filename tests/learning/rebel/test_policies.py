# SPDX-License-Identifier: Apache-2.0
"""Strategies that a network proposes: what it learns from, what it says, what searches make of it."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import parse_game
from equipoise.learning.rebel.nets import bind_belief_net, make_config
from equipoise.learning.rebel.policies import (
    LEVELS,
    PolicyExamples,
    PolicyGuide,
    PolicyMemory,
    collect_policies,
    make_policy_config,
)
from equipoise.learning.rebel.self_play import BeliefSearcher, SelfPlay
from equipoise.learning.rebel.settings import BeliefMethod, RebelSettings, SearchRecipe
from equipoise.learning.values.weights import StoredNet, expected_shapes
from equipoise.search.belief_games import BeliefGame, parse_horizon
from equipoise.solvers.best_response import evaluate

SETTINGS = RebelSettings(training=SearchRecipe(iterations=8), hidden=8, root_draws=32, warm_start=3)


def make_game(text, horizon="2"):
    return BeliefGame.of(parse_game(text), parse_horizon(horizon))


def draw_net(config, seed=0):
    rng = np.random.default_rng(seed)
    shapes = expected_shapes(config)
    return StoredNet(
        config=config,
        tensors={name: rng.normal(0.0, 0.4, shape).astype(np.float32) for name, shape in shapes.items()},
    )


def make_guide(game):
    return PolicyGuide(game, draw_net(make_policy_config(game, SETTINGS, "some game")), SETTINGS.warm_start)


class FixedGuide(PolicyGuide):
    """Proposes one strategy for a subgame, in the order of its decisions."""

    def __init__(self, game, policy, iterations):
        self.game, self.iterations, self.policy, self.place = game, iterations, policy, 0

    def _shares(self, kind, belief, legal_share):
        begin, self.place = self.place, self.place + legal_share.size
        return np.repeat(self.policy[None, begin : self.place], len(kind), axis=0)


@pytest.mark.parametrize("text", ["leduc", "liars_dice(dice=1,faces=3)", "goofspiel(cards=3)"])
def test_proposals_are_strategies_over_legal_actions(text):
    game = make_game(text)
    guide = make_guide(game)
    for kind, subgame in enumerate(game.subgames):
        belief = np.repeat(subgame.arrays.root_weight[None], 3, axis=0)
        prior = guide.propose(kind, belief)
        assert prior.iterations == 3
        for _, _, _, table, hands, actions in subgame.arrays.decisions.tolist():
            block = slice(table, table + hands * actions)
            shares = prior.policy[:, block].reshape(3, actions, hands)
            legal = subgame.arrays.legal_share[block].reshape(actions, hands) > 0
            np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-5)
            assert not shares[:, ~legal].any()


def test_what_private_states_meet_adds_up_to_how_likely_decisions_are():
    """Under uniform play every deal comes to the first decision, and to later ones as actions lead there."""
    game = make_game("kuhn", "99")
    subgame = game.subgames[0]
    prior = FixedGuide(game, subgame.arrays.legal_share, 3).propose(0, game.root_belief()[None])
    likely = {}
    for number, (_, _, _, table, hands, _) in enumerate(subgame.arrays.decisions.tolist()):
        label = game.tree.public_labels[subgame.decisions[number]]
        likely[label] = float(prior.meeting[0, table : table + hands].sum())
    # what the mover meets is the other's reach and chance's: the first decision is met for sure, later ones by halves
    assert sorted(round(share, 3) for share in likely.values()) == [0.5, 0.5, 0.5, 1.0]


def test_examples_are_the_beliefs_and_strategies_on_the_way():
    game = make_game("leduc")
    searcher = BeliefSearcher(game, SETTINGS.training, net=bind_belief_net(draw_net(make_config(game, SETTINGS, "x"))))
    belief = np.repeat(game.root_belief()[None], 4, axis=0)
    found = searcher.search(0, belief, wants_policy=True)
    examples = collect_policies(game, 0, belief, found.policy)
    assert set(examples.kind.tolist()) == set(game.all_kinds.kind[game.subgames[0].decisions].tolist())
    np.testing.assert_allclose(examples.belief.sum(axis=2), 1.0, atol=1e-5)
    shares = examples.policy.astype(float) / LEVELS
    np.testing.assert_allclose(shares.sum(axis=1)[:, : game.tree.num_private[0, 0]], 1.0, atol=3 / LEVELS)
    np.testing.assert_allclose(examples.belief[:4], belief, atol=1e-6)  # the beginning comes first


@pytest.mark.parametrize("method", [method for method in BeliefMethod if method is not BeliefMethod.FP])
def test_a_right_proposal_leaves_little_to_do(method):
    """An equilibrium of the whole game: after few iterations play is near it, from uniform play far off."""
    game = make_game("leduc", "99")
    root = game.root_belief()[None]
    solved = BeliefSearcher(game, SearchRecipe(iterations=400)).search(0, root, wants_policy=True).policy[0]

    def exploitability(guide):
        searcher = BeliefSearcher(game, SearchRecipe(method=method, rule="lcfr", iterations=32), guide=guide)
        strategy = game.tree.legal_share.copy()
        strategy[game.table_cells(0)] = searcher.search(0, root, wants_policy=True).policy[0]
        return evaluate(game.tree, strategy).exploitability

    assert exploitability(FixedGuide(game, solved, 15)) < 0.4 * exploitability(None)


def test_no_iteration_is_drawn_that_a_proposal_counts_for():
    game = make_game("kuhn", "1")
    searcher = BeliefSearcher(game, SearchRecipe(iterations=8), guide=make_guide(game))
    drawn = searcher.draw_iterations(2000, rng=np.random.default_rng(0))
    assert set(drawn.tolist()) == {4, 5, 6, 7, 8}
    play = SelfPlay(game, SETTINGS)
    net = bind_belief_net(draw_net(make_config(game, SETTINGS, "some game")))
    play.search_with(SETTINGS.training, net, make_guide(game))
    examples = play.generate(60, rng=np.random.default_rng(0))
    assert np.isfinite(examples.value).all()
    assert len(examples.policies) > len(examples)  # the beginning's decisions too


def test_a_memory_of_strategies_goes_on():
    game = make_game("kuhn", "1")
    memory, other = PolicyMemory(5, game), PolicyMemory(5, game)
    kind = np.arange(7, dtype=np.int32)
    shape = memory.columns["policy"].shape[1:]
    memory.add(
        PolicyExamples(
            kind=kind,
            belief=np.zeros((7, 2, game.width), np.float32),
            policy=np.repeat(kind.astype(np.uint8), np.prod(shape)).reshape(7, *shape),
        )
    )
    other.restore(memory.state())
    np.testing.assert_array_equal(other.columns["policy"], memory.columns["policy"])
    assert set(other.columns["kind"].tolist()) == {2, 3, 4, 5, 6}


def test_warm_starts_of_whole_searches_are_refused():
    with pytest.raises(ConfigError, match="warm_start must be below the iterations of every search, got 8"):
        dataclasses.replace(SETTINGS, warm_start=8)
    with pytest.raises(ConfigError, match="fictitious play has no regrets to begin with"):
        dataclasses.replace(SETTINGS, test=SearchRecipe(method=BeliefMethod.FP))
