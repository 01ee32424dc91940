# SPDX-License-Identifier: Apache-2.0
"""Two players and ten cards to the flop: all deals are listed, so that what a blueprint is worth is exact."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.hand_strength import CanonicalBoards, canonical_boards
from equipoise.games.holdem.betting import BettingRules, Street
from equipoise.games.holdem.cards import Deck, parse_deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.strength import hand_kernel
from equipoise.kernels.blueprints import CardDeals, ListedDeals
from equipoise.solvers.blueprints.clustered import ClusterGround
from equipoise.solvers.blueprints.exact import BlueprintValues, measure_blueprint
from equipoise.trees.holdem.flat_betting import FlatBetting, MenuByPlayers

__all__ = ["BIG_BLIND", "ReducedHoldem", "Rows", "packed_rows"]

BIG_BLIND: Final = 10
DECK: Final = "tiny"
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Rows = Callable[[int], FloatArray]  # of a decision `[buckets, A]`


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Every deal that differs by more than the names of suits or of cards behind a showdown."""

    weights: FloatArray  # [deals]
    hands: npt.NDArray[np.uint16]  # [deals, 2, 4] of each player: class, and hand on the flop, nothing forgotten
    strengths: npt.NDArray[np.uint16]  # [deals, 2]
    classes: int
    flop_of: IntArray  # [hands on flops] number of the canonical flop
    strong: FloatArray  # [hands on flops] share of the others' hands that it beats there, ties half


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReducedHoldem:
    """A game with buckets on the flop that forget the hand before it, measured by who forgets nothing.

    >>> game = ReducedHoldem(buckets=4)
    >>> game.deals.num_players, game.num_buckets.tolist()[0]
    (2, [25, 4, 1, 1])
    """

    buckets: int  # of the flop, by strength there; 0: hands themselves
    menu: str = "100%; cap: 2"
    stack: int = 600
    clusters: int = 0  # of flops, within each of which there are these buckets; 0: all flops are one

    @property
    def betting(self) -> FlatBetting:
        """Returns the betting."""
        rules = BettingRules(
            stacks=(self.stack,) * 2, small_blind=BIG_BLIND // 2, big_blind=BIG_BLIND, last_street=Street.FLOP
        )
        return FlatBetting(rules=rules, menus=MenuByPlayers.parse(self.menu))

    @property
    def within(self) -> IntArray:
        """Returns `[hands on flops]` the bucket of each, within its cluster."""
        strong = list_deals().strong
        if not self.buckets:
            return np.arange(len(strong))
        order = np.argsort(np.argsort(strong, kind="stable"), kind="stable")
        return order * self.buckets // len(strong)

    @property
    def cluster(self) -> IntArray:
        """Returns `[hands on flops]` the cluster of its flop: flops in their order, in equal parts."""
        flop_of = list_deals().flop_of
        num_flops = int(flop_of.max()) + 1
        return flop_of * max(self.clusters, 1) // num_flops

    @property
    def num_buckets(self) -> npt.NDArray[np.int32]:
        """Returns `[players, 4]` by street."""
        listing = list_deals()
        own = (self.buckets or len(listing.strong)) * max(self.clusters, 1)
        return np.tile(np.array([listing.classes, own, 1, 1], np.int32), (2, 1))

    @property
    def lifted(self) -> IntArray:
        """Returns `[hands on flops]` the bucket that each plays by."""
        size = self.buckets or len(list_deals().strong)
        return self.cluster * size + self.within

    @property
    def deals(self) -> ListedDeals:
        """Returns the deals as training draws them."""
        listing = list_deals()
        hands = listing.hands.copy()
        hands[:, :, 1] = self.lifted[listing.hands[:, :, 1]]
        return ListedDeals(listing.weights, hands, listing.strengths)

    def measure(self, rows: Rows) -> BlueprintValues:
        """Returns what a blueprint is worth in the whole game, where a best response forgets nothing."""
        listing, streets = list_deals(), self.betting.arrays.streets
        exact = ListedDeals(listing.weights, listing.hands, listing.strengths)
        lifted = self.lifted
        return measure_blueprint(self.betting, exact, lambda node: rows(node)[lifted] if streets[node] else rows(node))

    def ground(self) -> ClusterGround:
        """Returns what head and workers train on."""
        deck = parse_deck(DECK)
        hands, flops = hands_of(deck), canonical_boards(deck, 3)
        table, _ = _number_hands(deck, flops)
        within, cluster = self.within, self.cluster
        tables = {0: hands.classes[None].astype(np.uint16), 1: within[table].astype(np.uint16)}
        boards = {0: canonical_boards(deck, 0).sets, 1: flops.sets}
        of_flop = cluster[np.array([row[held][0] for row, held in zip(table, _find_held(deck, flops), strict=True)])]
        every = [np.array(flop, np.uint8) for flop in itertools.combinations(deck.cards, 3)]
        number = flops.rows(np.repeat(np.arange(len(flops.sets), dtype=np.uint16)[:, None], deck.num_hands, axis=1))
        found = of_flop[number.look_up(np.stack(every)).min(axis=1)]
        own = self.num_buckets.copy()
        own[:, 1] //= max(self.clusters, 1)
        return ClusterGround(
            betting=self.betting,
            deals=CardDeals(
                hand_kernel(deck), deck=deck.cards, hole_cards=hands.cards, boards=boards, buckets=[tables] * 2
            ),
            num_buckets=own,
            flops=tuple(
                np.stack([flop for flop, of in zip(every, found, strict=True) if of == one])
                for one in range(max(self.clusters, 1))
            ),
        )


