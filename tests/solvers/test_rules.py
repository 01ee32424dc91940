# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.rules import Fallback
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import (
    CFR,
    DCFR,
    CFRPlus,
    DCFRPlus,
    Hedge,
    LinearCFR,
    LinearCFRPlus,
    NormalHedge,
    Optimistic,
    PredictiveCFRPlus,
    ScheduledDCFR,
    discount_factor,
    tabulate_discounts,
)
from equipoise.trees.history import build_history_tree


@pytest.fixture(scope="module")
def leduc():
    return build_history_tree(make_game("leduc", merge_suits=True))


def accumulate(rule, rewards):
    """Runs the regret update on one number; its sign decides the factor."""
    regret = 0.0
    for t, reward in enumerate(rewards, 1):
        discount = rule.discounts(t)
        regret = regret * (discount.positive if regret > 0 else discount.negative) + reward
    return regret


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 3.0])
def test_weights_are_the_product_of_lemma_5(alpha):
    num_iterations = 37
    factor = [k**alpha / (k**alpha + 1) for k in range(1, num_iterations)]
    weights = [math.prod(factor[t - 1 :]) for t in range(1, num_iterations + 1)]
    assert weights[-1] == 1.0
    assert accumulate(DCFR(alpha=alpha), [1.0] * num_iterations) == pytest.approx(sum(weights), rel=1e-12)


def test_linear_weights_are_t_over_the_last():
    assert accumulate(LinearCFR(), [1.0] * 10) == pytest.approx(sum(range(1, 11)) / 10)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=300))
def test_regrets_of_beta_zero_stay_above_minus_two(rewards):
    assert accumulate(DCFR(), rewards) > -2.0


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=300))
def test_regrets_of_beta_half_stay_above_minus_root_t(rewards):
    # Lemma 6 speaks of regrets after the discount of their own iteration, which here waits for the next one
    discounted = accumulate(DCFR(beta=0.5), rewards) * DCFR(beta=0.5).discounts(len(rewards) + 1).negative
    assert discounted >= -math.sqrt(len(rewards)) - 1e-9


@pytest.mark.parametrize(
    ("rule", "weight"),
    [
        (CFR(), lambda t: 1.0),
        (CFRPlus(gamma=1.0), lambda t: t),
        (CFRPlus(), lambda t: t**2),
        (LinearCFR(), lambda t: t),
        (DCFR(), lambda t: t**2),
        (DCFRPlus(delay=5), lambda t: max(0, t - 5)),
        (DCFRPlus(), lambda t: max(0, t - 100)),
        (DCFRPlus(delay=5, average_exponent=0.0), lambda t: float(t > 5)),
    ],
    ids=lambda value: getattr(value, "name", "weight"),
)
def test_average_weights(rule, weight):
    iterates = np.random.default_rng(0).random(150)
    total = scale = 0.0
    for t, iterate in enumerate(iterates, 1):
        discount = rule.discounts(t)
        total = total * discount.average_decay + discount.average_weight * iterate
        scale = scale * discount.average_decay + discount.average_weight
    weights = np.array([weight(t) for t in range(1, 151)])
    assert total / scale == pytest.approx(weights @ iterates / weights.sum(), rel=1e-12)


def test_delayed_average_is_the_last_iterate_until_the_delay_has_passed():
    discount = DCFRPlus(delay=10).discounts(7)
    assert (discount.average_decay, discount.average_weight) == (0.0, 1.0)


def profile_after(tree, rule, num_iterations=30):
    solver = CFRSolver(tree, rule)
    solver.iterate(num_iterations)
    return solver.current_strategy(), solver.average_strategy()


def test_dcfr_plus_without_delay_and_with_squares_is_dcfr(leduc):
    for got, expected in zip(
        profile_after(leduc, DCFRPlus(delay=0, average_exponent=2.0)), profile_after(leduc, DCFR()), strict=True
    ):
        np.testing.assert_allclose(got, expected, atol=1e-10)


