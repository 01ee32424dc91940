# SPDX-License-Identifier: Apache-2.0
"""Curve networks in torch, for training. Importing this module needs torch, the extra `[learn]`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from equipoise.learning.torch_extra import torch
from equipoise.learning.values.configuration import ValueNetConfig
from equipoise.learning.values.inputs import CurveInputs
from equipoise.learning.values.trunk import Trunk, copy_weights, load_weights
from equipoise.learning.values.weights import StoredNet

__all__ = ["CurveNet", "CurveTensors", "make_zero_sum"]


class CurveTensors(NamedTuple):
    """`CurveInputs` as tensors."""

    extra: torch.Tensor
    share: torch.Tensor
    mass: torch.Tensor
    range: torch.Tensor
    matched: torch.Tensor
    base: torch.Tensor
    place: torch.Tensor
    side: torch.Tensor
    segment: torch.Tensor
    card_mass: torch.Tensor
    cards: torch.Tensor

    @classmethod
    def of(cls, inputs: CurveInputs) -> Self:
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
        own = {name: getattr(self, name).index_select(-1, hands) for name in ("range", "matched", "base")}
        own |= {name: getattr(self, name).index_select(-1, hands) for name in ("place", "side", "segment")}
        return self._replace(**own, cards=self.cards.index_select(1, hands))


class CurveNet(torch.nn.Module):
    """What hands are worth in pots: curves over strength and potential, read at each hand's place.

    Outputs of the trunk are `[cells, sides, 2, 1 + segments]`, sides being cells of potential: for each cell and player
    a value per unit of mass that a hand can meet, and values per unit of blocked mass by segments of strength.
    """

    def __init__(self, config: ValueNetConfig, *, generator: torch.Generator) -> None:
        super().__init__()
        self.config = config
        self.trunk = Trunk(config, generator=generator)

    def curves(self, mass: torch.Tensor, extra: torch.Tensor) -> torch.Tensor:
        """Returns curves `[B, cells, sides, 2, 1 + segments]` for masses `[B, 3, cells, sides]` and ratios."""
        num_cells = mass.shape[2] * mass.shape[3]
        shown = mass if mass.shape[3] > 1 else mass[:, :2]
        strength = mass.sum(3)
        middle = 2.0 * (strength.cumsum(2) - 0.5 * strength) - 1.0
        inputs = torch.cat([torch.sqrt(num_cells * shown).flatten(1), middle.flatten(1), extra], 1)
        found: torch.Tensor = self.trunk(inputs).view(-1, *mass.shape[2:], 2, 1 + self.config.segments)
        return found

    def forward(self, states: CurveTensors, hands: torch.Tensor | None = None) -> torch.Tensor:
        """Returns values `[B, 2, n]` that sum to zero, or of some hands `[hands]` before they are made to.

        Args:
            states: what the network sees.
            hands: whose values are wanted; a part of them saves time in training.
        """
        read = states if hands is None else states.take_hands(hands)
        rows = self._read(self.curves(states.mass, states.extra), read)  # [B, n, 2, 1 + segments]
        value = read.matched * rows[..., 0].transpose(1, 2)
        if self.config.segments:
            more = (rows[..., 1:] * self._blocked(read)).sum(3)
            value = value + more.transpose(1, 2)
        value = read.base + states.share[:, None, None] * value
        return value if hands is not None else make_zero_sum(value, states.range, states.matched)

    def toy_values(self, mass: torch.Tensor, extra: torch.Tensor) -> torch.Tensor:
        """Returns `[B, 2, cells]` what cells are worth if hands block nothing.

        Args:
            mass: `[B, 3, cells]`.
            extra: `[B, F]` what is said of stacks and pot.
        """
        curve = self.curves(mass[..., None], extra)[:, :, 0, :, 0].transpose(1, 2)
        held = mass[:, :2]
        below = held.cumsum(2) - held
        ahead = below - (held.sum(2, keepdim=True) - below - held)
        value = 0.5 * ahead.flip(1) + curve
        left = (held * value).sum((1, 2), keepdim=True)
        return value - 0.5 * left

    def store(self, card: Mapping[str, Any] | None = None) -> StoredNet:
        """Returns the network as it is kept, with a card that says where it comes from."""
        return StoredNet(config=self.config, tensors=copy_weights(self), card=card or {})

    @classmethod
    def of(cls, stored: StoredNet) -> Self:
        """Returns a network that was kept."""
        net = cls(stored.config, generator=torch.Generator())
        load_weights(net, stored)
        return net

    def _read(self, curves: torch.Tensor, states: CurveTensors) -> torch.Tensor:
        """Returns `[B, n, 2, 1 + segments]` the curves at the places of hands."""
        num_states, cells, across = curves.shape[:3]
        weight = _weigh_cells(states.place, cells)
        if across > 1:
            weight = (weight[..., None] * _weigh_cells(states.side, across)[:, :, None]).flatten(2)
        found = torch.bmm(weight, curves.reshape(num_states, cells * across, -1))
        return found.view(num_states, -1, 2, 1 + self.config.segments)

    def _blocked(self, states: CurveTensors) -> torch.Tensor:
        """Returns `[B, n, 2, segments]` the opponent's mass that a hand blocks, less the mean over segments."""
        by_card = states.card_mass.flip(1).transpose(1, 2).flatten(2)  # [B, 52, 2 * segments], of the opponent
        num_states, num_hands = states.segment.shape
        wide = (num_states, num_hands, by_card.shape[2])
        blocked = by_card.new_zeros(wide)
        for place in (0, 1):
            blocked = blocked + by_card.gather(1, states.cards[:, :, place, None].long().expand(wide))
        blocked = blocked.view(num_states, num_hands, 2, self.config.segments)
        own = states.range.flip(1).transpose(1, 2)[..., None]  # is among the hands of both its cards
        at = torch.nn.functional.one_hot(states.segment.long(), self.config.segments)[:, :, None]
        whole = 0.5 * by_card.sum(1).view(num_states, 1, 2, self.config.segments)
        missed = (1.0 - states.matched.transpose(1, 2))[..., None]
        return blocked - at * own - whole * missed


def make_zero_sum(value: torch.Tensor, held: torch.Tensor, matched: torch.Tensor) -> torch.Tensor:
    """Returns values `[B, 2, n]` less what they sum to under both ranges, in proportion to the mass that hands meet.

    Args:
        value: `[B, 2, n]`.
        held: `[B, 2, n]` both ranges.
        matched: `[B, 2, n]` mass of the opponent that shares no card.
    """
    left = (held * value).sum((1, 2), keepdim=True)
    met = (held[:, :1] * matched[:, :1]).sum((1, 2), keepdim=True)
    return value - left * matched / (2.0 * met.clamp(min=1e-12))


def _weigh_cells(place: torch.Tensor, cells: int) -> torch.Tensor:
    """Returns `[B, n, cells]` how much each cell counts at places `[B, n]` between the centres of two of them.

    A product with these is many times faster than picking cells, above all on the way back.
    """
    return (1.0 - (place[..., None] - torch.arange(cells, device=place.device)).abs()).clamp(min=0.0)
