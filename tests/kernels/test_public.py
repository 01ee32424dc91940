# SPDX-License-Identifier: Apache-2.0
"""The wrapper over public sweeps: what it refuses, and its kernels against plain NumPy."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.games.registry import make_game
from equipoise.kernels.public import DenseGroup, PublicKernel, allocate_cells
from equipoise.solvers.best_response import bind_public_kernel
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, Hedge
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree

LEDUC = build_public_tree(derive_public_game(make_game("leduc")))
GAMES = {
    "leduc": LEDUC,
    "merged_leduc": build_public_tree(derive_public_game(make_game("leduc", merge_suits=True))),
    "leduc5": build_public_tree(derive_public_game(make_game("leduc", ranks=5, max_raises=1))),
    "leduc9": build_public_tree(derive_public_game(make_game("leduc", ranks=9, max_raises=1))),
    "goofspiel": build_public_tree(derive_public_game(make_game("goofspiel", cards=4, reveal_bids=False))),
    "phantom": build_public_tree(derive_public_game(make_game("phantom_tic_tac_toe", rows=2, columns=3))),
}


def random_reach(tree, seed):
    reach = allocate_cells(tree.cells.num_cells)
    reach[:] = np.random.default_rng(seed).random(reach.size)
    return reach


@pytest.mark.usefixtures("any_team")
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("player", [0, 1])
def test_terminal_values_equal_matrix_products(name, player):
    tree = GAMES[name]
    reach = random_reach(tree, 3)
    expected = np.zeros(tree.cells.num_cells)
    for index, node in enumerate(tree.terminal_node.tolist()):
        entries = slice(tree.payoff_start[index], tree.payoff_start[index + 1])
        own = tree.private_cells(node, player)[tree.payoff_private[player, entries]]
        other = tree.private_cells(node, 1 - player)[tree.payoff_private[1 - player, entries]]
        np.add.at(expected, own, tree.payoff[player, entries] * reach[other])
    for num_threads in (1, 2):
        got = bind_public_kernel(tree).terminal_values(player, reach, num_threads=num_threads)
        np.testing.assert_allclose(got, expected, atol=1e-13)


@settings(max_examples=20, deadline=None)
@given(first=st.floats(0, 10), second=st.floats(0, 10), seed=st.integers(0, 99))
def test_values_are_linear_in_the_other_players_reach(first, second, seed):
    kernel = bind_public_kernel(LEDUC)
    reaches = [random_reach(LEDUC, seed), random_reach(LEDUC, seed + 100)]
    parts = [kernel.terminal_values(0, reach) for reach in reaches]
    mixed = kernel.terminal_values(0, first * reaches[0] + second * reaches[1])
    np.testing.assert_allclose(mixed, first * parts[0] + second * parts[1], atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 999))
def test_normalised_sums_are_probabilities(seed):
    tree = GAMES["goofspiel"]
    sums = np.maximum(np.random.default_rng(seed).normal(size=tree.cells.num_table_cells), 0.0)
    strategy = bind_public_kernel(tree).normalize(sums)
    totals = np.add.reduceat(strategy[tree.sequence_cell], tree.infoset_start[:-1])
    np.testing.assert_allclose(totals, 1.0, atol=1e-14)
    assert np.all(strategy[tree.legal_share == 0.0] == 0.0)


def test_best_response_never_scores_below_the_strategy():
    tree = GAMES["phantom"]
    kernel = bind_public_kernel(tree)
    strategy = kernel.normalize(np.random.default_rng(1).random(tree.cells.num_table_cells))
    reach = kernel.realize(strategy)
    for player in (0, 1):
        played = kernel.strategy_values(player, strategy, reach)[kernel.root_cells[player]]
        value, response = kernel.best_response(player, reach)
        best = kernel.strategy_values(player, response, reach)[kernel.root_cells[player]]
        assert np.all(best >= played - 1e-15)
        assert best.sum() == pytest.approx(value, abs=1e-14)


def test_tables_start_on_a_cache_line():
    assert allocate_cells(13).ctypes.data % 64 == 0
    assert allocate_cells(0).shape == (0,)


def test_arrays_of_the_wrong_kind_are_refused():
    root_cells = (LEDUC.private_cells(0, 0), LEDUC.private_cells(0, 1))
    wrong = dataclasses.replace(LEDUC.cells, source=LEDUC.cells.source.astype(np.int64))
    with pytest.raises(TypeError, match="source must have dtype int32, got int64"):
        PublicKernel(wrong, LEDUC.terminals, legal_share=LEDUC.legal_share, root_cells=root_cells)
    with pytest.raises(ValueError, match=r"legal_share must have shape .* got \(3,\)"):
        PublicKernel(LEDUC.cells, LEDUC.terminals, legal_share=np.zeros(3), root_cells=root_cells)
    wrong_groups = dataclasses.replace(LEDUC.terminals, groups=LEDUC.terminals.groups[:, :3].copy())
    with pytest.raises(ValueError, match="groups must have shape"):
        PublicKernel(LEDUC.cells, wrong_groups, legal_share=LEDUC.legal_share, root_cells=root_cells)


def test_tables_of_another_rule_are_refused():
    solver = CFRSolver(LEDUC, CFR())
    with pytest.raises(ValueError, match="scale must have shape"):
        solver.kernel.check_tables(Hedge().kernel, solver.tables)
    with pytest.raises(ValueError, match="realization must have shape"):
        solver.kernel.terminal_values(0, np.zeros(4))


def test_games_above_cover_every_width_of_matrices():
    rows = {DenseGroup(*row).num_rows for tree in GAMES.values() for row in tree.terminals.groups.tolist()}
    assert {4, 8, 12, 20} <= rows
    assert any(tree.terminals.sparse_own.size for tree in GAMES.values())
    assert any(tree.cells.entry_source.size for tree in GAMES.values())
