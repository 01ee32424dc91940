# SPDX-License-Identifier: Apache-2.0
"""Regret matching from averages alone does as well as with regrets."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.matrix import Matrix
from equipoise.solvers.averages_only import AveragesOnlySolver
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR
from equipoise.trees.history import build_history_tree


def random_payoffs(shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, size=shape)


def test_it_plays_what_sticks_out_of_values_that_cancel():
    solver = AveragesOnlySolver(random_payoffs((9, 7)))
    solver.iterate(20)
    rows, columns = solver.payoffs @ solver.averages[1], -(solver.averages[0] @ solver.payoffs)
    first, second = solver.next_strategies()
    # strategies are shares of max(0, rows - value) and max(0, columns + value): two shares tell each value
    (a, b), (c, d) = np.argsort(first)[-2:], np.argsort(second)[-2:]
    value = (first[a] * rows[b] - first[b] * rows[a]) / (first[a] - first[b])
    assert (second[c] * columns[d] - second[d] * columns[c]) / (second[c] - second[d]) == pytest.approx(-value)
    squares = [np.square(np.maximum(gains, 0.0)).sum() for gains in (rows - value, columns + value)]
    assert squares[0] / 9 == pytest.approx(squares[1] / 7)


def test_evaluation_is_that_of_the_tree():
    payoffs = random_payoffs((4, 6))
    solver = AveragesOnlySolver(payoffs)
    solver.iterate(10)
    tree = build_history_tree(Matrix(payoffs=tuple(map(tuple, payoffs.tolist()))))
    expected = evaluate(tree, np.concatenate([[1.0], solver.averages[0], [1.0], solver.averages[1]]))
    assert solver.evaluate().nash_conv == pytest.approx(expected.nash_conv)
    assert solver.evaluate().values == pytest.approx(expected.values)


def test_it_converges_as_regret_matching_does():
    payoffs = random_payoffs((30, 30))
    solver = AveragesOnlySolver(payoffs)
    tree = build_history_tree(Matrix(payoffs=tuple(map(tuple, payoffs.tolist()))))
    regrets = CFRSolver(tree, CFR(), is_alternating=False)
    for iterations in (1, 99, 400):
        solver.iterate(iterations)
        regrets.iterate(iterations)
        assert solver.evaluate().nash_conv == pytest.approx(regrets.evaluate().nash_conv, rel=0.3)
    assert solver.evaluate().nash_conv < 0.1


def test_what_is_no_matrix_is_refused():
    with pytest.raises(ConfigError, match=r"got shape \(3,\)"):
        AveragesOnlySolver([1.0, 2.0, 3.0])


@pytest.mark.parametrize("count", [None, 2.5, -1])
def test_what_is_no_count_of_iterations_is_refused(count):
    with pytest.raises(ConfigError, match="num_iterations must be"):
        AveragesOnlySolver(np.eye(2)).iterate(count)
