# SPDX-License-Identifier: Apache-2.0
"""The Lemonade Stand Game, and why seats of its equilibria do not fit together."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.lemonade_stand import LemonadeStand, LemonadeState
from equipoise.runs.solution import solve
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.strategy import TabularStrategy, combine_seats
from equipoise.studies.equilibria.lemonade_stand import LEMONADE_STAND, LemonadeConfiguration, conclude
from equipoise.studies.study import Measured, Point, Verdict
from equipoise.trees.history import build_history_tree

GAME = LemonadeStand()


def pure(*points):
    tree = build_history_tree(GAME)
    strategy = np.zeros(int(tree.sequence_start[-1]))
    strategy[tree.sequence_start[:-1]] = 1.0
    for first, point in zip(tree.first_sequence, points, strict=True):
        strategy[first + point] = 1.0
    return TabularStrategy.from_tree(tree, strategy)


def exploitability(strategy):
    tree = build_history_tree(GAME)
    return evaluate(tree, strategy.to_tree(tree)).exploitability


@pytest.mark.parametrize(
    ("stands", "returns"),
    [((0, 4, 8), (4, 4, 4)), ((0, 11, 6), (1, 1, 5)), ((3, 3, 9), (0, 0, 6)), ((1, 10, 9), (3, 1, 1))],
)
def test_distance_to_the_nearest_counts(stands, returns):
    assert GAME.returns(LemonadeState(stands)) == returns


def test_even_spacing_is_an_equilibrium_and_nothing_else_pure():
    assert exploitability(pure(0, 4, 8)) == pytest.approx(0)
    assert exploitability(pure(7, 11, 3)) == pytest.approx(0)
    assert exploitability(pure(0, 3, 6)) > 0.3


def test_seats_of_equilibria_are_none():
    equilibria = [pure(0, 4, 8), pure(1, 5, 9), pure(2, 6, 10)]
    assert exploitability(combine_seats(equilibria)) > 0.2  # 0, 5, 10
    assert exploitability(combine_seats([equilibria[0]] * 3)) == pytest.approx(0)


def test_seats_must_fit_one_game():
    kuhn = solve("kuhn", iterations=5).strategy
    with pytest.raises(ConfigError, match="seats must be of one game"):
        combine_seats([kuhn, pure(0, 4, 8)])
    with pytest.raises(ConfigError, match="has 2 seats, got 3"):
        combine_seats([kuhn] * 3)
    with pytest.raises(ConfigError, match="got nothing"):
        combine_seats([])


def test_the_study_confirms_and_can_deny():
    result = LEMONADE_STAND.run(LemonadeConfiguration(games=("lemonade_stand", "kuhn"), runs=3, iterations=3000))
    assert [claim.verdict for claim in result.conclusion.claims] == [Verdict.CONFIRMED, Verdict.CONFIRMED]
    measured = Measured()
    for game, alone, together in (("lemonade_stand", 0.1, 0.1), ("kuhn", 0.1, 0.5)):
        for curve, value in (("every seat of one run", alone), ("each seat of another run", together)):
            measured.add(Point(panel=game, curve=curve, x=1, y=value))
    denied = conclude(LemonadeConfiguration(games=("lemonade_stand", "kuhn", "leduc")), measured)
    assert [claim.verdict for claim in denied.claims] == [Verdict.DENIED, Verdict.DENIED, Verdict.NOT_MEASURED]
