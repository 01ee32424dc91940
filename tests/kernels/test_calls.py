# SPDX-License-Identifier: Apache-2.0
"""What calls pass besides arrays, and threads that meet in one kernel."""

import threading

import numpy as np
import pytest

from equipoise.core.errors import ConcurrentUseError, ConfigError
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.registry import make_game
from equipoise.kernels.calls import check_integer, check_num_threads, check_player
from equipoise.kernels.turns import OneCaller
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.mccfr import MCCFRSolver
from equipoise.solvers.rules import CFR
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.public import build_public_tree


def test_whole_numbers_out_of_range_are_refused():
    check_integer("count", np.int64(0), 0)
    with pytest.raises(ConfigError, match="count must be at least 0, got -3"):
        check_integer("count", -3, 0)
    with pytest.raises(ConfigError, match=r"count must be a whole number, got 2\.5"):
        check_integer("count", 2.5, 0)
    with pytest.raises(ConfigError, match="player must be between 0 and 1, got 2"):
        check_player(2, 2)
    with pytest.raises(ConfigError, match="num_threads must be between 1 and 256, got 0"):
        check_num_threads(0)


def test_one_caller_lets_the_next_in_after_an_error():
    one_caller = OneCaller("kernel")
    with pytest.raises(ZeroDivisionError), one_caller:
        raise ZeroDivisionError
    with one_caller, pytest.raises(ConcurrentUseError, match="this kernel is already at work in another thread"):
        one_caller.__enter__()
    with one_caller:
        pass


def make_holdem_solver():
    spot = HoldemSpot(
        board=(0, 5, 10, 15, 20),
        pot=100,
        stacks=(200, 200),
        ranges=(parse_range("22+, A2+"), parse_range("22+, K2+")),
        menu=parse_menu("50%, a / a"),
        big_blind=10,
    )
    return CFRSolver(build_holdem_tree(spot))


SOLVERS = {  # and iterations that take far longer than a thread waits for its turn in Python
    "history": (lambda: CFRSolver(build_history_tree(make_game("leduc")), CFR()), 3000),
    "public": (lambda: CFRSolver(build_public_tree(derive_public_game(make_game("leduc"))), CFR()), 10_000),
    "sampling": (
        lambda: MCCFRSolver(build_history_tree(make_game("leduc")), rng=np.random.default_rng(0)),
        100_000,
    ),
    "holdem": (make_holdem_solver, 5000),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_a_second_thread_in_one_solver_is_refused(name):
    make, num_iterations = SOLVERS[name]
    solver, errors = make(), []

    def iterate(count):
        try:
            solver.iterate(count)
        except ConcurrentUseError as error:
            errors.append(str(error))

    other = threading.Thread(target=iterate, args=(num_iterations,))
    other.start()
    while other.is_alive() and not errors:
        iterate(1)
    other.join()
    assert errors == ["this solver is already at work in another thread; give each its own"]
    before = solver.iteration
    solver.iterate(2)
    assert solver.iteration == before + 2
