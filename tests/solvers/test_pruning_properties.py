# SPDX-License-Identifier: Apache-2.0
"""What the thesis proves of pruning (sections 3.3 and 3.5), tried on small games.

The twin by full passes shows what goes on inside; that the native run does the same is the first test.
"""

import dataclasses
import functools
import math

import numpy as np
import pytest

from equipoise.games.kuhn import Kuhn
from equipoise.games.leduc import Leduc
from equipoise.games.liars_dice import LiarsDice
from equipoise.kernels.rules import Fallback
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.payoffs import payoff_ranges
from equipoise.solvers.pruning import PrunedSolver, Pruning, PruningKind, ZeroReach
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, LinearCFR
from equipoise.solvers.sequence_lp import solve_sequence_lp
from equipoise.trees.history import build_history_tree
from equipoise.trees.perturbation import perturb_payoffs
from tests.reference.pruning import PruningTwin

GAMES = {"kuhn": Kuhn(), "leduc": Leduc(merge_suits=True), "liars_dice": LiarsDice(dice=1, faces=3)}
RULES = {
    "cfr": CFR(),
    "cfr-argmax": CFR(fallback=Fallback.ARGMAX),
    "cfr+": CFRPlus(gamma=1.0),
    "lcfr": LinearCFR(),
    "dcfr": DCFR(beta=0.5),
}
PARTIAL, RBP, BRP = PruningKind.PARTIAL, PruningKind.REGRET, PruningKind.BEST_RESPONSE
both_updates = pytest.mark.parametrize("is_alternating", [True, False])


@functools.cache
def tree_of(name):
    """Returns a game whose payoffs are a little off, so that no last bit decides what is played."""
    tree = build_history_tree(GAMES[name])
    return perturb_payoffs(tree, relative=1e-3, rng=np.random.default_rng(1))


def run(name, rule, kind, iterations, *, make=PruningTwin, is_alternating=True, **settings):
    solver = make(tree_of(name), rule, pruning=Pruning(kind=kind, **settings), is_alternating=is_alternating)
    solver.iterate(iterations)
    return solver


@functools.cache
def run_native(name, rule, kind, iterations, is_alternating=True, **settings):
    return run(name, rule, kind, iterations, make=PrunedSolver, is_alternating=is_alternating, **settings)


@functools.cache
def run_twin(name, rule, kind, iterations):
    return run(name, rule, kind, iterations)


@functools.cache
def unpruned(name, rule, iterations, is_alternating=True):
    solver = CFRSolver(tree_of(name), rule, is_alternating=is_alternating)
    solver.iterate(iterations)
    return solver


SETTINGS = {
    "partial": {"kind": PARTIAL},
    "responding": {"kind": PARTIAL, "zero_reach": ZeroReach.ALL},
    "strictly responding": {"kind": PARTIAL, "zero_reach": ZeroReach.STRICT},
    "rbp": {"kind": RBP},
    "rbp from 1": {"kind": RBP, "threshold": 1.0, "prunes_leaves": True},
    "rbp responding": {"kind": RBP, "threshold": 1.0, "zero_reach": ZeroReach.ALL},
    "rbp eagerly": {"kind": RBP, "threshold": 1.0, "needs_positive": False},
    "brp": {"kind": BRP},
    "brp from 1": {"kind": BRP, "threshold": 1.0, "prunes_leaves": True},
}


