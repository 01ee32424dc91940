# SPDX-License-Identifier: Apache-2.0
"""Full-width CFR under any rule, over a history tree or, a vector of private states at a time, over a public tree.

Paper: Zinkevich et al. 2007, "Regret Minimization in Games with Incomplete Information"; Brown 2020 [B20] section
    2.3.5 for the form used here.
Symbols: R -> regret_sum; pi_i -> realization; the sum in (2.22) -> strategy_sum.
Departs from the paper: the average is weighted by own reach ([B20] prints the others' in (2.22)); alternating updates
    by default.
Checked by: tests/solvers/test_cfr.py, tests/solvers/test_public_cfr.py, tests/solvers/test_convergence.py.
"""

from __future__ import annotations

from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from equipoise.kernels.calls import check_num_threads
from equipoise.kernels.public import DECISION, Step, allocate_cells
from equipoise.kernels.sweeps import KernelRule, SweepTables
from equipoise.solvers.best_response import Evaluation, bind_kernel, evaluate
from equipoise.solvers.rules import Rule, tabulate_discounts
from equipoise.solvers.saved_state import SavedArrays, name_tables, overwrite_tables, read_count
from equipoise.trees.history import HistoryTree
from equipoise.trees.public import PublicTree

__all__ = [
    "COUNTS",
    "CFRSolver",
    "Tree",
    "allocate_tables",
    "estimate_table_bytes",
    "payoff_bounds",
    "payoff_ranges",
    "scale_share",
]

FloatArray = npt.NDArray[np.float64]
Tree = TypeVar("Tree", HistoryTree, PublicTree)

COUNTS: Final = ("iteration", "skipped_iterations", "start_passes")  # of a full-width run, saved with it


class _TableSizes(NamedTuple):
    """How many numbers the tables of a run hold."""

    table: int  # sequences, or cells of decisions
    realization: int  # sequences, or all cells
    infosets: int  # information sets, or rows
    bound: int  # what the kernel keeps beside the tree


def _table_sizes(tree: HistoryTree | PublicTree) -> _TableSizes:
    if isinstance(tree, PublicTree):
        return _TableSizes(tree.cells.num_table_cells, tree.cells.num_cells, tree.cells.num_rows, 0)
    sequences = int(tree.sequence_start[-1])
    weights = tree.terminal_node.size * (1 if tree.is_zero_sum and tree.num_players == 2 else tree.num_players)
    return _TableSizes(sequences, sequences, tree.num_actions.size, weights)


def estimate_table_bytes(tree: HistoryTree | PublicTree, rule: Rule, *, num_threads: int = 1) -> int:
    """Returns the bytes that a run of this rule allocates beside the tree."""
    kernel, sizes = rule.kernel, _table_sizes(tree)
    tables = 3 * sizes.table
    walks = sizes.realization * (1 + num_threads)  # own reach, and one value table a thread
    return 8 * (tables + walks + sizes.infosets * (kernel.needs_scale + 2 * kernel.tracks_variance) + sizes.bound)


def allocate_tables(tree: HistoryTree | PublicTree, rule: KernelRule) -> SweepTables:
    """Returns the tables of a run that has not begun: no regrets, no strategy yet."""
    sizes = _table_sizes(tree)
    scale = np.empty(0)
    if rule.needs_scale:
        # where nothing is decided the range is zero, and the smallest scale still has a finite inverse
        scale = np.maximum(payoff_ranges(tree) * scale_share(rule), 1e-150)
    return SweepTables(
        regret_sum=allocate_cells(sizes.table),
        strategy_sum=allocate_cells(sizes.table),
        strategy=allocate_cells(sizes.table),
        realization=allocate_cells(sizes.realization),
        scale=scale,
        value_moments=np.zeros((sizes.infosets if rule.tracks_variance else 0, 2)),
    )


def scale_share(rule: KernelRule) -> float:
    """Returns the share of a payoff range that is Hedge's scale, or the least one where the variance is tracked."""
    return 1e-9 if rule.tracks_variance else 1.0


def payoff_ranges(tree: HistoryTree | PublicTree) -> FloatArray:
    """Returns `[I]` the distance between the largest and smallest utility of the owner below each information set.

    On a public tree, over rows; a pair of private states that holds several histories counts with its mean utility.
    """
    return _public_payoff_ranges(tree) if isinstance(tree, PublicTree) else _history_payoff_ranges(tree)


