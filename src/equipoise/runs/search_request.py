# SPDX-License-Identifier: Apache-2.0
"""What is asked of a search, as it would be typed, how its iterations are run, and what every search can say."""

from __future__ import annotations

import abc
import dataclasses
import time
from collections.abc import Callable
from typing import Any, Final

from equipoise.core.checks import check_flag, check_text
from equipoise.core.copying import NotCopied
from equipoise.core.formatting import format_duration, settings_repr
from equipoise.core.interruption import IsInterrupted, never
from equipoise.core.markup import MOST_ROWS, html_line, html_table, join_html
from equipoise.kernels.calls import check_integer, check_num_threads, check_player
from equipoise.search.notation import parse_leaf_choices, parse_method
from equipoise.search.resolving import SearchResult
from equipoise.solvers.rule_notation import parse_rule
from equipoise.trees.history import DEFAULT_MAX_HISTORIES

__all__ = ["DoneSearch", "RunIterations", "SearchRequest", "run_in_pieces"]

SECONDS_OF_A_PIECE: Final = 0.2  # of iterations between two looks at whether to go on

RunIterations = Callable[[Callable[[int], None], int], int]  # runs so many with a solver, and says how many were run


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What is asked of a search; None: the default.

    >>> SearchRequest(state="check", method="maxmargin", iterations=100).rule
    'cfr+linear'
    """

    state: str  # the public state; of a spot also a line
    method: str = "reach-maxmargin"
    player: int | None = None  # who searches; by default who meets unknown bets, or moves there
    iterations: int | None = None  # of CFR
    rule: str = "cfr+linear"
    menu: str | None = None  # of a spot: bets to consider from there on
    leaves: str | None = None  # of a turn: end with it, biased forms of the strategy so far beyond
    expensive: bool = False  # of a spot: behind a bet that the strategy lacks, solve from before it on
    num_threads: int = 1  # of a spot
    max_histories: int = DEFAULT_MAX_HISTORIES

    __repr__ = settings_repr

    def __post_init__(self) -> None:
        for name in ("state", "method", "rule", "menu", "leaves"):
            if name not in ("menu", "leaves") or getattr(self, name) is not None:
                check_text(name, getattr(self, name))
        check_flag("expensive", self.expensive)
        check_integer("max_histories", self.max_histories, 1)
        if self.player is not None:
            check_player(self.player, 2)
        if self.iterations is not None:
            check_integer("iterations", self.iterations, 1)
        check_num_threads(self.num_threads)
        parse_rule(self.rule)
        parse_method(self.method)
        if self.leaves is not None:
            parse_leaf_choices(self.leaves)


def run_in_pieces(
    iterate: Callable[[int], None],
    num_iterations: int,
    *,
    is_interrupted: IsInterrupted = never,
    on_piece: Callable[[int, int], None] | None = None,
) -> int:
    """Runs iterations until all are done or somebody interrupts, and returns how many were run, at least one.

    Args:
        iterate: runs so many.
        num_iterations: that are wanted.
        is_interrupted: asked a few times a second.
        on_piece: is told as often how many are done, of how many.
    """
    done, piece = 0, 1
    while done < num_iterations and not (done and is_interrupted()):
        began = time.perf_counter()
        piece = min(piece, num_iterations - done)
        iterate(piece)
        done += piece
        if on_piece is not None:
            on_piece(done, num_iterations)
        if time.perf_counter() - began < SECONDS_OF_A_PIECE:
            piece *= 2
    return done


def _tell_change(before: float | None, after: float) -> str:
    return f"{after:.1%}" if before is None else f"{before:.1%} → {after:.1%}"


class DoneSearch(NotCopied, abc.ABC):
    """A search that is done: what was asked, who searched, what was found and how long it took.

    >>> from equipoise.runs import solve
    >>> found = solve("leduc", iterations=20).search("root", "maxmargin", player=0, iterations=50)
    >>> isinstance(found, DoneSearch), found.is_safe
    (True, True)
    """

    kept_by = "its `as_json` says what was found"
    request: SearchRequest
    searcher: int
    opponent: int
    result: SearchResult
    iterations: int
    seconds: float

    def __repr__(self) -> str:
        margin = "" if self.least_margin is None else f", least margin {self.least_margin:.4g}"
        spent = f"{self.iterations:,} iterations in {format_duration(self.seconds)}"
        return f"<Search of {self.request.state or 'root'!r} by {self.request.method}: {spent}{margin}>"

    def _repr_html_(self) -> str:
        rows = []
        for one in self.decisions()[:MOST_ROWS]:
            name = one.get("infostate") or one["hand"]
            before, after = (one[when] or {} for when in ("before", "after"))
            rows.append([name, *(_tell_change(before.get(action), share) for action, share in after.items())])
        actions = list(self.decisions()[0]["after"]) if rows else []
        table = html_table(["before → after", *actions], rows, num_rows=len(self.decisions())) if rows else ""
        return join_html(html_line(repr(self)), table)

    @property
    def is_safe(self) -> bool:
        """Returns whether there are alternatives."""
        return self.request.method != "unsafe"

    @property
    def least_margin(self) -> float | None:
        """Returns the least margin in units of utility, None for unsafe search, which has no alternatives."""
        return self.result.least_margin if self.is_safe and self.result.possible.any() else None

    @abc.abstractmethod
    def responses(self) -> tuple[float | None, float]:
        """Returns what the opponent's best response earns, before and after."""

    @abc.abstractmethod
    def decisions(self) -> list[dict[str, Any]]:
        """Returns what the searcher does where the search begins, if it moves there."""

    @abc.abstractmethod
    def margins(self) -> list[dict[str, Any]]:
        """Returns alternative, new value and margin of every private state of the opponent."""

    def margin_of(self, private: int, *, paid: float = 0.0) -> dict[str, float | None]:
        """Returns alternative, new value and margin of one private state, whose value counts from what was paid on."""
        found = self.result
        return {
            "alternative": float(found.alternative[private]) + paid if self.is_safe else None,
            "value": float(found.value[private]) + paid,
            "margin": float(found.margin[private]) if self.is_safe else None,
        }

    def as_json(self) -> dict[str, Any]:
        """Returns everything under the documented keys."""
        before, after = self.responses()
        return {
            "state": self.request.state,
            "player": self.searcher,
            "search_method": self.request.method,
            "search_rule": self.request.rule,
            "search_iterations": self.iterations,
            "least_margin": self.least_margin,
            "best_response_before": before,
            "best_response_after": after,
            "strategy": self.decisions(),
            "margins": self.margins(),
            "seconds": self.seconds,
        }
