# SPDX-License-Identifier: Apache-2.0
"""Iterations that are interrupted between two boards and finished later: to the bit what nobody interrupted."""

import numpy as np
import pytest

from equipoise.core.errors import AbandonedError, CheckpointError
from equipoise.core.interruption import call_watched
from equipoise.games.holdem.spot_file import parse_spot
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.driver import run
from equipoise.solvers.rules import CFRPlus, Optimistic
from equipoise.trees.holdem.tree import build_holdem_tree

FLOP = """
board = "9c8c7d"
deck = "6789TJ/cdhs"
pot = 20
stacks = 30
big_blind = 2
menu = "100%, a / a; cap: 2"
ranges = {oop = "66+, JTs, T9s", ip = "77+, J9s, 76s"}
"""


@pytest.fixture(scope="module")
def tree():
    return build_holdem_tree(parse_spot(FLOP).spot)


def assert_same(solver, other):
    mine, theirs = solver.state(), other.state()
    assert mine.keys() == theirs.keys()
    assert all(np.array_equal(mine[name], theirs[name]) for name in mine)


@pytest.mark.parametrize("num_threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_what_is_interrupted_is_finished_to_the_bit(tree, dtype, num_threads):
    whole, solver = (CFRSolver(tree, dtype=dtype, num_threads=num_threads) for _ in range(2))
    whole.iterate(4)
    num_stops = 0
    for num_boards in (1, 7, 40, 3, 90, 11, 160, 2, 5, 300):
        solver.kernel.stop(num_boards)
        solver.iterate(min(1, 4 - solver.iteration))
        num_stops += solver.is_within_iteration
        solver.evaluate()  # may use the same memory
    solver.iterate(4 - solver.iteration)
    assert num_stops > 3
    assert_same(solver, whole)


@pytest.mark.parametrize("rule", [CFRPlus(), Optimistic(CFRPlus())])
@pytest.mark.parametrize("is_alternating", [True, False])
def test_any_rule_and_order_of_updates_is_finished(tree, rule, is_alternating):
    whole, solver = (CFRSolver(tree, rule, is_alternating=is_alternating) for _ in range(2))
    whole.iterate(2)
    for num_boards in (20, 100, 50):
        solver.kernel.stop(num_boards)
        solver.iterate(2 - solver.iteration)
    solver.iterate(2 - solver.iteration)
    assert_same(solver, whole)


def test_a_run_is_saved_within_an_iteration_and_goes_on_with_any_number_of_threads(tree):
    whole, solver, later = (CFRSolver(tree, num_threads=count) for count in (1, 2, 1))
    whole.iterate(3)
    solver.iterate(1)
    solver.kernel.stop(30)
    solver.iterate(2)
    assert solver.is_within_iteration
    assert solver.iteration == 1
    later.restore(solver.state())
    later.iterate(2)
    assert_same(later, whole)


def test_a_damaged_pause_is_refused(tree):
    solver = CFRSolver(tree)
    solver.kernel.stop(30)
    solver.iterate(1)
    state = solver.state()
    for place in range(state["pause_places"].size):
        for change in (-(2**40), 2**40):
            places = state["pause_places"].copy()
            places[place] += change
            with pytest.raises(CheckpointError, match="damaged"):
                CFRSolver(tree).restore({**state, "pause_places": places})
    with pytest.raises(CheckpointError, match="damaged"):
        CFRSolver(tree).restore({**state, "pause_sums": state["pause_sums"][:-1]})


def test_what_begins_again_has_no_pause(tree):
    whole, solver = CFRSolver(tree), CFRSolver(tree)
    solver.kernel.stop(30)
    solver.iterate(1)
    solver.reset()
    for one in (whole, solver):
        one.iterate(1)
    assert_same(solver, whole)


def test_an_evaluation_is_given_up(tree):
    solver = CFRSolver(tree)
    solver.iterate(1)
    solver.kernel.stop()
    with pytest.raises(AbandonedError):
        solver.evaluate()
    assert solver.evaluate().exploitability > 0


def test_somebody_who_interrupts_a_long_iteration_does_not_wait(tree, monkeypatch):
    monkeypatch.setattr("equipoise.solvers.driver.LONG_WAIT_SECONDS", 0.0)
    solver = CFRSolver(tree)
    asked = []

    def is_interrupted():
        asked.append(True)
        return len(asked) > 1  # not before the first call, but as soon as it is watched

    assert list(run(solver, iterations=100, is_interrupted=is_interrupted)) == []
    assert solver.iteration <= 1


def test_watched_work_raises_what_it_raised():
    def fail():
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        call_watched(fail, lambda: False, lambda: None)
