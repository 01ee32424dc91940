# SPDX-License-Identifier: Apache-2.0
"""Stacks of networks: each is what torch computes for it alone, and so is each step of Adam."""

import subprocess
import sys

import pytest
import torch

from equipoise.core.errors import NotConvergedError
from equipoise.learning.networks import Adam, NetworkStack, check_outputs


def make_stack(sizes=(5, 4, 3)):
    return NetworkStack((2, 3), sizes, generator=torch.Generator().manual_seed(1))


def single_network(stack, member, player):
    weights = [weight[member, player].detach().clone().requires_grad_() for weight in stack.parameters]

    def forward(features):
        return torch.relu(features @ weights[0] + weights[1]) @ weights[2] + weights[3]

    return weights, forward


def test_each_network_computes_by_itself():
    stack, features = make_stack(), torch.randn(3, 7, 5)
    out = stack(features)
    assert out.shape == (2, 3, 7, 3)
    for member in range(2):
        for player in range(3):
            _, forward = single_network(stack, member, player)
            torch.testing.assert_close(out[member, player], forward(features[player]))


def test_steps_are_those_of_torch_at_each_rate():
    stack, features = make_stack(), torch.randn(3, 7, 5)
    weights, forward = single_network(stack, 1, 2)
    theirs = torch.optim.Adam(weights, lr=0.03)
    ours = Adam(stack, [0.01, 0.03])
    for _ in range(4):
        ours.step((stack(features) ** 2).sum())
        theirs.zero_grad()
        (forward(features[2]) ** 2).sum().backward()
        theirs.step()
    for own, expected in zip(stack.parameters, weights, strict=True):
        torch.testing.assert_close(own[1, 2], expected)


def test_settings_that_sit_out_stay_and_come_back_as_if_nothing_was():
    stack, alone, features = make_stack(), make_stack(), torch.randn(3, 7, 5)
    ours, reference = Adam(stack, [0.1, 0.1]), Adam(alone, [0.1, 0.1])
    before = [weight.detach().clone() for weight in stack.parameters]
    ours.step((stack(features) ** 2).sum(), torch.tensor([0.0, 1.0]))
    for weight, old in zip(stack.parameters, before, strict=True):
        torch.testing.assert_close(weight[0], old[0])
        assert not torch.equal(weight[1], old[1])
    ours.step((stack(features) ** 2).sum())
    reference.step((alone(features) ** 2).sum())
    for weight, expected in zip(stack.parameters, alone.parameters, strict=True):
        torch.testing.assert_close(weight[0], expected[0])


def test_a_share_of_the_rate_is_a_share_of_the_step():
    stack, half, features = make_stack(), make_stack(), torch.randn(3, 7, 5)
    before = stack.parameters[0].detach().clone()
    Adam(stack, [0.1, 0.1]).step((stack(features) ** 2).sum())
    Adam(half, [0.1, 0.1]).step((half(features) ** 2).sum(), torch.tensor([0.5, 1.0]))
    torch.testing.assert_close(half.parameters[0][0] - before[0], 0.5 * (stack.parameters[0][0] - before[0]))
    torch.testing.assert_close(half.parameters[0][1], stack.parameters[0][1])


def test_networks_draw_different_weights_within_their_limit():
    first = make_stack((100, 8, 2)).parameters[0]
    assert first.abs().max() <= 0.1
    assert first.abs().max() > 0.095
    assert not torch.equal(first[0, 0], first[1, 0])


def test_outputs_that_are_no_numbers_are_refused():
    outputs = torch.zeros(3, 2, 4, 2)
    check_outputs(outputs)
    outputs[1, 0, 2, 1] = float("nan")
    with pytest.raises(NotConvergedError, match="setting 1 say infinity or no number"):
        check_outputs(outputs)


@pytest.mark.parametrize("module", ["a2c", "dqn", "networks", "replay"])
def test_without_torch_the_extra_is_named(module):
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "from equipoise.core.errors import MissingExtraError\n"
        f"try: import equipoise.learning.{module}\n"
        "except MissingExtraError as error: print(error)"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown == "training networks needs torch, which is not installed: pip install 'equipoise[learn]'\n"
