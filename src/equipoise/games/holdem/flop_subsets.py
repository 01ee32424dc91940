# SPDX-License-Identifier: Apache-2.0
"""Which flops stand for all of them: every one up to the names of suits, or an even spread of a few.

The spread of N: all flops are put in order by suits (three, two, one), then by how many ranks are alike, then from the
highest ranks to the lowest; the flops at the middles of N equal parts of that order, each flop counted as often as it
comes, are taken. Each then stands for the same number of flops, suits and pairs are there as often as they come, and
ranks are spread from top to bottom. Nothing is drawn at random.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from equipoise.core.errors import ParseError
from equipoise.games.holdem.cards import FULL_DECK, RANKS, Deck, parse_board
from equipoise.games.holdem.isomorphism import canonical_sets, find_symmetries
from equipoise.games.holdem.ranges import Range

__all__ = ["BoardChoice", "describe_texture", "list_flops", "parse_boards", "spread_flops"]

SPREAD: Final = re.compile(r"spread[ :(]*([0-9]{1,6})\)?")
SUIT_WORDS: Final = {3: "rainbow", 2: "two-tone", 1: "monotone"}
MOST_BOARDS: Final = 22_100
NOTATION: Final = "boards are a list such as ['Ks7h2d', 'Qs8h3d'], 'all' flops, or 'spread 25' of them"


class BoardChoice(NamedTuple):
    """A board of a report."""

    board: tuple[int, ...]
    num_boards: float  # that it stands for


def describe_texture(board: Sequence[int]) -> str:
    """Returns the first three cards in words.

    >>> describe_texture(parse_board("Ks7s2d")), describe_texture(parse_board("8c8d8h"))
    ('two-tone', 'rainbow trips')
    """
    flop = board[:3]
    num_suits, num_ranks = len({card % 4 for card in flop}), len({card // 4 for card in flop})
    alike = {3: "", 2: " paired", 1: " trips"}[num_ranks]
    return SUIT_WORDS[num_suits] + alike


def list_flops(ranges: Sequence[Range] = (), deck: Deck = FULL_DECK) -> list[BoardChoice]:
    """Returns every flop up to relabellings of suits that leave ranges as they are, highest cards first in each.

    >>> flops = list_flops()
    >>> len(flops), sum(flop.num_boards for flop in flops)
    (1755, 22100.0)
    """
    found, counts = canonical_sets(deck.cards, 3, find_symmetries((), ranges, deck))
    return [
        BoardChoice(tuple(sorted(cards, reverse=True)), float(count))
        for cards, count in zip(found.tolist(), counts.tolist(), strict=True)
    ]


def spread_flops(number: int, ranges: Sequence[Range] = (), deck: Deck = FULL_DECK) -> list[BoardChoice]:
    """Returns so many flops, or fewer if there are no more, evenly spread; the rule is that of this module.

    >>> [describe_texture(flop.board) for flop in spread_flops(4)]
    ['rainbow', 'rainbow paired', 'two-tone', 'two-tone paired']
    """
    flops = sorted(list_flops(ranges, deck), key=_place)
    if number >= len(flops):
        return flops
    counts = np.array([flop.num_boards for flop in flops])
    middles = (np.arange(number) + 0.5) / number * counts.sum()
    taken = np.searchsorted(np.cumsum(counts), middles, side="right")
    stands_for = counts.sum() / number
    places, times = np.unique(taken, return_counts=True)
    return [
        BoardChoice(flops[place].board, float(stands_for * time))
        for place, time in zip(places.tolist(), times.tolist(), strict=True)
    ]


def parse_boards(value: object, ranges: Sequence[Range] = (), deck: Deck = FULL_DECK) -> list[BoardChoice]:
    """Returns the boards that a text or a list names: `all`, `spread 25`, or boards one by one.

    >>> [flop.num_boards for flop in parse_boards("Ks7h2d, Qs8h3d")]
    [1.0, 1.0]
    """
    if isinstance(value, str):
        text = value.strip().lower()
        if text == "all":
            return list_flops(ranges, deck)
        if (match := SPREAD.fullmatch(text)) is not None:
            if not 0 < int(match[1]) <= MOST_BOARDS:
                raise ParseError(f"spread takes 1 to {MOST_BOARDS:,} flops, got {match[1]}")
            return spread_flops(int(match[1]), ranges, deck)
        value = [part for part in re.split(r"[,;]", value) if part.strip()]
    if not isinstance(value, list | tuple) or not value or not all(isinstance(one, str) for one in value):
        raise ParseError(f"{NOTATION}; got {str(value)[:60]!r}")
    boards = [parse_board(text, deck) for text in value]
    empty = [text for text, board in zip(value, boards, strict=True) if not board]
    if empty:
        raise ParseError(f"a board of a report has 3, 4 or 5 cards, got {empty[0]!r}")
    seen = [tuple(sorted(board)) for board in boards]
    twice = [text for place, text in enumerate(value) if seen[place] in seen[:place]]
    if twice:
        raise ParseError(f"boards are different, got {twice[0].strip()!r} twice")
    return [BoardChoice(board, 1.0) for board in boards]


def _place(flop: BoardChoice) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
    """Returns what flops are ordered by."""
    ranks = tuple(sorted(len(RANKS) - card // 4 for card in flop.board))
    num_suits = len({card % 4 for card in flop.board})
    return -num_suits, -len(set(ranks)), ranks, flop.board
