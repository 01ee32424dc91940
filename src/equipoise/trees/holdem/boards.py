# SPDX-License-Identifier: Apache-2.0
"""The boards of a hold'em tree, street by street, and the hands that each leaves, as arrays.

Cards that differ only by the names of suits, given the spot's board and ranges, share one board. Boards are listed
first, which is cheap and says how much the rest takes; nothing here knows of betting.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import Deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import (
    CardArray,
    canonical_sets,
    find_stabilizers,
    hand_permutation,
)
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.strength import evaluate_boards
from equipoise.kernels.holdem.arrays import TILE

__all__ = ["BoardLevel", "HandArrays", "SuitGroups", "count_next_boards", "deal_boards", "fill_hands", "first_level"]

IntArray = npt.NDArray[np.int32]
CountArray = npt.NDArray[np.int64]

NOTHING: Final = -1
CHUNK_NUMBERS: Final = 1 << 22  # of boards by hands looked at together
LAST_PLACE: Final = np.iinfo(np.uint16).max  # sorts behind every strength and every hand


class SuitGroups:
    """The groups of relabellings that boards leave, each once."""

    def __init__(self, deck: Deck, root: CardArray) -> None:
        self.deck = deck
        self.groups: list[CardArray] = [root]  # the root's first
        self._numbers = {root.tobytes(): 0}

    def number(self, group: CardArray) -> int:
        """Returns the number of a group, which is new if it was not seen before."""
        number = self._numbers.setdefault(group.tobytes(), len(self.groups))
        if number == len(self.groups):
            self.groups.append(group)
        return number

    def first_hands(self) -> npt.NDArray[np.uint16]:
        """Returns `[G, H]` the lowest hand that each hand is the same as under each group."""
        rows = [np.min([hand_permutation(row, self.deck) for row in group], axis=0) for group in self.groups]
        return np.array(rows, np.uint16)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class BoardLevel:
    """All boards of a street."""

    cards: CardArray  # [B, cards] the lowest of those that differ by suits' names alone
    above: CountArray  # [B] place of the board that each follows in the level above
    num_images: CountArray  # [B] boards that each stands for, suits relabelled
    group: CountArray  # [B] number of the relabellings that leave it, and all that came before, as it is
    num_hands: CountArray  # [B, 2] hands of each player's range that it leaves

    @property
    def num_boards(self) -> int:
        """Returns the number of boards."""
        return int(self.cards.shape[0])

    @property
    def num_cards(self) -> int:
        """Returns the cards of each board."""
        return int(self.cards.shape[1])

    @property
    def num_new_cards(self) -> int:
        """Returns how many cards are dealt next."""
        street = next(street for street in Street if street.num_board_cards == self.num_cards)
        return Street(street + 1).num_board_cards - self.num_cards

    @property
    def num_rows(self) -> CountArray:
        """Returns `[B, 2]` the hands of each player, padded to whole tiles."""
        rows: CountArray = -(-self.num_hands // TILE) * TILE
        return rows


def first_level(spot: HoldemSpot) -> BoardLevel:
    """Returns the level of the spot's own board."""
    cards = np.array(spot.board, np.uint8).reshape(1, -1)
    zero = np.zeros(1, np.int64)
    return BoardLevel(cards, zero, zero + 1, zero, _count_hands(spot, cards))


