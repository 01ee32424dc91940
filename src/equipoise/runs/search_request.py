# SPDX-License-Identifier: Apache-2.0
"""What is asked of a search, as it would be typed, and how its iterations are run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from equipoise.core.formatting import format_duration
from equipoise.kernels.calls import check_integer, check_num_threads, check_player
from equipoise.search.notation import parse_leaf_choices, parse_method
from equipoise.solvers.rule_notation import parse_rule
from equipoise.trees.history import DEFAULT_MAX_HISTORIES

__all__ = ["RunIterations", "SearchRequest", "describe_search", "run_at_once"]

RunIterations = Callable[[Callable[[int], None], int], int]  # runs so many with a solver, and says how many were run


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What is asked of a search; None: the default."""

    state: str  # the public state; of a spot also a line
    method: str = "reach-maxmargin"
    player: int | None = None  # who searches; by default who meets unknown bets, or moves there
    iterations: int | None = None  # of CFR
    rule: str = "cfr+linear"
    menu: str | None = None  # of a spot: bets to consider from there on
    leaves: str | None = None  # of a turn: end with it, biased forms of the strategy so far beyond
    expensive: bool = False  # of a spot: behind a bet that the strategy lacks, solve from before it on
    threads: int = 1  # of a spot
    max_histories: int = DEFAULT_MAX_HISTORIES

    def __post_init__(self) -> None:
        if self.player is not None:
            check_player(self.player, 2)
        if self.iterations is not None:
            check_integer("iterations", self.iterations, 1)
        check_num_threads(self.threads)
        parse_rule(self.rule)
        parse_method(self.method)
        if self.leaves is not None:
            parse_leaf_choices(self.leaves)


def run_at_once(iterate: Callable[[int], None], num_iterations: int) -> int:
    """Runs all iterations in one call and returns how many."""
    iterate(num_iterations)
    return num_iterations


def describe_search(request: SearchRequest, iterations: int, seconds: float, least_margin: float | None) -> str:
    """Returns a search that is done, in a line."""
    margin = "" if least_margin is None else f", least margin {least_margin:.4g}"
    spent = f"{iterations:,} iterations in {format_duration(seconds)}"
    return f"<Search of {request.state or 'root'!r} by {request.method}: {spent}{margin}>"
