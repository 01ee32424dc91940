# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.kernels.rules import Fallback, PolicyMap, apply_policy_map
from tests.reference import cfr as reference

regrets = st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 6)), min_size=1, max_size=12)


@given(regrets)
def test_regret_matching_equals_its_twin(values):
    got = apply_policy_map(PolicyMap.REGRET_MATCHING, values)
    np.testing.assert_allclose(got, reference.regret_matching(np.array(values)), atol=1e-12)


@given(regrets, st.floats(1e-6, 10.0))
def test_hedge_equals_its_twin(values, eta):
    got = apply_policy_map(PolicyMap.HEDGE, values, eta=eta)
    np.testing.assert_allclose(got, reference.hedge(np.array(values), eta), atol=1e-12)


@given(regrets)
def test_normal_hedge_equals_its_twin(values):
    got = apply_policy_map(PolicyMap.NORMAL_HEDGE, values)
    np.testing.assert_allclose(got, reference.normal_hedge(np.array(values)), atol=1e-7)


@pytest.mark.parametrize("policy_map", list(PolicyMap))
@given(values=regrets)
def test_probabilities_sum_to_one(policy_map, values):
    got = apply_policy_map(policy_map, values)
    assert got.sum() == pytest.approx(1.0)
    assert (got >= 0).all()


@pytest.mark.parametrize("policy_map", [PolicyMap.REGRET_MATCHING, PolicyMap.NORMAL_HEDGE])
def test_negative_regrets_get_nothing(policy_map):
    assert apply_policy_map(policy_map, [2.0, -1.0, 1.0])[1] == 0.0


@pytest.mark.parametrize("policy_map", [PolicyMap.REGRET_MATCHING, PolicyMap.NORMAL_HEDGE])
@pytest.mark.parametrize(
    ("fallback", "expected"), [(Fallback.UNIFORM, [1 / 3, 1 / 3, 1 / 3]), (Fallback.ARGMAX, [0.0, 1.0, 0.0])]
)
def test_without_positive_regrets_the_fallback_is_played(policy_map, fallback, expected):
    assert apply_policy_map(policy_map, [-3.0, -1.0, -2.0], fallback=fallback).tolist() == pytest.approx(expected)


def test_subnormal_regrets_still_make_a_distribution():
    tiny = 5e-324
    assert apply_policy_map(PolicyMap.REGRET_MATCHING, [tiny, tiny, 0.0]).tolist() == [0.5, 0.5, 0.0]


def test_huge_regrets_do_not_overflow_hedge():
    assert apply_policy_map(PolicyMap.HEDGE, [1e300, 0.0]).tolist() == [1.0, 0.0]


def test_normal_hedge_solves_its_equation():
    regret = np.array([3.0, 1.0, 2.0])
    got = apply_policy_map(PolicyMap.NORMAL_HEDGE, regret)
    # probabilities give c back: p1/p2 = (R1/R2) exp((R1^2 - R2^2) / 2c)
    c = (9.0 - 1.0) / (2.0 * (math.log(got[0] / got[1]) - math.log(3.0)))
    assert np.mean(np.exp(regret**2 / (2 * c))) == pytest.approx(math.e)
