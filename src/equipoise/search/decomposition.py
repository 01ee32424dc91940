# SPDX-License-Identifier: Apache-2.0
"""CFR on the trunk of a game, its leaves worth what an evaluator says for the beliefs there: CFR-D and CFR-AVG.

Each iteration returns to Python for the leaves and is one native call otherwise.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.arithmetic import dot
from equipoise.kernels.public_hooks import CellList, PublicHooks
from equipoise.search.beliefs import PublicBelief
from equipoise.search.gadgets import Given, Resolve
from equipoise.search.leaves import LeafEvaluator, LeafSolver, Values
from equipoise.search.public import PublicProfile, PublicSubgame
from equipoise.search.resolving import search_everywhere
from equipoise.search.settings import DEFAULT_ITERATIONS
from equipoise.solvers.cfr import allocate_tables
from equipoise.solvers.rules import LinearCFR, Rule, tabulate_discounts
from equipoise.trees.public import PublicTree

__all__ = ["DecomposedSolver", "Decomposition"]

FloatArray = npt.NDArray[np.float64]


class Decomposition(enum.StrEnum):
    """Which beliefs leaves are asked for."""

    CFR_D = "cfr-d"  # those of the present strategies
    CFR_AVG = "cfr-avg"  # those of the averages; what is played there then meets the present reaches
    MODIFIED_CFR_AVG = "modified-cfr-avg"  # those of the averages; present values are extrapolated from two averages


class DecomposedSolver:
    """A run of CFR on a trunk.

    Paper: Burch, Johanson & Bowling 2014 (CFR-D); Brown et al. 2020, "Combining Deep Reinforcement Learning and Search
        for Imperfect-Information Games"; Brown 2020, PhD thesis, section 5.3.9.
    Symbols: beta^pi, beta^avg -> beliefs of present and average reaches; vhat -> the evaluator.
    Departs from the paper: both players are updated at once under CFR-AVG, whose averages would otherwise be of
        different iterations; extrapolation uses the rule's own averaging weights, and counterfactual values, which are
        linear in the average of the opponent's plans.
    Checked by: tests/search/test_decomposition.py.
    """

    def __init__(
        self,
        tree: PublicTree,
        leaves: npt.ArrayLike,
        evaluator: LeafEvaluator,
        *,
        kind: Decomposition = Decomposition.CFR_D,
        rule: Rule | None = None,
        is_alternating: bool = False,
    ) -> None:
        """Begins a run.

        Args:
            tree: the whole.
            leaves: nodes of it at which the trunk ends.
            evaluator: what they are worth; `Decomposition.CFR_AVG` needs one that solves them (`LeafSolver`).
            kind: which beliefs it is asked for.
            rule: linear CFR, the thesis's choice, if None.
            is_alternating: whether each player sees the other's update of the same iteration; CFR-D alone.
        """
        if is_alternating and kind is not Decomposition.CFR_D:
            raise ConfigError(f"{kind} updates both players at once, got alternating updates")
        if kind is Decomposition.CFR_AVG and not isinstance(evaluator, LeafSolver):
            raise ConfigError(f"{kind} needs an evaluator that solves leaves, got {type(evaluator).__name__}")
        self._uniform = uniform = PublicProfile(tree, tree.legal_share)
        self.trunk: PublicSubgame = uniform.subgame(0, leaves=leaves)
        self.kind, self.evaluator = kind, evaluator
        self.rule = rule or LinearCFR()
        self.is_alternating = is_alternating
        self.iteration = 0
        self.total_weight = 0.0
        self.leaves = self.trunk.part.nodes[self.trunk.part.leaves].tolist()
        self._joint = [uniform.beliefs(leaf).joint for leaf in self.leaves]
        part = self.trunk.tree
        self._cells = [
            [part.private_cells(leaf, player) for leaf in self.trunk.part.leaves.tolist()] for player in (0, 1)
        ]
        cells = CellList.of_players(*(np.concatenate(own or [np.zeros(0, np.int32)]) for own in self._cells))
        self.hooks = PublicHooks(self.trunk.kernel, given=cells, watched=cells)
        self.tables = allocate_tables(part, self.trunk.kernel, self.rule.kernel)
        self.tables.strategy[:] = part.legal_share
        self.tables.realization[:] = self.trunk.realize(self.tables.strategy)
        self._last: list[Values] | None = None  # values of the average before

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which asks for the leaves once (twice if alternating)."""
        for row in tabulate_discounts(self.rule, self.iteration + 1, num_iterations):
            self.iteration += 1
            self.total_weight = self.total_weight * row[2] + row[3]
            for players in ((0,), (1,)) if self.is_alternating else ((0, 1),):
                self._give(self._leaf_values(row))
                self.hooks.iterate(
                    self.rule.kernel,
                    row[None],
                    self.tables,
                    first_t=self.iteration,
                    is_alternating=self.is_alternating,
                    players=players,
                )

    def _beliefs(self, realization: FloatArray) -> list[PublicBelief]:
        """Returns the beliefs at all leaves under reaches of all cells `[C]`."""
        return [
            PublicBelief(reach=(realization[first], realization[second]), joint=joint)
            for first, second, joint in zip(*self._cells, self._joint, strict=True)
        ]

    def _average_realization(self, row: FloatArray) -> FloatArray:
        """Returns `[C]` reaches of the average with this iteration's strategies in it."""
        size = self.trunk.kernel.num_table_cells
        sums = self.tables.strategy_sum * row[2] + row[3] * self.tables.realization[:size]
        return self.trunk.realize(self.trunk.kernel.normalize(sums))

    def _leaf_values(self, row: FloatArray) -> Sequence[Values]:
        """Returns what leaves are worth to both players against the other's present reach."""
        present = self._beliefs(self.tables.realization)
        if self.kind is Decomposition.CFR_D:
            return self.evaluator.evaluate(self.leaves, present)
        average = self._beliefs(self._average_realization(row))
        if self.kind is Decomposition.CFR_AVG:
            assert isinstance(self.evaluator, LeafSolver)
            return self.evaluator.evaluate_played(self.leaves, average, present)
        values = list(self.evaluator.evaluate(self.leaves, average))
        share = row[3] / self.total_weight  # of this iteration in the average
        last, self._last = self._last, values
        if last is None:
            return values
        return [
            (
                (now[0] - (1.0 - share) * before[0]) / share,
                (now[1] - (1.0 - share) * before[1]) / share,
            )
            for now, before in zip(values, last, strict=True)
        ]

    def _give(self, values: Sequence[Values]) -> None:
        """Puts values of leaves where the sweep reads them."""
        for player in (0, 1):
            start = int(self.hooks.given.start[player])
            for cells, one in zip(self._cells[player], values, strict=True):
                self.hooks.given_value[start : start + cells.size] = one[player]
                start += cells.size

    def average_strategy(self) -> FloatArray:
        """Returns `[C]` the average strategies of the trunk."""
        return self.trunk.kernel.normalize(self.tables.strategy_sum)

    def average_leaf_values(self, leaf: int, player: int) -> FloatArray:
        """Returns `[H]` a player's counterfactual values at a leaf (a node of the whole tree), averaged."""
        index = self.leaves.index(leaf)
        start = int(self.hooks.watched.start[player]) + sum(cells.size for cells in self._cells[player][:index])
        size = self._cells[player][index].size
        return self.hooks.value_sum[start : start + size] / self.total_weight

    def root_values(self) -> tuple[float, float]:
        """Returns both players' values of the game under the averages, leaves worth what they were on average."""
        strategy = self.average_strategy()
        reach = self.trunk.realize(strategy)
        totals = []
        for player in (0, 1):
            inner = dot(self.trunk.strategy_values(player, strategy, strategy), self.trunk.beliefs.reach[player])
            leaves = sum(
                dot(reach[cells], self.average_leaf_values(leaf, player))
                for leaf, cells in zip(self.leaves, self._cells[player], strict=True)
            )
            totals.append(inner + leaves)
        return totals[0], totals[1]

    def compose(self, *, iterations: int = DEFAULT_ITERATIONS, share: float = 1.0) -> FloatArray:
        """Returns `[C]` over the whole tree: the trunk's averages, and below leaves what safe search finds.

        Args:
            iterations: of CFR, at every leaf for each player.
            share: of the gate in the opponent's range (`Resolve`).
        """
        whole = self.trunk.part.whole
        strategy = whole.legal_share.copy()
        self.trunk.part.insert(self.average_strategy(), strategy)
        blueprint = PublicProfile(whole, strategy, like=self._uniform)
        out = strategy.copy()
        for searcher in (0, 1):

            def method(subgame: PublicSubgame, searcher: int = searcher) -> Resolve:
                values = self.average_leaf_values(subgame.place, 1 - searcher)
                given = Given.from_counterfactual(values, subgame.mass(1 - searcher))
                return Resolve(alternatives=given, share=share)

            found = search_everywhere(blueprint, self.leaves, searcher, method, iterations=iterations)
            own = slice(*whole.cells.cell_start[searcher : searcher + 2].tolist())
            out[own] = found[own]
        return out
