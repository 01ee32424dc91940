# SPDX-License-Identifier: Apache-2.0
"""Multi-valued states: RPS+ as the thesis has it, leaves against the whole tree, and the laws of choices."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.base import ActionClass
from equipoise.games.registry import make_game
from equipoise.search.gadgets import Resolve, Unsafe
from equipoise.search.limits import ActionLimit, RoundLimit
from equipoise.search.multi_valued import (
    Continuations,
    bias_continuations,
    combine,
    depth_limited_subgame,
    generate_continuations,
    respond,
)
from equipoise.search.posing import pose
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import SubgameSolver
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.derive import derive_public_game
from equipoise.trees.grafting import Choice, attach_choices
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_pairs import leaf_payoffs
from equipoise.trees.subtree import cut_subtree
from tests.search.blueprints import random_strategy
from tests.search.fixtures import make_blueprint, second_round
from tests.search.layouts import flop_game

GAME = derive_public_game(make_game("leduc"))
LEDUC = build_public_tree(GAME)
EQUILIBRIUM = (0.4, 0.4, 0.2)


@pytest.fixture(scope="module")
def rps():
    return make_blueprint(make_game("rps_plus"), {"row chooses": EQUILIBRIUM, "column chooses": EQUILIBRIUM})


@pytest.fixture(scope="module")
def leduc():
    solver = CFRSolver(LEDUC, CFRPlus())
    solver.iterate(20)
    return PublicProfile(LEDUC, solver.average_strategy())


@pytest.fixture(scope="module", params=["leduc", "flop"])
def blueprint(request, leduc):
    """Returns a blueprint of Leduc, and one of hold'em of twelve cards to the flop, both on public trees."""
    return leduc if request.param == "leduc" else flop_game().public


def columns(blueprint, rows):
    """Returns strategies of RPS+ that differ in what the column player does."""
    cells = blueprint.tree.sequence_cell[3:6]
    found = []
    for row in rows:
        found.append(blueprint.strategy.copy())
        found[-1][cells] = row
    return tuple(found)


def solve_limited(blueprint, continuations, searcher=0, limit=None, node=0, method=None, iterations=2000):
    leaves = (limit or ActionLimit(1)).leaves(blueprint.tree, node)
    subgame = depth_limited_subgame(blueprint, node, searcher, leaves, continuations)
    solver = SubgameSolver(subgame, pose(blueprint, subgame, searcher, method or Unsafe()))
    solver.iterate(iterations)
    return subgame, solver


def biased(row, favoured, factor=10.0):
    weights = np.array(row) * np.where(np.arange(3) == favoured, factor, 1.0)
    return weights / weights.sum()


@pytest.mark.parametrize("kind", ["pure", "biased"])
def test_continuations_make_rps_plus_solvable(rps, kind):
    rows = np.eye(3) if kind == "pure" else [EQUILIBRIUM, *(biased(EQUILIBRIUM, k) for k in range(3))]
    subgame, solver = solve_limited(rps, Continuations(columns(rps, rows), (rps.strategy,)), iterations=20_000)
    out = rps.strategy.copy()
    subgame.part.insert(solver.average_strategy(), out, players=(0,))
    np.testing.assert_allclose(out[rps.tree.sequence_cell[:3]], EQUILIBRIUM, atol=3e-3)


def test_one_value_leaves_rps_plus_undecided(rps):
    subgame, solver = solve_limited(rps, Continuations((rps.strategy,), (rps.strategy,)))
    assert np.abs(solver.tables.regret_sum).max() < 1e-12  # every first move is worth the same
    out = rps.strategy.copy()
    subgame.part.insert(solver.average_strategy(), out, players=(0,))
    assert evaluate(rps.tree, out).best_response_values[1] > 0.3


