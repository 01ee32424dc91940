# SPDX-License-Identifier: Apache-2.0
"""Rules as kernels read them: what native code is specialised on, and the columns of discounts."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_axes, check_finite
from equipoise.kernels.calls import MAX_INTEGER, check_integer

__all__ = ["NUM_DISCOUNT_COLUMNS", "Fallback", "KernelRule", "PolicyMap", "apply_policy_map", "check_discounts"]

FloatArray = npt.NDArray[np.float64]

FLOAT64: Final = np.dtype(np.float64)  # compares faster than the type
NUM_DISCOUNT_COLUMNS = 6  # positive, negative, average decay, average weight, eta scale, threshold


class PolicyMap(enum.IntEnum):
    """How regrets become probabilities."""

    REGRET_MATCHING = 0
    HEDGE = 1
    NORMAL_HEDGE = 2


class Fallback(enum.IntEnum):
    """What regret matching plays when no regret is positive."""

    UNIFORM = 0
    ARGMAX = 1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KernelRule:
    """The part of a rule on which kernels are specialised."""

    policy_map: PolicyMap = PolicyMap.REGRET_MATCHING
    fallback: Fallback = Fallback.UNIFORM
    is_optimistic: bool = False  # the last instantaneous regret counts twice when the strategy is formed
    floors_regrets: bool = False  # regrets below zero are forgotten
    tracks_variance: bool = False  # Hedge alone: scale by the running deviation of v(I)

    def __post_init__(self) -> None:
        # a bare number would choose its kernel, but not the tables that this needs
        for value, kind in ((self.policy_map, PolicyMap), (self.fallback, Fallback)):
            if not isinstance(value, kind):
                raise ConfigError(f"a rule needs a {kind.__name__}, got {value!r}")

    @property
    def needs_last_regret(self) -> bool:
        """Returns whether tables without a strategy must keep the last instantaneous regrets to form it."""
        return self.is_optimistic

    @property
    def needs_scale(self) -> bool:
        """Returns whether the rule keeps a scale per information set."""
        return self.policy_map is PolicyMap.HEDGE

    @property
    def native_arguments(self) -> tuple[int, int, bool, bool, bool]:
        """Returns the rule as the native module takes it."""
        return int(self.policy_map), int(self.fallback), self.is_optimistic, self.floors_regrets, self.tracks_variance


def apply_policy_map(
    policy_map: PolicyMap,
    regret: Sequence[float] | FloatArray,
    *,
    fallback: Fallback = Fallback.UNIFORM,
    eta: float = 1.0,
    threshold: float = 0.0,
) -> FloatArray:
    """Returns the probabilities that a policy map gives to one information set's regrets.

    Those below the threshold become zero, unless they are the largest, and the others take their place in proportion.

    >>> apply_policy_map(PolicyMap.REGRET_MATCHING, [3.0, 1.0, -5.0]).tolist()
    [0.75, 0.25, 0.0]
    >>> apply_policy_map(PolicyMap.REGRET_MATCHING, [3.0, 1.0, -5.0], threshold=0.3).tolist()
    [1.0, 0.0, 0.0]
    """
    values = np.array(regret, np.float64)
    check_axes("regret", values, 1)
    check_integer("number of regrets", values.size, 1)
    check_finite("regret", values)
    out = np.empty_like(values)
    which = int(PolicyMap(policy_map)), int(Fallback(fallback))
    _native.apply_policy_map(*which, eta, threshold, regret=values, out=out)
    return out


def check_discounts(discounts: FloatArray, first_t: int) -> None:
    """Raises unless these are rows of discounts `[B, 6]` for iterations from `first_t` on."""
    # almost always, and in calls of one iteration
    if type(discounts) is np.ndarray and discounts.dtype is FLOAT64 and discounts.flags.carray:
        has_columns = discounts.ndim == 2 and discounts.shape[1] == NUM_DISCOUNT_COLUMNS
        if has_columns and type(first_t) is int and 1 <= first_t <= MAX_INTEGER:
            return
    check_axes("discounts", discounts, 2)
    check_array("discounts", discounts, FLOAT64, (discounts.shape[0], NUM_DISCOUNT_COLUMNS))
    check_integer("first_t", first_t, 1)
