# SPDX-License-Identifier: Apache-2.0
"""CFR on the trunk of a game, its leaves worth what an evaluator says for the beliefs there: CFR-D and CFR-AVG.

Iterations return to Python for the leaves alone.
"""

from __future__ import annotations

import dataclasses
import enum

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import run_repr
from equipoise.kernels.arithmetic import dot
from equipoise.kernels.calls import check_integer
from equipoise.kernels.frontier import BeliefBatch, LeafValues
from equipoise.kernels.sweeps import SweepTables
from equipoise.kernels.vector import WatchedValues
from equipoise.search.gadgets import Given, Resolve
from equipoise.search.leaves import LeafEvaluator, LeafSolver
from equipoise.search.public import PublicProfile, PublicSubgame, bind_leaves
from equipoise.search.resolving import search_everywhere
from equipoise.search.settings import DEFAULT_ITERATIONS
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import LinearCFR, Rule, tabulate_discounts
from equipoise.trees.joint import DenseJoint
from equipoise.trees.public import PublicTree

__all__ = ["DecomposedSolver", "Decomposition"]

FloatArray = npt.NDArray[np.float64]


class Decomposition(enum.StrEnum):
    """Which beliefs leaves are asked for.

    >>> [kind.value for kind in Decomposition]
    ['cfr-d', 'cfr-avg', 'modified-cfr-avg']
    """

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

    >>> from equipoise.games import make_game
    >>> from equipoise.search.leaves import ResolvedLeaves
    >>> from equipoise.search.limits import RoundLimit
    >>> from equipoise.trees import build_public_tree, derive_public_game
    >>> tree = build_public_tree(derive_public_game(make_game("leduc", max_raises=1)))
    >>> solver = DecomposedSolver(tree, RoundLimit().leaves(tree, 0), ResolvedLeaves(tree, iterations=5))
    >>> solver.iterate(5)
    >>> round(float(PublicProfile(tree, solver.compose(iterations=5)).evaluate().nash_conv), 1) >= 0
    True
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
        self.leaves = self.trunk.part.nodes[self.trunk.part.leaves].tolist()
        part = self.trunk.tree
        cells = [[part.private_cells(leaf, player) for leaf in self.trunk.part.leaves.tolist()] for player in (0, 1)]
        self._cells = cells
        joint = [DenseJoint(uniform.beliefs(leaf).joint) for leaf in self.leaves]
        states = [tree.states[leaf] for leaf in self.leaves]
        frontier = bind_leaves(part, self.trunk.part.leaves.tolist(), states, joint, self)
        self._batch = frontier.batch
        self._last: tuple[FloatArray, FloatArray] | None = None  # values of the average before
        self._watch = WatchedValues(self.leaves, (cells[0], cells[1]))
        self.solver = CFRSolver(
            part,
            rule or LinearCFR(),
            is_alternating=is_alternating,
            frontier=frontier if self.leaves else None,
            root_reach=self.trunk.beliefs.reach,
            kernel=self.trunk.kernel,
        )
        self.solver.watched = self._watch  # leaves of the trunk, by their nodes of the whole
        self.rule = self.solver.rule

    __repr__ = run_repr

    @property
    def tables(self) -> SweepTables:
        """Returns the tables of the trunk's run."""
        tables: SweepTables = self.solver.tables
        return tables

    @property
    def iteration(self) -> int:
        """Returns how many iterations have been run."""
        return self.solver.iteration

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which asks for the leaves once (twice if alternating)."""
        check_integer("num_iterations", num_iterations, 0)
        if self.kind is Decomposition.CFR_D:
            self.solver.iterate(num_iterations)
            return
        for _ in range(num_iterations):  # averages of beliefs have this iteration in them
            self.solver.iterate(1)

    def _average_batch(self, row: FloatArray) -> BeliefBatch:
        """Returns the beliefs of the average with this iteration's strategies in it."""
        size = self.trunk.kernel.num_table_cells
        sums = self.tables.strategy_sum * row[2] + row[3] * self.tables.realization[:size]
        realization = self.trunk.realize(self.trunk.kernel.normalize(sums))
        reach = np.zeros(self._batch.reach[0].shape), np.zeros(self._batch.reach[1].shape)
        for player in (0, 1):
            for index, cells in enumerate(self._cells[player]):
                reach[player][index, : cells.size] = realization[cells]
        return dataclasses.replace(self._batch, reach=reach)

    def evaluate(self, present: BeliefBatch) -> LeafValues:
        """Returns what leaves are worth to both players against the other's present reach."""
        if self.kind is Decomposition.CFR_D:
            return self.evaluator.evaluate(present)
        row = tabulate_discounts(self.rule, self.iteration + 1, 1)[0]
        average = self._average_batch(row)
        if self.kind is Decomposition.CFR_AVG:
            assert isinstance(self.evaluator, LeafSolver)
            return self.evaluator.evaluate_played(average, present)
        values = self.evaluator.evaluate(average).cfv
        share = row[3] / (self._watch.weight[0] * row[2] + row[3])  # of this iteration in the average
        last, self._last = self._last, values
        if last is None:
            return LeafValues(values)
        first, second = ((now - (1.0 - share) * before) / share for now, before in zip(values, last, strict=True))
        return LeafValues((first, second))

    def average_strategy(self) -> FloatArray:
        """Returns `[C]` the average strategies of the trunk."""
        return self.trunk.kernel.normalize(self.tables.strategy_sum)

    def average_leaf_values(self, leaf: int, player: int) -> FloatArray:
        """Returns `[H]` a player's counterfactual values at a leaf (a node of the whole tree), averaged."""
        return self._watch.average(player, leaf)

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