def count_next_boards(spot: HoldemSpot, level: BoardLevel, groups: SuitGroups) -> int:
    """Returns a number of boards that at least follow a level: no class of cards is larger than its group."""
    num_sets = math.comb(spot.deck.num_cards - level.num_cards, level.num_new_cards)
    counts = np.bincount(level.group, minlength=len(groups.groups))
    return sum(int(count) * -(-num_sets // len(group)) for count, group in zip(counts, groups.groups, strict=True))


def deal_boards(spot: HoldemSpot, level: BoardLevel, groups: SuitGroups) -> BoardLevel:
    """Returns the boards that follow those of a level, in their order."""
    cards, above, images, numbers = [], [], [], []
    for board, (dealt, number) in enumerate(zip(level.cards, level.group.tolist(), strict=True)):
        group = groups.groups[number]
        left = sorted(set(spot.deck.cards) - set(dealt.tolist()))
        new, counts = canonical_sets(left, level.num_new_cards, group)
        cards.append(np.hstack([np.broadcast_to(dealt, (len(new), dealt.size)), new]))
        above.append(np.full(len(new), board))
        images.append(counts)
        # cards that the same relabellings leave as they are have the same group
        kinds, kind_of = np.unique(find_stabilizers(group, new), axis=0, return_inverse=True)
        numbers.append(np.array([groups.number(group[fixes]) for fixes in kinds])[kind_of.ravel()])
    joined = np.concatenate(cards).astype(np.uint8)
    return BoardLevel(
        joined, np.concatenate(above), np.concatenate(images), np.concatenate(numbers), _count_hands(spot, joined)
    )


def _count_hands(spot: HoldemSpot, cards: CardArray) -> CountArray:
    counts = np.empty((len(cards), 2), np.int64)
    for some in _chunks(len(cards), spot.deck.num_hands):
        possible = _possible(spot, cards[some])
        for player in (0, 1):
            counts[some, player] = possible[:, spot.live_weights(player) > 0].sum(axis=1)
    return counts


def _possible(spot: HoldemSpot, cards: CardArray) -> npt.NDArray[np.bool_]:
    """Returns `[B, H]` whether boards leave a hand."""
    bits = np.uint64(1) << cards.astype(np.uint64)
    dealt = np.bitwise_or.reduce(bits, axis=1, initial=0)
    possible: npt.NDArray[np.bool_] = (dealt[:, None] & hands_of(spot.deck).masks) == 0
    return possible


def _chunks(num_boards: int, num_hands: int) -> Iterator[slice]:
    step = max(1, CHUNK_NUMBERS // num_hands)
    return (slice(first, min(first + step, num_boards)) for first in range(0, num_boards, step))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HandArrays:
    """Arrays over the hands of all boards, by board and player, each padded to whole tiles; see `HoldemArrays`."""

    number: IntArray  # [X] of the hand in its deck
    cards: npt.NDArray[np.uint8]
    strength: IntArray
    same_hand: IntArray
    parent_row: IntArray
    value_row: IntArray

    @staticmethod
    def allocate(size: int) -> HandArrays:
        """Returns arrays that are not filled yet."""
        return HandArrays(np.empty(size, np.int32), np.empty((size, 2), np.uint8), *np.empty((4, size), np.int32))


def fill_hands(
    spot: HoldemSpot, levels: Sequence[BoardLevel], groups: SuitGroups, *, is_cut: bool = False
) -> HandArrays:
    """Returns the hands of all boards; if levels are cut off before the last street, no hands are compared.

    On the last street hands stand in the order of their strength. On others those that are the same but for the names
    of suits are neighbours: sweeps take their means.
    """
    arrays = HandArrays.allocate(sum(int(level.num_rows.sum()) for level in levels))
    filler = _HandFiller(spot, groups, arrays)
    for level in levels:
        filler.fill(level, is_last=level is levels[-1] and not is_cut)
    return arrays


class _HandFiller:
    """Fills arrays over hands, level by level."""

    def __init__(self, spot: HoldemSpot, groups: SuitGroups, arrays: HandArrays) -> None:
        self.spot, self.arrays = spot, arrays
        self.first_hands = groups.first_hands()
        self.all_cards = hands_of(spot.deck).cards
        self.in_range = [spot.live_weights(player) > 0 for player in (0, 1)]
        self.num_filled = 0
        self.rows_above: list[npt.NDArray[np.int16]] | None = None  # by player, [B, H] of the level above

    def fill(self, level: BoardLevel, *, is_last: bool) -> None:
        num_hands = self.spot.deck.num_hands
        shape = (level.num_boards, num_hands)
        rows = None if is_last else [np.empty(shape, np.int16) for _ in range(2)]
        for some in _chunks(*shape):
            found = self._fill_chunk(level, some, is_last)
            if rows is not None:
                rows[0][some], rows[1][some] = found
        self.rows_above = rows

    def _fill_chunk(self, level: BoardLevel, some: slice, is_last: bool) -> list[npt.NDArray[np.int16]]:
        """Fills the hands of a few boards; returns `[B, H]` by player the row of each hand, or NOTHING."""
        cards, firsts = level.cards[some], self.first_hands[level.group[some]]
        possible = _possible(self.spot, cards)
        strength = evaluate_boards(cards, self.spot.deck) if is_last else None
        keys = firsts if strength is None else strength
        orders, row_of = [], []
        for player in (0, 1):
            is_live = possible & self.in_range[player]
            order = np.argsort(np.where(is_live, keys, LAST_PLACE), axis=1, kind="stable").astype(np.int16)
            places = np.empty_like(order)
            np.put_along_axis(places, order, np.arange(order.shape[1], dtype=np.int16)[None, :], axis=1)
            orders.append(order)
            row_of.append(np.where(is_live, places, np.int16(NOTHING)))
        num_rows = level.num_rows[some]
        starts = self.num_filled + np.cumsum(num_rows).reshape(num_rows.shape) - num_rows
        for player in (0, 1):
            board, row = _spread_rows(num_rows[:, player])
            at = starts[board, player] + row
            # padding repeats the last hand
            hand = orders[player][board, np.minimum(row, level.num_hands[some][board, player] - 1)]
            out = self.arrays
            out.number[at] = hand
            out.cards[at] = self.all_cards[hand]
            out.strength[at] = 0 if strength is None else strength[board, hand]
            out.same_hand[at] = row_of[1 - player][board, hand]
            out.value_row[at] = row_of[player][board, firsts[board, hand]]
            above = row_of if self.rows_above is None else self.rows_above
            out.parent_row[at] = above[player][level.above[some][board], hand]
        self.num_filled += int(num_rows.sum())
        return row_of


def _spread_rows(num_rows: CountArray) -> tuple[CountArray, CountArray]:
    """Returns the board and the row of every row of boards with so many."""
    board = np.repeat(np.arange(num_rows.size), num_rows)
    first = np.cumsum(num_rows) - num_rows
    return board, np.arange(board.size) - first[board]
