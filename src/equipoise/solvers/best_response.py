# SPDX-License-Identifier: Apache-2.0
"""Exact values, best responses and exploitability of strategies, on history trees and on public trees."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from equipoise.kernels.arithmetic import multiply
from equipoise.kernels.calls import check_num_threads
from equipoise.kernels.history import HistoryKernel
from equipoise.kernels.public import PublicKernel
from equipoise.trees.history import HistoryTree
from equipoise.trees.public import PublicTree

__all__ = [
    "Evaluation",
    "bind_history_kernel",
    "bind_kernel",
    "bind_public_kernel",
    "evaluate",
    "expected_values",
]

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


def bind_public_kernel(tree: PublicTree) -> PublicKernel:
    """Returns a public tree as the kernels read it."""
    return PublicKernel(
        tree.cells,
        tree.terminals,
        legal_share=tree.legal_share,
        root_cells=(tree.private_cells(0, 0), tree.private_cells(0, 1)),
    )


def bind_kernel(tree: HistoryTree | PublicTree) -> HistoryKernel | PublicKernel:
    """Returns either kind of tree as the kernels read it."""
    return bind_public_kernel(tree) if isinstance(tree, PublicTree) else bind_history_kernel(tree)


def expected_values(tree: HistoryTree, realization: FloatArray) -> tuple[float, ...]:
    """Returns each player's utility when everybody reaches sequences as `realization` `[Q]` says."""
    reach = tree.terminal_chance.copy()
    for player in range(tree.num_players):
        reach *= realization[tree.terminal_sequence[player]]
    return tuple(float(value) for value in multiply(tree.utility, reach))


def evaluate(
    tree: HistoryTree | PublicTree,
    strategy: FloatArray,
    *,
    kernel: HistoryKernel | PublicKernel | None = None,
    num_threads: int = 1,
) -> Evaluation:
    """Returns the exact values and best-response values of a strategy, `[Q]` or over a public tree's cells."""
    check_num_threads(num_threads)
    kernel = kernel or bind_kernel(tree)
    realization = kernel.realize(strategy)
    if isinstance(kernel, PublicKernel):
        values = tuple(
            kernel.root_value(player, realization, kernel.strategy_values(player, strategy, realization))
            for player in (0, 1)
        )
    else:
        assert isinstance(tree, HistoryTree)
        values = expected_values(tree, realization)
    return Evaluation(
        values=values,
        best_response_values=tuple(
            kernel.best_response(player, realization, num_threads=num_threads)[0] for player in range(tree.num_players)
        ),
    )
