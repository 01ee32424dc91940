# SPDX-License-Identifier: Apache-2.0
"""Continuous Leduc: fixed abstractions by the digest's figures, sizes added and removed by brute force."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.abstraction.growing import BRANCHES, GrowingAbstraction, GrowthConfig
from equipoise.core.errors import ConfigError
from equipoise.kernels.sized_leduc import SizedLeducKernel, Translation
from tests.reference import continuous_leduc as reference


def solved(menu, num_iterations, **options):
    kernel = SizedLeducKernel(menu, **options)
    kernel.iterate(num_iterations)
    return kernel


def full(kernel, translation=Translation.RANDOMIZED):
    return sum(kernel.respond(player, translation) for player in (0, 1)) / 2


# fixed abstractions


@pytest.mark.parametrize(
    ("branch", "num_nodes", "num_infosets"),
    [("branch-2", 1560, 1680), ("branch-3", 5700, 5928), ("branch-5", 33672, 34224)],
)
def test_sizes_are_the_theses(branch, num_nodes, num_infosets):
    run = SizedLeducKernel(BRANCHES[branch]).run
    assert (run.num_nodes, run.num_infosets) == (num_nodes, num_infosets)


@pytest.mark.parametrize(
    ("branch", "iterations", "expected"),
    [("branch-2", 100, 0.61), ("branch-2", 320, 0.51), ("branch-3", 100, 0.36), ("branch-5", 100, 0.35)],
)
def test_full_game_exploitability_is_the_digests(branch, iterations, expected):
    assert full(solved(BRANCHES[branch], iterations)) == pytest.approx(expected, abs=0.01)


def test_rounding_is_far_more_exploitable():
    kernel = solved(BRANCHES["branch-2"], 1000)
    within, randomized, rounded = (full(kernel, translation) for translation in Translation)
    assert within < randomized < rounded
    assert 2.7 < rounded < 3.0


def test_values_are_those_of_single_deals():
    """The average strategies' value, by all deals one by one, is between what both best responses leave."""
    kernel = solved(BRANCHES["branch-2"], 50)
    value = reference.Walk(kernel, reference.average_play(kernel)).mean(kernel.run.root)
    assert -kernel.respond(1, Translation.NONE) <= value <= kernel.respond(0, Translation.NONE)
    root = kernel.describe(kernel.run.root)
    assert sum(root["value_sum"]) / 50 == pytest.approx(value, abs=0.1)


def test_one_update_is_that_of_single_deals():
    """From uniform strategies: each action's value at the root, against a walk of all deals."""
    kernel = solved(BRANCHES["branch-2"], 1)
    fresh = SizedLeducKernel(BRANCHES["branch-2"])
    root = fresh.describe(fresh.run.root)
    found = np.array(kernel.describe(kernel.run.root)["fold_sum"]) + kernel.describe(kernel.run.root)["rest_sum"]

    def uniform(node, hand):
        size = len(fresh.describe(node)["child"])
        return np.full(size, 1.0 / size)

    walk = reference.Walk(fresh, uniform)
    expected = np.zeros_like(found)
    for deal, chance in reference.deals():
        for action, child in enumerate(root["child"]):
            expected[action, deal[0]] += chance * walk.value(child, deal)
    assert np.allclose(found, expected, atol=1e-12)


def test_skipping_what_nobody_reaches_changes_nothing():
    skipping, whole = (solved(BRANCHES["branch-2"], 60, skips_unreached=skips) for skips in (True, False))
    assert skipping.run.touched < whole.run.touched
    for node, found in reference.decisions(skipping):
        assert found == whole.describe(node)


def test_the_full_game_is_a_fine_menus_limit():
    """A responder with 30 sizes at every decision earns no more than one with all of them, and nearly as much."""
    coarse = solved(BRANCHES["branch-2"], 100)
    assert full(coarse, Translation.NONE) <= full(coarse)


# adding


def added(transfers, iterations=40, **options):
    kernel = solved(BRANCHES["branch-2"], iterations)
    before = {node: found for node, found in reference.decisions(kernel)}
    node = kernel.run.root
    addition = kernel.add(node, 0.4, transfers=transfers, **options)
    return kernel, before, node, addition


@pytest.mark.parametrize("transfers", [False, True])
def test_nothing_outside_the_new_subgame_changes_but_by_the_weight(transfers):
    kernel, before, head, addition = added(transfers)
    for node, old in before.items():
        new = kernel.describe(node)
        keep = [k for k, size in enumerate(new["size"]) if not (node == head and size == 0.4)]
        assert np.allclose(np.array(new["fold_sum"])[keep], addition.weight * np.array(old["fold_sum"]), atol=1e-12)
        assert np.allclose(new["value_sum"], addition.weight * np.array(old["value_sum"]), atol=1e-12)
    assert kernel.run.iterations == pytest.approx(40 * addition.weight)


@pytest.mark.parametrize("transfers", [False, True])
def test_the_other_player_has_no_regrets_in_the_new_subgame(transfers):
    kernel, before, _, _ = added(transfers)
    new = [(node, found) for node, found in reference.decisions(kernel) if node not in before]
    assert new
    own, other = ([found for _, found in new if found["player"] == player] for player in (0, 1))
    assert all(not np.any(reference.regrets(found)) for found in other)
    assert all(not np.any(found["strategy_sum"]) for found in own)
    assert any(np.any(found["strategy_sum"]) for found in other)


