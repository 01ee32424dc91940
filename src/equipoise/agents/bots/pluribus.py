# SPDX-License-Identifier: Apache-2.0
"""Pluribus, which beat professionals at tables of six in 2019 (thesis, section 6.6).

Its blueprint is trained by linear Monte Carlo CFR that leaves bad actions out in 95 % of the deals, but neither on the
last street nor where they end the hand. It plays before the flop. From there on each decision is solved from the
beginning of its round for the hands of all who are left: what it did itself in the round stays, others may have played
otherwise, and bets that nobody expected are added. Where the round ends everybody, itself included, chooses among four
ways in which the blueprint may go on.

Nobody is told apart from anybody, and nothing is learnt from who plays against it.
"""

from __future__ import annotations

from typing import Final

from equipoise.abstraction.blueprints import SPECS, BlueprintSpec
from equipoise.agents.bots.machine import Machine
from equipoise.agents.holdem.rounds import RoundSearch
from equipoise.search.holdem.rounds import RoundSettings

__all__ = ["PLURIBUS"]

STACKS: Final = (10_000,) * 6
THIN: Final = "100%, a / a; cap: 2"
THINNER: Final = {3: "100%; cap: 1", 4: "100%; cap: 1; turn: none; river: none"}
FULL: Final = "25%, 50%, 75%, 100%, 150%, 200%, a / 50%, 100%, a; cap: 4"
CROWDED: Final = "50%, 100%, a / 100%, a; cap: 3"

PLURIBUS: Final = Machine(
    name="pluribus",
    title="six players: blueprint, then every round solved from its beginning, four ways on behind it",
    sizes={
        "minutes": (BlueprintSpec(stacks=STACKS, menu=THIN, crowded=THINNER, buckets=(50, 50, 50)),),
        "cpu": (SPECS["six-open"],),
        "paper": (BlueprintSpec(stacks=STACKS, menu=FULL, crowded={4: CROWDED}, buckets=(200, 200, 200)),),
    },
    pruning="pluribus",
    rounds=RoundSearch(rounds=RoundSettings(deals=200_000)),
)