def _number_hands(deck: Deck, flops: CanonicalBoards) -> tuple[IntArray, int]:
    """Returns `[flops, H]` a number of each hand on a flop, equal where names of suits alone differ; and how many.

    Where the flop blocks a hand the number is 0.
    """
    size = deck.num_hands
    ids = np.arange(len(flops.sets) * size).reshape(-1, size)
    out = ids.copy()
    for row, cards in enumerate(flops.sets.tolist()):
        for suits, images in zip(flops.permutations, flops.hand_images, strict=True):
            if sorted(card // 4 * 4 + int(suits[card % 4]) for card in cards) == sorted(cards):
                out[row] = np.minimum(out[row], ids[row][images])
    is_held = _find_held(deck, flops)
    found, numbers = np.unique(out[is_held], return_inverse=True)
    out[:] = 0
    out[is_held] = numbers.reshape(-1)
    return out, len(found)


def _find_held(deck: Deck, flops: CanonicalBoards) -> npt.NDArray[np.bool_]:
    """Returns `[flops, H]` whether a hand can be held there."""
    return np.stack([~hands_of(deck).blocked(flop.tolist()) for flop in flops.sets])


@functools.cache
def list_deals() -> Listing:
    """Returns all 25,200 deals, alike ones together."""
    deck = parse_deck(DECK)
    hands, flops = hands_of(deck), canonical_boards(deck, 3)
    table, num_hands = _number_hands(deck, flops)
    tables = {0: hands.classes[None].astype(np.uint16), 1: table.astype(np.uint16)}
    boards = {0: canonical_boards(deck, 0).sets, 1: flops.sets}
    cards = CardDeals(hand_kernel(deck), deck=deck.cards, hole_cards=hands.cards, boards=boards, buckets=[tables] * 2)
    dealt = [
        (flop, first, second)
        for flop in itertools.combinations(deck.cards, 3)
        for first in itertools.combinations([card for card in deck.cards if card not in flop], 2)
        for second in itertools.combinations([card for card in deck.cards if card not in (*flop, *first)], 2)
    ]
    buckets, strengths = cards.look_up(
        np.array([flop for flop, _, _ in dealt], np.uint8),
        np.array([(first, second) for _, first, second in dealt], np.uint8),
    )
    rank = np.stack([strengths[:, 0] >= strengths[:, 1], strengths[:, 1] >= strengths[:, 0]], axis=1)
    rows, counts = np.unique(np.concatenate([buckets.reshape(-1, 8), rank], axis=1), axis=0, return_counts=True)
    found = np.ascontiguousarray(rows[:, :8].reshape(-1, 2, 4).astype(np.uint16))
    won = rows[:, 8].astype(float) - rows[:, 9] + 1.0  # 2: player 0 wins, 1: a tie
    own = found[:, 0, 1].astype(np.int64)
    met = np.bincount(own, counts, minlength=num_hands)
    strong = np.bincount(own, counts * won / 2, minlength=num_hands) / np.maximum(met, 1)
    flop_of = np.zeros(num_hands, np.int64)
    for flop, (row, held) in enumerate(zip(table, _find_held(deck, flops), strict=True)):
        flop_of[row[held]] = flop
    return Listing(
        weights=counts.astype(np.float64),
        hands=found,
        strengths=np.ascontiguousarray(rows[:, 8:].astype(np.uint16)),
        classes=int(hands.classes.max()) + 1,
        flop_of=flop_of,
        strong=strong,
    )


def packed_rows(
    betting: FlatBetting,
    num_buckets: npt.NDArray[np.int32],
    packed: tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]],
    *,
    is_pure: bool = False,
) -> Rows:
    """Returns what a packed blueprint plays at a decision, uniform where nothing was learnt.

    Args:
        betting: the tree.
        num_buckets: `[players, 4]`.
        packed: as `BlueprintTrainer.pack` returns it.
        is_pure: whether the likeliest action alone is played, the first of equals.
    """
    arrays, (start, cells) = betting.arrays, packed

    def rows(node: int) -> FloatArray:
        _, slot, offset, word = arrays.nodes[node].tolist()
        count, width = word >> 9 & 31, int(arrays.width[slot])
        size, first = int(num_buckets[word >> 4 & 7, word >> 2 & 3]), int(start[slot])
        if first < 0:
            return np.full((size, count), 1.0 / count)
        shares = cells[first : first + size * width].reshape(size, width)[:, offset : offset + count].astype(float)
        totals = shares.sum(axis=1, keepdims=True)
        played = np.eye(count)[shares.argmax(axis=1)] if is_pure else shares / np.maximum(totals, 1.0)
        found: FloatArray = np.where(totals > 0, played, 1.0 / count)
        return found

    return rows
