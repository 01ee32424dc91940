# SPDX-License-Identifier: Apache-2.0
"""Toy rivers: the core against its obvious form, and against what is known."""

import numpy as np
import pytest

from equipoise.kernels.toy_games import ToyBetting, solve_toy_games
from equipoise.learning.values.labels import Labels
from equipoise.learning.values.toys import ToySource, cell_masses, toy_betting
from equipoise.solvers.rules import tabulate_discounts
from tests.reference import toy_games as reference


def discounts(iterations, labels=None):
    return np.ascontiguousarray(tabulate_discounts((labels or Labels()).update, 1, iterations)[:, :3])


@pytest.mark.parametrize("ratio", [0.3, 2.0, 20.0])
def test_the_core_solves_as_the_obvious_form_does(ratio):
    betting = toy_betting(ratio, Labels())
    rng = np.random.default_rng(1)
    mass = rng.dirichlet(np.ones(6), size=(2, 2)).astype(np.float32)
    found = solve_toy_games(betting, mass, discounts(12))
    for game in range(2):
        assert found[game] == pytest.approx(reference.solve(betting, mass[game], discounts(12)), abs=2e-5)


def test_values_add_up_to_nothing():
    rng = np.random.default_rng(2)
    mass = rng.dirichlet(np.ones(32), size=(5, 2)).astype(np.float32)
    value = solve_toy_games(toy_betting(3.0, Labels()), mass, discounts(50))
    assert np.abs((mass * value).sum(axis=(1, 2))).max() < 1e-5


def test_a_player_who_holds_the_nuts_or_nothing_wins_what_theory_says():
    # the second player has the best hand half of the time and bets the pot; the first holds what beats bluffs alone
    mass = np.zeros((1, 2, 3), np.float32)
    mass[0, 0, 1] = 1.0
    mass[0, 1, [0, 2]] = 0.5
    value = solve_toy_games(toy_betting(1.0, Labels()), mass, discounts(2000))
    # bluffs are half of the value bets: 0.75 of hands bet and win the pot as if never called; the rest win nothing
    won = 0.75 * 0.5 - 0.25 * 0.5
    assert (mass[0, 1] * value[0, 1]).sum() == pytest.approx(won, abs=2e-3)


def test_hands_of_equal_strength_stay_in_one_cell():
    keys = np.array([[1, 1, 1, 1, 2, 3, 3, 9]])
    ranges = np.full((1, 2, 8), 1 / 8)
    assert cell_masses(keys, ranges, 4)[0, 0] == pytest.approx([0.0, 0.5, 0.125, 0.375])


def test_a_shard_follows_from_its_number():
    source = ToySource(labels=Labels(iterations=5), per_shard=70, num_cells=8, seed=4)
    first, again, other = source.make(3), source.make(3), source.make(4)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["mass"], other["mass"])
    assert first["mass"].shape == (70, 3, 8)
    assert np.allclose(first["mass"].sum(axis=2), 1.0)


def test_arrays_that_are_no_tree_are_refused():
    betting = toy_betting(1.0, Labels())
    with pytest.raises(ValueError, match="child of one before it"):
        solve_toy_games(
            betting._replace(child=betting.child[::-1].copy()), np.ones((1, 2, 2), np.float32), discounts(1)
        )
    with pytest.raises(ValueError, match="shape"):
        solve_toy_games(betting, np.ones((2, 2), np.float32), discounts(1))
    assert isinstance(betting, ToyBetting)