def test_linear_cfr_is_cfr_with_weights_t(leduc):
    class Additive:
        """Weights t added up instead of decayed: the other formulation of LCFR."""

        name = "additive"
        kernel = LinearCFR().kernel

        @staticmethod
        def discounts(t):
            # multiply what is stored by (t-1)/t, the same up to the common factor t
            return LinearCFR().discounts(t)._replace(average_decay=1.0, average_weight=float(t))

    for got, expected in zip(profile_after(leduc, Additive()), profile_after(leduc, LinearCFR()), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-10)


def test_flooring_is_forgetting_before_the_next_iteration(leduc):
    class Forgetful:
        """CFR+ without the floor flag: negative regrets are multiplied by zero when the next iteration begins."""

        name = "forgetful"
        kernel = CFR().kernel
        discounts = staticmethod(CFRPlus().discounts)

    for got, expected in zip(profile_after(leduc, Forgetful()), profile_after(leduc, CFRPlus()), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-12)


def test_names():
    rules = [CFR(), CFRPlus(), CFRPlus(gamma=1), LinearCFR(), LinearCFRPlus(), DCFR(), DCFR(beta=0.5), DCFRPlus()]
    assert [rule.name for rule in rules] == [
        *("cfr", "cfr+", "cfr+linear", "lcfr", "lcfr+", "dcfr", "dcfr(1.5,0.5,2)", "dcfr+"),
    ]
    assert Optimistic(LinearCFR()).name == "optimistic-lcfr"
    assert PredictiveCFRPlus().name == "pcfr+"
    assert NormalHedge(base=LinearCFR()).name == "normal-hedge-lcfr"
    assert Hedge(horizon=9).name == "hedge(9)"
    assert CFRPlus(fallback=Fallback.ARGMAX).name == "cfr+-argmax"
    assert DCFRPlus(delay=30).name == "dcfr+(30)"
    assert DCFRPlus(beta=-math.inf, average_exponent=2).name == "dcfr+(1.5,-inf,100,2)"


EXPONENTS = st.sampled_from([0.0, 1 / 3, 0.5, 1.0, 1.5, 2.0, 100.0, math.inf])
BASES = st.builds(
    DCFR,
    alpha=EXPONENTS,
    beta=EXPONENTS | st.just(-math.inf),
    gamma=st.sampled_from([0.0, 1.0, 2.0]),
    fallback=st.sampled_from(Fallback),
) | st.builds(
    DCFRPlus,
    alpha=st.sampled_from([1.0, 1.5]),
    beta=st.sampled_from([0.0, 1.0]),
    delay=st.sampled_from([0, 2, 100]),
    average_exponent=st.sampled_from([1.0, 2.0, 100.0]),
)
ANY_RULE = BASES | st.builds(Optimistic, BASES) | st.builds(NormalHedge, base=BASES)


@given(st.lists(ANY_RULE, min_size=2, max_size=30))
def test_different_rules_have_different_names(rules):
    assert len({rule.name for rule in rules}) == len(set(rules))


@pytest.mark.parametrize(
    ("u", "exponent", "factor"),
    [(0.0, 1.5, 0.0), (0.0, 0.0, 0.5), (0.0, -1.0, 1.0), (1e6, 1e3, 1.0), (1e6, -1e3, 0.0), (7.0, math.inf, 1.0)],
)
def test_factors_at_their_limits(u, exponent, factor):
    assert discount_factor(u, exponent) == factor


def test_steps_of_hedge():
    # [B20] 2.3.3, eta = sqrt(2 ln n) / (L sqrt(T)), and 3.4.3, sqrt(ln n) / (3 sqrt(VAR) sqrt(t))
    assert Hedge(horizon=50).discounts(7).eta_scale == pytest.approx(math.sqrt(2) / math.sqrt(50))
    assert Hedge().discounts(7).eta_scale == pytest.approx(1 / math.sqrt(7))


