# SPDX-License-Identifier: Apache-2.0
"""External sampling of a hold'em endgame on the game's own states, every draw handed in.

The twin of `ExternalSampler` in native/holdem_sampling.hpp: a deal is both hands at once, boards one card at a time,
tables are dictionaries by player and information state.
"""

import numpy as np

from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.holdem.hands import hands_of
from tests.reference.cfr import regret_matching
from tests.reference.sampling import Xoshiro


class ListedChance:
    """Deals and cards drawn from lists of what is possible, for enumeration."""

    def __init__(self, tree, draw):
        self.draw = draw
        self.cards = hands_of(tree.spot.deck).cards
        first, second = (tree.spot.live_weights(player) for player in (0, 1))
        masks = hands_of(tree.spot.deck).masks
        weights = np.where((masks[:, None] & masks[None, :]) == 0, np.outer(first, second), 0.0)
        self.pairs = np.argwhere(weights > 0)
        self.probabilities = weights[weights > 0] / weights.sum()

    def pair(self):
        return self.pairs[self.draw(self.probabilities)]

    def card(self, outcomes, board):
        return outcomes[self.draw([probability for _, probability in outcomes])][0]


class NativeChance:
    """Deals and cards as the native sampler draws them, rejected draws included."""

    def __init__(self, tree, words):
        self.tree, self.generator = tree, Xoshiro(words)
        self.draw = self.generator.draw
        self.cumulative = [np.cumsum(reach) for reach in tree.arrays.root_reach]
        self.hands = tree.hands[0]
        self.masks = hands_of(tree.spot.deck).masks

    def uniform(self):
        return (self.generator.next() >> 11) * 2.0**-53

    def pair(self):
        while True:
            pair = []
            for player in (0, 1):
                size = self.hands[player].size
                point = self.uniform() * self.cumulative[player][size - 1]
                row = np.searchsorted(self.cumulative[player][:size], point, side="right")
                pair.append(int(self.hands[player][row]))
            if self.masks[pair[0]] & self.masks[pair[1]] == 0:
                return pair

    def card(self, outcomes, board):
        cards = [card for card in self.tree.spot.deck.cards if card not in board]
        possible = {card for card, _ in outcomes}
        while True:
            card = cards[int(self.uniform() * len(cards))]
            if card in possible:
                return card


class ReferenceExternal:
    """Tables of a run: regrets and averages by player and information state."""

    def __init__(self, game, chance, regrets=None, skipping=None):
        self.game, self.chance, self.skipping = game, chance, skipping
        self.regret_sum = {key: np.array(value) for key, value in (regrets or {}).items()}
        self.strategy_sum = {}
        self.nodes_touched = 0

    def iterate(self):
        if self.skipping is not None:
            self.skipping.begin(self.nodes_touched, self.chance.draw)
        for player in (0, 1):
            self.traverse(player)

    def traverse(self, player):
        self.player = player
        state = self.game.initial_state()
        cards = hands_of(self.game._deck).cards
        for hand in self.chance.pair():
            for card in cards[hand].tolist():
                state = self.game.apply(state, card)
        self.nodes_touched += 1
        return self.visit(state, 1.0)

    def visit(self, state, reach):
        game = self.game
        self.nodes_touched += 1
        actor = game.actor(state)
        if actor == TERMINAL:
            return game.returns(state)[self.player]
        if actor == CHANCE:
            return self.visit(game.apply(state, self.chance.card(game.chance_outcomes(state), state.board)), reach)
        children = [game.apply(state, action) for action in game.legal_actions(state)]
        key = (actor, game.infostate(state, actor))
        regret = self.regret_sum.setdefault(key, np.zeros(len(children)))
        sigma = regret_matching(regret)
        if actor != self.player:
            self.strategy_sum[key] = self.strategy_sum.get(key, 0.0) + reach * sigma
            return self.visit(children[self.chance.draw(sigma)], reach)
        values, weights = np.zeros(len(children)), np.ones(len(children))
        for action, child in enumerate(children):
            if self.skipping is not None:
                weights[action] = self.skipping.weigh(
                    key, action, regret[action], sigma[action], reach, self.chance.draw
                )
            if weights[action] > 0:
                values[action] = self.visit(child, reach * weights[action])
        explored = weights > 0
        regret[explored] += (reach * weights * (values - sigma @ values))[explored]
        if self.skipping is not None:
            regret[explored] = np.maximum(regret[explored], self.skipping.rule.floor)
        return sigma @ values
