# SPDX-License-Identifier: Apache-2.0
"""The dilated entropy over a player's information sets: its weights, its size and responses smoothed by it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arithmetic import logarithm
from equipoise.kernels.arrays import check_array
from equipoise.kernels.calls import check_player
from equipoise.kernels.history import HistoryKernel

__all__ = ["TreeplexKernel"]

FloatArray = npt.NDArray[np.float64]


class TreeplexKernel:
    """Every player's strategies in sequence form, measured by dilated entropy with fixed weights.

    The entropy of a strategy is `sum_j beta_j x_parent(j) KL(b_j || uniform)`: 0 at the uniform strategy.
    """

    def __init__(self, history: HistoryKernel, *, scale: float = 1.0, growth: float = 0.0) -> None:
        """Computes the weights `beta_j = scale + growth * max over actions of the sum of beta over sets below`.

        Args:
            history: the tree.
            scale: weight of an information set with none below, positive.
            growth: share of the weights below that is added, at least 0.
        """
        if not scale > 0 or not growth >= 0:
            raise ValueError(f"scale must be positive and growth at least 0, got {scale} and {growth}")
        self.num_players = history.num_players
        self.num_infosets = history.num_infosets
        self.num_sequences = history.num_sequences
        self.sequence_start = history.sequence_start
        self._form = history._form
        self.weights = np.empty(history.num_infosets)
        _native.treeplex_weights(self._form, scale, growth, self.weights)
        self.log_uniform = logarithm(history.normalize(np.zeros(self.num_sequences)))

    def diameter(self, player: int) -> float:
        """Returns the largest dilated entropy of a strategy of the player."""
        check_player(player, self.num_players)
        check_array("weights", self.weights, np.float64, (self.num_infosets,))
        value: float = _native.treeplex_diameter(self._form, player, self.weights)
        return value

    def respond(
        self, player: int, gains: FloatArray, mu: float, log_prior: FloatArray | None = None
    ) -> tuple[float, FloatArray, FloatArray]:
        """Returns the value, logarithms `[Q]` and reach `[Q]` of the player's smoothed best response.

        It maximises `<gains, x>` minus `mu` times the divergence from a prior; entries of other players are 0.

        Args:
            player: who responds.
            gains: `[Q]` counterfactual values of terminals right after each of the player's sequences.
            mu: weight of the divergence, positive.
            log_prior: `[Q]` logarithms of a behaviour strategy; without it the uniform one, whose divergence is the
                entropy.
        """
        check_player(player, self.num_players)
        if not mu > 0:
            raise ConfigError(f"mu must be positive, got {mu}")
        prior = self.log_uniform if log_prior is None else log_prior
        check_array("weights", self.weights, np.float64, (self.num_infosets,))
        check_array("gains", gains, np.float64, (self.num_sequences,))
        check_array("log_prior", prior, np.float64, (self.num_sequences,))
        log_strategy, realization = np.zeros(self.num_sequences), np.zeros(self.num_sequences)
        value: float = _native.treeplex_respond(
            self._form,
            player,
            mu,
            weights=self.weights,
            log_prior=prior,
            values=gains.copy(),
            log_strategy=log_strategy,
            realization=realization,
        )
        return value, log_strategy, realization