@both_updates
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_native_run_is_the_twin(rule, settings, is_alternating):
    if settings["kind"] is BRP and rule in (RULES["cfr+"], RULES["dcfr"]):
        rule = CFRPlus(gamma=0.0)  # brp needs one weight for everything
    solvers = [
        run("leduc", rule, iterations=25, make=make, is_alternating=is_alternating, **settings)
        for make in (PrunedSolver, PruningTwin)
    ]
    native, twin = solvers
    np.testing.assert_allclose(native.regret_sum, twin.regret_sum, atol=1e-8)
    np.testing.assert_allclose(native.average_strategy(), twin.average_strategy(), atol=1e-8)
    assert native.nodes_touched == twin.nodes_touched
    found = native.statistics()
    assert found.overhead_nodes == twin.overhead_nodes
    assert (found.num_opened, found.num_closed) == (twin.num_opened, twin.num_closed)
    assert found.num_infosets_pruned == twin.is_hidden.sum()
    if settings["kind"] is BRP:
        is_owned = twin.forest.infoset_of >= 0
        assert native.count_regrets() == (is_owned & ~twin.is_pruned & ~twin.forest.spread(twin.is_hidden)).sum()


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("rule", [CFR(), CFRPlus(gamma=0.0)], ids=["cfr", "rm+"])
def test_one_walk_for_both_players_does_what_two_do(rule, settings):
    once, twice = (
        run("leduc", rule, iterations=40, make=PrunedSolver, is_alternating=False, walks_once=walks_once, **settings)
        for walks_once in (True, False)
    )
    for name, array in twice.state().items():
        if name != "clock":  # which counts nodes
            np.testing.assert_array_equal(once.state()[name], array)
    twin = run("leduc", rule, iterations=15, is_alternating=False, walks_once=True, **settings)
    once = run("leduc", rule, iterations=15, make=PrunedSolver, is_alternating=False, walks_once=True, **settings)
    assert once.nodes_touched == twin.nodes_touched
    assert once.nodes_touched < twice.nodes_touched


def test_eager_pruning_goes_on_where_no_regret_is_positive():
    eager, waiting = (
        run("leduc", CFR(), RBP, 400, make=PrunedSolver, is_alternating=False, threshold=1.0, needs_positive=needs)
        for needs in (False, True)
    )
    assert eager.statistics().largest_excess <= 1e-9
    assert eager.statistics().num_extended > waiting.statistics().num_extended
    assert eager.evaluate().exploitability < 1.5 * unpruned("leduc", CFR(), 400, False).evaluate().exploitability


@pytest.mark.parametrize("rule", [LinearCFR(), CFRPlus(gamma=0.0)], ids=["lcfr", "rm+"])
def test_native_run_discards_what_the_twin_does(rule):
    settings = {"kind": BRP, "threshold": 1.0, "discard": 2.0}
    native, twin = (run("leduc", rule, iterations=25, make=make, **settings) for make in (PrunedSolver, PruningTwin))
    assert twin.is_dropped.any()
    np.testing.assert_allclose(native.regret_sum, twin.regret_sum, atol=1e-8)
    np.testing.assert_allclose(native.average_strategy(), twin.average_strategy(), atol=1e-8)


@both_updates
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("name", GAMES)
def test_partial_pruning_changes_nothing(name, rule, is_alternating):
    solver = run_native(name, rule, PARTIAL, 25, is_alternating)
    whole = unpruned(name, rule, 25, is_alternating)
    np.testing.assert_allclose(solver.regret_sum, whole.tables.regret_sum, atol=1e-8)
    np.testing.assert_allclose(solver.current_strategy(), whole.current_strategy(), atol=1e-8)
    np.testing.assert_allclose(solver.average_strategy(), whole.average_strategy(), atol=1e-8)


@both_updates
def test_partial_pruning_touches_fewer_nodes(is_alternating):
    solver = run_native("leduc", CFR(), PARTIAL, 1000, is_alternating)
    assert solver.nodes_touched < 0.5 * unpruned("leduc", CFR(), 1000, is_alternating).nodes_touched


