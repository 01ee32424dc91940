# SPDX-License-Identifier: Apache-2.0
"""Public states of hold'em: a node of the betting and the cards on the board, with all hands of the deck.

What a `VectorTree` says of them follows from the spot and its betting alone, whatever tables lie beside: by board and
hand, by bucket, or none at all.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.holdem.betting_tree import NO_PARENT, BettingTree, NodeKind, betting_tree
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.public import NO_ACTION
from equipoise.trees.joint import CardRemoval

__all__ = ["HoldemPlace", "HoldemPlaces", "HoldemStrategy", "SpotPlaces"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


class HoldemPlace(NamedTuple):
    """A public state of hold'em.

    >>> from equipoise.games.holdem import parse_board
    >>> HoldemPlace(node=0, board=parse_board("Ks7h2d5cJs"))
    HoldemPlace(node=0, board=(47, 22, 1, 12, 39))
    """

    node: int  # of the betting tree
    board: tuple[int, ...]  # cards that lie there, in the order in which they were dealt


class HoldemPlaces:
    """The public states of a spot, as far as no table is asked; hands are numbered as in the deck."""

    __slots__ = ()
    spot: HoldemSpot
    betting: BettingTree

    @property
    def root_place(self) -> HoldemPlace:
        """Returns where the spot begins."""
        return HoldemPlace(0, tuple(self.spot.board))

    def actor_at(self, place: HoldemPlace) -> int:
        """Returns the player to move, `CHANCE` where cards are dealt, else `TERMINAL`."""
        node = self.betting.nodes[place.node]
        if node.kind is NodeKind.DECISION:
            return node.state.actor
        return CHANCE if node.kind is NodeKind.STREET_END else TERMINAL

    def num_private_at(self, place: HoldemPlace, player: int) -> int:
        """Returns the number of hands of the deck."""
        return self.spot.deck.num_hands

    def legal_at(self, place: HoldemPlace) -> npt.NDArray[np.bool_]:
        """Returns `[H, A]` every action for every hand that the board leaves."""
        is_held = ~hands_of(self.spot.deck).blocked(place.board)
        return np.repeat(is_held[:, None], len(self.betting.nodes[place.node].actions), axis=1)

    def way_to(self, place: HoldemPlace) -> list[tuple[HoldemPlace, HoldemPlace]]:
        """Returns the edges from the root to a place, first to last."""
        edges = []
        while (above := self.betting.nodes[place.node].parent) != NO_PARENT:
            num_cards = self.betting.nodes[above].state.street.num_board_cards
            before = HoldemPlace(above, place.board[:num_cards])
            edges.append((before, place))
            place = before
        return edges[::-1]

    def trace_back(self, place: HoldemPlace, player: int) -> tuple[IntArray, IntArray]:
        """Returns `[H]` the hands themselves, and the action that the player took right above, if it did."""
        here = self.betting.nodes[place.node]
        above = self.betting.nodes[here.parent]
        action = NO_ACTION
        if above.kind is NodeKind.DECISION and above.state.actor == player:
            action = above.children.index(here.index)
        num_hands = self.spot.deck.num_hands
        return np.arange(num_hands, dtype=np.int32), np.full(num_hands, action, np.int32)

    def push_reach(
        self,
        above: HoldemPlace,
        below: HoldemPlace,
        player: int,
        reach: FloatArray,
        policy: FloatArray | None = None,
    ) -> FloatArray:
        """Returns `[H]` below an edge a player's reach `[H]` above it, 0 for hands that the board blocks."""
        pushed = reach.copy()
        if policy is not None:
            pushed *= policy[:, self.betting.nodes[above.node].children.index(below.node)]
        pushed[hands_of(self.spot.deck).blocked(below.board)] = 0.0
        return pushed

    def joint_at(self, place: HoldemPlace) -> CardRemoval:
        """Returns which hands can be held together."""
        return CardRemoval(self.spot.deck, place.board)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class SpotPlaces(HoldemPlaces):
    """The public states of a spot, with no table beside them."""

    spot: HoldemSpot
    betting: BettingTree

    @classmethod
    def of(cls, spot: HoldemSpot) -> SpotPlaces:
        """Returns those that a spot's own menu leads to."""
        return cls(spot, betting_tree(spot.betting_rules, spot.menu))


class HoldemStrategy(Protocol):
    """A strategy of hold'em that says of which spot and which bets: what agents and searches play from."""

    @property
    def tree(self) -> HoldemPlaces:
        """Returns the places that it may be asked about."""
        ...

    def probabilities(self, place: HoldemPlace) -> FloatArray:
        """Returns `[H, A]` by hand of the deck; 0 where the board blocks it."""
        ...
