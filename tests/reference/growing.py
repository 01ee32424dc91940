# SPDX-License-Identifier: Apache-2.0
"""A plain twin of sweeps over a growing tree: recursion over public states, tables in dictionaries."""

import numpy as np

from equipoise.games.base import TERMINAL


class GrowingTwin:
    """CFR+ over those public states of a game whose paths are in the tree; regrets are kept by path."""

    def __init__(self, game, root, reach, evaluate):
        self.game, self.root, self.reach, self.evaluate = game, root, reach, evaluate
        self.regret, self.average = {}, {}

    def sweep(self, paths, t, updated):
        return self._visit(set(paths), (), self.root, self.reach, t, updated)

    def policy(self, paths, path, state):
        legal = self.game.legality(state)
        missing = {
            action
            for number, edge in enumerate(self.game.edges(state))
            for action in edge.relations[self.game.actor(state)].action.tolist()
            if (*path, number) not in paths
        }
        is_played = legal & ~np.isin(np.arange(legal.shape[1]), list(missing))
        positive = np.where(is_played, np.maximum(self.regret.setdefault(path, np.zeros(legal.shape)), 0), 0)
        total = positive.sum(axis=1, keepdims=True)
        uniform = is_played / is_played.sum(axis=1, keepdims=True)
        return is_played, np.where(total > 0, positive * (1 / np.where(total > 0, total, 1)), uniform)

    def _visit(self, paths, path, state, reach, t, updated):
        actor = self.game.actor(state)
        if actor == TERMINAL:
            payoffs = self.game.payoffs(state)
            return [payoffs[0] @ reach[1], reach[0] @ payoffs[1]]
        edges = [(n, edge) for n, edge in enumerate(self.game.edges(state)) if (*path, n) in paths]
        if not edges:
            return self.evaluate(state, reach)
        values = [np.zeros(own.size) for own in reach]
        policy = is_played = action_values = None
        if actor >= 0:
            is_played, policy = self.policy(paths, path, state)
            action_values = np.zeros(policy.shape)
        for number, edge in edges:
            below = []
            for player, relation in enumerate(edge.relations):
                share = relation.weight * reach[player][relation.private]
                if player == actor:
                    share = share * policy[relation.private, relation.action]
                out = np.zeros(self.game.num_private(edge.child, player))
                np.add.at(out, relation.target, share)
                below.append(out)
            found = self._visit(paths, (*path, number), edge.child, below, t, updated)
            for player, relation in enumerate(edge.relations):
                earned = relation.weight * found[player][relation.target]
                if player == actor:
                    np.add.at(action_values, (relation.private, relation.action), earned)
                else:
                    np.add.at(values[player], relation.private, earned)
        if actor >= 0:
            values[actor] = (policy * action_values).sum(axis=1)
            if updated[actor]:
                gain = action_values - values[actor][:, None]
                self.regret[path] = np.where(is_played, np.maximum(self.regret[path] + gain, 0), self.regret[path])
                total = self.average.setdefault(path, np.zeros(policy.shape))
                total += t * reach[actor][:, None] * policy
        return values
