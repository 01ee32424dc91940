# SPDX-License-Identifier: Apache-2.0
"""What leaves of a depth-limited tree are worth: functions from beliefs to counterfactual values.

Reaches come in as they are and values go out on the same scale; an evaluator that wants them normalised does so itself.
A network is one more of these.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.arithmetic import multiply
from equipoise.kernels.frontier import BeliefBatch, Frontier, LeafValues
from equipoise.kernels.vector import VectorKernel
from equipoise.search.beliefs import PublicBelief
from equipoise.solvers.best_response import bind_kernel
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus, Rule
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.joint import DenseJoint, Joint
from equipoise.trees.public import PublicTree
from equipoise.trees.public_pairs import leaf_payoffs
from equipoise.trees.subtree import cut_subtree

__all__ = [
    "FixedLeaves",
    "HeldLeaves",
    "LeafEvaluator",
    "LeafPart",
    "LeafSolver",
    "NoisyLeaves",
    "RecentPlans",
    "ResolvedLeaves",
    "Rest",
    "SwitchedLeaves",
    "Values",
    "ZeroLeaves",
    "batch_beliefs",
    "pack_values",
    "read_reaches",
]

FloatArray = npt.NDArray[np.float64]
LEAST_SHARE = 1e-9  # of the largest reach, with which everybody enters a leaf that is solved
Plan = TypeVar("Plan")
Values = tuple[FloatArray, FloatArray]  # [H] of both players, counterfactual


@runtime_checkable
class LeafEvaluator(Protocol):
    """Says what leaves are worth.

    >>> class Nothing:
    ...     def evaluate(self, batch: BeliefBatch) -> LeafValues:
    ...         return LeafValues((np.zeros_like(batch.reach[0]), np.zeros_like(batch.reach[1])))
    >>> evaluator: LeafEvaluator = Nothing()
    """

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns both players' counterfactual values at public states, for the reaches there."""
        ...


@runtime_checkable
class LeafSolver(LeafEvaluator, Protocol):
    """Also says what is played below leaves, by what it earns against other reaches."""

    def evaluate_played(self, asked: BeliefBatch, met: BeliefBatch) -> LeafValues:
        """Returns both players' values for the reaches `met` of what is played below leaves for the reaches `asked`."""
        ...


class RecentPlans(Generic[Plan]):
    """What an evaluator works out once for the states of a batch: a run asks about the same ones every iteration."""

    def __init__(self, make: Callable[[BeliefBatch], Plan], *, size: int = 4) -> None:
        """Keeps how to make a plan; it may look at the states and joint weights of a batch, not at its reaches.

        Args:
            make: is called with a batch that there is no plan of.
            size: plans that are kept, the newest ones.
        """
        self._make, self._size = make, size
        self._kept: dict[int, tuple[Sequence[Any], Plan]] = {}  # by identity of the states: these are kept too

    def find(self, batch: BeliefBatch) -> Plan:
        """Returns the plan of a batch; its sequence of states tells whether there is one."""
        name = id(batch.states)
        if name in self._kept:
            return self._kept[name][1]
        plan = self._make(batch)
        while len(self._kept) >= self._size:
            del self._kept[next(iter(self._kept))]
        self._kept[name] = batch.states, plan
        return plan


def batch_beliefs(states: Sequence[Any], beliefs: Sequence[PublicBelief]) -> BeliefBatch:
    """Returns beliefs at public states as one batch, padded with zeros."""
    counts = np.array([[own.size for own in belief.reach] for belief in beliefs], np.int32).reshape(-1, 2)
    reach = np.zeros((len(beliefs), int(counts[:, 0].max()))), np.zeros((len(beliefs), int(counts[:, 1].max())))
    for index, belief in enumerate(beliefs):
        for player in (0, 1):
            reach[player][index, : counts[index, player]] = belief.reach[player]
    joint = [DenseJoint(belief.joint) for belief in beliefs]
    return BeliefBatch(states=states, reach=reach, num_private=counts, joint=joint)


def read_reaches(batch: BeliefBatch) -> list[Values]:
    """Returns both players' reaches at the states of a batch one by one, without padding."""
    first, second = batch.reach
    counts = enumerate(batch.num_private.tolist())
    return [(first[index, :rows], second[index, :columns]) for index, (rows, columns) in counts]


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


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class LeafPart:
    """What follows a public state, on a tree of its own."""

    tree: PublicTree | HoldemTree
    copy: Callable[[Any], npt.NDArray[Any]]  # returns `[C]` what a strategy of the whole plays in it
    private: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]] | None = None
    # by player, which private state of the public state each of the root's is; None: they are in order
    frontier: Frontier | None = None  # what its own leaves are worth, if it ends before the game does

    @functools.cached_property
    def kernel(self) -> VectorKernel:
        """Returns the tree as the native module reads it."""
        return bind_kernel(self.tree, frontier=self.frontier)

    def to_rows(self, reach: Values) -> Values:
        """Returns both players' reaches `[H]` of the public state in the order of the root."""
        first, second = (
            reach if self.private is None else (own[rows] for own, rows in zip(reach, self.private, strict=True))
        )
        return np.ascontiguousarray(first), np.ascontiguousarray(second)

    def values(self, table: npt.NDArray[Any], reach: Values, *, is_best: bool = False) -> Values:
        """Returns `[H]` both players' values where both play a table `[C]`, or best responses to it."""
        first, second = self.kernel.values(table, is_best=is_best, root_reach=self.to_rows(reach))
        if self.private is None:
            return first, second
        out = np.zeros(reach[0].size), np.zeros(reach[1].size)
        for player, own in enumerate((first, second)):
            out[player][self.private[player]] = own
        return out


