# SPDX-License-Identifier: Apache-2.0
"""Locked hands play what they are given, and everybody else finds the best play against it."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.hands import parse_hand
from equipoise.games.holdem.ranges import parse_range
from equipoise.solvers.cfr import CFRSolver, estimate_bytes
from equipoise.solvers.holdem.locks import lay_locks
from equipoise.solvers.rules import CFR, DCFR, Hedge, NormalHedge, PredictiveCFRPlus
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import build_holdem_tree, plan_holdem_tree
from tests.reference.holdem import realize, respond_to_locks
from tests.solvers.test_holdem import SYMMETRIC, spot, start_from_regrets, twin


def random_locks(tree, rng):
    """Returns locks of some hands: at the root on all boards, below on one board."""
    board = len(tree.boards) - 1
    node = max(index for index in tree.decisions if tree.decisions[index].street == tree.arrays.boards[board, 0])
    locks = []
    for index, cards in ((0, None), (node, tree.boards[board])):
        decision = tree.decisions[index]
        numbers = tree.hands[0 if cards is None else board][decision.player][::2]
        strategy = rng.dirichlet(np.ones(decision.num_actions), numbers.size)
        locks.append(NodeLock(node=index, board=cards, hands=numbers.tolist(), strategy=strategy))
    return locks


def locked_sequences(pair, solver):
    """Returns `[Q]` whether a sequence is locked, and the probabilities of those that are."""
    table = np.full(pair.tree.arrays.num_cells, -1.0)
    table[solver.kernel.locks.cells] = solver.kernel.locks.probabilities
    given = np.full(int(pair.history.sequence_start[-1]), -1.0)
    given[pair.sequences] = table[pair.cells]
    return given >= 0, given


@pytest.mark.parametrize("name", ["small_river", "small_turn", "limit_flop"])
@pytest.mark.parametrize("rule", [DCFR(), PredictiveCFRPlus(), Hedge()], ids=lambda rule: rule.name)
def test_one_iteration_with_locks(name, rule):
    pair, rng = twin(name), np.random.default_rng(5)
    history, solver = start_from_regrets(pair, rule, rng, is_alternating=False)
    locked = CFRSolver(pair.tree, rule, dtype=np.float64, is_alternating=False, locks=random_locks(pair.tree, rng))
    locked.restore({name: table.copy() for name, table in solver.state().items()})
    is_locked, given = locked_sequences(pair, locked)
    history.tables.strategy[is_locked] = given[is_locked]
    history.tables.realization[:] = realize(history.tree, history.tables.strategy)
    before = locked.tables.regret_sum[locked.kernel.locks.cells].copy()
    history.iterate(1)
    locked.iterate(1)
    free = np.setdiff1d(pair.sequences, np.flatnonzero(is_locked))
    assert 0 < is_locked.sum() < free.size
    regrets = pair.to_sequences(locked.tables.regret_sum, is_regret=True)[free]
    np.testing.assert_allclose(regrets, history.tables.regret_sum[free], rtol=0, atol=1e-10)
    averages = pair.to_sequences(locked.tables.strategy_sum)
    np.testing.assert_allclose(averages[free], history.tables.strategy_sum[free], rtol=0, atol=1e-10)
    np.testing.assert_array_equal(averages[is_locked], given[is_locked])
    np.testing.assert_array_equal(locked.tables.regret_sum[locked.kernel.locks.cells], before)


@pytest.mark.parametrize("name", ["small_river", "small_turn", "limit_flop"])
@pytest.mark.parametrize("num_threads", [1, 2])
def test_best_responses_with_and_without_locks(name, num_threads):
    pair, rng = twin(name), np.random.default_rng(6)
    locks = random_locks(pair.tree, rng)
    solver = CFRSolver(pair.tree, CFR(), dtype=np.float64, locks=locks, num_threads=num_threads)
    solver.tables.strategy_sum[:] = rng.uniform(size=solver.tables.strategy_sum.size)
    is_locked, given = locked_sequences(pair, solver)
    strategy = CFRSolver(pair.history, CFR()).kernel.normalize(pair.to_sequences(solver.tables.strategy_sum))
    strategy[is_locked] = given[is_locked]
    nobody, everybody = np.zeros(is_locked.size, bool), np.ones(is_locked.size, bool)
    for respects_locks, kept in ((True, is_locked), (False, nobody)):
        result = solver.evaluate(respects_locks=respects_locks)
        expected = [respond_to_locks(pair.history, player, strategy, kept) for player in (0, 1)]
        np.testing.assert_allclose(result.best_response_values, expected, rtol=0, atol=1e-10)
        values = [respond_to_locks(pair.history, player, strategy, everybody) for player in (0, 1)]
        np.testing.assert_allclose(result.values, values, rtol=0, atol=1e-10)


RIVER = ("Ks7h2d4c9c", "TT+, A9s+, KQ|99+, AT+, QJs")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rule", [DCFR(), NormalHedge(), Hedge()], ids=lambda rule: rule.name)
def test_locked_strategy_is_untouched(dtype, rule):
    table = spot(*RIVER, menu="50%, a / a")
    queens = np.flatnonzero(parse_range("QQ").weights).tolist()
    locks = [NodeLock(node=0, hands=queens, strategy=[0.25, 0.5, 0.25])]
    solver = CFRSolver(build_holdem_tree(table, locks=locks), rule, dtype=dtype, locks=locks, num_threads=2)
    solver.iterate(100)
    strategy = solver.tree.normalize(solver.average_sums, 0, 0)
    is_queens = np.isin(solver.tree.hands[0][0], queens)
    assert is_queens.sum() == 6
    np.testing.assert_array_equal(strategy[is_queens], [[0.25, 0.5, 0.25]] * 6)
    assert not (strategy[~is_queens] == [0.25, 0.5, 0.25]).all(axis=1).any()


@pytest.mark.parametrize(("hands", "most"), [(None, 1.1), ("TT, JJ", 4.0)])  # few hands may share tiles or not
@pytest.mark.parametrize("board", [None, "Ks7h2d4c9c"])
def test_locks_are_counted_before_they_are_laid_out(hands, most, board):
    table = spot("Ks7h2d4c", RIVER[1], menu="50%, a / a")
    node = max(index for index, decision in build_holdem_tree(table).decisions.items() if decision.street == 1)
    lock = NodeLock(
        node=node,
        board=board and parse_board(board),
        hands=hands and np.flatnonzero(parse_range(hands).without(parse_board("Ks7h2d4c9c")).weights).tolist(),
        strategy=[0.5, 0.5],
    )
    plan = plan_holdem_tree(table, locks=[lock])
    laid = lay_locks(plan.build(), [lock])
    num_bytes = laid.num_bytes
    estimate = estimate_bytes(plan, DCFR(), locks=[lock]) - estimate_bytes(plan, DCFR())
    assert num_bytes <= estimate <= most * num_bytes


def test_the_rest_learns_to_play_against_a_locked_mistake():
    table = spot(*RIVER, menu="50%, a / a")
    free = CFRSolver(build_holdem_tree(table))
    free.iterate(1000)
    locks = [NodeLock(node=0, strategy=[0.0, 0.0, 1.0])]  # everything all-in
    solver = CFRSolver(build_holdem_tree(table, locks=locks), locks=locks)
    solver.iterate(1000)
    kept, any_play = solver.evaluate(), solver.evaluate(respects_locks=False)
    assert kept.exploitability < 0.05
    assert any_play.exploitability > 5.0
    assert kept.values == any_play.values
    assert kept.values[1] > free.evaluate().values[1] + 5.0


SYMMETRIC_TURN, SMALL_DECK = SYMMETRIC["turn"][0], DECKS["small"]
SUIT_LOCKS = {
    "all hands": ({"node": 0, "strategy": [0.5, 0.25, 0.25]}, True),
    "one hand": ({"node": 0, "strategy": [0.5, 0.25, 0.25], "hands": [parse_hand("AsAh", SMALL_DECK)]}, False),
    "all rivers": ({"node": 4, "strategy": [0.0, 0.0, 1.0]}, True),
    "one river": ({"node": 4, "strategy": [0.0, 0.0, 1.0], "board": parse_board(f"{SYMMETRIC_TURN}Js")}, False),
}


@pytest.mark.parametrize("case", SUIT_LOCKS)
def test_locks_keep_apart_the_suits_that_they_name(case):
    fields, is_symmetric = SUIT_LOCKS[case]
    locks = [NodeLock(**fields)]
    table = spot(*SYMMETRIC["turn"][:2], menu="100%, a / a", deck=SMALL_DECK, pot=20, stacks=(60, 60))
    merged, apart = build_holdem_tree(table, locks=locks), build_holdem_tree(table, merges_suits=False)
    assert len(merged.symmetries) == (2 if is_symmetric else 1)
    solvers = [CFRSolver(tree, dtype=np.float64, locks=locks) for tree in (merged, apart)]
    for solver in solvers:
        solver.iterate(400)
    results = [solver.evaluate() for solver in solvers]
    np.testing.assert_allclose(results[0].values, results[1].values, rtol=0, atol=0.02)
    assert max(result.exploitability for result in results) < 0.01
    assert min(solver.evaluate(respects_locks=False).exploitability for solver in solvers) > 0.01


def test_a_tree_that_merges_suits_refuses_locks_that_name_them():
    table = spot(*SYMMETRIC["turn"][:2], menu="100%, a / a", deck=SMALL_DECK, pot=20, stacks=(60, 60))
    with pytest.raises(ConfigError, match=r"the locks tell the suits cs apart, which the tree merges; build it with"):
        CFRSolver(build_holdem_tree(table), locks=[NodeLock(**SUIT_LOCKS["one hand"][0])])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"node": 99}, r"lock 0 \(node 99\): node must be 0 to"),
        ({"node": 2}, "node must be a decision, this one is a street end"),
        ({"strategy": [0.5, 0.5]}, r"strategy must have shape \(3,\) or \(\d+, 3\), got \(2,\)"),
        ({"strategy": [0.5, 0.6, 0.1]}, "strategy must be probabilities that sum to 1"),
        ({"strategy": [1.5, -0.5, 0.0]}, "strategy must be probabilities that sum to 1"),
        ({"hands": []}, "hands must name at least one hand"),
        ({"hands": [5000]}, "hands must be numbers 0 to 1325, got 5000"),
        ({"hands": [parse_hand("AsAh")] * 2}, "hands must be different"),
        ({"hands": [parse_hand("5s5h")]}, "in the range of player 0 and not on the board, got 5s5h"),
        ({"board": parse_board("Ks7h2d4c9c")}, "board must have 4 cards at this decision, got Ks7h2d4c9c"),
        ({"board": parse_board("Ks7h2d4d")}, "board must begin with Ks7h2d4c, got Ks7h2d4d"),
    ],
)
def test_impossible_locks_are_refused(changes, message):
    table = spot("Ks7h2d4c", RIVER[1], menu="50%, a / a")
    lock = dataclasses.replace(NodeLock(node=0, strategy=[0.5, 0.25, 0.25]), **changes)
    with pytest.raises(ConfigError, match=message):
        build_holdem_tree(table, locks=[lock])


def test_a_hand_is_locked_once():
    table = spot("Ks7h2d4c", RIVER[1], menu="50%, a / a")
    lock = NodeLock(node=0, strategy=[0.5, 0.25, 0.25], board=table.board)
    with pytest.raises(ConfigError, match=r"lock 1 \(node 0\): hand .* is locked there already"):
        build_holdem_tree(table, locks=[lock, dataclasses.replace(lock, board=None)])
