# SPDX-License-Identifier: Apache-2.0
"""What every response over a tree needs: its kernel, and which cells are whose."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.interruption import IsInterrupted, never
from equipoise.kernels.arithmetic import dot
from equipoise.kernels.sweeps import SweepKernel
from equipoise.solvers.best_response import Evaluation, bind_kernel
from equipoise.trees.history import HistoryTree
from equipoise.trees.public import PublicTree

__all__ = ["OnTree"]

FloatArray = npt.NDArray[np.float64]


class OnTree:
    """A two-player zero-sum tree as a response reads it."""

    def __init__(self, tree: HistoryTree | PublicTree, *, kernel: SweepKernel | None = None) -> None:
        if tree.num_players != 2:
            raise ConfigError(f"responses are for games of two players, and {tree.game_label} has {tree.num_players}")
        if not tree.is_zero_sum:
            raise ConfigError(f"responses are for zero-sum games, and {tree.game_label} is not")
        self.tree = tree
        self.is_interrupted: IsInterrupted = never
        self.kernel = kernel or bind_kernel(tree)
        self.own_cells = tuple(np.flatnonzero(self.kernel.is_own(seat)) for seat in (0, 1))  # of reach and values
        num_table_cells = self.kernel.num_table_cells
        empty = tree.sequence_start[:-1] if isinstance(tree, HistoryTree) else ()
        self.table_cells = tuple(  # of strategies
            np.setdiff1d(cells[cells < num_table_cells], empty, assume_unique=True) for cells in self.own_cells
        )

    def listen(self, is_interrupted: IsInterrupted) -> None:
        """Lets long answers ask whether they are still wanted; see `Listener`."""
        self.is_interrupted = is_interrupted

    def combine(self, strategy: FloatArray, answer: FloatArray, seat: int) -> FloatArray:
        """Returns `[Q]` a profile: `answer` for the player in `seat`, `strategy` for the other."""
        profile = strategy.copy()
        profile[self.table_cells[seat]] = answer[self.table_cells[seat]]
        return profile

    def value(self, profile: FloatArray, seat: int) -> float:
        """Returns what the player in `seat` earns under a profile `[Q]`."""
        reach = self.kernel.realize(profile)
        cells = self.own_cells[seat]
        return dot(reach[cells], self.kernel.terminal_values(seat, reach)[cells])

    def evaluate(self, profile: FloatArray, *, num_threads: int = 1) -> Evaluation:
        """Returns the exact values and best-response values of a profile `[Q]`."""
        reach = self.kernel.realize(profile)
        return Evaluation(
            values=(self.value(profile, 0), self.value(profile, 1)),
            best_response_values=tuple(
                self.kernel.best_response(seat, reach, num_threads=num_threads)[0] for seat in (0, 1)
            ),
        )

    def check_strategy(self, name: str, strategy: FloatArray) -> None:
        """Raises `ConfigError` unless a strategy has the tree's size."""
        expected = (self.kernel.num_table_cells,)
        if strategy.shape != expected:
            raise ConfigError(f"{name} must have shape {expected} on {self.tree.game_label}, got {strategy.shape}")
