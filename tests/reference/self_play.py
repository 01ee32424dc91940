# SPDX-License-Identifier: Apache-2.0
"""Q-learning and games written down for learners, as one would write them on a blackboard, every draw handed in.

The twins of native/q_learning.hpp and native/self_play.hpp: the game's own states, dictionaries for tables.
"""

from equipoise.games.base import CHANCE, TERMINAL


def deal(game, state, draw):
    outcomes = game.chance_outcomes(state)
    return game.apply(state, outcomes[draw([probability for _, probability in outcomes])][0])


class ReferenceQLearner:
    """A table of values for every seat; `draw(probabilities)` returns an index."""

    def __init__(self, game, step_size, exploration, draw):
        self.game, self.step_size, self.exploration, self.draw = game, step_size, exploration, draw
        self.value = {}  # by player and information state: of each action

    def play_game(self):
        game, state, last = self.game, self.game.initial_state(), {}
        while (player := game.actor(state)) != TERMINAL:
            if player == CHANCE:
                state = deal(game, state, self.draw)
                continue
            actions, key = game.legal_actions(state), (player, game.infostate(state, player))
            row = self.value.setdefault(key, [0.0] * len(actions))
            self.learn(last.get(player), max(row))
            chosen = self.choose(row)
            last[player] = (row, chosen)
            state = game.apply(state, actions[chosen])
        for player, decision in last.items():
            self.learn(decision, game.returns(state)[player])

    def learn(self, decision, target):
        if decision is not None:
            row, chosen = decision
            row[chosen] += self.step_size * (target - row[chosen])

    def choose(self, row):
        if self.draw([self.exploration, 1 - self.exploration]) == 0:
            return self.draw([1 / len(row)] * len(row))
        best = [a for a, value in enumerate(row) if value == max(row)]
        return best[self.draw([1 / len(best)] * len(best))]


def play_game(game, policy, draw):
    """Returns the decisions of a game: [player, information state, action index, next information state, return]."""
    state, decisions, last = game.initial_state(), [], {}
    while (player := game.actor(state)) != TERMINAL:
        if player == CHANCE:
            state = deal(game, state, draw)
            continue
        actions, infostate = game.legal_actions(state), game.infostate(state, player)
        chosen = draw(policy(player, infostate))
        if player in last:
            last[player][3] = infostate
        last[player] = [player, infostate, chosen, None, None]
        decisions.append(last[player])
        state = game.apply(state, actions[chosen])
    for decision in decisions:
        decision[4] = game.returns(state)[decision[0]]
    return decisions
