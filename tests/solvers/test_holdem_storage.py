# SPDX-License-Identifier: Apache-2.0
"""Tables of 16 bits: an iteration is one of float32 rounded to the nearest steps, and runs converge as far."""

import numpy as np
import pytest

from equipoise.games.holdem.cards import DECKS
from equipoise.solvers.cfr import CFRSolver, estimate_bytes
from equipoise.solvers.holdem.view import view_average
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, PredictiveCFRPlus
from equipoise.solvers.saved_state import name_tables
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.holdem import decode_table, used_cells
from tests.solvers.test_holdem import SYMMETRIC, spot

RANGES = "TT+, A9s+, KQ|99+, AT+, QJs"
TABLES = ("regret", "strategy", "last")


def decode(solver, name):
    """Returns a table's numbers and the step of each."""
    cells = {"regret": "regret_sum", "strategy": "strategy_sum", "last": "last_regret"}[name]
    return decode_table(solver.tree, getattr(solver.tables, cells), getattr(solver.tables, f"{name}_exponent"))


@pytest.mark.parametrize("rule", [DCFR(), CFRPlus(), PredictiveCFRPlus()], ids=lambda rule: rule.name)
@pytest.mark.parametrize("board", ["Ks7h2d4c9c", "Ks7h2d4c"])
def test_an_iteration_is_one_of_float32_rounded(rule, board):
    tree = build_holdem_tree(spot(board, RANGES, menu="50%, a / a"))
    names = TABLES if rule.kernel.is_optimistic else TABLES[:2]
    packed = CFRSolver(tree, rule, dtype=np.int16, is_alternating=False)
    packed.iterate(30)
    plain = CFRSolver(tree, rule, dtype=np.float32, is_alternating=False)
    state = plain.state()
    for name, table in zip(names, ("regret_sum", "strategy_sum", "last_regret"), strict=False):
        state[table] = decode(packed, name)[0].astype(np.float32)
    plain.restore({**state, "iteration": np.array(30)})
    for solver in (packed, plain):
        solver.iterate(1)
    used = used_cells(tree)
    for name, table in zip(names, ("regret_sum", "strategy_sum", "last_regret"), strict=False):
        values, steps = (numbers[used] for numbers in decode(packed, name))
        expected = getattr(plain.tables, table)[used]
        errors = (values - expected) / np.where(steps > 0, steps, 1.0)
        assert np.abs(errors).max() < 1.01
        assert abs(errors[expected != 0].mean()) < 0.02  # rounded up as often as down
        assert (np.abs(expected[steps == 0]) < 1e-20).all()
        assert steps.max() <= np.abs(expected).max() / 2**14 * 1.01


@pytest.mark.parametrize("rule", [CFR(), DCFR()], ids=lambda rule: rule.name)
def test_a_run_in_16_bits_converges_as_far(rule):
    tree = build_holdem_tree(spot("Ks7h2d4c9c", RANGES, menu="50%, 100%, a / 100%, a"))
    results = []
    for dtype in (np.float32, np.int16):
        solver = CFRSolver(tree, rule, dtype=dtype)
        solver.iterate(2000)
        results.append(solver.evaluate().exploitability)
    assert results[1] < 1.3 * results[0] + 1e-3


def test_symmetric_hands_round_alike():
    table = spot(*SYMMETRIC["turn"][:2], menu="100%, a / a", deck=DECKS["small"], pot=20, stacks=(60, 60))
    solver = CFRSolver(build_holdem_tree(table), dtype=np.int16)
    solver.iterate(300)
    side = solver.tree.arrays.board(0).first_hand_0
    same = solver.tree.arrays.value_row[side : side + solver.tree.hands[0][0].size]
    strategy = solver.tree.normalize(solver.average_sums, 0, 0)
    assert (same != np.arange(same.size)).any()
    np.testing.assert_array_equal(strategy, strategy[same])


def test_threads_round_alike():
    tree = build_holdem_tree(spot("Ks7h2d4c9c", RANGES, menu="50%, a / a"))
    runs = [CFRSolver(tree, dtype=np.int16, num_threads=num_threads) for num_threads in (1, 1, 2, 3)]
    for solver in runs:
        solver.iterate(3)
        np.testing.assert_array_equal(runs[0].tables.regret_sum, solver.tables.regret_sum)


def test_a_restored_run_in_16_bits_goes_on_to_the_bit():
    tree = build_holdem_tree(spot("Ks7h2d4c", "TT+, KQ|99+, QJs", menu="50%, a / a"))
    runs = [CFRSolver(tree, PredictiveCFRPlus(), dtype=np.int16) for _ in range(2)]
    runs[0].iterate(5)
    runs[1].restore({name: table.copy() for name, table in runs[0].state().items()})
    for solver in runs:
        solver.iterate(5)
    np.testing.assert_array_equal(runs[0].tables.strategy_sum, runs[1].tables.strategy_sum)
    np.testing.assert_array_equal(runs[0].tables.last_exponent, runs[1].tables.last_exponent)


def test_locks_hold_in_16_bits():
    table = spot("Ks7h2d4c9c", RANGES, menu="50%, a / a")
    locks = [NodeLock(node=0, strategy=[0.25, 0.5, 0.25])]
    solver = CFRSolver(build_holdem_tree(table, locks=locks), dtype=np.int16, locks=locks)
    solver.iterate(300)
    strategy = solver.tree.normalize(solver.average_sums, 0, 0)
    np.testing.assert_allclose(strategy, [[0.25, 0.5, 0.25]] * len(strategy), rtol=0, atol=2e-5)
    assert solver.evaluate().exploitability < 0.5 < solver.evaluate(respects_locks=False).exploitability


def test_views_read_16_bits():
    table = spot("Ks7h2d4c9c", RANGES, menu="50%, a / a")
    solver = CFRSolver(build_holdem_tree(table), dtype=np.int16)
    solver.iterate(20)
    shown = [player.value - table.pot / 2 for player in view_average(solver, table.board).players]
    np.testing.assert_allclose(shown, solver.evaluate().values, rtol=0, atol=1e-9)


def test_16_bits_take_little_more_than_half_the_memory():
    tree = build_holdem_tree(spot("Ks7h2d4c", RANGES, menu="33%, 75%, 150% / 100%, a", stacks=(900, 900)))
    solver = CFRSolver(tree, dtype=np.int16)
    tables = sum(table.nbytes for table in name_tables(solver.tables).values())
    plain = estimate_bytes(tree, DCFR(), dtype=np.float32)
    packed = estimate_bytes(tree, DCFR(), dtype=np.int16)
    assert plain - packed == 8 * tree.arrays.num_cells - tables
    assert tables < 0.62 * 8 * tree.arrays.num_cells
