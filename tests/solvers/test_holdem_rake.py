# SPDX-License-Identifier: Apache-2.0
"""Rake only shrinks the pot: hold'em trees with rake against single histories, and what the house takes."""

import dataclasses
import functools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Stage
from equipoise.games.registry import make_game
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, Hedge
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.holdem import HoldemTwin, spot_of
from tests.solvers.test_holdem import SPOTS as CARD_SPOTS
from tests.solvers.test_holdem import assert_same_tables, spot, start_from_regrets

RAKE_RATE, RAKE_CAP = 0.05, 2.5
SPOTS = {
    "river": {
        "deck": "small",
        "board": "9cThJsQhKs",
        "stacks": (40, 30),
        "menu": "50%, a / 100%, a",
        "ranges": "AA,KK,AK:0.5,QJs|TT,JJ,A9,AK:0.25",
    },
    "turn": {
        "deck": "small",
        "board": "ThJsQhKs",
        "stacks": (35, 60),
        "menu": "100%, a / a",
        "ranges": "AA,AhKh:0.5,QJs|TT,AsJs,AhKh:0.25",
    },
    "limit_flop": CARD_SPOTS["limit_flop"],
}


class RakedGame:
    """A hold'em game whose winners pay: a fold or a split of the called chips less the house's share."""

    def __init__(self, game):
        self.game = game
        self.spec = dataclasses.replace(game.spec, is_zero_sum=False, min_utility=-1000.0)

    def __getattr__(self, name):
        return getattr(self.game, name)

    def returns(self, state):
        chips = np.array(self.game.returns(state))
        rake = min(RAKE_RATE * 2 * min(state.betting.committed), RAKE_CAP) if state.board else 0.0
        is_split = state.betting.stage is Stage.SHOWDOWN and not chips.any()
        return tuple(chips - (rake / 2 if is_split else rake * (chips > 0)))


@functools.cache
def raked_twin(name):
    game = make_game("holdem_endgame", **{"pot": 20, "small_blind": 5, "big_blind": 10, **SPOTS[name]})
    table = dataclasses.replace(spot_of(game), rake_rate=RAKE_RATE, rake_cap=RAKE_CAP)
    return HoldemTwin(build_holdem_tree(table, merges_suits=False), build_history_tree(RakedGame(game)))


by_spot = pytest.mark.parametrize("name", SPOTS)


@by_spot
@pytest.mark.parametrize("num_threads", [1, 2])
def test_values_and_best_responses_with_rake(name, num_threads):
    pair = raked_twin(name)
    sums = np.random.default_rng(2).uniform(size=int(pair.history.sequence_start[-1])) ** 3
    expected = evaluate(pair.history, CFRSolver(pair.history, CFR()).kernel.normalize(sums))
    got = evaluate(pair.tree, pair.to_cells(sums), num_threads=num_threads)
    np.testing.assert_allclose(got.values, expected.values, rtol=0, atol=1e-10)
    np.testing.assert_allclose(got.best_response_values, expected.best_response_values, rtol=0, atol=1e-10)


@by_spot
@pytest.mark.parametrize("is_alternating", [True, False])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 1e-5)])
@pytest.mark.parametrize("rule", [CFRPlus(), Hedge(horizon=7)], ids=lambda rule: rule.name)
def test_one_iteration_with_rake(name, rule, is_alternating, dtype, tolerance):
    pair, rng = raked_twin(name), np.random.default_rng(1)
    history, solver = start_from_regrets(pair, rule, rng, dtype=dtype, is_alternating=is_alternating)
    history.iterate(1)
    solver.iterate(1)
    assert_same_tables(pair, history, solver, tolerance)


def test_twenty_iterations_with_rake():
    pair = raked_twin("river")
    history, solver = start_from_regrets(pair, DCFR(), np.random.default_rng(3))
    history.iterate(20)
    solver.iterate(20)
    assert_same_tables(pair, history, solver, 1e-8)


def test_no_rake_is_no_rake_to_the_bit():
    table = spot("Ks7h2d4c", "TT+, A9s+, KQ|99+, AT+, QJs", menu="50%, a / a")
    capped = dataclasses.replace(table, rake_rate=0.05, rake_cap=0.0)
    solvers = [CFRSolver(build_holdem_tree(held), dtype=np.float32) for held in (table, capped)]
    for solver in solvers:
        solver.iterate(20)
    np.testing.assert_array_equal(solvers[0].tables.regret_sum, solvers[1].tables.regret_sum)
    assert solvers[0].evaluate() == solvers[1].evaluate()


@pytest.mark.parametrize("board", ["Ks7h2d4c9c", "Ks7h2d"])
def test_the_house_takes_its_share_of_every_pot(board):
    table = spot(board, "TT+, KQ|99+, QJs:0.5")
    plain, raked, capped = (
        CFRSolver(build_holdem_tree(dataclasses.replace(table, **rake))).evaluate()
        for rake in ({}, {"rake_rate": 0.05}, {"rake_rate": 0.05, "rake_cap": 3.0})
    )
    assert sum(plain.values) == pytest.approx(0.0, abs=1e-9)
    assert sum(raked.values) == pytest.approx(-5.0, abs=1e-9)
    assert sum(capped.values) == pytest.approx(-3.0, abs=1e-9)
    # what is won beyond a split shrinks with the pot, and the split itself
    assert raked.values[0] == pytest.approx(plain.values[0] * 0.95 - 2.5, abs=1e-9)


def test_a_solved_spot_with_rake_has_no_profitable_deviation():
    table = spot("Ks7h2d4c9c", "TT+, A9s+, KQ|99+, AT+, QJs", menu="50%, a / a")
    solver = CFRSolver(build_holdem_tree(dataclasses.replace(table, rake_rate=0.05, rake_cap=6.0)))
    solver.iterate(1000)
    result = solver.evaluate()
    assert 0 <= result.exploitability < 0.05
    assert -6.0 <= sum(result.values) <= -5.0  # every pot has at least 100 chips


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rake_rate": -0.1}, "rake_rate must be at least 0 and below 1, got -0.1"),
        ({"rake_rate": 1.0}, "rake_rate must be at least 0 and below 1, got 1.0"),
        ({"rake_rate": float("nan")}, "rake_rate must be at least 0 and below 1, got nan"),
        ({"rake_cap": -1.0}, "rake_cap must be at least 0 chips, got -1.0"),
    ],
)
def test_impossible_rake_is_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        dataclasses.replace(spot("Ks7h2d4c9c"), **changes)