@pytest.mark.parametrize("seed", range(3))
def test_theorem_7_what_is_played_below_makes_no_difference(seed):
    solver, other = (run("liars_dice", CFR(), PruningKind.NONE, 500) for _ in range(2))
    forest = solver.forest
    guaranteed = np.floor(-solver.regret / forest.spread(solver.ranges, at_empty=1.0))
    sequence = np.flatnonzero(forest.has_infosets_below & (guaranteed >= 5) & (solver.strategy == 0))[seed]
    inside = forest.spread(forest.mark_below(np.arange(forest.num_sequences) == sequence))
    rng = np.random.default_rng(seed)
    for _ in range(int(guaranteed[sequence])):
        other.strategy = np.where(inside, other.kernel.normalize(rng.random(inside.size)), other.strategy)
        solver.iterate(1)
        other.iterate(1)
    differs = np.maximum(solver.regret, 0.0) != np.maximum(other.regret, 0.0)
    assert differs[inside].any()  # it was not for lack of trying
    assert not differs[~inside].any()


@both_updates
@pytest.mark.parametrize(
    ("kind", "rule"),
    [(RBP, rule) for rule in RULES.values()] + [(BRP, rule) for rule in (CFR(), LinearCFR(), CFRPlus(gamma=0.0))],
)
def test_no_regret_exceeds_its_bound_when_pruning_ends(kind, rule, is_alternating):
    settings = {"threshold": 1.0, "prunes_leaves": True}
    found = run_native("leduc", rule, kind, 2000, is_alternating, **settings).statistics()
    assert found.num_closed + found.num_extended > 100
    assert found.largest_excess <= 1e-9


@both_updates
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_windows_add_no_regret_below(rule, is_alternating):
    solver = run("leduc", rule, RBP, 100, is_alternating=is_alternating, threshold=1.0)
    assert solver.largest_increment == 0.0  # the best action's; windows of leaves have none


@both_updates
@pytest.mark.parametrize("kind", [RBP, BRP])
def test_pruning_touches_fewer_nodes_than_partial_pruning(kind, is_alternating):
    early = [run_native("leduc", CFR(), each, 200, is_alternating).nodes_touched for each in (kind, PARTIAL)]
    late = [run_native("leduc", CFR(), each, 3000, is_alternating).nodes_touched for each in (kind, PARTIAL)]
    assert late[0] - early[0] < 0.85 * (late[1] - early[1])


@both_updates
@pytest.mark.parametrize("kind", [RBP, BRP])
def test_exploitability_stays_within_the_bound_and_near_the_unpruned(kind, is_alternating):
    ours = run_native("leduc", CFR(), kind, 5000, is_alternating).evaluate()
    whole = unpruned("leduc", CFR(), 5000, is_alternating).evaluate()
    tree = tree_of("leduc")
    assert ours.nash_conv <= (payoff_ranges(tree) * np.sqrt(tree.num_actions / 5000)).sum()
    assert ours.nash_conv <= 1.5 * whole.nash_conv


@both_updates
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_a_catch_up_without_best_response_does_not_converge(name, is_alternating):
    pruning = Pruning(kind=RBP, threshold=1.0)
    right = PruningTwin(tree_of(name), CFR(), pruning=pruning, is_alternating=is_alternating)
    wrong = PruningTwin(tree_of(name), CFR(), pruning=pruning, is_alternating=is_alternating, catches_up=False)
    right.iterate(300)
    wrong.iterate(300)
    assert right.evaluate().nash_conv < 1.5 * unpruned(name, CFR(), 300, is_alternating).evaluate().nash_conv
    assert wrong.evaluate().nash_conv > 10 * right.evaluate().nash_conv


@both_updates
@pytest.mark.parametrize("kind", [RBP, BRP])
def test_only_what_is_not_played_is_pruned(kind, is_alternating):
    solver = run("leduc", CFR(), kind, 0, is_alternating=is_alternating, threshold=1.0)
    for _ in range(60):
        solver.iterate(1)
        assert not solver.current_strategy()[solver.is_pruned].any()
        assert (solver.regret_sum[solver.is_pruned] <= 0).all()
        num_open = np.add.reduceat(~solver.is_pruned[solver.cells], solver.firsts)
        assert num_open.min() >= 1
    assert solver.is_pruned.any()


