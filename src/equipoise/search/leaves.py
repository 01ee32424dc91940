# SPDX-License-Identifier: Apache-2.0
"""What leaves of a depth-limited tree are worth: functions from beliefs to counterfactual values.

Reaches come in as they are and values go out on the same scale; an evaluator that wants them normalised does so itself.
A network is one more of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.arithmetic import multiply
from equipoise.search.beliefs import PublicBelief
from equipoise.solvers.best_response import bind_public_kernel
from equipoise.solvers.cfr import allocate_tables
from equipoise.solvers.rules import CFRPlus, Rule, tabulate_discounts
from equipoise.trees.public import PublicTree
from equipoise.trees.public_pairs import leaf_payoffs
from equipoise.trees.subtree import cut_subtree

__all__ = ["FixedLeaves", "LeafEvaluator", "LeafSolver", "NoisyLeaves", "ResolvedLeaves", "Values", "ZeroLeaves"]

FloatArray = npt.NDArray[np.float64]
LEAST_SHARE = 1e-9  # of the largest reach, with which everybody enters a leaf that is solved
Values = tuple[FloatArray, FloatArray]  # [H] of both players, counterfactual


class LeafEvaluator(Protocol):
    """Says what leaves are worth."""

    def evaluate(self, leaves: Sequence[int], beliefs: Sequence[PublicBelief]) -> Sequence[Values]:
        """Returns both players' counterfactual values at nodes of the whole tree, for the beliefs there."""
        ...


@runtime_checkable
class LeafSolver(LeafEvaluator, Protocol):
    """Also says what is played below leaves, by what it earns against other reaches."""

    def evaluate_played(
        self, leaves: Sequence[int], asked: Sequence[PublicBelief], met: Sequence[PublicBelief]
    ) -> Sequence[Values]:
        """Returns both players' values for the beliefs `met` of what is played below leaves for the beliefs `asked`."""
        ...


class ZeroLeaves:
    """Leaves are worth nothing to anybody."""

    def evaluate(self, leaves: Sequence[int], beliefs: Sequence[PublicBelief]) -> Sequence[Values]:
        """Returns zeros."""
        return [(np.zeros(belief.reach[0].size), np.zeros(belief.reach[1].size)) for belief in beliefs]


class FixedLeaves:
    """Below leaves both players do what a strategy says: the oracle under a fixed continuation."""

    def __init__(self, tree: PublicTree, strategy: FloatArray) -> None:
        """Keeps a strategy `[C]` over the whole tree."""
        self.tree, self.strategy = tree, strategy
        self._payoff: dict[int, FloatArray] = {}

    def evaluate(self, leaves: Sequence[int], beliefs: Sequence[PublicBelief]) -> Sequence[Values]:
        """Returns the values of the strategy."""
        for leaf in leaves:
            if leaf not in self._payoff:
                self._payoff[leaf] = leaf_payoffs(self.tree, leaf, self.strategy)
        pairs = [(self._payoff[leaf], belief.reach) for leaf, belief in zip(leaves, beliefs, strict=True)]
        return [(multiply(payoff, second), -multiply(first, payoff)) for payoff, (first, second) in pairs]

    def evaluate_played(
        self, leaves: Sequence[int], asked: Sequence[PublicBelief], met: Sequence[PublicBelief]
    ) -> Sequence[Values]:
        """Returns the values of the strategy, whatever was asked for."""
        return self.evaluate(leaves, met)


