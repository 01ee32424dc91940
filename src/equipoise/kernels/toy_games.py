# SPDX-License-Identifier: Apache-2.0
"""Betting on strengths alone, without cards: many small games solved by discounted CFR."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.kernels.arrays import check_array, check_range

__all__ = ["ToyBetting", "solve_toy_games"]

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int32]


class ToyBetting(NamedTuple):
    """One street of betting in pre-order."""

    kind: IntArray  # [N] 0 a decision, 1 a fold, 2 a showdown
    player: IntArray  # [N] who decides, or who has folded
    first_child: IntArray  # [N + 1] where the children of each node begin
    child: IntArray  # [edges] nodes, after their parents
    amount: FloatArray  # [N] at ends: what the loser loses

    def check(self) -> None:
        """Raises `ValueError` unless the arrays are a tree in pre-order."""
        num_nodes = self.kind.size
        for name, size in (("kind", num_nodes), ("player", num_nodes), ("first_child", num_nodes + 1)):
            check_array(name, getattr(self, name), np.int32, (size,))
        check_array("child", self.child, np.int32, (int(self.first_child[-1]),))
        check_array("amount", self.amount, np.float32, (num_nodes,))
        check_range("kind", self.kind, 0, 3)
        check_range("player", self.player, 0, 2)
        counts = np.diff(self.first_child)
        if self.first_child[0] != 0 or (counts < 0).any() or ((counts > 0) != (self.kind == 0)).any():
            raise ValueError("decisions have children and ends have none")
        parents = np.repeat(np.arange(num_nodes), counts)
        if not np.array_equal(np.sort(self.child), np.arange(1, num_nodes)) or (self.child <= parents).any():
            raise ValueError("every node but the first is the child of one before it")


def solve_toy_games(betting: ToyBetting, mass: FloatArray, discounts: npt.NDArray[np.float64]) -> FloatArray:
    """Returns `[B, 2, strengths]` what each strength of both players earns under the average strategies.

    Args:
        betting: of all games.
        mass: `[B, 2, strengths]` of every strength of each player, weakest first, adding up to 1.
        discounts: `[iterations, 3]` by iteration: of positive regrets, of negative ones, of the averages.
    """
    betting.check()
    if mass.ndim != 3 or mass.shape[1] != 2 or mass.shape[2] < 1:
        raise ValueError(f"mass must have shape [games, 2, strengths], got {mass.shape}")
    check_array("mass", mass, np.float32, mass.shape)
    check_array("discounts", discounts, np.float64, (len(discounts), 3))
    out = np.zeros(mass.shape, np.float32)
    _native.toy_games_solve(betting._asdict(), discounts=discounts.astype(np.float32), mass=mass, out=out)
    return out
