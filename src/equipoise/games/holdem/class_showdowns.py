# SPDX-License-Identifier: Apache-2.0
"""Every class of hands (AKs, QQ, ...) against every class before the flop, all boards and card removal included.

Exact counts: each canonical board is shown to every pair of hands once, which takes ten seconds for the full deck; the
result is kept on disk.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.cache import CacheFile
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import FULL_DECK, Deck, format_deck
from equipoise.games.holdem.hands import Hands, hands_of
from equipoise.games.holdem.isomorphism import canonical_sets, suit_permutations
from equipoise.games.holdem.strength import hand_kernel

__all__ = ["ClassShowdowns", "load_or_build_class_showdowns"]

FORMAT_VERSION: Final = 1  # raised whenever the meaning of the arrays changes
CHUNK: Final = 4096  # boards between two reports

CountArray = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ClassShowdowns:
    """Counts over the hands of two classes that share no card and over all boards; classes as in `Hands`."""

    deck: Deck
    pairs: CountArray  # [classes, classes] pairs of hands that share no card
    wins: CountArray  # [classes, classes] showdowns that the row's hands win against the column's

    @property
    def num_boards(self) -> int:
        """Number of boards that two hands leave."""
        return math.comb(self.deck.num_cards - 4, 5)

    @property
    def ties(self) -> CountArray:
        """`[classes, classes]` showdowns that split the pot."""
        return self.pairs * self.num_boards - self.wins - self.wins.T

    @property
    def equities(self) -> npt.NDArray[np.float64]:
        """`[classes, classes]` the share of the pot that the row's hands win on average; NaN where none can meet."""
        share = self.wins + 0.5 * self.ties
        equities: npt.NDArray[np.float64] = np.full(share.shape, np.nan)
        np.divide(share, self.pairs * self.num_boards, out=equities, where=self.pairs > 0)
        return equities


def load_or_build_class_showdowns(
    deck: Deck = FULL_DECK,
    *,
    on_progress: Callable[[float], None] | None = None,
    directory: Path | None = None,
) -> ClassShowdowns:
    """Returns the showdowns of a deck's classes of hands, from the cache if they are there.

    Args:
        deck: the cards in play.
        on_progress: called now and then with the share done.
        directory: where the table is kept; `default_cache_directory()` if None.
    """
    if deck.num_cards < 9:
        raise ConfigError(f"two hands and a board need 9 cards, the deck has {deck.num_cards}")
    identity = {"table": "class showdowns", "format_version": FORMAT_VERSION, "deck": format_deck(deck)}
    file = CacheFile(Kind.TABLE, f"class-showdowns-{format_deck(deck)}", identity, directory=directory)
    parts = file.read()
    if parts is not None:
        return ClassShowdowns(deck, parts["pairs"], parts["wins"])
    return file.fill(lambda: _build(deck, on_progress), lambda built: {"pairs": built.pairs, "wins": built.wins})


def _build(deck: Deck, on_progress: Callable[[float], None] | None) -> ClassShowdowns:
    hands = hands_of(deck)
    kernel = hand_kernel(deck)
    boards, counts = canonical_sets(deck.cards, 5, suit_permutations(deck))
    wins = np.zeros((hands.num_hands, hands.num_hands), np.int64)
    for begin in range(0, len(boards), CHUNK):
        part = slice(begin, begin + CHUNK)
        kernel.accumulate_pair_wins(boards[part], counts[part].astype(np.uint8), hands.cards, wins)
        if on_progress is not None:
            on_progress(min(begin + CHUNK, len(boards)) / len(boards))
    is_apart = (hands.masks[:, None] & hands.masks[None, :]) == 0
    # relabelling suits maps a class to itself: summed over classes, a canonical board counts for all it stands for
    return ClassShowdowns(deck, _sum_classes(hands, is_apart.astype(np.int64)), _sum_classes(hands, wins * is_apart))


def _sum_classes(hands: Hands, table: CountArray) -> CountArray:
    """Returns `[classes, classes]` the sums of a table `[H, H]` over the hands of both classes."""
    size = len(hands.class_names)
    sums = np.zeros((size, size), np.int64)
    np.add.at(sums, (hands.classes[:, None], hands.classes[None, :]), table)
    return sums