@pytest.mark.parametrize(("rule", "is_expected"), [(CFR(), True), (CFRPlus(gamma=1.0), False)])
def test_leaves_are_pruned_unless_regrets_are_floored(rule, is_expected):
    solver = run("leduc", rule, RBP, 200)
    assert solver.num_opened > 0
    assert (solver.is_pruned & ~solver.forest.has_infosets_below).any() == is_expected


@pytest.mark.parametrize("kind", [RBP, BRP])
def test_a_huge_threshold_is_partial_pruning(kind):
    # with one exception, which the thesis makes: where even the largest payoff is no better, pruning has no end
    rule = CFR(fallback=Fallback.ARGMAX)
    solver, partial = (run_native("leduc", rule, each, 60, threshold=1e9) for each in (kind, PARTIAL))
    np.testing.assert_allclose(solver.average_strategy(), partial.average_strategy(), atol=1e-8)
    assert partial.nodes_touched * 0.9 < solver.nodes_touched <= partial.nodes_touched


def certify(solver):
    """Returns `[Q]` by how much each action falls short of the best one against the equilibrium."""
    forest = solver.forest
    reach = forest.realize(solve_sequence_lp(solver.tree).strategy)
    shortfall = np.zeros(forest.num_sequences)
    for player in (0, 1):
        values, best = forest.respond(forest.sum_terminals(player, reach))
        mine = (forest.player_of == player) & (forest.infoset_of >= 0)
        shortfall[mine] = (forest.spread(best) - values)[mine]
    return shortfall


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_theorem_11_suboptimal_actions_end_up_pruned(name):
    solver = run_twin(name, CFR(), BRP, 600)
    forest = solver.forest
    is_suboptimal = certify(solver) > 0.05
    is_gone = solver.is_pruned | forest.spread(solver.is_hidden)
    assert is_suboptimal.sum() > 5
    assert is_gone[is_suboptimal].all()


def test_corollary_2_memory_below_suboptimal_actions_is_given_back():
    solver = run_twin("leduc", CFR(), BRP, 600)
    below = solver.forest.mark_below(certify(solver) > 0.05)
    inside = solver.forest.spread(below)
    native = run_native("leduc", CFR(), BRP, 600, discard=1.0)
    assert below.sum() > 10
    assert solver.is_hidden[below].all()
    assert (native.regret_sum[inside] == 0).mean() > 0.8  # as where tables are dropped
    assert (native.strategy_sum[inside] == 0).mean() > 0.8


def test_theorem_12_suboptimal_subtrees_are_hardly_visited_any_more():
    solver = run("leduc", CFR(), BRP, 600)
    below = solver.forest.mark_below(certify(solver) > 0.05)
    first = solver.visits.copy()
    solver.iterate(600)
    # growth with the logarithm of T: a doubling adds no more than the doublings before, not six hundred visits
    assert below.sum() > 10
    assert (solver.visits - first)[below].max() <= first[below].max() / math.log2(600)


@both_updates
def test_theorem_10_best_responses_stay_worse_for_the_guaranteed_iterations(is_alternating):
    solver = run("liars_dice", CFR(), BRP, 300, is_alternating=is_alternating)
    forest = solver.forest
    guaranteed = np.floor(-solver.bound / forest.spread(solver.ranges, at_empty=1.0))
    watched = solver.is_pruned & (guaranteed >= 3)
    assert watched.sum() >= 3
    for ahead in range(1, int(guaranteed[watched].max()) + 1):
        solver.iterate(1)
        for player in (0, 1):
            best, _ = forest.respond(forest.sum_terminals(player, solver.faced))
            excess = best - forest.spread(solver.value_sum)
            at = watched & (guaranteed >= ahead) & (forest.player_of == player)
            assert (excess[at] <= 1e-9).all()


