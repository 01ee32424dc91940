# SPDX-License-Identifier: Apache-2.0
"""Sets of cards up to relabellings of their suits."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.kernels.arrays import check_array, check_axes

__all__ = ["list_card_sets"]

NUM_CARDS = 52
MAX_SIZE = 7


def list_card_sets(
    cards: npt.NDArray[np.uint8], size: int, permutations: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Returns the first set `[B, size]` in dictionary order of each class of sets, and how many sets `[B]` it has.

    Args:
        cards: `[cards]` what sets are taken from, ascending; the group must map these cards to one another.
        size: cards in a set, 0 to 7.
        permutations: `[G, 4]` a group of relabellings of suits, the identity first.
    """
    check_axes("cards", cards, 1)
    check_axes("permutations", permutations, 2)
    check_array("cards", cards, np.uint8, (cards.size,))
    check_array("permutations", permutations, np.uint8, (permutations.shape[0], 4))
    if not 0 <= size <= min(MAX_SIZE, cards.size):
        raise ValueError(f"size must be 0 to {min(MAX_SIZE, cards.size)}, got {size}")
    if cards.size and (cards[-1] >= NUM_CARDS or np.any(cards[1:] <= cards[:-1])):
        raise ValueError(f"cards must ascend from 0 to {NUM_CARDS - 1}, got {cards.tolist()}")
    if not permutations.size or permutations[0].tolist() != [0, 1, 2, 3] or permutations.max() > 3:
        raise ValueError("permutations must be a group of relabellings of four suits, the identity first")
    num_sets = math.comb(cards.size, size)
    sets, counts = np.empty((num_sets, size), np.uint8), np.empty(num_sets, np.uint8)
    num_kept: int = _native.list_card_sets(cards=cards, size=size, permutations=permutations, sets=sets, counts=counts)
    return sets[:num_kept].copy(), counts[:num_kept].astype(np.int64)
