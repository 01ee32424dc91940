# SPDX-License-Identifier: Apache-2.0
"""Information-set Monte Carlo tree search as one would write it on a blackboard, every draw handed in.

The twin of native/ismcts.hpp and of `equipoise.search.rules_ismcts`: recursion over the game's own states, dictionaries
for statistics.
"""

import math

from equipoise.games.base import CHANCE, TERMINAL

TIE_TOLERANCE = 1e-5


class ReferenceISMCTS:
    """One search; `draw(probabilities)` returns an index."""

    def __init__(self, game, exploration, draw):
        self.game, self.exploration, self.draw = game, exploration, draw
        self.rows = {}  # by player and information state: [visits, sum of returns] of each action

    def search(self, worlds, num_simulations):
        """Returns visits and sums of returns at the root, whose worlds are pairs of a state and a probability."""
        for _ in range(num_simulations):
            self.simulate(worlds[self.draw([probability for _, probability in worlds])][0])
        game, root = self.game, worlds[0][0]
        return self.rows[game.actor(root), game.infostate(root, game.actor(root))]

    def simulate(self, state):
        """Returns the utilities at the end of one simulation from a state."""
        game, player = self.game, self.game.actor(state)
        if player == TERMINAL:
            return game.returns(state)
        if player == CHANCE:
            return self.simulate(self.deal(state))
        actions, key = game.legal_actions(state), (player, game.infostate(state, player))
        if key not in self.rows:
            self.rows[key] = [[0, 0.0] for _ in actions]
            return self.roll_out(state)
        row = self.rows[key]
        chosen = self.choose(row)
        returns = self.simulate(game.apply(state, actions[chosen]))
        row[chosen][0] += 1
        row[chosen][1] += returns[player]
        return returns

    def choose(self, row):
        untried = [a for a, (visits, _) in enumerate(row) if visits == 0]
        if untried:
            return untried[self.draw_evenly(untried)]
        total = sum(visits for visits, _ in row)
        bounds = [mean / n + self.exploration * math.sqrt(math.log(total) / n) for n, mean in row]
        best = [a for a, bound in enumerate(bounds) if bound > max(bounds) - TIE_TOLERANCE]
        return best[0] if len(best) == 1 else best[self.draw_evenly(best)]

    def roll_out(self, state):
        game = self.game
        while (player := game.actor(state)) != TERMINAL:
            if player == CHANCE:
                state = self.deal(state)
            else:
                actions = game.legal_actions(state)
                state = game.apply(state, actions[self.draw_evenly(actions)])
        return game.returns(state)

    def deal(self, state):
        outcomes = self.game.chance_outcomes(state)
        return self.game.apply(state, outcomes[self.draw([probability for _, probability in outcomes])][0])

    def draw_evenly(self, items):
        return self.draw([1 / len(items)] * len(items))


def find_worlds(game):
    """Returns `{(player, information state): [(state, probability), ...]}`, by chance alone, in order of encounter."""
    found = {}

    def visit(state, chance):
        player = game.actor(state)
        if player == TERMINAL:
            return
        if player == CHANCE:
            for outcome, probability in game.chance_outcomes(state):
                visit(game.apply(state, outcome), chance * probability)
            return
        found.setdefault((player, game.infostate(state, player)), []).append((state, chance))
        for action in game.legal_actions(state):
            visit(game.apply(state, action), chance)

    visit(game.initial_state(), 1.0)
    totals = {key: sum(weight for _, weight in worlds) for key, worlds in found.items()}
    return {key: [(state, weight / totals[key]) for state, weight in worlds] for key, worlds in found.items()}
