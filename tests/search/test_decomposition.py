# SPDX-License-Identifier: Apache-2.0
"""Leaves as functions of beliefs: CFR-D and CFR-AVG against CFR on the whole tree."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.search.decomposition import DecomposedSolver, Decomposition
from equipoise.search.leaves import FixedLeaves, NoisyLeaves, ResolvedLeaves, ZeroLeaves, batch_beliefs
from equipoise.search.limits import ActionLimit, RoundLimit
from equipoise.search.public import PublicProfile
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, LinearCFR
from equipoise.trees.derive import derive_public_game
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import read_policy
from tests.search.blueprints import random_strategy
from tests.search.layouts import flop_game

TREE = build_public_tree(derive_public_game(make_game("leduc")))
LEAVES = RoundLimit().leaves(TREE, 0)
FIXED = random_strategy(TREE, 6)
TREES = {"leduc": lambda: TREE, "flop": lambda: flop_game().tree}  # hold'em of twelve cards as a public tree


def ask(evaluator, tree, leaf, beliefs):
    """Returns both players' values of one leaf."""
    batch = batch_beliefs([tree.states[leaf]], [beliefs])
    return tuple(own[0, : beliefs.reach[player].size] for player, own in enumerate(evaluator.evaluate(batch).cfv))


def locked_run(tree, fixed, trunk, rule, num_iterations, is_alternating):
    """Returns CFR on the whole tree with everything outside the trunk held at a fixed strategy."""
    below = np.ones(tree.infoset_node.size, bool)
    below[trunk.part.infosets] = False
    locks = []
    for node in np.unique(tree.infoset_node[below]).tolist():
        private = tree.infoset_private[tree.infoset_node == node]
        locks.append(NodeLock(node=node, hands=private.tolist(), strategy=read_policy(tree, node, fixed)[private]))
    solver = CFRSolver(tree, rule, is_alternating=is_alternating, locks=locks)
    solver.iterate(num_iterations)
    return solver


@pytest.mark.parametrize("is_alternating", [True, False])
@pytest.mark.parametrize("limit", [RoundLimit(), ActionLimit(2)], ids=["round", "actions"])
@pytest.mark.parametrize("ground", TREES)
def test_fixed_leaves_are_the_whole_tree_locked(ground, limit, is_alternating):
    tree = TREES[ground]()
    fixed, leaves = random_strategy(tree, 6), limit.leaves(tree, 0)
    solver = DecomposedSolver(tree, leaves, FixedLeaves(tree, fixed), rule=DCFR(), is_alternating=is_alternating)
    solver.iterate(20)
    expected = locked_run(tree, fixed, solver.trunk, DCFR(), 20, is_alternating)
    pairs = solver.trunk.part.sequences
    for name in ("regret_sum", "strategy_sum", "strategy"):
        got = getattr(solver.tables, name)[solver.trunk.tree.sequence_cell]
        wanted = getattr(expected.tables, name)[tree.sequence_cell[pairs]]
        np.testing.assert_allclose(got, wanted, atol=1e-9, rtol=1e-7)


@pytest.mark.parametrize("kind", [Decomposition.CFR_AVG, Decomposition.MODIFIED_CFR_AVG])
def test_averages_make_no_difference_where_values_are_linear(kind):
    runs = [DecomposedSolver(TREE, LEAVES, FixedLeaves(TREE, FIXED), kind=one) for one in (Decomposition.CFR_D, kind)]
    for run in runs:
        run.iterate(20)
    np.testing.assert_allclose(runs[0].tables.regret_sum, runs[1].tables.regret_sum, atol=1e-9)


@pytest.mark.parametrize("ground", TREES)
def test_a_trunk_without_leaves_is_the_whole_game(ground):
    tree = TREES[ground]()
    solver = DecomposedSolver(tree, [], ZeroLeaves(), rule=CFR())
    solver.iterate(10)
    expected = CFRSolver(tree, CFR(), is_alternating=False)
    expected.iterate(10)
    np.testing.assert_allclose(solver.average_strategy(), expected.average_strategy(), atol=1e-12)
    assert solver.root_values()[0] == pytest.approx(expected.evaluate().values[0], abs=1e-12 * tree.utility_range)


POT_BETS = {"first_sizes": (0.5, 1.0), "second_sizes": (0.5, 1.0), "sizing": "pot", "stack": 20.0, "max_raises": 1}


@pytest.mark.parametrize("parameters", [{}, {"ranks": 4}, POT_BETS], ids=["leduc", "four ranks", "no limit"])
@pytest.mark.parametrize("kind", [Decomposition.CFR_D, Decomposition.CFR_AVG])
def test_solved_leaves_lead_to_the_value_of_the_game_and_what_is_composed_gets_better(kind, parameters):
    tree = build_public_tree(derive_public_game(make_game("leduc", **parameters)))
    whole = CFRSolver(tree, CFRPlus())
    whole.iterate(500)
    leaves = ResolvedLeaves(tree, iterations=60)
    solver = DecomposedSolver(tree, RoundLimit().leaves(tree, 0), leaves, kind=kind, rule=CFRPlus(gamma=1.0))
    exploitability = []
    for count in (10, 20, 60):
        solver.iterate(count)
        exploitability.append(evaluate(tree, solver.compose(iterations=200)).exploitability)
    value = whole.evaluate().values[0]
    assert solver.root_values()[0] == pytest.approx(value, abs=1e-3 * tree.utility_range)
    assert exploitability[2] < 0.75 * exploitability[1] < 0.5 * exploitability[0]


