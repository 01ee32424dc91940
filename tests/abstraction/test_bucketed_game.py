# SPDX-License-Identifier: Apache-2.0
"""Card buckets as a game of their own: trained by sampling, its exploitability inside the abstraction falls."""

import numpy as np
import pytest

from equipoise.abstraction.buckets import Percentile, build_buckets
from equipoise.abstraction.lifting import lift
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import DECKS
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.solvers.holdem.bucketed import BucketedSolver
from equipoise.trees.holdem.bucketed import build_bucketed_tree

TINY = DECKS["tiny"]


def make_solver(last_street, has_recall, tmp_path):
    spot = HoldemSpot(
        board=(),
        stacks=(60, 60),
        ranges=(Range.random(TINY), Range.random(TINY)),
        menu=parse_menu("a"),
        big_blind=10,
        last_street=last_street,
        deck=TINY,
    )
    sizes = (None, 3, 3, 3)
    buckets = build_buckets(Percentile(has_recall=has_recall), TINY, sizes=sizes, directory=tmp_path)
    return BucketedSolver(build_bucketed_tree(spot, buckets), rng=np.random.default_rng(1), dtype=np.float64)


@pytest.mark.parametrize("has_recall", [False, True])
def test_exploitability_inside_the_abstraction_falls(has_recall, tmp_path):
    solver = make_solver(Street.FLOP, has_recall, tmp_path)
    figures = []
    for count in (10, 90, 900):
        solver.iterate(count)
        figures.append(solver.evaluate().exploitability)
    assert figures[0] > 2 * figures[1] > 4 * figures[2] > 0


def test_strategies_of_hands_are_those_that_buckets_lift_to(tmp_path):
    solver = make_solver(Street.TURN, False, tmp_path)
    solver.iterate(20)
    tree = solver.tree
    board = tree.boards(next(tree.list_runouts()))[-1]
    node = next(node for node, decision in tree.decisions.items() if tree.streets[decision.street] is Street.FLOP)
    strategy = solver.average_strategy(node, board[:3])
    buckets = tree.buckets(board[:3])
    by_bucket = [strategy[buckets == bucket][0] for bucket in range(3)]
    np.testing.assert_allclose(strategy, lift(by_bucket, tree.assigner, board[:3]))
