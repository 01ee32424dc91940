# SPDX-License-Identifier: Apache-2.0
"""What a blueprint is worth and what best responses gain, exact inside its abstraction, where all deals are listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.betting import initial_betting
from equipoise.kernels.betting import BettingArrays
from equipoise.kernels.blueprints import ListedDeals
from equipoise.trees.holdem.flat_betting import FlatBetting

__all__ = ["BlueprintValues", "measure_blueprint"]

FloatArray = npt.NDArray[np.float64]
Rows = Callable[[int], FloatArray]  # of a decision `[buckets, A]`


class BlueprintValues(NamedTuple):
    """In chips, by player."""

    values: FloatArray  # [players] what each wins
    gains: FloatArray  # [players] what each would win more by a best response

    @property
    def nash_conv(self) -> float:
        """Returns the sum of gains."""
        return float(self.gains.sum())


def measure_blueprint(betting: FlatBetting, deals: ListedDeals, rows: Rows) -> BlueprintValues:
    """Returns exact values and gains; buckets must have perfect recall for the gains to be those of best responses.

    Args:
        betting: the tree.
        deals: all of them.
        rows: what each bucket plays at a decision.
    """
    measure = _Measure(betting, deals, rows)
    players = range(betting.rules.num_players)
    values = np.array([measure.value(player, is_best=False) for player in players])
    best = np.array([measure.value(player, is_best=True) for player in players])
    return BlueprintValues(values, best - values)


class _Measure:
    def __init__(self, betting: FlatBetting, deals: ListedDeals, rows: Rows) -> None:
        self.arrays: BettingArrays = betting.arrays
        self.posted = initial_betting(betting.rules).committed
        self.deals, self.rows = deals, rows
        self.weights = deals.weights / deals.weights.sum()
        self.ending, self.player = self.arrays.ending, self.arrays.player
        self.num_actions, self.amount = self.arrays.num_actions, self.arrays.amount
        self.streets = self.arrays.streets

    def value(self, player: int, *, is_best: bool) -> float:
        return float(self._walk(0, player, self.posted[player], self.weights, is_best=is_best).sum())

    def _walk(self, node: int, me: int, mine: int, reach: FloatArray, *, is_best: bool) -> FloatArray:
        """Returns `[deals]` what the player wins below a node, times the others' reach."""
        if self.ending[node]:
            return reach * self._payoff(node, me, mine)
        first, count, who = int(self.arrays.nodes[node, 0]), int(self.num_actions[node]), int(self.player[node])
        bucket = self.deals.buckets[:, who, self.streets[node]]
        if who != me:
            shares = self.rows(node)
            return sum(
                (self._walk(first + i, me, mine, reach * shares[bucket, i], is_best=is_best) for i in range(count)),
                np.zeros(len(reach)),
            )
        values = np.stack(
            [self._walk(first + i, me, int(self.amount[first + i]), reach, is_best=is_best) for i in range(count)]
        )
        if not is_best:
            mean: FloatArray = np.einsum("ad,da->d", values, self.rows(node)[bucket])
            return mean
        size = int(bucket.max()) + 1
        totals = np.stack([np.bincount(bucket, row, minlength=size) for row in values])
        best: FloatArray = np.take_along_axis(values, totals.argmax(axis=0)[bucket][None], axis=0)[0]
        return best

    def _payoff(self, node: int, me: int, mine: int) -> FloatArray:
        """Returns `[deals]` what the player wins at an end."""
        pot, left = int(self.arrays.nodes[node, 0]), int(self.arrays.nodes[node, 1])
        size = len(self.weights)
        if not left >> me & 1:
            return np.full(size, -float(mine))
        if self.ending[node] == 1:
            return np.full(size, float(pot - mine))
        if self.ending[node] == 3:
            return self._split(node, me, mine)
        strengths = self.deals.strengths[:, [seat for seat in range(self.deals.num_players) if left >> seat & 1]]
        best = strengths.max(axis=1)
        num_best = (strengths == best[:, None]).sum(axis=1)
        return np.where(self.deals.strengths[:, me] == best, pot / num_best, 0.0) - mine

    def _split(self, node: int, me: int, mine: int) -> FloatArray:
        """Returns `[deals]` what the player wins of a main pot and side pots."""
        committed = self.arrays.side_pots[self.arrays.nodes[node, 0]]
        left = [seat for seat in range(self.deals.num_players) if self.arrays.nodes[node, 1] >> seat & 1]
        won = np.full(len(self.weights), -float(mine))
        below = 0
        for level in sorted({int(committed[seat]) for seat in left}):
            chips = int((np.minimum(committed, level) - np.minimum(committed, below)).sum())
            among = [seat for seat in left if committed[seat] >= level]
            if me in among:
                strengths = self.deals.strengths[:, among]
                best = strengths.max(axis=1)
                num_best = (strengths == best[:, None]).sum(axis=1)
                won += np.where(self.deals.strengths[:, me] == best, chips / num_best, 0.0)
            below = level
        return won
