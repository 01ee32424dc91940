# SPDX-License-Identifier: Apache-2.0
"""Numbers of pairs of private states at a node of a public tree, backed up from the terminals below it.

Functions of a tree's arrays alone, so that the tree can offer them as its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from equipoise.games.base import TERMINAL
from equipoise.kernels.arithmetic import multiply
from equipoise.trees.public_edges import read_policy, relation_matrices

if TYPE_CHECKING:
    from equipoise.trees.public import PublicTree

__all__ = ["joint_weights", "leaf_payoffs"]

FloatArray = npt.NDArray[np.float64]


def leaf_payoffs(tree: PublicTree, node: int, strategy: FloatArray) -> FloatArray:
    """Returns `[H0, H1]` joint weight times what player 0 earns from a node on when both play `strategy` `[C]`."""
    return _back_up_pairs(tree, node, strategy, are_payoffs=True)


def joint_weights(tree: PublicTree, node: int = 0) -> FloatArray:
    """Returns `[H0, H1]` chance's probability of each pair of private states at a node, beyond what relations carry.

    It is what a terminal's pairs say, summed over all ways from the node to the end: any strategy leads there.
    """
    return _back_up_pairs(tree, node, tree.legal_share, are_payoffs=False)


def _back_up_pairs(tree: PublicTree, root: int, strategy: FloatArray, *, are_payoffs: bool) -> FloatArray:
    """Returns `[H0, H1]` a number for every pair of private states at a node, from the end up.

    Args:
        tree: a public tree.
        root: the node.
        strategy: `[C]` how both players come to the terminals.
        are_payoffs: the numbers of terminals' pairs are what player 0 earns, not their joint weights.
    """
    weights: dict[int, FloatArray] = {}
    for node in tree.descendants.of(root)[::-1].tolist():  # children before their parents
        here = weights.pop(node, None)
        if here is None:
            here = np.zeros(tuple(tree.num_private[node]))
        if tree.actor[node] == TERMINAL:
            pairs, chance, payoff = tree.pairs_at(int(np.searchsorted(tree.terminal_node, node)))
            here[pairs[0], pairs[1]] = payoff[0] if are_payoffs else chance
        if node == root:
            return here
        parent = int(tree.parent[node])
        actor = int(tree.actor[parent])
        policy = read_policy(tree, parent, strategy) if actor >= 0 else None
        ways = [relation_matrices(tree, node, player, policy if player == actor else None) for player in (0, 1)]
        above = weights.setdefault(parent, np.zeros(tuple(tree.num_private[parent])))
        above += multiply(multiply(ways[0], here), ways[1].T)
    raise AssertionError("a subtree begins with its root")
