# SPDX-License-Identifier: Apache-2.0
"""What every hand of a hold'em spot plays, asked by decision and board: the surface that agents and searches share."""

from __future__ import annotations

import functools
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.betting_tree import BettingTree, betting_tree
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import hand_permutation
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.vector import CellTable

__all__ = ["HandPolicy", "SpotPolicy", "UniformHands"]

KEPT_ROWS: Final = 4096  # strategies of (decision, board) pairs that are at hand

FloatArray = npt.NDArray[np.float64]


class HandPolicy(Protocol):
    """What every hand plays at every decision of a spot."""

    @property
    def spot(self) -> HoldemSpot:
        """Returns what it is a strategy of."""
        ...

    @property
    def betting(self) -> BettingTree:
        """Returns the bets that it knows."""
        ...

    def hand_strategy(self, node: int, board: tuple[int, ...]) -> FloatArray:
        """Returns `[H, A]` by hand of the deck; 0 where the board blocks it."""
        ...

    def hand_row(self, node: int, board: tuple[int, ...], hand: int) -> list[float]:
        """Returns `[A]` what one hand plays."""
        ...


class SpotPolicy:
    """A solved spot whose table is in memory or on disk; hands that its ranges lack play uniformly."""

    def __init__(self, tree: HoldemTree, sums: CellTable) -> None:
        self.tree, self.sums = tree, sums
        self.hand_strategy = functools.lru_cache(KEPT_ROWS)(self._hand_strategy)

    @property
    def spot(self) -> HoldemSpot:
        """Returns what it is a strategy of."""
        return self.tree.spot

    @property
    def betting(self) -> BettingTree:
        """Returns the bets that it knows."""
        return self.tree.betting

    def hand_row(self, node: int, board: tuple[int, ...], hand: int) -> list[float]:
        """Returns `[A]` what one hand plays."""
        row: list[float] = self.hand_strategy(node, board)[hand].tolist()
        return row

    def _hand_strategy(self, node: int, board: tuple[int, ...]) -> FloatArray:
        deck = self.spot.deck
        index, relabelling = self.tree.locate(board)
        shares = self.tree.normalize(self.sums, index, node)
        kept = np.full((deck.num_hands, shares.shape[1]), 1.0 / shares.shape[1])
        kept[self.tree.hands[index][self.tree.decisions[node].player]] = shares
        out = kept[hand_permutation(relabelling, deck)]
        out[hands_of(deck).blocked(board)] = 0.0
        return out


class UniformHands:
    """Every hand does everything that a menu offers as often: a blueprint for whoever has none."""

    def __init__(self, spot: HoldemSpot) -> None:
        self.spot = spot
        self.betting = betting_tree(spot.betting_rules, spot.menu)

    def hand_strategy(self, node: int, board: tuple[int, ...]) -> FloatArray:
        """Returns `[H, A]` by hand of the deck; 0 where the board blocks it."""
        num_actions = len(self.betting.nodes[node].actions)
        out = np.full((self.spot.deck.num_hands, num_actions), 1.0 / num_actions)
        out[hands_of(self.spot.deck).blocked(board)] = 0.0
        return out

    def hand_row(self, node: int, board: tuple[int, ...], hand: int) -> list[float]:
        """Returns `[A]` what one hand plays."""
        row: list[float] = self.hand_strategy(node, board)[hand].tolist()
        return row
