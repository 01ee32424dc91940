# SPDX-License-Identifier: Apache-2.0
"""Random streams that depend on what they are for, not on what was drawn before.

A run that is resumed, or spread over threads, draws the same numbers; training and evaluation never share any.
"""

from __future__ import annotations

import enum

import numpy as np

__all__ = ["Purpose", "spawn_stream"]


class Purpose(enum.IntEnum):
    """What a stream is for."""

    TRAINING = 0
    EVALUATION = 1
    OBSERVATION = 2  # hands that a model is made from


def spawn_stream(seed: int, purpose: Purpose, seat: int, iteration: int) -> np.random.Generator:
    """Returns the generator of one run, purpose, seat and iteration.

    >>> first, second = (spawn_stream(7, Purpose.TRAINING, 0, t).random() for t in (1, 2))
    >>> first == spawn_stream(7, Purpose.TRAINING, 0, 1).random() != second
    True
    """
    return np.random.default_rng([seed, int(purpose), seat, iteration])
