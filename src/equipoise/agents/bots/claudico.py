# SPDX-License-Identifier: Apache-2.0
"""Claudico, which lost to four professionals in 2015 by less than can be told from luck (thesis, section 6.2).

A blueprint for each seat, the small blind's with more buckets, in which the opponent has more bets than the machine.
When the river comes, what is left is solved once, in the blueprint's buckets; bets that were not thought of then are
taken for those that were. That is the weakness which later machines were built to do without.

Not here: training spread over flops of clusters, which it had from Tartanian7.
"""

from __future__ import annotations

from typing import Final

from equipoise.abstraction.blueprints import BlueprintSpec
from equipoise.agents.bots.machine import Machine, uneven_menu
from equipoise.agents.holdem.rounds import RoundSearch
from equipoise.games.holdem.betting import Street

__all__ = ["CLAUDICO"]

FEW: Final = "50%, 100%, a / 100%, a"
MANY: Final = "33%, 66%, 100%, 200%, a / 100%, a"

CLAUDICO: Final = Machine(
    name="claudico",
    title="a blueprint for each seat, the river solved once in buckets, odd bets taken for known ones",
    sizes={
        "minutes": tuple(
            BlueprintSpec(menu=uneven_menu(seat, "100%, a", FEW, cap=3), buckets=(50, 50, 50)) for seat in (0, 1)
        ),
        "cpu": tuple(
            BlueprintSpec(menu=uneven_menu(seat, FEW, MANY, cap=4), buckets=(200, 200, size))
            for seat, size in enumerate((400, 600))
        ),
        "paper": tuple(
            BlueprintSpec(menu=uneven_menu(seat, FEW, MANY, cap=4), buckets=(size, size, size))
            for seat, size in enumerate((60_000, 90_000))
        ),
    },
    rounds=RoundSearch(
        first_street=Street.RIVER,
        to_end_from=Street.RIVER,
        off_tree_players=0,
        menu=MANY + "; cap: 4",
        crowded={},
        adds_bets=False,
        is_solved_once=True,
        in_buckets=True,
        iterations=200,
    ),
)
