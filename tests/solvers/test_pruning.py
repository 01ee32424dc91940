# SPDX-License-Identifier: Apache-2.0
"""Pruned runs against unpruned ones, and the laws that pruning rests on."""

import dataclasses
import math

import numpy as np
import pytest

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.games.kuhn import Kuhn
from equipoise.games.leduc import Leduc
from equipoise.games.liars_dice import LiarsDice
from equipoise.kernels.rules import Fallback
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.pruning import PrunedSolver, Pruning, PruningKind, ZeroReach, estimate_pruned_bytes
from equipoise.solvers.rules import (
    CFR,
    DCFR,
    CFRPlus,
    DCFRPlus,
    Hedge,
    LinearCFR,
    LinearCFRPlus,
    NormalHedge,
    Optimistic,
)
from equipoise.trees.history import build_history_tree

RM_PLUS = DCFR(alpha=math.inf, beta=-math.inf, gamma=0.0)
RULES = [
    CFR(),
    CFR(fallback=Fallback.ARGMAX),
    CFRPlus(),
    LinearCFR(),
    LinearCFRPlus(),
    DCFR(),
    DCFR(beta=0.5),
    DCFR(gamma=80.0),  # weights of the average leave the range of numbers unless they are rescaled
    DCFRPlus(delay=3),
]
WINDOWS = [
    (CFR(), Pruning(kind=PruningKind.REGRET)),
    (RM_PLUS, Pruning(kind=PruningKind.REGRET)),
    (LinearCFR(), Pruning(kind=PruningKind.REGRET)),
    (DCFR(beta=0.5), Pruning(kind=PruningKind.REGRET)),
    (CFR(), Pruning(kind=PruningKind.REGRET, threshold=0.0, zero_reach=ZeroReach.ALL)),
    (CFR(), Pruning(kind=PruningKind.BEST_RESPONSE)),
    (CFR(), Pruning(kind=PruningKind.BEST_RESPONSE, threshold=0.0)),
    (RM_PLUS, Pruning(kind=PruningKind.BEST_RESPONSE)),
    (LinearCFR(), Pruning(kind=PruningKind.BEST_RESPONSE)),
]


def name(value):
    if isinstance(value, Pruning):
        return f"{value.kind}-{value.least_window:g}"
    return value.name


@pytest.fixture(scope="module")
def leduc():
    return build_history_tree(Leduc())


@pytest.fixture(scope="module")
def trees(leduc):
    # in Liar's Dice regrets tie exactly early on, where last bits decide what is played
    return [(build_history_tree(Kuhn()), 30), (leduc, 30), (build_history_tree(LiarsDice(faces=3)), 6)]


@pytest.mark.parametrize("is_alternating", [True, False])
@pytest.mark.parametrize("kind", [PruningKind.NONE, PruningKind.PARTIAL])
@pytest.mark.parametrize("rule", RULES, ids=name)
def test_leaving_out_what_the_opponent_does_not_reach_changes_nothing(trees, rule, kind, is_alternating):
    for tree, last in trees:
        whole = CFRSolver(tree, rule, is_alternating=is_alternating)
        pruned = PrunedSolver(tree, rule, pruning=Pruning(kind=kind), is_alternating=is_alternating)
        for num_iterations in (1, 2, last - 3):
            whole.iterate(num_iterations)
            pruned.iterate(num_iterations)
            np.testing.assert_allclose(pruned.regret_sum, whole.tables.regret_sum, atol=1e-8)
            np.testing.assert_allclose(pruned.strategy_sum, whole.tables.strategy_sum, atol=1e-8)
            np.testing.assert_allclose(pruned.average_strategy(), whole.average_strategy(), atol=1e-8)
            np.testing.assert_allclose(pruned.current_strategy(), whole.current_strategy(), atol=1e-7)


def test_partial_pruning_visits_what_is_reached(leduc):
    everything = PrunedSolver(leduc, CFR(), pruning=Pruning(kind=PruningKind.NONE))
    partial = PrunedSolver(leduc, CFR(), pruning=Pruning(kind=PruningKind.PARTIAL))
    everything.iterate(100)
    partial.iterate(1)
    first = partial.nodes_touched
    partial.iterate(99)
    assert everything.nodes_touched == 100 * 2 * leduc.actor.size
    assert leduc.actor.size < first <= 2 * leduc.actor.size  # all is reached until somebody has been updated
    assert partial.nodes_touched < 0.6 * everything.nodes_touched


