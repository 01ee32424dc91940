# SPDX-License-Identifier: Apache-2.0
"""Which nodes of a tree lie below which, found from parents alone.

Ids ascend from parent to child; beyond that nodes may stand in any order, as they do where a tree was appended to.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.trees.segments import flatten_ranges

__all__ = ["DepthFirst", "Descendants", "order_depth_first"]

ROOT: Final = -1  # parent of the root
IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


class DepthFirst(NamedTuple):
    """Nodes in depth-first order, siblings ascending: everything below a node stands right behind it."""

    order: LongArray  # the nodes
    depth: IntArray  # edges from the root to each of them
    position: LongArray  # [N] place of each node in the order
    size: LongArray  # [N] nodes of the subtree that begins at each node


def order_depth_first(parent: npt.NDArray[np.signedinteger], kept: LongArray) -> DepthFirst:
    """Returns the order of the kept nodes, the root first among them; parents of kept nodes are kept."""
    above = parent[kept]
    by_parent = kept[np.argsort(above, kind="stable")]
    num_children = np.bincount(above[above >= 0], minlength=parent.size)
    first_child = np.cumsum(num_children) - num_children + 1  # the root comes first
    levels = [by_parent[:1]]
    while levels[-1].size:
        levels.append(by_parent[flatten_ranges(first_child[levels[-1]], num_children[levels[-1]])])
    size = np.ones(parent.size, np.int64)
    for level in reversed(levels[1:]):
        np.add.at(size, parent[level], size[level])
    position, depth = np.zeros(parent.size, np.int64), np.zeros(kept.size, np.int32)
    for index, level in enumerate(levels[1:], start=1):
        before = np.cumsum(size[level]) - size[level]
        is_first = np.diff(parent[level], prepend=ROOT) != 0
        before -= before[is_first][np.cumsum(is_first) - 1]
        position[level] = position[parent[level]] + 1 + before
        depth[position[level]] = index
    order = np.empty(kept.size, np.int64)
    order[position[kept]] = kept
    return DepthFirst(order, depth, position, size)


class Descendants:
    """The subtrees of a tree; a node counts as one of its own."""

    def __init__(self, parent: npt.NDArray[np.signedinteger]) -> None:
        """Finds them from `[N]` the parent of each node, `ROOT` at node 0."""
        self._found = order_depth_first(parent, np.arange(parent.size))
        self._last = self._found.position + self._found.size  # [N] one past the subtree in depth-first order

    @property
    def depth(self) -> IntArray:
        """Returns `[N]` the edges from the root to each node."""
        depth: IntArray = self._found.depth[self._found.position]
        return depth

    def of(self, node: int) -> LongArray:
        """Returns the nodes of the subtree that begins at a node, ascending."""
        first = int(self._found.position[node])
        return np.sort(self._found.order[first : int(self._last[node])], kind="stable")

    def has(self, node: int, others: npt.ArrayLike) -> BoolArray:
        """Returns which of some nodes are in the subtree that begins at a node."""
        place = self._found.position[np.asarray(others, np.int64)]
        inside: BoolArray = (place >= self._found.position[node]) & (place < self._last[node])
        return inside

    def count_above(self, is_counted: BoolArray) -> LongArray:
        """Returns `[N]` how many of the nodes that `[N]` flags mark lie above each node, itself left out."""
        counted = np.flatnonzero(is_counted)
        change = np.zeros(is_counted.size + 1, np.int64)
        np.add.at(change, self._found.position[counted] + 1, 1)
        np.subtract.at(change, self._last[counted], 1)
        above: LongArray = np.cumsum(change)[self._found.position]
        return above
