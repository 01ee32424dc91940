# SPDX-License-Identifier: Apache-2.0
"""Curve networks in torch: what they say is what the native module says, and they learn."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import parse_board
from equipoise.kernels.value_nets import CurveKernel, StateArrays
from equipoise.learning.values.boards import BoardFacts, BoardShelf
from equipoise.learning.values.configuration import NetKind, NetStage, ValueNetConfig
from equipoise.learning.values.inputs import CurveInputs, find_inputs

torch = pytest.importorskip("torch")
curve_net = pytest.importorskip("equipoise.learning.values.curve_net")
one_thread = pytest.importorskip("equipoise.learning.networks").one_thread

CONFIGS = {
    "river": ValueNetConfig(cells=8, hidden=24, layers=3),
    "turn": ValueNetConfig(
        street=Street.TURN, stage=NetStage.END, cells=6, potential_cells=3, segments=16, hidden=24, layers=2
    ),
    "plain": ValueNetConfig(cells=8, segments=0, hidden=20, layers=2, is_residual=False, least_ratio=0.5),
}
BOARDS = {"river": ("Ks7h2d9cKh", "2c3c4c5c9d"), "turn": ("Ks7h2d9c", "8h8d8c2s"), "plain": ("AhAdAcAsKs",)}


@pytest.fixture(autouse=True)
def _use_one_thread():
    with one_thread():
        yield


def make_states(name, num_states=6):
    rng = np.random.default_rng(1)
    boards = [BoardFacts(parse_board(text)) for text in BOARDS[name]]
    ranges = rng.random((num_states, 2, boards[0].num_hands)) ** 5
    return boards, rng.integers(0, len(boards), num_states), ranges, rng.random(num_states) * 3.0


def make_net(config, scale=1.0):
    net = curve_net.CurveNet(config, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        net.trunk.bias[-1] += scale * torch.randn(config.num_outputs, generator=torch.Generator().manual_seed(3))
    return net


@pytest.mark.parametrize("name", CONFIGS)
def test_the_native_module_says_what_torch_says(name):
    config, (boards, board_of, ranges, ratio) = CONFIGS[name], make_states(name)
    net = make_net(config)
    inputs = find_inputs(config, boards, board_of, ranges, ratio)
    with torch.no_grad():
        expected = net(curve_net.CurveTensors.of(inputs)).numpy()
    normal = ranges / ranges.sum(axis=2, keepdims=True)
    states = StateArrays(
        [facts.bound for facts in boards],
        board_of.astype(np.int32),
        (np.ascontiguousarray(normal[:, 0]), np.ascontiguousarray(normal[:, 1])),
    )
    kernel = CurveKernel(config.axes, inputs.extra.shape[1], net.store().layers())
    found = np.stack(kernel.evaluate(states, inputs.extra, share=inputs.share), axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.abs(expected - inputs.base).max() > 0.3


@pytest.mark.parametrize("name", CONFIGS)
def test_some_hands_have_the_values_of_all_before_they_sum_to_zero(name):
    config, (boards, board_of, ranges, ratio) = CONFIGS[name], make_states(name)
    states = curve_net.CurveTensors.of(find_inputs(config, boards, board_of, ranges, ratio))
    net, hands = make_net(config), torch.tensor([900, 3, 77])
    with torch.no_grad():
        part, every = net(states, hands), net(states, torch.arange(states.place.shape[1]))
        whole = net(states)
    torch.testing.assert_close(part, every[:, :, hands])
    torch.testing.assert_close(curve_net.make_zero_sum(every, states.range, states.matched), whole)


def test_a_stored_network_comes_back():
    net = make_net(CONFIGS["turn"])
    again = curve_net.CurveNet.of(net.store())
    for mine, other in zip(net.parameters(), again.parameters(), strict=True):
        assert torch.equal(mine, other)


def test_toys_are_rivers_on_which_nobody_blocks_anything():
    net = make_net(CONFIGS["river"])
    rng = np.random.default_rng(4)
    mass = rng.dirichlet(np.ones(8), size=(5, 3))
    extra = CONFIGS["river"].encode_ratios(rng.random(5))
    with torch.no_grad():
        curve = net.curves(torch.tensor(mass[..., None], dtype=torch.float32), torch.tensor(extra))
        found = net.toy_values(torch.tensor(mass, dtype=torch.float32), torch.tensor(extra)).numpy()
    for state in range(5):
        value = np.empty((2, 8))
        for player in (0, 1):
            other = mass[state, 1 - player]
            ahead = [other[:cell].sum() - other[cell + 1 :].sum() for cell in range(8)]
            value[player] = 0.5 * np.array(ahead) + curve[state, :, 0, player, 0].numpy()
        value -= (mass[state, :2] * value).sum() / 2.0
        np.testing.assert_allclose(found[state], value, atol=1e-5)


def test_a_network_learns_what_another_says():
    config, (boards, board_of, ranges, ratio) = CONFIGS["river"], make_states("river", 40)
    states = curve_net.CurveTensors.of(find_inputs(config, boards, board_of, ranges, ratio))
    net, teacher = make_net(config, 0.0), make_net(config, 0.3)
    hands = torch.arange(0, 1081, 20)
    target = teacher(states, hands).detach()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)

    def step():
        loss = torch.nn.functional.huber_loss(net(states, hands), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    first = step()
    for _ in range(60):
        last = step()
    assert last < 0.1 * first


def test_inputs_are_joined_and_taken_apart():
    inputs = find_inputs(CONFIGS["turn"], *make_states("turn"))
    part = CurveInputs.join([inputs.take([4, 0]), inputs.take([1])])
    assert len(part) == 3
    np.testing.assert_array_equal(part.base, inputs.base[[4, 0, 1]])


def test_a_shelf_keeps_boards_until_they_take_too_much_room():
    shelf = BoardShelf(max_bytes=50_000)
    first, again = (shelf.find([board])[0] for board in ((0, 5, 10, 15, 20), (20, 15, 10, 5, 0)))
    assert first is again
    shelf.find([(1, 2, 3, 4, 5), (6, 7, 8, 9, 10)])
    assert shelf.find([(0, 5, 10, 15, 20)])[0] is not first


def test_a_configuration_comes_back_from_its_fields():
    for config in CONFIGS.values():
        assert ValueNetConfig.from_dict(config.as_dict()) == config


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cells": 1}, "cells must be between 2"),
        ({"potential_cells": 4}, "no potential at the river"),
        ({"street": Street.PREFLOP}, "use a bucket network"),
        ({"kind": NetKind.BUCKET}, "buckets must be between 1"),
        ({"least_ratio": 3.0, "most_ratio": 1.0}, "ratios must ascend"),
        ({"deck": "mine"}, "a deck is"),
    ],
)
def test_configurations_that_make_no_sense_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        ValueNetConfig(**fields)


def test_foreign_configurations_are_refused():
    with pytest.raises(ConfigError, match="a value network has no colour"):
        ValueNetConfig.from_dict({"colour": "red"})
    with pytest.raises(ConfigError, match="not a value network's configuration"):
        ValueNetConfig.from_dict({"kind": "curve"})
