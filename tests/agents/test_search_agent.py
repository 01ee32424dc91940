# SPDX-License-Identifier: Apache-2.0
"""The agent that searches: what it plays is what searches everywhere find, and never worse than its blueprint."""

import numpy as np
import pytest

from equipoise.agents.base import describe_decision
from equipoise.agents.search import SearchAgent, SearchSettings, SearchWhen
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.games.registry import make_game
from equipoise.search.gadgets import Maxmargin
from equipoise.search.resolving import search_everywhere
from equipoise.search.subgames import Blueprint
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.subtree import read_policy
from tests.search.blueprints import random_strategy
from tests.search.fixtures import second_round

RULES = make_game("leduc", merge_suits=True)
GAME = derive_public_game(RULES)
TREE = build_public_tree(GAME)
BLUEPRINT = Blueprint(TREE, random_strategy(TREE, 1))


@pytest.fixture
def agent():
    return SearchAgent(BLUEPRINT, search=SearchSettings(method=Maxmargin(), iterations=100))


def test_it_plays_what_search_everywhere_finds(agent):
    out = agent.compose()
    for searcher in (0, 1):
        expected = search_everywhere(BLUEPRINT, second_round(TREE), searcher, Maxmargin(), iterations=100)
        own = slice(*TREE.cells.cell_start[searcher : searcher + 2])
        np.testing.assert_array_equal(out[own], expected[own])


@pytest.mark.parametrize("when", [SearchWhen.ROUNDS, SearchWhen.DECISIONS])
def test_it_is_less_exploitable_than_its_blueprint(when):
    agent = SearchAgent(BLUEPRINT, search=SearchSettings(method=Maxmargin(), when=when, iterations=60))
    assert evaluate(TREE, agent.compose()).exploitability < 0.8 * BLUEPRINT.evaluate().exploitability


def test_it_answers_for_whole_public_states_and_single_ones(agent):
    rng = np.random.default_rng(0)
    node = second_round(TREE)[2]
    decision = describe_decision(GAME, node)
    got = agent.public_strategy(decision, rng=rng)
    np.testing.assert_allclose(got.sum(axis=1), 1.0)
    np.testing.assert_array_equal(got, read_policy(TREE, node, agent.strategy_at(decision.seat, node)))
    assert agent.act(decision.observation(1), rng=rng) in decision.actions
    assert not np.allclose(got, read_policy(TREE, node, BLUEPRINT.strategy))


def test_before_its_first_search_it_plays_the_blueprint(agent):
    rng = np.random.default_rng(0)
    decision = describe_decision(GAME, 0)
    np.testing.assert_array_equal(agent.public_strategy(decision, rng=rng), read_policy(TREE, 0, BLUEPRINT.strategy))


def test_it_is_made_from_a_table():
    table = TabularStrategy.from_tree(TREE, BLUEPRINT.strategy)
    agent = SearchAgent.from_table(RULES, table, name="reader")
    assert agent.name == "reader"
    np.testing.assert_array_equal(agent.blueprint.strategy, BLUEPRINT.strategy)


def test_what_is_not_in_the_game_is_refused(agent):
    observation = describe_decision(GAME, 0).observation(0)._replace(infostate="nonsense")
    with pytest.raises(InvalidStateError, match="has no information state 'nonsense' of player 0"):
        agent.probabilities(observation, rng=np.random.default_rng(0))
    with pytest.raises(ConfigError, match="iterations must be at least 1, got 0"):
        SearchSettings(iterations=0)
