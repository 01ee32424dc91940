# SPDX-License-Identifier: Apache-2.0
"""Two hands that are shown down without more bets: how often each wins over every board that may come.

From the flop on boards are listed when asked; before it there is a table of all pairs. The full deck's comes with the
package, others are made once and kept on disk.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.cache import CacheFile
from equipoise.core.checkpoint import Kind, load, save
from equipoise.games.holdem.cards import FULL_DECK, Deck, format_deck
from equipoise.games.holdem.dealing import FULL_BOARD, HAND_SIZE, list_completions
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import canonical_sets, hand_permutation, suit_permutations
from equipoise.games.holdem.strength import evaluate_boards, hand_kernel

__all__ = ["PairCounts", "PairOdds", "count_pairs", "find_pair_odds", "load_or_build_pair_wins", "num_pair_boards"]

FORMAT_VERSION: Final = 1  # raised whenever the meaning of the array changes
CHUNK: Final = 4096  # boards between two reports
SHIPPED: Final = Path(__file__).with_name("pair_wins.eq")

WinArray = npt.NDArray[np.int32]


class PairOdds(NamedTuple):
    """How two hands do against each other."""

    first: float  # probability that the first hand wins
    second: float
    tie: float


def find_pair_odds(first: int, second: int, board: tuple[int, ...], deck: Deck, *, num_board_cards: int) -> PairOdds:
    """Returns how two hands do over all boards of so many cards that begin with the one given.

    Args:
        first: number of a hand of the deck.
        second: number of a hand that shares no card with it.
        board: cards that lie there already.
        deck: the cards in play.
        num_board_cards: of the showdown, 3 to 5.
    """
    if not board:
        wins = _kept_pair_wins(deck, num_board_cards)
        total = num_pair_boards(board, deck, num_board_cards=num_board_cards)
        won, lost = int(wins[first, second]), int(wins[second, first])
        return PairOdds(won / total, lost / total, (total - won - lost) / total)
    hands = hands_of(deck)
    pair = np.concatenate([hands.cards[first], hands.cards[second]])
    boards = list_completions(board, deck, num_cards=num_board_cards, without=pair.tolist())
    kernel = hand_kernel(deck)
    strengths = [
        kernel.evaluate_hands(np.ascontiguousarray(np.hstack([np.broadcast_to(own, (len(boards), 2)), boards])))
        for own in (pair[:2], pair[2:])
    ]
    ahead, behind = (float(np.mean(strengths[own] > strengths[1 - own])) for own in (0, 1))
    return PairOdds(ahead, behind, 1.0 - ahead - behind)


class PairCounts(NamedTuple):
    """How pairs of some hands do over all boards that may come, n hands."""

    wins: npt.NDArray[np.int64]  # [n, n] on how many the row's hand beats the column's, as if no card were shared
    masks: npt.NDArray[np.uint64]  # [n] cards of the hands
    num_boards: int  # that two hands leave

    @property
    def ahead(self) -> npt.NDArray[np.int64]:
        """Returns `[n, n]` wins less losses of the row's hand; 0 where a card is shared."""
        return np.where((self.masks[:, None] & self.masks[None, :]) == 0, self.wins - self.wins.T, 0)


def num_pair_boards(board: Sequence[int], deck: Deck = FULL_DECK, *, num_board_cards: int = FULL_BOARD) -> int:
    """Returns how many boards may come if two hands are known.

    >>> num_pair_boards((0, 4, 8, 12)), num_pair_boards((0, 4, 8))
    (44, 990)
    """
    return math.comb(deck.num_cards - 2 * HAND_SIZE - len(board), num_board_cards - len(board))


def count_pairs(
    board: Sequence[int], deck: Deck = FULL_DECK, *, hands: npt.NDArray[Any], num_board_cards: int = FULL_BOARD
) -> PairCounts:
    """Returns how pairs of hands do over all boards that begin with the one given.

    Args:
        board: cards that lie there already.
        deck: the cards in play.
        hands: `[n]` numbers of hands that the board leaves, in any order.
        num_board_cards: of the showdown, 3 to 5.
    """
    if board:
        boards = list_completions(board, deck, num_cards=num_board_cards)
        wins = np.zeros((hands.size, hands.size), np.int64)
        _add_wins(boards, np.ones(len(boards), np.int64), hands, deck, wins)
    else:
        wins = load_or_build_pair_wins(deck, num_board_cards)[np.ix_(hands, hands)].astype(np.int64)
    num_boards = num_pair_boards(board, deck, num_board_cards=num_board_cards)
    return PairCounts(wins, hands_of(deck).masks[hands], num_boards)


