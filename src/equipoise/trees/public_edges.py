# SPDX-License-Identifier: Apache-2.0
"""Single nodes and edges of a public tree: what leads where, who comes from where, what an actor does.

Functions of a tree's arrays alone, so that the tree can offer them as its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.public import NO_ACTION
from equipoise.trees.vector import CellTable

if TYPE_CHECKING:
    from equipoise.trees.public import PublicTree

__all__ = ["find_children", "read_policy", "relation_matrices", "trace_back", "write_policy"]

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def find_children(tree: PublicTree, node: int) -> LongArray:
    """Returns the nodes right below a node, ascending."""
    return np.flatnonzero(tree.parent == node)


def relation_matrices(tree: PublicTree, node: int, player: int, policy: FloatArray | None = None) -> FloatArray:
    """Returns `[H above, H here]` how a player's reach flows along the edge into a node.

    Args:
        tree: a public tree.
        node: any but the root.
        player: whose reach.
        policy: `[H, A]` what the player does above, if it moves there.
    """
    entries = slice(*tree.relation_start[2 * node + player : 2 * node + player + 2].tolist())
    private, action = tree.relation_private[entries], tree.relation_action[entries]
    weight = tree.relation_weight[entries]
    if policy is not None:
        weight = weight * policy[private, action]
    out = np.zeros((int(tree.num_private[tree.parent[node], player]), int(tree.num_private[node, player])))
    np.add.at(out, (private, tree.relation_target[entries]), weight)
    return out


def read_policy(tree: PublicTree, node: int, strategy: CellTable) -> FloatArray:
    """Returns `[H, A]` what the actor of a node does in each private state under a strategy `[C]`."""
    actor = int(tree.actor[node])
    slot = tree.slot[tree.slot_start[2 * node + actor] : tree.slot_start[2 * node + actor + 1]]
    rows = tree.table_start[node] + tree.stride[node] * np.arange(tree.num_actions[node])
    policy: FloatArray = strategy[slot[:, None] + rows]
    return policy


def write_policy(tree: PublicTree, node: int, policy: FloatArray, out: FloatArray) -> None:
    """Overwrites what the actor of a node does in a strategy `out` `[C]` with `[H, A]`."""
    actor = int(tree.actor[node])
    slot = tree.slot[tree.slot_start[2 * node + actor] : tree.slot_start[2 * node + actor + 1]]
    out[slot[:, None] + tree.table_start[node] + tree.stride[node] * np.arange(tree.num_actions[node])] = policy


def trace_back(tree: PublicTree, node: int, player: int) -> tuple[IntArray, IntArray]:
    """Returns `[H]` private state and action above from which each of a player's private states of a node comes.

    Raises `ConfigError` where private states merge: what led to them is not known then.
    """
    entries = slice(*tree.relation_start[2 * node + player : 2 * node + player + 2].tolist())
    target = tree.relation_target[entries]
    count = int(tree.num_private[node, player])
    if not np.array_equal(np.sort(target), np.arange(count)):
        raise ConfigError(
            f"{tree.game_label}: private states of player {player} merge at {tree.public_labels[node]!r}, and what led "
            "to them is not known"
        )
    private, action = np.zeros(count, np.int32), np.full(count, NO_ACTION, np.int32)
    private[target], action[target] = tree.relation_private[entries], tree.relation_action[entries]
    return private, action
