# SPDX-License-Identifier: Apache-2.0
"""Regret matching without regrets: a matrix game whose every iteration is warm started from the averages alone."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.arithmetic import dot, multiply
from equipoise.kernels.calls import check_integer
from equipoise.solvers.best_response import Evaluation

__all__ = ["AveragesOnlySolver"]

FloatArray = npt.NDArray[np.float64]

NUM_BISECTIONS: Final = 60


class AveragesOnlySolver:
    """A run on a two-player zero-sum matrix game that keeps the players' mean strategies and nothing else.

    Paper: Brown 2020, thesis section 3.2.5 [B20], Fig. 3.8.
    Symbols: v_1 -> value (and v_2 -> -value); L, equal for both players, cancels; sigma-bar -> averages.
    Departs from the paper: it prints v_1 = v_2, which must have opposite signs.
    Checked by: tests/solvers/test_averages_only.py.
    """

    def __init__(self, payoffs: npt.ArrayLike) -> None:
        """Begins a run.

        Args:
            payoffs: `[rows, columns]` what the first player gets.
        """
        self.payoffs = np.array(payoffs, np.float64)
        if self.payoffs.ndim != 2 or not self.payoffs.size or not np.isfinite(self.payoffs).all():
            raise ConfigError(f"payoffs must be a matrix of finite numbers, got shape {self.payoffs.shape}")
        self.iteration = 0
        first, second = (np.full(count, 1.0 / count) for count in self.payoffs.shape)
        self.averages: tuple[FloatArray, FloatArray] = first, second

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which plays both players at once; the first one is uniform."""
        check_integer("num_iterations", num_iterations, 0)
        for _ in range(num_iterations):
            played = self.next_strategies() if self.iteration else self.averages
            self.iteration += 1
            first, second = (
                average + (strategy - average) / self.iteration
                for average, strategy in zip(self.averages, played, strict=True)
            )
            self.averages = first, second

    def next_strategies(self) -> tuple[FloatArray, FloatArray]:
        """Returns what an iteration after the first plays: shares of what actions earn beyond the substitute value."""
        rows, columns = self._earned()
        low, high = -columns.max(), rows.max()
        for _ in range(NUM_BISECTIONS):
            value = (low + high) / 2
            # [B20] 3.2.5: |A_1| / squares_1 = |A_2| / squares_2; the left side grows with the value, the right falls
            if _squares(rows - value) * columns.size > _squares(columns + value) * rows.size:
                low = value
            else:
                high = value
        return _match(rows - value), _match(columns + value)

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the averages."""
        rows, columns = self._earned()
        value = dot(self.averages[0], rows)
        return Evaluation(values=(value, -value), best_response_values=(float(rows.max()), float(columns.max())))

    def _earned(self) -> tuple[FloatArray, FloatArray]:
        """Returns what each action of both players earns against the other's average."""
        return multiply(self.payoffs, self.averages[1]), -multiply(self.averages[0], self.payoffs)


def _squares(gains: FloatArray) -> float:
    return float(np.square(np.maximum(gains, 0.0)).sum())


def _match(gains: FloatArray) -> FloatArray:
    positive = np.maximum(gains, 0.0)
    total = positive.sum()
    uniform: FloatArray = np.full(gains.size, 1.0 / gains.size)
    return positive / total if total > 0 else uniform