class ResolvedLeaves:
    """Below leaves both players do what CFR finds for the beliefs, from nothing each time: the oracle."""

    def __init__(self, tree: PublicTree, *, iterations: int = 200, rule: Rule | None = None) -> None:
        """Says how leaves are solved.

        Args:
            tree: the whole.
            iterations: of CFR.
            rule: CFR+ with linear averaging if None.
        """
        if iterations < 1:
            raise ConfigError(f"iterations must be at least 1, got {iterations}")
        self.tree, self.iterations = tree, iterations
        self.rule = rule or CFRPlus(gamma=1.0)
        self.discounts = tabulate_discounts(self.rule, 1, iterations)
        self._solvers: dict[int, _LeafRun] = {}

    def _solve(self, leaf: int, beliefs: PublicBelief) -> _LeafRun:
        if leaf not in self._solvers:
            self._solvers[leaf] = _LeafRun(cut_subtree(self.tree, leaf).tree, self.rule)
        run = self._solvers[leaf]
        run.solve(beliefs, self.rule, self.discounts)
        return run

    def evaluate(self, leaves: Sequence[int], beliefs: Sequence[PublicBelief]) -> Sequence[Values]:
        """Returns the values of the solution."""
        return self.evaluate_played(leaves, beliefs, beliefs)

    def evaluate_played(
        self, leaves: Sequence[int], asked: Sequence[PublicBelief], met: Sequence[PublicBelief]
    ) -> Sequence[Values]:
        """Returns the values for some beliefs of the solution for others."""
        triples = zip(leaves, asked, met, strict=True)
        return [self._solve(leaf, solved).values(belief) for leaf, solved, belief in triples]


class _LeafRun:
    """Arrays of one leaf's solves, reused."""

    def __init__(self, tree: PublicTree, rule: Rule) -> None:
        self.tree = tree
        self.kernel = bind_public_kernel(tree)
        self.tables = allocate_tables(tree, self.kernel, rule.kernel)
        self.strategy = tree.legal_share
        self.root = np.zeros(self.kernel.num_cells)

    def solve(self, beliefs: PublicBelief, rule: Rule, discounts: FloatArray) -> None:
        """Runs CFR from nothing on for both players' given reaches."""
        for table in (self.tables.regret_sum, self.tables.strategy_sum, self.tables.value_moments):
            table[:] = 0.0
        self.tables.strategy[:] = self.tree.legal_share
        for cells, own in zip(self.kernel.root_cells, beliefs.reach, strict=True):
            # averages weigh by own reach: who is never there would have none, and its values would mean nothing
            self.root[cells] = np.maximum(own, LEAST_SHARE * own.max(initial=0.0))
        self.tables.realization[:] = self.kernel.realize(self.tables.strategy, root_reach=self.root)
        self.kernel.iterate(rule.kernel, discounts, self.tables, first_t=1, is_alternating=True, num_threads=1)
        self.strategy = self.kernel.normalize(self.tables.strategy_sum)

    def values(self, beliefs: PublicBelief) -> Values:
        """Returns both players' values under the solution."""
        for cells, own in zip(self.kernel.root_cells, beliefs.reach, strict=True):
            self.root[cells] = own
        reach = self.kernel.realize(self.strategy, root_reach=self.root)
        first, second = (
            self.kernel.strategy_values(player, self.strategy, reach)[self.kernel.root_cells[player]]
            for player in (0, 1)
        )
        return first, second


class NoisyLeaves:
    """Another evaluator with normal noise on its values, in proportion to how likely the others are there."""

    def __init__(self, inner: LeafEvaluator, deviation: float, *, rng: np.random.Generator) -> None:
        """Wraps an evaluator.

        Args:
            inner: what is right.
            deviation: of the noise, in the game's unit of utility.
            rng: draws it, anew for every query.
        """
        if not deviation >= 0:
            raise ConfigError(f"deviation must be at least 0, got {deviation}")
        self.inner, self.deviation, self.rng = inner, deviation, rng

    def evaluate(self, leaves: Sequence[int], beliefs: Sequence[PublicBelief]) -> Sequence[Values]:
        """Returns the inner values plus noise."""
        exact = self.inner.evaluate(leaves, beliefs)
        return [
            (self._blur(one[0], belief, 0), self._blur(one[1], belief, 1))
            for one, belief in zip(exact, beliefs, strict=True)
        ]

    def _blur(self, values: FloatArray, beliefs: PublicBelief, player: int) -> FloatArray:
        noise: FloatArray = values + self.deviation * beliefs.mass(player) * self.rng.standard_normal(values.size)
        return noise
