# SPDX-License-Identifier: Apache-2.0
"""CFR in an abstraction of a public tree: information states that are tied together share one row of the tables.

Values are those of the whole tree; only what a player can tell apart is coarser. Rows may forget (imperfect recall), so
nothing is guaranteed. Sums over rows are done in NumPy, a few operations an iteration: for studies on small games.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.calls import check_integer
from equipoise.solvers.best_response import Evaluation, bind_public_kernel, evaluate
from equipoise.solvers.rules import CFRPlus, Rule
from equipoise.trees.public import PublicTree

__all__ = ["TiedSolver"]

FloatArray = npt.NDArray[np.float64]


class TiedSolver:
    """A run of CFR whose information states share rows; regrets are matched, updates alternate.

    Paper: Waugh et al. 2009, "A Practical Use of Imperfect Recall", for CFR where rows forget.
    Departs from the paper: full-width, with the averages and discounts of any rule that matches regrets.
    Checked by: tests/abstraction/test_tied.py.
    """

    def __init__(self, tree: PublicTree, row: npt.ArrayLike, *, rule: Rule | None = None) -> None:
        """Begins a run.

        Args:
            tree: the whole game.
            row: `[I]` which row each information state plays by; those of a row need the same player and actions.
            rule: CFR+ with linear averaging if None.
        """
        self.tree = tree
        self.rule = rule or CFRPlus(gamma=1.0)
        kernel_rule = self.rule.kernel
        if kernel_rule.policy_map or kernel_rule.is_optimistic:
            raise ConfigError(f"tied information states match regrets, got {self.rule.name}")
        names, rows = np.unique(np.asarray(row), return_inverse=True)
        if rows.shape != tree.infoset_node.shape:
            raise ConfigError(f"every one of {tree.infoset_node.size} information states needs a row, got {rows.size}")
        counts = np.diff(tree.infoset_start)
        player = tree.infoset_player()
        for what, values in (("number of actions", counts), ("player", player)):
            first = np.zeros(names.size, np.int64)
            first[rows] = values
            if not np.array_equal(first[rows], values):
                raise ConfigError(f"information states of a row must have the same {what}")
        self.kernel = bind_public_kernel(tree)
        row_actions = np.zeros(names.size, np.int64)
        row_actions[rows] = counts
        row_start = np.cumsum(row_actions) - row_actions
        column = np.arange(tree.sequence_cell.size) - np.repeat(tree.infoset_start[:-1], counts)
        self._pair = np.repeat(row_start[rows], counts) + column  # [S] place in the tables
        self._row_of_pair = np.repeat(np.arange(names.size), row_actions)  # [pairs of rows]
        self._num_actions = row_actions
        owner = np.repeat(player, counts)  # [S]
        cell = tree.sequence_cell.astype(np.intp)  # what NumPy indexes by: an iteration converts nothing
        self._own_pair = [self._pair[owner == one] for one in (0, 1)]
        self._own_cell = [cell[owner == one] for one in (0, 1)]
        self._is_own = [np.bincount(pair, minlength=self._row_of_pair.size) > 0 for pair in self._own_pair]
        self.regret_sum = np.zeros(self._row_of_pair.size)
        self.strategy_sum = np.zeros(self._row_of_pair.size)
        self.iteration = 0
        self._strategy = self._spread(self._normalize(self.regret_sum))

    def _normalize(self, sums: FloatArray) -> FloatArray:
        """Returns sums divided by their total in every row, evenly where that is zero."""
        gains = np.maximum(sums, 0.0)
        total = np.bincount(self._row_of_pair, gains, minlength=self._num_actions.size)[self._row_of_pair]
        even = 1.0 / self._num_actions[self._row_of_pair]
        out: FloatArray = np.where(total > 0, gains / np.where(total > 0, total, 1.0), even)
        return out

    def _spread(self, rows: FloatArray) -> FloatArray:
        """Returns `[C]` what every information state plays by its row."""
        out = self.tree.legal_share.copy()
        out[self.tree.sequence_cell] = rows[self._pair]
        return out

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which updates both players once."""
        check_integer("num_iterations", num_iterations, 0)
        size = self.regret_sum.size
        for _ in range(num_iterations):
            self.iteration += 1
            discount = self.rule.discounts(self.iteration)
            for player in (0, 1):
                realization = self.kernel.realize(self._strategy)
                cfv = self.kernel.strategy_values(player, self._strategy, realization)
                pair, here, is_own = self._own_pair[player], self._own_cell[player], self._is_own[player]
                values = np.bincount(pair, cfv[here], minlength=size)
                reach = np.bincount(pair, realization[here], minlength=size)
                played = self._normalize(self.regret_sum)
                expected = np.bincount(self._row_of_pair, played * values, minlength=self._num_actions.size)
                instant = values - expected[self._row_of_pair]
                factor = np.where(self.regret_sum > 0, discount.positive, discount.negative)
                updated = np.where(self.regret_sum == 0.0, 0.0, factor * self.regret_sum) + instant
                if self.rule.kernel.floors_regrets:
                    updated = np.maximum(updated, 0.0)
                self.regret_sum = np.where(is_own, updated, self.regret_sum)
                self.strategy_sum = np.where(
                    is_own,
                    discount.average_decay * self.strategy_sum + discount.average_weight * reach,
                    self.strategy_sum,
                )
                self._strategy[here] = self._normalize(self.regret_sum)[pair]

    def average_strategy(self) -> FloatArray:
        """Returns `[C]` the average strategy, every information state by its row."""
        return self._spread(self._normalize(self.strategy_sum))

    def current_strategy(self) -> FloatArray:
        """Returns `[C]` the strategy that the next iteration plays."""
        return self._strategy.copy()

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy in the whole game."""
        return evaluate(self.tree, self.average_strategy(), kernel=self.kernel)
