# SPDX-License-Identifier: Apache-2.0
"""The agent that searches: what it plays is what searches everywhere find, and never worse than its blueprint."""

import numpy as np
import pytest

from equipoise.agents.base import describe_decision
from equipoise.agents.search import SearchAgent, SearchPlan, SearchWhen
from equipoise.agents.simple import UniformAgent
from equipoise.core.errors import ConfigError, GameTooLargeError, InvalidStateError
from equipoise.evaluation.assembly import assemble_public_strategy
from equipoise.evaluation.matches import play_game
from equipoise.games.registry import make_game
from equipoise.search.gadgets import Maxmargin, Reach, Resolve
from equipoise.search.leaves import FixedLeaves
from equipoise.search.limits import ActionLimit
from equipoise.search.partial_games import RulesBlueprint
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import search_everywhere
from equipoise.search.settings import SearchSettings
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.rules_strategy import RulesPlaces, RulesStrategy
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import read_policy
from equipoise.trees.vector import UniformStrategy
from tests.search.blueprints import random_strategy
from tests.search.fixtures import second_round

RULES = make_game("leduc", merge_suits=True)
GAME = derive_public_game(RULES)
TREE = build_public_tree(GAME)
BLUEPRINT = PublicProfile(TREE, random_strategy(TREE, 1))


def plan(method, iterations, *, limit=None, leaves=None, **where):
    return SearchPlan(search=SearchSettings(method=method, iterations=iterations, limit=limit, leaves=leaves), **where)


@pytest.fixture
def agent():
    return SearchAgent(BLUEPRINT, plan=plan(Maxmargin(), 100))


def assemble(agent):
    """Returns `[C]` what an agent plays in both seats at every public state."""
    return assemble_public_strategy(agent, GAME, rng=np.random.default_rng(0)).to_tree(TREE)


def test_it_plays_what_search_everywhere_finds(agent):
    out = assemble(agent)
    for searcher in (0, 1):
        expected = search_everywhere(BLUEPRINT, second_round(TREE), searcher, Maxmargin(), iterations=100)
        own = slice(*TREE.cells.cell_start[searcher : searcher + 2])
        np.testing.assert_allclose(out[own], expected[own], atol=1e-12)


@pytest.mark.parametrize("when", [SearchWhen.ROUNDS, SearchWhen.DECISIONS])
def test_it_is_less_exploitable_than_its_blueprint(when):
    agent = SearchAgent(BLUEPRINT, plan=plan(Maxmargin(), 60, when=when))
    assert evaluate(TREE, assemble(agent)).exploitability < 0.8 * BLUEPRINT.evaluate().exploitability


def test_it_answers_for_whole_public_states_and_single_ones(agent):
    rng = np.random.default_rng(0)
    node = second_round(TREE)[2]
    decision = describe_decision(GAME, node)
    got = agent.public_strategy(decision, rng=rng)
    np.testing.assert_allclose(got.sum(axis=1), 1.0)
    np.testing.assert_allclose(got, read_policy(TREE, node, assemble(agent)), atol=1e-12)
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


class Watched:
    """A public game that notes which of its states are expanded."""

    def __init__(self, game):
        self.game, self.seen = game, set()

    def __getattr__(self, name):
        return getattr(self.game, name)

    def edges(self, state):
        self.seen.add(state)
        return self.game.edges(state)


@pytest.mark.parametrize("when", [SearchWhen.ROUNDS, SearchWhen.DECISIONS])
@pytest.mark.parametrize("method", [Maxmargin(), Resolve(share=0.2)])
def test_a_blueprint_over_rules_is_searched_as_one_on_the_tree(when, method):
    policy = RulesStrategy(GAME, TabularStrategy.from_tree(TREE, BLUEPRINT.strategy))
    settings = plan(method, 20, when=when)
    blueprints = BLUEPRINT, RulesBlueprint(game=GAME, policy=policy)
    on_tree, over_rules = (assemble(SearchAgent(blueprint, plan=settings)) for blueprint in blueprints)
    np.testing.assert_allclose(over_rules, on_tree, atol=1e-7)


def test_searches_that_end_at_leaves_are_the_same_over_rules_and_on_the_tree():
    policy = RulesStrategy(GAME, TabularStrategy.from_tree(TREE, BLUEPRINT.strategy))
    leaves = FixedLeaves(TREE, BLUEPRINT.strategy)
    settings = plan(Resolve(share=0.2), 20, limit=ActionLimit(1), leaves=leaves)
    blueprints = BLUEPRINT, RulesBlueprint(game=GAME, policy=policy)
    on_tree, over_rules = (assemble(SearchAgent(blueprint, plan=settings)) for blueprint in blueprints)
    np.testing.assert_allclose(over_rules, on_tree, atol=1e-7)
    whole = assemble(SearchAgent(BLUEPRINT, plan=plan(Resolve(share=0.2), 20)))
    assert np.abs(whole - on_tree).max() > 0.1


def test_no_more_of_a_game_is_expanded_than_lies_below_a_search():
    rules = make_game("leduc", ranks=6)
    watched = Watched(derive_public_game(rules))
    agent = SearchAgent(
        RulesBlueprint(game=watched, policy=UniformStrategy(RulesPlaces(watched))),
        plan=SearchPlan(search=SearchSettings(iterations=20)),
    )
    rng = np.random.default_rng(3)
    assert abs(sum(play_game(rules, [agent, UniformAgent()], chance=rng, rng=rng))) < 1e-9
    assert 0 < len(watched.seen) < 0.1 * watched.num_public_states


def test_gifts_over_rules_count_from_the_first_search_on():
    """What was given away before is not known without the tree above, so that the search is safe all the same."""
    policy = RulesStrategy(GAME, TabularStrategy.from_tree(TREE, BLUEPRINT.strategy))
    blueprint = RulesBlueprint(game=GAME, policy=policy)
    plain, reach = (
        assemble(SearchAgent(blueprint, plan=plan(Maxmargin(reach=gifts), 30))) for gifts in (None, Reach())
    )
    np.testing.assert_array_equal(reach, plain)


def test_old_trees_are_forgotten_and_grown_again(monkeypatch):
    blueprint = RulesBlueprint(game=GAME, policy=UniformStrategy(RulesPlaces(GAME)))
    settings = plan(Maxmargin(), 5)
    expected = assemble(SearchAgent(blueprint, plan=settings))
    monkeypatch.setattr("equipoise.agents.search.KEPT_CELLS", 1)
    agent = SearchAgent(blueprint, plan=settings)
    np.testing.assert_array_equal(assemble(agent), expected)
    assert len(agent.ground.trees) == 1


def test_what_rules_do_not_have_is_refused():
    agent = SearchAgent(RulesBlueprint(game=GAME, policy=UniformStrategy(RulesPlaces(GAME))))
    observation = describe_decision(GAME, 0).observation(0)._replace(infostate="nonsense")
    with pytest.raises(InvalidStateError, match="has no information state 'nonsense' of player 0"):
        agent.probabilities(observation, rng=np.random.default_rng(0))
    small = SearchAgent(RulesBlueprint(game=GAME, policy=UniformStrategy(RulesPlaces(GAME)), max_nodes=3))
    with pytest.raises(GameTooLargeError):
        assemble(small)
