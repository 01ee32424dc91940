# SPDX-License-Identifier: Apache-2.0
"""Networks of advantages and policies, and how they are fitted."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import AbandonedError, ConfigError, GameTooLargeError, NotConvergedError
from equipoise.games.registry import make_game
from equipoise.learning.deep_cfr import fitting
from equipoise.learning.deep_cfr.encoding import CardLayout
from equipoise.learning.deep_cfr.fitting import NetRegressor, load_tensors_into, soften
from equipoise.learning.deep_cfr.making import fit_policy, make_training, make_walks, tabulate_policy
from equipoise.learning.deep_cfr.nets import BranchNet, make_net
from equipoise.learning.deep_cfr.settings import DeepCFRSettings, Network, find_preset
from equipoise.learning.torch_extra import torch
from tests.learning.deep_cfr.test_training import run_in_pieces

KUHN = make_game("kuhn")
TINY = DeepCFRSettings(
    traversals=60, capacity=5_000, steps=40, batch=256, hidden=16, layers=2, network=Network.RESIDUAL, rate=0.01,
    policy_steps=60, is_standardised=True, is_centred=True,
)  # fmt: skip


def make_run(**changes):
    settings = dataclasses.replace(TINY, **changes)
    return make_training(make_walks(KUHN, settings), settings)


@pytest.mark.parametrize("network", Network)
def test_a_fit_comes_close_to_the_mean_of_what_is_remembered(network):
    run = make_run(network=network, steps=250, final_rate=0.05, is_standardised=False, clip=100.0)
    run.iterate(2)
    memory = run.memories[0]
    size = len(memory)
    place, weight = memory.columns["place"][:size], memory.columns["weight"][:size]
    total = np.bincount(place, weight, minlength=12)
    sums = np.stack([np.bincount(place, weight * one, minlength=12) for one in memory.columns["target"][:size].T], 1)
    met = np.flatnonzero(total)
    found = run.regressors[0].predict(met, np.ones((met.size, 2), bool))
    np.testing.assert_allclose(found, sums[met] / total[met, None], atol=0.25)
    assert np.abs(sums[met] / total[met, None]).max() > 0.5


def test_merged_samples_have_the_same_gradient():
    run = make_run()
    run.iterate(1)
    net = run.regressors[0].fitting.net
    some = run.memories[0].draw(64, rng=np.random.default_rng(0))
    gradients = []
    for is_merged in (False, True):
        batch = fitting._Batch(run.walks, some, scale=2.0, is_merged=is_merged)
        loss = fitting._find_advantage_loss(net(batch.features), batch)
        gradients.append(torch.autograd.grad(loss, list(net.parameters())))
    assert len(batch.features) < 64
    for alone, merged in zip(*gradients, strict=True):
        torch.testing.assert_close(alone, merged, atol=1e-6, rtol=1e-4)


def test_steps_may_see_the_whole_memory_if_a_batch_has_room():
    run = make_run()
    run.iterate(1)
    fit = run.regressors[0].fitting
    assert fit._merge_all(run.memories[0], 1.0) is None
    fit.settings = dataclasses.replace(TINY, is_whole=True)
    whole = fit._merge_all(run.memories[0], 1.0)
    weight = whole.weight[:, None] * whole.is_legal
    assert float((weight * whole.target**2).sum() / weight.sum()) == pytest.approx(1.0, abs=1e-5)
    assert len(whole.features) == len(np.unique(run.memories[0].columns["place"][: len(run.memories[0])]))
    fit.settings = dataclasses.replace(TINY, is_whole=True, batch=2)
    assert fit._merge_all(run.memories[0], 1.0) is None


@pytest.mark.parametrize("is_centred", [False, True])
def test_a_solved_head_is_where_the_gradient_is_zero(is_centred):
    run = make_run(is_whole=True, solves_head=True, steps=3, hidden=3, is_centred=is_centred)
    run.iterate(1)
    fit = run.regressors[0].fitting
    whole = fit._merge_all(run.memories[0], 1.0)
    loss = fitting._find_advantage_loss(fit.net(whole.features), whole)
    (slope,) = torch.autograd.grad(loss, [fit.net.head.last.bias])
    assert loss.item() == pytest.approx(run.regressors[0].loss / 2.0, rel=1e-4)
    assert loss.item() > 1e-3
    assert slope.abs().max().item() < 1e-4
    fit.net.head.overwrite(torch.zeros(2, 3), torch.zeros(2))
    assert fitting._find_advantage_loss(fit.net(whole.features), whole).item() > 1.2 * loss.item()


def test_a_new_regressor_says_zero_and_plays_uniformly():
    run = make_run()
    legal = np.ones((12, 2), bool)
    assert (run.regressors[0].predict(np.arange(12), legal) == 0.0).all()
    assert (run.play(0, np.arange(12), legal) == 0.5).all()


def test_a_centred_head_is_a_level_and_differences():
    layout = CardLayout(num_numbers=4)
    net = make_net(TINY, layout, 3, seed=1)
    found = net(torch.randn(5, 4, generator=torch.Generator().manual_seed(0)))
    with torch.no_grad():
        net.head.last.bias[0] += 2.0
    again = net(torch.randn(5, 4, generator=torch.Generator().manual_seed(0)))
    torch.testing.assert_close(again, found + 2.0)


def test_cards_of_a_group_may_come_in_any_order_and_missing_ones_say_nothing():
    net = BranchNet(CardLayout(groups=(2, 3), num_numbers=2), 3, 16)
    row = torch.tensor([[5.0, 9.0, 1.0, 2.0, 3.0, 0.5, 1.0]])
    swapped = torch.tensor([[9.0, 5.0, 3.0, 1.0, 2.0, 0.5, 1.0]])
    other = torch.tensor([[5.0, 9.0, 0.0, 0.0, 0.0, 0.5, 1.0]])
    torch.testing.assert_close(net(row), net(swapped))
    assert not torch.allclose(net(row), net(other))
    with torch.no_grad():
        net.card[1].weight[0] += 7.0  # of a card that is not there
        net.rank[1].weight[0] += 7.0
    torch.testing.assert_close(net(other), net(other.clone()))


def test_networks_follow_from_their_seed_and_leave_torchs_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    layout = CardLayout(groups=(2,), num_numbers=2)
    settings = find_preset("fhp-paper")
    first, second = (make_net(settings, layout, 3, seed=4).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_run_with_networks_goes_on_to_the_bit():
    whole, first, second = make_run(), make_run(), make_run()
    whole.iterate(3)
    first.iterate(2)
    second.restore(first.state())
    second.iterate(1)
    ours, theirs = whole.state(), second.state()
    for name in ours:
        if name != "progress":
            assert np.array_equal(ours[name], theirs[name]), name


def test_fitting_the_average_leaves_the_run_as_it_was():
    alone, asked = make_run(), make_run()
    alone.iterate(2)
    asked.iterate(1)
    fit_policy(asked)
    asked.iterate(1)
    assert np.array_equal(alone.evaluate().values, asked.evaluate().values)


def test_the_network_of_the_average_is_near_the_average():
    run = make_run(policy_steps=500, final_rate=0.05, traversals=300, capacity=50_000)
    run.iterate(3)
    learnt = tabulate_policy(fit_policy(run), run.walks)
    assert run.evaluate(learnt).exploitability == pytest.approx(run.evaluate().exploitability, abs=0.08)


def test_a_rate_that_diverges_is_one_clear_error():
    run = make_run(rate=1e30, clip=1e30)
    with pytest.raises(NotConvergedError, match="lower the rate"):
        run.iterate(3)


def test_weights_of_another_shape_are_refused():
    first, second = (
        make_net(TINY, CardLayout(num_numbers=4), 3, seed=1),
        make_net(TINY, CardLayout(num_numbers=5), 3, seed=1),
    )
    with pytest.raises(ConfigError, match="another shape"):
        load_tensors_into(first, {name: part.numpy() for name, part in second.state_dict().items()})


def test_softened_logits_leave_illegal_actions_out():
    legal = np.array([[True, False, True]])
    np.testing.assert_allclose(soften(np.array([[1.0, 50.0, 1.0]]), legal), [[0.5, 0.0, 0.5]])


def test_a_fit_without_samples_changes_nothing():
    run = make_run()
    run.regressors[0].fit(run.memories[0], 1)
    assert isinstance(run.regressors[0], NetRegressor)
    assert not run.regressors[0].is_fitted


@pytest.mark.parametrize("is_refitted", [True, False])
def test_a_fit_that_is_interrupted_is_undone_and_comes_next(is_refitted):
    whole = make_run(is_refitted=is_refitted, steps=6)
    whole.iterate(2)
    run, pieces = run_in_pieces(lambda: make_run(is_refitted=is_refitted, steps=6), every=9, iterations=2)
    assert pieces >= 4
    for part, array in whole.state().items():
        if part != "progress":
            assert np.array_equal(array, run.state()[part], equal_nan=array.dtype.kind == "f"), part


def test_a_fit_of_the_average_is_abandoned_between_two_steps():
    run = make_run()
    run.iterate(1)
    with pytest.raises(AbandonedError, match="a fit was interrupted"):
        fit_policy(run, is_interrupted=lambda: True)


def test_networks_without_room_are_refused():
    with pytest.raises(GameTooLargeError, match=r"a network of 2 x 100,000,000 units needs"):
        make_run(hidden=100_000_000)
