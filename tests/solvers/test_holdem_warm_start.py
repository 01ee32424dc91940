# SPDX-License-Identifier: Apache-2.0
"""Warm starts of hold'em runs equal those of single histories, in other units; they go on as the run itself would."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.registry import make_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.holdem.warm_start import HoldemSubstitution
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, Hedge, LinearCFR, PredictiveCFRPlus
from equipoise.solvers.substitution import RegretBound, WarmStart
from equipoise.solvers.warm_start import TreeSubstitution, warm_start
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.holdem import HoldemTwin, spot_of
from tests.solvers.test_holdem import SPOTS, spot, twin

by_spot = pytest.mark.parametrize("name", SPOTS)
by_bound = pytest.mark.parametrize("bound", RegretBound)
RULES = [CFR(), CFRPlus(), LinearCFR(), DCFR(), PredictiveCFRPlus()]


def random_pair(name, rule, *, dtype=np.float64, seed=0):
    """Returns both solvers, and a random strategy as probabilities of sequences and as sums of cells."""
    pair = twin(name) if isinstance(name, str) else name
    history, solver = CFRSolver(pair.history, rule), CFRSolver(pair.tree, rule, dtype=dtype)
    sums = np.random.default_rng(seed).uniform(0.05, 1, size=history.tables.regret_sum.size)
    strategy = history.kernel.normalize(sums)
    return pair, history, solver, strategy, pair.to_cells(strategy, dtype=dtype)


@by_spot
@by_bound
def test_bounds_are_those_of_histories(name, bound):
    pair, history, solver, strategy, sums = random_pair(name, CFR(), dtype=np.float32)
    ours = HoldemSubstitution(solver, sums, bound).bound
    # budgets go with squares of values
    expected = pair.to_rows(TreeSubstitution(history, strategy, bound).bound, 2)
    np.testing.assert_allclose(ours[pair.rows], expected[pair.rows], rtol=1e-4)


@by_bound
@pytest.mark.parametrize(
    ("name", "share"), [*((name, 0.3) for name in SPOTS), ("limit_flop", None), ("limit_flop", 0.0)]
)
def test_tables_are_those_of_histories(name, bound, share):
    pair, history, solver, strategy, sums = random_pair(name, CFR())
    config = WarmStart(iterations=3, bound_share=share, bound=bound)
    expected, found = warm_start(history, strategy, config), warm_start(solver, sums, config)
    assert found.bound_share == pytest.approx(expected.bound_share, rel=3e-3)  # lambda is found to a part in a thousand
    assert found.nash_conv == pytest.approx(expected.nash_conv)
    ours = pair.to_sequences(solver.tables.regret_sum, is_regret=True)[pair.sequences]
    theirs = history.tables.regret_sum[pair.sequences]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=(1e-5 if share is not None else 1e-3) * np.abs(theirs).max())
    averages = pair.to_sequences(solver.tables.strategy_sum)[pair.sequences]
    np.testing.assert_allclose(averages, history.tables.strategy_sum[pair.sequences], rtol=1e-12)


def test_decisions_of_many_actions_are_levelled_alike():
    game = make_game(
        "holdem_endgame",
        deck="tiny",
        board="ThTsJhQsKh",
        pot=20,
        stacks=(200, 200),
        small_blind=5,
        big_blind=10,
        menu="50%, 75%, 100%, 150%, 200%, 300%, a / 50%, 100%, a",
    )
    pair = HoldemTwin(build_holdem_tree(spot_of(game), merges_suits=False), build_history_tree(game))
    assert pair.history.num_actions.max() == 8
    pair, history, solver, strategy, sums = random_pair(pair, CFR())
    config = WarmStart(iterations=2, bound_share=0.9)
    warm_start(history, strategy, config)
    warm_start(solver, sums, config)
    ours = pair.to_sequences(solver.tables.regret_sum, is_regret=True)[pair.sequences]
    theirs = history.tables.regret_sum[pair.sequences]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * np.abs(theirs).max())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_runs_go_on_as_those_of_histories(rule):
    _, history, solver, strategy, sums = random_pair("limit_flop", rule)
    config = WarmStart(iterations=3, bound_share=0.3)
    warm_start(history, strategy, config)
    warm_start(solver, sums, config)
    history.iterate(5)
    solver.iterate(5)
    assert solver.iteration == history.iteration == 8
    assert solver.evaluate().nash_conv == pytest.approx(history.evaluate().nash_conv, rel=1e-5)


@pytest.mark.parametrize("num_threads", [1, 2])
def test_a_run_reset_to_its_own_average_goes_on_as_well(num_threads):
    tree = build_holdem_tree(spot("9cThJsQh", "AA,KK,QQ,AK,AQ|KK,JJ,TT,AJ,KQ", menu="50%, a / a"))
    solver = CFRSolver(tree, CFR(), num_threads=num_threads)
    solver.iterate(100)
    before = solver.evaluate().nash_conv
    report = warm_start(solver, solver.tables.strategy_sum, WarmStart(iterations=100))
    assert report.nash_conv == pytest.approx(before, rel=1e-4)
    assert report.is_covered
    solver.iterate(1)
    assert solver.evaluate().nash_conv == pytest.approx(before, rel=0.05)
    assert solver.nodes_touched == (report.num_passes + 2) * tree.num_public_states


def test_merged_suits_start_alike():
    given = spot("9cThJsQh", "AA,KK,QQ,AK|KK,JJ,TT,AJ", menu="50%, a / a")
    runs = []
    for merges_suits in (True, False):
        solver = CFRSolver(build_holdem_tree(given, merges_suits=merges_suits), CFR(), dtype=np.float64)
        solver.iterate(20)
        report = warm_start(solver, solver.tables.strategy_sum, WarmStart(iterations=20, bound_share=0.01))
        solver.iterate(5)
        runs.append((report, solver.evaluate().nash_conv))
    (merged, after), (plain, expected) = runs
    assert merged.substitute_values == pytest.approx(plain.substitute_values, rel=1e-6)
    assert after == pytest.approx(expected, rel=1e-5)


def test_locks_are_kept():
    tree = build_holdem_tree(spot("9cThJsQhKs", "AA,77|88,66", menu="100% / a"))
    root = next(node for node in tree.betting.nodes if node.kind is NodeKind.DECISION)
    held = np.eye(len(root.actions))[0]
    solver = CFRSolver(tree, CFR(), locks=[NodeLock(node=root.index, strategy=held)])
    solver.iterate(10)
    warm_start(solver, solver.tables.strategy_sum, WarmStart(iterations=10))
    solver.iterate(10)
    np.testing.assert_array_equal(tree.normalize(solver.average_sums, 0, root.index)[:, 0], 1.0)


def test_what_theory_does_not_cover_is_refused():
    given = spot("9cThJsQhKs", "AA|KK")
    sums = np.zeros(build_holdem_tree(given).arrays.num_cells)
    for message, solver in (
        ("use float32 or float64, got int16", CFRSolver(build_holdem_tree(given), CFR(), dtype=np.int16)),
        ("got rule hedge", CFRSolver(build_holdem_tree(given), Hedge())),
    ):
        with pytest.raises(ConfigError, match=message):
            warm_start(solver, sums)
    raked = spot("9cThJsQhKs", "AA|KK", rake_rate=0.05, rake_cap=10)
    with pytest.raises(ConfigError, match="not zero-sum"):
        warm_start(CFRSolver(build_holdem_tree(raked), CFR()), sums)
