# SPDX-License-Identifier: Apache-2.0
"""What the ends of a street are worth against the other's reach: mass by cards at folds, sorted order at showdowns.

Paper: Johanson, Waugh, Bowling & Zinkevich 2011, "Accelerating Best Response Calculation in Large Extensive Games".
Symbols: sums over sorted hands -> prefix; hands that share a card -> rows of a table of cards by hands.
Departs from the paper: one cumulative sum for all hands and one for the hands of each card, for all ends at once.
Checked by: tests/learning/test_device_kernel.py.

Rows are ends, T of them; columns are hands of B subgames, H each with padding, X = B H in all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from equipoise.kernels.buckets import NUM_CARDS
from equipoise.learning.torch_extra import torch

__all__ = ["HandMatch", "Holdings"]

IntArray = npt.NDArray[np.int64]

Side = Literal["left", "right"]
# rows of what is read: hands below, hands up to; likewise among those of a card
SIDES: Final[tuple[tuple[tuple[int, Side], ...], ...]] = ((0, "left"), (3, "right")), ((1, "left"), (4, "right"))
NOISE_BITS: Final = 64  # differences of so many roundings count as nothing: who meets nobody must not play on noise


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Holdings:
    """The hands of one player in one subgame, weakest first where there is a showdown."""

    cards: IntArray  # [n, 2]
    strength: IntArray  # [n]
    same_hand: IntArray  # [n] row of the same cards on the other side, -1 if there is none


class HandMatch:
    """A player's hands against the other's, in all subgames."""

    def __init__(
        self,
        own: Sequence[Holdings],
        other: Sequence[Holdings],
        widths: tuple[int, int],
        *,
        has_showdowns: bool,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        """Lists where sums are read.

        Args:
            own: by subgame.
            other: likewise.
            widths: H of the player and of the other.
            has_showdowns: whether hands are compared.
            device: of the tensors.
            dtype: of reaches and values.
        """
        self.widths, self.num_subgames = widths, len(own)
        held = [np.zeros((len(own), width, NUM_CARDS)) for width in widths]
        same = np.full((len(own), widths[0]), len(own) * widths[1])
        for index, (mine, theirs) in enumerate(zip(own, other, strict=True)):
            for cards, hands in zip(held, (mine, theirs), strict=True):
                cards[index, np.arange(len(hands.cards))[:, None], hands.cards] = 1.0
            is_shared = mine.same_hand >= 0
            same[index, : len(mine.cards)][is_shared] = index * widths[1] + mine.same_hand[is_shared]
        self._own_cards = torch.as_tensor(held[0].transpose(0, 2, 1), device=device, dtype=dtype)  # [B, 52, H]
        self._other_cards = torch.as_tensor(held[1], device=device, dtype=dtype)  # [B, H, 52]
        self._same = torch.as_tensor(same.ravel(), device=device)
        self._noise = NOISE_BITS * torch.finfo(dtype).eps
        if has_showdowns:
            self._sort(own, other, device)

    def count(self, reach: torch.Tensor) -> torch.Tensor:
        """Returns `[ends, X own]` the other's reach `[ends, X other]` that shares no card with each hand."""
        by_subgame = torch.unflatten(reach, 1, (self.num_subgames, -1)).transpose(0, 1)  # [B, ends, H]
        blocked = by_subgame @ self._other_cards @ self._own_cards
        total = by_subgame.sum(2, keepdim=True)
        same = torch.unflatten(_pad(reach).index_select(1, self._same), 1, (self.num_subgames, -1)).transpose(0, 1)
        return self._clean(total - blocked + same, total).transpose(0, 1).flatten(1)

    def compare(self, reach: torch.Tensor) -> torch.Tensor:
        """Returns `[ends, X own]` the other's reach of weaker hands minus that of stronger ones."""
        by_hand = torch.unflatten(reach, 1, (self.num_subgames, -1)).cumsum(2)
        by_card = torch.unflatten(
            _pad(reach).index_select(1, self._card_rows), 1, (self.num_subgames, NUM_CARDS, -1)
        ).cumsum(3)
        sums = torch.cat([by_hand.flatten(1), by_card.flatten(1), reach.new_zeros((len(reach), 1))], 1)
        below, below_1, below_2, upto, upto_1, upto_2, all_1, all_2 = sums.index_select(1, self._reads).chunk(8, 1)
        total = by_hand[..., -1:].expand(-1, -1, self.widths[0]).flatten(1)
        weaker = self._clean(below - below_1 - below_2, total)
        stronger = self._clean((total - upto) - (all_1 - upto_1) - (all_2 - upto_2), total)
        return weaker - stronger

    def _clean(self, rest: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
        return torch.where(rest > total * self._noise, rest, 0.0)

    def _sort(self, own: Sequence[Holdings], other: Sequence[Holdings], device: torch.device) -> None:
        """Lists the hands of each card, and for every own hand which sums it reads."""
        width, num_subgames = self.widths[1], len(own)
        nobody = num_subgames * width  # the column of padding
        depth = max(1, *(int(np.bincount(hands.cards.ravel(), minlength=1).max(initial=1)) for hands in other))
        rows = np.full((num_subgames, NUM_CARDS, depth), nobody)
        zero = num_subgames * (width + NUM_CARDS * depth)  # where the sum of nothing stands
        reads = np.full((8, num_subgames, self.widths[0]), zero)
        for index, (mine, theirs) in enumerate(zip(own, other, strict=True)):
            begin, count = index * width, len(mine.cards)
            for kind, side in SIDES[0]:
                found = np.searchsorted(theirs.strength, mine.strength, side)
                reads[kind, index, :count] = np.where(found > 0, begin + found - 1, zero)
            for card in range(NUM_CARDS):
                holding = np.flatnonzero((theirs.cards == card).any(1))
                rows[index, card, : len(holding)] = begin + holding
                first = num_subgames * width + (index * NUM_CARDS + card) * depth
                strengths = theirs.strength[holding]
                for place in (0, 1):
                    hands = np.flatnonzero(mine.cards[:, place] == card)
                    for kind, side in SIDES[1]:
                        found = np.searchsorted(strengths, mine.strength[hands], side)
                        reads[kind + place, index, hands] = np.where(found > 0, first + found - 1, zero)
                    reads[6 + place, index, hands] = first + depth - 1
        self._card_rows = torch.as_tensor(rows.ravel(), device=device)
        self._reads = torch.as_tensor(reads.ravel(), device=device)


def _pad(reach: torch.Tensor) -> torch.Tensor:
    """Returns reaches `[ends, X]` with a column of zeros behind."""
    return torch.nn.functional.pad(reach, (0, 1))
