# SPDX-License-Identifier: Apache-2.0
"""Locks on decisions of a public tree: what chosen private states do there, whatever a solver would choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.public import PublicLocks
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.public import PublicTree

__all__ = ["lay_public_locks"]

FloatArray = npt.NDArray[np.float64]

TOLERANCE: Final = 1e-6  # of probabilities that should sum to 1


def lay_public_locks(tree: PublicTree, locks: Sequence[NodeLock]) -> PublicLocks:
    """Returns locks over the cells of a tree's tables; `ConfigError` says which of them is impossible, and why.

    Args:
        tree: what is played.
        locks: at nodes of the tree; `hands` are private states of its actor, all if None. There are no boards.
    """
    strategy, is_locked = np.zeros(tree.legal_share.size), np.zeros(tree.infoset_node.size, np.bool_)
    for number, lock in enumerate(locks):
        try:
            _lay(tree, lock, strategy, is_locked)
        except ConfigError as error:
            raise ConfigError(f"lock {number} (node {lock.node}): {error}") from None
    infosets = np.flatnonzero(is_locked)
    parts = [tree.sequence_cell[tree.infoset_start[each] : tree.infoset_start[each + 1]] for each in infosets]
    cells = np.sort(np.concatenate([*parts, np.zeros(0, np.int32)])).astype(np.int32)
    return PublicLocks(cells=cells, shares=strategy[cells], rows=tree.infoset_row[infosets])


def _lay(tree: PublicTree, lock: NodeLock, strategy: FloatArray, is_locked: npt.NDArray[np.bool_]) -> None:
    """Writes one lock into `strategy` `[C]` and `is_locked` `[I]`."""
    if not 0 <= lock.node < tree.num_nodes or tree.actor[lock.node] < 0:
        raise ConfigError("node must be a decision of the tree")
    if lock.board is not None:
        raise ConfigError("boards are for hold'em trees")
    infosets = np.flatnonzero(tree.infoset_node == lock.node)
    if lock.hands is not None:
        known = {int(tree.infoset_private[each]): int(each) for each in infosets}
        missing = [hand for hand in lock.hands if hand not in known]
        if missing or not len(lock.hands):
            raise ConfigError(f"private states must be among the {len(known)} of the node, got {lock.hands}")
        infosets = np.array([known[hand] for hand in lock.hands])
    if is_locked[infosets].any() or np.unique(infosets).size != infosets.size:
        raise ConfigError("a private state is locked there already")
    num_actions = int(tree.num_actions[lock.node])
    given: FloatArray = np.array(lock.strategy, np.float64)
    if given.shape not in ((num_actions,), (infosets.size, num_actions)):
        raise ConfigError(
            f"strategy must have shape ({num_actions},) or ({infosets.size}, {num_actions}), got {given.shape}"
        )
    first = int(tree.table_start[lock.node])
    for row, infoset in zip(np.broadcast_to(given, (infosets.size, num_actions)), infosets, strict=True):
        cells = tree.sequence_cell[tree.infoset_start[infoset] : tree.infoset_start[infoset + 1]]
        shares = row[(cells - first) // tree.stride[lock.node]]
        if not (np.isfinite(row).all() and (row >= 0).all() and abs(float(shares.sum()) - 1) <= TOLERANCE):
            raise ConfigError("strategy must be probabilities of legal actions that sum to 1 for every private state")
        strategy[cells] = shares / shares.sum()
    is_locked[infosets] = True
