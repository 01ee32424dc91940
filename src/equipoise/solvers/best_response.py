# SPDX-License-Identifier: Apache-2.0
"""Exact values, best responses and exploitability of strategies on a history tree."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from equipoise.kernels.history import HistoryKernel
from equipoise.trees.history import HistoryTree

__all__ = ["Evaluation", "bind_history_kernel", "evaluate", "expected_values"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How good a profile is, in the game's unit of utility."""

    values: tuple[float, ...]  # each player's utility under the profile
    best_response_values: tuple[float, ...]  # each player's utility when it alone deviates best

    @property
    def nash_conv(self) -> float:
        """Returns the sum over players of what a best response gains."""
        return sum(self.best_response_values) - sum(self.values)

    @property
    def exploitability(self) -> float:
        """Returns the gain of a best response, averaged over players."""
        return self.nash_conv / len(self.values)


def bind_history_kernel(tree: HistoryTree) -> HistoryKernel:
    """Returns a tree as the kernels read it."""
    weight = tree.utility * tree.terminal_chance
    if tree.num_players == 2 and tree.is_zero_sum:
        weight = weight[:1]
    return HistoryKernel(
        terminal_sequence=tree.terminal_sequence,
        weight=np.ascontiguousarray(weight),
        sequence_start=tree.sequence_start,
        infoset_start=tree.infoset_start,
        first_sequence=tree.first_sequence,
        num_actions=tree.num_actions,
        parent_sequence=tree.parent_sequence,
    )


def expected_values(tree: HistoryTree, realization: FloatArray) -> tuple[float, ...]:
    """Returns each player's utility when everybody reaches sequences as `realization` `[Q]` says."""
    reach = tree.terminal_chance.copy()
    for player in range(tree.num_players):
        reach *= realization[tree.terminal_sequence[player]]
    return tuple(float(value) for value in tree.utility @ reach)


def evaluate(
    tree: HistoryTree, strategy: FloatArray, *, kernel: HistoryKernel | None = None, num_threads: int = 1
) -> Evaluation:
    """Returns the exact values and best-response values of a strategy `[Q]`."""
    kernel = kernel or bind_history_kernel(tree)
    realization = kernel.realize(strategy)
    return Evaluation(
        values=expected_values(tree, realization),
        best_response_values=tuple(
            kernel.best_response(player, realization, num_threads=num_threads)[0] for player in range(tree.num_players)
        ),
    )