def test_extrapolated_values_come_close():
    # modified CFR-AVG: nothing is proved for it; it is far better than nothing and stops short of the others
    solver = DecomposedSolver(TREE, LEAVES, ResolvedLeaves(TREE, iterations=60), kind=Decomposition.MODIFIED_CFR_AVG)
    solver.iterate(25)
    assert evaluate(TREE, solver.compose(iterations=200)).exploitability < 0.15


def test_solved_leaves_are_worth_the_value_of_their_beliefs():
    beliefs = PublicProfile(TREE, random_strategy(TREE, 1)).beliefs(int(LEAVES[1]))
    first, second = ask(ResolvedLeaves(TREE, iterations=1000), TREE, int(LEAVES[1]), beliefs)
    assert beliefs.reach[0] @ first + beliefs.reach[1] @ second == pytest.approx(0.0, abs=1e-12)
    # from other beginnings and by other rules the same value: V is unique, values of single states need not be
    other = ask(ResolvedLeaves(TREE, iterations=3000, rule=DCFR()), TREE, int(LEAVES[1]), beliefs)
    assert beliefs.reach[0] @ first == pytest.approx(beliefs.reach[0] @ other[0], abs=1e-4)
    # what is played for some beliefs earns in proportion to the reach that it meets
    met = type(beliefs)(reach=(beliefs.reach[0], 2 * beliefs.reach[1]), joint=beliefs.joint)
    batches = [batch_beliefs([TREE.states[int(LEAVES[1])]], [each]) for each in (beliefs, met)]
    played = ResolvedLeaves(TREE, iterations=1000).evaluate_played(*batches)
    doubled = [own[0] for own in played.cfv]
    np.testing.assert_allclose(doubled[0], 2 * first, atol=1e-12)
    np.testing.assert_allclose(doubled[1], second, atol=1e-12)


def test_values_scale_with_the_opponents_reach():
    leaf = int(LEAVES[0])
    beliefs = PublicProfile(TREE, random_strategy(TREE, 2)).beliefs(leaf)
    scaled = type(beliefs)(reach=(3.0 * beliefs.reach[0], 0.5 * beliefs.reach[1]), joint=beliefs.joint)
    evaluator = ResolvedLeaves(TREE, iterations=50)
    plain, other = (ask(evaluator, TREE, leaf, one) for one in (beliefs, scaled))
    np.testing.assert_allclose(other[0], 0.5 * plain[0], atol=1e-12)
    np.testing.assert_allclose(other[1], 3.0 * plain[1], atol=1e-12)


def test_the_value_of_beliefs_is_concave_in_the_players_own():
    # section 5.3.2: V_1 is a minimum of functions that are linear in player 1's beliefs
    leaf, evaluator = int(LEAVES[0]), ResolvedLeaves(TREE, iterations=400)
    first, second = (PublicProfile(TREE, random_strategy(TREE, seed)).beliefs(leaf) for seed in (3, 4))

    def value(own):
        beliefs = type(first)(reach=(own, first.reach[1]), joint=first.joint)
        return own @ ask(evaluator, TREE, leaf, beliefs)[0]

    ends = value(first.reach[0]), value(second.reach[0])
    middle = value((first.reach[0] + second.reach[0]) / 2)
    assert middle >= (ends[0] + ends[1]) / 2 - 1e-4


def test_noise_on_leaves_costs():
    found = []
    for deviation in (0.0, 2.0):
        inner = FixedLeaves(TREE, PublicProfile(TREE, FIXED).strategy)
        evaluator = NoisyLeaves(inner, deviation, rng=np.random.default_rng(1))
        solver = DecomposedSolver(TREE, LEAVES, evaluator, rule=LinearCFR())
        solver.iterate(50)
        found.append(solver.average_strategy())
    exact = DecomposedSolver(TREE, LEAVES, FixedLeaves(TREE, FIXED), rule=LinearCFR())
    exact.iterate(50)
    np.testing.assert_allclose(found[0], exact.average_strategy(), atol=1e-12)
    assert np.abs(found[1] - found[0]).max() > 0.01


def test_worthless_leaves_leave_what_ends_before_them():
    solver = DecomposedSolver(TREE, LEAVES, ZeroLeaves())
    solver.iterate(3)
    assert np.all(solver.average_leaf_values(int(LEAVES[0]), 0) == 0.0)


def test_nonsense_is_refused():
    with pytest.raises(ConfigError, match="cfr-avg updates both players at once"):
        DecomposedSolver(TREE, LEAVES, ZeroLeaves(), kind=Decomposition.CFR_AVG, is_alternating=True)
    with pytest.raises(ConfigError, match="needs an evaluator that solves leaves, got ZeroLeaves"):
        DecomposedSolver(TREE, LEAVES, ZeroLeaves(), kind=Decomposition.CFR_AVG)
    with pytest.raises(ConfigError, match="iterations must be at least 1, got 0"):
        ResolvedLeaves(TREE, iterations=0)
    with pytest.raises(ConfigError, match="deviation must be at least 0, got -1"):
        NoisyLeaves(ZeroLeaves(), -1.0, rng=np.random.default_rng(0))


@pytest.mark.parametrize("count", [None, 2.5, -1])
def test_what_is_no_count_of_iterations_is_refused(count):
    with pytest.raises(ConfigError, match="num_iterations must be"):
        DecomposedSolver(TREE, LEAVES, ResolvedLeaves(TREE, iterations=1), kind=Decomposition.CFR_AVG).iterate(count)
