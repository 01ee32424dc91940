# SPDX-License-Identifier: Apache-2.0
"""Searches that end at a limit, leaves valued by an evaluator: both layouts, one continuation, rules alone, agents."""

import functools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.frontier import BeliefBatch
from equipoise.search.continual import ContinualSearch, ContinualSettings
from equipoise.search.gadgets import Given, Maxmargin, Resolve, Unsafe
from equipoise.search.holdem.leaves import HoldemRest, HoldemState, trace_line
from equipoise.search.leaf_choices import PolicyLeaves
from equipoise.search.leaves import FixedLeaves, HeldLeaves, NoisyLeaves, ResolvedLeaves, ZeroLeaves
from equipoise.search.limits import ActionLimit, BudgetLimit, RoundLimit
from equipoise.search.multi_valued import Continuations, depth_limited_subgame
from equipoise.search.nested import NestedSearch
from equipoise.search.posing import pose
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import SubgameSolver
from equipoise.search.settings import SearchSettings
from equipoise.search.walks import SearchPlan, SearchWalk, SearchWhen
from equipoise.solvers.rules import CFRPlus
from equipoise.solvers.rules_strategy import RulesStrategy
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.derive import derive_public_game
from equipoise.trees.joint import CardRemoval
from equipoise.trees.public import build_public_tree
from tests.search.betting import three_sizes
from tests.search.blueprints import random_strategy
from tests.search.layouts import flop_game

GAME = derive_public_game(make_game("leduc"))
TREE = build_public_tree(GAME)
FIXED = random_strategy(TREE, 6)
FEW = 3  # iterations: rounding decides later where hands tie
LIMITS = {
    "round": RoundLimit(),
    "after deal": RoundLimit(is_after_deal=True),
    "actions": ActionLimit(2),
    "budget": BudgetLimit(9),
}