def test_regrets_below_are_not_positive_when_best_response_pruning_ends():
    solver = run("leduc", CFR(), BRP, 20, threshold=1.0)
    forest, num_resumed = solver.forest, 0
    for _ in range(100):
        was_hidden = solver.is_hidden
        solver.iterate(1)
        resumed = was_hidden & ~solver.is_hidden
        num_resumed += resumed.sum()
        assert (solver.regret[forest.spread(resumed)] <= 0).all()
    assert num_resumed > 10


@both_updates
@pytest.mark.parametrize("share", [0.01, 0.1, 1.0])
def test_discarded_averages_cost_no_more_than_the_bound(share, is_alternating):
    solver = run_native("leduc", CFR(), BRP, 3000, is_alternating, discard=share)
    kept = run_native("leduc", CFR(), BRP, 3000, is_alternating)
    tree = tree_of("leduc")
    bound = share * tree.num_actions.size * tree.utility_range / math.sqrt(3000)
    assert solver.evaluate().nash_conv <= kept.evaluate().nash_conv + bound
    kept_rows, rows = (each.state()["has_rows"][:, 1] for each in (kept, solver))
    assert kept_rows.all()
    assert not rows.all()


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1])
def test_best_response_pruning_gives_a_sixth_of_the_tables_of_leduc_back(share):
    solver = PrunedSolver(tree_of("leduc"), CFR(), pruning=Pruning(kind=BRP, discard=share), is_alternating=False)
    whole = solver.bytes_in_use
    shares = []
    for _ in range(10):  # it goes up and down
        solver.iterate(1000)
        shares.append(solver.bytes_in_use / whole)
    assert np.mean(shares[5:]) < 0.85


@both_updates
def test_best_responses_in_sequences_not_played_save_iterations(is_alternating):
    plain = run_native("leduc", CFR(), PARTIAL, 5000, is_alternating)
    responding = run_native("leduc", CFR(), PARTIAL, 5000, is_alternating, zero_reach=ZeroReach.ALL)
    assert responding.evaluate().nash_conv < plain.evaluate().nash_conv
    assert responding.nodes_touched > plain.nodes_touched


def test_strict_zero_reach_leaves_the_regret_of_the_way_there_negative():
    solver = run("leduc", CFR(), PARTIAL, 400, is_alternating=False, zero_reach=ZeroReach.STRICT)
    for _ in range(50):
        far = solver.forest.infoset_of >= 0
        far &= (solver.strategy == 0) & (solver.regret <= -solver.forest.spread(solver.ranges))
        assert far.any()
        solver.iterate(1)
        assert (solver.regret[far] <= 0).all()


class Swapped:
    """A game seen from the other seat."""

    def __init__(self, game):
        self.game = game

    def __getattr__(self, name):
        return getattr(self.game, name)

    def actor(self, state):
        actor = self.game.actor(state)
        return 1 - actor if actor >= 0 else actor

    def returns(self, state):
        return self.game.returns(state)[::-1]

    def infostate(self, state, player):
        return self.game.infostate(state, 1 - player)


@pytest.mark.parametrize("kind", [PARTIAL, RBP, BRP])
def test_players_can_be_swapped(kind):
    tree = tree_of("leduc")
    other = build_history_tree(Swapped(GAMES["leduc"]))
    other = dataclasses.replace(other, utility=tree.utility[::-1].copy())
    pruning = Pruning(kind=kind, threshold=1.0)
    mine, theirs = (PrunedSolver(each, CFR(), pruning=pruning, is_alternating=False) for each in (tree, other))
    for solver in (mine, theirs):
        solver.iterate(100)
    assert mine.nodes_touched == theirs.nodes_touched
    halves = np.split(theirs.average_strategy(), [theirs.tree.sequence_start[1]])
    np.testing.assert_allclose(mine.average_strategy(), np.concatenate(halves[::-1]), atol=1e-8)
