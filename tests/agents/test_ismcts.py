# SPDX-License-Identifier: Apache-2.0
"""Agents that search: what they play on trees and on rules, and how they are written."""

import numpy as np
import pytest

from equipoise.agents.base import observe_state
from equipoise.agents.ismcts import RulesISMCTSAgent, TreeISMCTSAgent, make_ismcts_agent
from equipoise.agents.notation import parse_agent
from equipoise.agents.simple import UniformAgent
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.evaluation.assembly import measure_seeds
from equipoise.evaluation.play import play_game
from equipoise.games.registry import make_game
from equipoise.search.ismcts import FinalPolicy, ISMCTSConfig
from equipoise.search.worlds import Event
from equipoise.trees.history import build_history_tree

KUHN, LEDUC = make_game("kuhn"), make_game("leduc")
CONFIG = ISMCTSConfig(num_simulations=200, exploration=2.0)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path / "cache"))


def follow(agent, game, seat, moves):
    """Returns the agent's action after these moves, in which it takes no part."""
    agent.begin_game(seat)
    state = game.initial_state()
    for move in moves:
        state = game.apply(state, move)
        agent.observe(observe_state(game, state, seat))
    return game.action_name(state, agent.act(observe_state(game, state, seat), rng=np.random.default_rng(1)))


@pytest.mark.parametrize("make", [lambda: RulesISMCTSAgent(KUHN, CONFIG), lambda: parse_agent("ismcts:200,2", KUHN)])
@pytest.mark.parametrize(("own", "expected"), [(2, "call"), (0, "fold")])
def test_a_bet_is_called_with_the_best_card_and_folded_to_with_the_worst(make, own, expected):
    assert follow(make(), KUHN, 1, [1, own, 1]) == expected


@pytest.mark.parametrize("seats", [0, 1])
def test_whole_games_are_played_and_won_from_the_rules(seats):
    agent, rng, chance = RulesISMCTSAgent(LEDUC, CONFIG), np.random.default_rng(0), np.random.default_rng(1)
    agents = [agent, UniformAgent()][:: 1 - 2 * seats]
    won = [play_game(LEDUC, agents, chance=chance, rng=rng)[seats] for _ in range(30)]
    assert np.mean(won) > 0


def test_the_tree_says_what_the_rules_say():
    tree = build_history_tree(LEDUC)
    config = ISMCTSConfig(num_simulations=1000, exploration=5.0, final=FinalPolicy.VISITS)
    moves = [0, 2, 1, 2]  # a jack against a queen, a check, a bet
    state = LEDUC.initial_state()
    for move in moves:
        state = LEDUC.apply(state, move)
    observation = observe_state(LEDUC, state, 0)
    rng = np.random.default_rng(3)
    tree_agent = TreeISMCTSAgent(tree, config)
    on_tree = np.mean([tree_agent.probabilities(observation, rng=rng) for _ in range(30)], axis=0)
    rules = RulesISMCTSAgent(LEDUC, config)
    on_rules = np.mean([probabilities_of(rules, moves, rng) for _ in range(4)], axis=0)
    np.testing.assert_allclose(on_tree, on_rules, atol=0.12)


def probabilities_of(agent, moves, rng):
    found = []
    inner = agent.search.probabilities
    agent.search.probabilities = lambda worlds, rng: found.append(inner(worlds, rng=rng)) or found[-1]
    agent.begin_game(0)
    state = LEDUC.initial_state()
    for move in moves:
        is_own = LEDUC.actor(state) == 0
        if is_own:
            agent._events.append(Event(action=move))
        state = LEDUC.apply(state, move)
        if not is_own:
            agent.observe(observe_state(LEDUC, state, 0))
    agent.act(observe_state(LEDUC, state, 0), rng=rng)
    agent.search.probabilities = inner
    return found[0]


def test_assembled_searches_are_as_exploitable_as_the_study_says():
    agent = TreeISMCTSAgent(build_history_tree(LEDUC), ISMCTSConfig(num_simulations=100, exploration=10.0))
    spread = measure_seeds(agent, LEDUC, seeds=(1, 2))
    assert spread.minimum < spread.maximum  # seeds matter
    assert 0.9 < spread.mean < 1.6  # 1.195 in Table 5


def test_games_too_large_for_a_tree_are_searched_by_their_rules():
    agent = parse_agent("ismcts:20", make_game("holdem"))
    assert isinstance(agent, RulesISMCTSAgent)
    assert isinstance(parse_agent("ismcts:20", KUHN), TreeISMCTSAgent)
    assert make_ismcts_agent(KUHN).name == "ismcts:10000,2,max-visits"
    assert parse_agent("ismcts:20", LEDUC).name == "ismcts:20,13,max-visits"


def test_unknown_information_states_are_refused():
    agent = TreeISMCTSAgent(build_history_tree(KUHN), CONFIG)
    observation = observe_state(LEDUC, LEDUC.apply(LEDUC.apply(LEDUC.initial_state(), 0), 1), 0)
    with pytest.raises(InvalidStateError, match=r"kuhn.* has no information state 'Js\|' of player 0"):
        agent.probabilities(observation, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ismcts", r"this agent is written ismcts:SIMULATIONS\[,C\[,POLICY\]\], got 'ismcts'"),
        ("ismcts:many", "simulations and C of ismcts must be numbers, as in 1000,13, got 'many'"),
        ("ismcts:0", "num_simulations must be at least 1, got 0"),
        ("ismcts:9,1,best", "unknown final policy 'best'"),
        ("ismcts:9,1,visits,2", "got 4 settings"),
    ],
)
def test_settings_that_make_no_sense_are_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_agent(text, KUHN)
