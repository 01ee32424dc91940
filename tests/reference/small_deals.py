# SPDX-License-Identifier: Apache-2.0
"""Kuhn and Leduc poker for any number of players as flat betting with listed deals."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem import BettingRules, Street
from equipoise.kernels.blueprints import ListedDeals
from equipoise.trees.holdem.flat_betting import FlatBetting, MenuByPlayers


class ListedGame(NamedTuple):
    """A game whose deals are listed."""

    betting: FlatBetting
    deals: ListedDeals
    num_buckets: npt.NDArray[np.int32]


def list_kuhn(num_players: int) -> ListedGame:
    """Returns Kuhn poker: one card each of one more cards than players, one bet."""
    rules = BettingRules(
        stacks=(9,) * num_players,
        pot=num_players,
        small_blind=0,
        big_blind=1,
        bet_sizes=(1,),
        max_raises=(1,),
        first_street=Street.RIVER,
    )
    cards = np.array(list(itertools.permutations(range(num_players + 1), num_players)), np.uint16)
    deals = ListedDeals(np.ones(len(cards)), np.repeat(cards[:, :, None], 4, axis=2), cards)
    sizes = np.full((num_players, 4), num_players + 1, np.int32)
    return ListedGame(FlatBetting(rules=rules, menus=MenuByPlayers.parse("min")), deals, sizes)


def list_leduc(num_players: int) -> ListedGame:
    """Returns Leduc poker: one more rank than players, two suits, two rounds of at most two bets of 2 and 4."""
    num_ranks = num_players + 1
    rules = BettingRules(
        stacks=(99,) * num_players,
        pot=num_players,
        small_blind=0,
        big_blind=1,
        bet_sizes=(2, 2, 2, 4),
        max_raises=(2,),
        first_street=Street.TURN,
    )
    dealt = np.array(list(itertools.permutations(range(2 * num_ranks), num_players + 1))) // 2
    own, board = dealt[:, :num_players], dealt[:, num_players:]
    rows = np.zeros((len(dealt), num_players, 5), np.uint16)
    rows[:, :, 2], rows[:, :, 3] = own, board * num_ranks + own
    rows[:, :, 4] = np.where(own == board, num_ranks, own)
    alike, counts = np.unique(rows, axis=0, return_counts=True)
    deals = ListedDeals(
        counts.astype(np.float64), np.ascontiguousarray(alike[:, :, :4]), np.ascontiguousarray(alike[:, :, 4])
    )
    sizes = np.tile(np.array([1, 1, num_ranks, num_ranks**2], np.int32), (num_players, 1))
    return ListedGame(FlatBetting(rules=rules, menus=MenuByPlayers.parse("min")), deals, sizes)
