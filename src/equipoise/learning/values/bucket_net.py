# SPDX-License-Identifier: Apache-2.0
"""Bucket networks in torch, for training. Importing this module needs torch, the extra `[learn]`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from equipoise.learning.torch_extra import torch
from equipoise.learning.values.configuration import ValueNetConfig
from equipoise.learning.values.curve_net import make_zero_sum
from equipoise.learning.values.inputs import BucketInputs
from equipoise.learning.values.trunk import Trunk, copy_weights, load_weights
from equipoise.learning.values.weights import StoredNet

__all__ = ["BucketNet", "BucketTensors"]


class BucketTensors(NamedTuple):
    """`BucketInputs` as tensors."""

    extra: torch.Tensor
    share: torch.Tensor
    range: torch.Tensor
    matched: torch.Tensor
    base: torch.Tensor
    bucket: torch.Tensor

    @classmethod
    def of(cls, inputs: BucketInputs) -> Self:
        """Returns tensors that share the arrays' memory."""
        return cls(
            **{field.name: torch.from_numpy(getattr(inputs, field.name)) for field in dataclasses.fields(inputs)}
        )

    def take(self, rows: torch.Tensor) -> Self:
        """Returns some of the states."""
        return type(self)(*(tensor[rows] for tensor in self))

    def to(self, device: torch.device) -> Self:
        """Returns the states on a device."""
        return type(self)(*(tensor.to(device) for tensor in self))

    def take_hands(self, hands: torch.Tensor) -> Self:
        """Returns the states with some of their hands `[hands]` alone."""
        names = ("range", "matched", "base", "bucket")
        return self._replace(**{name: getattr(self, name).index_select(-1, hands) for name in names})


class BucketNet(torch.nn.Module):
    """What private states are worth in pots: one number for each bucket and player.

    Paper: Moravcik et al. 2017, "DeepStack: Expert-level artificial intelligence in heads-up no-limit poker"; Zarick
        et al. 2020, "Unlocking the Potential of Deep Counterfactual Value Networks", arXiv:2007.10442: 2,001 inputs,
        seven layers of 500, PReLU, 2,000 outputs, and an outer layer that makes values sum to zero.
    Symbols: ranges r1, r2 -> range; v1, v2 -> what comes out; the residual -> left.
    Departs from the paper: stacks and pot are given by eight functions of their ratio, not by the pot as a share of the
        stacks, so that one network serves stacks of any size. Switches of the configuration, off in the paper's
        presets, add a showdown's value and speak of a unit of matching mass (as DEVN does).
    Checked by: tests/learning/test_bucket_nets.py.
    """

    def __init__(self, config: ValueNetConfig, *, generator: torch.Generator) -> None:
        super().__init__()
        self.config = config
        self.trunk = Trunk(config, generator=generator)

    def masses(self, states: BucketTensors) -> torch.Tensor:
        """Returns `[B, 2, buckets]` what both players have in each bucket."""
        shape = (*states.range.shape[:2], self.config.buckets)
        return states.range.new_zeros(shape).scatter_add(2, states.bucket.long(), states.range)

    def forward(self, states: BucketTensors, hands: torch.Tensor | None = None) -> torch.Tensor:
        """Returns values `[B, 2, n]` that sum to zero, or of some hands `[hands]` before they are made to.

        Args:
            states: what the network sees.
            hands: whose values are wanted.
        """
        read = states if hands is None else states.take_hands(hands)
        mass = self.config.buckets * self.masses(states)
        seen = torch.sqrt(mass) if self.config.takes_roots else mass
        found = self.trunk(torch.cat([seen.flatten(1), states.extra], 1)).view(-1, 2, self.config.buckets)
        value: torch.Tensor = states.share[:, None, None] * found.gather(2, read.bucket.long())
        value = value * read.matched if self.config.times_mass else value
        shown = 1.0 if self.config.adds_equity else 1.0 - states.share[:, None, None]
        value = shown * read.base + value
        if hands is not None:
            return value
        if self.config.times_mass:
            return make_zero_sum(value, states.range, states.matched)
        return value - 0.5 * (states.range * value).sum((1, 2), keepdim=True)

    def store(self, card: Mapping[str, Any] | None = None) -> StoredNet:
        """Returns the network as it is kept, with a card that says where it comes from."""
        return StoredNet(config=self.config, tensors=copy_weights(self), card=card or {})

    @classmethod
    def of(cls, stored: StoredNet) -> Self:
        """Returns a network that was kept."""
        net = cls(stored.config, generator=torch.Generator())
        load_weights(net, stored)
        return net
