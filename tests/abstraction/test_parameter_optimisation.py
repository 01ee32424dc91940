# SPDX-License-Identifier: Apache-2.0
"""Algorithm 3: bet sizes that are found while the game is solved."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.abstraction.parameter_optimisation import OptimisationConfig, ParameterOptimiser
from equipoise.core.errors import ConfigError
from equipoise.solvers import solve_sequence_lp
from equipoise.trees import build_parametric_tree


@pytest.fixture(scope="module")
def leduc():
    return build_parametric_tree("leduc(merge_suits=true)", ["second_sizes"])


def run_to(optimiser, num_iterations):
    return list(optimiser.run(num_iterations))[-1]


def test_the_digests_run_from_4(leduc):
    """5.74 after 100 iterations, 7.48 after 1,000, 9.71 after 35,000 with U = 5."""
    optimiser = ParameterOptimiser(leduc, (4.0,), config=OptimisationConfig(payoff=5.0))
    found = [run_to(optimiser, count).point[0] for count in (100, 1000, 31_000)]
    assert found == pytest.approx([5.74, 7.476, 9.706], abs=0.01)


@pytest.mark.parametrize("start", [4.0, 8.0, 12.0])
def test_starts_meet(leduc, start):
    optimiser = ParameterOptimiser(leduc, (start,), config=OptimisationConfig(payoff=5.0))
    taken = run_to(optimiser, 60_000)
    assert taken.point[0] == pytest.approx(9.75, abs=0.1)
    assert -solve_sequence_lp(leduc.at(taken.point)).value == pytest.approx(0.1607, abs=2e-4)


def test_probes_are_worth_so_many_iterations_a_step(leduc):
    optimiser = ParameterOptimiser(leduc, config=OptimisationConfig(iterations=20))
    weights = []
    for _ in range(60):
        before = optimiser.step
        taken = optimiser.advance()
        worth = optimiser.weighted_iterations / taken.weight
        assert before * 20 - 1e-6 <= worth < before * 20 + 1
        weights.append(taken.weight)
    assert weights[-1] > weights[0]


def test_gradients_are_those_of_the_equilibria(leduc):
    optimiser = ParameterOptimiser(leduc, (6.0,), config=OptimisationConfig(iterations=3000, rate=1e-6))
    taken = optimiser.advance()
    low, high = (-solve_sequence_lp(leduc.at((6.0 + side,))).value for side in (-1.0, 1.0))
    assert taken.gradient[0] == pytest.approx((high - low) / 2, abs=1e-3)


def test_the_other_seat_wants_another_size(leduc):
    """Of whole sizes the linear program likes 3 most (-0.0709) for who opens, 2 (-0.0759) and 4 (-0.0856) less."""
    first = ParameterOptimiser(leduc, (4.0,), config=OptimisationConfig(player=0, payoff=5.0))
    assert run_to(first, 5_000).point[0] == pytest.approx(2.9, abs=0.2)


def test_bounds_are_kept_by_point_and_probes(leduc):
    config = OptimisationConfig(lowest=3.5, highest=4.25, payoff=5.0)
    optimiser = ParameterOptimiser(leduc, (4.0,), config=config)
    assert run_to(optimiser, 2_000).point == (4.25,)
    assert all(3.5 <= probe.point[0] <= 4.25 for probe in optimiser.probes)


def test_probes_see_the_same_cards(leduc):
    optimiser = ParameterOptimiser(
        leduc, config=OptimisationConfig(samples_chance=True, payoff=5.0), rng=np.random.default_rng(2)
    )
    optimiser.advance()
    below, above = optimiser.probes
    assert np.array_equal(below.random_words, above.random_words)


def test_drawn_chance_moves_the_same_way(leduc):
    config = OptimisationConfig(samples_chance=True, payoff=5.0, lowest=1.0, highest=14.0)
    optimiser = ParameterOptimiser(leduc, (4.0,), config=config, rng=np.random.default_rng(0))
    assert 6.0 < run_to(optimiser, 20_000).point[0] < 10.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"player": 2}, "player must be 0 or 1"),
        ({"iterations": 0}, "iterations must be at least 1"),
        ({"exponent": 0.3}, "exponent must be between 0.5 and 1"),
        ({"rate": -1.0}, "rate must be above 0"),
        ({"payoff": 0.0}, "payoff must be above 0"),
        ({"lowest": 3.0, "highest": 2.0}, "lowest must be below highest"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        OptimisationConfig(**changes)


def test_a_start_outside_the_bounds_is_refused(leduc):
    with pytest.raises(ConfigError, match="second_sizes must be between 1 and 3 while it is optimised, got 4"):
        ParameterOptimiser(leduc, config=OptimisationConfig(lowest=1.0, highest=3.0))
    with pytest.raises(ConfigError, match="needs rng"):
        ParameterOptimiser(leduc, config=OptimisationConfig(samples_chance=True))
