# SPDX-License-Identifier: Apache-2.0
"""One subgame under one belief by plain recursion over a public tree: the twin of native/belief_search.hpp."""

import numpy as np

from equipoise.trees.public_edges import find_children, read_policy, relation_matrices


class ReferenceSearch:
    """CFR-D, CFR-AVG and modified CFR-AVG below a node, leaves valued by `predict(kind, belief) -> [2, W]`."""

    def __init__(self, game, node, belief, predict, *, discounts, mode="cfr-d", is_alternating=True, floors=False):
        self.game, self.tree, self.root, self.predict = game, game.tree, node, predict
        self.mode, self.is_alternating, self.floors, self.rows = mode, is_alternating, floors, discounts
        self.leaves = set(game.nodes_of(node)[1].tolist())
        self.decisions = game.nodes_of(node)[0].tolist()
        first = game.first_player_at(node)
        shares = game.shares_at(node).astype(float)
        own = np.where(shares > 0, belief / np.where(shares > 0, shares, 1), 0.0)
        self.order = places = [first, 1 - first]
        counts = self.tree.num_private[node]
        self.start = [own[places.index(player), : counts[player]] for player in (0, 1)]
        self.shares = [shares[places.index(player), : counts[player]] for player in (0, 1)]
        self.total = game.joint_at(node).sum()
        self.policy = {d: read_policy(self.tree, d, self.tree.legal_share) for d in self.decisions}
        self.legal = {d: self.policy[d] > 0 for d in self.decisions}
        self.regret = {d: np.zeros_like(self.policy[d]) for d in self.decisions}
        self.sums = {d: np.zeros_like(self.policy[d]) for d in self.decisions}
        self.weight = 0.0
        self.values = [np.zeros(count) for count in counts]
        self.before = {}

    def start_warm(self, policy, meeting, count):
        """Begins as if a policy had been played for so many iterations, with regrets of best responses below."""
        gained = lost = weight = 0.0
        for row in self.rows[:count]:
            gained, lost, weight = gained * row[0] + 1, lost * row[1] + 1, weight * row[2] + row[3]
        self.rows = self.rows[count:]
        self.weight, self.policy = weight, {d: policy[d].copy() for d in self.decisions}
        now = self.reaches(policy)
        found = {leaf: self.leaf_values(leaf, now[leaf], now[leaf], 1.0) for leaf in self.leaves}
        for d in self.decisions:
            self.sums[d] = weight * now[d][int(self.tree.actor[d])][:, None] * policy[d]
        for player in (0, 1):
            kept = dict(self.regret), dict(self.sums), dict(self.policy)
            value = self.back_up(self.root, player, now, found, policy, np.zeros(6))
            self.regret, self.sums, self.policy = kept
            self.values[player] = weight * value
            self._respond(self.root, player, now, found, policy, (gained, lost, gained / np.sqrt(count), meeting))

    def _respond(self, node, player, reach, found, policy, factors):
        """Returns what a player earns who goes on with best responses, and sets regrets on the way."""
        tree = self.tree
        if node in found or tree.actor[node] < -1:
            return self.back_up(node, player, reach, found, policy, None)
        children = find_children(tree, node).tolist()
        below = {child: self._respond(child, player, reach, found, policy, factors) for child in children}
        if tree.actor[node] != player:
            return sum(relation_matrices(tree, child, player) @ below[child] for child in children)
        actions = np.zeros_like(policy[node])
        for child in children:
            entries = slice(*tree.relation_start[2 * child + player : 2 * child + player + 2].tolist())
            np.add.at(
                actions,
                (tree.relation_private[entries], tree.relation_action[entries]),
                tree.relation_weight[entries] * below[child][tree.relation_target[entries]],
            )
        instant = actions - (policy[node] * actions).sum(axis=1, keepdims=True)
        gained, lost, kept, meeting = factors
        most = np.where(self.legal[node], actions, -np.inf).max(axis=1, keepdims=True)
        regret = instant * np.where(instant > 0, gained, lost) + kept * meeting[node] * policy[node]
        regret = np.where(self.legal[node], regret, 0.0)
        self.regret[node] = np.maximum(regret, 0) if self.floors else regret
        positive = np.maximum(regret, 0)
        total = positive.sum(axis=1, keepdims=True)
        self.policy[node] = np.where(total > 1e-20, positive / np.where(total > 1e-20, total, 1), policy[node])
        return most[:, 0]

    def run(self):
        """Returns the policy played in each iteration, both players' average root values, and average policies."""
        played = []
        for row in self.rows:
            played.append({d: self.policy[d].copy() for d in self.decisions})
            share = row[3] / (self.weight * row[2] + row[3])
            for player in self.order:
                if player == self.order[0] or self.is_alternating:
                    now = self.reaches(self.policy)
                    asked = now if self.mode == "cfr-d" else self.reaches(self.average(row))
                    found = {leaf: self.leaf_values(leaf, asked[leaf], now[leaf], share) for leaf in self.leaves}
                    policy = {d: self.policy[d].copy() for d in self.decisions}
                value = self.back_up(self.root, player, now, found, policy, row)
                self.values[player] = self.values[player] * row[2] + row[3] * value
            self.weight = self.weight * row[2] + row[3]
        values = [self.values[player] / self.weight / self.shares[player] for player in (0, 1)]
        return played, values, {d: self.normalize(self.sums[d], d) for d in self.decisions}

    def normalize(self, table, decision):
        total = table.sum(axis=1, keepdims=True)
        legal = self.legal[decision] / self.legal[decision].sum(axis=1, keepdims=True)
        return np.where(total > 1e-20, table / np.where(total > 1e-20, total, 1), legal)

    def average(self, row):
        """Returns averages in which the present strategies count."""
        reach = self.reaches(self.policy)
        out = {}
        for d in self.decisions:
            own = reach[d][int(self.tree.actor[d])][:, None] * self.policy[d]
            out[d] = self.normalize(self.sums[d] * row[2] + row[3] * own, d)
        return out

    def reaches(self, policy):
        """Returns both players' reach of every node down to the leaves."""
        found = {self.root: self.start}
        stack = [self.root]
        while stack:
            node = stack.pop()
            if node in self.leaves:
                continue
            for child in find_children(self.tree, node).tolist():
                played = [policy[node] if self.tree.actor[node] == player else None for player in (0, 1)]
                found[child] = [
                    found[node][player] @ relation_matrices(self.tree, child, player, played[player])
                    for player in (0, 1)
                ]
                stack.append(child)
        return found

    def leaf_values(self, leaf, asked, met, share):
        game = self.game
        places = [game.first_player_at(leaf), 1 - game.first_player_at(leaf)]
        weight, counts = game.shares_at(leaf).astype(float), self.tree.num_private[leaf]
        belief = np.zeros((2, game.width))
        mass = {}
        for place, player in enumerate(places):
            own = weight[place, : counts[player]] * asked[player]
            belief[place, : counts[player]] = own / own.sum() if own.sum() > 1e-20 else weight[place, : counts[player]]
            mass[player] = (weight[place, : counts[player]] * (met if self.mode == "cfr-avg" else asked)[player]).sum()
        value = self.predict(game.kind_at(leaf), belief)
        scale = game.joint_at(leaf).sum() / self.total
        out = {}
        for place, player in enumerate(places):
            own = value[place, : counts[player]] * weight[place, : counts[player]]
            out[player] = own * mass[1 - player] * scale
        if self.mode == "modified":
            before, self.before[leaf] = self.before.get(leaf), out
            if before is not None:
                out = {player: (out[player] - (1 - share) * before[player]) / share for player in (0, 1)}
        return out

    def back_up(self, node, player, reach, found, policy, row):
        tree = self.tree
        if node in found:
            return found[node][player]
        if tree.actor[node] < -1:
            pairs, _, payoff = tree.pairs_at(int(np.searchsorted(tree.terminal_node, node)))
            out = np.zeros(tree.num_private[node, player])
            np.add.at(out, pairs[player], payoff[player] * reach[node][1 - player][pairs[1 - player]])
            return out / self.total / self.game.unit
        is_own = tree.actor[node] == player
        value = np.zeros(tree.num_private[node, player])
        actions = np.zeros_like(policy[node]) if is_own else None
        for child in find_children(tree, node).tolist():
            below = self.back_up(child, player, reach, found, policy, row)
            if not is_own:
                value += relation_matrices(tree, child, player) @ below
                continue
            entries = slice(*tree.relation_start[2 * child + player : 2 * child + player + 2].tolist())
            np.add.at(
                actions,
                (tree.relation_private[entries], tree.relation_action[entries]),
                tree.relation_weight[entries] * below[tree.relation_target[entries]],
            )
        if is_own:
            value = (policy[node] * actions).sum(axis=1)
            self.update(node, actions - value[:, None], reach[node][player], policy[node], row)
        return value

    def update(self, node, instant, own, policy, row):
        regret = self.regret[node]
        regret = np.where(regret > 0, regret * row[0], regret * row[1]) + instant
        regret = np.where(self.legal[node], np.maximum(regret, 0) if self.floors else regret, 0)
        self.regret[node] = regret
        self.sums[node] = self.sums[node] * row[2] + row[3] * own[:, None] * policy
        self.policy[node] = self.normalize(np.maximum(regret, 0), node)
