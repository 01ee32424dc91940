# SPDX-License-Identifier: Apache-2.0
"""Warm starts keep to the bounds of their theorem, lose nothing, and go on as the uninterrupted run would."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError
from equipoise.games.matrix import Matrix
from equipoise.games.registry import make_game
from equipoise.solvers.best_response import bind_history_kernel
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.mccfr import MCCFRSolver
from equipoise.solvers.payoffs import payoff_ranges
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, Hedge, LinearCFR, PredictiveCFRPlus
from equipoise.solvers.substitution import RegretBound, RunWeights, WarmStart
from equipoise.solvers.warm_start import TreeSubstitution, compute_cf_reach, warm_start
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.public import build_public_tree
from tests.reference.regrets import by_label
from tests.reference.warm_start import ReferenceSubstitutes, solve_level

GAMES = {
    "kuhn": make_game("kuhn"),
    "leduc": make_game("leduc", merge_suits=True),
    "goofspiel": make_game("goofspiel", cards=3),
}
TREES = {name: build_history_tree(game) for name, game in GAMES.items()}
EXPONENTS = {RegretBound.REACH: 1, RegretBound.REACH_SQUARED: 2}
RULES = [CFR(), CFRPlus(), LinearCFR(), DCFR(), PredictiveCFRPlus()]
by_game = pytest.mark.parametrize("name", GAMES)
by_bound = pytest.mark.parametrize("bound", RegretBound)
by_mode = pytest.mark.parametrize("is_alternating", [True, False], ids=["alternating", "simultaneous"])


def random_strategy(tree, seed=0):
    kernel = bind_history_kernel(tree)
    return kernel.normalize(np.random.default_rng(seed).uniform(size=kernel.num_sequences))


def run_cfr(tree, iterations, *, rule=None, is_alternating=True):
    solver = CFRSolver(tree, rule or CFR(), is_alternating=is_alternating)
    solver.iterate(iterations)
    return solver


def squares_of(tree, regret):
    """Returns `[I]` the sum of squared positive regrets of each information set."""
    return np.array([np.square(np.maximum(own, 0.0)).sum() for own in by_label(tree, regret).values()])


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=7), st.floats(0, 20))
def test_what_sticks_out_of_a_level_sums_to_the_budget(values, budget):
    game = Matrix(payoffs=tuple((value,) for value in values))
    kernel = bind_history_kernel(build_history_tree(game))
    found = kernel.substitute(0, np.ones(kernel.num_cells), np.array([budget, 0.0]))
    assert found.value == pytest.approx(solve_level(values, budget), abs=1e-6)
    assert np.square(np.maximum(found.regret, 0.0)).sum() == pytest.approx(budget, abs=1e-6)
    assert found.value == found.row_value[0] <= max(values)


@by_game
@by_bound
def test_substitutes_are_those_of_the_rules(name, bound):
    game, tree = GAMES[name], TREES[name]
    strategy = random_strategy(tree)
    solver = CFRSolver(tree, CFR())
    ours = TreeSubstitution(solver, strategy, bound)
    profile = by_label(tree, strategy)
    for player in (0, 1):
        twin = ReferenceSubstitutes(game, player, profile)
        worth, regrets = twin.back_up(
            lambda key, own, twin=twin: solve_level(own, 0.01 * twin.bound(key, EXPONENTS[bound]))
        )
        found = ours.substitute(player, 0.01)
        assert found.value == pytest.approx(worth, abs=1e-9)
        by_key = by_label(tree, found.regret)
        for key, regret in regrets.items():
            np.testing.assert_allclose(by_key[key], regret, atol=1e-9)


@by_game
def test_compute_cf_reach_is_that_of_the_rules(name):
    tree = TREES[name]
    strategy = random_strategy(tree)
    reach = compute_cf_reach(tree, bind_history_kernel(tree).realize(strategy))
    keys = list(zip(tree.infoset_player().tolist(), tree.infoset_labels, strict=True))
    for player in (0, 1):
        twin = ReferenceSubstitutes(GAMES[name], player, by_label(tree, strategy))
        for index, key in enumerate(keys):
            if key[0] == player:
                assert reach[index] == pytest.approx(twin.reach[key], rel=1e-12)


@by_game
@by_bound
def test_the_public_form_starts_alike(name, bound):
    tree = TREES[name]
    public = build_public_tree(derive_public_game(GAMES[name]))
    strategy = random_strategy(tree)
    config = WarmStart(iterations=3, bound_share=0.2, bound=bound)
    history, vector = CFRSolver(tree, CFR()), CFRSolver(public, CFR())
    expected = warm_start(history, strategy, config)
    found = warm_start(vector, public.strategy_from_history(tree, strategy), config)
    # goofspiel's pairs of private states hold one history each, so that payoff ranges are the same
    assert found.substitute_values == pytest.approx(expected.substitute_values, rel=1e-9)
    history.iterate(3)
    vector.iterate(3)
    assert vector.evaluate().nash_conv == pytest.approx(history.evaluate().nash_conv, rel=1e-9)


@by_game
@by_bound
def test_regrets_keep_to_the_bound_and_values_to_the_sum(name, bound):
    tree = TREES[name]
    solver, strategy = CFRSolver(tree, CFR()), run_cfr(tree, 40).average_strategy()
    report = warm_start(solver, strategy, WarmStart(iterations=40, bound=bound))
    reach = compute_cf_reach(tree, solver.kernel.realize(strategy))
    limit = reach ** EXPONENTS[bound] * payoff_ranges(tree) ** 2 * tree.num_actions * 40  # (3.6) times T^2
    assert (squares_of(tree, solver.tables.regret_sum) <= limit * (1 + 1e-9) + 1e-12).all()
    assert sum(report.substitute_values) <= 0
    assert report.is_covered
    assert 0 <= report.bound_share <= 1


@by_game
def test_values_fall_as_lambda_grows_from_a_best_response(name):
    tree = TREES[name]
    solver, strategy = CFRSolver(tree, CFR()), random_strategy(tree)
    substitution = TreeSubstitution(solver, strategy, RegretBound.REACH)
    values = np.array([substitution.values(ratio) for ratio in (0.0, 1e-4, 1e-3, 0.01, 0.1, 1.0)])
    assert (np.diff(values, axis=0) < 0).all()
    realization = solver.kernel.realize(strategy)
    best = [solver.kernel.best_response(player, realization)[0] for player in (0, 1)]
    np.testing.assert_allclose(values[0], best, rtol=1e-12)
    assert values[-1].sum() <= 0


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_the_mean_values_of_a_run_give_its_regrets_back(name):
    game, tree = GAMES[name], TREES[name]
    solver = CFRSolver(tree, CFR(), is_alternating=False)
    totals, iterations = {}, 30
    for _ in range(iterations):
        for player in (0, 1):
            strategy, realization = solver.current_strategy(), solver.tables.realization
            values = strategy * solver.kernel.strategy_values(player, strategy, realization)
            for key, own in by_label(tree, values).items():
                if key[0] == player:
                    totals[key] = totals.get(key, 0.0) + own.sum()
        solver.iterate(1)
    profile, expected = by_label(tree, solver.average_strategy()), by_label(tree, solver.tables.regret_sum)
    for player in (0, 1):
        twin = ReferenceSubstitutes(game, player, profile)
        _, regrets = twin.back_up(lambda key, _: totals[key] / iterations)
        for key, regret in regrets.items():
            np.testing.assert_allclose(iterations * regret, expected[key], atol=1e-10)


@by_game
@by_mode
def test_a_run_may_be_reset_to_as_many_iterations_as_it_ran(name, is_alternating):
    tree = TREES[name]
    strategy = run_cfr(tree, 100, is_alternating=is_alternating).average_strategy()
    for bound in RegretBound:
        solver = CFRSolver(tree, CFR(), is_alternating=is_alternating)
        assert warm_start(solver, strategy, WarmStart(iterations=100, bound=bound)).is_covered


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_average_is_the_strategy_and_the_sums_its_reach(rule):
    tree = TREES["leduc"]
    strategy = random_strategy(tree)
    solver = CFRSolver(tree, rule)
    report = warm_start(solver, strategy, WarmStart(iterations=7))
    np.testing.assert_allclose(solver.average_strategy(), strategy, atol=1e-12)
    is_action = tree.sequence_infoset() >= 0
    first = slice(tree.first_sequence[0], tree.first_sequence[0] + tree.num_actions[0])  # always reached
    total = run_cfr(tree, 7, rule=rule).tables.strategy_sum[first].sum()  # what seven iterations weigh
    expected = np.where(is_action, total * solver.kernel.realize(strategy), 0.0)
    np.testing.assert_allclose(solver.tables.strategy_sum, expected, rtol=1e-12)
    assert solver.iteration == 7
    assert report.is_plain is (rule == CFR())
    assert solver.nodes_touched == report.num_passes * tree.actor.size


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_weights_are_products_of_factors(rule):
    weights = RunWeights.of(rule, 9)
    factors = [rule.discounts(t) for t in range(1, 10)]
    positive = [math.prod(d.positive for d in factors[t:]) for t in range(1, 10)]
    negative = [math.prod(d.negative for d in factors[t:]) for t in range(1, 10)]
    assert weights.positive == pytest.approx(sum(positive))
    assert weights.negative == pytest.approx(sum(negative))
    assert weights.effective == pytest.approx(sum(positive) ** 2 / sum(weight**2 for weight in positive))


def test_weights_of_plain_and_linear_iterations():
    assert RunWeights.of(CFR(), 50) == (50, 50, 50, 50)
    assert RunWeights.of(LinearCFR(), 50) == pytest.approx((25.5, 25.5, sum(t**2 for t in range(51)) / 2500, 25.5))


def test_a_nearly_exact_strategy_stands_for_as_many_iterations_as_can_be_counted():
    game = Matrix(payoffs=((1.0, 0.0), (0.0, 2.0)))
    tree = build_history_tree(game)
    strategy = np.array([1.0, 2 / 3 + 1e-11, 1 / 3 - 1e-11, 1.0, 2 / 3, 1 / 3])
    solver = CFRSolver(tree, CFR())
    report = warm_start(solver, strategy)
    assert 10**9 < report.iterations == round(report.projection / report.nash_conv)  # in no time
    assert report.is_plain
    solver.iterate(5)
    assert solver.evaluate().nash_conv < 10 * report.nash_conv
    assert warm_start(CFRSolver(tree, LinearCFR()), strategy).iterations == 10**6  # weights are added up one by one


@by_mode
def test_leduc_goes_on_as_the_uninterrupted_run(is_alternating):
    tree = TREES["leduc"]
    run = run_cfr(tree, 500, is_alternating=is_alternating)
    strategy = run.average_strategy()
    run.iterate(1)
    next_expected = run.evaluate().nash_conv
    run.iterate(499)
    later_expected = run.evaluate().nash_conv
    # last bits decide where a run is after some hundred iterations: the printed bound, the looser one, gets more room
    for bound, tolerance in ((RegretBound.REACH_SQUARED, 0.10), (RegretBound.REACH, 0.20)):
        solver = CFRSolver(tree, CFR(), is_alternating=is_alternating)
        warm_start(solver, strategy, WarmStart(iterations=500, bound=bound))
        solver.iterate(1)
        assert solver.evaluate().nash_conv == pytest.approx(next_expected, rel=0.05)
        solver.iterate(499)
        assert solver.evaluate().nash_conv == pytest.approx(later_expected, rel=tolerance)


def test_leduc_is_well_ahead_of_a_run_that_forgot_its_regrets():
    tree = TREES["leduc"]
    run = run_cfr(tree, 500)
    strategy = run.average_strategy()
    run.tables.regret_sum[:] = 0.0
    run.begin_after(500)
    run.iterate(500)
    solver = CFRSolver(tree, CFR())
    warm_start(solver, strategy, WarmStart(iterations=500))
    solver.iterate(500)
    assert 1.5 * solver.evaluate().nash_conv <= run.evaluate().nash_conv


def test_a_first_strategy_alone_overshoots():
    """The negative example of the thesis, section 3.2.2 (which prints 0.0023 for 0.0033)."""
    payoffs = np.array([[1.0, 0.0], [0.0, 2.0]])
    first = np.array([0.67, 0.33])
    rows = payoffs @ first - first @ payoffs @ first
    columns = first @ payoffs @ first - first @ payoffs
    np.testing.assert_allclose(rows, [0.0033, -0.0067], atol=1e-12)
    np.testing.assert_allclose(columns, [-0.0033, 0.0067], atol=1e-12)
    row, column = rows > 0, columns > 0
    np.testing.assert_allclose(rows + payoffs @ column - row @ payoffs @ column, [0.0033, 1.9933], atol=1e-12)


def test_lambda_zero_begins_with_best_responses():
    tree = TREES["leduc"]
    solver, strategy = CFRSolver(tree, CFR()), random_strategy(tree)
    report = warm_start(solver, strategy, WarmStart(iterations=10, bound_share=0.0))
    realization = solver.kernel.realize(strategy)
    best = sum(solver.kernel.best_response(player, realization)[1] for player in (0, 1))
    is_action = np.delete(np.arange(best.size), tree.sequence_start[:-1])
    np.testing.assert_array_equal(solver.current_strategy()[is_action], best[is_action])
    assert not report.is_covered


def test_where_nobody_comes_there_are_no_regrets():
    tree = TREES["kuhn"]
    strategy = np.ones(int(tree.sequence_start[-1]))
    for first, count in zip(tree.first_sequence, tree.num_actions, strict=True):
        strategy[first : first + count] = np.eye(count)[0]
    solver = CFRSolver(tree, CFR())
    warm_start(solver, strategy, WarmStart(iterations=1, bound_share=1.0))
    reach = compute_cf_reach(tree, solver.kernel.realize(strategy))
    hidden = np.flatnonzero(reach == 0)
    assert hidden.size
    for infoset in hidden:
        cells = slice(tree.first_sequence[infoset], tree.first_sequence[infoset] + tree.num_actions[infoset])
        np.testing.assert_allclose(solver.tables.regret_sum[cells], 0.0, atol=1e-29)
        np.testing.assert_allclose(solver.tables.strategy[cells], 1 / tree.num_actions[infoset])


def test_iterations_are_chosen_by_a_short_run():
    tree = TREES["leduc"]
    strategy = run_cfr(tree, 200).average_strategy()
    short = CFRSolver(tree, CFR())
    fitted = []
    for t in range(1, 11):
        short.iterate(1)
        fitted.append(t * short.evaluate().nash_conv)
    solver = CFRSolver(tree, CFR())
    report = warm_start(solver, strategy)
    assert report.projection == pytest.approx(np.mean(fitted), rel=1e-12)
    assert solver.iteration == report.iterations == round(report.projection / report.nash_conv)


def test_a_sampled_run_gives_full_sweeps_a_head_start():
    tree = TREES["leduc"]
    sampled = MCCFRSolver(tree, rng=np.random.default_rng(0))
    sampled.iterate(20_000)
    solver = CFRSolver(tree, CFR())
    report = warm_start(solver, sampled.average_strategy())
    assert report.nash_conv == pytest.approx(sampled.evaluate().nash_conv)
    solver.iterate(50)
    assert solver.evaluate().nash_conv < min(report.nash_conv, run_cfr(tree, 50).evaluate().nash_conv)


def test_a_saved_run_remembers_what_it_skipped():
    tree = TREES["kuhn"]
    solver = CFRSolver(tree, CFR())
    report = warm_start(solver, random_strategy(tree), WarmStart(iterations=5))
    solver.iterate(2)
    restored = CFRSolver(tree, CFR())
    restored.restore(solver.state())
    assert restored.nodes_touched == solver.nodes_touched == (report.num_passes + 2 * 2) * tree.actor.size


def test_what_makes_no_sense_is_refused():
    tree = TREES["kuhn"]
    strategy = random_strategy(tree)
    with pytest.raises(ConfigError, match="at least 1 iteration, got 0"):
        WarmStart(iterations=0)
    with pytest.raises(ConfigError, match="at most 1,000,000,000,000,000 iterations, got 10,000"):
        WarmStart(iterations=10**16)
    with pytest.raises(
        ConfigError, match="weights of lcfr are added up for at most 1,000,000 iterations, got 2,000,000"
    ):
        warm_start(CFRSolver(tree, LinearCFR()), strategy, WarmStart(iterations=2_000_000))
    with pytest.raises(ConfigError, match=r"lambda must be from 0 to 1, got 1\.5"):
        WarmStart(bound_share=1.5)
    with pytest.raises(ConfigError, match="projection_iterations must be at least 1, got 0"):
        WarmStart(projection_iterations=0)
    with pytest.raises(ConfigError, match="above what theory allows for this strategy: at most"):
        warm_start(CFRSolver(tree, CFR()), strategy, WarmStart(iterations=1_000_000))
    with pytest.raises(ConfigError, match="regrets of regret matching, got rule hedge"):
        warm_start(CFRSolver(tree, Hedge()), strategy)
    three = build_history_tree(make_game("kuhn", players=3))
    with pytest.raises(ConfigError, match="got 3 players"):
        warm_start(CFRSolver(three, CFR()), random_strategy(three))
    pennies = build_history_tree(Matrix(payoffs=((1.0, -1.0), (-1.0, 1.0))))
    with pytest.raises(ConfigError, match="nothing is left to gain"):
        warm_start(CFRSolver(pennies, CFR()), np.array([1.0, 0.5, 0.5, 1.0, 0.5, 0.5]))
    solver = CFRSolver(pennies, CFR())
    report = warm_start(solver, np.array([1.0, 0.5, 0.5, 1.0, 0.5, 0.5]), WarmStart(iterations=1000))
    assert report.bound_share == 0.0
