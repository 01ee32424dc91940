# SPDX-License-Identifier: Apache-2.0
"""Strengths of poker hands: cards in, integers out that compare as the hands do.

A card is `rank * 4 + suit`, rank 0 (deuce) to 12 (ace). A strength is 1 to 7,462, higher is better, equal for hands
that split the pot; 0 marks hole cards that share a card with the board. Strengths of 5, 6 and 7 cards are comparable.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.kernels.arrays import check_array, check_axes, check_range
from equipoise.kernels.calls import check_integer

__all__ = ["BLOCKED", "NUM_STRENGTHS", "HandCategory", "HandKernel"]

NUM_CARDS = 52
NUM_STRENGTHS = 7463  # the 0 of "no hand" included
ALL_RANKS = (1 << 13) - 1
MAX_HANDS = 1 << 16  # of showdowns, which sort a hand's place in 16 bits; a deck has 1,326
BLOCKED = 0xFFFF  # in the place of a level of strength: the board holds a card of the hand
MAX_BOARD_WEIGHT = 24  # relabellings of four suits

CardArray = npt.NDArray[np.uint8]
StrengthArray = npt.NDArray[np.uint16]
FloatArray = npt.NDArray[np.float64]
CountArray = npt.NDArray[np.int64]


class HandCategory(enum.IntEnum):
    """What a hand is called; the usual order, which short decks change.

    >>> from equipoise.games.holdem import evaluate_hand, parse_board, strength_category
    >>> strength_category(evaluate_hand(parse_board("AsKsQsJsTs")))
    <HandCategory.STRAIGHT_FLUSH: 8>
    """

    HIGH_CARD = 0
    PAIR = 1
    TWO_PAIR = 2
    TRIPS = 3
    STRAIGHT = 4
    FLUSH = 5
    FULL_HOUSE = 6
    QUADS = 7
    STRAIGHT_FLUSH = 8


class HandKernel:
    """The tables of one way of ranking hands; filling them takes about 20 ms."""

    def __init__(
        self,
        *,
        rank_mask: int = ALL_RANKS,
        flush_beats_full_house: bool = False,
        trips_beat_straight: bool = False,
    ) -> None:
        """Fills the tables.

        Args:
            rank_mask: bit r set if the deck has rank r. Straights are five neighbours among these ranks; the ace also
                stands below the lowest.
            flush_beats_full_house: whether the two change places, as in short-deck.
            trips_beat_straight: whether the two change places, as in some short-deck games.
        """
        if not 0 < rank_mask <= ALL_RANKS:
            raise ValueError(f"rank_mask must have some of 13 bits, got {rank_mask}")
        self._evaluator = _native.HandEvaluator(rank_mask, flush_beats_full_house, trips_beat_straight)
        self.native = self._evaluator  # for forms that evaluate hands themselves
        self.categories = np.empty(NUM_STRENGTHS, np.uint8)  # `HandCategory` by strength; entry 0 means nothing
        _native.hand_categories(self._evaluator, self.categories)

    def evaluate(self, cards: Sequence[int]) -> int:
        """Returns the strength of one hand of 5, 6 or 7 different cards.

        >>> HandKernel().evaluate([32, 36, 40, 44, 48])  # Tc Jc Qc Kc Ac
        7462
        """
        if len(set(cards)) != len(cards):
            raise ValueError(f"cards must be different, got {list(cards)}")
        if not all(0 <= card < NUM_CARDS for card in cards):
            raise ValueError(f"cards must be 0 to {NUM_CARDS - 1}, got {list(cards)}")
        return int(self.evaluate_hands(np.array([cards], np.uint8))[0])

    def evaluate_hands(self, cards: CardArray, out: StrengthArray | None = None) -> StrengthArray:
        """Returns the strengths `[B]` of hands `[B, 5..7]`, written to `out` if given.

        Cards of a hand must differ; this is not checked, and the strength of a hand with a card twice means nothing.
        """
        num_hands = cards.shape[0] if cards.ndim == 2 else -1
        if num_hands < 0 or not 5 <= cards.shape[1] <= 7:
            raise ValueError(f"cards must have shape [B, 5], [B, 6] or [B, 7], got {list(cards.shape)}")
        check_array("cards", cards, np.uint8, cards.shape)
        strengths = np.empty(num_hands, np.uint16) if out is None else out
        check_array("out", strengths, np.uint16, (num_hands,), is_written=True)
        if _native.evaluate_hands(self._evaluator, cards, strengths) == 0:
            _check_cards("cards", cards, cards.shape)
        return strengths

    def evaluate_boards(
        self, boards: CardArray, hole_cards: CardArray, out: StrengthArray | None = None
    ) -> StrengthArray:
        """Returns the strengths `[B, H]` of every pair of hole cards `[H, 2]` on every board `[B, 3..5]`.

        They are 0 where hole cards and board share a card.
        """
        num_boards = boards.shape[0] if boards.ndim == 2 else -1
        if num_boards < 0 or not 3 <= boards.shape[1] <= 5:
            raise ValueError(f"boards must have shape [B, 3], [B, 4] or [B, 5], got {list(boards.shape)}")
        _check_cards("boards", boards, boards.shape)
        check_axes("hole_cards", hole_cards, 2)
        _check_cards("hole_cards", hole_cards, (hole_cards.shape[0], 2))
        shape = (num_boards, hole_cards.shape[0])
        strengths = np.empty(shape, np.uint16) if out is None else out
        check_array("out", strengths, np.uint16, shape, is_written=True)
        _native.evaluate_hole_cards(self._evaluator, boards=boards, hole_cards=hole_cards, out=strengths)
        return strengths

    def accumulate_showdowns(
        self,
        boards: CardArray,
        weights: FloatArray,
        hole_cards: CardArray,
        first_reach: FloatArray,
        second_reach: FloatArray,
    ) -> FloatArray:
        """Returns `[2, 3, H]`: per side what each hand wins, ties and meets in all, in reach of the other side.

        Sums run over boards `[B, 5]` of weights `[B]` and over hands of the other side that share no card. Entries
        of hands that a side does not hold are 0.
        """
        num_boards, num_hands = _check_deals(boards, hole_cards)
        check_array("weights", weights, np.float64, (num_boards,))
        check_array("first_reach", first_reach, np.float64, (num_hands,))
        check_array("second_reach", second_reach, np.float64, (num_hands,))
        out = np.zeros((2, 3, num_hands))
        _native.accumulate_showdowns(
            self._evaluator,
            hole_cards=hole_cards,
            first_reach=first_reach,
            second_reach=second_reach,
            boards=boards,
            weights=weights,
            out=out,
        )
        return out

    def strength_levels(self, boards: CardArray, hole_cards: CardArray) -> StrengthArray:
        """Returns `[B, H]` twice the hands that each pair of hole cards `[H, 2]` beats plus those it ties.

        Boards are `[B, 5]`; only hands that share no card count, and `BLOCKED` marks those that the board blocks.
        """
        num_boards, num_hands = _check_deals(boards, hole_cards)
        out = np.empty((num_boards, num_hands), np.uint16)
        _native.strength_levels(self._evaluator, hole_cards=hole_cards, boards=boards, out=out)
        return out

    def accumulate_levels(
        self, boards: CardArray, weights: CountArray, hole_cards: CardArray
    ) -> tuple[CountArray, CountArray]:
        """Returns `[H]` the levels of `strength_levels` and `[H]` their squares, summed over boards `[B, 5]`.

        Boards have weights `[B]`; those that block a hand add nothing to its sums.
        """
        num_boards, num_hands = _check_deals(boards, hole_cards)
        check_array("weights", weights, np.int64, (num_boards,))
        sums, squares = np.zeros(num_hands, np.int64), np.zeros(num_hands, np.int64)
        _native.accumulate_levels(
            self._evaluator, hole_cards=hole_cards, boards=boards, weights=weights, sum=sums, square_sum=squares
        )
        return sums, squares

    def accumulate_bins(
        self, boards: CardArray, hole_cards: CardArray, bin_of_level: npt.NDArray[np.uint16], num_bins: int
    ) -> npt.NDArray[np.uint32]:
        """Returns `[H, num_bins]` on how many boards `[B, 5]` each hand's level falls into each bin.

        `bin_of_level` has an entry for every level up to twice the number of hands.
        """
        num_hands = _check_deals(boards, hole_cards)[1]
        check_axes("bin_of_level", bin_of_level, 1)
        check_array("bin_of_level", bin_of_level, np.uint16, bin_of_level.shape)
        if bin_of_level.size <= 2 * num_hands:
            raise ValueError(f"bin_of_level must have more than {2 * num_hands} entries, got {bin_of_level.size}")
        if int(bin_of_level.max()) >= num_bins:
            raise ValueError(f"bin_of_level must be 0 to {num_bins - 1}, got {int(bin_of_level.max())}")
        out = np.zeros((num_hands, num_bins), np.uint32)
        _native.accumulate_bins(
            self._evaluator,
            hole_cards=hole_cards,
            boards=boards,
            bin_of_level=bin_of_level,
            num_bins=num_bins,
            counts=out,
        )
        return out

    def accumulate_pair_wins(
        self, boards: CardArray, weights: npt.NDArray[np.uint8], hole_cards: CardArray, out: CountArray
    ) -> None:
        """Adds into `out` `[H, H]` the weights `[B]` of the boards `[B, 5]` on which the row's hand beats the column's.

        Pairs of hands that share a card are counted as if they did not. Weights are at most 24.
        """
        num_boards, num_hands = _check_deals(boards, hole_cards)
        check_array("weights", weights, np.uint8, (num_boards,))
        check_array("out", out, np.int64, (num_hands, num_hands), is_written=True)
        if weights.size and int(weights.max()) > MAX_BOARD_WEIGHT:
            raise ValueError(f"weights must be at most {MAX_BOARD_WEIGHT}, got {int(weights.max())}")
        _native.accumulate_pair_wins(self._evaluator, hole_cards=hole_cards, boards=boards, weights=weights, wins=out)

    def accumulate_joint_counts(
        self,
        boards: CardArray,
        weights: CountArray,
        hole_cards: CardArray,
        paths: npt.NDArray[np.int32],
        *,
        wins: CountArray,
        ties: CountArray,
    ) -> None:
        """Adds into `wins` and `ties` `[paths, paths]` the weights of the pairs of hands that meet on boards `[B, 5]`.

        Args:
            boards: complete boards.
            weights: `[B]` of boards.
            hole_cards: `[H, 2]`.
            paths: `[B, orders, H]` the path, below P, of each hand in each way that the board may have come; -1 where
                the board blocks it.
            wins: the row's path holds the better hand.
            ties: both are as good; every such pair counts both ways round.
        """
        num_boards, num_hands = _check_deals(boards, hole_cards)
        check_array("weights", weights, np.int64, (num_boards,))
        check_axes("paths", paths, 3)
        check_array("paths", paths, np.int32, (num_boards, paths.shape[1], num_hands))
        check_axes("wins", wins, 2)
        for name, out in (("wins", wins), ("ties", ties)):
            check_array(name, out, np.int64, (wins.shape[0], wins.shape[0]), is_written=True)
        is_blocked = (hole_cards[None, :, :, None] == boards[:, None, None, :]).any(axis=(2, 3))
        check_range("paths", paths, np.where(is_blocked, -1, 0)[:, None, :], wins.shape[0])
        _native.accumulate_joint_counts(
            self._evaluator, hole_cards=hole_cards, boards=boards, paths=paths, weights=weights, wins=wins, ties=ties
        )


def _check_deals(boards: CardArray, hole_cards: CardArray) -> tuple[int, int]:
    """Checks complete boards `[B, 5]` and hole cards `[H, 2]`; returns how many there are."""
    check_axes("boards", boards, 2)
    check_axes("hole_cards", hole_cards, 2)
    num_boards, num_hands = boards.shape[0], hole_cards.shape[0]
    check_integer("number of hole cards", num_hands, 0, MAX_HANDS)
    _check_cards("boards", boards, (num_boards, 5))
    _check_cards("hole_cards", hole_cards, (num_hands, 2))
    return num_boards, num_hands


def _check_cards(name: str, cards: CardArray, shape: tuple[int, ...]) -> None:
    check_array(name, cards, np.uint8, shape)
    if cards.size and int(cards.max()) >= NUM_CARDS:
        raise ValueError(f"{name} must be 0 to {NUM_CARDS - 1}, got {int(cards.max())}")
