# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo CFR as one would write it on a blackboard, every draw handed in.

The twin of native/sampling.hpp: recursion over the game's own states, dictionaries for tables. Because draws come from
outside, a run can follow the native generator to the bit, or be repeated for every possible sequence of draws.
"""

import numpy as np

from equipoise.games.base import CHANCE, TERMINAL
from equipoise.kernels.sampling import Scheme
from tests.reference.cfr import regret_matching

MASK = (1 << 64) - 1


def rotate_left(word, count):
    return ((word << count) | (word >> (64 - count))) & MASK


class Xoshiro:
    """The generator of native/random.hpp in Python integers."""

    def __init__(self, words):
        self.words = [int(word) for word in words]

    def next(self):
        a, b, c, d = self.words
        result = (rotate_left((b * 5) & MASK, 7) * 9) & MASK
        c ^= a
        d ^= b
        self.words = [a ^ d, b ^ c, c ^ ((b << 17) & MASK), rotate_left(d, 45)]
        return result

    def draw(self, probabilities):
        left = (self.next() >> 11) * 2.0**-53
        for index, probability in enumerate(probabilities):
            if left < probability:
                return index
            left -= probability
        return max(index for index, probability in enumerate(probabilities) if probability > 0)


def all_draws(run):
    """Yields the probability and the result of `run(draw)` for every sequence of draws that is possible."""
    prefixes = [[]]
    while prefixes:
        script = prefixes.pop()
        taken = []
        weight = [1.0]

        def draw(probabilities, script=script, taken=taken, weight=weight):
            if len(taken) < len(script):
                choice = script[len(taken)]
            else:
                choice, *others = [index for index, probability in enumerate(probabilities) if probability > 0]
                prefixes.extend([*taken, other] for other in others)
            taken.append(choice)
            weight[0] *= probabilities[choice]
            return choice

        result = run(draw)
        yield weight[0], result


class ReferenceMCCFR:
    """Tables of a run: regrets and averages by player and information state."""

    def __init__(self, game, scheme, exploration=0.0, regrets=None):
        self.game = game
        self.scheme = scheme
        self.exploration = exploration
        self.regret_sum = {key: np.array(value) for key, value in (regrets or {}).items()}
        self.strategy_sum = {}
        self.nodes_touched = 0
        self.public_draws = {}
        if scheme is Scheme.PUBLIC_CHANCE:
            self.find_public_draws(game.initial_state())

    def find_public_draws(self, state):
        """Sums the probabilities of each public outcome over the histories of a public state."""
        game = self.game
        if game.actor(state) == CHANCE:
            outcomes = [(game.apply(state, a), p) for a, p in game.chance_outcomes(state)]
            names = [game.public_state(child) for child, _ in outcomes]
            if len(set(names)) == len(names):
                totals = self.public_draws.setdefault(game.public_state(state), {})
                for name, (_, probability) in zip(names, outcomes, strict=True):
                    totals[name] = totals.get(name, 0.0) + probability
        for child in self.children(state):
            self.find_public_draws(child)

    def children(self, state):
        game = self.game
        if game.actor(state) == CHANCE:
            return [game.apply(state, action) for action, _ in game.chance_outcomes(state)]
        return [game.apply(state, action) for action in game.legal_actions(state)]

    def iterate(self, draw):
        num_players = self.game.spec.num_players
        for player in range(num_players):
            self.traverse(player, draw)
            if num_players != 2 and self.scheme in (Scheme.EXTERNAL, Scheme.OUTCOME):
                self.walk(player, draw)

    def traverse(self, player, draw):
        self.player, self.draw = player, draw
        self.frozen, self.drawn, self.drawn_public = {}, {}, {}
        return self.visit(self.game.initial_state(), 1.0, 1.0)

    def visit(self, state, own, cf):
        self.nodes_touched += 1
        actor = self.game.actor(state)
        if actor == TERMINAL:
            return self.game.returns(state)[self.player]
        if actor == CHANCE:
            return self.visit_chance(state, own, cf)
        children = self.children(state)
        key = (actor, self.game.infostate(state, actor))
        is_first = key not in self.frozen
        if is_first:
            self.frozen[key] = self.strategy(key, len(children))
        sigma = self.frozen[key]
        if actor != self.player:
            return self.visit_opponent(key, children, sigma, is_first, own, cf)
        regret = self.regret_sum.setdefault(key, np.zeros(len(children)))
        if self.scheme is Scheme.OUTCOME:
            q = self.exploration / len(children) + (1 - self.exploration) * sigma
            chosen = self.draw(q)
            values = np.zeros(len(children))
            values[chosen] = self.visit(children[chosen], own, cf / q[chosen]) / q[chosen]
        else:
            if self.scheme is not Scheme.EXTERNAL and is_first:
                self.add(key, own * sigma)
            values = np.array([self.visit(child, own * p, cf) for child, p in zip(children, sigma, strict=True)])
        regret += cf * (values - sigma @ values)
        return sigma @ values

    def visit_opponent(self, key, children, sigma, is_first, own, cf):
        if self.scheme in (Scheme.EXTERNAL, Scheme.OUTCOME):
            if is_first:
                if self.game.spec.num_players == 2:
                    self.add(key, cf * sigma)
                self.drawn[key] = self.draw(sigma)
            return self.visit(children[self.drawn[key]], own, cf)
        alive = [(child, p) for child, p in zip(children, sigma, strict=True) if own > 0 or cf * p > 0]
        return sum(p * self.visit(child, own, cf * p) for child, p in alive)

    def visit_chance(self, state, own, cf):
        game = self.game
        outcomes = [(game.apply(state, a), p) for a, p in game.chance_outcomes(state)]
        if self.scheme is not Scheme.PUBLIC_CHANCE:
            return self.visit(outcomes[self.draw([p for _, p in outcomes])][0], own, cf)
        name = game.public_state(state)
        if name not in self.public_draws:
            return sum(p * self.visit(child, own, cf * p) for child, p in outcomes)
        totals = self.public_draws[name]
        draws = {outcome: total / sum(totals.values()) for outcome, total in totals.items()}
        if name not in self.drawn_public:
            self.drawn_public[name] = list(draws)[self.draw(list(draws.values()))]
        for child, p in outcomes:
            if game.public_state(child) == self.drawn_public[name]:
                ratio = p / draws[self.drawn_public[name]]
                return ratio * self.visit(child, own, cf * ratio)
        return 0.0

    def walk(self, player, draw):
        """One path on which the player follows its strategy and the others move uniformly."""
        state = self.game.initial_state()
        self.nodes_touched += 1
        while (actor := self.game.actor(state)) != TERMINAL:
            children = self.children(state)
            probabilities = np.full(len(children), 1.0 / len(children))
            if actor == CHANCE:
                probabilities = [p for _, p in self.game.chance_outcomes(state)]
            elif actor == player:
                key = (actor, self.game.infostate(state, actor))
                probabilities = self.strategy(key, len(children))
                self.add(key, probabilities)
            state = children[draw(probabilities)]
            self.nodes_touched += 1

    def strategy(self, key, num_actions):
        return regret_matching(self.regret_sum.get(key, np.zeros(num_actions)))

    def add(self, key, amount):
        self.strategy_sum[key] = self.strategy_sum.get(key, 0.0) + amount
