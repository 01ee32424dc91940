# SPDX-License-Identifier: Apache-2.0
"""CFR as one would write it on a blackboard: recursion over the game's own states, dictionaries for tables.

The twin of native/history.hpp and native/public.hpp. Slow, obvious, and independent of every tree and numbering.
"""

import math

import numpy as np

from equipoise.games.base import CHANCE, TERMINAL
from equipoise.kernels.rules import Fallback, PolicyMap


def regret_matching(regret, fallback=Fallback.UNIFORM):
    positive = np.maximum(regret, 0.0)
    if positive.sum() > 0:
        return positive / positive.sum()
    if fallback is Fallback.ARGMAX:
        return np.eye(len(regret))[np.argmax(regret)]
    return np.full(len(regret), 1.0 / len(regret))


def hedge(regret, eta):
    weights = np.exp(eta * (regret - regret.max()))
    return weights / weights.sum()


def normal_hedge(regret, fallback=Fallback.UNIFORM):
    positive = np.maximum(regret, 0.0)
    if positive.max() <= 0:
        return regret_matching(regret, fallback)
    low, high = 1e-3 * positive.max() ** 2, positive.max() ** 2
    for _ in range(120):  # c > 0 with mean(exp(R+^2 / 2c)) = e; the mean falls as c grows
        c = math.sqrt(low * high)
        with np.errstate(over="ignore"):
            mean = np.mean(np.exp(positive**2 / (2 * c)))
        low, high = (c, high) if mean > math.e else (low, c)
    # the common factor 1/c cancels; the shift keeps the exponential finite
    weights = positive * np.exp((positive**2 - positive.max() ** 2) / (2 * c))
    return weights / weights.sum()


def cut_small(strategy, threshold):
    """Returns the strategy without what is less probable than the threshold; the most probable actions stay."""
    kept = np.where(strategy < min(threshold, strategy.max()), 0.0, strategy)
    return kept / kept.sum()


def threshold_of(kernel, discount, num_actions):
    """Returns the least probability that is played, from its share in a row of discounts."""
    factor = math.sqrt(math.log(num_actions)) if kernel.policy_map is PolicyMap.HEDGE else 1.0
    return discount.threshold * factor / num_actions**2