def test_leaf_payoffs_are_what_the_whole_tree_pays(blueprint):
    node = second_round(blueprint.tree)[3]
    subgame = blueprint.subgame(node)
    payoff = leaf_payoffs(blueprint.tree, node, blueprint.strategy)
    (first, second), atol = subgame.beliefs.reach, 1e-12 * blueprint.tree.utility_range
    values = [subgame.strategy_values(player, subgame.strategy, subgame.strategy) for player in (0, 1)]
    np.testing.assert_allclose(payoff @ second, values[0], atol=atol)
    np.testing.assert_allclose(-(first @ payoff), values[1], atol=atol)


def test_a_single_continuation_is_the_whole_tree_locked_behind_the_limit(blueprint):
    # values at the root are those of the blueprint in the whole game, whatever the depth
    same = Continuations((blueprint.strategy,), (blueprint.strategy,))
    for limit in (ActionLimit(1), ActionLimit(2), RoundLimit()):
        subgame = depth_limited_subgame(blueprint, 0, 0, limit.leaves(blueprint.tree, 0), same)
        got = [subgame.strategy_values(player, subgame.strategy, subgame.strategy).sum() for player in (0, 1)]
        assert got == pytest.approx(blueprint.evaluate().values, abs=1e-12 * blueprint.tree.utility_range)


@pytest.mark.parametrize("searcher", [0, 1])
def test_choosing_the_blueprint_gives_its_value_and_more_choice_never_helps_the_searcher(blueprint, searcher):
    opponent, tree, played = 1 - searcher, blueprint.tree, blueprint.strategy
    best = respond(blueprint, opponent, played)
    leaves, rounding = RoundLimit().leaves(tree, 0), 1e-12 * tree.utility_range
    worth = []
    for theirs in ((played,), (played, best), (played, best, random_strategy(tree, 1))):
        subgame = depth_limited_subgame(blueprint, 0, searcher, leaves, Continuations(theirs, (played,)))
        worth.append(subgame.best_values(opponent, subgame.strategy).sum())
    assert worth[0] <= worth[1] + rounding
    assert worth[1] <= worth[2] + rounding
    # with its best response to choose from, the opponent earns what it does in the whole game
    assert worth[1] == pytest.approx(blueprint.evaluate().best_response_values[opponent], abs=1e-9)


def test_both_sides_may_choose(leduc):
    own = (leduc.strategy, random_strategy(LEDUC, 2))
    theirs = (leduc.strategy, random_strategy(LEDUC, 3), random_strategy(LEDUC, 4))
    leaves = RoundLimit().leaves(LEDUC, 0)
    one_sided = depth_limited_subgame(leduc, 0, 0, leaves, Continuations(theirs, own[:1]))
    both = depth_limited_subgame(leduc, 0, 0, leaves, Continuations(theirs, own))
    values = []
    for subgame in (one_sided, both):
        solver = SubgameSolver(subgame, pose(leduc, subgame, 0, Unsafe()))
        solver.iterate(300)
        strategy = solver.average_strategy()
        values.append(-subgame.best_values(1, strategy).sum())
    assert values[1] > values[0] - 0.01  # a choice of its own does not hurt the searcher


def test_choices_are_made_in_each_private_state_alone(leduc):
    leaves = RoundLimit().leaves(LEDUC, 0)
    theirs = (leduc.strategy, random_strategy(LEDUC, 3))
    subgame = depth_limited_subgame(leduc, 0, 0, leaves, Continuations(theirs, (leduc.strategy,)))
    choosing = np.flatnonzero(subgame.part.infosets == subgame.part.ADDED)
    assert choosing.size == 6 * leaves.size  # six cards, whoever holds the other
    assert set(subgame.tree.infoset_player()[choosing].tolist()) == {1}