class Rest(Protocol):
    """What follows any public state of a game; hold'em has its own, `search.holdem.leaves.HoldemRest`."""

    def part(self, state: Any) -> LeafPart:
        """Returns what follows a public state."""
        ...


class _PublicRest:
    """What follows the nodes of a public tree."""

    def __init__(self, tree: PublicTree) -> None:
        self.tree = tree
        self._nodes = {state: node for node, state in enumerate(tree.states)}

    def part(self, state: Any) -> LeafPart:
        part = cut_subtree(self.tree, self._nodes[state])
        return LeafPart(tree=part.tree, copy=part.restrict)


def _find_rest(whole: PublicTree | Rest) -> Rest:
    return _PublicRest(whole) if isinstance(whole, PublicTree) else whole


class FixedLeaves:
    """Below leaves both players do what a strategy says: the oracle under a fixed continuation."""

    def __init__(self, whole: PublicTree | Rest, strategy: Any) -> None:
        """Keeps a strategy of the whole: `[C]` over a public tree, or what the rest copies."""
        self.rest, self.strategy = _find_rest(whole), strategy
        self._played: dict[Any, Callable[[Values], Values]] = {}

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns the values of the strategy."""
        return pack_values(batch, map(self._values, batch.states, read_reaches(batch)))

    def _values(self, state: Any, reach: Values) -> Values:
        if state not in self._played:
            self._played[state] = self._play(state)
        return self._played[state](reach)

    def _play(self, state: Any) -> Callable[[Values], Values]:
        """Returns what reaches are worth at a public state."""
        part = self.rest.part(state)
        table = part.copy(self.strategy)
        if isinstance(part.tree, PublicTree):  # few private states: what pairs earn takes less than a sweep
            payoff = leaf_payoffs(part.tree, 0, table)
            return lambda reach: (multiply(payoff, reach[1]), -multiply(reach[0], payoff))
        return functools.partial(part.values, table)

    def evaluate_played(self, asked: BeliefBatch, met: BeliefBatch) -> LeafValues:
        """Returns the values of the strategy, whatever was asked for."""
        return self.evaluate(met)


class ResolvedLeaves:
    """Below leaves both players do what CFR finds for the beliefs, from nothing each time: the oracle."""

    def __init__(
        self,
        whole: PublicTree | Rest,
        *,
        iterations: int = 200,
        rule: Rule | None = None,
        is_alternating: bool = True,
        dtype: npt.DTypeLike = np.float64,
        run: Callable[[CFRSolver[Any], int], None] | None = None,
        is_kept: bool = True,
    ) -> None:
        """Says how leaves are solved.

        Args:
            whole: what there is below leaves.
            iterations: of CFR.
            rule: CFR+ with linear averaging if None.
            is_alternating: whether each player sees the other's update of the same iteration.
            dtype: of tables.
            run: runs iterations, all of them unless it has a reason not to.
            is_kept: whether trees are kept for the next query about the same leaf.
        """
        if iterations < 1:
            raise ConfigError(f"iterations must be at least 1, got {iterations}")
        self.rest, self.iterations = _find_rest(whole), iterations
        self.rule, self.is_alternating, self.dtype = rule or CFRPlus(gamma=1.0), is_alternating, dtype
        self.run, self.is_kept = run or CFRSolver.iterate, is_kept
        self._runs: dict[Any, tuple[LeafPart, CFRSolver[Any]]] = {}

    def _begin(self, state: Any) -> tuple[LeafPart, CFRSolver[Any]]:
        """Returns what follows a leaf, and a run over it."""
        if state in self._runs:
            return self._runs[state]
        part = self.rest.part(state)
        solver: CFRSolver[Any] = CFRSolver(
            part.tree,
            self.rule,
            dtype=self.dtype,
            is_alternating=self.is_alternating,
            frontier=part.frontier,
            kernel=part.kernel,
        )
        if self.is_kept:
            self._runs[state] = part, solver
        return part, solver

    def _solve(self, state: Any, reach: Values) -> tuple[LeafPart, npt.NDArray[Any]]:
        """Returns what follows a leaf, and `[C]` what both players do there."""
        part, solver = self._begin(state)
        # averages weigh by own reach: who is never there would have none, and its values would mean nothing
        first, second = (np.maximum(own, LEAST_SHARE * own.max(initial=0.0)) for own in part.to_rows(reach))
        solver.root_reach = first, second
        solver.reset()
        self.run(solver, self.iterations)
        return part, solver.average_sums if isinstance(part.tree, HoldemTree) else solver.average_strategy()

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns the values of the solution."""
        return self.evaluate_played(batch, batch)

    def evaluate_played(self, asked: BeliefBatch, met: BeliefBatch) -> LeafValues:
        """Returns the values for some beliefs of the solution for others."""
        triples = zip(asked.states, read_reaches(asked), read_reaches(met), strict=True)
        solved = ((*self._solve(state, reach), there) for state, reach, there in triples)
        return pack_values(met, (part.values(table, there) for part, table, there in solved))


