# SPDX-License-Identifier: Apache-2.0
"""Terminal values without improbable branches by plain recursion: the twin of native/likely.hpp."""

import numpy as np


def terminal_values(tree, player, strategy, least):
    """Returns the nodes visited, and `[Q]` the player's terminal values against the others' behaviour `strategy`."""
    values = np.zeros(strategy.size)
    num_visited = 0
    terminals = {node: z for z, node in enumerate(tree.terminal_node.tolist())}

    def visit(node, reach):
        nonlocal num_visited
        if reach < least:
            return
        num_visited += 1
        if node in terminals:
            z = terminals[node]
            values[tree.terminal_sequence[player, z]] += reach * tree.utility[player, z]
        children = tree.edge_child[tree.first_edge[node] : tree.first_edge[node + 1]]
        for place, child in enumerate(children.tolist()):
            share = tree.chance_probability[child]
            if tree.actor[node] not in (player, -1):
                share = strategy[tree.first_sequence[tree.infoset[node]] + place]
            visit(child, reach * share)

    visit(0, 1.0)
    return num_visited, values
