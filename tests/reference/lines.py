# SPDX-License-Identifier: Apache-2.0
"""Bucketed limit hold'em whose cards are dealt in one draw, as a game that the twins of walks play."""

import numpy as np

from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.holdem.betting import CALL, FOLD, Stage
from equipoise.games.holdem.bucket_law import find_law
from equipoise.games.holdem.bucketed_limit import BucketedLimitLines


class DealtAtOnce:
    """Both players' paths at the last street and the result of a showdown come first; lines of betting follow."""

    def __init__(self, game):
        self.game, self.lines = game, BucketedLimitLines(game)
        self.num_paths = game.buckets**game.streets
        self.weights = np.moveaxis(find_law(game.buckets).showdown_weights(game.streets - 1), 0, -1).ravel().tolist()

    def initial_state(self):
        return None

    def actor(self, state):
        return CHANCE if state is None else self.lines.actor(state[0])

    def chance_outcomes(self, state):
        return list(enumerate(self.weights))

    def legal_actions(self, state):
        return self.lines.legal_actions(state[0])

    def action_class(self, state, action):
        return self.lines.action_class(state[0], action)

    def apply(self, state, action):
        if state is None:
            return self.lines.initial_state(), action
        line, deal = state
        column = self.legal_actions(state).index(action)
        return self.lines.edges(line)[column].child, deal

    def infostate(self, state, player):
        line, deal = state
        path = (deal // 3 // self.num_paths, deal // 3 % self.num_paths)[player]
        above = path // self.game.buckets ** (self.game.streets - 1 - line.betting.street)
        return self.lines.infostate(line, player, above)

    def returns(self, state):
        line, deal = state
        assert self.lines.actor(line) == TERMINAL
        _, stake = self.lines.payoff_table(line)
        won = stake if line.betting.stage is Stage.FOLD else stake * (1 - deal % 3)
        return won, -won

    def probe(self, state):
        """Returns what the probe does: calls or raises with one half each."""
        actions = self.legal_actions(state)
        open_ones = [action for action in actions if action != FOLD]
        assert CALL in open_ones
        return [0.0 if action == FOLD else 1 / len(open_ones) for action in actions]
