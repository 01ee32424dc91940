# SPDX-License-Identifier: Apache-2.0
"""A push-or-fold chart as an agent."""

import numpy as np
import pytest

from equipoise.agents.base import observe_state
from equipoise.agents.holdem.hands import describe_holdem_decision
from equipoise.agents.notation import parse_agent
from equipoise.core.errors import ConfigError
from equipoise.evaluation.play import play_game
from equipoise.games.holdem.betting import CALL, FOLD
from equipoise.games.holdem.cards import parse_board, parse_deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.rules import Holdem
from equipoise.games.registry import make_game

DECK = "9TJQKA/cds"
GAME = Holdem(deck=DECK, stacks=(1000, 1000), menu="all")


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EQUIPOISE_CACHE", str(tmp_path_factory.mktemp("cache")))
        return parse_agent("pushfold", GAME)


def reach(*actions):
    state = GAME.initial_state()
    for card in parse_board("9cTdJsQc", parse_deck(DECK)):
        state = GAME.apply(state, card)
    for action in actions:
        state = GAME.apply(state, action)
    return state


def rows(agent, state):
    decision = describe_holdem_decision(GAME, state)
    return decision, agent.public_strategy(decision, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("line", "chart", "others"),
    [((), "push", FOLD), ((1000,), "call", FOLD), ((300,), "call", FOLD), ((CALL,), "push", CALL)],
)
def test_all_chips_or_none(agent, line, chart, others):
    decision, table = rows(agent, reach(*line))
    share = getattr(agent.chart, chart)[hands_of(parse_deck(DECK)).classes]
    np.testing.assert_allclose(table[:, -1], share)  # the last action is all in, or calls it
    np.testing.assert_allclose(table[:, decision.actions.index(others)], 1.0 - share)
    assert 0.0 < share.mean() < 1.0
    seen = observe_state(GAME, reach(*line), decision.seat)
    hand = decision.infostates[:].index(seen.infostate)
    np.testing.assert_allclose(agent.probabilities(seen, rng=np.random.default_rng(0)), table[hand])


def test_later_streets_are_given_up(agent):
    state = reach(CALL, CALL)
    for card in parse_board("9sTsJd", parse_deck(DECK)):
        state = GAME.apply(state, card)
    decision, table = rows(agent, state)
    is_live = decision.legality.any(axis=1)
    assert (table[is_live, decision.actions.index(CALL)] == 1.0).all()
    assert not table[~is_live].any()


def test_hands_are_played_to_their_end(agent):
    rng = np.random.default_rng(3)
    for _ in range(20):
        won = play_game(GAME, [agent, parse_agent("uniform", GAME)], chance=rng, rng=rng)
        assert abs(sum(won)) < 1e-9


def test_other_games_are_refused():
    with pytest.raises(ConfigError, match="heads-up"):
        parse_agent("pushfold", make_game("kuhn"))
