# SPDX-License-Identifier: Apache-2.0
"""Payoffs that depend on parameters: polynomials, regrets as coefficients, and what is carried from point to point."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.core import checkpoint
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.games import make_game
from equipoise.solvers import CFR, CFRSolver
from equipoise.solvers.parametric import (
    ParametricSolver,
    increase_weight,
    load_parametric_run,
    mean_payoff,
    potential_weight,
)
from equipoise.trees import build_history_tree, build_parametric_tree
from equipoise.trees.parametric import expand_parameters, group_by_chance
from tests.reference import parametric as reference

LEDUC = "leduc(merge_suits=true)"
SMALL = "leduc(ranks=2,suits=2,merge_suits=true)"


@pytest.fixture(scope="module")
def leduc():
    return build_parametric_tree(LEDUC, ["raise_sizes"])


@pytest.fixture(scope="module")
def small():
    return build_parametric_tree(SMALL, ["first_sizes", "second_sizes"])


# payoffs


def test_payoffs_are_those_of_the_game_built_at_the_point(leduc):
    built = build_history_tree(make_game("leduc", merge_suits=True, first_sizes=(2.5,), second_sizes=(9.75,)))
    assert np.allclose(leduc.utility((2.5, 9.75)), built.utility[0], rtol=0, atol=1e-12)
    assert leduc.num_terms == 3


def test_sizes_that_are_raised_by_more_than_once_are_of_one_degree():
    tree = build_parametric_tree(LEDUC, ["ante"])
    assert tree.exponents.ravel().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("game", "names", "message"),
    [
        (LEDUC, ["size"], "has no parameter 'size' to vary; it has ante, first_sizes, second_sizes"),
        (LEDUC, ["ranks"], "has no parameter 'ranks'"),
        (LEDUC, ["second_sizes", "raise_sizes"], "named twice"),
        (LEDUC, [], "at least one"),
        (LEDUC, ["first_sizes[1]"], "first_sizes has 1 entries"),
        ("kuhn(players=3)", ["ante"], "two-player"),
        ("leduc_nolimit", ["stack"], "changes its tree|no polynomials"),
    ],
)
def test_what_cannot_be_varied_is_said_in_a_line(game, names, message):
    with pytest.raises(ConfigError, match=message) as caught:
        build_parametric_tree(game, names)
    assert "\n" not in str(caught.value)


def test_entries_of_a_list_are_parameters_of_their_own():
    game = make_game("leduc", first_sizes=(1.0, 2.0))
    assert expand_parameters(game, ["raise_sizes"]) == ("first_sizes[0]", "first_sizes[1]", "second_sizes")


# regrets as coefficients


def test_iterations_are_those_of_a_plain_walk(small):
    point = (1.5, 3.25)
    run = ParametricSolver(small, point)
    run.iterate(7)
    regret, sums, _ = reference.run(small.tree, small.utility(point), 7)
    assert np.allclose(run.regrets(), regret, rtol=0, atol=1e-12)
    own = np.ones(sums.size, bool)
    own[small.tree.sequence_start[:-1]] = False
    assert np.allclose(run.tables.strategy_sum[own], sums[own], rtol=0, atol=1e-12)


def test_replayed_regrets_are_those_of_playing_the_same_elsewhere(small):
    run = ParametricSolver(small, (2.0, 4.0))
    run.iterate(9)
    _, _, seen = reference.run(small.tree, small.utility((2.0, 4.0)), 9)
    rng = np.random.default_rng(3)
    for _ in range(3):
        point = tuple(rng.uniform(0.5, 12.0, size=2))
        assert np.allclose(run.regrets(point), reference.replay(small.tree, small.utility(point), seen), atol=1e-10)


def test_a_run_converges_as_cfr_does(leduc):
    run = ParametricSolver(leduc)
    run.iterate(500)
    usual = CFRSolver(leduc.tree, CFR())
    usual.iterate(500)
    assert run.evaluate().exploitability == pytest.approx(usual.evaluate().exploitability, rel=0.02)


def test_one_term_more_changes_nothing_but_rounding(leduc):
    one = build_parametric_tree(LEDUC, ["second_sizes"])
    runs = [ParametricSolver(one), ParametricSolver(leduc)]
    for run in runs:
        run.iterate(10)
    assert np.allclose(runs[0].regrets(), runs[1].regrets(), atol=1e-9)


def test_drawn_chance_is_right_in_the_mean(small):
    """One update from the uniform strategies, over and over: the mean of drawn regrets is the regret of all chance."""
    whole = ParametricSolver(small, is_alternating=False)
    whole.iterate(1)
    rng = np.random.default_rng(0)
    groups = group_by_chance(small.tree)
    drawn = ParametricSolver(small, is_alternating=False, rng=rng, groups=groups)
    total, num_runs = np.zeros_like(whole.tables.regret_sum), 4000
    for _ in range(num_runs):
        drawn.tables.regret_sum[...] = 0.0
        drawn.move(drawn.point)
        drawn.iterate(1)
        total += drawn.tables.regret_sum
    assert np.allclose(total / num_runs, whole.tables.regret_sum, atol=0.05)
    assert np.abs(whole.tables.regret_sum).max() > 0.3


def test_drawn_chance_converges(leduc):
    run = ParametricSolver(leduc, rng=np.random.default_rng(1))
    run.iterate(20_000)
    assert run.evaluate().exploitability < 0.08


# weights


def test_weights_of_the_theses_example():
    assert increase_weight(0.0, num_actions=3, iterations=1e6, payoff=5.0) == 1.0
    by_payoff = [increase_weight(0.0071, num_actions=3, iterations=1e6, payoff=u) for u in (13.0, 5.0, 2.0, 1.0)]
    assert by_payoff == pytest.approx([0.31, 0.125, 0.038, 0.013], abs=0.007)


def test_weight_of_the_increase_is_within_the_weight_of_potentials():
    rng = np.random.default_rng(5)
    for _ in range(300):
        num_actions, iterations, span = int(rng.integers(2, 5)), float(rng.integers(1, 1000)), 2.0
        before = rng.normal(size=num_actions)
        before *= span * np.sqrt(num_actions * iterations) / np.sqrt((np.maximum(before, 0) ** 2).sum() + 1e-12)
        before = np.clip(before, -1e6, None)
        after = before + rng.uniform(-1, 1, num_actions) * iterations * rng.uniform(0, 0.5)
        increase = max(0.0, (after - before).max()) / iterations
        weight = increase_weight(increase, num_actions=num_actions, iterations=iterations, payoff=span)
        potential = (np.maximum(after, 0.0) ** 2).sum()
        assert weight * potential <= span**2 * num_actions * iterations * (1 + 1e-9)


def test_staying_where_one_is_changes_nothing(leduc):
    run = ParametricSolver(leduc)
    run.iterate(50)
    before = run.tables.regret_sum.copy()
    report = run.transfer(run.point)
    assert (report.increase, report.weight, report.potential_ratio) == (0.0, 1.0, 1.0)
    assert np.array_equal(before, run.tables.regret_sum)


def test_what_was_done_weighs_as_if_what_follows_weighed_more(small):
    """Scaling the past by w plays what scaling the future by 1 / w plays."""
    weight, point = 0.25, (2.5, 4.5)
    run = ParametricSolver(small, (2.0, 4.0))
    run.iterate(20)
    start = run.regrets(point)
    run.transfer(point, weight=weight)
    run.iterate(5)
    heavy = small.utility(point) / weight
    regret, _, _ = reference.run(small.tree, heavy, 5, regret=start)
    assert np.allclose(run.regrets(), weight * regret, atol=1e-9)
    assert run.iterations == 20 * weight + 5


def test_theorem_16_holds_of_weighted_regret(small):
    run = ParametricSolver(small, (2.0, 4.0))
    run.iterate(200)
    payoffs = float(np.abs(small.utility((2.5, 5.0))).max()) * 2
    run.transfer((2.5, 5.0), payoff=payoffs)
    run.iterate(300)
    bound = payoffs * np.sqrt(3) * np.sqrt(run.iterations)
    assert run.regrets().max() <= bound


def test_the_potential_ratio_is_at_most_one():
    assert potential_weight(np.array([3.0]), np.array([1.0])) == 1.0
    assert potential_weight(np.array([0.0]), np.array([-1.0])) == 1.0


def test_bad_weights_and_points_are_refused(leduc):
    run = ParametricSolver(leduc)
    run.iterate(1)
    with pytest.raises(ConfigError, match="between 0 and 1, got 2"):
        run.transfer((2.0, 4.0), weight=2.0)
    with pytest.raises(ConfigError, match="a number for each of first_sizes, second_sizes"):
        run.move((1.0,))
    with pytest.raises(ConfigError, match="payoff must be above 0"):
        increase_weight(0.1, num_actions=2, iterations=1, payoff=0)


def test_the_default_payoff_is_the_mean_stake(leduc):
    assert mean_payoff(leduc, (2.0, 4.0)) == pytest.approx(np.abs(leduc.tree.utility[0]).mean())


# files


@pytest.mark.parametrize("seed", [None, 4])
def test_a_saved_run_goes_on_to_the_bit(small, tmp_path, seed):
    rng = None if seed is None else np.random.default_rng(seed)
    run = ParametricSolver(small, (2.5, 4.0), rng=rng)
    run.iterate(30)
    run.save(tmp_path / "run.eq")
    again = load_parametric_run(tmp_path / "run.eq")
    for one in (run, again):
        one.transfer((2.25, 4.5))
        one.iterate(10)
    assert np.array_equal(run.tables.regret_sum, again.tables.regret_sum)
    assert (run.iterations, run.iterations_run) == (again.iterations, again.iterations_run)


def test_files_of_other_runs_are_refused(small, tmp_path):
    checkpoint.save(tmp_path / "t.eq", checkpoint.Kind.TABLE, {"format": "strengths"}, {"a": np.zeros(1)})
    with pytest.raises(CheckpointError, match="is not a run under parameters"):
        load_parametric_run(tmp_path / "t.eq")
