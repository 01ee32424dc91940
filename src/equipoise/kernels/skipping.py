# SPDX-License-Identifier: Apache-2.0
"""Which of the traverser's actions sampled traversals leave out, as the native module reads it."""

from __future__ import annotations

import dataclasses
import enum
import math

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_axes, check_finite
from equipoise.kernels.calls import MAX_INTEGER, check_integer

__all__ = ["NO_SKIPPING", "SkipKind", "Skipping"]

ByteArray = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float64]


class SkipKind(enum.IntEnum):
    """When an action with a negative regret is left out."""

    NONE = 0
    REGRET_BASED = 1  # until the earliest visit at which the regret could have become positive
    PROBABILISTIC = 2  # the more often the more negative the regret is
    COIN = 3  # in most iterations: one draw for all actions of an iteration


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Skipping:
    """Numbers in the unit of regrets, and arrays over the actions that a kernel numbers (A below)."""

    kind: SkipKind
    is_weighted: bool = False  # whether what is explored stands for what was left out
    threshold: float = 0.0  # at most 0: actions with regrets below it may be left out
    softness: float = 1.0  # of PROBABILISTIC, positive: explored with softness / (softness + threshold - regret)
    probability: float = 0.0  # of COIN, in [0, 1): with which an iteration leaves actions out
    floor: float = -math.inf  # of regrets, below the threshold
    first_node: int = 0  # iterations explore everything that begin with fewer nodes touched,
    end_node: int = MAX_INTEGER  # or with at least so many
    may_skip: ByteArray = dataclasses.field(default_factory=lambda: np.zeros(0, np.uint8))  # [A] 1 where it may
    rise: FloatArray = dataclasses.field(default_factory=lambda: np.zeros(0))  # [A] most that a visit adds to a regret

    def __post_init__(self) -> None:
        check_axes("may_skip", self.may_skip, 1)
        check_array("may_skip", self.may_skip, np.uint8, self.may_skip.shape)
        check_array("rise", self.rise, np.float64, self.may_skip.shape)
        check_finite("rise", self.rise)
        if not -math.inf < self.threshold <= 0:
            raise ConfigError(f"threshold must be finite and at most 0, got {self.threshold}")
        if not 0 < self.softness < math.inf:
            raise ConfigError(f"softness must be positive and finite, got {self.softness}")
        if not 0 <= self.probability < 1:
            raise ConfigError(f"probability must be at least 0 and below 1, got {self.probability}")
        if not self.floor <= self.threshold:
            raise ConfigError(f"floor must be at most the threshold {self.threshold:g}, got {self.floor}")
        check_integer("first_node", self.first_node, 0)
        check_integer("end_node", self.end_node, 0)
        if self.end_node <= self.first_node:
            raise ConfigError(
                f"end_node must be above first_node, {self.first_node:,}, or nothing is left out; got {self.end_node:,}"
            )

    @property
    def needs_missed(self) -> bool:
        """Returns whether a run keeps what was missed of each action."""
        return self.kind is SkipKind.REGRET_BASED

    def bind(self, num_actions: int) -> object:
        """Returns the rule as the native module takes it, for a kernel that numbers so many actions."""
        if self.kind is not SkipKind.NONE and self.may_skip.size != num_actions:
            raise ValueError(f"may_skip must have {num_actions} actions, got {self.may_skip.size}")
        numbers = [self.threshold, self.softness, self.probability, self.floor]
        return _native.Skipping(
            int(self.kind), self.is_weighted, numbers, self.first_node, self.end_node, self.may_skip, self.rise
        )


NO_SKIPPING = Skipping(kind=SkipKind.NONE)
