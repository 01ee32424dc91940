# SPDX-License-Identifier: Apache-2.0
"""Subgames straight from the rules: the same parts as cut from a tree, and no more of the game than they need."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError, GameTooLargeError, InvalidStateError
from equipoise.games.registry import make_game
from equipoise.search.leaf_choices import PolicyLeaves, continuation_payoffs
from equipoise.search.limits import ActionLimit, BudgetLimit, RoundLimit
from equipoise.search.partial_games import PartialGame, extract_subgame
from equipoise.search.public import PublicProfile
from equipoise.solvers.rules_strategy import RulesPlaces, RulesStrategy
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_pairs import leaf_payoffs
from equipoise.trees.vector import UniformStrategy
from tests.reference.pursuit import MAP_A, Pursuit, parse_map
from tests.search.blueprints import random_strategy
from tests.search.fixtures import second_round
from tests.search.layouts import flop_game

GAME = derive_public_game(make_game("leduc"))
TREE = build_public_tree(GAME)
STRATEGY = random_strategy(TREE, 1)
UNIFORM = UniformStrategy(RulesPlaces(GAME))
POLICY = RulesStrategy(GAME, TabularStrategy.from_tree(TREE, STRATEGY))
BLUEPRINT = PublicProfile(TREE, STRATEGY)
LIMITS = [ActionLimit(1), ActionLimit(3), RoundLimit(), RoundLimit(is_after_deal=True), BudgetLimit(30), BudgetLimit(1)]


class Counting:
    """A public game that remembers which states it was asked to expand."""

    def __init__(self, game):
        self.game, self.expanded = game, set()

    def __getattr__(self, name):
        return getattr(self.game, name)

    def edges(self, state):
        self.expanded.add(state)
        return self.game.edges(state)


def ground(name):
    """Returns a game asked for its public states, and a blueprint on its tree: Leduc, or hold'em to the flop."""
    return (GAME, BLUEPRINT) if name == "leduc" else (flop_game().form, flop_game().public)


