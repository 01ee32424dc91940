# SPDX-License-Identifier: Apache-2.0
"""Agents that search boards: what they play, who they beat, what is refused."""

import numpy as np
import pytest

from equipoise.agents.base import observe_state
from equipoise.agents.notation import AgentText
from equipoise.core.errors import ConfigError
from equipoise.games import make_game
from equipoise.games.registry import parse_game
from equipoise.runs import match

TIC_TAC_TOE = make_game("tic_tac_toe")


def test_more_playouts_win():
    result = match("uct:100", "uniform", game=TIC_TAC_TOE, hands=40)
    assert result.utility[..., 0].mean() > 0.6


@pytest.mark.parametrize(("num_moves", "is_drawn"), [(0, True), (3, True), (4, False)])
def test_first_moves_are_drawn_and_later_ones_are_favourites(num_moves, is_drawn):
    agent, state = AgentText("uct:60")(TIC_TAC_TOE), TIC_TAC_TOE.initial_state()
    for move in (0, 4, 8, 2)[:num_moves]:
        state = TIC_TAC_TOE.apply(state, move)
    shares = agent.probabilities(observe_state(TIC_TAC_TOE, state, num_moves % 2), rng=np.random.default_rng(0))

    assert sum(shares) == pytest.approx(1.0)
    assert (max(shares) < 1.0) == is_drawn


def test_connect_four_is_played():
    pytest.importorskip("pyspiel", reason="connect four is OpenSpiel's")
    result = match("uct:30", "uniform", game=parse_game("openspiel:connect_four"), hands=6)
    assert result.utility[..., 0].mean() > 0.5


@pytest.mark.parametrize(
    ("text", "game", "message"),
    [
        ("uct:100", "kuhn", "hide nothing, such as tic_tac_toe or openspiel:connect_four; kuhn"),
        ("uct:many", "tic_tac_toe", "must be numbers, as in 1000,1, got 'many'"),
        ("uct:0", "tic_tac_toe", "num_simulations"),
        ("uct:5,1,3", "tic_tac_toe", "got 3 settings"),
        ("mcts:leduc", "leduc", "hide nothing"),
        ("mcts:leduc", "tic_tac_toe", "the network was made for leduc, not for tic_tac_toe"),
    ],
)
def test_what_cannot_be_searched_is_refused(text, game, message):
    with pytest.raises(ConfigError, match=message):
        AgentText(text)(make_game(game))
