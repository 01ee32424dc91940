# SPDX-License-Identifier: Apache-2.0
"""Thresholded Hedge, and thresholded regret matching, under partial and regret-based pruning."""

import math

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.payoffs import payoff_ranges
from equipoise.solvers.pruning import PrunedSolver, Pruning, PruningKind, ZeroReach
from equipoise.solvers.rules import CFR, Hedge, NormalHedge, Thresholded
from equipoise.trees.history import build_history_tree
from tests.reference.cfr import ReferenceCFR, threshold_of
from tests.reference.regrets import flatten

GAMES = {
    "kuhn": make_game("kuhn"),
    "goofspiel3": make_game("goofspiel", cards=3),
    "leduc2": make_game("leduc", ranks=2, merge_suits=True),
}
RULES = [Thresholded(Hedge(), 2.0), Thresholded(Hedge(horizon=25), 4.0), Thresholded(CFR(), 4.0)]


class FrozenCFR(ReferenceCFR):
    """What partial pruning makes of it: an information state that the others do not reach keeps its strategy."""

    def iterate(self, num_iterations):
        for _ in range(num_iterations):
            self.met = set()
            super().iterate(1)

    def walk(self, state, player, own_reach, cf_reach, cfv, reach):
        if self.game.actor(state) == player and cf_reach > 0:
            self.met.add((player, self.game.infostate(state, player)))
        return super().walk(state, player, own_reach, cf_reach, cfv, reach)

    def update(self, cfv, reach):
        before = dict(self.strategy)
        super().update(cfv, reach)
        self.strategy |= {key: before[key] for key in cfv if key not in self.met}


@pytest.fixture(scope="module")
def leduc():
    return build_history_tree(make_game("leduc", merge_suits=True))


@pytest.mark.parametrize("is_alternating", [True, False], ids=["alternating", "simultaneous"])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("name", GAMES)
def test_partial_pruning_equals_the_blackboard(name, rule, is_alternating):
    tree, twin = build_history_tree(GAMES[name]), FrozenCFR(GAMES[name], rule, is_alternating=is_alternating)
    pruning = Pruning(kind=PruningKind.PARTIAL)
    solver = PrunedSolver(tree, rule, pruning=pruning, is_alternating=is_alternating)
    solver.iterate(25)
    twin.iterate(25)
    inner = tree.sequence_infoset() >= 0
    for got, expected in (
        (solver.regret_sum, twin.regret),
        (solver.strategy_sum, twin.average),
        (solver.current_strategy(), twin.strategy),
    ):
        np.testing.assert_allclose(got[inner], flatten(tree, expected)[inner], atol=1e-8)


@pytest.mark.parametrize("rule", [Hedge(), Hedge(horizon=50), *RULES], ids=lambda rule: rule.name)
def test_without_pruning_it_is_the_full_sweep(leduc, rule):
    solver, sweep = PrunedSolver(leduc, rule, pruning=Pruning(kind=PruningKind.NONE)), CFRSolver(leduc, rule)
    solver.iterate(20)
    sweep.iterate(20)
    np.testing.assert_allclose(solver.regret_sum, sweep.tables.regret_sum, atol=1e-9)
    np.testing.assert_allclose(solver.average_strategy(), sweep.average_strategy(), atol=1e-9)


def test_windows_save_nodes_and_no_bound_is_broken(leduc):
    rule = Thresholded(Hedge(), 2.0)
    partial, pruned = (
        PrunedSolver(leduc, rule, pruning=Pruning(kind=kind)) for kind in (PruningKind.PARTIAL, PruningKind.REGRET)
    )
    sweep = CFRSolver(leduc, rule)
    for solver in (partial, pruned, sweep):
        solver.iterate(3000)
    assert pruned.statistics().num_opened > 0
    assert pruned.statistics().num_closed > 0
    assert pruned.statistics().largest_excess <= 1e-9
    assert pruned.nodes_touched < partial.nodes_touched < sweep.nodes_touched
    assert pruned.evaluate().exploitability < 1.5 * sweep.evaluate().exploitability
    assert partial.evaluate().exploitability < 1.5 * sweep.evaluate().exploitability


def test_nothing_is_pruned_that_hedge_would_play():
    tree = build_history_tree(make_game("leduc", merge_suits=True, first_sizes="1,2,4"))
    rule = Thresholded(Hedge(horizon=4), 10.0)  # long steps and high thresholds: much is pruned
    solver = PrunedSolver(tree, rule, pruning=Pruning(kind=PruningKind.REGRET, threshold=1.0))
    roots = np.flatnonzero(tree.parent_sequence == tree.sequence_start[0])  # met in every iteration
    ranges, most_pruned = payoff_ranges(tree), 0
    for t in range(1, 401):
        solver.iterate(1)
        regrets, strategy = solver.regret_sum, solver.current_strategy()  # bounds of what is pruned
        for infoset in roots:
            first, count = tree.first_sequence[infoset], tree.num_actions[infoset]
            eta = rule.discounts(t).eta_scale * math.sqrt(math.log(count)) / ranges[infoset]
            bounds = regrets[first : first + count]
            probable = np.exp(eta * (bounds - bounds.max()))
            least = threshold_of(rule.kernel, rule.discounts(t), count)
            is_left_out = strategy[first : first + count] == 0
            assert (probable[is_left_out] / probable.sum() < least).all()
            is_pruned = solver.state()["regret_cells"][2, first : first + count] <= 0  # gates
            most_pruned = max(most_pruned, is_pruned.sum())
            assert is_left_out[is_pruned].all()
    assert most_pruned > 0


@pytest.mark.parametrize(
    "rule", [Thresholded(Hedge(), 2.0), Thresholded(Hedge(horizon=25), 4.0)], ids=lambda rule: rule.name
)
def test_a_resumed_run_goes_on_to_the_bit(leduc, rule):
    whole, first, second = (PrunedSolver(leduc, rule, pruning=Pruning()) for _ in range(3))
    whole.iterate(300)
    first.iterate(140)
    second.restore(first.state())
    second.iterate(160)
    for name, array in whole.state().items():
        np.testing.assert_array_equal(second.state()[name], array, err_msg=name)


@pytest.mark.parametrize(
    ("rule", "pruning", "message"),
    [
        (Hedge(), Pruning(kind=PruningKind.PARTIAL), r"rule hedge, which plays all of them; thresholded\(2\)-hedge"),
        (
            NormalHedge(),
            Pruning(kind=PruningKind.PARTIAL),
            "regret matching or thresholded Hedge, got rule normal-hedge",
        ),
        (RULES[0], Pruning(kind=PruningKind.BEST_RESPONSE), "brp knows the weights of cfr"),
        (RULES[0], Pruning(zero_reach=ZeroReach.ALL), "zero-reach sequences need regret matching"),
    ],
)
def test_what_theory_does_not_cover_is_refused(leduc, rule, pruning, message):
    with pytest.raises(ConfigError, match=message):
        PrunedSolver(leduc, rule, pruning=pruning)
