# SPDX-License-Identifier: Apache-2.0
"""Gates above the roots of subgames in torch: the same arithmetic as `native/root_gate.hpp`, in float64."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.kernels.gates import GateKind, RootGate
from equipoise.kernels.rules import KernelRule
from equipoise.learning.torch_extra import torch

__all__ = ["DeviceGates"]


class DeviceGates:
    """Gates of one kind, one for each of B subgames, with what they remember; `store` hands it back."""

    def __init__(self, gates: Sequence[RootGate], num_hands: Sequence[int], width: int, device: torch.device) -> None:
        """Loads them.

        Args:
            gates: by subgame.
            num_hands: of the player, by subgame; what is behind them is padding and never enters.
            width: H, the hands of each subgame with padding.
            device: of the tensors.
        """
        first = gates[0]
        if any((gate.kind, gate.player, gate.share) != (first.kind, first.player, first.share) for gate in gates):
            raise ConfigError("gates of a batch must be of one kind, for one player and with one share")
        self.gates, self.kind, self.player, self.share = gates, first.kind, first.player, first.share

        def load(name: str) -> torch.Tensor:
            out = np.zeros((len(gates), width))
            for row, gate in zip(out, gates, strict=True):
                given = getattr(gate, name)[:width]
                row[: given.size] = given
            return torch.as_tensor(out, device=device)

        self.mass, self.alternative, self.deviation, self.prior, self.reach = map(
            load, ("mass", "alternative", "deviation", "prior", "reach")
        )
        self._is_held = torch.arange(width, device=device) < torch.as_tensor(num_hands, device=device)[:, None]
        memory = np.zeros((2, len(gates), width))
        for index, gate in enumerate(gates):
            size = min(gate.mass.size, width)
            memory[:, index, :size] = gate.regret[:, :size]
        self._first, self._second = torch.as_tensor(memory, device=device)  # [B, H] each

    def store(self) -> None:
        """Writes into the gates what they remember."""
        for index, gate in enumerate(self.gates):
            size = min(gate.mass.size, self.mass.shape[1])
            gate.regret[0, :size] = self._first[index, :size].cpu().numpy()
            gate.regret[1, :size] = self._second[index, :size].cpu().numpy()
            gate.reach[:size] = self.reach[index, :size].cpu().numpy()

    def take(self, value: torch.Tensor, rule: KernelRule, discount: Sequence[float], t: int) -> None:
        """Takes what entering was worth, `[B, H]`, and sets what enters next."""
        if self.kind is GateKind.RESOLVING:
            enters = self._resolve(value, rule, discount)
        elif self.kind is GateKind.MAXMARGIN:
            enters = self._choose(value, rule, discount)
        else:
            enters = self._draw(value, t)
        self.reach = torch.where(self._is_held, self.share * enters + (1.0 - self.share) * self.prior, 0.0)

    def _resolve(self, value: torch.Tensor, rule: KernelRule, discount: Sequence[float]) -> torch.Tensor:
        entering = _match(self._first, self._second)
        expected = entering * value + (1.0 - entering) * self.alternative
        self._first = _add_regret(self._first, value - expected, rule, discount)
        self._second = _add_regret(self._second, self.alternative - expected, rule, discount)
        return _match(self._first, self._second)

    def _choose(self, value: torch.Tensor, rule: KernelRule, discount: Sequence[float]) -> torch.Tensor:
        possible = self.mass > 0
        gain = torch.where(possible, (value - self.alternative) / self.mass, 0.0)
        expected = (self._share_out(possible) * gain).sum(1, keepdim=True)
        updated = _add_regret(self._first, gain - expected, rule, discount)
        self._first = torch.where(possible, updated, self._first)
        return torch.where(possible, self._share_out(possible) / self.mass, 0.0)

    def _share_out(self, possible: torch.Tensor) -> torch.Tensor:
        """Returns `[B, H]` how likely each possible hand is chosen."""
        positive = torch.where(possible, self._first.clamp(min=0.0), 0.0)
        total = positive.sum(1, keepdim=True)
        return torch.where(total > 0, positive / total, possible.double() / possible.sum(1, keepdim=True))

    def _draw(self, value: torch.Tensor, t: int) -> torch.Tensor:
        mean, seen = self.alternative / self.mass, value / self.mass
        possible, deviation = self.mass > 0, self.deviation
        if self.kind is GateKind.HEDGE:
            delta = seen - self._first
            first = self._first + delta / t
            self._second = torch.where(possible, self._second + delta * (seen - first), self._second)
            self._first = seen = torch.where(possible, first, self._first)
            softness = 8.0 / (math.pi * math.log(2.0) * t / 9.0) * self._second / t
            deviation = torch.sqrt(deviation * deviation + softness)
        sure = 0.5 + 0.5 * torch.sign(seen - mean)  # without any deviation half of a tie enters
        likely = 0.5 * torch.special.erfc((mean - seen) / deviation * math.sqrt(0.5))
        return torch.where(possible, torch.where(deviation > 0, likely, sure), 0.5)


def _match(enter: torch.Tensor, leave: torch.Tensor) -> torch.Tensor:
    gain = enter.clamp(min=0.0)
    total = gain + leave.clamp(min=0.0)
    return torch.where(total > 0, gain / total, 0.5)


def _add_regret(
    stored: torch.Tensor, instant: torch.Tensor, rule: KernelRule, discount: Sequence[float]
) -> torch.Tensor:
    updated = torch.where(stored > 0, stored * discount[0], stored * discount[1]) + instant
    return updated.clamp(min=0.0) if rule.floors_regrets else updated
