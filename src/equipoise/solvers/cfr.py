# SPDX-License-Identifier: Apache-2.0
"""Full-width CFR over a history tree, under any rule.

Paper: Zinkevich et al. 2007, "Regret Minimization in Games with Incomplete Information"; Brown 2020 [B20] section
    2.3.5 for the form used here.
Symbols: R -> regret_sum; pi_i -> realization; the sum in (2.22) -> strategy_sum.
Departs from the paper: the average is weighted by own reach ([B20] prints the others' in (2.22)); alternating updates
    by default.
Checked by: tests/solvers/test_cfr.py, tests/solvers/test_convergence.py.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.history import HistoryTables, KernelRule
from equipoise.solvers.best_response import Evaluation, bind_history_kernel, evaluate
from equipoise.solvers.rules import Rule, tabulate_discounts
from equipoise.trees.history import HistoryTree

__all__ = ["CFRSolver", "allocate_tables", "estimate_table_bytes"]

FloatArray = npt.NDArray[np.float64]

TABLE_NAMES = (
    "regret_sum",
    "strategy_sum",
    "strategy",
    "realization",
    "last_regret",
    "scale",
    "value_moments",
)


def estimate_table_bytes(tree: HistoryTree, rule: Rule, *, num_threads: int = 1) -> int:
    """Returns the bytes that a run of this rule allocates beside the tree."""
    kernel = rule.kernel
    sequences, infosets = int(tree.sequence_start[-1]), tree.num_actions.size
    tables = 4 + kernel.needs_last_regret + num_threads  # the last: one value table a thread
    weights = tree.terminal_node.size * (1 if tree.is_zero_sum and tree.num_players == 2 else tree.num_players)
    return 8 * (sequences * tables + infosets * (kernel.needs_scale + 2 * kernel.tracks_variance) + weights)


def allocate_tables(tree: HistoryTree, rule: KernelRule) -> HistoryTables:
    """Returns the tables of a run that has not begun: no regrets, the uniform strategy."""
    sequences, infosets = int(tree.sequence_start[-1]), tree.num_actions.size
    scale = np.empty(0)
    if rule.needs_scale:
        ranges = payoff_ranges(tree)
        # with the variance tracked this is the lower clamp of three deviations, else the scale itself
        scale = np.maximum(ranges, 1e-300) * (1e-9 if rule.tracks_variance else 1.0)
    return HistoryTables(
        regret_sum=np.zeros(sequences),
        strategy_sum=np.zeros(sequences),
        strategy=np.ones(sequences),
        realization=np.ones(sequences),
        last_regret=np.zeros(sequences if rule.needs_last_regret else 0),
        scale=scale,
        value_moments=np.zeros((infosets if rule.tracks_variance else 0, 2)),
    )


def payoff_ranges(tree: HistoryTree) -> FloatArray:
    """Returns `[I]` the distance between the largest and smallest utility of the owner below each information set."""
    sequences = int(tree.sequence_start[-1])
    largest, smallest = np.full(sequences, -np.inf), np.full(sequences, np.inf)
    for player in range(tree.num_players):
        np.maximum.at(largest, tree.terminal_sequence[player], tree.utility[player])
        np.minimum.at(smallest, tree.terminal_sequence[player], tree.utility[player])
    ranges = np.empty(tree.num_actions.size)
    for infoset in range(tree.num_actions.size - 1, -1, -1):
        first = tree.first_sequence[infoset]
        last = first + tree.num_actions[infoset]
        high, low = largest[first:last].max(), smallest[first:last].min()
        ranges[infoset] = high - low
        above = tree.parent_sequence[infoset]
        largest[above] = max(largest[above], high)
        smallest[above] = min(smallest[above], low)
    return ranges


class CFRSolver:
    """A run of full-width CFR: tables over a history tree, advanced by `iterate`."""

    def __init__(self, tree: HistoryTree, rule: Rule, *, is_alternating: bool = True, num_threads: int = 1) -> None:
        if num_threads < 1:
            raise ConfigError(f"num_threads must be at least 1, got {num_threads}")
        self.tree = tree
        self.rule = rule
        self.is_alternating = is_alternating
        self.num_threads = num_threads
        self.iteration = 0
        self.kernel = bind_history_kernel(tree)
        self.tables = allocate_tables(tree, rule.kernel)
        self.tables.strategy[:] = self.kernel.normalize(self.tables.regret_sum)
        self.tables.realization[:] = self.kernel.realize(self.tables.strategy)

    @property
    def nodes_touched(self) -> int:
        """Returns the histories visited so far: all of them, once per player and iteration."""
        return self.iteration * self.tree.num_players * self.tree.actor.size

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which updates every player once."""
        first_t = self.iteration + 1
        self.kernel.iterate(
            self.rule.kernel,
            tabulate_discounts(self.rule, first_t, num_iterations),
            self.tables,
            first_t=first_t,
            is_alternating=self.is_alternating,
            num_threads=self.num_threads,
        )
        self.iteration += num_iterations

    def average_strategy(self) -> FloatArray:
        """Returns `[Q]` the average strategy, the one that converges."""
        return self.kernel.normalize(self.tables.strategy_sum)

    def current_strategy(self) -> FloatArray:
        """Returns `[Q]` the strategy that the next iteration plays."""
        return self.tables.strategy.copy()

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy."""
        return evaluate(self.tree, self.average_strategy(), kernel=self.kernel, num_threads=self.num_threads)

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit."""
        arrays: dict[str, npt.NDArray[np.generic]] = {name: getattr(self.tables, name) for name in TABLE_NAMES}
        return {**arrays, "iteration": np.array(self.iteration)}

    def restore(self, state: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Overwrites the run with a saved state of the same tree and rule."""
        for name in TABLE_NAMES:
            table = getattr(self.tables, name)
            if name not in state or state[name].shape != table.shape:
                got = state[name].shape if name in state else "nothing"
                raise ConfigError(f"saved {name} must have shape {table.shape}, got {got}")
            table[...] = state[name]
        self.iteration = int(state["iteration"])
