# SPDX-License-Identifier: Apache-2.0
"""Matches of strategies on history trees, thousands of games at a time as arrays: no agent is asked anything."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr
from equipoise.evaluation.matches import DealRange, MatchConfig, list_rotations
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.trees.history import HistoryTree

__all__ = ["BATCH_STREAM", "BatchedGames"]

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

BATCH_STREAM = 2  # of random numbers, beside the streams of games played hand by hand


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchedGames:
    """Plays deals between strategies `[Q]` of one tree, all games of a chunk at once."""

    tree: HistoryTree
    strategies: tuple[FloatArray, ...]  # one for each agent, for all seats
    names: tuple[str, ...]
    config: MatchConfig
    plays_singly: ClassVar[bool] = False

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        size = self.tree.num_players
        if len(self.strategies) != size or len(self.names) != size:
            raise ConfigError(f"{self.tree.game_label} is played by {size} agents, got {len(self.strategies)}")
        expected = (int(self.tree.sequence_start[-1]),)
        for name, strategy in zip(self.names, self.strategies, strict=True):
            if strategy.shape != expected:
                raise ConfigError(f"the strategy of {name} must have shape {expected}, got {strategy.shape}")

    def __call__(self, deals: DealRange) -> FloatArray:
        """Returns `[deals, rotations, agents]` what every agent won; seats as in `HandByHand`."""
        config, size = self.config, self.tree.num_players
        chunk, begin = divmod(deals.first, config.deals_per_chunk)
        part = slice(begin, begin + deals.size)
        count = config.deals_per_chunk
        rng = np.random.default_rng([config.seed, BATCH_STREAM, chunk, 1])
        chance = _ChanceNumbers(count, np.random.default_rng([config.seed, BATCH_STREAM, chunk, 0]))
        out = np.zeros((count, config.num_rotations(size), size))
        for rotation, rows, column in list_rotations(config, chunk, size):
            seats = [(seat + rotation) % size for seat in range(size)]
            won = self._play(seats, rows, chance, rng)
            out[rows[:, None], column, seats] = won.T
        return out[part]

    def _play(
        self, seats: list[int], deals: IndexArray, chance: _ChanceNumbers, rng: np.random.Generator
    ) -> FloatArray:
        """Returns `[seats, games]` utilities; seat s is played by agent `seats[s]`."""
        tree = self.tree
        ends = self._edge_ends(seats)
        node, num_chance = np.zeros(deals.size, np.int64), np.zeros(deals.size, np.int64)
        active = np.flatnonzero(tree.actor[node] != TERMINAL)
        while active.size:
            here = node[active]
            uniform = rng.random(active.size)
            is_chance = tree.actor[here] == CHANCE
            dealt = active[is_chance]
            uniform[is_chance] = chance.look_up(num_chance[dealt], deals[dealt])
            num_chance[dealt] += 1
            # edges of a node follow one another, and so do their shares of one long line of probability
            first = tree.first_edge[here]
            start = np.where(first > 0, ends[first - 1], 0.0)
            end = ends[tree.first_edge[here + 1] - 1]
            # below the end, so that rounding lands on no edge of another node and on none that nobody takes
            number = np.minimum(start + uniform * (end - start), np.nextafter(end, 0.0))
            node[active] = tree.edge_child[np.searchsorted(ends, number, side="right")]
            active = active[tree.actor[node[active]] != TERMINAL]
        place = np.searchsorted(tree.terminal_node, node)
        return tree.utility[:, place]

    def _edge_ends(self, seats: list[int]) -> FloatArray:
        """Returns `[N-1]` the sums of all edges' probabilities up to and with each."""
        tree = self.tree
        parent = tree.parent[tree.edge_child]
        probability = tree.chance_probability[tree.edge_child].copy()
        column = np.arange(parent.size) - tree.first_edge[parent]
        for seat, agent in enumerate(seats):
            own = tree.actor[parent] == seat
            sequence = tree.first_sequence[tree.infoset[parent[own]]] + column[own]
            probability[own] = self.strategies[agent][sequence]
        ends: FloatArray = np.cumsum(probability)
        return ends


class _ChanceNumbers:
    """The number that each chance event of each deal falls on, drawn when the first game comes to an event."""

    def __init__(self, num_deals: int, rng: np.random.Generator) -> None:
        self.num_deals, self.rng = num_deals, rng
        self.rows = np.zeros((0, num_deals))

    def look_up(self, events: IndexArray, deals: IndexArray) -> FloatArray:
        """Returns `[events]` the numbers of events, counted from 0 in each deal."""
        missing = int(events.max(initial=-1)) + 1 - len(self.rows)
        if missing > 0:
            self.rows = np.vstack([self.rows, self.rng.random((missing, self.num_deals))])
        found: FloatArray = self.rows[events, deals]
        return found
