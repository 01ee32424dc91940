# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo CFR over hold'em trees: the tables of `CFRSolver`, the schemes and periods of `MCCFRSolver`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.memory import check_memory
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.kernels.arrays import draw_generator
from equipoise.kernels.holdem.arrays import BoardFields
from equipoise.kernels.holdem.sampling import (
    DEAL,
    FOLD,
    SHOWDOWN,
    BettingArrays,
    HoldemSamplingKernel,
    HoldemSamplingTables,
)
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.kernels.sampling import Scheme
from equipoise.solvers.best_response import Evaluation, evaluate
from equipoise.solvers.mccfr import MCCFRConfig, SampledRun, check_plain
from equipoise.solvers.sampled_pruning import prune_betting
from equipoise.trees.holdem.tree import HoldemTree, make_end

__all__ = ["HoldemMCCFRSolver", "check_table_dtype", "lay_out_betting", "make_sampling_tables"]

FloatArray = npt.NDArray[np.float64]

KINDS = {NodeKind.FOLD: FOLD, NodeKind.SHOWDOWN: SHOWDOWN, NodeKind.STREET_END: DEAL}


def lay_out_betting(tree: HoldemTree) -> BettingArrays:
    """Returns the arrays of a tree that single deals walk."""
    nodes: list[tuple[int, int, int, int]] = []
    children: list[int] = []
    scale, rake = np.zeros((2, len(tree.betting.nodes))), np.zeros(len(tree.betting.nodes))
    for node in tree.betting.nodes:
        decision = tree.decisions.get(node.index)
        kind, first_cell = (decision.player, decision.first_cell) if decision else (KINDS[node.kind], 0)
        nodes.append((kind, first_cell, len(children), len(node.children)))
        children += node.children
        if node.kind in (NodeKind.FOLD, NodeKind.SHOWDOWN):
            end = make_end(tree.spot, node, (0, 0), None)
            scale[:, node.index], rake[node.index] = end.scales, end.rake
    first_row, child_row = _invert_parent_rows(tree)
    return BettingArrays(
        nodes=np.array(nodes, np.int32),
        children=np.array(children, np.int32),
        scale=scale,
        rake=rake,
        first_row=first_row,
        child_row=child_row,
    )


def _invert_parent_rows(tree: HoldemTree) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Returns where each board keeps its rows by those of the board above, and these rows."""
    arrays = tree.arrays
    fields = [BoardFields(*row) for row in arrays.boards.tolist()]
    parts: list[npt.NDArray[np.int32]] = []
    first_row = np.full((len(fields), 2), -1, np.int64)
    size = 0
    for above in fields:
        for board in range(above.first_child, above.first_child + above.num_children):
            here = fields[board]
            for player, num_above in enumerate(above.num_hands):
                first, count = here.first_hand[player], here.num_hands[player]
                rows = np.full(num_above, -1, np.int32)
                rows[arrays.parent_row[first : first + count]] = np.arange(count)
                first_row[board, player] = size
                size += num_above
                parts.append(rows)
    return first_row, np.concatenate(parts) if parts else np.zeros(0, np.int32)


def check_table_dtype(dtype: npt.DTypeLike) -> None:
    """Raises `ConfigError` unless sampled tables can have this dtype: one update is lost in 16 bits."""
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ConfigError(f"dtype must be float32 or float64 for sampling, got {np.dtype(dtype)}")


def make_sampling_tables(
    num_cells: int, dtype: npt.DTypeLike, rng: np.random.Generator, *, has_missed: bool = False
) -> HoldemSamplingTables:
    """Returns the tables of a run that has not begun, with what regret-based pruning keeps if asked for."""
    return HoldemSamplingTables(
        regret_sum=np.zeros(num_cells, dtype),
        strategy_sum=np.zeros(num_cells, dtype),
        random_words=draw_generator(rng),
        nodes_touched=np.zeros(1, np.uint64),
        missed=np.zeros(num_cells if has_missed else 0, dtype),
    )


class HoldemMCCFRSolver(SampledRun[HoldemSamplingTables]):
    r"""A run of Monte Carlo CFR on a hold'em tree, on one thread; an iteration updates both players once.

    Public chance sampling draws the board cards of each player's sweep and takes all hands through them. External
    sampling draws a whole deal for each traversal, the traverser's own hand included (the standard form), and the
    opponent's actions; it updates one row of each decision. Nodes touched are betting nodes, ends included: of the
    boards drawn, whatever the number of hands, in the one scheme; of the one deal, and the deal itself, in the other.

    Paper: see `HoldemSamplingKernel`; Brown 2020, thesis sections 2.3.6 and 3.1.5 [B20] for discounting by periods.
    Symbols: as in `MCCFRSolver`.
    Departs from the paper: averages are kept by external sampling at the opponent's decisions, which are met with its
        own reach, and by public chance sampling at the player's, times own reach.
    Checked by: tests/solvers/test_holdem_mccfr.py, tests/kernels/test_holdem_sampling.py.

    >>> from equipoise.runs import load_spot
    >>> from equipoise.trees import build_holdem_tree
    >>> spot = load_spot("board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nranges = {oop = 'AA', ip = 'KK, QQ'}").spot
    >>> solver = HoldemMCCFRSolver(build_holdem_tree(spot), rng=np.random.default_rng(0))
    >>> solver.iterate(100)
    >>> solver.iteration
    100
    """

    def __init__(
        self,
        tree: HoldemTree,
        config: MCCFRConfig | None = None,
        *,
        rng: np.random.Generator,
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        config = config or MCCFRConfig()
        check_table_dtype(dtype)
        if config.scheme not in (Scheme.EXTERNAL, Scheme.PUBLIC_CHANCE):
            raise ConfigError(
                f"hold'em trees are sampled by external or public chance sampling, got {config.scheme_name} sampling"
            )
        if config.has_baselines:
            raise ConfigError(
                f"baselines are for history trees, got {config.baselines.key} baselines on a hold'em tree"
            )
        check_plain(config, "a hold'em tree")
        if config.scheme is Scheme.EXTERNAL:
            _check_deals(tree)
        betting = lay_out_betting(tree)
        self.skipping = prune_betting(config.pruning, betting, "the spot")
        num_tables = 3 if self.skipping.needs_missed else 2
        check_memory(tree.arrays.num_bytes + num_tables * tree.arrays.num_cells * np.dtype(dtype).itemsize, "the spot")
        tables = make_sampling_tables(tree.arrays.num_cells, dtype, rng, has_missed=self.skipping.needs_missed)
        super().__init__(config, tables)
        self.tree = tree
        self.kernel = HoldemKernel(tree.arrays)
        self.sampling = HoldemSamplingKernel(self.kernel, betting)

    def _sample(self, num_iterations: int, node_limit: int) -> int:
        return self.sampling.iterate(
            self.config.scheme, self.tables, num_iterations, node_limit=node_limit, skipping=self.skipping
        )

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the average strategy, in chips per hand given the spot."""
        return evaluate(self.tree, self.tables.strategy_sum, kernel=self.kernel)

    def average_strategy(self, node: int = 0, board: int = 0) -> FloatArray:
        """Returns `[H, A]` the average strategy of `tree.hands[board]` at a decision of the betting tree."""
        return self.tree.normalize(self.tables.strategy_sum, board, node)


def _check_deals(tree: HoldemTree) -> None:
    if (tree.arrays.board_field("num_images")[1:] > 1).any():
        raise ConfigError(
            "external sampling deals cards one by one and this tree shares boards between suits; "
            "build it with merges_suits=False, or sample public chance"
        )
