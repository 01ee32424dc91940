# SPDX-License-Identifier: Apache-2.0
"""Searches of a round of hold'em: their leaves by method, single iterations of them, drawn, followed, begun anew."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.betting import Street, pot
from equipoise.games.holdem.cards import FULL_DECK
from equipoise.games.holdem.hands import hands_of
from equipoise.kernels.frontier import BeliefBatch, LeafValues
from equipoise.learning.rebel.holdem.nets import HandsGuide, Layer
from equipoise.learning.rebel.settings import BeliefMethod
from equipoise.learning.values.configuration import NetStage
from equipoise.search.holdem.leaves import bind_lines
from equipoise.search.leaves import LeafEvaluator
from equipoise.search.random_iteration import iteration_chances
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import Rule, tabulate_discounts
from equipoise.trees.holdem.tree import HoldemTree

__all__ = [
    "BOARD",
    "LEAST_MASS",
    "NUM_HANDS",
    "AveragedLeaves",
    "IterationSums",
    "begin_with_proposals",
    "count_weight",
    "describe_decision",
    "draw_holdem_iterations",
    "normalize",
    "push_reaches",
    "spread_iterations",
]

FloatArray = npt.NDArray[np.float64]

LEAST_MASS: Final = 1e-9  # of a player, below which nobody is believed to be there
NUM_HANDS: Final = hands_of(FULL_DECK).num_hands
BOARD: Final = 5


def draw_holdem_iterations(
    rule: Rule, iterations: int, count: int, rng: np.random.Generator, *, first: int = 1
) -> npt.NDArray[np.int64]:
    """Returns iterations from the first that can be drawn on, each as often as it counts in the average."""
    chances = iteration_chances(rule, iterations)
    chances[: first - 1] = 0.0
    return rng.choice(iterations, count, p=chances / chances.sum()) + 1


def spread_iterations(
    rule: Rule, iterations: int, count: int, rng: np.random.Generator, *, first: int = 1
) -> npt.NDArray[np.int64]:
    """Returns as many iterations, ascending, at equal distances in the average from one point that is drawn.

    Each is met as often as it counts in the average, and hardly more or less often than that in any one list.
    """
    chances = iteration_chances(rule, iterations)
    chances[: first - 1] = 0.0
    ends = np.cumsum(chances) / chances.sum()
    points = (np.arange(count) + rng.random()) / count
    return np.minimum(np.searchsorted(ends, points, side="right"), iterations - 1) + 1


def count_weight(rule: Rule, iterations: int) -> float:
    """Returns what strategies of so many iterations weigh in the sums of averages."""
    total = 0.0
    for decay, weight in tabulate_discounts(rule, 1, iterations)[:, 2:4].tolist():
        total = total * decay + weight
    return total


class AveragedLeaves:
    """Leaves asked about the beliefs of averages so far, valued for the present strategies: `LeafEvaluator`.

    The reach of averages at a leaf is the mean of reaches, each iteration weighed as the rule weighs its strategies.

    Paper: Brown 2020, PhD thesis, section 5.3.9.
    Symbols: avg^t -> what `evaluate` has added up; v^t -> what it returns.
    Departs from the paper: any weights in place of equal ones.
    Checked by: tests/learning/rebel/test_holdem_methods.py.
    """

    def __init__(self, inner: LeafEvaluator, rule: Rule, *, is_modified: bool) -> None:
        """Begins before the first iteration of a search, in which both players are updated at once.

        Args:
            inner: is asked.
            rule: of the search.
            is_modified: whether values are extrapolated from two averages; if not, those for averages are scaled to
                the present reach of the other player.
        """
        self.inner, self.rule, self.is_modified = inner, rule, is_modified
        self.iteration = 0
        self._reach: tuple[FloatArray, ...] = ()
        self._found: tuple[FloatArray, ...] = ()

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns the values of one more iteration."""
        self.iteration += 1
        decay, weight = tabulate_discounts(self.rule, self.iteration, 1)[0, 2:4].tolist()
        before = self._reach or tuple(np.zeros(own.shape) for own in batch.reach)
        first, second = (decay * old + weight * own for old, own in zip(before, batch.reach, strict=True))
        self._reach = first, second
        found = tuple(own.copy() for own in self.inner.evaluate(dataclasses.replace(batch, reach=(first, second))).cfv)
        if self.is_modified:
            old_found = self._found or tuple(np.zeros(own.shape) for own in found)
            out = tuple((own - decay * old) / weight for own, old in zip(found, old_found, strict=True))
            self._found = found
        else:
            out = tuple(own * self._scale(batch, player) for player, own in enumerate(found))
        return LeafValues((out[0], out[1]))

    def _scale(self, batch: BeliefBatch, player: int) -> FloatArray:
        """Returns `[B, H]` the other's present mass over that of the sums, 0 where nobody was met so far."""
        present, added = (
            np.array([joint.mass(player, own) for joint, own in zip(batch.joint, reach, strict=True)])
            for reach in (batch.reach[1 - player], self._reach[1 - player])
        )
        out = np.zeros(present.shape)
        np.divide(present, added, out=out, where=added > LEAST_MASS)
        return np.maximum(out, 0.0)


