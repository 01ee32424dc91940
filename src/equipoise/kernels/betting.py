# SPDX-License-Identifier: Apache-2.0
"""Betting of two to six players as flat arrays: counted without being built, or built."""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import GameTooLargeError
from equipoise.kernels.arrays import arrays_by_name, check_array, check_axes

__all__ = [
    "MAX_CHIPS",
    "MAX_PLAYERS",
    "NUM_STREETS",
    "BettingArrays",
    "BettingCounts",
    "MenuArrays",
    "build_betting",
    "count_betting",
    "fill_rises",
]

MAX_PLAYERS: Final = 6
NUM_STREETS: Final = 4
MAX_ACTIONS: Final = 31  # of a decision
MAX_CHIPS: Final = 1 << 17  # of a player
NUM_TERMS: Final = 22
MAX_NODES: Final = 2**31 - 1

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MenuArrays:
    """The rules of a hand and its menus by the number of players left."""

    terms: IntArray  # [22] players, first and last street, blinds, ante, pot, limit; stacks [6], bets [4], caps [4]
    sizes: FloatArray  # [sizes, 2] unit and amount
    list_start: IntArray  # [lists + 1] into the sizes
    rounds: IntArray  # [(players + 1) * 8, 4] by players left, street and position: first list, lists, donk list, cap
    menus: FloatArray  # [players + 1, 4] counts actions, merge and force percent, has limps

    def __post_init__(self) -> None:
        check_array("terms", self.terms, np.int32, (NUM_TERMS,))
        num_players = int(self.terms[0])
        check_array("sizes", self.sizes, np.float64, (len(self.sizes), 2))
        check_axes("list_start", self.list_start, 1)
        check_array("list_start", self.list_start, np.int32, self.list_start.shape)
        check_array("rounds", self.rounds, np.int32, ((num_players + 1) * NUM_STREETS * 2, 4))
        check_array("menus", self.menus, np.float64, (num_players + 1, 4))
        longest = int(np.diff(self.list_start).max(initial=0))
        if longest > MAX_ACTIONS - 2:
            raise GameTooLargeError(f"a decision may offer {MAX_ACTIONS - 2} sizes, the menu has {longest} in one list")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BettingCounts:
    """How large a betting tree is.

    A street's subtree is counted wherever it begins, one for each line of bets that leads to it.
    """

    decisions: tuple[int, ...]  # by street
    actions: tuple[int, ...]  # of all decisions, by street
    ends: int  # folds and showdowns
    subtrees: int  # of streets
    side_pots: int  # showdowns of players who have put in unlike amounts
    widest: int  # most actions of a decision

    @property
    def nodes(self) -> int:
        """Returns the number of decisions and ends."""
        return sum(self.decisions) + self.ends


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BettingArrays:
    """A betting tree without cards: children side by side, a street's subtree before what follows it.

    A node is four numbers. Of a decision: first child, slot (subtree times players plus player), place in a row of the
    slot's block. Of an end: chips in the pot or the row of side pots, players left as bits, 0. The fourth packs, from
    the lowest bit on: 2 bits how it ends (0: a decision, 1: fold, 2: showdown, 3: with side pots), 2 street, 3 player,
    1 may fold, 1 may call, 5 actions, 18 chips that whoever acted before has put in.
    """

    nodes: IntArray  # [N, 4]
    width: IntArray  # [slots] actions of all decisions of a slot
    street: npt.NDArray[np.uint8]  # [slots]
    side_pots: IntArray  # [rows, players] chips put in

    @property
    def ending(self) -> IntArray:
        """Returns `[N]` how each node ends the hand; 0 at decisions."""
        return self.nodes[:, 3] & 3

    @property
    def streets(self) -> IntArray:
        """Returns `[N]` the street of each node."""
        return self.nodes[:, 3] >> 2 & 3

    @property
    def player(self) -> IntArray:
        """Returns `[N]` who decides; 0 at ends."""
        return self.nodes[:, 3] >> 4 & 7

    @property
    def num_actions(self) -> IntArray:
        """Returns `[N]` how many actions a decision has; 0 at ends."""
        return self.nodes[:, 3] >> 9 & 31

    @property
    def amount(self) -> IntArray:
        """Returns `[N]` the chips that whoever acted before has put in."""
        return self.nodes[:, 3] >> 14 & (1 << 18) - 1


def count_betting(menus: MenuArrays) -> BettingCounts:
    """Returns how large the tree is, without building it: subtrees that begin alike are counted once."""
    decisions, actions, ends, subtrees, side_pots, widest = _native.count_betting(
        _native.BettingMenus(arrays_by_name(menus))
    )
    return BettingCounts(
        decisions=tuple(decisions),
        actions=tuple(actions),
        ends=ends,
        subtrees=subtrees,
        side_pots=side_pots,
        widest=widest,
    )


def build_betting(menus: MenuArrays, counts: BettingCounts) -> BettingArrays:
    """Returns the tree that was counted."""
    num_players = int(menus.terms[0])
    if counts.nodes > MAX_NODES or counts.subtrees * num_players > MAX_NODES:
        raise GameTooLargeError(f"a betting tree holds {MAX_NODES:,} nodes, this one has {counts.nodes:,}")
    num_slots = counts.subtrees * num_players
    nodes, width = np.empty((counts.nodes, 4), np.int32), np.empty(num_slots, np.int32)
    side_pots = np.zeros((counts.side_pots, num_players), np.int32)
    bound = _native.BettingMenus(arrays_by_name(menus))
    _native.build_betting(bound, nodes=nodes, width=width, side_pots=side_pots)
    street = np.zeros(num_slots, np.uint8)
    is_decision = (nodes[:, 3] & 3) == 0
    street[nodes[is_decision, 1]] = nodes[is_decision, 3] >> 2 & 3
    return BettingArrays(nodes=nodes, width=width, street=street, side_pots=side_pots)


def fill_rises(betting: BettingArrays) -> IntArray:
    """Returns `[N]` the most chips that may be in the pot at an end below each node."""
    out = np.empty(len(betting.nodes), np.int32)
    _native.fill_rises(nodes=betting.nodes, side_pots=betting.side_pots, out=out)
    return out
