# SPDX-License-Identifier: Apache-2.0
"""Continual re-solving: its price is exact where a whole tree can be built, which it never needs itself."""

import functools

import numpy as np
import pytest

from equipoise.agents.base import describe_decision
from equipoise.agents.continual import ContinualAgent
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.evaluation.assembly import assemble_public_strategy
from equipoise.games.registry import make_game
from equipoise.search.continual import ContinualSearch, ContinualSettings
from equipoise.search.gadgets import Distribution, Given, Maxmargin, Reach, Resolve, Unsafe
from equipoise.search.leaf_choices import PolicyLeaves
from equipoise.search.limits import ActionLimit, RoundLimit
from equipoise.search.multi_valued import bias_continuations
from equipoise.search.partial_games import follow_policy
from equipoise.search.public import PublicProfile
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.solvers.rules_strategy import RulesPlaces, RulesStrategy
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import find_children, read_policy
from equipoise.trees.vector import UniformStrategy
from tests.reference.pursuit import MAP_A, Pursuit, parse_map
from tests.search.blueprints import random_strategy

GAME = derive_public_game(make_game("leduc", merge_suits=True))
TREE = build_public_tree(GAME)


@functools.cache
def price(**settings):
    """Returns the exploitability of an agent in both seats."""
    agent = ContinualAgent(GAME, search=ContinualSettings(**settings))
    table = assemble_public_strategy(agent, GAME, rng=np.random.default_rng(0))
    return evaluate(TREE, table.to_tree(TREE)).exploitability


@functools.cache
def equilibrium():
    solver = CFRSolver(TREE, CFRPlus())
    solver.iterate(500)
    return solver.average_strategy()


def test_values_of_the_search_before_make_it_safe():
    found = [price(iterations=100, method=method) for method in (Resolve(share=0.2), Maxmargin())]
    assert max(found) < 0.02
    assert price(iterations=100, method=Unsafe()) > 10 * max(found)


def test_one_chain_for_both_players_is_not_safe():
    # the digest of Player of Games, 5.5, asks for the comparison: a gate makes a search safe for who searches alone,
    # and what it says of the other player is that player's next range
    own = price(iterations=100, method=Resolve(share=0.2))
    assert price(iterations=100, method=Resolve(share=0.2), is_shared=True) > 10 * own


def test_more_iterations_bring_it_nearer():
    assert price(iterations=400) < 0.5 * price(iterations=100, method=Resolve(share=0.2))


def test_limited_searches_play_beyond_their_leaves():
    # leaves of one value leave a search undecided among what is worth as much; a few continuations do not
    policies = tuple(
        RulesStrategy(GAME, TabularStrategy.from_tree(TREE, strategy))
        for strategy in bias_continuations(GAME, TREE, equilibrium())
    )
    few = PolicyLeaves(opponent=policies, searcher=policies[:1])
    same = UniformStrategy(RulesPlaces(GAME))
    uniform = PolicyLeaves(opponent=(same,), searcher=(same,))
    prices = [price(iterations=60, limit=RoundLimit(), leaves=leaves) for leaves in (few, uniform)]
    assert prices[0] < 0.5 * prices[1]
    # a leaf that is a decision of the agent's own: the next search begins above it
    assert price(iterations=60, limit=ActionLimit(2), leaves=few) < 0.5 * prices[1]


@pytest.mark.parametrize("first_round", [0, 1])
def test_searches_over_a_blueprint_are_no_more_exploitable_than_it(first_round):
    strategy = random_strategy(TREE, 2)
    policy = RulesStrategy(GAME, TabularStrategy.from_tree(TREE, strategy))
    settings = ContinualSettings(iterations=150, first_round=first_round)
    agent = ContinualAgent(GAME, blueprint=policy, search=settings)
    found = assemble_public_strategy(agent, GAME, rng=np.random.default_rng(0)).to_tree(TREE)
    before, after = (evaluate(TREE, one).best_response_values for one in (strategy, found))
    assert all(now < then + 0.01 for now, then in zip(after, before, strict=True))
    assert sum(after) < (0.2 if first_round == 0 else 0.6) * sum(before)
    root = read_policy(TREE, 0, found)
    assert np.allclose(root, read_policy(TREE, 0, strategy)) == (first_round == 1)


def test_places_that_a_blueprint_never_plays_to_are_searched_as_if_it_did():
    strategy = TREE.legal_share.copy()
    bets = slice(TREE.table_start[0] + TREE.stride[0], TREE.table_start[0] + 2 * TREE.stride[0])
    strategy[TREE.table_start[0] : bets.start], strategy[bets] = 1.0, 0.0
    policy = RulesStrategy(GAME, TabularStrategy.from_tree(TREE, strategy))
    search = ContinualSearch(GAME, 0, ContinualSettings(iterations=50, first_round=1), blueprint=policy)
    path = (1, 1, 0)  # bet, call, a card
    assert not follow_policy(GAME, path, policy).reach[0].any()
    found = search.policy_at(path)
    assert np.abs(found - 1 / found.shape[1]).max() > 0.3


