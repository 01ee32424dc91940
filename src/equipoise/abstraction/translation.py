# SPDX-License-Identifier: Apache-2.0
"""Which of its own actions a coarse strategy takes an action for that it does not know."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from equipoise.core.errors import ConfigError

__all__ = ["pseudo_harmonic", "translate_bet"]


def pseudo_harmonic(below: float, above: float, size: float) -> float:
    """Returns the probability with which a bet is taken for the smaller of its neighbours.

    Paper: Ganzfried & Sandholm 2013, "Action Translation in Extensive-Form Games with Large Action Spaces: Axioms,
        Paradoxes, and the Pseudo-Harmonic Mapping", IJCAI; Brown 2020, PhD thesis, section 6.4, for its midpoint.
    Symbols: A, B, x -> below, above, size, all as fractions of the pot.
    Departs from the paper: nothing.
    Checked by: tests/abstraction/test_translation.py.

    >>> round(pseudo_harmonic(0.5, 1.0, 0.75), 4)
    0.4286
    """
    if not 0 <= below <= size <= above or below == above:
        raise ConfigError(f"a bet must lie between its neighbours, got {size} between {below} and {above}")
    return (above - size) * (1 + below) / ((above - below) * (1 + size))


def translate_bet(size: float, known: Sequence[float]) -> dict[float, float]:
    """Returns the sizes that a bet is taken for, each with its probability; beyond the ends the nearest.

    Args:
        size: of the bet, as a fraction of the pot.
        known: sizes that there are, ascending.

    >>> translate_bet(2.0, [0.5, 1.0])
    {1.0: 1.0}
    """
    if not known or any(second <= first for first, second in itertools.pairwise(known)):
        raise ConfigError(f"known sizes must ascend, got {list(known)}")
    below = max((one for one in known if one <= size), default=known[0])
    above = min((one for one in known if one >= size), default=known[-1])
    if below >= above:
        return {below: 1.0}
    share = pseudo_harmonic(below, above, size)
    return {one: part for one, part in ((below, share), (above, 1.0 - share)) if part > 0}
