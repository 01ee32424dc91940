# SPDX-License-Identifier: Apache-2.0
"""Warm starts of pruned runs: nothing is lost beside unpruned ones, and pruning goes on from sums that fit."""

import math

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.leduc import Leduc
from equipoise.kernels.pruning import PastIterations
from equipoise.kernels.rules import Fallback
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.pruned_warm_start import warm_start_pruned
from equipoise.solvers.pruning import PrunedSolver, Pruning, PruningKind
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, Hedge, LinearCFR, Thresholded
from equipoise.solvers.substitution import WarmStart
from equipoise.solvers.warm_start import warm_start
from equipoise.trees.history import build_history_tree

RULES = [CFR(), LinearCFR(), DCFR(beta=0.5), CFRPlus()]
WINDOWS = [
    (CFR(), PruningKind.REGRET),
    (LinearCFR(), PruningKind.REGRET),
    (DCFR(beta=0.5), PruningKind.REGRET),
    (CFRPlus(gamma=0.0), PruningKind.REGRET),  # linear averages have no guarantee under rbp
    (CFR(), PruningKind.BEST_RESPONSE),
    (LinearCFR(), PruningKind.BEST_RESPONSE),
    (CFRPlus(gamma=0.0), PruningKind.BEST_RESPONSE),
]
both_updates = pytest.mark.parametrize("is_alternating", [True, False])


def name(value):
    return value.name if hasattr(value, "discounts") else str(value)


@pytest.fixture(scope="module")
def leduc():
    return build_history_tree(Leduc(merge_suits=True))


@pytest.fixture(scope="module")
def strategy(leduc):
    solver = CFRSolver(leduc, CFR())
    solver.iterate(300)
    return solver.average_strategy()


@both_updates
@pytest.mark.parametrize("rule", RULES, ids=name)
def test_partial_pruning_goes_on_like_the_unpruned_run(leduc, strategy, rule, is_alternating):
    whole = CFRSolver(leduc, rule, is_alternating=is_alternating)
    pruned = PrunedSolver(leduc, rule, pruning=Pruning(kind=PruningKind.PARTIAL), is_alternating=is_alternating)
    pruned.iterate(7)  # is forgotten
    config = WarmStart(iterations=100)
    assert warm_start_pruned(pruned, strategy, config) == warm_start(whole, strategy, config)
    assert pruned.nodes_touched == whole.nodes_touched
    for num_iterations in (0, 1, 19):
        whole.iterate(num_iterations)
        pruned.iterate(num_iterations)
        np.testing.assert_allclose(pruned.regret_sum, whole.tables.regret_sum, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(pruned.strategy_sum, whole.tables.strategy_sum, rtol=1e-9, atol=1e-9)
    assert pruned.iteration == whole.iteration == 120


@both_updates
@pytest.mark.parametrize(("rule", "kind"), WINDOWS, ids=name)
def test_windows_open_and_no_regret_exceeds_its_bound(leduc, strategy, rule, kind, is_alternating):
    pruning = Pruning(kind=kind, threshold=1.0)
    solver = PrunedSolver(leduc, rule, pruning=pruning, is_alternating=is_alternating)
    whole = CFRSolver(leduc, rule, is_alternating=is_alternating)
    warm_start_pruned(solver, strategy, WarmStart(iterations=100))
    warm_start(whole, strategy, WarmStart(iterations=100))
    for run in (solver, whole):
        run.iterate(400)
    found = solver.statistics()
    assert found.num_opened > 50
    assert found.num_closed + found.num_extended > 50
    assert found.largest_excess <= 1e-9
    assert solver.evaluate().nash_conv < 1.6 * whole.evaluate().nash_conv


def test_windows_that_never_open_are_the_unpruned_run(leduc, strategy):
    rule = CFR(fallback=Fallback.ARGMAX)
    never = Pruning(kind=PruningKind.BEST_RESPONSE, threshold=math.inf, prunes_leaves=False)
    pruned, whole = PrunedSolver(leduc, rule, pruning=never), CFRSolver(leduc, rule)
    warm_start_pruned(pruned, strategy, WarmStart(iterations=100))
    warm_start(whole, strategy, WarmStart(iterations=100))
    for solver in (pruned, whole):
        solver.iterate(20)
    assert pruned.statistics().num_opened == 0
    np.testing.assert_allclose(pruned.average_strategy(), whole.average_strategy(), atol=1e-9)


def test_a_run_that_has_freed_tables_can_be_begun_again(leduc, strategy):
    pruning = Pruning(kind=PruningKind.BEST_RESPONSE, discard=0.1)
    used, fresh = (PrunedSolver(leduc, CFR(), pruning=pruning) for _ in range(2))
    used.iterate(1000)
    assert not used.state()["has_rows"].all()
    for solver in (used, fresh):
        warm_start_pruned(solver, strategy, WarmStart(iterations=100))
        solver.iterate(300)
    assert used.statistics() == fresh.statistics()
    np.testing.assert_array_equal(used.strategy_sum, fresh.strategy_sum)


def test_a_warm_started_run_is_restored_to_the_bit(leduc, strategy):
    pruning = Pruning(kind=PruningKind.BEST_RESPONSE, discard=0.01)
    first, second = (PrunedSolver(leduc, CFR(), pruning=pruning) for _ in range(2))
    warm_start_pruned(first, strategy)
    first.iterate(100)
    second.restore(first.state())
    for solver in (first, second):
        solver.iterate(100)
    assert first.iteration == second.iteration
    assert first.statistics() == second.statistics()
    np.testing.assert_array_equal(first.strategy_sum, second.strategy_sum)


def test_hedge_is_refused(leduc, strategy):
    solver = PrunedSolver(leduc, Thresholded(Hedge(), 2.0), pruning=Pruning(kind=PruningKind.PARTIAL))
    with pytest.raises(ConfigError, match=r"regrets of regret matching, got rule thresholded\(2\)-hedge"):
        warm_start_pruned(solver, strategy)


def test_pasts_that_do_not_fit_are_refused(leduc):
    solver = PrunedSolver(leduc, CFR(), pruning=Pruning())
    sizes = {"regret": leduc.sequence_start[-1], "realization": leduc.sequence_start[-1]}
    sizes |= dict.fromkeys(("value", "reach"), leduc.num_actions.size)
    right = {key: np.zeros(size) for key, size in sizes.items()}
    numbers = {"iterations": 1, "nodes_touched": 0, "faced_weight": 1.0, "average_weight": 1.0}
    for wrong, reason in (
        ({"regret": np.zeros(3)}, "regret must have shape"),
        ({"value": np.full(sizes["value"], np.nan)}, "value must be finite"),
        ({"iterations": 0}, "iterations must be"),
    ):
        with pytest.raises(ValueError, match=reason):
            solver.begin_after(PastIterations(**{**right, **numbers, **wrong}))
    assert solver.iteration == 0
