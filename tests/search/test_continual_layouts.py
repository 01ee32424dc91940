# SPDX-License-Identifier: Apache-2.0
"""Continual re-solving of one flop game, from its rules as a public game and by hands: the same laws, and one price."""

import functools

import numpy as np
import pytest

from equipoise.search.continual import ContinualSearch, ContinualSettings
from equipoise.search.gadgets import Resolve, Unsafe
from equipoise.search.settings import SearchSettings
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.rules_strategy import RulesStrategy
from equipoise.solvers.strategy import TabularStrategy
from tests.search.layouts import flop_game

LAYOUTS = ["public", "holdem"]
GATE = Resolve(share=0.2)
POT = 200  # where both have called, in chips


def path_to(node):
    """Returns the numbers of observations that lead to a node of the public tree."""
    parent = flop_game().tree.parent
    edges = flop_game().tree.way_to(node)
    return tuple(int(np.count_nonzero(parent[:below] == above)) for above, below in edges)


@functools.cache
def prices(layout, method, iterations=60, *, has_blueprint=False):
    """Returns what best responses win from continual re-solving in each seat, in chips."""
    game = flop_game()
    settings = ContinualSettings(
        method=method, iterations=iterations, holdem=SearchSettings(early_iterations=iterations)
    )
    ground, blueprint = game.form.spot, game.average
    if layout == "public":
        ground = game.form
        blueprint = RulesStrategy(game.form, TabularStrategy.from_tree(game.tree, game.public.strategy))
    given = blueprint if has_blueprint else None
    searches = [ContinualSearch(ground, seat, settings, blueprint=given) for seat in (0, 1)]
    lead = path_to if layout == "public" else game.steps
    return game.assemble(lambda node: searches[game.tree.actor[node]].policy_at(lead(node)), layout)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_of_the_search_before_make_it_safe(layout):
    safe = prices(layout, GATE).exploitability
    assert safe < 0.01 * POT
    assert prices(layout, Unsafe()).exploitability > 10 * safe


@pytest.mark.parametrize("method", [GATE, Unsafe()], ids=["gate", "unsafe"])
def test_both_layouts_cost_as_much(method):
    found, expected = (prices(layout, method).best_response_values for layout in LAYOUTS)
    assert found == pytest.approx(expected, abs=0.005 * POT)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_searches_over_a_blueprint_are_no_more_exploitable_than_it(layout):
    game = flop_game()
    before, after = evaluate(game.tree, game.public.strategy), prices(layout, GATE, has_blueprint=True)
    for now, then in zip(after.best_response_values, before.best_response_values, strict=True):
        assert now < then
    assert after.exploitability < 0.25 * before.exploitability
