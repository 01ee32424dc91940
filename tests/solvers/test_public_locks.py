# SPDX-License-Identifier: Apache-2.0
"""Locks on public trees: what is locked stays, and best responses keep to it unless told otherwise."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, Hedge, PredictiveCFRPlus
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import read_policy
from tests.search.blueprints import random_strategy

LEDUC = make_game("leduc")
TREE = build_public_tree(derive_public_game(LEDUC))
GIVEN = random_strategy(TREE, 4)


def lock_nodes(nodes, strategy=GIVEN):
    """Returns locks of all private states of some decisions at a strategy."""
    locks = []
    for node in nodes:
        private = TREE.infoset_private[TREE.infoset_node == node]
        locks.append(NodeLock(node=node, hands=private.tolist(), strategy=read_policy(TREE, node, strategy)[private]))
    return locks


def cells_of(nodes):
    """Returns where tables keep decisions."""
    is_locked = np.isin(TREE.infoset_node, nodes)
    return TREE.sequence_cell[np.repeat(is_locked, np.diff(TREE.infoset_start))]


def decisions_of(player):
    return np.flatnonzero(TREE.actor == player).tolist()


@pytest.mark.usefixtures("any_team")
@pytest.mark.parametrize("num_threads", [1, 2, 3])
@pytest.mark.parametrize("rule", [DCFR(), PredictiveCFRPlus(), Hedge()], ids=lambda rule: rule.name)
def test_locked_strategy_is_untouched(rule, num_threads):
    nodes = decisions_of(0)[1::3] + decisions_of(1)[::4]
    solver = CFRSolver(TREE, rule, locks=lock_nodes(nodes), num_threads=num_threads)
    solver.iterate(20)
    cells = cells_of(nodes)
    for strategy in (solver.average_strategy(), solver.current_strategy()):
        np.testing.assert_allclose(strategy[cells], GIVEN[cells], rtol=0, atol=1e-15)
    assert not solver.tables.regret_sum[cells].any()
    free = np.setdiff1d(TREE.sequence_cell, cells)
    assert np.abs(solver.tables.regret_sum[free]).max() > 0


def test_a_player_locked_everywhere_is_chance():
    # where one player's decisions are chance's, CFR finds the best response, and nothing else can be gained
    locks = lock_nodes(decisions_of(0))
    solver = CFRSolver(TREE, CFRPlus(), locks=locks)
    solver.iterate(300)
    own = solver.evaluate()
    assert own.best_response_values[0] == pytest.approx(own.values[0], abs=1e-12)
    assert own.exploitability < 1e-3
    free = CFRSolver(TREE, CFR())
    profile = free.average_strategy()
    profile[cells_of(decisions_of(0))] = GIVEN[cells_of(decisions_of(0))]
    best = evaluate(TREE, profile).best_response_values[1]
    assert own.values[1] == pytest.approx(best, abs=2e-3)
    mistakes = solver.evaluate(respects_locks=False)
    assert mistakes.best_response_values[0] > own.best_response_values[0] + 0.1
    assert mistakes.best_response_values[1] == pytest.approx(own.best_response_values[1], abs=1e-12)


def test_a_locked_decision_is_a_chance_move_of_another_game():
    # twin: a history tree whose locked player's sequences are replaced by what it plays at every iteration
    nodes = decisions_of(0)[:2]
    locked = CFRSolver(TREE, CFR(), locks=lock_nodes(nodes), is_alternating=False)
    history = build_history_tree(LEDUC)
    twin = CFRSolver(history, CFR(), is_alternating=False)
    fixed = TREE.strategy_to_history(history, locked.current_strategy())
    kept = TREE.strategy_to_history(history, np.isin(np.arange(GIVEN.size), cells_of(nodes)).astype(float)) == 1.0
    kept[history.sequence_start[:-1]] = False
    for _ in range(15):
        twin.tables.strategy[kept] = fixed[kept]
        twin.tables.realization[:] = twin.kernel.realize(twin.tables.strategy)
        regrets = twin.tables.regret_sum[kept].copy()
        twin.iterate(1)
        twin.tables.regret_sum[kept] = regrets
    locked.iterate(15)
    free = ~kept
    free[history.sequence_start[:-1]] = False  # empty sequences have no regrets
    found = TREE.strategy_to_history(history, locked.tables.regret_sum)
    np.testing.assert_allclose(found[free], twin.tables.regret_sum[free], atol=1e-9)


def test_a_restored_run_keeps_its_locks():
    locks = lock_nodes(decisions_of(1)[:3])
    first, second = (CFRSolver(TREE, DCFR(), locks=locks) for _ in range(2))
    first.iterate(7)
    second.restore({name: table.copy() for name, table in first.state().items()})
    for solver in (first, second):
        solver.iterate(5)
    np.testing.assert_array_equal(first.tables.regret_sum, second.tables.regret_sum)
    first.reset()
    np.testing.assert_allclose(first.current_strategy()[first.kernel.locks.cells], first.kernel.locks.shares)


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        (NodeLock(node=int(TREE.terminal_node[0]), strategy=[1.0, 0.0]), "lock 0 .node .*: node must be a decision"),
        (NodeLock(node=10**6, strategy=[1.0, 0.0]), "node must be a decision"),
        (NodeLock(node=decisions_of(0)[0], strategy=[1.0]), "strategy must have shape"),
        (NodeLock(node=decisions_of(0)[0], strategy=[0.6, 0.6]), "sum to 1"),
        (NodeLock(node=decisions_of(0)[0], strategy=[1.0, 0.0], hands=[99]), "private states must be among"),
        (NodeLock(node=decisions_of(0)[0], strategy=[1.0, 0.0], board=[1]), "boards are for hold'em"),
    ],
)
def test_impossible_locks_are_refused(lock, message):
    with pytest.raises(ConfigError, match=message):
        CFRSolver(TREE, CFR(), locks=[lock])


def test_locks_twice_are_refused():
    locks = lock_nodes(decisions_of(0)[:1]) * 2
    with pytest.raises(ConfigError, match=r"lock 1 .*locked there already"):
        CFRSolver(TREE, CFR(), locks=locks)
