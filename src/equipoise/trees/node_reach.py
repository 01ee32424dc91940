# SPDX-License-Identifier: Apache-2.0
"""What leads to each history: chance's probabilities and every player's last sequence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.trees.history import HistoryTree
from equipoise.trees.segments import flatten_ranges, number_within

__all__ = ["NodeReach", "find_node_reach"]


class NodeReach(NamedTuple):
    """The way to every history of a tree."""

    last_sequence: npt.NDArray[np.int32]  # [P, N] of each player before the node
    chance: npt.NDArray[np.float64]  # [N] product of chance's probabilities
    terminal: npt.NDArray[np.int32]  # [N] place among the terminals, -1 at other nodes


def find_node_reach(tree: HistoryTree) -> NodeReach:
    """Returns the way to every history, found from the root down."""
    num_nodes = tree.actor.size
    last_sequence = np.empty((tree.num_players, num_nodes), np.int32)
    chance = np.ones(num_nodes)
    last_sequence[:, 0] = tree.sequence_start[:-1]
    parents = np.zeros(1, np.int64)
    while parents.size:
        counts = tree.first_edge[parents + 1] - tree.first_edge[parents]
        children = tree.edge_child[flatten_ranges(tree.first_edge[parents], counts)]
        above, place = np.repeat(parents, counts), number_within(counts)
        chance[children] = chance[above] * tree.chance_probability[children]
        last_sequence[:, children] = last_sequence[:, above]
        moved = tree.actor[above] >= 0
        sequence = tree.first_sequence[tree.infoset[above[moved]]] + place[moved]
        last_sequence[tree.actor[above[moved]], children[moved]] = sequence
        parents = children.astype(np.int64)
    terminal = np.full(num_nodes, -1, np.int32)
    terminal[tree.terminal_node] = np.arange(tree.terminal_node.size, dtype=np.int32)
    return NodeReach(last_sequence, chance, terminal)
