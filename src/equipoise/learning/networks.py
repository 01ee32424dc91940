# SPDX-License-Identifier: Apache-2.0
"""Many small networks of one shape side by side, each with learning rates of its own, trained in the same calls.

A call of torch costs more than the arithmetic of a network this small, so that a sweep over settings is trained as one
batch. Axes `[M, P]`: settings, players. Importing this module needs torch, the extra `[learn]`.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Sequence

from equipoise.core.errors import NotConvergedError
from equipoise.learning.torch_extra import torch

__all__ = ["Adam", "NetworkStack", "check_outputs", "one_thread"]


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Keeps torch to one thread within a block: networks this small lose more by a second than they gain."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(num_threads)


def check_outputs(outputs: torch.Tensor) -> None:
    """Raises `NotConvergedError` unless what networks `[M, ...]` say are finite numbers."""
    is_finite = torch.isfinite(outputs).flatten(start_dim=1).all(dim=1)
    if not is_finite.all():
        members = ", ".join(str(member) for member in torch.nonzero(~is_finite).flatten().tolist())
        raise NotConvergedError(f"networks of setting {members} say infinity or no number at all: lower their rates")


class NetworkStack:
    """Perceptrons with rectified hidden layers, `[M, P]` of them, none sharing a weight with another."""

    def __init__(self, leading: tuple[int, int], sizes: Sequence[int], *, generator: torch.Generator) -> None:
        """Draws the weights, uniformly within one over the square root of a layer's inputs.

        Args:
            leading: M and P.
            sizes: inputs, hidden layers, outputs.
            generator: where the weights are drawn from.
        """
        self.parameters: list[torch.Tensor] = []
        for num_inputs, num_outputs in itertools.pairwise(sizes):
            limit = 1.0 / math.sqrt(num_inputs)
            for shape in ((num_inputs, num_outputs), (1, num_outputs)):
                weight = torch.rand(*leading, *shape, generator=generator) * (2.0 * limit) - limit
                self.parameters.append(weight.requires_grad_())

    def __call__(self, features: torch.Tensor) -> torch.Tensor:
        """Returns `[M, P, N, outputs]` for features `[M, P, N, F]` (or `[P, N, F]`, the same for all settings)."""
        hidden = features
        for layer in range(0, len(self.parameters), 2):
            if layer:
                hidden = torch.relu(hidden)
            hidden = torch.matmul(hidden, self.parameters[layer]) + self.parameters[layer + 1]
        return hidden


class Adam:
    """Adam with a learning rate for each setting.

    Paper: Kingma & Ba 2015, "Adam: A Method for Stochastic Optimization", arXiv:1412.6980.
    Symbols: alpha -> rates; beta_1, beta_2, epsilon -> the constants; m, v -> mean, square.
    Departs from the paper: nothing. Settings that sit a step out keep their moments and their count.
    Checked by: tests/learning/test_networks.py.
    """

    MEAN_DECAY, SQUARE_DECAY, EPSILON = 0.9, 0.999, 1e-8

    def __init__(self, stack: NetworkStack, rates: Sequence[float]) -> None:
        self.stack = stack
        self.rates = torch.tensor(rates, dtype=torch.float32)[:, None, None, None]
        self.steps = torch.zeros_like(self.rates)
        self.mean = [torch.zeros_like(weight) for weight in stack.parameters]
        self.square = [torch.zeros_like(weight) for weight in stack.parameters]

    def step(self, loss: torch.Tensor, share: torch.Tensor | None = None) -> None:
        """Moves the networks of all settings down the gradient of a loss, at `share` `[M]` of their rates.

        Settings whose share is zero sit the step out.
        """
        gradients = torch.autograd.grad(loss, self.stack.parameters)
        shares = torch.ones_like(self.rates) if share is None else share[:, None, None, None].float()
        part = (shares > 0).float()
        with torch.no_grad():
            self.steps += part
            scale = shares * self.rates / (1.0 - self.MEAN_DECAY ** self.steps.clamp(min=1.0))
            square_scale = 1.0 - self.SQUARE_DECAY ** self.steps.clamp(min=1.0)
            for weight, gradient, mean, square in zip(
                self.stack.parameters, gradients, self.mean, self.square, strict=True
            ):
                mean.add_(part * (1.0 - self.MEAN_DECAY) * (gradient - mean))
                square.add_(part * (1.0 - self.SQUARE_DECAY) * (gradient * gradient - square))
                weight.sub_(scale * mean / ((square / square_scale).sqrt() + self.EPSILON))
