# SPDX-License-Identifier: Apache-2.0
"""Calls of one iteration: bound once, and the same bits as calls of many."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.gates import GateKind, RootGate
from equipoise.solvers import cfr
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import DCFR, tabulate_discounts
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.public import build_public_tree
from tests.solvers.test_holdem import spot

KUHN = make_game("kuhn")
TREES = {
    "history": build_history_tree(KUHN),
    "public": build_public_tree(derive_public_game(KUHN)),
    "holdem": build_holdem_tree(spot("Ks7h2d4c9s", "TT+, A9s+|99+, AQs+", menu="50%, a / a")),
}
HOOKED = ["public", "holdem"]


def make_solver(name, *, is_hooked=False, rule=None):
    tree = TREES[name]
    if not is_hooked:
        return CFRSolver(tree, rule)
    size = CFRSolver(tree).kernel.values(CFRSolver(tree).average_sums, is_best=True)[1].size
    gate = RootGate(
        kind=GateKind.RESOLVING,
        player=1,
        mass=np.full(size, 0.5),
        alternative=np.linspace(-1, 1, size),
        deviation=np.zeros(size),
        prior=np.ones(size),
        share=0.8,
        regret=np.zeros((2, size)),
    )
    return CFRSolver(tree, rule, gate=gate, watched=[0])


def assert_same(one, other):
    mine, theirs = one.state(), other.state()
    assert mine.keys() == theirs.keys()
    for key, values in mine.items():
        np.testing.assert_array_equal(values, theirs[key], err_msg=key)


@pytest.mark.parametrize(
    ("name", "is_hooked"), [*((name, False) for name in TREES), *((name, True) for name in HOOKED)]
)
def test_one_iteration_a_call_gives_the_bits_of_many(name, is_hooked):
    many, few = (make_solver(name, is_hooked=is_hooked) for _ in range(2))
    many.iterate(150)
    for count in (1, 1, 0, 2, *[1] * 66, 70, *[1] * 10):
        few.iterate(count)
    assert_same(many, few)


def test_what_is_set_in_between_is_what_counts():
    solver, twin = make_solver("public"), make_solver("public")
    solver.iterate(3)
    solver.is_alternating = False
    solver.num_threads = 2
    solver.iterate(3)
    solver.iteration = 50  # as a warm start has it
    solver.iterate(2)
    solver.change_rule(DCFR(gamma=0.0))
    solver.iterate(2)
    rule, calls = twin.rule.kernel, ((1, 3, DCFR(), True), (4, 3, DCFR(), False), (51, 2, DCFR(), False))
    for first_t, count, run_rule, is_alternating in (*calls, (53, 2, DCFR(gamma=0.0), False)):
        rows = tabulate_discounts(run_rule, first_t, count)
        twin.kernel.iterate(rule, rows, twin.tables, first_t=first_t, is_alternating=is_alternating)
    np.testing.assert_array_equal(solver.tables.regret_sum, twin.tables.regret_sum)
    np.testing.assert_array_equal(solver.average_sums, twin.average_sums)


def test_a_bound_step_is_one_native_call(monkeypatch):
    solver = make_solver("public")
    solver.iterate(1)
    monkeypatch.setattr(cfr, "tabulate_discounts", None)
    monkeypatch.setattr(solver.kernel, "iterate", None)
    for _ in range(cfr.DISCOUNTS_AT_ONCE - 1):
        solver.iterate(1)
    assert solver.iteration == cfr.DISCOUNTS_AT_ONCE
    with pytest.raises(TypeError):
        solver.iterate(1)  # rows have run out


def test_counts_that_make_no_sense_are_refused_by_bound_steps_too():
    solver = make_solver("history")
    solver.iterate(1)
    for wrong in (-1, 1.5, "1"):
        with pytest.raises(ConfigError, match="num_iterations must be"):
            solver.iterate(wrong)
    solver.iterate(np.int64(2))
    assert solver.iteration == 3