class ReferenceCFR:
    """Tables keyed by (player, infostate); the same rules as values that the real solvers take."""

    def __init__(self, game, rule, *, is_alternating=True):
        self.game, self.rule, self.is_alternating = game, rule, is_alternating
        self.players = range(game.spec.num_players)
        self.regret, self.average, self.last, self.values = {}, {}, {}, {}
        self.payoffs = {}  # utilities of the owner that an information state may still end in
        self.strategy = {}
        self.t = 0
        self.discover(game.initial_state())

    def discover(self, state):
        """Begins the tables at and below a state, and returns the utilities it may end in."""
        actor = self.game.actor(state)
        if actor == TERMINAL:
            return {self.game.returns(state)}
        if actor == CHANCE:
            actions = [action for action, _ in self.game.chance_outcomes(state)]
        else:
            actions = self.game.legal_actions(state)
            key = (actor, self.game.infostate(state, actor))
            self.regret.setdefault(key, np.zeros(len(actions)))
            self.average.setdefault(key, np.zeros(len(actions)))
            self.last.setdefault(key, np.zeros(len(actions)))
            self.values.setdefault(key, [])
            self.strategy.setdefault(key, np.full(len(actions), 1.0 / len(actions)))
        ends = set().union(*(self.discover(self.game.apply(state, action)) for action in actions))
        if actor != CHANCE:
            self.payoffs.setdefault(key, set()).update(utility[actor] for utility in ends)
        return ends

    def payoff_range(self, key):
        """Returns the distance between the largest and the smallest utility below an information state."""
        return max(self.payoffs[key]) - min(self.payoffs[key])

    def walk(self, state, player, own_reach, cf_reach, cfv, reach):
        """Returns the player's value of a state times nothing; adds cf-weighted action values into cfv."""
        actor = self.game.actor(state)
        if actor == TERMINAL:
            return self.game.returns(state)[player]
        if actor == CHANCE:
            return sum(
                p * self.walk(self.game.apply(state, a), player, own_reach, cf_reach * p, cfv, reach)
                for a, p in self.game.chance_outcomes(state)
            )
        key = (actor, self.game.infostate(state, actor))
        sigma = self.strategy[key]
        actions = self.game.legal_actions(state)
        if actor != player:
            return sum(
                p * self.walk(self.game.apply(state, a), player, own_reach, cf_reach * p, cfv, reach)
                for a, p in zip(actions, sigma, strict=True)
            )
        values = np.array(
            [
                self.walk(self.game.apply(state, a), player, own_reach * p, cf_reach, cfv, reach)
                for a, p in zip(actions, sigma, strict=True)
            ]
        )
        cfv[key] = cfv.get(key, 0.0) + cf_reach * values
        reach[key] = own_reach
        return float(sigma @ values)

    def collect(self, player):
        cfv, reach = {}, {}
        self.walk(self.game.initial_state(), player, 1.0, 1.0, cfv, reach)
        return cfv, reach

    def update(self, cfv, reach):
        discount, kernel = self.rule.discounts(self.t), self.rule.kernel
        for key, values in cfv.items():
            sigma = self.strategy[key]
            instant = values - sigma @ values
            regret = self.regret[key]
            regret = np.where(regret > 0, discount.positive, discount.negative) * regret + instant
            self.regret[key] = np.maximum(regret, 0.0) if kernel.floors_regrets else regret
            self.average[key] = (
                discount.average_decay * self.average[key] + discount.average_weight * reach[key] * sigma
            )
            self.values[key].append(float(sigma @ values))
            basis = self.regret[key] + instant if kernel.is_optimistic else self.regret[key]
            raw = self.play(key, basis, discount, kernel)
            self.strategy[key] = cut_small(raw, threshold_of(kernel, discount, len(raw)))

    def play(self, key, basis, discount, kernel):
        if kernel.policy_map is PolicyMap.REGRET_MATCHING:
            return regret_matching(basis, kernel.fallback)
        if kernel.policy_map is PolicyMap.NORMAL_HEDGE:
            return normal_hedge(basis, kernel.fallback)
        scale = self.payoff_range(key)
        if kernel.tracks_variance:
            scale = max(3.0 * np.std(self.values[key]), 1e-9 * scale)
        return hedge(basis, discount.eta_scale * math.sqrt(math.log(len(basis))) / max(scale, 1e-150))

    def iterate(self, num_iterations):
        for _ in range(num_iterations):
            self.t += 1
            if self.is_alternating:
                for player in self.players:
                    self.update(*self.collect(player))
            else:
                for cfv, reach in [self.collect(player) for player in self.players]:
                    self.update(cfv, reach)


def best_response_value(game, player, profile):
    """Returns the value of a best response by trying every pure strategy's building blocks: backward over infosets."""
    histories = {}

    def gather(state, weight, path):
        actor = game.actor(state)
        if actor == TERMINAL:
            histories.setdefault(path, [0.0, set()])[0] += weight * game.returns(state)[player]
            return
        if actor == CHANCE:
            for a, p in game.chance_outcomes(state):
                gather(game.apply(state, a), weight * p, path)
            return
        key = game.infostate(state, actor)
        if actor == player:
            histories.setdefault(path, [0.0, set()])[1].add((key, game.legal_actions(state)))
            for a in game.legal_actions(state):
                gather(game.apply(state, a), weight, (*path, (key, a)))
            return
        for a, p in zip(game.legal_actions(state), profile[actor, key], strict=True):
            gather(game.apply(state, a), weight * p, path)

    gather(game.initial_state(), 1.0, ())

    def solve(path):
        value, infosets = histories.get(path, (0.0, set()))
        return value + sum(max(solve((*path, (key, a))) for a in actions) for key, actions in infosets)

    return solve(())
