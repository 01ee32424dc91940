# SPDX-License-Identifier: Apache-2.0
"""Replies to unknown actions without search: these are taken for known ones, at random. Nested search's baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import TERMINAL
from equipoise.trees.public import PublicTree
from equipoise.trees.public_edges import read_policy, trace_back

__all__ = ["translate_strategy"]

FloatArray = npt.NDArray[np.float64]
Images = Callable[[int], Mapping[int, float]]


def translate_strategy(
    tree: PublicTree, off_tree: npt.ArrayLike, searcher: int, strategy: FloatArray, images: Images
) -> FloatArray:
    """Returns `[C]` a strategy with the searcher's replies to off-tree actions of the opponent, by translation.

    The draw is made once an action and kept: behind an unknown action the searcher plays one of the plans that it has
    behind known ones, so that what it does there is their mixture weighted by own reach.

    Args:
        tree: with every action.
        off_tree: nodes that unknown actions lead to, of both players.
        searcher: who replies.
        strategy: `[C]` over the whole tree; what it says behind off-tree actions is overwritten.
        images: the nodes that an off-tree action's node is taken for, with probabilities; they must be known, and
            what can happen below them must be what can happen below it.
    """
    return _Translation(tree, off_tree, searcher, strategy, images).run()


class _Translation:
    """Walks the tree together with the known nodes that each node is taken for."""

    def __init__(
        self, tree: PublicTree, off_tree: npt.ArrayLike, searcher: int, strategy: FloatArray, images: Images
    ) -> None:
        self.tree, self.searcher, self.images = tree, searcher, images
        self.off_tree = set(np.asarray(off_tree, np.int64).tolist())
        self.known, self.out = strategy, strategy.copy()
        self.children: dict[int, list[int]] = {}
        for node in range(1, tree.actor.size):
            self.children.setdefault(int(tree.parent[node]), []).append(node)

    def run(self) -> FloatArray:
        """Returns the whole strategy."""
        pending: list[tuple[int, list[tuple[int, FloatArray]]]] = [
            (0, [(0, np.ones(int(self.tree.num_private[0, self.searcher])))])
        ]
        while pending:
            node, plans = pending.pop()
            if self.tree.actor[node] == TERMINAL:
                continue
            if self.tree.actor[node] == self.searcher:
                self.mix(node, plans)
            for place, child in enumerate(self.children[node]):
                below = self.follow(node, child, place, plans)
                if below:
                    pending.append((child, below))
        return self.out

    def mix(self, node: int, plans: list[tuple[int, FloatArray]]) -> None:
        """Writes the mixture of all plans at a node of the searcher."""
        shape = (int(self.tree.num_private[node, self.searcher]), int(self.tree.num_actions[node]))
        total, plain = np.zeros(shape), np.zeros(shape)
        for image, weight in plans:
            policy = read_policy(self.tree, image, self.known)
            if policy.shape != shape:
                raise ConfigError(
                    f"{self.tree.public_labels[node]!r} cannot be taken for {self.tree.public_labels[image]!r}: what "
                    "can be done there differs"
                )
            total += weight[:, None] * policy
            plain += policy / len(plans)  # where no plan comes
        reach = total.sum(axis=1, keepdims=True)
        mixed = np.where(reach > 0, total / np.where(reach > 0, reach, 1.0), plain)
        slot = self.tree.slot[self.tree.slot_start[2 * node + self.searcher] :][: shape[0]]
        for action in range(shape[1]):
            self.out[self.tree.table_start[node] + action * self.tree.stride[node] + slot] = mixed[:, action]

    def follow(
        self, node: int, child: int, place: int, plans: list[tuple[int, FloatArray]]
    ) -> list[tuple[int, FloatArray]]:
        """Returns what a child is taken for, with the searcher's own reach under each plan; nothing if never played."""
        if child in self.off_tree and self.tree.actor[node] == self.searcher:
            return []
        source, action = trace_back(self.tree, child, self.searcher)
        below: dict[int, FloatArray] = {}
        for image, weight in plans:
            moved = weight[source]
            if self.tree.actor[node] == self.searcher:
                moved = moved * read_policy(self.tree, image, self.known)[source, action]
            beside = self.children[image][place]
            options = self.images(beside) if beside in self.off_tree else {beside: 1.0}
            for target, share in options.items():
                below[target] = below.get(target, 0.0) + share * moved
        return list(below.items())
