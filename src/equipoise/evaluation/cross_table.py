# SPDX-License-Identifier: Apache-2.0
"""Everybody against everybody: what each wins against each, and the rankings that follow."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr
from equipoise.core.markup import html_table
from equipoise.evaluation.matches import MatchResult
from equipoise.evaluation.ratings import Ratings, fit_elo, rank_by_bankroll, rank_by_runoff
from equipoise.evaluation.statistics import Estimate

__all__ = ["CrossTable", "play_cross_table"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CrossTable:
    """Matches of all pairs of agents.

    >>> from equipoise.runs import match
    >>> names = ["call", "raise", "uniform"]
    >>> table = play_cross_table(names, lambda a, b: match(names[a], names[b], game="kuhn", hands=200))
    >>> table.is_complete, table.winnings.shape
    (True, (3, 3))
    """

    names: tuple[str, ...]
    estimates: dict[tuple[int, int], Estimate]  # what the first of a pair wins a game against the second; both orders
    results: dict[tuple[int, int], tuple[int, int, int]]  # games won, drawn and lost by the first of a pair

    __repr__ = brief_repr

    def _repr_html_(self) -> str:
        rows = [[name, *row] for name, row in zip(self.names, self.winnings.tolist(), strict=True)]
        return html_table(["wins a game against", *self.names], rows)

    @property
    def is_complete(self) -> bool:
        """Returns whether every pair has met."""
        return len(self.estimates) == len(self.names) * (len(self.names) - 1)

    @property
    def winnings(self) -> npt.NDArray[np.float64]:
        """Returns `[agents, agents]` what the row's agent wins a game against the column's; 0 where none was."""
        table = np.zeros((len(self.names), len(self.names)))
        for pair, estimate in self.estimates.items():
            table[pair] = estimate.mean
        return table

    def rank_by_bankroll(self) -> tuple[tuple[int, ...], npt.NDArray[np.float64]]:
        """Returns agents from first to last by total winnings, and each one's mean over its opponents."""
        return rank_by_bankroll(self.winnings)

    def rank_by_runoff(self) -> tuple[int, ...]:
        """Returns agents from first to last by instant runoff."""
        return rank_by_runoff(self.winnings)

    def fit_elo(self, *, confidence: float = 0.95) -> Ratings:
        """Returns Elo ratings, the first agent's being 0."""
        scores = np.zeros((len(self.names), len(self.names)))
        for pair, (won, drawn, _) in self.results.items():
            scores[pair] = won + drawn / 2
        return fit_elo(self.names, scores, confidence=confidence)


def play_cross_table(names: Sequence[str], play: Callable[[int, int], MatchResult | None]) -> CrossTable:
    """Returns the table of all pairs.

    Args:
        names: of the agents, each once.
        play: the match of two agents by their places; None ends the table where it stands.

    >>> from equipoise.runs import match
    >>> names = ["call", "raise", "uniform"]
    >>> table = play_cross_table(names, lambda a, b: match(names[a], names[b], game="kuhn", hands=200))
    >>> order, winnings = table.rank_by_bankroll()
    >>> [names[index] for index in order]
    ['raise', 'call', 'uniform']
    """
    if len(set(names)) != len(names) or len(names) < 2:
        raise ConfigError(f"a table is of two or more different agents, got {', '.join(names)}")
    table = CrossTable(names=tuple(names), estimates={}, results={})
    for first, second in itertools.combinations(range(len(names)), 2):
        result = play(first, second)
        if result is None:
            break
        estimate, (won, drawn, lost) = result.estimate(), result.count_results()
        table.estimates[first, second] = estimate
        table.estimates[second, first] = result.estimate(1)
        table.results[first, second], table.results[second, first] = (won, drawn, lost), (lost, drawn, won)
    return table
