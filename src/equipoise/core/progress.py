# SPDX-License-Identifier: Apache-2.0
"""Records of work under way. Solvers yield them; only apps/ prints them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from equipoise.core.formatting import brief_repr

__all__ = ["Progress", "SampledFigures"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SampledFigures:
    """What can be said of a strategy whose game is too large to enumerate; estimates, and none is an exploitability.

    >>> from equipoise.runs import solve
    >>> solution = solve("kuhn", method="external", form="game", iterations=100, max_histories=10)
    >>> figures = solution.progress[-1].sampled
    >>> figures.num_infostates, figures.num_playouts
    (12, 50)
    """

    num_infostates: int  # for which the strategy has an entry, all players; it moves uniformly elsewhere
    regret_bound: float | None  # largest positive sampled regrets, summed, over T: bounds average regrets on average
    values_against_uniform: tuple[float, ...]  # [P] each player's mean utility when the others move uniformly
    standard_errors: tuple[float, ...]  # [P] of these
    uniform_values: tuple[float, ...]  # [P] mean utility when everybody moves uniformly: what the seat itself is worth
    num_playouts: int  # games behind each of these

    __repr__ = brief_repr


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a solve stands after an iteration.

    >>> from equipoise.runs import solve
    >>> last = solve("kuhn", iterations=100).progress[-1]
    >>> last.iteration, last.exploitability < 0.01
    (100, True)
    """

    iteration: int  # completed so far
    seconds: float  # of solving, evaluation included, resumed runs added up
    exploitability: float | None  # nash_conv / players, in the game's unit of utility; exact, None where it cannot be
    nash_conv: float | None  # sum over players of what a best response would gain; exact or None
    game_value: float | None  # player 0's utility under the average profile; exact or None
    iterations_per_second: float  # since the previous record, evaluation excluded
    seconds_left: float | None  # to the nearest stopping point that can be foreseen, None if there is none
    nodes_touched: int  # histories visited so far, terminals included
    sampled: SampledFigures | None = None  # stands in where nothing exact can be said
    evaluated_at: int | None = None  # an earlier iteration, if what is said of the strategy is from there

    __repr__ = brief_repr

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Progress:
        """Returns the record whose `dataclasses.asdict` went through JSON."""
        figures = record.get("sampled")
        if figures is None:
            return cls(**record)
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in figures.items()
        }
        return cls(**{**record, "sampled": SampledFigures(**values)})