@pytest.mark.parametrize("name", ["leduc", "flop"])
@pytest.mark.parametrize("where", ["root", "round", "deal"])
@pytest.mark.parametrize("limit", LIMITS, ids=repr)
def test_limits_end_where_they_end_in_a_tree(limit, where, name):
    game, blueprint = ground(name)
    tree, opening = blueprint.tree, second_round(blueprint.tree)[4]
    root = {"root": 0, "round": opening, "deal": int(tree.parent[opening])}[where]
    partial = PartialGame(game, tree.states[root], limit=limit)
    subgame = extract_subgame(partial, blueprint.beliefs(root), 0, leaves=PolicyLeaves())
    expected = [tree.states[node] for node in limit.leaves(tree, root).tolist()]
    found = [step.state for step in subgame.part.whole.states if partial.is_leaf(step)]
    assert sorted(found, key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize("name", ["leduc", "flop"])
def test_a_part_to_the_end_is_the_part_of_the_tree(name):
    game, blueprint = ground(name)
    root = second_round(blueprint.tree)[2]
    subgame = extract_subgame(PartialGame(game, blueprint.tree.states[root]), blueprint.beliefs(root), 1)
    cut = blueprint.subgame(root)
    assert subgame.tree.public_labels == cut.tree.public_labels
    strategy = random_strategy(cut.tree, 3)
    for player in (0, 1):
        np.testing.assert_allclose(subgame.best_values(player, strategy), cut.best_values(player, strategy))
        np.testing.assert_allclose(subgame.mass(player), cut.mass(player))


def test_what_lies_beside_the_way_is_leaves():
    partial = PartialGame(GAME, 0, focus=(0, 0), limit=ActionLimit(1))
    subgame = extract_subgame(partial, BLUEPRINT.beliefs(0), 0, leaves=PolicyLeaves())
    steps = subgame.part.whole.states
    assert all(partial.is_leaf(step) for step in steps if step.path[:1] == (1,))
    # check, check leads to a deal, after which the limit allows one action
    assert {len(step.path) for step in steps if not partial.is_leaf(step)} == {0, 1, 2, 3}
    assert {len(step.path) for step in steps if step.path[:2] == (0, 0) and partial.is_leaf(step)} == {4}


def test_a_wide_part_goes_on_beside_the_way_and_counts_from_its_root():
    root = second_round(TREE)[1]
    partial = PartialGame(GAME, root, focus=(0,), limit=RoundLimit(is_after_deal=True), is_wide=True)
    assert not [
        step for step in extract_subgame(partial, BLUEPRINT.beliefs(root), 0).tree.states if partial.is_leaf(step)
    ]
    limit = RoundLimit(is_after_deal=True)
    wide = PartialGame(GAME, 0, focus=(0, 0), limit=limit, is_wide=True)
    subgame = extract_subgame(wide, BLUEPRINT.beliefs(0), 0, leaves=PolicyLeaves())
    found = sorted(step.state for step in subgame.part.whole.states if wide.is_leaf(step))
    assert found == limit.leaves(TREE, 0).tolist()


def test_payoffs_of_continuations_are_those_of_the_tree():
    for node in (0, 1, second_round(TREE)[1]):
        expected = leaf_payoffs(TREE, node, STRATEGY)
        np.testing.assert_allclose(continuation_payoffs(GAME, node, (POLICY, POLICY)), expected, atol=1e-12)


def test_payoffs_where_private_states_merge():
    game = Pursuit(parse_map(MAP_A), 6, (1, 11), 2)
    tree = build_public_tree(game)
    uniform = UniformStrategy(RulesPlaces(game))
    found = continuation_payoffs(game, game.initial_state(), (uniform, uniform))
    np.testing.assert_allclose(found, leaf_payoffs(tree, 0, tree.legal_share), atol=1e-12)


def test_drawn_lines_are_right_on_average():
    node = second_round(TREE)[1]
    exact = PolicyLeaves(opponent=(POLICY,), searcher=(POLICY,)).choice(GAME, node, 0).payoff
    drawn = PolicyLeaves(opponent=(POLICY,), searcher=(POLICY,), num_samples=400).choice(GAME, node, 0).payoff
    # a bet that is called or not moves a payoff by some chips; 400 lines leave a few hundredths of a pair's weight
    assert np.abs(drawn - exact).max() < 0.2 * np.abs(exact).max() + 0.02
    assert not np.array_equal(drawn, exact)


def test_choices_are_by_opponent_then_searcher():
    leaves = PolicyLeaves(opponent=(POLICY, UNIFORM), searcher=(UNIFORM,))
    node = second_round(TREE)[0]
    for searcher in (0, 1):
        choice = leaves.choice(GAME, node, searcher)
        assert choice.chooser == 1 - searcher
        assert choice.payoff.shape[:2] == (2, 1)
        pair = (UNIFORM, POLICY) if searcher == 0 else (POLICY, UNIFORM)
        np.testing.assert_allclose(choice.payoff[0, 0], continuation_payoffs(GAME, node, pair))


def test_no_more_is_expanded_than_is_looked_at():
    game = Counting(GAME)
    leaves = PolicyLeaves(num_samples=1)
    subgame = extract_subgame(PartialGame(game, 0, limit=ActionLimit(1)), BLUEPRINT.beliefs(0), 0, leaves=leaves)
    assert subgame.tree.actor.size == 3
    assert len(game.expanded) < 40 < TREE.actor.size / 10


def test_nonsense_is_refused():
    beliefs = BLUEPRINT.beliefs(0)
    with pytest.raises(ConfigError, match="say what leaves are worth"):
        extract_subgame(PartialGame(GAME, 0, limit=ActionLimit(1)), beliefs, 0)
    with pytest.raises(GameTooLargeError, match="more than 10 public states"):
        extract_subgame(PartialGame(GAME, 0), beliefs, 0, max_nodes=10)
    with pytest.raises(ConfigError, match="at least one policy"):
        PolicyLeaves(opponent=())
    with pytest.raises(ConfigError, match="num_samples must be at least 1, got 0"):
        PolicyLeaves(num_samples=0)
    other = build_public_tree(derive_public_game(make_game("kuhn")))
    table = TabularStrategy.from_tree(other, other.legal_share)
    wrong = TabularStrategy(
        game_label=table.game_label,
        player=np.array([0], np.int32),
        infostates=(GAME.infostate(0, 0, 0),),
        first_action=np.array([0, 3], np.int32),
        actions=("a", "b", "c"),
        probability=np.full(3, 1 / 3),
    )
    with pytest.raises(InvalidStateError, match="has 3 actions at"):
        RulesStrategy(GAME, wrong).probabilities(0)
    np.testing.assert_allclose(RulesStrategy(GAME, table).probabilities(0), 0.5)  # it lacks everything