def _history_payoff_ranges(tree: HistoryTree) -> FloatArray:
    return payoff_bounds(tree)[1]


def payoff_bounds(tree: HistoryTree) -> tuple[FloatArray, FloatArray]:
    """Returns `[Q]` the owner's largest utility below each sequence, and `[I]` the payoff ranges."""
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
    return largest, ranges


def _public_payoff_ranges(tree: PublicTree) -> FloatArray:
    largest, smallest = np.full(tree.cells.num_cells, -np.inf), np.full(tree.cells.num_cells, np.inf)
    utility = tree.payoff / tree.payoff_chance
    for node, table, factor in zip(tree.terminal_node, tree.payoff_table, tree.payoff_factor, strict=True):
        entries = slice(tree.payoff_start[table], tree.payoff_start[table + 1])
        for player in (0, 1):
            cells = tree.private_cells(int(node), player)[tree.payoff_private[player, entries]]
            np.maximum.at(largest, cells, factor * utility[player, entries])
            np.minimum.at(smallest, cells, factor * utility[player, entries])
    ranges = np.zeros(tree.cells.num_rows)
    for fields in reversed(tree.cells.steps.tolist()):
        step = Step(*fields)
        items = slice(step.first_index, step.first_index + step.num_items)
        if step.kind != DECISION:
            source, target = tree.cells.entry_source[items], tree.cells.entry_target[items]
            np.maximum.at(largest, source, largest[target])
            np.minimum.at(smallest, source, smallest[target])
            continue
        shape = step.num_items, step.num_actions, step.stride
        block = slice(step.first_cell, step.first_cell + step.num_items * step.num_actions * step.stride)
        high, low = largest[block].reshape(shape).max(axis=1), smallest[block].reshape(shape).min(axis=1)
        rows = slice(step.first_row, step.first_row + high.size)
        ranges[rows] = np.maximum(high - low, 0.0).ravel()  # padding has no payoffs: -inf - inf
        above = (tree.cells.source[items, None] + np.arange(step.stride)).ravel()
        np.maximum.at(largest, above, high.ravel())
        np.minimum.at(smallest, above, low.ravel())
    return ranges


class CFRSolver(Generic[Tree]):
    """A run of full-width CFR: tables over a tree, advanced by `iterate`.

    Strategies are numbered as the tree numbers them: `[Q]` sequences, or the decisions' cells of a public tree.
    """

    def __init__(self, tree: Tree, rule: Rule, *, is_alternating: bool = True, num_threads: int = 1) -> None:
        check_num_threads(num_threads)
        self.tree: Tree = tree
        self.rule = rule
        self.is_alternating = is_alternating
        self.num_threads = num_threads
        self.kernel = bind_kernel(tree)
        self.tables = allocate_tables(tree, rule.kernel)
        self.begin_after(0)

    @property
    def nodes_touched(self) -> int:
        """Returns the nodes visited so far: all histories (or public states), once per player and iteration."""
        num_run = self.iteration - self.skipped_iterations
        return int((num_run * self.tree.num_players + self.start_passes) * self.tree.actor.size)

    def begin_after(self, iteration: int, *, num_passes: int = 0) -> None:
        """Takes the sums as they stand for those of a run after an iteration, which it has not run itself.

        Args:
            iteration: the last one that they stand for.
            num_passes: over the tree, one player each, that it took to find them.
        """
        self.iteration = self.skipped_iterations = iteration
        self.start_passes = num_passes
        self.tables.strategy[:] = self.kernel.normalize(self.tables.regret_sum)
        self.tables.realization[:] = self.kernel.realize(self.tables.strategy)

    def reset(self) -> None:
        """Begins the run again."""
        for table in (self.tables.regret_sum, self.tables.strategy_sum, self.tables.value_moments):
            table[:] = 0.0
        self.begin_after(0)

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
        return {**name_tables(self.tables), **{name: np.array(getattr(self, name)) for name in COUNTS}}

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state of the same tree and rule."""
        counts = {name: read_count(state, name) for name in COUNTS}
        overwrite_tables(name_tables(self.tables), state)
        for name, count in counts.items():
            setattr(self, name, count)
