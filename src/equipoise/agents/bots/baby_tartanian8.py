# SPDX-License-Identifier: Apache-2.0
"""Baby Tartanian8, which won both events of the 2016 competition (thesis, section 6.3).

No search: two blueprints, one for each seat, in each of which the opponent has more bets than the machine itself. They
are trained by Monte Carlo CFR with regret-based sampling, which is off for the last part of the run. What is played is
pure from the flop on and mixed before it; bets that the blueprint lacks are translated.

Not here: menus found from smaller equilibria, and training spread over flops of clusters.
"""

from __future__ import annotations

from typing import Final

from equipoise.abstraction.blueprints import BlueprintSpec
from equipoise.agents.bots.machine import Machine, uneven_menu
from equipoise.agents.holdem.blueprint import Sharpening
from equipoise.games.holdem.betting import Street

__all__ = ["BABY_TARTANIAN8"]


def _specs(few: str, many: str, cap: int, buckets: tuple[int, ...]) -> tuple[BlueprintSpec, ...]:
    """Returns a blueprint for each seat, which has few sizes while the other has many."""
    return tuple(BlueprintSpec(menu=uneven_menu(own, few, many, cap=cap), buckets=buckets) for own in (0, 1))


BABY_TARTANIAN8: Final = Machine(
    name="baby-tartanian8",
    title="a blueprint for each seat by regret-based sampling, pure from the flop on",
    sizes={
        "minutes": _specs("100%, a", "50%, 100%, a / 100%, a", 3, (50, 50, 50)),
        "cpu": _specs("50%, 100%, a / 100%, a", "33%, 66%, 100%, 200%, a / 100%, a", 4, (250, 250, 500)),
        "paper": _specs("50%, 100%, 200%, a", "25%, 50%, 75%, 100%, 150%, 200%, a", 5, (30_000, 30_000, 30_000)),
    },
    pruning="rbs",
    sharpening=Sharpening(purified_from=Street.FLOP),
)
