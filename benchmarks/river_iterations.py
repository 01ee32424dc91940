# SPDX-License-Identifier: Apache-2.0
"""Prints what more iterations of a river search give: the least margin, the exact loss and the processor time.

Rivers have every hand and the Libratus menu, at two pots of stacks of 20,000; strategies so far are CFR+ after 20,
200 and 2,000 iterations. The loss is what the opponent's best response wins beyond the value of the river, as a share
of what it wins against the strategy so far. Above 1, search has made it worse. Some three minutes of processor time.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import equipoise
from equipoise.games.holdem.cards import FULL_DECK
from equipoise.games.holdem.menu_notation import MENUS
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.search.gadgets import Maxmargin, Resolve
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.holdem.subgame import HoldemSubgame
from equipoise.search.posing import pose
from equipoise.search.resolving import SubgameSolver
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import DCFR, CFRPlus
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree
from equipoise.trees.vector import TreeStrategy

SEEDS, POTS, BUDGET = (1, 2, 3), (4000, 500), 20_000
MARKS = (500, 1000, 2000, 5000)
SO_FAR = (20, 200, 2000)  # iterations of the strategy so far
METHODS = ("maxmargin", "resolve")


class Row(NamedTuple):
    """What one search had found after so many iterations."""

    method: str
    so_far: int
    iterations: int
    least_margin: float  # share of the pot
    loss: float  # share of that of the strategy so far
    seconds: float  # of processor time


def draw_river(seed: int, pot: int) -> HoldemTree:
    """Returns a river on a board that is the same every time."""
    board = np.random.default_rng(seed).choice(FULL_DECK.cards, 5, replace=False)
    behind, everybody = BUDGET - pot // 2, Range.random(FULL_DECK)
    spot = HoldemSpot(
        board=tuple(int(card) for card in board),
        pot=pot,
        stacks=(behind, behind),
        ranges=(everybody, everybody),
        menu=MENUS["libratus"],
        deck=FULL_DECK,
    )
    return build_holdem_tree(spot, merges_suits=False)


def measure(tree: HoldemTree) -> Iterator[Row]:
    """Yields all searches of one river."""
    solver = CFRSolver(tree, DCFR())
    solver.iterate(3000)
    known = evaluate(tree, solver.tables.strategy_sum).best_response_values
    for so_far in SO_FAR:
        blueprint = CFRSolver(tree, CFRPlus())
        blueprint.iterate(so_far)
        sums = blueprint.tables.strategy_sum
        best = evaluate(tree, sums).best_response_values
        for searcher in (0, 1):
            profile, subgame = HoldemProfile(TreeStrategy(tree, sums)), HoldemSubgame.of_tree(tree, sums)
            value = -known[searcher]  # the opponent has at least this
            before = best[1 - searcher] - value
            for name, method in zip(METHODS, (Maxmargin(), Resolve()), strict=True):
                run, done, seconds = SubgameSolver(subgame, pose(profile, subgame, searcher, method)), 0, 0.0
                for mark in MARKS:
                    began = time.process_time()
                    run.iterate(mark - done)
                    seconds, done = seconds + time.process_time() - began, mark
                    margin = run.result().least_margin / tree.spot.pot
                    after = evaluate(tree, run.tables.strategy_sum).best_response_values[1 - searcher] - value
                    yield Row(name, so_far, mark, margin, after / before, seconds)


def main() -> None:
    """Measures and prints."""
    sys.stdout.write(f"equipoise {equipoise.__version__}, boards of seeds {SEEDS}, pots {POTS}, both players\n")
    rows = [row for seed in SEEDS for pot in POTS for row in measure(draw_river(seed, pot))]
    sys.stdout.write("method, strategy so far, iterations: least margin (median, worst), loss (median, worst), CPU s\n")
    for method in METHODS:
        for so_far in SO_FAR:
            for mark in MARKS:
                some = [row for row in rows if row[:3] == (method, so_far, mark)]
                margins, losses = [row.least_margin for row in some], [row.loss for row in some]
                sys.stdout.write(
                    f"{method}, {so_far}, {mark:,}: {statistics.median(margins):+.2%}, {min(margins):+.2%}; "
                    f"{statistics.median(losses):.2f}, {max(losses):.2f}; "
                    f"{statistics.median(row.seconds for row in some):.2f}\n"
                )


if __name__ == "__main__":
    main()
