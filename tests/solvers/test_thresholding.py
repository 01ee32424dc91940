# SPDX-License-Identifier: Apache-2.0
"""Dynamic thresholding: what is cut, what stays, and what it does to the sweeps. Its bounds: test_regret_minimizers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.rules import PolicyMap, apply_policy_map
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, Hedge, NormalHedge, Optimistic, Thresholded
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.public import build_public_tree
from tests.reference import cfr as reference

LEDUC = make_game("leduc", merge_suits=True)
regrets = st.lists(st.floats(-100, 100), min_size=1, max_size=12)
thresholds = st.floats(0, 1.5)


@pytest.fixture(scope="module")
def leduc():
    return build_history_tree(LEDUC)


@given(regrets, thresholds)
def test_the_cut_equals_its_twin(values, threshold):
    for policy_map in (PolicyMap.REGRET_MATCHING, PolicyMap.HEDGE):
        raw = apply_policy_map(policy_map, values, eta=0.1)
        got = apply_policy_map(policy_map, values, eta=0.1, threshold=threshold)
        np.testing.assert_allclose(got, reference.cut_small(raw, threshold), atol=1e-15)


@given(regrets, thresholds)
def test_something_is_played_in_the_old_proportions(values, threshold):
    raw = apply_policy_map(PolicyMap.HEDGE, values, eta=0.1)
    got = apply_policy_map(PolicyMap.HEDGE, values, eta=0.1, threshold=threshold)
    assert got.sum() == pytest.approx(1.0)
    assert got[np.argmax(raw)] > 0
    played = got > 0
    assert (raw[played] >= min(threshold, raw.max())).all()
    assert (raw[~played] < threshold).all()
    np.testing.assert_allclose(got[played] * raw[played].sum(), raw[played], rtol=1e-12)


def test_equal_probabilities_stay_however_high_the_threshold():
    assert apply_policy_map(PolicyMap.HEDGE, [1.0, 1.0, 0.0], threshold=0.9).tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("num_actions", [2, 3, 7])
@pytest.mark.parametrize("factor", [1.0, 1.1, 2.0, 6.0])
def test_thresholds_are_those_of_the_theorems(factor, num_actions):
    t = 11  # the iteration that plays what discounts(10) cuts
    hedge, matching = (Thresholded(base, factor) for base in (Hedge(), CFR()))
    expected = (factor - 1) * math.sqrt(math.log(num_actions)) / (math.sqrt(2) * num_actions**2 * math.sqrt(t))
    assert reference.threshold_of(hedge.kernel, hedge.discounts(10), num_actions) == pytest.approx(expected)
    expected = (factor**2 - 1) / (2 * factor * num_actions**2 * math.sqrt(t))
    assert reference.threshold_of(matching.kernel, matching.discounts(10), num_actions) == pytest.approx(expected)


@pytest.mark.parametrize("base", [CFR(), Hedge(), DCFR()], ids=lambda rule: rule.name)
def test_thresholds_fall(base):
    values = [Thresholded(base, 3.0).discounts(t).threshold for t in range(1, 200)]
    assert (np.diff(values) < 0).all()


def test_an_action_comes_back_although_no_regret_has_changed():
    rule, regret = Thresholded(Hedge(), 2.0), [0.0, -4.0]
    early, late = (
        apply_policy_map(PolicyMap.HEDGE, regret, threshold=reference.threshold_of(rule.kernel, rule.discounts(t), 2))
        for t in (1, 1000)
    )
    assert early[1] == 0.0
    assert late[1] > 0.0


@pytest.mark.parametrize("base", [CFR(), CFRPlus(), Hedge(), Optimistic(CFR())], ids=lambda rule: rule.name)
@pytest.mark.parametrize("form", ["history", "vector"])
def test_a_factor_of_one_changes_no_bit(leduc, form, base):
    tree = leduc if form == "history" else build_public_tree(derive_public_game(LEDUC))
    plain, cut = CFRSolver(tree, base), CFRSolver(tree, Thresholded(base, 1.0))
    plain.iterate(100)
    cut.iterate(100)
    for name, table in plain.state().items():
        assert table.tobytes() == cut.state()[name].tobytes(), name


def test_hedge_has_zeros_and_still_converges(leduc):
    plain, cut = CFRSolver(leduc, Hedge()), CFRSolver(leduc, Thresholded(Hedge(), 2.0))
    plain.iterate(300)
    cut.iterate(300)
    assert (plain.tables.strategy > 0).all()
    assert (cut.tables.strategy == 0).mean() > 0.2
    assert cut.evaluate().exploitability < 1.2 * plain.evaluate().exploitability


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Thresholded(CFR(), 0.99), "factor must be at least 1 and finite, got 0.99"),
        (lambda: Thresholded(CFR(), math.nan), "factor must be at least 1 and finite"),
        (lambda: Thresholded(CFR(), math.inf), "factor must be at least 1 and finite"),
        (lambda: Thresholded(NormalHedge()), "known for Hedge and regret matching, got rule normal-hedge"),
        (lambda: NormalHedge(base=Thresholded(CFR())), r"got thresholded\(2\)-cfr in NormalHedge"),
        (lambda: Thresholded(Optimistic(Thresholded(CFR()))), r"rule optimistic-thresholded\(2\)-cfr has its own"),
    ],
)
def test_bad_settings_are_refused(build, message):
    with pytest.raises(ConfigError, match=message):
        build()
