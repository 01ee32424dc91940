# SPDX-License-Identifier: Apache-2.0
"""Single iterations of searches in hold'em: drawn, read off sums of averages, followed, and begun with proposals."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.betting import Street, pot
from equipoise.games.holdem.cards import FULL_DECK
from equipoise.games.holdem.hands import hands_of
from equipoise.learning.rebel.holdem.nets import HandsGuide, Layer
from equipoise.learning.values.configuration import NetStage
from equipoise.search.random_iteration import iteration_chances
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import Rule, tabulate_discounts
from equipoise.trees.holdem.tree import HoldemTree

__all__ = [
    "BOARD",
    "LEAST_MASS",
    "NUM_HANDS",
    "IterationSums",
    "begin_with_proposals",
    "describe_decision",
    "draw_holdem_iterations",
    "normalize",
    "push_reaches",
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


class IterationSums:
    """A run whose single iterations are wanted: what an iteration adds to the sums of the averages, in proportion.

    Hold'em trees do not store the strategies of an iteration.
    """

    def __init__(self, solver: CFRSolver[HoldemTree]) -> None:
        """Begins before the first iteration."""
        self.solver = solver

    def at(self, iteration: int) -> FloatArray:
        """Returns `[C]` own reach times strategies of an iteration that has not been run yet."""
        solver = self.solver
        solver.iterate(iteration - 1 - solver.iteration)
        before = np.array(solver.average_sums, np.float64)
        solver.iterate(1)
        decay, weight = tabulate_discounts(solver.rule, iteration, 1)[0, 2:4]
        out: FloatArray = np.maximum((solver.average_sums - decay * before) / weight, 0.0)
        return out


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
    discounts, total = tabulate_discounts(rule, 1, iterations), 0.0
    for decay, weight in discounts[:, 2:4].tolist():
        total = total * decay + weight
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
