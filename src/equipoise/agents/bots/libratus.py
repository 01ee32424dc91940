# SPDX-License-Identifier: Apache-2.0
"""Libratus, which beat four professionals heads-up in January 2017 (thesis, section 6.4).

Its blueprint abstracts no cards before the turn and is trained by Monte Carlo CFR that leaves bad actions out with a
probability. When the turn comes, the rest of the hand is solved with the cards themselves: the first time believing the
blueprint's ranges, and again after each action of the opponent by nested Reach-Maxmargin upon the last solve. Own bets
of a hand are scaled by up to 8 percent, up or down.

Not here: sizes of the first actions by optimisation of parameters, and the self-improver. Flops are in buckets in the
sizes that fit an ordinary machine.
"""

from __future__ import annotations

from typing import Final

from equipoise.abstraction.blueprints import BlueprintSpec
from equipoise.agents.bots.machine import Machine
from equipoise.agents.holdem.endgame import EndgameSearch

__all__ = ["LIBRATUS"]

THIN: Final = "100%, a; cap: 3"
WIDE: Final = "50%, 100%, a / 100%, a; cap: 4"
FULL: Final = "25%, 50%, 75%, 100%, 200%, a / 50%, 100%, a; cap: 5"

LIBRATUS: Final = Machine(
    name="libratus",
    title="blueprint to the flop, then nested Reach-Maxmargin without buckets",
    sizes={
        "minutes": (BlueprintSpec(menu=THIN, buckets=(50, 50, 50)),),
        "cpu": (BlueprintSpec(menu=WIDE, buckets=(250, 250, 500)),),
        "paper": (BlueprintSpec(menu=FULL, buckets=(60_000, 60_000, 60_000)),),
    },
    pruning="libratus",
    search=EndgameSearch(),
)