class SwitchedLeaves:
    """One evaluator for most of a run, another for its last iterations and for whoever asks afterwards.

    Paper: Moravcik et al. 2017, "DeepStack", supplement: before the flop an auxiliary network, at last the flop's.
    Departs from the paper: nothing.
    """

    def __init__(self, first: LeafEvaluator, last: LeafEvaluator, *, num_last: int = 20) -> None:
        """Keeps both.

        Args:
            first: the inexpensive one.
            last: that of the last iterations.
            num_last: how many these are.
        """
        if num_last < 1:
            raise ConfigError(f"num_last must be at least 1, got {num_last}")
        self.first, self.last, self.num_last = first, last, num_last

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns the values of the last one."""
        return self.last.evaluate(batch)


class HeldLeaves:
    """Another evaluator, asked at every so many calls; in between it is what was said, by how many of the other come.

    Where players are updated in turn, `every=2` asks once an iteration: the second one sees at the leaves how often the
    first one comes there now, not with which hands. Whoever asks once asks the inner evaluator: `SwitchedLeaves`.
    """

    def __init__(self, inner: LeafEvaluator, *, every: int = 2) -> None:
        """Wraps an evaluator.

        Args:
            inner: is asked at the first call about new leaves, and then at every so many.
            every: calls from one question to the next.
        """
        if every < 1:
            raise ConfigError(f"every must be at least 1, got {every}")
        self.inner, self.every = inner, every
        self._held = RecentPlans(_Held)

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns the inner values, or those of an earlier call times the growth of the other's reach."""
        held = self._held.find(batch)
        totals = held.sum_reaches(batch)
        is_asked, held.calls = held.calls % self.every == 0, held.calls + 1
        if is_asked:
            held.values, held.totals = self.inner.evaluate(batch), totals
            return held.values
        first, second = (
            values * np.divide(now, then, out=np.zeros_like(then), where=then > 0)[:, None]
            for values, now, then in zip(held.values.cfv, totals[::-1], held.totals[::-1], strict=True)
        )
        return LeafValues((first, second))


class _Held:
    """What was said of some leaves when they were asked about."""

    values: LeafValues
    totals: Values  # [B] both players' reaches then

    def __init__(self, batch: BeliefBatch) -> None:
        self.calls = 0
        joints = {id(joint): joint for joint in batch.joint}  # leaves on one board share theirs
        numbers = {name: number for number, name in enumerate(joints)}
        self._joint_of = np.array([numbers[id(joint)] for joint in batch.joint], np.int64)
        self._weights = tuple(self._weigh(batch, player, list(joints.values())) for player in (0, 1))

    def _weigh(self, batch: BeliefBatch, player: int, joints: Sequence[Joint]) -> FloatArray:
        """Returns `[J, H]` how many private states of the other each of a player's can come with."""
        out = np.zeros((len(joints), batch.reach[player].shape[1]))
        for number, joint in enumerate(joints):
            counts = batch.num_private[int((self._joint_of == number).argmax())]
            out[number, : counts[player]] = joint.mass(player, np.ones(counts[1 - player]))
        return out

    def sum_reaches(self, batch: BeliefBatch) -> Values:
        """Returns `[B]` both players' reaches, hands weighted by what they come with: other suits change nothing."""
        first, second = (
            (own * weights[self._joint_of]).sum(axis=1) for own, weights in zip(batch.reach, self._weights, strict=True)
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
        leaves = zip(batch.joint, read_reaches(batch), strict=True)
        noise = [
            (self._draw(joint.mass(0, second)), self._draw(joint.mass(1, first))) for joint, (first, second) in leaves
        ]
        first, second = (values + blur for values, blur in zip(exact.cfv, pack_values(batch, noise).cfv, strict=True))
        return LeafValues((first, second))

    def _draw(self, mass: FloatArray) -> FloatArray:
        noise: FloatArray = self.deviation * mass * self.rng.standard_normal(mass.size)
        return noise