def _add_wins(
    boards: npt.NDArray[np.uint8],
    counts: npt.NDArray[np.int64],
    hands: npt.NDArray[Any],
    deck: Deck,
    out: npt.NDArray[np.int64],
) -> None:
    """Adds into `out` `[n, n]` the counts `[B]` of boards `[B, 3..5]` on which the row's hand beats the column's."""
    if boards.shape[1] == FULL_BOARD:
        cards = np.ascontiguousarray(hands_of(deck).cards[hands])
        hand_kernel(deck).accumulate_pair_wins(boards, counts.astype(np.uint8), cards, out)
        return
    for strength, count in zip(evaluate_boards(boards, deck)[:, hands], counts.tolist(), strict=True):
        out += count * ((strength[:, None] > strength[None, :]) & (strength[None, :] > 0))


@functools.lru_cache(4)
def _kept_pair_wins(deck: Deck, num_board_cards: int) -> WinArray:
    return load_or_build_pair_wins(deck, num_board_cards)


def load_or_build_pair_wins(
    deck: Deck,
    num_board_cards: int = FULL_BOARD,
    *,
    on_progress: Callable[[float], None] | None = None,
    directory: Path | None = None,
) -> WinArray:
    """Returns `[H, H]` on how many boards the row's hand beats the column's; 0 where they share a card.

    Boards of five cards from the full deck are at hand; others take seconds, unless they are in the cache.

    Args:
        deck: the cards in play.
        num_board_cards: of a board, 3 to 5.
        on_progress: called now and then with the share done.
        directory: where the table is kept; `default_cache_directory()` if None.
    """
    if deck == FULL_DECK and num_board_cards == FULL_BOARD:
        return read_shipped()
    name = f"pair-wins-{format_deck(deck)}-{num_board_cards}".replace("/", "-")
    identity = {
        "table": "pair wins",
        "format_version": FORMAT_VERSION,
        "deck": format_deck(deck),
        "cards": num_board_cards,
    }
    file = CacheFile(Kind.TABLE, name, identity, directory=directory)
    parts = file.read()
    if parts is not None:
        kept: WinArray = parts["wins"]
        return kept
    return file.fill(lambda: _build(deck, num_board_cards, on_progress), lambda wins: {"wins": wins})


def read_shipped() -> WinArray:
    """Returns the table of the full deck, which lists pairs that differ by suits' names once."""
    content = load(SHIPPED, Kind.TABLE).arrays
    wins: WinArray = content["wins"].astype(np.int32)[_find_orbits(FULL_DECK)]
    return wins


def write_shipped() -> None:
    """Makes the table of the full deck anew; called by hand, should the package ever need it."""
    orbits, wins = _find_orbits(FULL_DECK), _build(FULL_DECK, FULL_BOARD, None)
    _, first = np.unique(orbits, return_index=True)
    save(SHIPPED, Kind.TABLE, {"table": "pair wins by orbit"}, {"wins": wins.reshape(-1)[first].astype(np.uint32)})


def _find_orbits(deck: Deck) -> npt.NDArray[np.int64]:
    """Returns `[H, H]` numbers of pairs of hands, the same for those that differ by suits' names alone."""
    images = [hand_permutation(permutation, deck).astype(np.int64) for permutation in suit_permutations(deck)]
    least = functools.reduce(np.minimum, (image[:, None] * deck.num_hands + image[None, :] for image in images))
    orbits: npt.NDArray[np.int64] = np.unique(least, return_inverse=True)[1].reshape(least.shape)
    return orbits


def _build(deck: Deck, num_board_cards: int, on_progress: Callable[[float], None] | None) -> WinArray:
    hands = hands_of(deck)
    permutations = suit_permutations(deck)
    boards, counts = canonical_sets(deck.cards, num_board_cards, permutations)
    wins = np.zeros((hands.num_hands, hands.num_hands), np.int64)
    for begin in range(0, len(boards), CHUNK):
        part = slice(begin, begin + CHUNK)
        _add_wins(boards[part], counts[part], np.arange(hands.num_hands), deck, wins)
        if on_progress is not None:
            on_progress(min(begin + CHUNK, len(boards)) / len(boards))
    # a board stands for all that differ by suits' names: the mean over relabellings gives each pair its share
    images = [hand_permutation(permutation, deck) for permutation in permutations]
    total = sum(wins[np.ix_(image, image)] for image in images) // len(images)
    is_apart = (hands.masks[:, None] & hands.masks[None, :]) == 0
    return np.where(is_apart, total, 0).astype(np.int32)