def test_exponents_of_a_schedule_move_evenly_and_stay():
    rule = ScheduledDCFR(alpha=(1.0, 3.0), beta=(0.5, -0.5), gamma=(6.0, 2.0), horizon=10)
    assert rule.exponents(5) == (2.0, 0.0, 4.0)
    assert rule.exponents(10) == rule.exponents(99) == (3.0, -0.5, 2.0)
    for t in (1, 5, 10, 99):
        alpha, beta, gamma = rule.exponents(t)
        assert rule.discounts(t) == DCFR(alpha=alpha, beta=beta, gamma=gamma).discounts(t)


def test_a_schedule_that_stands_still_is_dcfr(leduc):
    still = ScheduledDCFR(alpha=(1.5, 1.5), beta=(0.0, 0.0), gamma=(2.0, 2.0), horizon=5)
    solvers = [CFRSolver(leduc, rule) for rule in (still, DCFR())]
    for solver in solvers:
        solver.iterate(20)
    np.testing.assert_array_equal(solvers[0].tables.strategy_sum, solvers[1].tables.strategy_sum)


def test_table_has_a_row_per_iteration():
    rows = tabulate_discounts(DCFR(), 3, 2)
    assert rows.shape == (2, 6)
    assert rows[0].tolist() == pytest.approx([2**1.5 / (2**1.5 + 1), 0.5, (2 / 3) ** 2, 1.0, 1.0, 0.0])


@pytest.mark.parametrize("first_t", [1, 2, 1000])
@pytest.mark.parametrize(
    "rule",
    [
        CFR(),
        CFRPlus(),
        LinearCFR(),
        LinearCFRPlus(),
        DCFR(),
        DCFR(alpha=0.5, beta=-1.0, gamma=2.5),
        DCFR(alpha=1.7, beta=0.3, gamma=3.0),
        DCFR(alpha=300.0, beta=1.0, gamma=0.5),
        ScheduledDCFR(horizon=20),
    ],
)
def test_rows_of_a_table_are_those_of_their_iterations_to_the_bit(rule, first_t):
    rows = tabulate_discounts(rule, first_t, 30)
    expected = np.array([rule.discounts(t) for t in range(first_t, first_t + 30)])
    assert rows.tobytes() == expected.tobytes()
    assert tabulate_discounts(rule, first_t, 0).shape == (0, 6)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: DCFR(alpha=math.nan), "alpha must be a number"),
        (lambda: DCFR(beta=math.nan), "beta must be a number"),
        (lambda: DCFR(gamma=-1), "gamma must be at least 0"),
        (lambda: DCFRPlus(delay=-1), "delay must be a whole number of at least 0, got -1"),
        (lambda: DCFRPlus(delay=2.5), "delay must be a whole number"),
        (lambda: DCFRPlus(alpha=-math.inf), "alpha must be a number above -inf"),
        (lambda: DCFRPlus(beta=math.nan), "beta must be a number"),
        (lambda: DCFRPlus(average_exponent=-0.5), "average_exponent must be at least 0 and finite"),
        (lambda: ScheduledDCFR(alpha=(1.0, math.inf)), "alpha of a schedule must be finite, got inf"),
        (lambda: ScheduledDCFR(beta=1.0), "beta must be a pair of numbers, got 1.0"),
        (lambda: ScheduledDCFR(gamma=(2.0, -1.0)), "gamma must be at least 0 and finite, got -1"),
        (lambda: ScheduledDCFR(horizon=0), "horizon must be at least 1, got 0"),
        (lambda: Hedge(horizon=-3), "horizon must be at least 1, got -3"),
        (lambda: Hedge(horizon=math.nan), "horizon must be a whole number"),
    ],
)
def test_bad_settings_are_refused(build, message):
    with pytest.raises(ConfigError, match=message):
        build()
