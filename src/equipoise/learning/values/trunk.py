# SPDX-License-Identifier: Apache-2.0
"""The perceptron of value networks in torch, and its weights in and out. Importing this module needs torch."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt

from equipoise.learning.torch_extra import torch
from equipoise.learning.values.configuration import ValueNetConfig
from equipoise.learning.values.weights import StoredNet

__all__ = ["Trunk", "copy_weights", "load_weights"]

FIRST_SLOPE, BLOCK_SLOPE = 0.25, 0.1  # of PReLU at the start
LAST_SCALE = 0.3  # of the last layer's weights: a new network says little


class Trunk(torch.nn.Module):
    """A perceptron with PReLU, whose hidden layers after the first may add to what they are given."""

    def __init__(self, config: ValueNetConfig, *, generator: torch.Generator) -> None:
        """Draws the weights."""
        super().__init__()
        self.is_residual = config.is_residual
        sizes = [config.num_inputs, *[config.hidden] * config.layers, config.num_outputs]
        limits = [1.0 / math.sqrt(size) for size in sizes]

        def draw(shape: tuple[int, ...], limit: float) -> torch.Tensor:
            return (2.0 * torch.rand(shape, generator=generator) - 1.0) * limit

        shapes = list(itertools.pairwise(sizes))
        self.weight = torch.nn.ParameterList(
            draw((after, before), limit) for (before, after), limit in zip(shapes[:-1], limits, strict=False)
        )
        self.bias = torch.nn.ParameterList(
            draw((after,), limit) for (_, after), limit in zip(shapes[:-1], limits, strict=False)
        )
        self.slope = torch.nn.ParameterList(
            torch.full((config.hidden,), BLOCK_SLOPE if place and config.is_residual else FIRST_SLOPE)
            for place in range(config.layers)
        )
        last = torch.randn((config.num_outputs, config.hidden), generator=generator)
        self.weight.append(last * (LAST_SCALE / math.sqrt(config.hidden)))
        self.bias.append(torch.zeros(config.num_outputs))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Returns `[B, outputs]` for `[B, inputs]`."""
        hidden = inputs
        for place, slope in enumerate(self.slope):
            linear = torch.nn.functional.linear(hidden, self.weight[place], self.bias[place])
            found = torch.nn.functional.prelu(linear, slope)
            hidden = hidden + found if place and self.is_residual else found
        return torch.nn.functional.linear(hidden, self.weight[-1], self.bias[-1])


def copy_weights(net: torch.nn.Module) -> dict[str, npt.NDArray[np.float32]]:
    """Returns a network's weights by name."""
    return {name: weight.detach().cpu().numpy().copy() for name, weight in net.state_dict().items()}


def load_weights(net: torch.nn.Module, stored: StoredNet) -> None:
    """Writes kept weights into a network."""
    net.load_state_dict({name: torch.from_numpy(tensor.copy()) for name, tensor in stored.tensors.items()})
