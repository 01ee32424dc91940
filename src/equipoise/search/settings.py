# SPDX-License-Identifier: Apache-2.0
"""How a part of a game is solved again while it is played: one set of settings, whatever the game."""

from __future__ import annotations

import dataclasses
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import settings_repr
from equipoise.games.holdem.menus import Menu
from equipoise.kernels.calls import check_integer
from equipoise.search.gadgets import Given, Maxmargin, Method, Reach, Unsafe
from equipoise.search.holdem.depth_limit import LeafChoices
from equipoise.search.holdem.streets import StreetLeaves
from equipoise.search.leaves import LeafEvaluator
from equipoise.search.limits import DepthLimit
from equipoise.solvers.rules import CFRPlus, Rule

__all__ = ["DEFAULT_ITERATIONS", "REACH_MAXMARGIN", "SearchSettings"]

REACH_MAXMARGIN: Final = Maxmargin(reach=Reach())
DEFAULT_ITERATIONS: Final = 500
LAST_ITERATIONS: Final = 2000
MAX_BYTES: Final = 1_000_000_000


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How searches are made; some settings are for hold'em alone.

    >>> SearchSettings(iterations=100).is_alternating
    True
    """

    method: Method = REACH_MAXMARGIN  # alternatives are measured by the strategy so far
    iterations: int | None = None  # of CFR; None: 500, on the last street of hold'em 2,000 (river_iterations.py)
    rule: Rule = dataclasses.field(default_factory=lambda: CFRPlus(gamma=1.0))
    is_expensive: bool = False  # solve from before an unknown action on, all others there included
    is_alternating: bool = True  # whether each player sees the other's update of the same iteration
    num_threads: int = 1
    seconds: float | None = None  # a search that is not done by then stops with what it has; None: no limit
    limit: DepthLimit | None = None  # where searches end; None: with the game. In hold'em with the street: `RoundLimit`
    leaves: LeafEvaluator | None = None  # what leaves are worth, where there is a limit
    # of hold'em alone
    early_iterations: int = 50  # where a street follows, which takes some fifty times as long
    menu: Menu | None = None  # bets that searches consider; None: those of the strategy so far
    leaf_choices: LeafChoices | None = None  # on the turn: end with it, the river being the strategy so far's
    leaf_iterations: int = 300  # of CFR, on a turn that does
    max_bytes: int = MAX_BYTES  # a search that takes more is refused: a minute and more
    streets: StreetLeaves | None = None  # searches look no further than their own street; they need a menu

    __repr__ = settings_repr

    def __post_init__(self) -> None:
        for name in ("iterations", "early_iterations", "leaf_iterations", "num_threads", "max_bytes"):
            value = getattr(self, name)
            if value is not None:
                check_integer(name, value, 1)
        if (self.limit is None) != (self.leaves is None):
            raise ConfigError("a limit needs leaves, an evaluator of what follows it, and leaves need a limit")
        if self.seconds is not None and not self.seconds > 0:
            raise ConfigError(f"seconds of a search must be positive, got {self.seconds:g}")
        if self.streets is not None and (self.limit is not None or self.leaf_choices is not None):
            raise ConfigError("searches of a street at a time know what it is worth: leave limits and choices out")
        if self.leaf_choices is not None and self.leaves is not None:
            raise ConfigError("leaves are valued by an evaluator or by choices, got both")
        if self.leaf_choices is not None and self.menu is not None:
            raise ConfigError("what leaves are worth is known for the bets of the strategy so far: leave menu out")
        if not isinstance(self.method, Unsafe) and isinstance(self.method.alternatives, Given):
            raise ConfigError("nested search finds its alternatives itself: leave them at their default")

    @property
    def begins_before(self) -> bool:
        """Returns whether replies are found from before the action on: unsafe search needs its probability anyway."""
        return self.is_expensive or isinstance(self.method, Unsafe)
