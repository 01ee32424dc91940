# SPDX-License-Identifier: Apache-2.0
"""Strategies in layers: a base for a whole tree, and what searches put over parts of it."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.trees.public import PublicTree
from equipoise.trees.public_edges import read_policy
from equipoise.trees.subtree import Subtree

__all__ = ["LayeredStrategy", "Overlay"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Overlay:
    """What some players do in a part of a tree."""

    part: Subtree
    strategy: FloatArray  # [C] over the part
    players: tuple[int, ...] = (0, 1)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LayeredStrategy:
    """A strategy over a whole tree: what the last overlay says that covers a node, else the base."""

    tree: PublicTree
    base: FloatArray  # [C]
    overlays: tuple[Overlay, ...] = ()

    def __post_init__(self) -> None:
        for overlay in self.overlays:
            if overlay.part.whole is not self.tree:
                raise ConfigError(f"an overlay must be for a part of the same tree of {self.tree.game_label}")

    def over(self, overlay: Overlay) -> LayeredStrategy:
        """Returns the strategy with one more layer on top."""
        return dataclasses.replace(self, overlays=(*self.overlays, overlay))

    def probabilities(self, node: int) -> FloatArray:
        """Returns `[H, A]` what the actor of a node does in each of its private states."""
        actor = int(self.tree.actor[node])
        if actor < 0:
            raise InvalidStateError(f"nobody moves at {self.tree.public_labels[node]!r}")
        out = self.base
        for overlay in reversed(self.overlays):
            if actor in overlay.players and node in overlay.part.nodes[overlay.part.tree.actor >= 0]:
                out = np.zeros(self.base.size)
                overlay.part.insert(overlay.strategy, out, players=(actor,))
                break
        return read_policy(self.tree, node, out)

    def flatten(self) -> FloatArray:
        """Returns `[C]` all layers as one."""
        out = self.base.copy()
        for overlay in self.overlays:
            overlay.part.insert(overlay.strategy, out, players=overlay.players)
        return out
