# SPDX-License-Identifier: Apache-2.0
"""Tartanian7, which won the no-limit competition of 2014 (thesis, section 6.1).

No search: flops are put together by what lies on the table, hands within each cluster of flops have buckets of their
own, and a hand stays in its cluster to the river. What is played is pure; bets that the blueprint lacks are translated.

A head with the street before the flop and workers with clusters of flops train it, one message each way an iteration
(`train blueprint tartanian7 --workers N`).

Not here: buckets that are made anew in each cluster.
"""

from __future__ import annotations

from typing import Final

from equipoise.abstraction.blueprints import BlueprintSpec
from equipoise.agents.bots.machine import Machine
from equipoise.agents.holdem.blueprint import Sharpening
from equipoise.games.holdem.betting import Street

__all__ = ["TARTANIAN7"]

WIDE: Final = "50%, 100%, a / 100%, a; cap: 4"

TARTANIAN7: Final = Machine(
    name="tartanian7",
    title="buckets within clusters of flops, pure play, odd bets taken for known ones",
    sizes={
        "minutes": (BlueprintSpec(menu="100%, a; cap: 3", buckets=(10, 10, 10), clusters=6),),
        "cpu": (BlueprintSpec(menu=WIDE, buckets=(50, 50, 50), clusters=20),),
        "paper": (
            BlueprintSpec(
                menu="33%, 66%, 100%, 200%, a / 50%, 100%, a; cap: 5",
                abstraction="percentile",
                buckets=(500, 500, 500),
                clusters=60,
            ),
        ),
    },
    sharpening=Sharpening(purified_from=Street.PREFLOP),
)
