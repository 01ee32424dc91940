# SPDX-License-Identifier: Apache-2.0
"""A place in what a file holds, as JSON values: the same call for spots and for games."""

from __future__ import annotations

from typing import Any

from equipoise.core.errors import ConfigError
from equipoise.solvers.game_views import describe_state
from equipoise.solvers.holdem.description import describe_spot_node
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.solution_file import SolutionFile, SolvedGame

__all__ = ["describe_node"]


def describe_node(solution: SolutionFile, text: str = "") -> dict[str, Any]:
    """Returns a place: what led there, who moves, both ranges, what is done and what it is worth.

    Args:
        solution: an open file; the first place asked for takes longest, as much is kept for the next.
        text: a line of play such as `check, bet 50%` (or `x,b50p`) in a spot, a public state in a game; nothing, or
            `root`, is the root.
    """
    if isinstance(solution, SolvedSpot):
        return describe_spot_node(solution, text)
    if isinstance(solution, SolvedGame):
        return describe_state(solution.views, text)
    raise ConfigError(f"{solution.path} holds a {solution.kind}, whose places are not described: it has no values")
