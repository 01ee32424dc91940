# SPDX-License-Identifier: Apache-2.0
"""What players call the hands that a board makes: top pair, set, flush draw. Names for people, not strengths.

The first name that fits counts. From straight flush to straight, and for trips, all cards count, also where the board
alone makes the hand; pairs need a card of the own: a pair on the board is everybody's and has no name. Two pair is one
of each own card; a pair in hand is a set with a third card, an overpair above all cards of the board, an underpair
between its highest and second rank, else a low pair. Draws need one card more, and an own card that takes part; whoever
has a straight or better draws to no straight, a flush or better to no flush. Nothing is drawn to on the river.
"""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import RANKS, Deck
from equipoise.games.holdem.hands import hands_of

__all__ = ["CLASSES", "DRAWS", "HandClasses", "classify_hands"]

CLASSES: Final = (
    "straight flush",
    "four of a kind",
    "full house",
    "flush",
    "straight",
    "set",
    "trips",
    "two pair",
    "overpair",
    "top pair",
    "underpair",
    "second pair",
    "low pair",
    "ace high",
    "no pair",
)  # the first that fits counts
DRAWS: Final = ("flush draw", "open-ended", "gutshot", "none")
STRAIGHT: Final = 5  # cards; as many of a suit are a flush
ACE: Final = len(RANKS) - 1

BoolArray = npt.NDArray[np.bool_]


class HandClasses(NamedTuple):
    """Classes and draws of all hands of a deck on a board."""

    classes: npt.NDArray[np.int8]  # [H] into CLASSES
    draws: npt.NDArray[np.int8]  # [H] into DRAWS


@functools.lru_cache(1024)
def classify_hands(board: tuple[int, ...], deck: Deck) -> HandClasses:
    """Returns what every hand is on a board of at least three cards; what blocked hands get means nothing."""
    cards = hands_of(deck).cards.astype(np.int64)
    ranks, suits = cards // 4, cards % 4
    # [H, 4, 13] which cards there are
    there = np.zeros((len(cards), 4, len(RANKS)), np.bool_)
    rows = np.arange(len(cards))
    for column in (0, 1):
        there[rows, suits[:, column], ranks[:, column]] = True
    for card in board:
        there[:, card % 4, card // 4] = True
    counts, has_rank = there.sum(axis=1), np.asarray(there.any(axis=1))
    num_suited = there.sum(axis=2)
    windows = _straights(deck)
    is_straight = (_count_in(has_rank, windows) == STRAIGHT).any(axis=1)
    is_flush = (num_suited >= STRAIGHT).any(axis=1)
    straights_by_suit = [_count_in(there[:, suit], windows) == STRAIGHT for suit in range(4)]
    is_straight_flush = np.any([found.any(axis=1) for found in straights_by_suit], axis=0)
    is_quads = (counts == 4).any(axis=1)
    is_full = (counts >= 3).any(axis=1) & ((counts >= 2).sum(axis=1) >= 2)
    has_trips = (counts == 3).any(axis=1)
    made = {
        "straight flush": is_straight_flush,
        "four of a kind": is_quads,
        "full house": is_full,
        "flush": is_flush,
        "straight": is_straight & ~has_trips if deck.trips_beat_straight else is_straight,
        **_name_pairs(ranks, counts, board),
    }
    classes = np.argmax(np.stack([made[name] for name in CLASSES]), axis=0).astype(np.int8)
    draws = np.full(len(cards), DRAWS.index("none"), np.int8)
    if len(board) < Street.RIVER.num_board_cards:
        own_suit = np.stack([(suits == suit).any(axis=1) for suit in range(4)], axis=1)
        is_above_flush = is_quads if deck.flush_beats_full_house else is_quads | is_full
        is_above_straight = is_quads | is_full | is_flush
        if deck.trips_beat_straight:
            is_above_straight |= has_trips
        draws_to_flush = ((num_suited == STRAIGHT - 1) & own_suit).any(axis=1) & ~is_flush & ~is_above_flush
        num_outs = _count_outs(has_rank, windows, board)
        is_open = ~is_straight & ~is_above_straight
        fits = np.stack([draws_to_flush, is_open & (num_outs >= 2), is_open & (num_outs == 1), np.ones_like(is_open)])
        draws = np.argmax(fits, axis=0).astype(np.int8)
    return HandClasses(classes, draws)


def _name_pairs(
    ranks: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], board: tuple[int, ...]
) -> dict[str, BoolArray]:
    """Returns `[H]` by name which hands are pairs of what kind, or less."""
    on_board = sorted({card // 4 for card in board}, reverse=True)
    top, second = on_board[0], on_board[1] if len(on_board) > 1 else -1
    is_pocket = ranks[:, 0] == ranks[:, 1]
    own = np.stack([counts[np.arange(len(ranks)), ranks[:, column]] for column in (0, 1)], axis=1)
    pairs_top, pairs_second = (((ranks == rank) & (own == 2)).any(axis=1) & ~is_pocket for rank in (top, second))
    return {
        "set": is_pocket & (own[:, 0] == 3),
        "trips": (counts == 3).any(axis=1),
        "two pair": ~is_pocket & (own == 2).all(axis=1),
        "overpair": is_pocket & (ranks[:, 0] > top),
        "top pair": pairs_top,
        "underpair": is_pocket & (ranks[:, 0] < top) & (ranks[:, 0] > second),
        "second pair": pairs_second,
        "low pair": is_pocket | (own == 2).any(axis=1),
        "ace high": (ranks == ACE).any(axis=1),
        "no pair": np.ones(len(ranks), np.bool_),
    }


def _straights(deck: Deck) -> npt.NDArray[np.int64]:
    """Returns `[straights, 5]` the ranks of straights: neighbours in the deck, the ace also below the lowest rank."""
    ranks = sorted(RANKS.index(rank) for rank in deck.ranks)
    if ACE in ranks:
        ranks = [ACE, *ranks]
    runs = [ranks[first : first + STRAIGHT] for first in range(len(ranks) - STRAIGHT + 1)]
    found = [run for run in runs if len(set(run)) == STRAIGHT]
    return np.array(found, np.int64).reshape(-1, STRAIGHT)


def _count_in(has_rank: BoolArray, windows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Returns `[H, straights]` how many ranks of each straight there are."""
    found: npt.NDArray[np.int64] = has_rank[:, windows].sum(axis=2)
    return found


def _count_outs(has_rank: BoolArray, windows: npt.NDArray[np.int64], board: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Returns `[H]` how many ranks would make a straight in which an own card stands for a rank the board lacks."""
    on_board = np.zeros((1, len(RANKS)), np.bool_)
    on_board[0, [card // 4 for card in board]] = True
    num_there = _count_in(has_rank, windows)
    is_short = (num_there == STRAIGHT - 1) & (num_there > _count_in(on_board, windows))
    outs = np.zeros(has_rank.shape, np.bool_)
    for window, ranks in enumerate(windows):
        for rank in ranks:
            outs[:, rank] |= is_short[:, window] & ~has_rank[:, rank]
    found: npt.NDArray[np.int64] = outs.sum(axis=1)
    return found