def test_beliefs_along_a_blueprint_are_those_of_the_tree():
    strategy = random_strategy(TREE, 3)
    policy = RulesStrategy(GAME, TabularStrategy.from_tree(TREE, strategy))
    path = (0, 1, 1, 2, 0)
    node = 0
    for place in path:
        node = int(find_children(TREE, node)[place])
    found, expected = follow_policy(GAME, path, policy), PublicProfile(TREE, strategy).beliefs(node)
    np.testing.assert_allclose(found.joint, expected.joint, atol=1e-12)
    for player in (0, 1):
        np.testing.assert_allclose(found.reach[player], expected.reach[player], atol=1e-12)


def test_searches_serve_games_that_merge_private_states():
    game = Pursuit(parse_map(MAP_A), 6, (1, 11), 2)
    tree = build_public_tree(game)
    out = tree.legal_share.copy()
    for seat in (0, 1):
        search = ContinualSearch(game, seat, ContinualSettings(iterations=100))
        paths = {0: ()}
        for node in range(1, tree.actor.size):
            above = int(tree.parent[node])
            paths[node] = (*paths[above], int(np.count_nonzero(tree.parent[:node] == above)))
        for node in np.flatnonzero(tree.actor == seat).tolist():
            policy = search.policy_at(paths[node])
            slot = tree.slot[tree.slot_start[2 * node + seat] :][: len(policy)]
            for action in range(policy.shape[1]):
                out[tree.table_start[node] + action * tree.stride[node] + slot] = policy[:, action]
    assert evaluate(tree, out).exploitability < 0.05 * evaluate(tree, tree.legal_share).exploitability + 0.01


def test_an_agent_answers_alike_for_single_and_for_all_private_states():
    agent = ContinualAgent(GAME, search=ContinualSettings(iterations=20))
    rng = np.random.default_rng(0)
    agent.begin_game(1)
    for node in (0, 1, 2):
        decision = describe_decision(GAME, node) if GAME.actor(node) >= 0 else None
        if decision is None:
            continue
        table = agent.public_strategy(decision, rng=rng)
        agent.observe(decision.observation(1)._replace(actions=(), classes=()))
        np.testing.assert_array_equal(agent.probabilities(decision.observation(1), rng=rng), table[1])
    assert agent.name == "continual"


def test_actions_are_worth_what_the_game_is_in_the_mean():
    kuhn = derive_public_game(make_game("kuhn"))
    search = ContinualSearch(kuhn, 0, ContinualSettings(iterations=500))
    played, worth = search.policy_at(()), search.values_at(())
    assert (played * worth).sum(axis=1).mean() == pytest.approx(-1 / 18, abs=1e-3)
    assert worth[0, 1] == pytest.approx(-1, abs=0.02)  # a bluff that half of the queens and all kings call


def test_what_cannot_be_is_refused():
    agent = ContinualAgent(GAME, search=ContinualSettings(iterations=1))
    rng = np.random.default_rng(0)
    observation = describe_decision(GAME, 0).observation(0)
    with pytest.raises(InvalidStateError, match="has no information state 'nonsense' of player 0"):
        agent.probabilities(observation._replace(infostate="nonsense"), rng=rng)
    with pytest.raises(InvalidStateError, match="'nowhere' is none of the first"):
        agent.probabilities(observation._replace(public_state="nowhere"), rng=rng)
    search = ContinualSearch(GAME, 1, ContinualSettings(iterations=1))
    with pytest.raises(InvalidStateError, match="player 1 does not move at"):
        search.policy_at(())
    with pytest.raises(InvalidStateError, match="2 observations can follow, got number 7"):
        search.policy_at((7,))
    for method in (Resolve(alternatives=Given(np.zeros(3))), Maxmargin(reach=Reach())):
        with pytest.raises(ConfigError, match="finds its alternatives itself"):
            ContinualSettings(method=method)
    with pytest.raises(ConfigError, match="iterations must be at least 1, got 0"):
        ContinualSettings(iterations=0)
    with pytest.raises(ConfigError, match="first_round must be at least 0, got -1"):
        ContinualSettings(first_round=-1)
    with pytest.raises(ConfigError, match="continual search needs the deviation of its alternatives"):
        ContinualSettings(method=Maxmargin(distribution=Distribution()))
