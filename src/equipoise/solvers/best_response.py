# SPDX-License-Identifier: Apache-2.0
"""Exact values, best responses and exploitability of strategies, on any tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.markup import html_line, html_table, join_html
from equipoise.kernels.arithmetic import multiply
from equipoise.kernels.calls import check_num_threads
from equipoise.kernels.frontier import Frontier
from equipoise.kernels.history import HistoryKernel
from equipoise.kernels.holdem.leaves import HoldemLeaves
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.kernels.public import PublicKernel
from equipoise.kernels.vector import VectorKernel
from equipoise.solvers.holdem.locks import lay_locks
from equipoise.trees.history import HistoryTree, check_tree
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.public import PublicTree
from equipoise.trees.public_locks import lay_public_locks

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
    """How good a profile is, in the game's unit of utility.

    >>> evaluation = Evaluation(values=(0.5, -0.5), best_response_values=(0.75, 0.25))
    >>> evaluation.nash_conv, evaluation.exploitability
    (1.0, 0.5)
    """

    values: tuple[float, ...]  # each player's utility under the profile
    best_response_values: tuple[float, ...]  # each player's utility when it alone deviates best

    def _repr_html_(self) -> str:
        columns = ["player", "value", "value of a best response", "gain"]
        pairs = zip(self.values, self.best_response_values, strict=True)
        rows = [[player, value, best, best - value] for player, (value, best) in enumerate(pairs)]
        return join_html(html_line(f"exploitability {self.exploitability:.4g}"), html_table(columns, rows))

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
    check_tree(tree, HistoryTree)
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


def bind_public_kernel(tree: PublicTree, *, locks: Sequence[NodeLock] = ()) -> PublicKernel:
    """Returns a public tree as the kernels read it; hands of locks are private states of their nodes."""
    return PublicKernel(
        tree.cells,
        tree.terminals,
        legal_share=tree.legal_share,
        root_cells=(tree.private_cells(0, 0), tree.private_cells(0, 1)),
        locks=lay_public_locks(tree, locks) if locks else None,
    )


@overload
def bind_kernel(
    tree: HistoryTree | PublicTree, *, locks: Sequence[NodeLock] = (), frontier: Frontier | HoldemLeaves | None = None
) -> HistoryKernel | PublicKernel: ...
@overload
def bind_kernel(
    tree: HoldemTree, *, locks: Sequence[NodeLock] = (), frontier: Frontier | HoldemLeaves | None = None
) -> HoldemKernel: ...
@overload
def bind_kernel(
    tree: HistoryTree | PublicTree | HoldemTree,
    *,
    locks: Sequence[NodeLock] = (),
    frontier: Frontier | HoldemLeaves | None = None,
) -> VectorKernel: ...
def bind_kernel(
    tree: HistoryTree | PublicTree | HoldemTree,
    *,
    locks: Sequence[NodeLock] = (),
    frontier: Frontier | HoldemLeaves | None = None,
) -> VectorKernel:
    """Returns any tree as the kernels read it.

    Args:
        tree: what is played.
        locks: strategies that some private states keep to.
        frontier: what the tree's leaves are worth, if it ends before the game does.
    """
    if isinstance(tree, HoldemTree):
        return HoldemKernel(tree.arrays, lay_locks(tree, locks), frontier)
    if isinstance(tree, PublicTree):
        return bind_public_kernel(tree, locks=locks)
    if locks or frontier is not None:
        raise ConfigError("locks and leaves need a tree of public states")
    return bind_history_kernel(tree)


def expected_values(tree: HistoryTree, realization: FloatArray) -> tuple[float, ...]:
    """Returns each player's utility when everybody reaches sequences as `realization` `[Q]` says."""
    reach = tree.terminal_chance.copy()
    for player in range(tree.num_players):
        reach *= realization[tree.terminal_sequence[player]]
    return tuple(float(value) for value in multiply(tree.utility, reach))


def evaluate(
    tree: HistoryTree | PublicTree | HoldemTree,
    strategy: npt.NDArray[Any],
    *,
    kernel: VectorKernel | None = None,
    respects_locks: bool = True,
    frontier: Frontier | HoldemLeaves | None = None,
    num_threads: int = 1,
) -> Evaluation:
    """Returns the exact values and best-response values of a strategy, in the game's unit of utility.

    Args:
        tree: what is played.
        strategy: `[C]` of all players, numbered as the tree's tables: probabilities, or on hold'em trees anything that
            they are in proportion to.
        kernel: with the locks that strategies keep to; by default there are none.
        respects_locks: whether best responses keep to them as well.
        frontier: what leaves are worth, if the tree ends before the game does.
        num_threads: size of the team.

    >>> from equipoise.games import make_game
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> solver = CFRSolver(build_history_tree(make_game("kuhn")))
    >>> solver.iterate(1000)
    >>> evaluate(solver.tree, solver.average_strategy()).exploitability < 1e-3
    True
    """
    check_num_threads(num_threads)
    kernel = kernel or bind_kernel(tree)
    best = kernel.values(
        strategy, is_best=True, respects_locks=respects_locks, frontier=frontier, num_threads=num_threads
    )
    if isinstance(tree, HistoryTree):
        assert isinstance(kernel, HistoryKernel)
        values = expected_values(tree, kernel.realize(strategy))
    else:
        played = kernel.values(strategy, is_best=False, frontier=frontier, num_threads=num_threads)
        values = tuple(tree.mean_value(player, own) for player, own in enumerate(played))
    return Evaluation(
        values=values,
        best_response_values=tuple(tree.mean_value(player, own) for player, own in enumerate(best)),
    )
