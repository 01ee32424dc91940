# SPDX-License-Identifier: Apache-2.0
"""Hand strength: the share of the hands an opponent may hold that a hand beats at the river, ties half.

`E[HS]` averages it over every way the board may be completed, `E[HS^2]` its square: of two hands with the same mean,
the one that ends up very good or very bad (a draw) has the greater square. All is listed, nothing sampled; sums are
integers. A board is a set of cards here: the order in which they came does not change what may still come.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.cache import CacheFile
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import FULL_DECK, Deck, check_board, format_deck
from equipoise.games.holdem.dealing import list_completions
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import canonical_sets, hand_permutation, suit_permutations
from equipoise.games.holdem.strength import hand_kernel
from equipoise.kernels.buckets import BLOCKED, BoardRows

__all__ = [
    "NUM_SCORES",
    "CanonicalBoards",
    "OnProgress",
    "Strength",
    "StrengthTable",
    "canonical_boards",
    "expected_strength",
    "list_completions",
    "load_or_build_strengths",
    "max_level",
    "strength_levels",
]

NUM_SCORES: Final = 1 << 14  # steps of a strength in tables: finer than any useful number of buckets
STRENGTH_FORMAT_VERSION: Final = 1  # raised whenever the meaning of a table's arrays changes

CardArray = npt.NDArray[np.uint8]
ScoreArray = npt.NDArray[np.uint16]
FloatArray = npt.NDArray[np.float64]
OnProgress = Callable[[float, str], None]  # the share done and what is being done


class Strength(enum.StrEnum):
    """What hands are sorted by.

    >>> Strength("ehs"), [measure.value for measure in Strength]
    (<Strength.EHS: 'ehs'>, ['ehs', 'ehs2'])
    """

    EHS = "ehs"  # mean of the hand strength over all completions of the board
    EHS2 = "ehs2"  # mean of its square


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CanonicalBoards:
    """One board for each class of boards that differ by the names of suits alone, cards in ascending order."""

    deck: Deck
    sets: CardArray  # [boards, cards]
    counts: npt.NDArray[np.int64]  # [boards] how many boards each stands for
    permutations: CardArray  # [G, 4] every relabelling of suits
    hand_images: ScoreArray  # [G, H] hands after each relabelling

    def rows(self, table: ScoreArray) -> BoardRows:
        """Returns a table `[boards, H]` that finds its row for every board."""
        return BoardRows(self.sets, self.permutations, self.hand_images, table)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class StrengthTable:
    """Expected strengths of every hand on every canonical board of a street before the river."""

    boards: CanonicalBoards
    scores: dict[
        Strength, ScoreArray
    ]  # [boards, H] strength times NUM_SCORES - 1, rounded; BLOCKED where the board blocks


@functools.cache
def canonical_boards(deck: Deck, num_cards: int) -> CanonicalBoards:
    """Returns the canonical boards of 0, 3, 4 or 5 cards.

    >>> len(canonical_boards(FULL_DECK, 3).sets), len(canonical_boards(FULL_DECK, 4).sets)
    (1755, 16432)
    """
    permutations = suit_permutations(deck)
    sets, counts = canonical_sets(deck.cards, num_cards, permutations)
    images = np.stack([hand_permutation(permutation, deck) for permutation in permutations]).astype(np.uint16)
    return CanonicalBoards(deck, sets, counts, permutations, images)


def max_level(deck: Deck = FULL_DECK) -> int:
    """Returns the level of a hand that beats everything: twice the hands an opponent may hold at the river.

    >>> max_level()
    1980
    """
    return 2 * math.comb(deck.num_cards - 7, 2)


def strength_levels(boards: npt.ArrayLike, deck: Deck = FULL_DECK) -> ScoreArray:
    """Returns `[B, H]` the strength of every hand on complete boards `[B, 5]` as a level, 0 to `max_level`.

    A level is twice the hands beaten plus the hands tied; `BLOCKED` marks hands that the board blocks.
    """
    return hand_kernel(deck).strength_levels(np.ascontiguousarray(boards, np.uint8), hands_of(deck).cards)


def expected_strength(board: Sequence[int], deck: Deck = FULL_DECK) -> dict[Strength, FloatArray]:
    """Returns `[H]` E[HS] and `[H]` E[HS^2] of every hand on a board of 0, 3, 4 or 5 cards; NaN where it blocks.

    Paper: Davis 2015 (thesis), chapter 3, which takes both from Johanson 2007 (thesis): strength is the share of the
        opponent's hands that a hand beats after the river.
    Symbols: HS -> level / max_level; E[HS], E[HS^2] -> `Strength.EHS`, `Strength.EHS2`.
    Departs from the paper: a tie counts half, where the text says "beats".
    Checked by: tests/abstraction/test_hand_strength.py.

    A flop takes hundredths of a second, no board at all some seconds.

    >>> from equipoise.games.holdem import parse_board, parse_hand
    >>> strength = expected_strength(parse_board("Ks7h2d5cJs"))[Strength.EHS]
    >>> [float(round(strength[parse_hand(hand)], 3)) for hand in ("KhKd", "AhKd", "4c3c")]
    [1.0, 0.902, 0.005]
    """
    check_board(board, deck)
    values = _roll_out(tuple(int(card) for card in board), deck)
    is_blocked = hands_of(deck).blocked(board)
    return {kind: np.where(is_blocked, np.nan, value) for kind, value in values.items()}


def load_or_build_strengths(
    deck: Deck, street: Street, *, on_progress: OnProgress | None = None, directory: Path | None = None
) -> StrengthTable:
    """Returns the expected strengths of a street before the river, from the cache if they are there.

    Args:
        deck: the cards in play.
        street: preflop, flop or turn.
        on_progress: called now and then while building.
        directory: where tables are kept; `default_cache_directory()` if None.
    """
    if street >= Street.RIVER:
        raise ConfigError("strengths at the river are computed board by board: see strength_levels")
    name = street.name.lower()
    identity = {
        "table": "expected hand strength",
        "format_version": STRENGTH_FORMAT_VERSION,
        "num_scores": NUM_SCORES,
        "deck": format_deck(deck),
        "street": name,
    }
    boards = canonical_boards(deck, street.num_board_cards)
    file = CacheFile(Kind.TABLE, f"strength-{format_deck(deck)}-{name}", identity, directory=directory)
    parts = file.read()
    if parts is not None:
        return StrengthTable(boards, {kind: parts[kind] for kind in Strength})
    return file.fill(
        lambda: _build_strengths(boards, name, on_progress),
        lambda table: {str(kind): scores for kind, scores in table.scores.items()},
    )


def _build_strengths(boards: CanonicalBoards, name: str, on_progress: OnProgress | None) -> StrengthTable:
    hands, deck = hands_of(boards.deck), boards.deck
    shape = (len(boards.sets), hands.num_hands)
    scores = {kind: np.full(shape, BLOCKED, np.uint16) for kind in Strength}
    for row, board in enumerate(boards.sets):
        is_live = ~hands.blocked(board.tolist())
        for kind, value in _roll_out(tuple(board.tolist()), deck).items():
            scores[kind][row, is_live] = np.floor(value[is_live] * (NUM_SCORES - 1) + 0.5)
        if on_progress is not None and row % 16 == 0:
            on_progress(row / len(boards.sets), f"strengths of the {name}")
    return StrengthTable(boards, scores)


def _roll_out(board: tuple[int, ...], deck: Deck) -> dict[Strength, FloatArray]:
    """Returns the expected strengths of all hands; means nothing where the board blocks them."""
    hands = hands_of(deck)
    kernel = hand_kernel(deck)
    if board:
        boards = list_completions(board, deck)
        totals = kernel.accumulate_levels(boards, np.ones(len(boards), np.int64), hands.cards)
        sums, squares = (total.astype(np.float64) for total in totals)
    else:
        # hands of a class are relabellings of each other: their mean over canonical boards is that over all boards
        whole = canonical_boards(deck, 5)
        totals = kernel.accumulate_levels(whole.sets, whole.counts, hands.cards)
        sums, squares = (
            np.bincount(hands.classes, total)[hands.classes] / hands.class_sizes[hands.classes] for total in totals
        )
    num_boards = math.comb(deck.num_cards - 2 - len(board), 5 - len(board))
    most = max_level(deck)
    return {Strength.EHS: sums / (num_boards * most), Strength.EHS2: squares / (num_boards * most**2)}
