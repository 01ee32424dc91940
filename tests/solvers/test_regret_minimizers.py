# SPDX-License-Identifier: Apache-2.0
"""Laws of the regret minimisers at one information set, on any stream of rewards, hostile ones included."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.kernels.rules import PolicyMap, apply_policy_map
from equipoise.solvers.rules import CFR, Hedge, Thresholded
from tests.reference.cfr import threshold_of

REWARD_RANGE = 3.0


def random_rewards(rng, strategy):
    return rng.uniform(0.0, REWARD_RANGE, strategy.size)


def hostile_rewards(rng, strategy):
    """Pays only where the minimiser puts least."""
    return REWARD_RANGE * (np.arange(strategy.size) == np.argmin(strategy + 1e-9 * rng.uniform(size=strategy.size)))


def alternating_rewards(rng, strategy):
    """Pays one random action all and its likeliest nothing."""
    rewards = REWARD_RANGE * (rng.uniform(size=strategy.size) < 0.5)
    rewards[np.argmax(strategy)] = 0.0
    return rewards


STREAMS = [random_rewards, hostile_rewards, alternating_rewards]
runs = {"seed": st.integers(0, 2**32 - 1), "num_actions": st.integers(1, 8), "length": st.integers(1, 60)}


@pytest.mark.parametrize("stream", STREAMS)
@given(**runs)
def test_regret_matching_keeps_its_potential_bounds(stream, seed, num_actions, length):
    rng, regret = np.random.default_rng(seed), np.zeros(num_actions)
    for t in range(1, length + 1):
        strategy = apply_policy_map(PolicyMap.REGRET_MATCHING, regret)
        rewards = stream(rng, strategy)
        instant = rewards - strategy @ rewards
        before = (np.maximum(regret, 0.0) ** 2).sum()
        regret += instant
        potential = (np.maximum(regret, 0.0) ** 2).sum()
        assert potential <= before + (instant**2).sum() + 1e-9  # [B20] (2.4)
        assert potential <= REWARD_RANGE**2 * num_actions * t + 1e-9  # (2.5)
        assert regret.max() <= REWARD_RANGE * math.sqrt(num_actions * t) + 1e-9  # (2.6)


@pytest.mark.parametrize("stream", STREAMS)
@given(**runs)
def test_regret_matching_plus_dominates_true_regret_within_the_bound(stream, seed, num_actions, length):
    rng, regret, floored = np.random.default_rng(seed), np.zeros(num_actions), np.zeros(num_actions)
    for t in range(1, length + 1):
        strategy = apply_policy_map(PolicyMap.REGRET_MATCHING, floored)
        rewards = stream(rng, strategy)
        instant = rewards - strategy @ rewards
        regret += instant
        floored = np.maximum(floored + instant, 0.0)
        assert (floored >= regret - 1e-9).all()  # [B20] Lemma 3
        assert floored.max() <= REWARD_RANGE * math.sqrt(num_actions * t) + 1e-9  # Lemma 4


@pytest.mark.parametrize("stream", STREAMS)
@given(**runs)
def test_hedge_with_a_known_horizon_keeps_its_bound(stream, seed, num_actions, length):
    rng, regret = np.random.default_rng(seed), np.zeros(num_actions)
    eta = math.sqrt(2 * math.log(num_actions)) / (REWARD_RANGE * math.sqrt(length))
    for _ in range(length):
        strategy = apply_policy_map(PolicyMap.HEDGE, regret, eta=eta)
        rewards = stream(rng, strategy)
        regret += rewards - strategy @ rewards
    assert regret.max() <= REWARD_RANGE * math.sqrt(2 * length * math.log(num_actions)) + 1e-9  # [B20] 2.3.3


@pytest.mark.parametrize("factor", [1.0, 1.5, 2.0, 5.0])
@pytest.mark.parametrize("stream", STREAMS)
@given(**runs)
def test_thresholded_hedge_keeps_its_bound(stream, factor, seed, num_actions, length):
    rng, regret = np.random.default_rng(seed), np.zeros(num_actions)
    rule = Thresholded(Hedge(horizon=length), factor)
    eta = rule.discounts(1).eta_scale * math.sqrt(math.log(num_actions)) / REWARD_RANGE
    threshold = 0.0  # of t = 1, when everything is as probable
    for t in range(1, length + 1):
        strategy = apply_policy_map(PolicyMap.HEDGE, regret, eta=eta, threshold=threshold)
        rewards = stream(rng, strategy)
        regret += rewards - strategy @ rewards
        threshold = threshold_of(rule.kernel, rule.discounts(t), num_actions)
    # [B20] Theorem 8
    assert regret.max() <= factor * REWARD_RANGE * math.sqrt(2 * length * math.log(num_actions)) + 1e-9


@pytest.mark.parametrize("factor", [1.0, 1.5, 2.0, 5.0])
@pytest.mark.parametrize("stream", STREAMS)
@given(**runs)
def test_thresholded_regret_matching_keeps_its_bound(stream, factor, seed, num_actions, length):
    rng, regret, threshold = np.random.default_rng(seed), np.zeros(num_actions), 0.0
    rule = Thresholded(CFR(), factor)
    for t in range(1, length + 1):
        strategy = apply_policy_map(PolicyMap.REGRET_MATCHING, regret, threshold=threshold)
        rewards = stream(rng, strategy)
        regret += rewards - strategy @ rewards
        threshold = threshold_of(rule.kernel, rule.discounts(t), num_actions)
        assert regret.max() <= factor * REWARD_RANGE * math.sqrt(num_actions * t) + 1e-9  # [B20] Theorem 9


@given(
    st.lists(st.tuples(st.floats(-100, 100), st.floats(0, 10)), min_size=1, max_size=40),
    st.floats(0, 50),
    st.floats(0, 50),
)
def test_sums_with_growing_weights_are_bounded_by_the_last_weight(steps, slack_above, slack_below):
    values, growth = (np.array(column) for column in zip(*steps, strict=True))
    weights = np.cumsum(growth)
    floor = min(0.0, np.cumsum(values).min()) - slack_below
    ceiling = values.sum() + slack_above
    # [B20] Lemma 2: prefix sums at least C <= 0 and the total at most B
    assert weights @ values <= weights[-1] * (ceiling - floor) + 1e-6
