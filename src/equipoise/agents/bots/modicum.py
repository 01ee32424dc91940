# SPDX-License-Identifier: Apache-2.0
"""Modicum, which beat earlier champions heads-up on a desktop machine in 2018 (thesis, section 6.5).

A coarse blueprint is rarely played: before the flop and on it each decision's round is solved to its end, where the
opponent chooses among four ways in which the blueprint may go on while Modicum goes on as it is. Bets that nobody
expected are added and the round is solved anew, believing the ranges; answers before the flop are kept from hand to
hand. From the turn on the rest of the hand is solved with the cards themselves: the first time believing the ranges,
then by nested Reach search upon the last solve's values.

Not here: ten continuations of its own making before the flop, a network in place of rollouts, and the penalty by which
it kept the opponent's choices in check.
"""

from __future__ import annotations

from typing import Final

from equipoise.abstraction.blueprints import BlueprintSpec
from equipoise.agents.bots.machine import Machine
from equipoise.agents.holdem.endgame import EndgameSearch
from equipoise.agents.holdem.rounds import RoundSearch
from equipoise.games.holdem.betting import Street
from equipoise.search.holdem.rounds import RoundSettings
from equipoise.solvers.rules import DCFRPlus

__all__ = ["MODICUM"]

THIN: Final = "100%, a; cap: 3"
WIDE: Final = "50%, 100%, a / 100%, a; cap: 4"

MODICUM: Final = Machine(
    name="modicum",
    title="rounds to their end with four ways on behind them, from the turn on the rest of the hand",
    sizes={
        "minutes": (BlueprintSpec(menu=THIN, buckets=(50, 50, 50)),),
        "cpu": (BlueprintSpec(menu=WIDE, buckets=(250, 250, 500)),),
        "paper": (BlueprintSpec(menu=WIDE, buckets=(30_000, 30_000, 30_000)),),
    },
    rounds=RoundSearch(
        first_street=Street.PREFLOP,
        menu=WIDE,
        crowded={},
        rounds=RoundSettings(deals=200_000, num_rollouts=3, bias=10.0),
        searcher_chooses=False,
        fixes_own=False,
    ),
    # the average leaves the first half out, its iterations weighing alike; discounts of sqrt(t) / (sqrt(t) + 1), which
    # the thesis ends after 30 iterations
    search=EndgameSearch(
        iterations=150, perturbation=0.0, rule=DCFRPlus(alpha=0.5, beta=0.5, delay=75, average_exponent=0.0)
    ),
)
