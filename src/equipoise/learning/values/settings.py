# SPDX-License-Identifier: Apache-2.0
"""How value networks are trained, as numbers; torch is not needed to read them."""

from __future__ import annotations

import dataclasses

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import settings_repr

__all__ = ["TrainingSettings"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """How a network is trained.

    >>> TrainingSettings(steps=100, batch=16).rate
    0.001
    """

    steps: int = 20_000
    batch: int = 64  # solved situations
    toy_batch: int = 192  # toy games
    toy_weight: float = 1.0  # of their loss
    rate: float = 1e-3
    warm_up: int = 200  # steps over which the rate grows
    hands: int = 270  # of a situation, drawn at random for every step
    clip: float = 1.0  # longest gradient
    average_decay: float = 0.999  # of the averaged weights, those that are kept
    validate_every: int = 1000
    patience: int = 8  # validations without a better one before it stops; 0: it takes all steps
    seed: int = 0

    __repr__ = settings_repr

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "hands", "validate_every"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name.replace('_', ' ')} must be at least 1, got {getattr(self, name)}")
        if self.patience < 0:
            raise ConfigError(f"patience must not be negative, got {self.patience}")
        if not 0 < self.rate < 1 or not 0 <= self.average_decay < 1:
            raise ConfigError(f"rate and average decay lie between 0 and 1, got {self.rate} and {self.average_decay}")
