# SPDX-License-Identifier: Apache-2.0
"""An abstraction that grows while it is solved: sizes are added where the full game is regretted most for its nodes.

On continuous Leduc, where a walk of the abstraction tells the full game's exploitability; not yet for other games.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import run_repr
from equipoise.kernels.calls import check_integer
from equipoise.kernels.sized_leduc import Addition, SizedLeducKernel, Translation

__all__ = ["BRANCHES", "GrowingAbstraction", "GrowthConfig", "Translation"]

BRANCHES: Final = {  # of the thesis, shares of the pot
    "branch-2": (0.01, 1.0),
    "branch-3": (0.01, 1 / 3, 1.0),
    "branch-5": (0.01, 1 / 7, 1 / 3, 0.6, 1.0),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GrowthConfig:
    """Where and when sizes are added.

    >>> GrowthConfig(threshold=0.5)
    Traceback (most recent call last):
    ...
    equipoise.core.errors.ConfigError: threshold must be at least 1, got 0.5
    """

    threshold: float = 1.01  # tau: times the fall of regrets without the size that it must give
    every: int = 5  # iterations between two looks
    at_once: int = 1  # sizes that one look adds at most
    transfers: bool = False  # replay the nearest size's subgame in place of a recovery game
    is_linear: bool = True  # later rounds of a recovery game weigh more
    rounds: tuple[int, int] = (
        50,
        800,
    )  # of a recovery game: at first, and at most where the size costs much of the past
    fair_weight: float = 0.97  # of the past, above which no more rounds are played
    least_weight: float = 0.0  # sizes that would leave less of the past are put off
    most_given: float = 0.5  # of the iterations run that all discounts may take back; sizes that would take more wait
    by_slope: bool = True  # the size after which regrets fall fastest first, else the one that is worth most a node
    removal: float = 0.0  # sizes played with less than so much / sqrt(T), and rightly, are removed; 0: none
    removal_every: int = 100  # iterations

    def __post_init__(self) -> None:
        if not 1 <= self.threshold < math.inf:
            raise ConfigError(f"threshold must be at least 1, got {self.threshold:g}")
        for name in ("every", "at_once", "removal_every"):
            check_integer(name, getattr(self, name), 1)
        if len(self.rounds) != 2 or not 1 <= self.rounds[0] <= self.rounds[1]:
            raise ConfigError(f"rounds must be the first ones and the most, got {self.rounds}")
        if not (0 <= self.least_weight <= 1 and 0 <= self.fair_weight <= 1):
            raise ConfigError("weights of the past must be between 0 and 1")
        if not 0 < self.most_given < math.inf:
            raise ConfigError(f"most_given must be above 0, got {self.most_given:g}")
        if not 0 <= self.removal < math.inf:
            raise ConfigError(f"removal must be at least 0, got {self.removal:g}")


RECOMMENDED: Final = GrowthConfig()


class GrowingAbstraction:
    """CFR on continuous Leduc hold'em, in a fixed abstraction or in one that grows.

    Bets are any share of the pot from 1 % to 100 %, two a round, without stacks.

    Paper: Brown 2020, thesis [B20] section 4.3; Brown & Sandholm 2015, "Simultaneous Abstraction and Equilibrium
        Finding in Games", IJCAI.
    Symbols: tau -> threshold; Gamma, S -> nodes so far, nodes of a new bet's subgame; w of (4.78) -> weight.
    Departs from the paper: a size at a time; of all sizes that the rule of Proposition 2 allows, the one after which
        regrets fall fastest; recovery games are played longer where an addition would cost much of the past, and
        discounts may take back half of the iterations run at most: sizes that would take more wait; in best
        responses the responder sees which size its bet is taken for, which bounds exploitability from above (for fixed
        abstractions too).
    Checked by: tests/abstraction/test_growing.py, study saef.

    >>> run = GrowingAbstraction()
    >>> run.advance(100)
    >>> run.num_nodes > 1560, 0.2 < run.exploitability() < 1.0
    (True, True)
    """

    def __init__(
        self, menu: Sequence[float] = BRANCHES["branch-2"], *, growth: GrowthConfig | None = RECOMMENDED
    ) -> None:
        """Begins with a menu at every decision; `growth` None: that stays so."""
        self.growth = growth
        self.kernel = SizedLeducKernel(menu)
        self.iteration = 0
        self.additions: list[Addition] = []
        self.num_removed = 0

    __repr__ = run_repr

    @property
    def num_nodes(self) -> int:
        """Returns the public nodes of the abstraction."""
        return int(self.kernel.run.num_nodes)

    @property
    def nodes_touched(self) -> int:
        """Returns the public nodes visited so far, growth and recovery games included, one player each."""
        return int(self.kernel.run.touched)

    @property
    def weighted_iterations(self) -> float:
        """Returns how many iterations what was done is worth."""
        return float(self.kernel.run.iterations)

    @property
    def num_bytes(self) -> int:
        """Returns the memory of nodes and tables."""
        return int(self.kernel.run.num_bytes)

    def advance(self, num_iterations: int) -> None:
        """Runs iterations, and adds and removes sizes between them."""
        check_integer("num_iterations", num_iterations, 0)
        for _ in range(num_iterations):
            self.kernel.iterate(1)
            self.iteration += 1
            if self.growth is not None:
                self._grow(self.growth)

    def _grow(self, growth: GrowthConfig) -> None:
        if self.iteration % growth.every == 0:
            added = self.kernel.grow(
                growth.at_once,
                threshold=growth.threshold,
                transfers=growth.transfers,
                is_linear=growth.is_linear,
                rounds=growth.rounds,
                fair_weight=growth.fair_weight,
                least_weight=growth.least_weight,
                most_given=growth.most_given,
                by_slope=growth.by_slope,
            )
            self.additions += added
        if growth.removal and self.iteration % growth.removal_every == 0:
            self.num_removed += self.kernel.remove(growth.removal)

    def exploitability(self, translation: Translation = Translation.RANDOMIZED) -> float:
        """Returns the mean of what best responses win, in chips: in the full game unless the translation is none."""
        return sum(self.kernel.respond(player, translation) for player in (0, 1)) / 2
