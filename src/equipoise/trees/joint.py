# SPDX-License-Identifier: Apache-2.0
"""Chance's weight of pairs of private states at a public state, as an operator on the other player's reach."""

from __future__ import annotations

import dataclasses
from typing import Protocol

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.cards import Deck
from equipoise.games.holdem.hands import hands_of
from equipoise.kernels.arithmetic import multiply

__all__ = ["CardRemoval", "DenseJoint", "Joint"]

FloatArray = npt.NDArray[np.float64]


class Joint(Protocol):
    """The joint weights `c(s_1, s_2)` of a public state."""

    def mass(self, player: int, other: FloatArray) -> FloatArray:
        """Returns `[H]` for each of a player's private states the other's reach `[H]`, weighted by what chance allows.

        It is how likely chance and the other player come to each of them: what counterfactual values are weighted by.
        """
        ...

    def pairs(self) -> FloatArray:
        """Returns `[H0, H1]` the weight of every pair."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class DenseJoint:
    """Weights of all pairs, one by one."""

    weights: FloatArray  # [H0, H1]

    def mass(self, player: int, other: FloatArray) -> FloatArray:
        """Returns `[H]` the other's reach `[H]`, weighted."""
        return multiply(self.weights, other) if player == 0 else multiply(other, self.weights)

    def pairs(self) -> FloatArray:
        """Returns `[H0, H1]` the weights."""
        return self.weights


@dataclasses.dataclass(frozen=True, slots=True)
class CardRemoval:
    """Two hands are dealt together unless they share a card with each other or with the board; all pairs alike.

    Hands are numbered as in the deck, and a mass costs a few sums over them, not one for each pair.
    """

    deck: Deck
    board: tuple[int, ...]
    LEAST = 1e-12  # of the sum: below it a mass is what is left of sums that cancel

    def mass(self, player: int, other: FloatArray) -> FloatArray:
        """Returns `[H]` the other's reach over hands that share no card, 0 where the board blocks the hand."""
        hands = hands_of(self.deck)
        blocked = hands.blocked(self.board)
        there = np.where(blocked, 0.0, other)
        mass = hands.compatible(there)
        mass[blocked | (mass < self.LEAST * there.sum())] = 0.0
        return mass

    def pairs(self) -> FloatArray:
        """Returns `[H, H]` 1 where both hands can be held."""
        hands = hands_of(self.deck)
        is_held = ~hands.blocked(self.board)
        is_apart = (hands.masks[:, None] & hands.masks[None, :]) == 0
        weights: FloatArray = (is_apart & is_held[:, None] & is_held[None, :]).astype(np.float64)
        return weights
