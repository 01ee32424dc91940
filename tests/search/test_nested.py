# SPDX-License-Identifier: Apache-2.0
"""Off-tree actions: nested search against translation, and what it must leave alone."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.search.gadgets import Distribution, Estimate, GiftBound, Given, Maxmargin, Reach, Resolve, Unsafe
from equipoise.search.holdem.depth_limit import LeafChoices
from equipoise.search.nested import NestedSearch
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import search_everywhere
from equipoise.search.settings import SearchSettings
from equipoise.search.translated import translate_strategy
from equipoise.solvers.best_response import evaluate
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import find_children, read_policy
from equipoise.trees.subtree import cut_subtree
from equipoise.trees.vector import TreeStrategy
from tests.search.betting import three_sizes
from tests.search.blueprints import random_strategy
from tests.search.fixtures import second_round


def nested(three, searcher, method, iterations=20, *, is_expensive=False):
    """Returns a search of the strategy that lacks the middle size."""
    settings = SearchSettings(method=method, iterations=iterations, is_expensive=is_expensive)
    return NestedSearch(PublicProfile.without(three.tree, three.strategy, three.off_tree), searcher, settings)


def lost(three, strategy, searcher):
    """Returns what the opponent's best response among all sizes earns."""
    return evaluate(three.tree, strategy).best_response_values[1 - searcher]


@pytest.mark.parametrize("searcher", [0, 1])
@pytest.mark.parametrize(
    ("method", "is_expensive"),
    [
        (Resolve(), False),
        (Maxmargin(), False),
        (Maxmargin(reach=Reach(bound=GiftBound.EXACT)), False),
        (Maxmargin(reach=Reach()), True),
        (Unsafe(), True),
    ],
    ids=["resolve", "maxmargin", "reach-maxmargin", "reach-maxmargin-expensive", "unsafe-expensive"],
)
def test_nested_search_is_far_below_translation(searcher, method, is_expensive):
    three = three_sizes()
    known = cut_subtree(three.tree, 0, without=three.off_tree)
    floor = evaluate(known.tree, known.restrict(three.strategy)).best_response_values[1 - searcher]
    translated = translate_strategy(three.tree, three.off_tree, searcher, three.strategy, three.images)
    search = nested(three, searcher, method, 200, is_expensive=is_expensive).everywhere()
    price = lost(three, search, searcher) - floor
    assert -1e-9 <= price < 0.5 * (lost(three, translated, searcher) - floor)


@pytest.mark.parametrize("is_expensive", [False, True])
def test_replies_leave_other_branches_alone(is_expensive):
    three = three_sizes()
    search = nested(three, 1, Maxmargin(), is_expensive=is_expensive)
    _, reply = next(search.surprises(search.begin()))
    node = reply.action
    out = search.everywhere()
    behind = np.zeros(three.tree.actor.size, bool)
    for gone in three.off_tree:
        behind[three.tree.descendants.of(int(gone))] = True
    known = ~behind[three.tree.infoset_node]
    pairs = np.repeat(known, np.diff(three.tree.infoset_start))
    cells = three.tree.sequence_cell
    np.testing.assert_array_equal(out[cells[pairs]], three.strategy[cells[pairs]])
    changed = np.repeat(~known & (three.tree.infoset_player() == 1), np.diff(three.tree.infoset_start))
    assert not np.array_equal(out[cells[changed]], three.strategy[cells[changed]])
    assert not np.array_equal(read_policy(three.tree, node, out), read_policy(three.tree, node, three.strategy))


def test_stages_are_rooted_behind_the_action_with_values_from_before_it():
    three = three_sizes()
    search = nested(three, 1, Resolve(), 10)
    first = search.begin()
    inner, reply = next(search.surprises(first))
    found = search.search(first, inner, reply)
    part = found.stage.profile.ground
    assert found.stage.place == 0
    assert part.nodes[0] == reply.action
    assert first.profile.ground.nodes[inner] == three.tree.parent[reply.action]
    assert first.profile.tree.actor[inner] == 0
    best = read_policy(first.profile.tree, inner, first.profile.best_cfv(0)).max(axis=1)
    expected = best / first.profile.beliefs(inner).mass(0)
    np.testing.assert_allclose(search.measure(first, inner).value, expected)
    assert all(gone not in part.nodes[1:] for gone in three.off_tree)


