# SPDX-License-Identifier: Apache-2.0
"""Networks of advantages and policies. Importing this module needs torch, the extra `[learn]`."""

from __future__ import annotations

import itertools
from typing import Final

from equipoise.core.memory import check_memory
from equipoise.learning.deep_cfr.encoding import NUM_RANKS, CardLayout
from equipoise.learning.deep_cfr.settings import DeepCFRSettings, Network
from equipoise.learning.torch_extra import torch

__all__ = ["BranchNet", "ResidualNet", "make_net"]

CARD_LAYERS: Final = 3
BET_LAYERS: Final = 2
TRUNK_LAYERS: Final = 3


class _Skipped(torch.nn.Module):
    """Fully connected layers, each added to what it is given where their widths agree."""

    def __init__(self, num_inputs: int, hidden: int, layers: int) -> None:
        super().__init__()
        sizes = [num_inputs, *[hidden] * layers]
        self.linear = torch.nn.ModuleList(torch.nn.Linear(before, after) for before, after in itertools.pairwise(sizes))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        for layer in self.linear:
            found = layer(hidden)
            hidden = torch.relu(found + hidden if found.shape == hidden.shape else found)
        return hidden


class _Head(torch.nn.Module):
    """Outputs for actions; centred ones are a level and differences whose mean is zero."""

    def __init__(self, hidden: int, num_actions: int, *, is_centred: bool) -> None:
        super().__init__()
        self.is_centred, self.num_actions = is_centred, num_actions
        self.last = torch.nn.Linear(hidden, num_actions + is_centred)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.last(hidden)
        if not self.is_centred:
            return found
        differences = found[:, 1:]
        return found[:, :1] + differences - differences.mean(dim=1, keepdim=True)

    def overwrite(self, weight: torch.Tensor, bias: torch.Tensor) -> None:
        """Puts a layer `[A, hidden]`, `[A]` in the place of the present one."""
        if self.is_centred:
            weight = torch.cat([weight.mean(dim=0, keepdim=True), weight])
            bias = torch.cat([bias.mean(dim=0, keepdim=True), bias])
        with torch.no_grad():
            self.last.weight.copy_(weight)
            self.last.bias.copy_(bias)


class BranchNet(torch.nn.Module):
    """Cards and bets in branches of their own, then together.

    Paper: Brown 2020, PhD thesis, section 4.1.2 and Figure 4.1 [B20].
    Departs from the paper: each group of cards has embeddings of its own (the paper does not say); normalised features
        have no learnt scale; games without cards have the bets' branch alone.
    Checked by: tests/learning/deep_cfr/test_nets.py.
    """

    def __init__(self, layout: CardLayout, num_actions: int, hidden: int, *, is_centred: bool = False) -> None:
        """Draws the weights."""
        super().__init__()
        self.layout = layout
        groups = len(layout.groups)
        self.rank = torch.nn.ModuleList(torch.nn.Embedding(NUM_RANKS + 1, hidden) for _ in range(groups))
        self.suit = torch.nn.ModuleList(torch.nn.Embedding(5, hidden) for _ in range(groups))
        self.card = torch.nn.ModuleList(torch.nn.Embedding(4 * NUM_RANKS + 1, hidden) for _ in range(groups))
        self.cards = _Skipped(groups * hidden, hidden, CARD_LAYERS) if groups else None
        self.bets = _Skipped(layout.num_numbers, hidden, BET_LAYERS)
        self.trunk = _Skipped(hidden * (2 if groups else 1), hidden, TRUNK_LAYERS)
        self.head = _Head(hidden, num_actions, is_centred=is_centred)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Returns `[B, A]` for `[B, F]`: first the cards, 0 where there is none yet, then the other numbers."""
        found: torch.Tensor = self.head(self.last_features(features))
        return found

    def last_features(self, features: torch.Tensor) -> torch.Tensor:
        """Returns `[B, hidden]` what the head is given."""
        joined = self.bets(features[:, self.layout.num_cards :])
        if self.cards is not None:
            joined = torch.cat([self.cards(self._embed(features)), joined], dim=1)
        hidden = self.trunk(joined)
        return torch.nn.functional.layer_norm(hidden, hidden.shape[1:])

    def _embed(self, features: torch.Tensor) -> torch.Tensor:
        """Returns `[B, groups * hidden]` sums of what the cards of each group are."""
        parts, begin = [], 0
        for group, size in enumerate(self.layout.groups):
            card = features[:, begin : begin + size].long()
            is_there = (card > 0)[..., None]
            place = (card - 1).clamp(min=0)
            rank = torch.where(card > 0, place // 4 + 1, torch.zeros_like(card))
            suit = torch.where(card > 0, place % 4 + 1, torch.zeros_like(card))
            one = self.rank[group](rank) + self.suit[group](suit) + self.card[group](card)
            parts.append((one * is_there).sum(dim=1))
            begin += size
        return torch.cat(parts, dim=1)


class ResidualNet(torch.nn.Module):
    """Normalised layers, each added to what it is given."""

    def __init__(
        self, num_features: int, num_actions: int, hidden: int, layers: int, *, is_centred: bool = False
    ) -> None:
        """Draws the weights."""
        super().__init__()
        self.first = torch.nn.Linear(num_features, hidden)
        self.norm = torch.nn.ModuleList(torch.nn.LayerNorm(hidden) for _ in range(layers))
        self.linear = torch.nn.ModuleList(torch.nn.Linear(hidden, hidden) for _ in range(layers))
        self.head = _Head(hidden, num_actions, is_centred=is_centred)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Returns `[B, A]` for `[B, F]`."""
        found: torch.Tensor = self.head(self.last_features(features))
        return found

    def last_features(self, features: torch.Tensor) -> torch.Tensor:
        """Returns `[B, hidden]` what the head is given."""
        hidden = self.first(features)
        for norm, linear in zip(self.norm, self.linear, strict=True):
            hidden = hidden + torch.relu(linear(norm(hidden)))
        return torch.nn.functional.layer_norm(hidden, hidden.shape[1:])


def make_net(
    settings: DeepCFRSettings, layout: CardLayout, num_actions: int, *, is_policy: bool = False, seed: int
) -> BranchNet | ResidualNet:
    """Returns a new network of advantages, or of logits, whose weights follow from a seed.

    Raises `GameTooLargeError` if there is no room for them.
    """
    hidden, columns = settings.hidden, layout.num_columns
    check_memory(
        4 * hidden * (hidden * settings.layers + columns), f"a network of {settings.layers:,} x {hidden:,} units"
    )
    is_centred = settings.is_centred and not is_policy
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if settings.network is Network.BRANCHES:
            return BranchNet(layout, num_actions, hidden, is_centred=is_centred)
        return ResidualNet(columns, num_actions, hidden, settings.layers, is_centred=is_centred)