@pytest.mark.usefixtures("any_team")
@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("method", [Unsafe(), Resolve(), Maxmargin()], ids=["unsafe", "resolve", "maxmargin"])
@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_fixed_leaves_are_choices_of_one_continuation(limit, method, num_threads):
    blueprint = PublicProfile(TREE, FIXED)
    one = Continuations((FIXED,), (FIXED,))
    chosen = depth_limited_subgame(blueprint, 0, 1, limit.leaves(TREE, 0), one)
    valued = blueprint.subgame(0).end_at(limit, FixedLeaves(TREE, FIXED))
    values = []
    for subgame in (chosen, valued):
        if not isinstance(method, Unsafe):
            method = type(method)(alternatives=Given(np.linspace(-1.0, 1.0, TREE.num_private[0, 0])))
        solver = SubgameSolver(subgame, pose(blueprint, subgame, 1, method), num_threads=num_threads)
        solver.iterate(30)
        out = FIXED.copy()
        subgame.part.insert(solver.average_strategy(), out)
        values.append((out, solver.average_values(0), solver.average_values(1), solver.result().value))
    for found, expected in zip(*values, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("every", [1, 2, 3])
def test_held_leaves_grow_with_the_reach_of_the_other(every):
    leaf = RoundLimit().leaves(TREE, 0)[0]
    count = TREE.num_private[leaf].tolist()
    inner = FixedLeaves(TREE, FIXED)
    held, rng = HeldLeaves(inner, every=every), np.random.default_rng(7)
    states, counts, joint = [TREE.states[leaf]], np.array([count], np.int32), [TREE.joint_at(leaf)]
    hands = rng.random((1, count[0])), rng.random((1, count[1]))
    for call in range(7):
        grown = rng.random(2)
        if call % every == 0:  # other hands, not only more or fewer of them
            hands = rng.random((1, count[0])), rng.random((1, count[1]))
        reach = grown[0] * hands[0], grown[1] * hands[1]
        batch = BeliefBatch(states=states, reach=reach, num_private=counts, joint=joint)
        for found, expected in zip(held.evaluate(batch).cfv, inner.evaluate(batch).cfv, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-12)
    nobody = BeliefBatch(states=states, reach=(0.0 * hands[0], hands[1]), num_private=counts, joint=joint)
    assert all(np.isfinite(values).all() for _ in range(3) for values in held.evaluate(nobody).cfv)
    with pytest.raises(ConfigError, match="every must be at least 1, got 0"):
        HeldLeaves(inner, every=0)


@pytest.mark.parametrize("every", [2, 3])
def test_runs_with_held_leaves_come_to_the_same_end(every):
    inner = FixedLeaves(TREE, FIXED)
    values = []
    for leaves in (inner, HeldLeaves(inner, every=every)):
        subgame = PublicProfile(TREE, FIXED).subgame(0).end_at(RoundLimit(), leaves)
        solver = SubgameSolver(subgame, pose(None, subgame, 0, Unsafe()), rule=CFRPlus(gamma=1.0))
        solver.iterate(1000)
        values.append(solver.average_values(0))
    np.testing.assert_allclose(values[1], values[0], atol=2e-2)


EVALUATORS = {
    "zero": lambda whole, strategy: ZeroLeaves(),
    "fixed": FixedLeaves,
    "solved": lambda whole, strategy: ResolvedLeaves(whole, iterations=1),  # later on ties are broken by rounding
    "noisy": lambda whole, strategy: NoisyLeaves(FixedLeaves(whole, strategy), 0.0, rng=np.random.default_rng(1)),
    "held": lambda whole, strategy: HeldLeaves(FixedLeaves(whole, strategy)),
}


@functools.cache
def pair_of(name):
    """Returns an evaluator for the public tree of the flop game, and for its hands."""
    game, make = flop_game(), EVALUATORS[name]
    return make(game.tree, game.public.strategy), make(HoldemRest.of(game.average), game.average)


@pytest.mark.parametrize("searcher", [0, 1])
@pytest.mark.parametrize("method", [Unsafe(), Resolve(), Resolve(share=0.2)], ids=["unsafe", "resolve", "mixed"])
@pytest.mark.parametrize("name", EVALUATORS)
def test_both_layouts_find_the_same(name, method, searcher):
    game = flop_game()
    found = []
    for profile, leaves in zip((game.public, game.holdem), pair_of(name), strict=True):
        settings = SearchSettings(method=method, iterations=FEW, leaf_iterations=FEW, limit=RoundLimit(), leaves=leaves)
        search = NestedSearch(profile, searcher, settings)
        found.append(search.search(search.begin(), profile.tree.root_place))
    hands = game.hands(0)
    small, by_hand = found
    np.testing.assert_allclose(by_hand.value[hands], small.value, atol=5e-3, rtol=1e-5)
    np.testing.assert_allclose(by_hand.alternative[hands], small.alternative, atol=5e-3, rtol=1e-5)
    if game.tree.actor[0] == searcher:  # the opponent's averages are weighted by what enters in one form
        rows = by_hand.stage.profile.probabilities(by_hand.stage.place)[hands]
        np.testing.assert_allclose(rows, small.stage.profile.probabilities(0), atol=1e-4)


@pytest.mark.parametrize("iterations", [1, 2, 400])
def test_solved_leaves_of_both_layouts_are_worth_the_same(iterations):
    game, rng = flop_game(), np.random.default_rng(0)
    wholes = game.tree, HoldemRest(game.form.spot)
    of_hand, deck = game.form.board(()).private_of_hand, game.form.spot.deck
    for leaf in RoundLimit().leaves(game.tree, 0)[:2].tolist():
        node, joint = game.betting.nodes[game.place(leaf).node], game.tree.joint_at(leaf)
        states = game.tree.states[leaf], HoldemState(trace_line(game.betting, node.index), node.state, ())
        reach = rng.random((2, game.tree.num_private[leaf, 0]))
        joints, reaches = (joint, CardRemoval(deck, ())), (reach, reach[:, of_hand])
        values = []
        for whole, state, weights, (first, second) in zip(wholes, states, joints, reaches, strict=True):
            counts = np.full((1, 2), first.size, np.int32)
            batch = BeliefBatch(states=[state], reach=(first[None], second[None]), num_private=counts, joint=[weights])
            found = ResolvedLeaves(whole, iterations=iterations).evaluate(batch).cfv
            values.append(found[0][0] / weights.mass(0, second))
        own = game.hands(leaf)
        if iterations < 3:
            np.testing.assert_allclose(values[1][own], values[0], atol=1e-9)
        total = reach[0] * joint.mass(0, reach[1])
        assert total @ values[1][own] == pytest.approx(total @ values[0], abs=1e-3 * total.sum())  # of a pot of 200


def test_a_search_keeps_what_was_played_beyond_its_leaves():
    blueprint = PublicProfile(TREE, FIXED)
    settings = SearchSettings(method=Unsafe(), iterations=20, limit=RoundLimit(), leaves=FixedLeaves(TREE, FIXED))
    search = NestedSearch(blueprint, 0, settings)
    found = search.search(search.begin(), 0)
    leaves = RoundLimit().leaves(TREE, 0)
    for node in np.flatnonzero(TREE.actor >= 0).tolist():
        is_below = any(TREE.descendants.has(int(leaf), np.array([node]))[0] for leaf in leaves)
        rows = found.stage.profile.probabilities(node)
        assert np.allclose(rows, blueprint.probabilities(node)) == is_below


def test_replies_to_unknown_actions_end_at_the_limit_too():
    three = three_sizes()
    profile = PublicProfile.without(three.tree, three.strategy, three.off_tree)
    leaves = ResolvedLeaves(three.tree, iterations=20)
    settings = SearchSettings(method=Maxmargin(), iterations=20, limit=RoundLimit(), leaves=leaves)
    search = NestedSearch(profile, 1, settings)
    place, reply = next(search.surprises(search.begin()))
    found = search.search(search.begin(), place, reply)
    assert found.subgame.whole is None  # to the end of the game
    assert found.subgame.frontier is None
    assert np.isfinite(found.margin).all()


@pytest.mark.parametrize("limit", [RoundLimit(), ActionLimit(2)], ids=["round", "actions"])
def test_continual_searches_ask_for_public_states_of_the_game(limit):
    strategy = RulesStrategy(GAME, TabularStrategy.from_tree(TREE, FIXED))
    linear = PolicyLeaves(opponent=(strategy,), searcher=(strategy,))
    chosen, valued = (
        ContinualSearch(GAME, 0, ContinualSettings(iterations=20, limit=limit, leaves=leaves))
        for leaves in (linear, FixedLeaves(TREE, FIXED))
    )
    nodes = [node for node in np.flatnonzero(TREE.actor == 0).tolist() if len(path_to(node)) <= 5]
    for node in nodes:
        np.testing.assert_allclose(valued.policy_at(path_to(node)), chosen.policy_at(path_to(node)), atol=1e-6)


def path_to(node):
    """Returns the numbers of observations that lead to a node of Leduc's tree."""
    path = []
    while node > 0:
        above = int(TREE.parent[node])
        path.append(int(np.searchsorted(np.flatnonzero(TREE.parent == above), node)))
        node = above
    return tuple(reversed(path))


@pytest.mark.parametrize("layout", ["public", "holdem"])
def test_walks_and_continual_searches_of_both_layouts_end_at_the_limit(layout):
    game = flop_game()
    leaves = pair_of("fixed")[layout == "holdem"]
    search = SearchSettings(
        method=Resolve(), iterations=FEW, leaf_iterations=FEW, early_iterations=FEW, limit=RoundLimit(), leaves=leaves
    )
    plan = SearchPlan(search=search, when=SearchWhen.DECISIONS, first_street=0, first_reply=0)
    profile = getattr(game, layout)
    seat = profile.tree.actor_at(profile.tree.root_place)
    walk = SearchWalk(profile, seat, plan)
    stage, place = walk.stage_at((), "the beginning")
    assert len(walk.found) == 1
    rows = stage.profile.probabilities(place)
    np.testing.assert_allclose(rows[rows.sum(axis=1) > 0].sum(axis=1), 1.0, atol=1e-6)


def test_continual_searches_of_hands_take_an_evaluator():
    game = flop_game()
    spot = game.form.spot
    seat = game.betting.root.state.actor
    leaves = ResolvedLeaves(HoldemRest(spot), iterations=FEW)
    holdem = SearchSettings(leaf_iterations=FEW)
    settings = ContinualSettings(iterations=FEW, limit=RoundLimit(), leaves=leaves, holdem=holdem)
    rows = ContinualSearch(spot, seat, settings).policy_at(())
    np.testing.assert_allclose(rows[rows.sum(axis=1) > 0].sum(axis=1), 1.0, atol=1e-6)
    with pytest.raises(ConfigError, match="need an evaluator of leaves"):
        ContinualSearch(spot, seat, ContinualSettings(limit=RoundLimit())).policy_at(())
