# SPDX-License-Identifier: Apache-2.0
"""Elo ratings from results of games, and rankings from tables of winnings.

A rating says how often somebody wins, not how much; for games of chips the table of winnings is the better measure.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr, show_given
from equipoise.evaluation.statistics import normal_quantile

__all__ = ["Ratings", "fit_elo", "rank_by_bankroll", "rank_by_runoff"]

ELO_PER_NAT: Final = 400.0 / math.log(10.0)  # 400 points are odds of ten to one
PRIOR_GAMES: Final = 0.5  # drawn against each opponent met, so that ratings are finite without a single loss
TOLERANCE: Final = 1e-10
MAX_STEPS: Final = 200

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """Elo ratings; the anchor's is fixed at 0.

    >>> fit_elo(["a", "b"], [[0, 60], [40, 0]]).names
    ('a', 'b')
    """

    names: tuple[str, ...]
    elo: tuple[float, ...]
    half_widths: tuple[float, ...]  # of the intervals of the differences to the anchor; 0 for itself
    confidence: float

    __repr__ = brief_repr


def fit_elo(names: Sequence[str], scores: npt.ArrayLike, *, anchor: int = 0, confidence: float = 0.95) -> Ratings:
    """Returns the ratings under which the results are the most likely.

    Paper: Bradley & Terry 1952, "Rank Analysis of Incomplete Block Designs: I. The Method of Paired Comparisons",
        Biometrika 39 (3/4).
    Symbols: pi_i -> exp(strength); ratings are strengths in units of 400 / ln 10.
    Departs from the paper: a draw is half a win for each side; half a drawn game is added to every pair that met;
        the maximum is found by Newton's method.
    Checked by: tests/evaluation/test_ratings.py.

    Args:
        names: of the agents.
        scores: `[agents, agents]` games that the row's agent won against the column's, a draw being half for each.
        anchor: whose rating is 0.
        confidence: of the intervals, which come from the curvature at the maximum.

    >>> ratings = fit_elo(["a", "b"], [[0, 60], [40, 0]])  # a scored 60 of 100 points
    >>> [round(elo) for elo in ratings.elo]
    [0, -70]
    """
    won = np.array(scores, np.float64)
    size = len(names)
    if won.shape != (size, size):
        raise ConfigError(f"scores must have shape {(size, size)}, got {won.shape}")
    if not 0 <= anchor < size:
        raise ConfigError(f"the anchor must be one of {size} agents, got {anchor}")
    if not np.isfinite(won).all() or (won < 0).any() or np.diagonal(won).any():
        raise ConfigError("scores must be finite and at least 0, and nobody plays against itself")
    met = (won + won.T) > 0
    _check_connected(names, met)
    won += PRIOR_GAMES / 2 * met
    games = won + won.T
    free = [agent for agent in range(size) if agent != anchor]
    strength = np.zeros(size)
    for _ in range(MAX_STEPS):
        odds = 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))
        gradient = (won - games * odds).sum(axis=1)
        weight = games * odds * (1.0 - odds)
        information = np.diag(weight.sum(axis=1)) - weight
        step = np.linalg.solve(information[np.ix_(free, free)], gradient[free])
        strength[free] += np.clip(step, -2.0, 2.0)  # far from the maximum a whole step overshoots
        if np.abs(step).max(initial=0.0) < TOLERANCE:
            break
    variance = np.zeros(size)
    variance[free] = np.diagonal(np.linalg.inv(information[np.ix_(free, free)]))
    reach = normal_quantile(confidence) * np.sqrt(variance) * ELO_PER_NAT
    return Ratings(
        names=tuple(names),
        elo=tuple((strength * ELO_PER_NAT).tolist()),
        half_widths=tuple(reach.tolist()),
        confidence=confidence,
    )


def rank_by_bankroll(table: npt.ArrayLike) -> tuple[tuple[int, ...], FloatArray]:
    """Returns agents from the first to the last by what they win in all, and `[agents]` what each wins on average.

    Args:
        table: `[agents, agents]` what the row's agent wins against the column's; the diagonal is not read.

    >>> order, winnings = rank_by_bankroll([[0, 1, 4], [-1, 0, 2], [-4, -2, 0]])
    >>> order
    (0, 1, 2)
    """
    winnings = _check_table(table)
    size = len(winnings)
    means: FloatArray = winnings.sum(axis=1) / max(size - 1, 1)
    return tuple(np.argsort(-means, kind="stable").tolist()), means


def rank_by_runoff(table: npt.ArrayLike) -> tuple[int, ...]:
    """Returns agents from the first to the last: again and again who wins least against those left is out.

    Paper: Bard, Hawkin, Rubin & Zinkevich 2013, "The Annual Computer Poker Competition", AI Magazine 34 (2).
    Departs from the paper: nothing.
    Checked by: tests/evaluation/test_ratings.py.

    Args:
        table: `[agents, agents]` what the row's agent wins against the column's; the diagonal is not read.

    >>> rank_by_runoff([[0, 1, 4], [-1, 0, 2], [-4, -2, 0]])
    (0, 1, 2)
    """
    winnings = _check_table(table)
    left = list(range(len(winnings)))
    out: list[int] = []
    while left:
        sums = winnings[np.ix_(left, left)].sum(axis=1)
        # of several that win the least, the last one goes first
        worst = len(left) - 1 - int(np.argmin(sums[::-1]))
        out.append(left.pop(worst))
    return tuple(reversed(out))


def _check_table(table: npt.ArrayLike) -> FloatArray:
    try:
        winnings = np.array(table, np.float64)
    except (TypeError, ValueError):
        raise ConfigError(f"a table of winnings is rows of numbers, got {show_given(table)}") from None
    if winnings.ndim != 2 or winnings.shape[0] != winnings.shape[1]:
        raise ConfigError(f"a table of winnings must be square, got shape {winnings.shape}")
    np.fill_diagonal(winnings, 0.0)
    if not np.isfinite(winnings).all():
        raise ConfigError("a table of winnings must be finite")
    return winnings


def _check_connected(names: Sequence[str], met: npt.NDArray[np.bool_]) -> None:
    """Raises unless every agent is linked to the first by games."""
    reached = {0}
    while True:
        more = {int(other) for agent in reached for other in np.flatnonzero(met[agent])} - reached
        if not more:
            break
        reached |= more
    missing = [name for agent, name in enumerate(names) if agent not in reached]
    if missing:
        raise ConfigError(f"no game links {', '.join(missing)} to {names[0]}: their ratings cannot be compared")
