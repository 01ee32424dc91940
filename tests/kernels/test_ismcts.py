# SPDX-License-Identifier: Apache-2.0
"""Searches on trees: against their twin, with the same draws, and what they refuse."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.ismcts import SearchKernel, SearchTables, WorldArrays
from equipoise.search.ismcts import lay_out_worlds
from equipoise.solvers.mccfr import lay_out_for_sampling
from equipoise.trees.history import build_history_tree
from tests.reference.ismcts import ReferenceISMCTS, find_worlds
from tests.reference.sampling import Xoshiro

GAMES = {
    "kuhn": make_game("kuhn"),
    "kuhn3": make_game("kuhn", players=3),
    "goofspiel3r": make_game("goofspiel", cards=3, prizes="random"),  # hidden moves: worlds that differ in play
    "leduc": make_game("leduc", ranks=2, max_raises=1),
    "merged": make_game("leduc", merge_suits=True, max_raises=1),  # worlds of unequal probability
}


def make_kernel(tree):
    return SearchKernel(lay_out_for_sampling(tree), lay_out_worlds(tree))


def make_tables(tree):
    sequences = int(tree.sequence_start[-1])
    words = np.random.default_rng(5).integers(1, 2**64 - 1, size=4, dtype=np.uint64)
    return SearchTables(visits=np.full(sequences, 9.0), return_sum=np.full(sequences, 9.0), random_words=words)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("exploration", [0.0, 2.0])
def test_searches_equal_the_twins(name, exploration):
    tree = build_history_tree(GAMES[name])
    kernel, tables, worlds = make_kernel(tree), make_tables(tree), find_worlds(GAMES[name])
    draw = Xoshiro(tables.random_words).draw
    infosets = np.arange(0, tree.num_actions.size, 5, dtype=np.int32)[::-1].copy()
    kernel.search(infosets, tables, num_simulations=60, exploration=exploration)
    for infoset in infosets:
        key = (int(tree.infoset_player()[infoset]), tree.infoset_labels[infoset])
        expected = ReferenceISMCTS(GAMES[name], exploration, draw).search(worlds[key], 60)
        cells = slice(tree.first_sequence[infoset], tree.first_sequence[infoset] + tree.num_actions[infoset])
        assert tables.visits[cells].tolist() == [visits for visits, _ in expected]
        np.testing.assert_allclose(tables.return_sum[cells], [total for _, total in expected], atol=1e-9)
        assert tables.visits[cells].sum() == 59


def test_other_cells_are_left_alone():
    tree = build_history_tree(GAMES["kuhn"])
    kernel, tables = make_kernel(tree), make_tables(tree)
    kernel.search(np.array([3], np.int32), tables, num_simulations=10, exploration=1.0)
    searched = np.zeros(tables.visits.size, bool)
    searched[tree.first_sequence[3] : tree.first_sequence[3] + tree.num_actions[3]] = True
    assert (tables.visits[~searched] == 9.0).all()
    assert (tables.visits[searched] != 9.0).any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_simulations": 0}, "num_simulations must be at least 1, got 0"),
        ({"exploration": -1.0}, "exploration must be finite and at least 0, got -1.0"),
        ({"exploration": float("nan")}, "exploration must be finite"),
    ],
)
def test_settings_out_of_range_are_refused(changes, message):
    tree = build_history_tree(GAMES["kuhn"])
    settings = {"num_simulations": 1, "exploration": 1.0, **changes}
    with pytest.raises(ConfigError, match=message):
        make_kernel(tree).search(np.zeros(1, np.int32), make_tables(tree), **settings)


def test_information_sets_that_do_not_exist_are_refused():
    tree = build_history_tree(GAMES["kuhn"])
    with pytest.raises(ValueError, match="infosets must be at least 0 and below 12, got 12"):
        make_kernel(tree).search(np.array([12], np.int32), make_tables(tree), num_simulations=1, exploration=1.0)


@pytest.mark.parametrize(
    ("field", "change", "message"),
    [
        ("world_node", lambda worlds: np.roll(worlds.world_node, 2), "information set of world_node"),
        ("world_node", lambda worlds: np.zeros_like(worlds.world_node), "actor of world_node"),
        ("world_weight", lambda worlds: np.zeros_like(worlds.world_weight), "world_weight must be"),
        ("first_world", lambda worlds: np.zeros_like(worlds.first_world), "first_world must go from 0"),
    ],
)
def test_worlds_of_other_sets_are_refused(field, change, message):
    tree = build_history_tree(GAMES["kuhn"])
    worlds = lay_out_worlds(tree)
    arrays = {name: getattr(worlds, name) for name in ("first_world", "world_node", "world_weight")}
    with pytest.raises(ValueError, match=message):
        SearchKernel(lay_out_for_sampling(tree), WorldArrays(**{**arrays, field: change(worlds)}))


def test_generator_without_a_bit_is_refused():
    tree = build_history_tree(GAMES["kuhn"])
    tables = make_tables(tree)
    tables.random_words[:] = 0
    with pytest.raises(ValueError, match="random_words must not all be zero"):
        make_kernel(tree).search(np.zeros(1, np.int32), tables, num_simulations=1, exploration=1.0)
