# SPDX-License-Identifier: Apache-2.0
"""A training of values and policies by sound self-play. Importing this module needs torch, the extra `[learn]`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.learning.columns import ColumnMemory
from equipoise.learning.cycles import CycleTrainer, bend_errors
from equipoise.learning.pog.games import SelfPlayGame
from equipoise.learning.pog.self_play import SoundSelfPlay, example_shapes
from equipoise.learning.pog.settings import PogSettings
from equipoise.learning.torch_extra import torch
from equipoise.learning.values.configuration import ValueNetConfig
from equipoise.learning.values.trunk import Trunk
from equipoise.search.net_leaves import NetLeaves

__all__ = ["PogTrainer", "PublicNet"]

BEND = 1.0  # of Huber's loss


class PublicNet(torch.nn.Module):
    """What private states are worth at public states, and what the actor's private states should do.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178, section 3.1 and Figure 4.
    Departs from the paper: both players' values are made to sum to zero.
    Checked by: tests/learning/pog/test_training.py.
    """

    def __init__(self, config: ValueNetConfig, *, generator: torch.Generator) -> None:
        """Draws the weights."""
        super().__init__()
        self.config = config
        self.trunk = Trunk(config, generator=generator)

    def forward(
        self, feature: torch.Tensor, belief: torch.Tensor, is_there: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns `[B, width]` values and `[B, C]` logits of both policies, for features and ranges `[B, width]`."""
        width = sum(self.config.places)
        ranges = torch.sqrt(belief) if self.config.takes_roots else belief
        found = self.trunk(torch.cat([feature, ranges], dim=1))
        left = (belief * found[:, :width]).sum(dim=1, keepdim=True)
        return (found[:, :width] - 0.5 * left) * is_there, found[:, width:]


class PogTrainer(CycleTrainer):
    """A training of a network by sound self-play."""

    def __init__(self, game: SelfPlayGame, settings: PogSettings) -> None:
        """Begins a training."""
        self.game = game
        config = game.config(hidden=settings.hidden, layers=settings.layers, takes_roots=settings.takes_roots)
        self.memory = ColumnMemory(settings.capacity, example_shapes(game.features.sizes))
        super().__init__(settings, config, self.memory, word=21)
        self.settings: PogSettings = settings
        self.self_play = SoundSelfPlay(game, settings)

    def _make_net(self) -> PublicNet:
        return PublicNet(self.config, generator=self.generator)

    def leaves(self) -> NetLeaves:
        """Returns the weights that play, as searches ask them."""
        leaves = self.game.leaves(self.stored())
        if self.self_play.leaves is not None:
            leaves.share_book(self.self_play.leaves)
        return leaves

    def _play(self, count: int) -> None:
        self.self_play.leaves = self.leaves()
        examples = self.self_play.generate(count, rng=self.rng)
        self._count(len(examples["value"]))
        self.memory.append(examples)

    def _find_loss(self) -> torch.Tensor:
        settings = self.settings
        some = self.memory.draw(settings.batch, rng=self.rng)
        is_there = torch.from_numpy(some["is_there"])
        value, logits = self.net(torch.from_numpy(some["feature"]), torch.from_numpy(some["belief"]), is_there)
        is_known = torch.from_numpy(some["is_known"]).to(value.dtype)
        error = (value - torch.from_numpy(some["value"])) * is_known
        loss = settings.value_weight * bend_errors(error, BEND).sum() / is_known.sum()
        if settings.policy_weight:
            loss = loss + settings.policy_weight * self._policy_loss(logits, some)
        return loss

    def _policy_loss(self, logits: torch.Tensor, some: dict[str, npt.NDArray[Any]]) -> torch.Tensor:
        """Returns the cross-entropy of policies: summed over private states, a mean over examples."""
        config, total = self.config, torch.zeros(())
        firsts = (0, config.places[0] * config.actions[0])
        for player, first in enumerate(firsts):
            rows = np.flatnonzero(some["actor"] == player)
            if not rows.size:
                continue
            shape = rows.size, config.places[player], config.actions[player]
            size = shape[1] * shape[2]
            own = logits[torch.from_numpy(rows), first : first + size].view(shape)
            wanted = torch.from_numpy(some["policy"][rows, :size].reshape(shape))
            count = torch.from_numpy(some["num_columns"][rows, :size].reshape(shape).astype(np.float32))
            # actions that share a logit share its weight: a sum over actions counts it as often
            shifted = torch.where(count > 0, own + torch.log(count.clamp(min=1.0)), torch.full_like(own, -1e9))
            is_row = count.sum(dim=2) > 0
            entropy = torch.logsumexp(shifted, dim=2) - (wanted * own).sum(dim=2)
            total = total + torch.where(is_row, entropy, torch.zeros_like(entropy)).sum()
        return total / self.settings.batch
