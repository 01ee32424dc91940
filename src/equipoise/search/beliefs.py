# SPDX-License-Identifier: Apache-2.0
"""Public belief states: what everybody believes about private states where everybody knows the strategies.

A belief is both players' reaches, not normalised, and chance's joint weights: with cards that block each other the
pairs are no product of marginals, so marginals alone would not do. Nothing here solves.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import InvalidStateError
from equipoise.kernels.arithmetic import multiply
from equipoise.trees.public import PublicTree
from equipoise.trees.public_edges import find_children, relation_matrices
from equipoise.trees.public_pairs import joint_weights

__all__ = ["PublicBelief", "beliefs_at", "initial_beliefs", "update_beliefs"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublicBelief:
    """Reaches and joint weights at a public state: a pair has probability reach x reach x joint, up to a factor."""

    reach: tuple[FloatArray, FloatArray]  # [H] each
    joint: FloatArray  # [H0, H1] chance's probability of each pair, beyond what relations carry

    def mass(self, player: int) -> FloatArray:
        """Returns `[H]` how likely chance and the other player come to each of a player's private states."""
        return multiply(self.joint, self.reach[1]) if player == 0 else multiply(self.reach[0], self.joint)

    def probabilities(self) -> FloatArray:
        """Returns `[H0, H1]` the probability of each pair of private states, given the public state."""
        pairs: FloatArray = self.reach[0][:, None] * self.joint * self.reach[1]
        total = float(pairs.sum())
        if not total > 0:
            raise InvalidStateError("nobody plays to this public state: there are no beliefs to normalise")
        probabilities: FloatArray = pairs / total
        return probabilities

    def marginal(self, player: int) -> FloatArray:
        """Returns `[H]` the probability of each of a player's private states, given the public state."""
        out: FloatArray = self.probabilities().sum(axis=1 - player)
        return out


def initial_beliefs(tree: PublicTree) -> PublicBelief:
    """Returns the beliefs at the root of a game: everybody is where chance has put them."""
    ones = np.ones(tree.num_private[0, 0]), np.ones(tree.num_private[0, 1])
    return PublicBelief(reach=ones, joint=joint_weights(tree))


def beliefs_at(tree: PublicTree, node: int, realization: FloatArray) -> PublicBelief:
    """Returns the beliefs at a node from the reaches of all cells `[C]` under a strategy."""
    first, second = (realization[tree.private_cells(node, player)] for player in (0, 1))
    return PublicBelief(reach=(first, second), joint=joint_weights(tree, node))


def update_beliefs(
    tree: PublicTree, node: int, beliefs: PublicBelief, child: int, policy: FloatArray | None = None
) -> PublicBelief:
    """Returns the beliefs after one public observation, by Bayes' rule.

    Args:
        tree: a public tree.
        node: where the beliefs are.
        beliefs: before.
        child: node that the observation leads to.
        policy: `[H, A]` what the actor does in each private state; None where chance moves.
    """
    if child not in find_children(tree, node):
        raise InvalidStateError(f"{tree.public_labels[child]!r} does not follow {tree.public_labels[node]!r}")
    actor = int(tree.actor[node])
    if (policy is None) != (actor < 0):
        who = f"player {actor} moves" if actor >= 0 else "chance moves"
        raise InvalidStateError(f"{who} at {tree.public_labels[node]!r}: a policy is for players alone")
    first, second = (
        multiply(beliefs.reach[player], relation_matrices(tree, child, player, policy if player == actor else None))
        for player in (0, 1)
    )
    return PublicBelief(reach=(first, second), joint=joint_weights(tree, child))
