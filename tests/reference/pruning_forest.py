# SPDX-License-Identifier: Apache-2.0
"""What pruning needs to know of a two-player tree: what lies below a sequence, payoff bounds, last sequences of nodes.

Everything is over all nodes and sequences at once; nothing here skips anything.
"""

import numpy as np

from equipoise.trees.segments import flatten_ranges


class Forest:
    """Sequences `[Q]`, information sets `[I]` and nodes `[N]` of a history tree, and walks over whole forests."""

    def __init__(self, tree):
        self.tree = tree
        self.num_sequences = int(tree.sequence_start[-1])
        self.num_infosets = tree.num_actions.size
        self.infoset_of = tree.sequence_infoset()  # [Q] -1 at empty sequences
        self.player_of = np.searchsorted(tree.sequence_start, np.arange(self.num_sequences), "right") - 1
        self.infoset_player = tree.infoset_player()
        self.levels = self._find_levels()
        self.edge_sequence, self.node_sequence = self._find_node_sequences()
        self.chance_reach = self._find_chance_reach()
        self.payoff = tree.utility * tree.terminal_chance  # [P, Z]
        self.largest = self._find_largest_payoffs()  # U(I, a)
        self.has_infosets_below = np.zeros(self.num_sequences, bool)
        self.has_infosets_below[tree.parent_sequence] = True
        self.decisions = [np.flatnonzero(tree.actor == player) for player in (0, 1)]

    def _find_levels(self):
        """Returns information sets by the number of own information sets above them, each with its sequences."""
        tree = self.tree
        level = np.zeros(self.num_infosets, int)
        for infoset in range(self.num_infosets):
            above = self.infoset_of[tree.parent_sequence[infoset]]
            level[infoset] = 0 if above < 0 else level[above] + 1
        levels = []
        for depth in range(level.max() + 1):
            infosets = np.flatnonzero(level == depth)
            counts = tree.num_actions[infosets]
            firsts = np.concatenate([[0], np.cumsum(counts)[:-1]])
            sequences = flatten_ranges(tree.first_sequence[infosets], counts)
            levels.append((infosets, sequences, firsts, counts))
        return levels

    def _find_node_sequences(self):
        tree = self.tree
        edge = np.full(tree.actor.size, -1)
        last = np.empty((2, tree.actor.size), int)
        last[:, 0] = tree.sequence_start[:2]
        for node in range(tree.actor.size):
            children = tree.edge_child[tree.first_edge[node] : tree.first_edge[node + 1]]
            last[:, children] = last[:, [node]]
            if tree.actor[node] >= 0:
                edge[children] = tree.first_sequence[tree.infoset[node]] + np.arange(children.size)
                last[tree.actor[node], children] = edge[children]
        return edge, last

    def _find_chance_reach(self):
        tree = self.tree
        reach = np.ones(tree.actor.size)
        for node in range(1, tree.actor.size):
            reach[node] = reach[tree.parent[node]] * tree.chance_probability[node]
        return reach

    def _find_largest_payoffs(self):
        largest = np.full(self.num_sequences, -np.inf)
        for player in (0, 1):
            np.maximum.at(largest, self.tree.terminal_sequence[player], self.tree.utility[player])
        for infosets, sequences, firsts, _ in reversed(self.levels):
            below = np.maximum.reduceat(largest[sequences], firsts)
            np.maximum.at(largest, self.tree.parent_sequence[infosets], below)
        return largest

    def realize(self, factor):
        """Returns `[Q]` the product of factors `[Q]` along each sequence."""
        out = np.ones(self.num_sequences)
        for infosets, sequences, _, counts in self.levels:
            out[sequences] = np.repeat(out[self.tree.parent_sequence[infosets]], counts) * factor[sequences]
        return out

    def mark_below(self, sequences):
        """Returns `[I]` whether an information set lies below any of the sequences, given as `[Q]` flags."""
        open_path = self.realize(np.where(sequences, 0.0, 1.0))
        return open_path[self.tree.parent_sequence] == 0.0

    def sum_terminals(self, player, reach):
        """Returns `[Q]` the player's payoffs right after each own sequence, weighted by the other's reach `[Q]`."""
        own, other = self.tree.terminal_sequence[player], self.tree.terminal_sequence[1 - player]
        return np.bincount(own, self.payoff[player] * reach[other], self.num_sequences)

    def sum_reach(self, player, reach):
        """Returns `[I]` how much the others and chance reach the player's information sets, by reach `[Q]`."""
        nodes = self.decisions[player]
        weights = self.chance_reach[nodes] * reach[self.node_sequence[1 - player][nodes]]
        return np.bincount(self.tree.infoset[nodes], weights, self.num_infosets)

    def back_up(self, ends, strategy, *, takes_best, is_shut):
        """Returns `[Q]` and `[I]` values from what ends after each sequence.

        Where the flags `takes_best` `[I]` say so, the best action counts of those that are not `is_shut` `[Q]`.
        """
        values, infoset_values = ends.copy(), np.zeros(self.num_infosets)
        for infosets, sequences, firsts, _ in reversed(self.levels):
            played = np.add.reduceat(values[sequences] * strategy[sequences], firsts)
            best = np.maximum.reduceat(np.where(is_shut[sequences], -np.inf, values[sequences]), firsts)
            infoset_values[infosets] = np.where(takes_best[infosets], best, played)
            np.add.at(values, self.tree.parent_sequence[infosets], infoset_values[infosets])
        return values, infoset_values

    def respond(self, ends):
        """Returns `[Q]` and `[I]` values of the best response from what ends after each sequence."""
        everywhere, nowhere = np.ones(self.num_infosets, bool), np.zeros(self.num_sequences, bool)
        return self.back_up(ends, np.zeros(self.num_sequences), takes_best=everywhere, is_shut=nowhere)

    def count_nodes_below(self, player, sequences, is_live):
        """Returns how many live nodes `[N]` traversals of what follows the player's sequences `[Q]` visit in sum."""
        passes = sequences.astype(int)
        for infosets, inside, _, counts in self.levels:
            passes[inside] += np.repeat(passes[self.tree.parent_sequence[infosets]], counts)
        return int(passes[self.node_sequence[player][is_live]].sum())

    def spread(self, per_infoset, *, at_empty=0):
        """Returns `[Q]` what each sequence's information set has."""
        spread = per_infoset[np.maximum(self.infoset_of, 0)]
        return np.where(self.infoset_of >= 0, spread, np.asarray(at_empty, spread.dtype))
