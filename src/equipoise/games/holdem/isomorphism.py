# SPDX-License-Identifier: Apache-2.0
"""Suits are only names: boards, cards and hands that differ by a relabelling of suits alone.

A relabelling is a row of four suits, `permutation[suit]` being the new suit; only suits of the deck are relabelled.
Sets of them are arrays `[G, 4]` that form a group, the identity first. Nothing here knows of betting: a solver chooses
the group (what fixes its root board and both ranges) and walks it down with `canonical_sets` and `find_stabilizers`:
`find_symmetries` of a later board may exchange the turn with a card of the flop, on which the betting so far depends.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.cards import FULL_DECK, NUM_CARDS, SUITS, Deck, check_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.ranges import Range
from equipoise.kernels.cardsets import list_card_sets

__all__ = [
    "CanonicalBoard",
    "canonical_board",
    "canonical_flops",
    "canonical_sets",
    "find_stabilizers",
    "find_symmetries",
    "hand_permutation",
    "permute_cards",
    "relabel_board",
    "suit_permutations",
]

CardArray = npt.NDArray[np.uint8]
IntArray = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True)
class CanonicalBoard:
    """The board that stands for all relabellings of a board, and how to get there."""

    board: tuple[int, ...]  # the flop in ascending order, then turn and river
    permutation: tuple[int, ...]  # relabelling that maps the given board to this one


def suit_permutations(deck: Deck = FULL_DECK) -> CardArray:
    """Returns every relabelling `[G, 4]` of the deck's suits, the identity first."""
    own = [SUITS.index(suit) for suit in deck.suits]
    rows = []
    for images in itertools.permutations(own):
        row = list(range(len(SUITS)))
        for suit, image in zip(own, images, strict=True):
            row[suit] = image
        rows.append(row)
    return np.array(rows, np.uint8)


def permute_cards(cards: npt.ArrayLike, permutation: npt.ArrayLike) -> CardArray:
    """Returns cards, in an array of any shape, with their suits relabelled."""
    numbers = np.asarray(cards, np.uint8)
    relabelled: CardArray = (numbers & 0xFC) | np.asarray(permutation, np.uint8)[numbers & 3]
    return relabelled


def relabel_board(board: Sequence[int], permutation: npt.ArrayLike, root: Sequence[int]) -> tuple[int, ...]:
    """Returns a board with the suits relabelled of what was dealt since `root`, whose cards stay as they are listed.

    A relabelling that maps the root to itself only changes the order of its cards. A flop comes in ascending order.
    """
    dealt = permute_cards(board[len(root) :], permutation).tolist()
    num_flop = max(3 - len(root), 0)
    return (*root, *sorted(dealt[:num_flop]), *dealt[num_flop:])


def hand_permutation(permutation: Iterable[int], deck: Deck = FULL_DECK) -> npt.NDArray[np.int32]:
    """Returns `[H]` the number of each hand after relabelling, a read-only array.

    >>> swap = hand_permutation([1, 0, 2, 3])  # clubs and diamonds change names
    >>> bool((swap[swap] == np.arange(1326)).all())
    True
    """
    return _hand_permutation(tuple(int(suit) for suit in permutation), deck)


def find_symmetries(board: Iterable[int] = (), ranges: Sequence[Range] = (), deck: Deck = FULL_DECK) -> CardArray:
    """Returns the relabellings `[G, 4]` that leave a board, as a set, and every range as they are.

    Ranges are compared where the board leaves their hands possible, weight for weight.
    """
    cards = sorted(board)
    live = [held.without(cards).weights for held in ranges]
    kept = [
        permutation
        for permutation in suit_permutations(deck)
        if sorted(permute_cards(cards, permutation).tolist()) == cards
        and all(np.array_equal(weights[hand_permutation(permutation, deck)], weights) for weights in live)
    ]
    return np.array(kept, np.uint8)


def find_stabilizers(permutations: CardArray, sets: CardArray) -> npt.NDArray[np.bool_]:
    """Returns `[B, G]` which relabellings of a group map each set of cards `[B, cards]` to itself."""
    suits = np.asarray(permutations, np.uint8)[:, sets & 3]
    images = np.sort((sets & 0xFC) | suits, axis=2)
    is_fixed: npt.NDArray[np.bool_] = (images == np.sort(sets, axis=1)).all(axis=2).T
    return is_fixed


def canonical_board(board: Sequence[int], deck: Deck = FULL_DECK) -> CanonicalBoard:
    """Returns the lowest of a board's relabellings, flop, turn and river compared in this order.

    The order of cards within the flop does not matter, that of turn and river does.
    """
    check_board(board, deck)
    candidates = []
    for permutation in suit_permutations(deck).tolist():
        relabelled = permute_cards(board, permutation).tolist()
        candidates.append(((*sorted(relabelled[:3]), *relabelled[3:]), tuple(permutation)))
    return CanonicalBoard(*min(candidates))


def canonical_flops(deck: Deck = FULL_DECK) -> tuple[CardArray, IntArray]:
    """Returns the canonical flops `[B, 3]` of a deck and how many flops `[B]` each stands for.

    >>> flops, counts = canonical_flops()
    >>> len(flops), int(counts.sum())
    (1755, 22100)
    """
    return canonical_sets(deck.cards, 3, suit_permutations(deck))


def canonical_sets(cards: Sequence[int], size: int, permutations: CardArray) -> tuple[CardArray, IntArray]:
    """Returns one set of cards `[B, size]` for each class of sets under a group, and how many sets `[B]` it stands for.

    Args:
        cards: what sets are taken from; the group must map these cards to one another.
        size: cards in a set.
        permutations: `[G, 4]` the group of relabellings.
    """
    return list_card_sets(np.array(sorted(cards), np.uint8), size, permutations)


@functools.cache
def _hand_permutation(permutation: tuple[int, ...], deck: Deck) -> npt.NDArray[np.int32]:
    position = np.zeros(NUM_CARDS, np.int32)
    position[list(deck.cards)] = np.arange(deck.num_cards)
    places = np.sort(position[permute_cards(hands_of(deck).cards, permutation)], axis=1)
    numbers: npt.NDArray[np.int32] = places[:, 1] * (places[:, 1] - 1) // 2 + places[:, 0]
    numbers.setflags(write=False)
    return numbers
