# SPDX-License-Identifier: Apache-2.0
"""Public trees with their nodes in another order, parents still before children: what appending leaves."""

import dataclasses

import numpy as np

from equipoise.games.base import TERMINAL
from equipoise.trees.public import TreeFacts, assemble_public_tree
from equipoise.trees.segments import flatten_ranges, starts
from equipoise.trees.subtree import to_arrays


def breadth_first(tree):
    """Returns the nodes level by level."""
    return np.argsort(tree.descendants.depth, kind="stable")


def shuffled(tree, *, rng):
    """Returns the nodes in a random order, each somewhere behind its parent."""
    key = rng.random(tree.actor.size)
    key[0] = 0.0
    for node in range(1, key.size):
        key[node] = key[tree.parent[node]] + key[node]
    return np.argsort(key, kind="stable")


class Reordered:
    """A tree of which node k is node `order[k]` of another."""

    def __init__(self, tree, order):
        self.old, self.order = tree, order
        self.rank = np.argsort(order)
        arrays = to_arrays(tree)
        segments = (2 * order[:, None] + np.arange(2)).ravel()
        num_entries = np.diff(arrays.relation_start)[segments]
        entries = flatten_ranges(arrays.relation_start[segments], num_entries)
        terminals = np.searchsorted(tree.terminal_node, order[tree.actor[order] == TERMINAL])
        self.infosets = np.argsort(self.rank[tree.infoset_node], kind="stable")
        num_legal = np.diff(arrays.infoset_start)[self.infosets]
        self.sequences = flatten_ranges(arrays.infoset_start[self.infosets], num_legal)
        parent = np.where(arrays.parent < 0, arrays.parent, self.rank[arrays.parent]).astype(np.int32)
        moved = dataclasses.replace(
            arrays,
            **{name: tuple(getattr(arrays, name)[node] for node in order) for name in PER_NODE_TUPLES},
            **{name: getattr(arrays, name)[order] for name in ("actor", "depth", "num_private", "num_actions")},
            parent=parent[order],
            relation_start=starts(num_entries),
            **{name: getattr(arrays, name)[entries] for name in RELATIONS},
            payoff_table=arrays.payoff_table[terminals],
            payoff_factor=arrays.payoff_factor[terminals],
            infoset_start=starts(num_legal),
            infoset_labels=tuple(arrays.infoset_labels[infoset] for infoset in self.infosets),
            sequence_column=arrays.sequence_column[self.sequences],
        )
        facts = TreeFacts(tree.game_label, tree.num_histories, tree.is_zero_sum, tree.utility_range)
        self.tree = assemble_public_tree(moved, facts)

    def carry(self, strategy):
        """Returns `[C]` over the new tree a strategy `[C]` of the old one."""
        out = self.tree.legal_share.copy()
        out[self.tree.sequence_cell] = strategy[self.old.sequence_cell[self.sequences]]
        return out


PER_NODE_TUPLES = ("states", "public_labels", "action_labels")
RELATIONS = ("relation_private", "relation_action", "relation_target", "relation_weight")