def test_continuations_can_be_permuted(leduc):
    leaves = RoundLimit().leaves(LEDUC, 0)
    theirs = (leduc.strategy, random_strategy(LEDUC, 3), random_strategy(LEDUC, 5))
    found = []
    for order in (theirs, theirs[::-1]):
        subgame = depth_limited_subgame(leduc, 0, 0, leaves, Continuations(order, (leduc.strategy,)))
        solver = SubgameSolver(subgame, pose(leduc, subgame, 0, Unsafe()))
        solver.iterate(20)
        out = leduc.strategy.copy()
        subgame.part.insert(solver.average_strategy(), out)
        found.append(out)
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)


def test_a_gate_stands_above_a_depth_limited_subgame_too(leduc):
    node = int(ActionLimit(1).leaves(LEDUC, 0)[0])
    limit = RoundLimit()
    best = respond(leduc, 0, leduc.strategy)
    subgame, solver = solve_limited(
        leduc,
        Continuations((leduc.strategy, best), (leduc.strategy,)),
        searcher=1,
        limit=limit,
        node=node,
        method=Resolve(),
        iterations=500,
    )
    assert solver.result().least_margin > -0.01
    assert subgame.tree.actor.size < LEDUC.actor.size / 4


def test_generated_continuations_lower_exploitability(leduc):
    limit = RoundLimit()
    floor = []
    for count in (1, 4):
        theirs = generate_continuations(leduc, 0, limit, count, iterations=150)
        assert len(theirs) == count
        subgame, solver = solve_limited(leduc, Continuations(theirs, (leduc.strategy,)), limit=limit, iterations=300)
        out = leduc.strategy.copy()
        subgame.part.insert(solver.average_strategy(), out, players=(0,))
        floor.append(evaluate(LEDUC, out).best_response_values[1])
    assert floor[1] < floor[0]


def test_biases_multiply_one_kind_of_move(leduc):
    plain, *others = bias_continuations(GAME, LEDUC, leduc.strategy)
    np.testing.assert_array_equal(plain, leduc.strategy)
    assert len(others) == 3
    node = next(n for n in range(LEDUC.actor.size) if LEDUC.actor[n] >= 0 and LEDUC.num_actions[n] == 3)
    classes = [GAME.action_class(node, action) for action in GAME.legal_actions(node)]
    assert classes == [ActionClass.FOLD, ActionClass.CALL, ActionClass.RAISE]
    infoset = int(np.flatnonzero(LEDUC.infoset_node == node)[2])
    cells = LEDUC.sequence_cell[LEDUC.infoset_start[infoset] : LEDUC.infoset_start[infoset + 1]]
    for favoured, strategy in enumerate(others):
        np.testing.assert_allclose(strategy[cells], biased(leduc.strategy[cells], favoured), atol=1e-12)


def test_strategies_of_two_players_combine(leduc):
    other = random_strategy(LEDUC, 9)
    mixed = combine(LEDUC, 0, leduc.strategy, other)
    owner = np.repeat(LEDUC.infoset_player(), np.diff(LEDUC.infoset_start))
    for player, expected in ((0, leduc.strategy), (1, other)):
        cells = LEDUC.sequence_cell[owner == player]
        np.testing.assert_array_equal(mixed[cells], expected[cells])


def test_nonsense_is_refused(leduc):
    with pytest.raises(ConfigError, match="each player needs at least one continuation"):
        Continuations((), (leduc.strategy,))
    with pytest.raises(ConfigError, match="at least 1 continuation, got 0"):
        generate_continuations(leduc, 0, RoundLimit(), 0)
    part = cut_subtree(LEDUC, 0, leaves=RoundLimit().leaves(LEDUC, 0))
    with pytest.raises(ConfigError, match="every leaf needs a choice: 5 leaves, 0 choices"):
        attach_choices(part, {})
    with pytest.raises(ConfigError, match="four axes"):
        Choice(chooser=0, payoff=np.zeros((2, 3)))
    wrong = Choice(chooser=0, payoff=np.zeros((2, 1, 3, 3)))
    with pytest.raises(ConfigError, match=r"must be for \(6, 6\) private states"):
        attach_choices(part, dict.fromkeys(part.leaves.tolist(), wrong))
