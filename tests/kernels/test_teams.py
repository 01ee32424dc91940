# SPDX-License-Identifier: Apache-2.0
"""Threads and workspaces that live in a kernel: readers beside a solve, forks, kernels that come and go."""

import os
import threading

import numpy as np
import pytest

from equipoise.games.registry import make_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import DCFR
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.public import build_public_tree
from tests.solvers.test_holdem import spot

TREES = {
    "history": lambda: build_history_tree(make_game("leduc")),
    "public": lambda: build_public_tree(derive_public_game(make_game("leduc"))),
    "holdem": lambda: build_holdem_tree(spot("Ks7h2d4c", "TT+, A9s+, KQ|99+, AT+, QJs", menu="50%, a / a")),
}


@pytest.mark.usefixtures("any_team")
@pytest.mark.parametrize("name", TREES)
def test_one_solve_and_four_readers(name):
    solver, alone = (CFRSolver(tree, DCFR(), num_threads=2) for tree in [TREES[name]()] * 2)
    alone.iterate(60)
    is_over, read, failures = threading.Event(), [0] * 4, []

    def keep_reading(reader):
        while not is_over.is_set():
            try:
                evaluation = solver.evaluate()
                strategy = solver.average_strategy()
            except Exception as error:  # whatever it is, the test is to say so
                failures.append(error)
                return
            if not (np.isfinite(evaluation.nash_conv) and np.isfinite(strategy).all()):
                failures.append(evaluation)
            read[reader] += 1

    readers = [threading.Thread(target=keep_reading, args=(reader,)) for reader in range(4)]
    for reader in readers:
        reader.start()
    for _ in range(60):
        solver.iterate(1)
    is_over.set()
    for reader in readers:
        reader.join()
    assert not failures
    np.testing.assert_array_equal(solver.tables.regret_sum, alone.tables.regret_sum)
    np.testing.assert_array_equal(solver.average_sums, alone.average_sums)
    assert solver.evaluate() == alone.evaluate()


@pytest.mark.usefixtures("any_team")
@pytest.mark.parametrize("name", TREES)
def test_one_iteration_a_call_is_many(name):
    tree = TREES[name]()
    parted, whole = (CFRSolver(tree, DCFR(), num_threads=2) for _ in range(2))
    for _ in range(10):
        parted.iterate(1)
        parted.evaluate()
    whole.iterate(10)
    np.testing.assert_array_equal(parted.tables.regret_sum, whole.tables.regret_sum)


@pytest.mark.usefixtures("any_team")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_team_begins_anew_after_a_fork():
    solver = CFRSolver(TREES["holdem"](), DCFR(), num_threads=2)
    solver.iterate(2)
    child = os.fork()
    if child == 0:
        solver.iterate(2)
        os._exit(0 if np.isfinite(solver.evaluate().nash_conv) else 1)
    solver.iterate(2)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.usefixtures("any_team")
def test_threads_end_with_their_kernel():
    before = len(os.listdir("/proc/self/task"))
    for _ in range(5):
        solver = CFRSolver(TREES["public"](), DCFR(), num_threads=3)
        solver.iterate(1)
        del solver
    assert len(os.listdir("/proc/self/task")) <= before
