# SPDX-License-Identifier: Apache-2.0
"""Substitute values by recursion over a game's own states; the twin of native/substitute.hpp and what backs it up."""

import collections

import numpy as np

from equipoise.games.base import CHANCE, TERMINAL


def solve_level(values, budget):
    """Returns the v at which squares of max(0, value - v) sum to a budget, by bisection."""
    low, high = max(values) - np.sqrt(budget), max(values)
    for _ in range(200):
        middle = (low + high) / 2
        if np.square(np.maximum(np.asarray(values) - middle, 0.0)).sum() > budget:
            low = middle
        else:
            high = middle
    return high


class ReferenceSubstitutes:
    """One player's information states against a profile, `{(player, infostate): probabilities}`."""

    def __init__(self, game, player, profile):
        self.game, self.player, self.profile = game, player, profile
        self.reach = collections.defaultdict(float)  # external, chance included
        self.payoffs = collections.defaultdict(set)
        self.above = {}  # own sequence that leads to each information state, in the order of first encounter
        self.num_actions = {}
        self.ends = collections.defaultdict(float)  # counterfactual values of terminals right below a sequence
        self.walk(game.initial_state(), None, 1.0)

    def walk(self, state, sequence, cf_reach):
        """Returns the utilities that a state may end in."""
        actor = self.game.actor(state)
        if actor == TERMINAL:
            utility = self.game.returns(state)[self.player]
            self.ends[sequence] += cf_reach * utility
            return {utility}
        if actor == CHANCE:
            outcomes = [(sequence, cf_reach * p, action) for action, p in self.game.chance_outcomes(state)]
        else:
            actions = self.game.legal_actions(state)
            key = (actor, self.game.infostate(state, actor))
            if actor == self.player:
                self.reach[key] += cf_reach
                self.above.setdefault(key, sequence)
                self.num_actions[key] = len(actions)
                outcomes = [((key, index), cf_reach, action) for index, action in enumerate(actions)]
            else:
                outcomes = [(sequence, cf_reach * p, a) for p, a in zip(self.profile[key], actions, strict=True)]
        found = set().union(*(self.walk(self.game.apply(state, a), seq, reach) for seq, reach, a in outcomes))
        if actor == self.player:
            self.payoffs[key] |= found
        return found

    def bound(self, key, exponent):
        """Returns the right-hand side of (3.6) without T."""
        payoff_range = max(self.payoffs[key]) - min(self.payoffs[key])
        return self.reach[key] ** exponent * payoff_range**2 * self.num_actions[key]

    def back_up(self, choose):
        """Returns the value of the game and what actions are worth beyond their information states.

        `choose(key, values)` says what an information state is worth.
        """
        values, regrets = collections.defaultdict(float, self.ends), {}
        for key in reversed(self.above):
            own = np.array([values[key, index] for index in range(self.num_actions[key])])
            worth = choose(key, own)
            regrets[key] = own - worth
            values[self.above[key]] += worth
        return values[None], regrets
