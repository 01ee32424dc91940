# SPDX-License-Identifier: Apache-2.0
"""Boards of hold'em as value networks see them, kept for the next question.

Hands are sorted by strength at the river, before it by the mean of their strength over all run-outs; potential is how
much that strength varies. Numbers are whole: relabelling suits permutes them and does nothing else.
"""

from __future__ import annotations

import collections
import math
import threading
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.cards import FULL_DECK, Deck, check_board
from equipoise.games.holdem.dealing import FULL_BOARD, list_completions
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.pair_showdowns import count_pairs
from equipoise.games.holdem.strength import evaluate_boards, hand_kernel
from equipoise.kernels.value_nets import ValueBoard

__all__ = ["BoardFacts", "BoardShelf", "live_hands", "shared_boards"]

SHELF_BYTES: Final = 400_000_000  # boards before the river have a table of all pairs of hands, 2.5 MB

IntArray = npt.NDArray[np.int64]


def live_hands(board: Iterable[int], deck: Deck = FULL_DECK) -> npt.NDArray[np.int64]:
    """Returns `[n]` the numbers of the hands that a board leaves, ascending.

    >>> len(live_hands([0, 1, 2])), len(live_hands(range(5)))
    (1176, 1081)
    """
    return np.flatnonzero(~hands_of(deck).blocked(board))


class BoardFacts:
    """A board with its live hands, n of them, in the order of the deck."""

    def __init__(self, board: Sequence[int], deck: Deck = FULL_DECK, *, strength: npt.ArrayLike | None = None) -> None:
        """Sorts the hands and, before the river, counts how pairs of them fare.

        Args:
            board: 0, 3, 4 or 5 cards; their order does not matter.
            deck: the cards in play.
            strength: `[H]` at the river, if it is known.
        """
        check_board(board, deck)
        self.board, self.deck = tuple(int(card) for card in board), deck
        self.hands = live_hands(self.board, deck)
        self.cards = hands_of(deck).cards[self.hands]  # [n, 2]
        self.potential: npt.NDArray[np.float32] | None = None  # [n] quantile among the hands, before the river
        if len(self.board) == FULL_BOARD:
            given = evaluate_boards([self.board], deck)[0] if strength is None else strength
            strengths = np.ascontiguousarray(given, np.uint16)
            self.key = strengths[self.hands].astype(np.int64)  # [n] in the order of strength
            self.bound = ValueBoard(strengths, hands_of(deck).cards)
        else:
            self.bound = self._look_ahead()

    @property
    def num_hands(self) -> int:
        """Number of live hands."""
        return len(self.hands)

    @property
    def num_bytes(self) -> int:
        """Memory that it takes, roughly."""
        return 20_000 + (0 if len(self.board) == FULL_BOARD else 2 * self.num_hands**2)

    def count_ahead(self) -> tuple[IntArray, int]:
        """Returns `[n, n]` wins less losses of the row's hand against the column's, and of how many run-outs."""
        counts = count_pairs(self.board, self.deck, hands=self.hands)
        return counts.ahead, counts.num_boards

    def _look_ahead(self) -> ValueBoard:
        """Sorts the hands by what run-outs make of them."""
        strength, potential = np.zeros(self.deck.num_hands, np.uint16), np.zeros(self.deck.num_hands, np.float32)
        mean, spread = _expect(self.board, self.hands, self.deck)
        self.key = np.unique(mean, return_inverse=True)[1] + 1
        strength[self.hands] = self.key
        self.potential = find_quantiles(spread).astype(np.float32)
        potential[self.hands] = self.potential
        bound = ValueBoard(strength, hands_of(self.deck).cards, potential)
        counts = count_pairs(self.board, self.deck, hands=bound.order)
        bound.set_pairs(counts.wins, counts.num_boards)
        return bound


def find_quantiles(values: IntArray) -> npt.NDArray[np.float64]:
    """Returns for each number the share of numbers below it, equals counted half.

    >>> find_quantiles(np.array([5, 1, 5, 9])).tolist()
    [0.5, 0.125, 0.5, 0.875]
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - 0.5 * counts
    quantiles: npt.NDArray[np.float64] = middle[place] / values.size
    return quantiles


def _expect(board: tuple[int, ...], hands: IntArray, deck: Deck) -> tuple[IntArray, IntArray]:
    """Returns `[n]` the sum of strengths over all run-outs and how much they vary, both as whole numbers."""
    if not board:  # networks before the flop go by classes of hands
        return np.zeros(len(hands), np.int64), np.zeros(len(hands), np.int64)
    runouts = list_completions(board, deck)
    own = np.ascontiguousarray(hands_of(deck).cards[hands])
    sums, squares = hand_kernel(deck).accumulate_levels(runouts, np.ones(len(runouts), np.int64), own)
    num_met = math.comb(deck.num_cards - 2 - len(board), FULL_BOARD - len(board))  # run-outs that leave a hand
    return sums, num_met * squares - sums * sums


class BoardShelf:
    """Boards by their cards; those used longest ago go when they take too much room."""

    def __init__(self, deck: Deck = FULL_DECK, *, max_bytes: int = SHELF_BYTES) -> None:
        self.deck, self.max_bytes = deck, max_bytes
        self._kept: collections.OrderedDict[tuple[int, ...], BoardFacts] = collections.OrderedDict()
        self._num_bytes = 0
        self._guard = threading.Lock()

    def find(self, boards: Sequence[Sequence[int]]) -> list[BoardFacts]:
        """Returns boards, in any order of their cards."""
        keys = [tuple(sorted(int(card) for card in board)) for board in boards]
        with self._guard:
            self._make([key for key in dict.fromkeys(keys) if key not in self._kept])
            found = [self._kept[key] for key in keys]
            for key in keys:
                self._kept.move_to_end(key)
            self._trim()
        return found

    def _make(self, keys: list[tuple[int, ...]]) -> None:
        rivers: list[tuple[int, ...]] = [key for key in keys if len(key) == FULL_BOARD]
        for river in rivers:
            check_board(river, self.deck)
        found = list(evaluate_boards(rivers, self.deck)) if rivers else []
        for key in sorted(keys, key=len, reverse=True):
            facts = BoardFacts(key, self.deck, strength=found.pop(0) if found else None)
            self._kept[key] = facts
            self._num_bytes += facts.num_bytes

    def _trim(self) -> None:
        while self._num_bytes > self.max_bytes and len(self._kept) > 1:
            self._num_bytes -= self._kept.popitem(last=False)[1].num_bytes


_SHELVES: Final[dict[Deck, BoardShelf]] = {}


def shared_boards(deck: Deck = FULL_DECK) -> BoardShelf:
    """Returns the shelf that everybody shares."""
    return _SHELVES.setdefault(deck, BoardShelf(deck))
