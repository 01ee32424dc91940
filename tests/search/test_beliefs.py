# SPDX-License-Identifier: Apache-2.0
"""Beliefs against histories counted one by one, and on both trees of a game."""

import numpy as np
import pytest

from equipoise.core.errors import InvalidStateError
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.registry import make_game
from equipoise.search.beliefs import PublicBelief
from equipoise.search.public import PublicProfile
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_pairs import joint_weights
from equipoise.trees.vector import TreeStrategy, follow_reach
from tests.reference.pursuit import MAP_A, Pursuit, parse_map
from tests.search.blueprints import random_strategy
from tests.search.layouts import flop_game

GAMES = {
    "leduc": ("leduc", {}),
    "goofspiel": ("goofspiel", {"cards": 3, "prizes": "random", "reveal_bids": False}),
    "liars_dice": ("liars_dice", {"faces": 3}),
}


@pytest.fixture(scope="module", params=GAMES)
def derived(request):
    name, parameters = GAMES[request.param]
    game = make_game(name, **parameters)
    public = derive_public_game(game)
    return game, public, build_public_tree(public)


def count_histories(game, table):
    """Returns the probability of every pair of infostates at every public state, from the rules alone."""
    found = {}

    def walk(state, probability):
        key = game.public_state(state)
        pair = game.infostate(state, 0), game.infostate(state, 1)
        found.setdefault(key, {})[pair] = found.get(key, {}).get(pair, 0.0) + probability
        actor = game.actor(state)
        if actor == TERMINAL:
            return
        if actor == CHANCE:
            outcomes = game.chance_outcomes(state)
        else:
            outcomes = zip(
                game.legal_actions(state), table.probabilities(actor, game.infostate(state, actor)), strict=True
            )
        for action, share in outcomes:
            walk(game.apply(state, action), probability * share)

    walk(game.initial_state(), 1.0)
    return found


def test_beliefs_are_bayes_rule_on_enumerated_histories(derived):
    game, public, tree = derived
    strategy = random_strategy(tree, 1)
    found = count_histories(game, TabularStrategy.from_tree(tree, strategy))
    profile = PublicProfile(tree, strategy)
    for node in range(0, tree.actor.size, 7):
        got = profile.beliefs(node).probabilities()
        pairs = found[tree.public_labels[node]]
        total = sum(pairs.values())
        expected = np.array(
            [
                [
                    pairs.get((public.infostate(node, 0, first), public.infostate(node, 1, second)), 0.0) / total
                    for second in range(tree.num_private[node, 1])
                ]
                for first in range(tree.num_private[node, 0])
            ]
        )
        np.testing.assert_allclose(got, expected, atol=1e-14)


def test_reaches_followed_step_by_step_are_the_same(derived):
    _, _, tree = derived
    strategy = random_strategy(tree, 2)
    profile, played = PublicProfile(tree, strategy), TreeStrategy(tree, strategy)
    root = np.ones(tree.num_private[0, 0]), np.ones(tree.num_private[0, 1])
    for node in range(1, min(tree.actor.size, 150)):
        found = follow_reach(tree, played, root, node)
        for player in (0, 1):
            np.testing.assert_allclose(found[player], profile.reach(node)[player], atol=1e-15)
            mass = tree.joint_at(node).mass(player, found[1 - player])
            np.testing.assert_allclose(mass, profile.mass(node, player), atol=1e-15)


def test_both_trees_of_flop_holdem_have_the_same_reaches_and_masses():
    game = flop_game()
    for node in range(0, game.tree.actor.size, 5):
        if game.tree.actor[node] < 0:
            continue
        hands, place = game.hands(node), game.place(node)
        for player in (0, 1):
            np.testing.assert_allclose(
                game.holdem.reach(place)[player][hands], game.public.reach(node)[player], atol=1e-6
            )
        class_of = game.form.board(place.board).private_of_hand
        num_alike = np.bincount(class_of[class_of >= 0])
        found, expected = game.holdem.mass(place, 0)[hands], game.public.mass(node, 0) / num_alike
        np.testing.assert_allclose(found / found.max(), expected / expected.max(), atol=1e-6)


def test_joint_weights_of_the_tree_are_those_of_the_game(derived):
    _, public, tree = derived
    for node in range(0, tree.actor.size, 5):
        np.testing.assert_allclose(joint_weights(tree, node), public.joint_weights(node), atol=1e-15)


def test_joint_weights_where_private_states_merge():
    game = Pursuit(parse_map(MAP_A), 6, (1, 11), 3)
    tree = build_public_tree(game)
    for node in range(0, tree.actor.size, 9):
        np.testing.assert_allclose(joint_weights(tree, node), game.joint_weights(tree.states[node]), atol=1e-12)


def test_marginals_sum_the_pairs(derived):
    _, _, tree = derived
    beliefs = PublicProfile(tree, random_strategy(tree, 3)).beliefs(1)
    np.testing.assert_allclose(beliefs.marginal(0), beliefs.probabilities().sum(axis=1))
    assert beliefs.marginal(1).sum() == pytest.approx(1.0)
    # a player's marginal is its reach times the mass of the others
    own = beliefs.reach[0] * beliefs.mass(0)
    np.testing.assert_allclose(beliefs.marginal(0), own / own.sum())


def test_what_nobody_plays_to_has_no_beliefs(derived):
    _, _, tree = derived
    never = np.zeros(tree.num_private[1, 0]), np.zeros(tree.num_private[1, 1])
    beliefs = PublicBelief(reach=never, joint=joint_weights(tree, 1))
    with pytest.raises(InvalidStateError, match="nobody plays to this public state"):
        beliefs.probabilities()
