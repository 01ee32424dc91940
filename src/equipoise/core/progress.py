# SPDX-License-Identifier: Apache-2.0
"""Records of work under way. Solvers yield them; only apps/ prints them."""

from __future__ import annotations

import dataclasses

__all__ = ["Progress"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a solve stands after an iteration."""

    iteration: int  # completed so far
    seconds: float  # of solving, evaluation included, resumed runs added up
    exploitability: float  # nash_conv / players, in the game's unit of utility
    nash_conv: float  # sum over players of what a best response would gain
    game_value: float  # player 0's utility under the average profile
    iterations_per_second: float  # since the previous record, evaluation excluded
    seconds_left: float | None  # to the nearest stopping point that can be foreseen, None if there is none
    nodes_touched: int  # histories visited so far, terminals included