def potential(found):
    return (np.maximum(reference.regrets(found), 0) ** 2).sum()


def test_potentials_after_an_addition_are_what_they_were():
    """w of (4.78): the new regrets are paid for by discounting all of them."""
    kernel, before, head, addition = added(transfers=True)
    old = sum(potential(found) for found in before.values() if found["player"] == 0)
    below = [found for node, found in reference.decisions(kernel) if node not in before and found["player"] == 0]
    known = old + sum(map(potential, below)) / addition.weight**2
    new = kernel.describe(head)
    place = new["size"].index(0.4)
    excess = (np.maximum(reference.regrets(new)[place], 0) ** 2).sum() / addition.weight**2
    assert addition.weight == pytest.approx(known / (known + excess))
    assert addition.weight < 1


def test_recovery_costs_less_of_the_past_than_transfer():
    weights = [added(transfers)[3].weight for transfers in (False, True)]
    assert weights[0] > weights[1]


def test_transferred_regrets_are_in_proportion_to_the_stake():
    kernel = solved(BRANCHES["branch-3"], 40)
    root = kernel.describe(kernel.run.root)
    nearest = root["child"][root["size"].index(1 / 3)]
    addition = kernel.add(kernel.run.root, 0.4, transfers=True)
    after = kernel.describe(kernel.run.root)
    twin = kernel.describe(after["child"][after["size"].index(0.4)])
    factor = (1 + 2 * 0.4) / (1 + 2 / 3)
    assert twin["called"] == pytest.approx(factor * kernel.describe(nearest)["called"])
    assert twin["stake"] == kernel.describe(nearest)["stake"]  # who answers has in what it had
    deeper_old = kernel.describe(kernel.describe(nearest)["child"][2])
    deeper_new = kernel.describe(twin["child"][2])
    assert np.allclose(reference.regrets(deeper_new), factor * reference.regrets(deeper_old), atol=1e-12)
    assert addition.num_nodes > 100


def test_the_abstraction_goes_on_to_an_equilibrium_of_the_larger_game():
    kernel, _, _, _ = added(transfers=False)
    found = []
    for _ in range(3):
        kernel.iterate(300)
        found.append(full(kernel, Translation.NONE))
    assert found[0] > found[-1]
    assert found[-1] < 0.06


def test_a_dominated_size_costs_nothing():
    """Where a size has no regret at any hand, the past keeps its whole weight."""
    kernel = solved(BRANCHES["branch-2"], 400)
    weights = []
    for node, found in list(reference.decisions(kernel))[:60]:
        if found["num_raises"] < 2:
            addition = kernel.add(node, 0.5, rounds=50)
            new = kernel.describe(node)
            if (reference.regrets(new)[new["size"].index(0.5)] <= 0).all():
                weights.append(addition.weight)
    assert weights
    assert set(weights) == {1.0}


# when and where


def test_growth_lowers_the_full_games_exploitability():
    fixed, growing = GrowingAbstraction(growth=None), GrowingAbstraction()
    for run in (fixed, growing):
        while run.nodes_touched < 3_000_000:
            run.advance(5)
    assert fixed.num_nodes == 1560 < growing.num_nodes
    assert growing.exploitability() < 0.7 * fixed.exploitability()
    assert growing.additions


def test_a_larger_threshold_adds_fewer_sizes():
    sizes = []
    for threshold in (1.01, 2.0):
        run = GrowingAbstraction(growth=GrowthConfig(threshold=threshold))
        run.advance(300)
        sizes.append(len(run.additions))
    assert sizes[0] > sizes[1]


def test_removal_gives_memory_back_and_keeps_most_of_what_was_gained():
    run = GrowingAbstraction()
    run.advance(600)
    num_nodes, num_bytes = run.num_nodes, run.num_bytes
    count = run.kernel.remove(1.0)
    assert count > 0
    assert run.num_nodes < num_nodes
    assert run.num_bytes < num_bytes
    assert run.exploitability() < 0.4  # 0.5 is where the menu's two sizes alone level off
    run.advance(10)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"threshold": 0.9}, "threshold must be at least 1"),
        ({"every": 0}, "every must be at least 1"),
        ({"rounds": (5, 2)}, "rounds must be"),
        ({"least_weight": 2.0}, "weights of the past"),
        ({"removal": -1.0}, "removal must be at least 0"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        GrowthConfig(**changes)


@pytest.mark.parametrize("menu", [(1.0,), (0.5, 0.2), (0.0, 1.0)])
def test_bad_menus_are_refused(menu):
    with pytest.raises(ConfigError, match=r"menu needs|must be positive"):
        SizedLeducKernel(menu)


def test_sizes_that_are_there_are_not_added_again():
    kernel = SizedLeducKernel(BRANCHES["branch-2"])
    for size in (1.0, 0.001, 2.0):
        with pytest.raises(ConfigError, match="is no new one between them"):
            kernel.add(kernel.run.root, size)
