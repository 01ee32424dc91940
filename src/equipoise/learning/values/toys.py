# SPDX-License-Identifier: Apache-2.0
"""Toy rivers: the betting of a river between strengths alone, some dozen of them and no cards that block others.

They take a thirtieth of the time of a real river and teach a network how values go with both ranges; what cards add it
learns from real ones. Masses are those of real boards and random ranges, seen on the network's own axis.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.betting_tree import betting_tree
from equipoise.games.holdem.cards import FULL_DECK, Deck, format_deck
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.strength import evaluate_boards
from equipoise.kernels.toy_games import ToyBetting, solve_toy_games
from equipoise.learning.values.bucketed_rivers import bind_betting
from equipoise.learning.values.labels import POT, Labels
from equipoise.learning.values.shards import Arrays
from equipoise.learning.values.situations import draw_ranges, find_ratios
from equipoise.solvers.rules import tabulate_discounts

__all__ = ["ToySource", "cell_masses", "toy_betting"]

SAME_BETTING: Final = 64  # games in a row that have the same chips behind: their betting is built once
ANY_BOARD: Final = (0, 5, 10, 15, 20)  # betting knows no cards


@dataclasses.dataclass(frozen=True, kw_only=True)
class ToySource:
    """Random toy rivers, solved: a shard's content follows from this and its number."""

    labels: Labels
    num_cells: int = 32  # strengths of a game
    ratios: str = "cpu"
    per_shard: int = 6400
    seed: int = 0
    deck: Deck = FULL_DECK

    def __post_init__(self) -> None:
        find_ratios(self.ratios)
        if self.num_cells < 2 or self.per_shard < 1:
            raise ConfigError(f"toy games have two strengths or more, shards a game or more, got {self}")

    @property
    def config(self) -> dict[str, Any]:
        """Returns what shards are made from, as JSON values."""
        return {
            "street": "toy",
            "deck": format_deck(self.deck),
            **dataclasses.asdict(self.labels),
            "num_cells": self.num_cells,
            "ratios": self.ratios,
            "per_shard": self.per_shard,
            "seed": self.seed,
        }

    def make(self, number: int) -> Arrays:
        """Returns the arrays of a shard: `mass` `[B, 3, strengths]` of ranges and of all hands, `ratio`, `value`."""
        rng = np.random.default_rng([self.seed, len(Street), number])
        parts: list[Arrays] = []
        for begin in range(0, self.per_shard, SAME_BETTING):
            count = min(SAME_BETTING, self.per_shard - begin)
            ratio = find_ratios(self.ratios).draw(rng)
            weights = tabulate_discounts(self.labels.update, 1, self.labels.iterations_for(ratio))
            discounts = np.ascontiguousarray(weights[:, :3])
            mass = self._draw_masses(count, rng)
            held = mass[:, :2] / mass[:, :2].sum(axis=2, keepdims=True)
            value = solve_toy_games(toy_betting(ratio, self.labels), np.ascontiguousarray(held, np.float32), discounts)
            ratios = np.full(count, ratio, np.float32)
            parts.append({"mass": mass.astype(np.float32), "ratio": ratios, "value": value.astype(np.float16)})
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _draw_masses(self, count: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        cards = np.array(self.deck.cards, np.uint8)
        size = Street.RIVER.num_board_cards
        boards = np.sort(np.argsort(rng.random((count, cards.size)), axis=1)[:, :size], axis=1)
        strengths = np.sort(evaluate_boards(cards[boards], self.deck), axis=1)
        live = strengths[:, np.count_nonzero(strengths[0] == 0) :]  # every board blocks as many hands
        ranges = draw_ranges((count, 2), live.shape[1], rng)
        return cell_masses(live, ranges, self.num_cells)


def cell_masses(keys: npt.NDArray[Any], ranges: npt.NDArray[np.float64], num_cells: int) -> npt.NDArray[np.float64]:
    """Returns `[B, 3, strengths]` what both ranges, and all hands alike, have in cells of their mean's distribution.

    Args:
        keys: `[B, n]` strengths, ascending; hands of equal strength stay in one cell.
        ranges: `[B, 2, n]` each adding up to 1.
        num_cells: G.
    """
    count, size = keys.shape
    is_new = np.diff(keys.astype(np.int64), axis=1, prepend=-1) != 0
    row = np.arange(count)[:, None]
    group = np.cumsum(is_new, axis=1) - 1 + row * size
    alike = np.full((count, size), 1.0 / size)
    masses = [
        np.bincount(group.ravel(), own.ravel(), minlength=count * size).reshape(count, size)
        for own in (ranges[:, 0], ranges[:, 1], alike)
    ]
    mean = (masses[0] + masses[1] + masses[2]) / 3.0
    middle = np.cumsum(mean, axis=1) - mean / 2.0
    cell = np.minimum((middle * num_cells).astype(np.int64), num_cells - 1) + row * num_cells
    out = [np.bincount(cell.ravel(), own.ravel(), minlength=count * num_cells) for own in masses]
    return np.stack([own.reshape(count, num_cells) for own in out], axis=1)


def toy_betting(ratio: float, labels: Labels) -> ToyBetting:
    """Returns the betting of a river, in pots, with so much behind."""
    everything = Range.random(FULL_DECK)
    stack = max(round(ratio * POT), 1)
    spot = HoldemSpot(
        board=ANY_BOARD,
        pot=POT,
        stacks=(stack, stack),
        ranges=(everything, everything),
        menu=labels.bets,
        big_blind=100,
    )
    return bind_betting(betting_tree(spot.betting_rules, spot.menu), POT)
