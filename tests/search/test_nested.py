# SPDX-License-Identifier: Apache-2.0
"""Off-tree actions: nested search against translation, and what it must leave alone."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.search.gadgets import Distribution, Estimate, GiftBound, Given, Maxmargin, Reach, Resolve, Unsafe
from equipoise.search.holdem.depth_limit import LeafChoices
from equipoise.search.nested import NestedSearch
from equipoise.search.public import PublicProfile
from equipoise.search.settings import SearchSettings
from equipoise.search.translated import translate_strategy
from equipoise.solvers.best_response import evaluate
from equipoise.trees.public_edges import read_policy
from equipoise.trees.subtree import cut_subtree
from equipoise.trees.vector import TreeStrategy
from tests.search.betting import three_sizes
from tests.search.grounds import ground
from tests.search.surprises import SURPRISES, surprise


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


@pytest.fixture(params=SURPRISES)
def met(request):
    """Returns an unknown action of each layout."""
    return surprise(request.param)


def test_stages_are_rooted_behind_the_action_with_values_from_before_it(met):
    search = met.nested(Resolve(), 10)
    first = search.begin()
    stage = met.find(search).stage
    tree = stage.profile.tree
    assert stage.place == tree.root_place
    assert tree.actor_at(stage.place) == 1
    assert first.profile.tree.actor_at(met.place) == 0
    possible = first.profile.mass(met.place, 0) > 0
    best = np.where(possible, first.profile.action_values(met.place, 0).max(axis=1), 0.0)
    np.testing.assert_allclose(search.measure(first, met.place).value, best, atol=met.rounding)


def test_stages_lack_other_unknown_actions():
    three = three_sizes()
    search = nested(three, 1, Resolve(), 10)
    inner, reply = next(search.surprises(search.begin()))
    part = search.search(search.begin(), inner, reply).stage.profile.ground
    assert part.nodes[0] == reply.action
    assert search.begin().profile.ground.nodes[inner] == three.tree.parent[reply.action]
    assert all(gone not in part.nodes[1:] for gone in three.off_tree)


def test_unsafe_search_always_begins_before_the_action(met):
    stage = met.find(met.nested(Unsafe(), 10)).stage
    tree = stage.profile.tree
    assert tree.actor_at(tree.root_place) == 0
    assert tree.actor_at(stage.place) == 1
    assert tree.way_to(stage.place) == [(tree.root_place, stage.place)]


@pytest.mark.parametrize("is_expensive", [False, True])
def test_gifts_of_earlier_stages_are_kept_and_raise_alternatives(met, is_expensive):
    search = met.nested(Maxmargin(reach=Reach()), 5, is_expensive=is_expensive)
    stage = search.begin()
    more = np.arange(1.0, stage.gifts.size + 1)
    plain, raised = (met.find(search, dataclasses.replace(stage, gifts=stage.gifts + given)) for given in (0.0, more))
    expected = more[met.private]
    np.testing.assert_allclose(raised.stage.gifts - plain.stage.gifts, expected)
    np.testing.assert_allclose(raised.alternative - plain.alternative, expected)


def test_estimates_go_by_the_last_iterate_of_the_search_before(met):
    method = Resolve(reach=Reach(), alternatives=Estimate(), distribution=Distribution())
    search = met.nested(method, 30)
    stage = search.begin()
    standing = search.measure(stage, met.place)
    exact = met.nested(Resolve()).measure(stage, met.place)
    np.testing.assert_allclose(standing.deviation, np.abs(exact.value - standing.value), atol=met.rounding)
    assert np.all(standing.value <= exact.value + met.rounding)
    assert standing.deviation.max() > 0
    following = met.find(search).stage
    assert isinstance(following.profile.response, TreeStrategy)
    assert search.search(following, following.place).margin.size > 0


def test_a_share_of_the_gate_mixes_in_what_the_opponent_has_played(met):
    priors = []

    def watch(solver, num_iterations):
        priors.append(solver.problem.gate.prior.copy())
        solver.iterate(num_iterations)

    search = met.nested(Resolve(share=0.2))
    found = search.search(search.begin(), met.place, run=watch)
    subgame = found.subgame
    np.testing.assert_allclose(priors[0], subgame.to_rows(0, subgame.reach[0]))
    assert 0 < priors[0].max() <= 1


@pytest.mark.parametrize("name", ["leduc-1", "public", "holdem"])
def test_searching_again_below_a_search_does_not_raise_exploitability(name):
    given = ground(name)
    values = [given.price(given.table, 1)]
    for places in (given.places_to_search, [below for place in given.places_to_search for below in given.below(place)]):
        given = given.replace(given.search_at(places, 1, Maxmargin(), 150))
        values.append(given.price(given.table, 1))
    assert values[1] < values[0]
    assert values[2] < values[1] + 1e-3 * given.unit


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