def test_unsafe_search_always_begins_before_the_action():
    three = three_sizes()
    search = nested(three, 1, Unsafe(), 10)
    first = search.begin()
    inner, reply = next(search.surprises(first))
    stage = search.search(first, inner, reply).stage
    assert stage.profile.ground.nodes[0] == three.tree.parent[reply.action]
    assert stage.profile.ground.nodes[stage.place] == reply.action


@pytest.mark.parametrize("is_expensive", [False, True])
def test_gifts_of_earlier_stages_are_kept(is_expensive):
    three = three_sizes()
    search = nested(three, 1, Maxmargin(reach=Reach()), 5, is_expensive=is_expensive)
    stage = search.begin()
    place, reply = next(search.surprises(stage))
    plain, raised = (
        search.search(dataclasses.replace(stage, gifts=stage.gifts + more), place, reply).stage
        for more in (0.0, np.arange(1.0, 7.0))
    )
    np.testing.assert_allclose(raised.gifts - plain.gifts, [1, 2, 4, 5, 6])  # the third card lies on the board


def test_estimates_go_by_the_last_iterate_of_the_search_before():
    three = three_sizes()
    method = Resolve(reach=Reach(), alternatives=Estimate(), distribution=Distribution())
    known = PublicProfile.without(three.tree, three.strategy, three.off_tree)
    known.response = TreeStrategy(known.tree, known.strategy)
    search = NestedSearch(known, 1, SearchSettings(method=method, iterations=30))
    stage = search.begin()
    place, reply = next(search.surprises(stage))
    standing = search.measure(stage, place)
    exact = nested(three, 1, Resolve()).measure(stage, place)
    np.testing.assert_allclose(standing.deviation, exact.value - standing.value, atol=1e-12)
    assert standing.deviation.max() > 0
    following = search.search(stage, place, reply).stage
    last = following.profile.response
    assert isinstance(last, TreeStrategy)
    assert search.search(following, 0).margin.size > 0


def test_searching_again_below_a_search_does_not_raise_exploitability():
    tree = build_public_tree(derive_public_game(make_game("leduc")))
    blueprint = PublicProfile(tree, random_strategy(tree, 4))
    roots = second_round(tree)
    deeper = [int(child) for root in roots for child in find_children(tree, root) if tree.actor[child] >= 0]
    values = [blueprint.evaluate().best_response_values[0]]
    for nodes in (roots, deeper):
        blueprint = PublicProfile(tree, search_everywhere(blueprint, nodes, 1, Maxmargin(), iterations=150))
        values.append(blueprint.evaluate().best_response_values[0])
    assert values[1] < values[0]
    assert values[2] < values[1] + 1e-3


def test_translation_mixes_plans_by_own_reach():
    three = three_sizes()
    out = translate_strategy(three.tree, three.off_tree, 1, three.strategy, three.images)
    node = next(n for n in three.off_tree if three.tree.actor[n] == 1)
    shares = three.images(node)
    expected = sum(share * read_policy(three.tree, image, three.strategy) for image, share in shares.items())
    np.testing.assert_allclose(read_policy(three.tree, node, out), expected)  # no own action lies before it


def test_nonsense_is_refused():
    three = three_sizes()
    with pytest.raises(ConfigError, match="finds its alternatives itself"):
        nested(three, 1, Resolve(alternatives=Given(np.zeros(6))))
    with pytest.raises(ConfigError, match="no action is unknown"):
        list(PublicProfile(three.tree, three.strategy).surprises(0, 0))
    with pytest.raises(ConfigError, match="menus and choices at leaves are for hold'em"):
        NestedSearch(PublicProfile(three.tree, three.strategy), 0, SearchSettings(leaf_choices=LeafChoices()))
