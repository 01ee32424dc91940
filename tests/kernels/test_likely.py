# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.likely import LikelyKernel
from equipoise.solvers.best_response import bind_history_kernel
from equipoise.solvers.egt import bind_likely_kernel
from equipoise.trees.history import build_history_tree
from equipoise.trees.node_reach import find_node_reach
from tests.reference import likely as reference

TREES = {
    name: build_history_tree(make_game(name, **parameters))
    for name, parameters in {
        "kuhn": {},
        "leduc": {"merge_suits": True},
        "goofspiel": {"cards": 3, "prizes": "random"},
        "matrix": {"payoffs": "1,0.9,-2;-0.7,1,3"},
    }.items()
}


def random_play(tree, kernel):
    sums = np.random.default_rng(7).exponential(size=kernel.num_sequences) ** 3
    strategy = kernel.normalize(sums)
    return strategy, kernel.realize(strategy)


@pytest.mark.parametrize("least", [0.0, 1e-4, 3e-3, 0.1, 2.0])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", TREES)
def test_a_walk_equals_its_twin(name, player, least):
    tree = TREES[name]
    kernel = bind_history_kernel(tree)
    strategy, realization = random_play(tree, kernel)
    num_visited, values = bind_likely_kernel(tree, kernel).terminal_values(player, realization, least)
    expected_visits, expected = reference.terminal_values(tree, player, strategy, least)
    assert num_visited == expected_visits
    np.testing.assert_allclose(values, expected, atol=1e-14)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", TREES)
def test_nothing_left_out_is_the_sweep_over_terminals_to_the_bit(name, player):
    tree = TREES[name]
    kernel = bind_history_kernel(tree)
    _, realization = random_play(tree, kernel)
    num_visited, values = bind_likely_kernel(tree, kernel).terminal_values(player, realization, 0.0)
    assert num_visited == tree.actor.size
    np.testing.assert_array_equal(values, kernel.terminal_values(player, realization))


def test_the_way_to_terminals_is_the_tree_s():
    tree = TREES["leduc"]
    reach = find_node_reach(tree)
    np.testing.assert_array_equal(reach.last_sequence[:, tree.terminal_node], tree.terminal_sequence)
    np.testing.assert_allclose(reach.chance[tree.terminal_node], tree.terminal_chance)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("subtree_end", lambda array: array * 0),
        ("subtree_end", lambda array: array + 1),
        ("last_sequence", lambda array: array[::-1].copy()),
        ("terminal", lambda array: array + 1000),
        ("chance", lambda array: array * np.nan),
    ],
)
def test_arrays_that_point_nowhere_are_refused(name, change):
    tree = TREES["kuhn"]
    arrays = {"subtree_end": tree.subtree_end, **find_node_reach(tree)._asdict()}
    arrays[name] = change(arrays[name])
    with pytest.raises(ValueError, match=name):
        LikelyKernel(bind_history_kernel(tree), **arrays)


def test_three_players_are_refused():
    tree = build_history_tree(make_game("kuhn", players=3))
    with pytest.raises(ConfigError, match="serve two players, got 3"):
        bind_likely_kernel(tree, bind_history_kernel(tree))
