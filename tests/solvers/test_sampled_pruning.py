# SPDX-License-Identifier: Apache-2.0
"""Pruned Monte Carlo CFR: what may be left out, that it converges, and that runs go on to the bit."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.base import TERMINAL
from equipoise.games.registry import make_game
from equipoise.solvers.holdem.mccfr import HoldemMCCFRSolver, lay_out_betting
from equipoise.solvers.mccfr import Discounting, DiscountKind, MCCFRConfig, MCCFRSolver, Scheme
from equipoise.solvers.sampled_pruning import (
    LIBRATUS,
    PLURIBUS,
    REGRET_BASED_SAMPLING,
    SampledPruning,
    SkipKind,
    edge_sequences,
    prune_betting,
    prune_tree,
)
from equipoise.solvers.treeless_mccfr import TreelessMCCFRSolver
from equipoise.trees.history import build_history_tree
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.holdem import spot_of

KUHN = build_history_tree(make_game("kuhn"))
LEDUC = build_history_tree(make_game("leduc"))
LABELLED = KUHN.infoset_labels, KUHN.first_sequence
SCHEMES = {"rbs": REGRET_BASED_SAMPLING, "libratus": LIBRATUS, "pluribus": PLURIBUS}


def make_solver(tree, pruning, *, seed=1, **options):
    return MCCFRSolver(tree, MCCFRConfig(pruning=pruning, **options), rng=np.random.default_rng(seed))


def holdem_endgame():
    game = make_game(
        "holdem_endgame",
        deck="tiny",
        board="ThTsJhKs",
        pot=20,
        stacks=(40, 30),
        small_blind=5,
        big_blind=10,
        menu="100%, a / a",
    )
    return build_holdem_tree(spot_of(game), merges_suits=False)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("name", ["libratus", "pluribus"])
def test_pruned_runs_converge_in_fewer_nodes_an_iteration(name, is_weighted):
    pruning = dataclasses.replace(SCHEMES[name], is_weighted=is_weighted)
    plain, pruned = make_solver(LEDUC, SampledPruning()), make_solver(LEDUC, pruning)
    plain.iterate(200_000)
    pruned.iterate(200_000)
    assert pruned.num_skipped > 0 == plain.num_skipped
    assert pruned.nodes_touched < plain.nodes_touched
    assert pruned.evaluate().exploitability < 0.09  # unpruned: 0.06


def test_regret_based_sampling_that_is_turned_off_recovers():
    always = make_solver(LEDUC, REGRET_BASED_SAMPLING)
    ended = make_solver(LEDUC, dataclasses.replace(REGRET_BASED_SAMPLING, end_node=2_000_000))
    for solver in (always, ended):
        solver.iterate(1)
        while solver.nodes_touched < 10_000_000:
            solver.iterate(1000)
    skipped = ended.num_skipped
    ended.iterate(1000)
    assert ended.num_skipped == skipped
    assert ended.evaluate().exploitability < 0.8 * always.evaluate().exploitability


def test_pluribus_spares_the_last_round_and_what_ends_the_game():
    rule = prune_tree(PLURIBUS, LEDUC)
    sequence = edge_sequences(LEDUC)
    above = np.repeat(np.arange(LEDUC.actor.size), np.diff(LEDUC.first_edge))
    may_skip = rule.may_skip[sequence[sequence >= 0]] == 1
    is_end = LEDUC.actor[LEDUC.edge_child[sequence >= 0]] == TERMINAL
    second_round = np.zeros(LEDUC.actor.size, bool)
    for node in np.flatnonzero(LEDUC.public_chance >= 0):
        second_round[node : LEDUC.subtree_end[node]] = True
    is_last = second_round[above[sequence >= 0]]
    np.testing.assert_array_equal(may_skip, ~is_end & ~is_last)
    assert prune_tree(LIBRATUS, LEDUC).may_skip.sum() == (LEDUC.sequence_infoset() >= 0).sum()


def test_a_visit_adds_at_most_what_the_bounds_say():
    rule = prune_tree(REGRET_BASED_SAMPLING, KUHN)
    rises = {label: rule.rise[first : first + 2].tolist() for label, first in zip(*LABELLED, strict=True)}
    assert rises["J:"] == [1.0, 3.0]  # at worst 2 are lost; passing loses 1 at best, a bet may win 1
    assert rises["K:pb"] == [0.0, 3.0]  # folding loses 1, the worst that can happen; calling wins 2
    solver = make_solver(LEDUC, SampledPruning())
    bound, before = prune_tree(REGRET_BASED_SAMPLING, LEDUC).rise, solver.tables.regret_sum.copy()
    most = np.full_like(bound, -np.inf)
    for _ in range(3000):
        solver.iterate(1)
        most = np.maximum(most, solver.tables.regret_sum - before)
        before = solver.tables.regret_sum.copy()
    met = solver.tables.regret_sum != 0
    assert (most[met] <= bound[met] + 1e-12).all()
    assert (most[met] > 0.5 * bound[met]).any()


def test_the_bounds_of_betting_are_those_of_its_ends():
    tree = holdem_endgame()
    betting = lay_out_betting(tree)
    rule = prune_betting(REGRET_BASED_SAMPLING, betting, "turn")
    spared = prune_betting(dataclasses.replace(PLURIBUS, threshold=-1.0, floor=-2.0), betting, "turn")
    decisions = [node for node in tree.betting.nodes if node.index in tree.decisions]
    for node in decisions:
        first = betting.nodes[node.index, 2]
        for place, child in enumerate(node.children):
            is_end = betting.nodes[child, 0] in (2, 3)
            is_last = tree.decisions[node.index].street == 1
            assert rule.may_skip[first + place] == 1
            assert spared.may_skip[first + place] == (not is_end and not is_last)
    assert rule.rise.max() == pytest.approx(80.0)  # 20 in the pot and 30 each: from -40 to 40
    assert spared.threshold == pytest.approx(-80.0)


@pytest.mark.parametrize("name", SCHEMES)
def test_a_run_goes_on_to_the_bit(name):
    linear = Discounting(kind=DiscountKind.LINEAR, period_nodes=5_000)
    pruning = dataclasses.replace(SCHEMES[name], is_weighted=True, threshold=0.0, floor=-np.inf)
    whole, half = (make_solver(LEDUC, pruning, discounting=linear) for _ in range(2))
    whole.iterate(1000)
    half.iterate(400)
    resumed = make_solver(LEDUC, pruning, discounting=linear, seed=9)
    resumed.restore(half.state())
    resumed.iterate(600)
    for key, array in whole.state().items():
        np.testing.assert_array_equal(resumed.state()[key], array)
    assert whole.num_skipped > 0


def test_what_was_missed_is_discounted_with_the_regrets():
    linear = Discounting(kind=DiscountKind.LINEAR, period_nodes=20_000)
    solver = make_solver(LEDUC, REGRET_BASED_SAMPLING, discounting=linear)
    while solver.period == 1:
        before = solver.tables.missed.copy()
        solver.iterate(1)
    # the last iteration added at most one visit to a row of them or ended it; then the period halved what there was
    kept = (before > 2) & (solver.tables.missed > 0)
    assert kept.any()
    assert (solver.tables.missed[kept] >= before[kept] / 2).all()
    assert (solver.tables.missed[kept] <= (before[kept] + 1) / 2).all()


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hold_em_is_pruned_too(name, dtype):
    tree = holdem_endgame()
    pruning = dataclasses.replace(SCHEMES[name], threshold=-1.0, floor=-np.inf, is_weighted=True)
    config = MCCFRConfig(pruning=pruning)
    solver = HoldemMCCFRSolver(tree, config, rng=np.random.default_rng(1), dtype=dtype)
    solver.iterate(100)
    early = solver.evaluate().exploitability
    solver.iterate(30_000)
    assert solver.num_skipped > 0
    assert solver.evaluate().exploitability < early / 5
    resumed = HoldemMCCFRSolver(tree, config, rng=np.random.default_rng(2), dtype=dtype)
    resumed.restore(solver.state())
    resumed.iterate(50)
    solver.iterate(50)
    np.testing.assert_array_equal(resumed.tables.regret_sum, solver.tables.regret_sum)
    assert resumed.num_skipped == solver.num_skipped


def test_what_pruning_does_not_serve_is_refused():
    with pytest.raises(ConfigError, match="prune external sampling alone, got public chance sampling"):
        MCCFRConfig(scheme=Scheme.PUBLIC_CHANCE, pruning=LIBRATUS)
    with pytest.raises(ConfigError, match="need a tree, got a run on a game's rules"):
        TreelessMCCFRSolver(make_game("kuhn"), MCCFRConfig(pruning=LIBRATUS), rng=np.random.default_rng(0))
    with pytest.raises(ConfigError, match="nothing would be pruned in kuhn"):
        make_solver(KUHN, PLURIBUS)
    spared = SampledPruning(kind=SkipKind.COIN, prunes_last_round=False)
    with pytest.raises(ConfigError, match="both are exempt; rbs and libratus prune there too"):
        make_solver(KUHN, spared)