class IterationSums:
    """A run whose single iterations are wanted: what an iteration adds to the sums of the averages, in proportion.

    Hold'em trees do not store the strategies of an iteration.
    """

    def __init__(self, solver: CFRSolver[HoldemTree], method: BeliefMethod = BeliefMethod.CFR_D) -> None:
        """Begins before the first iteration."""
        self.solver, self.method = solver, method

    @classmethod
    def of_round(cls, tree: HoldemTree, rule: Rule, ends: LeafEvaluator | None, method: BeliefMethod) -> IterationSums:
        """Returns a search of one round whose root's values are averaged.

        Args:
            tree: of that round alone.
            rule: of the search.
            ends: what lines that leave it are worth; None where none do.
            method: which beliefs these are asked about.
        """
        if ends is None:
            return cls(CFRSolver(tree, rule, dtype=np.float64, watched=(0,)), method)
        if method is not BeliefMethod.CFR_D:
            ends = AveragedLeaves(ends, rule, is_modified=method is BeliefMethod.MODIFIED_CFR_AVG)
        frontier = bind_lines(tree, (), ends)
        alternates = method.is_alternating
        solver = CFRSolver(tree, rule, dtype=np.float64, frontier=frontier, watched=(0,), is_alternating=alternates)
        return cls(solver, method)

    def at(self, iteration: int) -> FloatArray:
        """Returns `[C]` own reach times strategies of an iteration that has not been run yet."""
        solver = self.solver
        solver.iterate(iteration - 1 - solver.iteration)
        before = np.array(solver.average_sums, np.float64)
        solver.iterate(1)
        decay, weight = tabulate_discounts(solver.rule, iteration, 1)[0, 2:4]
        out: FloatArray = np.maximum((solver.average_sums - decay * before) / weight, 0.0)
        return out

    def average(self, iteration: int) -> FloatArray:
        """Returns `[C]` own reach times strategies of the average up to an iteration."""
        self.solver.iterate(iteration - self.solver.iteration)
        sums: FloatArray = np.array(self.solver.average_sums, np.float64)
        return sums / count_weight(self.solver.rule, iteration)

    def believed(self, iteration: int) -> FloatArray:
        """Returns `[C]` what is played where an iteration is drawn, and believed: it, or the average up to it."""
        return self.at(iteration) if self.method is BeliefMethod.CFR_D else self.average(iteration)


def push_reaches(
    tree: HoldemTree, sums: FloatArray, reach: tuple[FloatArray, FloatArray], *, explorer: int = -1, share: float = 0.0
) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Returns both players' reaches `[H]` of the deck at every node of a tree's first street.

    Args:
        tree: of one board.
        sums: `[C]` what strategies are in proportion to.
        reach: `[H]` of the root.
        explorer: who plays uniformly for a share of its decisions, if anybody.
        share: of uniform play.
    """
    nodes, street = tree.betting.nodes, tree.betting.root.state.street
    out = {0: reach}
    for node in nodes:
        if node.index not in out or node.index not in tree.decisions or node.state.street != street:
            continue
        actor = node.state.actor
        policy = np.zeros((NUM_HANDS, len(node.actions)))
        policy[tree.hands[0][actor]] = tree.normalize(sums, 0, node.index)
        if actor == explorer:
            policy = (1.0 - share) * policy + share / len(node.actions)
        for column, child in enumerate(node.children):
            own = out[node.index][actor] * policy[:, column]
            other = out[node.index][1 - actor]
            out[child] = (own, other) if actor == 0 else (other, own)
    return out


def begin_with_proposals(solver: CFRSolver[HoldemTree], guide: HandsGuide, iterations: int) -> None:
    """Begins a search as if what a network proposes had been played for so many iterations.

    Sums of averages are those of so many; regrets are in proportion to the proposals, as large as they can grow to
    where a pot is to be won from all hands that the other player may hold there. Best responses to the proposals are
    left to the iterations that follow.
    """
    tree, rule = solver.tree, solver.rule
    root = normalize(tree.spot.live_weights(0)), normalize(tree.spot.live_weights(1))
    total = count_weight(rule, iterations)
    reached = {0: root}
    for node in tree.betting.nodes:
        if node.index not in reached or node.index not in tree.decisions:
            continue
        actor, hands = node.state.actor, tree.hands[0][node.state.actor]
        reach = reached[node.index]
        proposed = guide.propose(describe_decision(tree, node.index, reach), len(node.actions))
        cells = tree.cells(0, node.index)
        solver.tables.strategy_sum[cells] = total * proposed[hands] * reach[actor][hands, None]
        size = math.sqrt(iterations) * pot(node.state) * float(reach[1 - actor].sum())
        solver.tables.regret_sum[cells] = size * proposed[hands]
        for column, child in enumerate(node.children):
            own = reach[actor] * proposed[:, column]
            reached[child] = (own, reach[1]) if actor == 0 else (reach[0], own)
    solver.begin_after(iterations)


def describe_decision(tree: HoldemTree, node: int, reach: tuple[FloatArray, FloatArray]) -> dict[str, npt.NDArray[Any]]:
    """Returns a decision as networks of policies are told of it, one row, who moves first in its ranges."""
    state, spot = tree.betting.nodes[node].state, tree.spot
    root = normalize(spot.live_weights(0)), normalize(spot.live_weights(1))
    ranges = [own / own.sum() if own.sum() > LEAST_MASS else held for own, held in zip(reach, root, strict=True)]
    whole = float(pot(state))
    begun = tree.betting.root.state.committed
    order = (state.actor, 1 - state.actor)
    told = [*(state.committed[player] / whole for player in order), float(state.committed != begun)]
    layer = Layer(Street(state.street), NetStage.START)
    number = layer.number if layer.street else 0  # before the flop nothing but its end is a layer
    return {
        "layer": np.array([number]),
        "board": np.array([[*spot.board, *[-1] * (BOARD - len(spot.board))]]),
        "ratio": np.array([min(state.stacks) / whole]),
        "range": np.stack([ranges[player] for player in order])[None],
        "told": np.array([told]),
    }


def normalize(weights: FloatArray) -> FloatArray:
    """Returns weights that add up to 1, or nothing if there are none."""
    total = weights.sum()
    return weights / total if total > 0 else weights
