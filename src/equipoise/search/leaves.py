# SPDX-License-Identifier: Apache-2.0
"""What leaves of a depth-limited tree are worth: functions from beliefs to counterfactual values.

Reaches come in as they are and values go out on the same scale; an evaluator that wants them normalised does so itself.
A network is one more of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.arithmetic import multiply
from equipoise.kernels.frontier import BeliefBatch, LeafValues
from equipoise.search.beliefs import PublicBelief
from equipoise.solvers.best_response import bind_public_kernel
from equipoise.solvers.cfr import allocate_tables
from equipoise.solvers.rules import CFRPlus, Rule, tabulate_discounts
from equipoise.trees.public import PublicTree
from equipoise.trees.public_pairs import leaf_payoffs
from equipoise.trees.subtree import cut_subtree

__all__ = [
    "FixedLeaves",
    "LeafEvaluator",
    "LeafSolver",
    "NoisyLeaves",
    "ResolvedLeaves",
    "Values",
    "ZeroLeaves",
    "batch_beliefs",
    "pack_values",
    "read_beliefs",
]

FloatArray = npt.NDArray[np.float64]
LEAST_SHARE = 1e-9  # of the largest reach, with which everybody enters a leaf that is solved
Values = tuple[FloatArray, FloatArray]  # [H] of both players, counterfactual


class LeafEvaluator(Protocol):
    """Says what leaves are worth."""

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns both players' counterfactual values at public states, for the reaches there."""
        ...


@runtime_checkable
class LeafSolver(LeafEvaluator, Protocol):
    """Also says what is played below leaves, by what it earns against other reaches."""

    def evaluate_played(self, asked: BeliefBatch, met: BeliefBatch) -> LeafValues:
        """Returns both players' values for the reaches `met` of what is played below leaves for the reaches `asked`."""
        ...


def batch_beliefs(states: Sequence[Any], beliefs: Sequence[PublicBelief]) -> BeliefBatch:
    """Returns beliefs at public states as one batch, padded with zeros."""
    counts = np.array([[own.size for own in belief.reach] for belief in beliefs], np.int32).reshape(-1, 2)
    reach = np.zeros((len(beliefs), int(counts[:, 0].max()))), np.zeros((len(beliefs), int(counts[:, 1].max())))
    for index, belief in enumerate(beliefs):
        for player in (0, 1):
            reach[player][index, : counts[index, player]] = belief.reach[player]
    return BeliefBatch(states=states, reach=reach, num_private=counts, joint=[belief.joint for belief in beliefs])


def read_beliefs(batch: BeliefBatch) -> list[PublicBelief]:
    """Returns the beliefs of a batch one by one, without padding."""
    first, second = batch.reach
    return [
        PublicBelief(reach=(first[index, :rows], second[index, :columns]), joint=joint)
        for index, ((rows, columns), joint) in enumerate(zip(batch.num_private.tolist(), batch.joint, strict=True))
    ]


def pack_values(batch: BeliefBatch, values: Iterable[Values]) -> LeafValues:
    """Returns values of leaves one by one as those of a batch."""
    cfv = np.zeros(batch.reach[0].shape), np.zeros(batch.reach[1].shape)
    for index, pair in enumerate(values):
        for player in (0, 1):
            cfv[player][index, : pair[player].size] = pair[player]
    return LeafValues(cfv)


class ZeroLeaves:
    """Leaves are worth nothing to anybody."""

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns zeros."""
        return LeafValues((np.zeros(batch.reach[0].shape), np.zeros(batch.reach[1].shape)))


class FixedLeaves:
    """Below leaves both players do what a strategy says: the oracle under a fixed continuation."""

    def __init__(self, tree: PublicTree, strategy: FloatArray) -> None:
        """Keeps a strategy `[C]` over the whole tree."""
        self.tree, self.strategy = tree, strategy
        self._nodes = {state: node for node, state in enumerate(tree.states)}
        self._payoff: dict[Any, FloatArray] = {}

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns the values of the strategy."""
        for state in batch.states:
            if state not in self._payoff:
                self._payoff[state] = leaf_payoffs(self.tree, self._nodes[state], self.strategy)
        pairs = [
            (self._payoff[state], belief.reach) for state, belief in zip(batch.states, read_beliefs(batch), strict=True)
        ]
        values = [(multiply(payoff, second), -multiply(first, payoff)) for payoff, (first, second) in pairs]
        return pack_values(batch, values)

    def evaluate_played(self, asked: BeliefBatch, met: BeliefBatch) -> LeafValues:
        """Returns the values of the strategy, whatever was asked for."""
        return self.evaluate(met)


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
        self._nodes = {state: node for node, state in enumerate(tree.states)}
        self._solvers: dict[Any, _LeafRun] = {}

    def _solve(self, state: Any, beliefs: PublicBelief) -> _LeafRun:
        if state not in self._solvers:
            self._solvers[state] = _LeafRun(cut_subtree(self.tree, self._nodes[state]).tree, self.rule)
        run = self._solvers[state]
        run.solve(beliefs, self.rule, self.discounts)
        return run

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns the values of the solution."""
        return self.evaluate_played(batch, batch)

    def evaluate_played(self, asked: BeliefBatch, met: BeliefBatch) -> LeafValues:
        """Returns the values for some beliefs of the solution for others."""
        triples = zip(asked.states, read_beliefs(asked), read_beliefs(met), strict=True)
        return pack_values(met, (self._solve(state, solved).values(belief) for state, solved, belief in triples))


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

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns the inner values plus noise."""
        exact = self.inner.evaluate(batch)
        noise = [(self._draw(belief, 0), self._draw(belief, 1)) for belief in read_beliefs(batch)]
        first, second = (values + blur for values, blur in zip(exact.cfv, pack_values(batch, noise).cfv, strict=True))
        return LeafValues((first, second))

    def _draw(self, beliefs: PublicBelief, player: int) -> FloatArray:
        mass = beliefs.mass(player)
        noise: FloatArray = self.deviation * mass * self.rng.standard_normal(mass.size)
        return noise
