# SPDX-License-Identifier: Apache-2.0
"""Every search gives the same on both layouts of one flop game: alternatives, gifts, deviations, margins and values."""

import functools

import numpy as np
import pytest

from equipoise.games.base import CHANCE
from equipoise.games.holdem.betting import Street
from equipoise.search.gadgets import Distribution, Estimate, GiftBound, Maxmargin, Reach, Resolve, SelfPlay, Unsafe
from equipoise.search.nested import NestedSearch
from equipoise.search.posing import measure
from equipoise.search.settings import SearchSettings
from equipoise.search.walks import SearchPlan, SearchWalk, SearchWhen
from equipoise.solvers.best_response import evaluate
from tests.search.layouts import RANKS, flop_game

LAYOUTS = ["public", "holdem"]
METHODS = {
    "unsafe": Unsafe(),
    "resolve": Resolve(),
    "mixed-resolve": Resolve(share=0.2),
    "reach-resolve": Resolve(reach=Reach()),
    "reach-maxmargin-exact": Maxmargin(reach=Reach(bound=GiftBound.EXACT)),
    "estimate": Resolve(alternatives=Estimate()),
    "reach-estimate-distribution": Resolve(alternatives=Estimate(), distribution=Distribution(), reach=Reach()),
    "self-play": Resolve(alternatives=SelfPlay(), share=0.2),
}
FEW = 3  # iterations: rounding decides later where deviations are 0 or hands tie


def searches(game, method, searcher, **options):
    """Returns both layouts' searches."""
    settings = SearchSettings(method=method, iterations=FEW, early_iterations=FEW, **options)
    return NestedSearch(game.public, searcher, settings), NestedSearch(game.holdem, searcher, settings)


def places(node, layout):
    """Returns a node of the public tree as a place of a layout."""
    return node if layout == "public" else flop_game().place(node)


def steps_to(layout, node):
    """Returns the steps of a walk to a node of the public tree."""
    game = flop_game()
    return [below for _, below in game.tree.way_to(node)] if layout == "public" else game.steps(node)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("searcher", [0, 1])
@pytest.mark.parametrize("name", METHODS)
def test_what_is_measured_is_the_same(name, searcher, ranks):
    game = flop_game(ranks)
    small, by_hand = searches(game, METHODS[name], searcher)
    for node in game.flops():
        hands = game.hands(node)
        expected = small.measure(small.begin(), node)
        found = by_hand.measure(by_hand.begin(), game.place(node))
        for field in ("value", "gifts", "deviation"):
            np.testing.assert_allclose(getattr(found, field)[hands], getattr(expected, field), atol=5e-3, rtol=1e-5)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("searcher", [0, 1])
@pytest.mark.parametrize("name", [name for name in METHODS if "maxmargin" not in name])
def test_searches_find_the_same(name, searcher, ranks):
    # of maxmargin, one choice among hands is another one among classes of hands on the way to the same limit
    game = flop_game(ranks)
    small, by_hand = searches(game, METHODS[name], searcher)
    for node in game.flops():
        hands = game.hands(node)
        expected = small.search(small.begin(), node, is_there=True)
        found = by_hand.search(by_hand.begin(), game.place(node), is_there=True)
        np.testing.assert_array_equal(found.possible[hands], expected.possible)
        np.testing.assert_allclose(found.alternative[hands], expected.alternative, atol=5e-3, rtol=1e-5)
        np.testing.assert_allclose(found.value[hands], expected.value, atol=5e-3, rtol=1e-5)
        np.testing.assert_allclose(found.responses(), expected.responses(), atol=5e-3)
        if game.tree.actor[node] != searcher:
            continue  # the opponent's averages are weighted by what enters in one form and not in the other
        own = found.subgame.reach[searcher][hands] > 1e-6  # what nobody plays has no average
        rows = found.stage.profile.probabilities(found.stage.place)[hands]
        np.testing.assert_allclose(rows[own], expected.stage.profile.probabilities(0)[own], atol=1e-4)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["resolve", "reach-resolve", "reach-maxmargin-exact"])
def test_safe_searches_keep_every_margin(layout, name):
    game = flop_game()
    profile, node = getattr(game, layout), game.flops()[1]
    settings = SearchSettings(method=METHODS[name], iterations=400, early_iterations=400)
    search = NestedSearch(profile, 1, settings)
    found = search.search(search.begin(), places(node, layout), is_there=True)
    assert found.least_margin > -0.005 * 1200  # of all chips


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gifts_are_never_negative_and_bounded_by_exact_ones(layout):
    profile = getattr(flop_game(), layout)
    for node in flop_game().flops():
        place = places(node, layout)
        for opponent in (0, 1):
            subgame = profile.subgame(place, 1 - opponent)
            lower, exact = (
                measure(profile, subgame, opponent, Maxmargin(reach=Reach(bound=bound))).gifts for bound in GiftBound
            )
            assert np.all(lower >= 0)
            assert np.all(exact >= lower - 1e-3)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_walks_search_when_a_round_opens(layout):
    game = flop_game()
    tree, profile = game.tree, getattr(game, layout)
    node = next(n for n in game.flops() if tree.actor[tree.parent[n]] == CHANCE)
    seat = int(tree.actor[node])
    search = SearchSettings(method=Resolve(), iterations=FEW, early_iterations=FEW)
    plan = SearchPlan(search=search, when=SearchWhen.ROUNDS, first_street=1, first_reply=1)
    walk = SearchWalk(profile, seat, plan)
    steps = steps_to(layout, node)
    stage, place = walk.stage_at(steps, tree.public_labels[node])
    assert len(walk.found) == 1
    rows = stage.profile.probabilities(place)
    np.testing.assert_allclose(rows[rows.sum(axis=1) > 0].sum(axis=1), 1.0, atol=1e-6)


@functools.cache
def price_of_walks(layout):
    """Returns the exact quality of what walks play in both seats."""
    game = flop_game()
    search = SearchSettings(method=Resolve(), iterations=60, early_iterations=60)
    plan = SearchPlan(search=search, when=SearchWhen.ROUNDS, first_street=Street.FLOP, first_reply=Street.FLOP)
    walks = [SearchWalk(getattr(game, layout), seat, plan) for seat in (0, 1)]

    def answer(node):
        stage, place = walks[game.tree.actor[node]].stage_at(steps_to(layout, node), game.tree.public_labels[node])
        return stage.profile.probabilities(place)

    return game.assemble(answer, layout)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_walks_are_less_exploitable_than_their_blueprint(layout):
    game = flop_game()
    before = evaluate(game.tree, game.public.strategy).best_response_values
    after = price_of_walks(layout).best_response_values
    assert all(now < then for now, then in zip(after, before, strict=True))
    assert after == pytest.approx(price_of_walks(LAYOUTS[0]).best_response_values, abs=0.5)  # of 200
