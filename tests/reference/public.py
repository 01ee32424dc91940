# SPDX-License-Identifier: Apache-2.0
"""CFR over public states as one would write it on a blackboard: reach vectors down, value vectors up.

The twin of native/public.hpp. It walks a `PublicGame` itself and knows nothing of blocks, views or cells.
"""

import numpy as np

from equipoise.games.base import CHANCE, TERMINAL
from tests.reference.cfr import ReferenceCFR


def follow(relation, reach, num_private):
    """Returns the reach below a relation, from `[H]` (a player who did not move) or `[H, A]` above."""
    below = np.zeros(num_private)
    mass = reach[relation.private] if reach.ndim == 1 else reach[relation.private, relation.action]
    np.add.at(below, relation.target, relation.weight * mass)
    return below


class ReferencePublicCFR(ReferenceCFR):
    """Tables keyed by (player, infostate), as its parent's; `legal` says which columns an infostate has."""

    def discover(self, state):
        """Begins the tables at and below a state, and returns the utilities it may end in, by private state."""
        actor = self.game.actor(state)
        if actor not in (CHANCE, TERMINAL):
            for private, legal in enumerate(self.game.legality(state)):
                key = (actor, self.game.infostate(state, actor, private))
                count = int(legal.sum())
                self.regret[key], self.average[key], self.last[key] = np.zeros((3, count))
                self.values[key] = []
                self.strategy[key] = np.full(count, 1.0 / count)
                self.payoffs[key] = set()
        ends = self.find_ends(state)
        if actor not in (CHANCE, TERMINAL):
            for private, own in enumerate(ends[actor]):
                self.payoffs[actor, self.game.infostate(state, actor, private)] |= own
        return ends

    def find_ends(self, state):
        """Returns for each player and each of its private states the utilities it may end in."""
        if self.game.actor(state) == TERMINAL:
            weights, payoffs = self.game.joint_weights(state), self.game.payoffs(state)
            ends = [[set() for _ in range(size)] for size in weights.shape]
            for pair in np.argwhere(weights > 0):
                for player in (0, 1):
                    ends[player][pair[player]].add(float(payoffs[player][tuple(pair)] / weights[tuple(pair)]))
            return ends
        ends = [[set() for _ in range(self.game.num_private(state, player))] for player in (0, 1)]
        for edge in self.game.edges(state):
            below = self.discover(edge.child)
            for player, relation in enumerate(edge.relations):
                for private, target in zip(relation.private, relation.target, strict=True):
                    ends[player][private] |= below[player][target]
        return ends

    def policy(self, state):
        """Returns `[H, A]` the actor's strategy at a public state."""
        actor = self.game.actor(state)
        sigma = np.zeros(self.game.legality(state).shape)
        for private, legal in enumerate(self.game.legality(state)):
            sigma[private, legal] = self.strategy[actor, self.game.infostate(state, actor, private)]
        return sigma

    def below(self, state, reaches):
        """Yields each edge of a public state with both players' reaches below it."""
        actor = self.game.actor(state)
        for edge in self.game.edges(state):
            yield (
                edge,
                [
                    follow(
                        edge.relations[player],
                        reaches[player][:, None] * self.policy(state) if player == actor else reaches[player],
                        self.game.num_private(edge.child, player),
                    )
                    for player in (0, 1)
                ],
            )

    def value(self, state, player, reaches, cfv, reach):
        """Returns `[H]` the player's counterfactual values; files those of its actions in `cfv`."""
        actor = self.game.actor(state)
        if actor == TERMINAL:
            matrix = self.game.payoffs(state)[player]
            return matrix @ reaches[1] if player == 0 else reaches[0] @ matrix
        shape = (self.game.num_private(state, player),)
        if actor == player:
            shape += (len(self.game.legal_actions(state)),)
        total = np.zeros(shape)
        for edge, below in self.below(state, reaches):
            relation = edge.relations[player]
            where = (relation.private, relation.action) if actor == player else relation.private
            child = self.value(edge.child, player, below, cfv, reach)
            np.add.at(total, where, relation.weight * child[relation.target])
        if actor != player:
            return total
        for private, legal in enumerate(self.game.legality(state)):
            key = (player, self.game.infostate(state, player, private))
            cfv[key], reach[key] = total[private, legal], reaches[player][private]
        return (self.policy(state) * total).sum(axis=1)

    def root_reaches(self):
        root = self.game.initial_state()
        return [np.ones(self.game.num_private(root, player)) for player in (0, 1)]

    def collect(self, player):
        cfv, reach = {}, {}
        self.value(self.game.initial_state(), player, self.root_reaches(), cfv, reach)
        return cfv, reach