@pytest.mark.parametrize("kind", [PruningKind.REGRET, PruningKind.BEST_RESPONSE])
def test_pruning_that_never_begins_is_partial_pruning(leduc, kind):
    rule = CFR(fallback=Fallback.ARGMAX)  # what both fall back on
    never = PrunedSolver(leduc, rule, pruning=Pruning(kind=kind, threshold=math.inf, prunes_leaves=False))
    partial = PrunedSolver(leduc, rule, pruning=Pruning(kind=PruningKind.PARTIAL))
    for solver in (never, partial):
        solver.iterate(40)
    assert never.statistics().num_opened == 0
    np.testing.assert_allclose(never.regret_sum, partial.regret_sum, atol=1e-9)
    np.testing.assert_allclose(never.average_strategy(), partial.average_strategy(), atol=1e-9)


@pytest.mark.parametrize("is_alternating", [True, False])
@pytest.mark.parametrize(("rule", "pruning"), [*WINDOWS, (CFRPlus(gamma=1.0), Pruning(prunes_leaves=True))], ids=name)
def test_no_regret_was_above_its_bound_while_pruned(leduc, rule, pruning, is_alternating):
    solver = PrunedSolver(leduc, rule, pruning=pruning, is_alternating=is_alternating)
    solver.iterate(400)
    statistics = solver.statistics()
    assert statistics.num_opened > 0
    assert statistics.num_closed + statistics.num_extended > 0
    assert statistics.largest_excess <= 1e-9


@pytest.mark.parametrize("is_alternating", [True, False])
@pytest.mark.parametrize(("rule", "pruning"), WINDOWS, ids=name)
def test_pruned_runs_converge_like_unpruned_ones(leduc, rule, pruning, is_alternating):
    solver = PrunedSolver(leduc, rule, pruning=pruning, is_alternating=is_alternating)
    whole = CFRSolver(leduc, rule, is_alternating=is_alternating)
    for run in (solver, whole):
        run.iterate(500)
    assert solver.evaluate().exploitability < 1.6 * whole.evaluate().exploitability


@pytest.mark.parametrize("kind", [PruningKind.REGRET, PruningKind.BEST_RESPONSE])
def test_windows_save_nodes_and_overhead_is_counted(leduc, kind):
    solver = PrunedSolver(leduc, CFR(), pruning=Pruning(kind=kind))
    partial = PrunedSolver(leduc, CFR(), pruning=Pruning(kind=PruningKind.PARTIAL))
    for run in (solver, partial):
        run.iterate(1000)
    statistics = solver.statistics()
    assert 0 < statistics.overhead_nodes < statistics.nodes_touched < 0.8 * partial.nodes_touched
    assert statistics.num_infosets_pruned > 0.05 * leduc.num_actions.size
    assert statistics.num_pruned == statistics.num_opened - statistics.num_closed or kind is PruningKind.BEST_RESPONSE


def test_pruned_actions_are_not_played(leduc):
    solver = PrunedSolver(leduc, CFR(), pruning=Pruning(kind=PruningKind.REGRET))
    solver.iterate(300)
    gates = solver.state()["regret_cells"][2]
    owned = leduc.sequence_infoset() >= 0
    assert (gates[owned] <= 0).sum() == solver.statistics().num_pruned > 0
    assert (solver.current_strategy()[owned & (gates <= 0)] == 0.0).all()


def test_best_response_pruning_gives_memory_back(leduc):
    keeping = PrunedSolver(leduc, CFR(), pruning=Pruning(kind=PruningKind.REGRET), is_alternating=False)
    freeing = PrunedSolver(
        leduc, CFR(), pruning=Pruning(kind=PruningKind.BEST_RESPONSE, discard=0.1), is_alternating=False
    )
    start = freeing.bytes_in_use
    for solver in (keeping, freeing):
        solver.iterate(4000)
    has_regrets, has_average = freeing.state()["has_rows"].astype(bool).T
    assert not has_regrets.all()
    assert not has_average.all()
    assert (has_average | ~has_regrets).all()  # regrets without a sum to add to would be lost
    assert freeing.statistics().num_infosets_pruned == (~has_regrets).sum()
    assert freeing.bytes_in_use < 0.9 * start
    assert freeing.evaluate().exploitability < 1.2 * keeping.evaluate().exploitability


@pytest.mark.parametrize("kind", [PruningKind.PARTIAL, PruningKind.REGRET, PruningKind.BEST_RESPONSE])
def test_the_estimate_of_memory_covers_tables_and_copy(trees, kind):
    for tree, _ in trees:
        solver = PrunedSolver(tree, DCFR(beta=0.5) if kind is PruningKind.REGRET else CFR(), pruning=Pruning(kind=kind))
        lasting = solver.bytes_in_use + solver.num_tree_bytes
        assert lasting < estimate_pruned_bytes(tree) < 2 * lasting


