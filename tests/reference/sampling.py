# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo CFR as one would write it on a blackboard, every draw handed in.

The twin of native/sampling.hpp: recursion over the game's own states, dictionaries for tables. Because draws come from
outside, a run can follow the native generator to the bit, or be repeated for every possible sequence of draws.
"""

import numpy as np

from equipoise.games.base import CHANCE, TERMINAL
from equipoise.kernels.sampling import Scheme
from equipoise.kernels.skipping import SkipKind
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


def begin_stream(word):
    """Returns the generator that a single word decides (splitmix64), as native/random.hpp makes it."""
    words = []
    for _ in range(4):
        word = (word + 0x9E3779B97F4A7C15) & MASK
        mixed = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        words.append(mixed ^ (mixed >> 31))
    return Xoshiro(words)


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


class ReferenceSkipping:
    """The rule of native/sampled_pruning.hpp: which actions are left out, and what the others weigh.

    `may_skip(key, a)` and `rise(key, a)` take the place of the arrays of a `Skipping`, whose numbers are read.
    """

    def __init__(self, rule, may_skip, rise):
        self.rule, self.may_skip, self.rise = rule, may_skip, rise
        self.missed = {}
        self.num_skipped = 0
        self.is_open = self.leaves_out = False

    def begin(self, nodes_touched, draw):
        rule = self.rule
        self.is_open = rule.kind is not SkipKind.NONE and rule.first_node <= nodes_touched < rule.end_node
        self.leaves_out = False
        if self.is_open and rule.kind is SkipKind.COIN:
            self.leaves_out = draw([rule.probability, 1 - rule.probability]) == 0

    def weigh(self, key, action, regret, probability, reach, draw):
        """Returns what an action weighs, 0 if it is left out."""
        rule, place = self.rule, (key, action)
        may = self.is_open and probability == 0 and bool(self.may_skip(key, action))
        weight = 1.0
        if regret >= rule.threshold:
            return weight
        if rule.kind is SkipKind.REGRET_BASED:
            missed = self.missed.get(place, 0.0)
            if may and regret + (missed + reach) * self.rise(key, action) <= rule.threshold:
                self.missed[place] = missed + reach
                weight = 0.0
            else:
                self.missed[place] = 0.0
                weight = 1 + missed / reach if rule.is_weighted else 1.0
        elif may:
            if rule.kind is SkipKind.COIN:
                full = 1 / (1 - rule.probability)
                weight = 0.0 if self.leaves_out else (max(reach, full) / reach if rule.is_weighted else 1.0)
            else:
                explored = rule.softness / (rule.softness + rule.threshold - regret)
                is_explored = draw([explored, 1 - explored]) == 0
                weight = is_explored * (1 / explored if rule.is_weighted else 1.0)
        self.num_skipped += weight == 0
        return weight


class ReferenceBaselines:
    """Guesses by player and name, changed when a traversal is over; `name(state, actor, a)` may be None."""

    def __init__(self, rate, name, guesses=None):
        self.rate, self.name = rate, name
        self.guesses = dict(guesses or {})
        self.samples = []

    def guess(self, player, name):
        return 0.0 if name is None else self.guesses.get((player, name), 0.0)

    def learn(self, player):
        for name, value in self.samples:
            if name is not None:
                before = self.guess(player, name)
                self.guesses[player, name] = before + self.rate * (value - before)
        self.samples = []


NO_BASELINES = ReferenceBaselines(1.0, lambda *_: None)


class ReferenceMCCFR:
    """Tables of a run: regrets and averages by player and information state."""

    def __init__(self, game, scheme, exploration=0.0, regrets=None, skipping=None, baselines=NO_BASELINES):
        self.skipping = skipping
        self.baselines = baselines
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

    def iterate_together(self, generator, traversals, weight):
        """K traversals of each player under one strategy, each with a stream of its own; what they add is weighed."""
        for player in range(self.game.spec.num_players):
            block = {}
            for _ in range(traversals):
                draw = begin_stream(generator.next()).draw
                self.traverse(player, draw, block=block, weight=weight)
                if self.game.spec.num_players != 2 and self.scheme in (Scheme.EXTERNAL, Scheme.OUTCOME):
                    self.walk(player, draw, block=block, weight=weight)

    def iterate(self, draw):
        num_players = self.game.spec.num_players
        if self.skipping is not None:
            self.skipping.begin(self.nodes_touched, draw)
        for player in range(num_players):
            self.traverse(player, draw)
            if num_players != 2 and self.scheme in (Scheme.EXTERNAL, Scheme.OUTCOME):
                self.walk(player, draw)

    def traverse(self, player, draw, *, block=None, weight=1.0):
        self.player, self.draw = player, draw
        self.frozen, self.drawn, self.drawn_public = {}, {}, {}
        self.block = {} if block is None else block
        value = self.visit(self.game.initial_state(), weight, weight)
        self.baselines.learn(player)
        return value

    def correct(self, names, chosen, found, sampling):
        """Returns what every action is worth: its guess, and for the one drawn what was found corrects it."""
        values = np.array([self.baselines.guess(self.player, name) for name in names])
        values[chosen] += (found - values[chosen]) / sampling[chosen]
        self.baselines.samples.append((names[chosen], found))
        return values

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
            self.frozen[key] = self.block.setdefault(key, self.strategy(key, len(children)))
        sigma = self.frozen[key]
        names = [self.baselines.name(state, actor, a) for a in range(len(children))]
        if actor != self.player:
            return self.visit_opponent(key, children, names, sigma, is_first, own, cf)
        regret = self.regret_sum.setdefault(key, np.zeros(len(children)))
        if self.scheme is Scheme.OUTCOME:
            q = self.exploration / len(children) + (1 - self.exploration) * sigma
            chosen = self.draw(q)
            found = self.visit(children[chosen], own, cf / q[chosen])
            values = self.correct(names, chosen, found, q)
        elif self.skipping is not None:
            return self.visit_skipping(key, children, sigma, own, cf)
        else:
            if self.scheme is not Scheme.EXTERNAL and is_first:
                self.add(key, own * sigma)
            values = np.array([self.visit(child, own * p, cf) for child, p in zip(children, sigma, strict=True)])
        regret += cf * (values - sigma @ values)
        return sigma @ values

    def visit_skipping(self, key, children, sigma, own, cf):
        regret = self.regret_sum[key]
        values, weights = np.zeros(len(children)), np.zeros(len(children))
        for action, child in enumerate(children):
            weight = self.skipping.weigh(key, action, regret[action], sigma[action], cf, self.draw)
            weights[action] = weight
            if weight > 0:
                values[action] = self.visit(child, own * sigma[action], cf * weight)
        explored = weights > 0
        regret[explored] += (cf * weights * (values - sigma @ values))[explored]
        regret[explored] = np.maximum(regret[explored], self.skipping.rule.floor)
        return sigma @ values

    def visit_opponent(self, key, children, names, sigma, is_first, own, cf):
        if self.scheme in (Scheme.EXTERNAL, Scheme.OUTCOME):
            if is_first:
                if self.game.spec.num_players == 2:
                    self.add(key, cf * sigma)
                self.drawn[key] = self.draw(sigma)
            chosen = self.drawn[key]
            found = self.visit(children[chosen], own, cf)
            return sigma @ self.correct(names, chosen, found, sigma)
        alive = [(child, p) for child, p in zip(children, sigma, strict=True) if own > 0 or cf * p > 0]
        return sum(p * self.visit(child, own, cf * p) for child, p in alive)

    def visit_chance(self, state, own, cf):
        game = self.game
        outcomes = [(game.apply(state, a), p) for a, p in game.chance_outcomes(state)]
        if self.scheme is not Scheme.PUBLIC_CHANCE:
            probabilities = np.array([p for _, p in outcomes])
            chosen = self.draw(probabilities)
            found = self.visit(outcomes[chosen][0], own, cf)
            names = [self.baselines.name(state, CHANCE, a) for a in range(len(outcomes))]
            if names[0] is None:
                return found
            return probabilities @ self.correct(names, chosen, found, probabilities)
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

    def walk(self, player, draw, *, block=None, weight=1.0):
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
                probabilities = probabilities if block is None else block.setdefault(key, probabilities)
                self.add(key, weight * probabilities)
            state = children[draw(probabilities)]
            self.nodes_touched += 1

    def strategy(self, key, num_actions):
        return regret_matching(self.regret_sum.get(key, np.zeros(num_actions)))

    def add(self, key, amount):
        self.strategy_sum[key] = self.strategy_sum.get(key, 0.0) + amount
