# SPDX-License-Identifier: Apache-2.0
"""Means with intervals, and the units in which results of games are told."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import show_given
from equipoise.games.base import Game
from equipoise.games.holdem.bucketed_limit import BIG_BLIND, BucketedLimitHoldem
from equipoise.games.holdem.rules import Holdem
from equipoise.games.kuhn import Kuhn
from equipoise.games.leduc import Leduc

__all__ = [
    "Estimate",
    "big_blind_of",
    "describe_estimate",
    "estimate_mean",
    "format_estimate",
    "normal_quantile",
    "scale_precision",
]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean of independent samples; the interval is that of a normal distribution.

    >>> estimate = Estimate(mean=0.5, standard_error=0.1, num_samples=100)
    >>> [round(end, 3) for end in estimate.interval]
    [0.304, 0.696]
    """

    mean: float
    standard_error: float  # infinite for a single sample
    num_samples: int
    confidence: float = 0.95  # that the interval holds the true mean

    @property
    def half_width(self) -> float:
        """Returns half the length of the interval."""
        return normal_quantile(self.confidence) * self.standard_error

    @property
    def interval(self) -> tuple[float, float]:
        """Returns the interval's ends."""
        return self.mean - self.half_width, self.mean + self.half_width

    @property
    def p_value(self) -> float:
        """Returns how likely such a mean or a larger one is if the true one is 0: a one-tailed t-test.

        >>> round(Estimate(mean=48.0, standard_error=25.0, num_samples=10_000).p_value, 3)  # as Pluribus's 10,000 hands
        0.027
        """
        if not 0 < self.standard_error < math.inf:
            return 0.5 if self.standard_error or not self.mean else float(self.mean < 0)
        return float(scipy.special.stdtr(self.num_samples - 1, -self.mean / self.standard_error))

    def scale(self, factor: float) -> Estimate:
        """Returns the estimate in another unit.

        >>> Estimate(mean=2.0, standard_error=0.5, num_samples=9).scale(10).mean
        20.0
        """
        return dataclasses.replace(self, mean=self.mean * factor, standard_error=self.standard_error * abs(factor))


def estimate_mean(samples: npt.ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Returns the mean of samples `[B]`, an array or a list, with its standard error.

    >>> estimate = estimate_mean(np.array([1.0, 2.0, 3.0, 4.0]))
    >>> estimate.mean, round(estimate.standard_error, 3)
    (2.5, 0.645)
    """
    try:
        values = np.asarray(samples, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigError(f"samples must be numbers, got {show_given(samples)}") from None
    if not values.size:
        raise ConfigError("a mean needs at least one sample, got none")
    error = float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else math.inf
    return Estimate(mean=float(values.mean()), standard_error=error, num_samples=values.size, confidence=confidence)


def normal_quantile(confidence: float) -> float:
    """Returns how many standard errors an interval reaches to either side.

    >>> round(normal_quantile(0.95), 2)
    1.96
    """
    if not 0 < confidence < 1:
        raise ConfigError(f"confidence must be between 0 and 1, got {confidence}")
    return float(scipy.special.ndtri(0.5 + confidence / 2))


def big_blind_of(game: Game[Any]) -> float | None:
    """Returns the utility that counts as a big blind: hold'em's own, an ante in Kuhn and Leduc; None elsewhere.

    A thousandth of it is the unit mbb of the papers.
    """
    if isinstance(game, Holdem):
        return float(game.big_blind)
    if isinstance(game, BucketedLimitHoldem):
        return float(BIG_BLIND)
    if isinstance(game, Leduc):
        return game.ante
    return 1.0 if isinstance(game, Kuhn) else None


def scale_precision(precision: float | None, blind: float | None) -> float | None:
    """Returns a wanted precision in units of utility; raises unless it is a positive number."""
    if precision is None:
        return None
    if not 0 < precision < math.inf:
        raise ConfigError(f"precision must be positive and finite, got {precision:g}")
    return precision if blind is None else precision * blind / 1000


def describe_estimate(estimate: Estimate, blind: float | None) -> dict[str, Any]:
    """Returns an estimate as JSON values, in utility and in mbb where there are any."""
    found = {
        "mean": estimate.mean,
        "standard_error": estimate.standard_error,
        "interval": list(estimate.interval),
        "confidence": estimate.confidence,
        "num_samples": estimate.num_samples,
        "mean_mbb": None,
        "standard_error_mbb": None,
        "interval_mbb": None,
    }
    if blind is not None:
        scaled = estimate.scale(1000 / blind)
        found |= {
            "mean_mbb": scaled.mean,
            "standard_error_mbb": scaled.standard_error,
            "interval_mbb": list(scaled.interval),
        }
    return found


def format_estimate(estimate: Estimate, blind: float | None) -> str:
    """Returns an estimate for people, in mbb per hand where there are any.

    >>> format_estimate(Estimate(mean=0.5, standard_error=0.1, num_samples=100), 2.0)
    '+250 ± 98 mbb/h'
    """
    if blind is None:
        return f"{estimate.mean:+.4g} ± {estimate.half_width:.2g}"
    scaled = estimate.scale(1000 / blind)
    if not math.isfinite(scaled.half_width):
        return f"{scaled.mean:+,.0f} mbb/h"
    digits = max(0, 1 - math.floor(math.log10(scaled.half_width))) if scaled.half_width > 0 else 0
    return f"{scaled.mean:+,.{digits}f} ± {scaled.half_width:,.{digits}f} mbb/h"