@pytest.mark.parametrize("zero_reach", [ZeroReach.STRICT, ZeroReach.ALL])
def test_best_responses_where_nobody_comes_by_help_and_spare_the_opponent(leduc, zero_reach):
    plain = PrunedSolver(leduc, CFR(), pruning=Pruning(kind=PruningKind.PARTIAL), is_alternating=False)
    responding = PrunedSolver(
        leduc, CFR(), pruning=Pruning(kind=PruningKind.PARTIAL, zero_reach=zero_reach), is_alternating=False
    )
    for solver in (plain, responding):
        solver.iterate(2)
    if zero_reach is ZeroReach.STRICT:
        np.testing.assert_array_equal(responding.regret_sum, plain.regret_sum)  # no regret is that low yet
    for solver in (plain, responding):
        solver.iterate(1998)
    assert responding.evaluate().exploitability < 1.01 * plain.evaluate().exploitability
    assert not np.array_equal(responding.regret_sum, plain.regret_sum)


@pytest.mark.parametrize("is_alternating", [True, False])
@pytest.mark.parametrize(
    "pruning",
    [
        Pruning(kind=PruningKind.PARTIAL),
        Pruning(kind=PruningKind.REGRET, threshold=5.0),
        Pruning(kind=PruningKind.BEST_RESPONSE, threshold=5.0, discard=0.1),
    ],
    ids=name,
)
def test_a_restored_run_goes_on_to_the_bit(leduc, pruning, is_alternating):
    def make():
        return PrunedSolver(leduc, LinearCFR(), pruning=pruning, is_alternating=is_alternating)

    first, second = make(), make()
    first.iterate(150)
    second.iterate(31)
    second.restore(first.state())
    for solver in (first, second):
        solver.average_strategy()  # looking changes nothing
        solver.iterate(150)
    for key, array in first.state().items():
        np.testing.assert_array_equal(second.state()[key], array)
    assert first.statistics() == second.statistics()


def test_a_state_of_another_shape_is_refused_and_changes_nothing(leduc):
    kuhn = PrunedSolver(build_history_tree(Kuhn()), CFR(), pruning=Pruning())
    solver = PrunedSolver(leduc, CFR(), pruning=Pruning())
    kuhn.iterate(3)
    with pytest.raises(CheckpointError, match="regret_scalars must have shape"):
        solver.restore(kuhn.state())
    assert solver.iteration == solver.nodes_touched == 0


@pytest.mark.parametrize(
    ("rule", "kind", "reason"),
    [
        (Hedge(), PruningKind.PARTIAL, "plays all of them"),
        (NormalHedge(), PruningKind.PARTIAL, "needs regret matching"),
        (Optimistic(CFR()), PruningKind.PARTIAL, "last regret changes it"),
        (DCFR(), PruningKind.REGRET, "fall without bound"),
        (DCFRPlus(), PruningKind.REGRET, "knows the weights"),
        (LinearCFRPlus(), PruningKind.REGRET, "needs them undiscounted"),
        (DCFR(beta=0.5), PruningKind.BEST_RESPONSE, "same weights"),
        (CFRPlus(), PruningKind.BEST_RESPONSE, "same weights"),
    ],
    ids=str,
)
def test_pruning_is_refused_where_theory_does_not_allow_it(leduc, rule, kind, reason):
    with pytest.raises(ConfigError, match=reason):
        PrunedSolver(leduc, rule, pruning=Pruning(kind=kind))


def test_other_games_are_refused(leduc):
    with pytest.raises(ConfigError, match=r"two-player zero-sum games, got kuhn.*3 players"):
        PrunedSolver(build_history_tree(Kuhn(players=3)), CFR(), pruning=Pruning())
    with pytest.raises(ConfigError, match="a sum that is not zero"):
        PrunedSolver(dataclasses.replace(leduc, is_zero_sum=False), CFR(), pruning=Pruning())


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"threshold": -1.0}, "threshold must be at least 0 iterations, got -1"),
        ({"threshold": math.nan}, "threshold"),
        ({"discard": 0.1}, "discard is for best-response pruning"),
        ({"discard": -0.1, "kind": PruningKind.BEST_RESPONSE}, "discard must be at least 0"),
        ({"discard_exponent": 2.0}, "discard_exponent must be"),
        ({"kind": "rbp"}, "needs a PruningKind, got 'rbp'"),
        ({"zero_reach": 1}, "needs a ZeroReach"),
    ],
)
def test_settings_that_make_no_sense_are_refused(fields, reason):
    with pytest.raises(ConfigError, match=reason):
        Pruning(**fields)
