# SPDX-License-Identifier: Apache-2.0
"""Equity: what share of the pot hands win on average if nobody bets again, by listing every board.

Exact for every board size and deck; nothing is sampled. Boards that are the same but for the names of suits, as far as
both ranges do not tell them apart, are evaluated once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr, show_given
from equipoise.games.holdem.cards import FULL_DECK, Deck, check_board, parse_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import canonical_sets, find_symmetries, hand_permutation
from equipoise.games.holdem.ranges import Range, check_ranges, parse_range
from equipoise.games.holdem.strength import hand_kernel

__all__ = ["Equity", "compute_equity"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Equity:
    """Two ranges against each other: sums over boards and over pairs of hands that share no card.

    Sums are weighted by reach; with weights of 0 and 1 they are counts, exact as long as they are below 2**53.

    >>> from equipoise.games.holdem import compute_equity, parse_board, parse_range
    >>> found = compute_equity(parse_range("AA"), parse_range("KK"), parse_board("Kd7h2c5s"))
    >>> [round(share, 3) for share in found.equity]
    [0.045, 0.955]
    """

    deck: Deck
    board: tuple[int, ...]
    reach: FloatArray  # [2, H] weights of both ranges, 0 where the board blocks
    hand_wins: FloatArray  # [2, H] boards times weight of the hands that a hand beats; 0 for hands without weight
    hand_ties: FloatArray  # [2, H] that it ties
    hand_totals: FloatArray  # [2, H] that it meets

    __repr__ = brief_repr

    @property
    def total(self) -> float:
        """The number of showdowns, weighted by both ranges."""
        return float(self.reach[0] @ self.hand_totals[0])

    @property
    def wins(self) -> tuple[float, float]:
        """The showdowns that each side wins."""
        return float(self.reach[0] @ self.hand_wins[0]), float(self.reach[1] @ self.hand_wins[1])

    @property
    def ties(self) -> float:
        """The showdowns that split the pot."""
        return float(self.reach[0] @ self.hand_ties[0])

    @property
    def equity(self) -> tuple[float, float]:
        """The share of the pot that each side wins on average; they sum to 1."""
        first, second = self.wins
        return (first + 0.5 * self.ties) / self.total, (second + 0.5 * self.ties) / self.total

    @property
    def hand_equities(self) -> FloatArray:
        """`[2, H]` the share that each hand of a range wins; NaN for hands without weight or opponent."""
        share = self.hand_wins + 0.5 * self.hand_ties
        is_played = (self.reach > 0) & (self.hand_totals > 0)
        equities: FloatArray = np.full(share.shape, np.nan)
        np.divide(share, self.hand_totals, out=equities, where=is_played)
        return equities


def compute_equity(
    first: Range | str, second: Range | str, board: Sequence[int] | str = (), deck: Deck = FULL_DECK
) -> Equity:
    """Returns how two ranges do against each other on a board of 0, 3, 4 or 5 cards, the rest listed exhaustively.

    A flop takes hundredths of a second, two hands before the flop a tenth, two ranges of classes of hands before the
    flop seconds; only ranges that single out suits before the flop take longer (up to a minute).

    >>> equity = compute_equity("AhAs", "KdKc")
    >>> equity.wins, equity.ties, equity.total
    ((1388072.0, 317694.0), 6538.0, 1712304.0)

    Args:
        first: a range, or its text.
        second: the range it meets.
        board: the cards dealt, or their text.
        deck: the cards in play; ranges given as objects must be of this deck.
    """
    check_board(() if isinstance(board, str) else board, deck)
    dealt = parse_board(board, deck) if isinstance(board, str) else tuple(int(card) for card in board)
    for held in (first, second):
        if not isinstance(held, Range | str):
            raise ConfigError(f"a range is a text such as 'AA, KQs', or parse_range of one, got {show_given(held)}")
    ranges = [parse_range(held, deck) if isinstance(held, str) else held for held in (first, second)]
    if any(held.deck != deck for held in ranges):
        raise ConfigError("both ranges must be of the deck given")
    check_ranges(ranges, dealt)
    ranges = [held.without(dealt) for held in ranges]
    hands = hands_of(deck)
    permutations = find_symmetries(dealt, ranges, deck)
    boards, counts = _list_boards(dealt, ranges, permutations)
    sums = hand_kernel(deck).accumulate_showdowns(
        boards, counts.astype(np.float64), hands.cards, ranges[0].weights, ranges[1].weights
    )
    # a board stands for its class: averaging over the group gives each hand its share of the whole class
    sums = np.mean([sums[:, :, hand_permutation(permutation, deck)] for permutation in permutations], axis=0)
    reach = np.stack([held.weights for held in ranges])
    return Equity(deck, dealt, reach, sums[:, 0], sums[:, 1], sums[:, 2])


def _list_boards(
    dealt: tuple[int, ...], ranges: Sequence[Range], permutations: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Returns complete boards `[B, 5]` and how many each stands for, without those that block a whole range."""
    deck = ranges[0].deck
    masks = hands_of(deck).masks
    # a card that every hand of a range holds cannot come
    held_by_all = [int(np.bitwise_and.reduce(masks[held.weights > 0])) for held in ranges]
    dead = set(dealt) | {card for card in deck.cards if (held_by_all[0] | held_by_all[1]) >> card & 1}
    left = [card for card in deck.cards if card not in dead]
    runouts, counts = canonical_sets(left, 5 - len(dealt), permutations)
    start = np.broadcast_to(np.array(dealt, np.uint8), (len(runouts), len(dealt)))
    return np.ascontiguousarray(np.concatenate([start, runouts], axis=1)), counts
