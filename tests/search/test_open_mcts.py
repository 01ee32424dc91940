# SPDX-License-Identifier: Apache-2.0
"""Searches of boards: values that are exact give best moves, priors say what is tried first."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games import PerfectInformationGame, make_game
from equipoise.kernels.frontier import LeafValues
from equipoise.search.leaves import ZeroLeaves
from equipoise.search.open_mcts import OpenMCTS, OpenMCTSConfig

FORM = PerfectInformationGame(make_game("tic_tac_toe"))


class Told:
    """Says 0 of every state, and a prior of one action."""

    def __init__(self, action):
        self.action = action

    def evaluate(self, batch):
        prior = np.zeros((1, 1, 9))
        prior[0, 0, self.action] = 1.0
        return LeafValues((np.zeros((1, 1)), np.zeros((1, 1))), prior)


def after(*moves):
    state = FORM.game.initial_state()
    for move in moves:
        state = FORM.game.apply(state, move)
    return FORM.initial_state()._replace(inside=state)


def favourite(state, simulations, evaluator=None):
    search = OpenMCTS(FORM, evaluator or ZeroLeaves(), OpenMCTSConfig(num_simulations=simulations))
    visits = search.visits(state, rng=np.random.default_rng(0))
    assert search.num_asked <= simulations
    assert visits.sum() == simulations - 1
    return FORM.legal_actions(state)[int(visits.argmax())]


@pytest.mark.parametrize(
    ("moves", "best"),
    [((0, 3, 1, 4), 2), ((0, 3, 1, 4, 8), 5), ((0, 4, 1), 2)],  # x wins, o wins, o must block
)
def test_wins_are_taken_and_blocked(moves, best):
    assert favourite(after(*moves), 200) == best


def test_the_prior_says_what_is_tried_first():
    assert favourite(after(), 2, Told(7)) == 7


def test_values_belong_to_whoever_moves():
    """Whoever is to move likes what the evaluator says is good for that player."""

    class CornerIsGood:
        def evaluate(self, batch):
            state = batch.states[0].inside
            first = 1.0 if state.stones[0] & 1 else -1.0 if state.stones[1] & 1 else 0.0
            return LeafValues((np.full((1, 1), first), np.full((1, 1), -first)))

    assert favourite(after(), 40, CornerIsGood()) == 0
    assert favourite(after(4), 40, CornerIsGood()) == 0


def test_searches_have_at_least_one_simulation():
    with pytest.raises(ConfigError, match="num_simulations"):
        OpenMCTSConfig(num_simulations=0)
    with pytest.raises(ConfigError, match="exploration"):
        OpenMCTSConfig(exploration=-1.0)
