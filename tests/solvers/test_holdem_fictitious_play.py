# SPDX-License-Identifier: Apache-2.0
"""Fictitious play on hold'em trees: the averages of the history trees' runs, hand by hand."""

import dataclasses

import numpy as np
import pytest

import equipoise
from equipoise.core.errors import ConfigError
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.fictitious_play import FLOP, FictitiousPlay, IterationUnit, LinearFictitiousPlay
from equipoise.solvers.holdem.fictitious_play import HoldemFictitiousPlaySolver
from equipoise.solvers.rules import LinearCFR
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.solvers.test_holdem_mccfr import tree


def make_solver(rule, dtype=np.float64, unit=IterationUnit.FULL):
    return HoldemFictitiousPlaySolver(tree(), rule, dtype=dtype, unit=unit)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rule", [FictitiousPlay(), LinearFictitiousPlay(), FLOP()])
def test_averages_come_to_the_value(rule, dtype):
    solver = make_solver(rule, dtype)
    before = solver.evaluate().exploitability
    solver.iterate(400)
    found = solver.evaluate()
    exact = CFRSolver(tree(), dtype=np.float64)
    exact.iterate(500)
    assert found.exploitability < before / 30
    assert found.values[0] == pytest.approx(exact.evaluate().values[0], abs=2 * found.exploitability + 0.01)


def test_linear_cfr_beats_flop_beats_linear_fictitious_play():
    runs = [CFRSolver(tree(), LinearCFR(), dtype=np.float64), make_solver(FLOP()), make_solver(LinearFictitiousPlay())]
    for solver in runs:
        solver.iterate(256)
    scores = [solver.evaluate().exploitability for solver in runs]
    assert scores == sorted(scores)


@pytest.mark.parametrize(("rule", "weights"), [(FictitiousPlay(), [1, 1, 1, 1]), (FLOP(), [1, 2, 3, 4])])
def test_averages_weigh_the_uniform_start_first(rule, weights):
    solver = make_solver(rule)
    history = [solver.last_realization.copy()]
    for _ in range(3):
        solver.iterate(1)
        history.append(solver.last_realization.copy())
    np.testing.assert_allclose(solver.average_realization, np.average(history, axis=0, weights=weights), atol=1e-12)


def test_answers_are_best_responses():
    solver = make_solver(FictitiousPlay())
    solver.iterate(3)
    best = solver.evaluate().best_response_values[0]
    plan = solver.average_realization.copy()
    for own in tree().arrays.own_cells(0):
        plan[own] = solver.respond(0, solver.average_realization)[own]
    values = solver.hands.values(0, plan, plan)
    assert tree().mean_value(0, values) == pytest.approx(best, abs=1e-12)


def test_two_halves_are_a_whole_and_resumed_runs_go_on_to_the_bit():
    whole, half = make_solver(FLOP()), make_solver(FLOP(), unit=IterationUnit.HALF)
    whole.iterate(10)
    half.iterate(7)
    other = make_solver(FLOP(), unit=IterationUnit.HALF)
    other.restore({name: array.copy() for name, array in half.state().items()})
    other.iterate(13)
    assert other.average_sums.tobytes() == whole.average_sums.tobytes()
    assert other.nodes_touched == whole.nodes_touched == 20 * tree().num_nodes


def test_what_it_cannot_do_is_refused():
    with pytest.raises(ConfigError, match="dtype must be float32 or float64 for fictitious play, got int16"):
        HoldemFictitiousPlaySolver(tree(), dtype=np.int16)
    with pytest.raises(ConfigError, match="a spot with rake is not"):
        HoldemFictitiousPlaySolver(build_holdem_tree(dataclasses.replace(tree().spot, rake_rate=0.05)))


def test_spots_are_solved_by_name(tmp_path):
    file = tmp_path / "river.toml"
    file.write_text("board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nranges = {oop = 'AA, QJ', ip = 'KK, QQ'}\n")
    solution = equipoise.solve(file, method="flop", iterations=60)
    assert solution.exploitability < 0.5
    locked = tmp_path / "locked.toml"
    locked.write_text(file.read_text() + "[[locks]]\nline = ''\nplay = {check = 1.0}\n")
    with pytest.raises(ConfigError, match="locks are for method cfr, and the spot has some: got `method` flop"):
        equipoise.solve(locked, method="flop", iterations=1)
