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
from equipoise.core.formatting import brief_repr
from equipoise.kernels.arithmetic import multiply

__all__ = ["PublicBelief"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublicBelief:
    """Reaches and joint weights at a public state: a pair has probability reach x reach x joint, up to a factor."""

    reach: tuple[FloatArray, FloatArray]  # [H] each
    joint: FloatArray  # [H0, H1] chance's probability of each pair, beyond what relations carry

    __repr__ = brief_repr

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
