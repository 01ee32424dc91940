# SPDX-License-Identifier: Apache-2.0
"""A training of values of beliefs by cycles of self-play. Importing this module needs torch, the extra `[learn]`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.interruption import never
from equipoise.core.pool import Pool
from equipoise.learning.cycles import CycleRecord, CycleTrainer, bend_errors
from equipoise.learning.rebel.memory import ExampleMemory
from equipoise.learning.rebel.nets import bind_belief_net, make_config
from equipoise.learning.rebel.pooling import PooledPlay
from equipoise.learning.rebel.self_play import BeliefSearcher, Examples, SelfPlay
from equipoise.learning.rebel.settings import RebelSettings
from equipoise.learning.torch_extra import torch
from equipoise.learning.values.configuration import ValueNetConfig
from equipoise.learning.values.trunk import Trunk
from equipoise.search.belief_games import BeliefGame

__all__ = ["BeliefNet", "CycleRecord", "RebelTrainer"]


class BeliefNet(torch.nn.Module):
    """What private states are worth at a kind of public state, for both players' beliefs.

    Paper: Brown 2020, PhD thesis, section 5.3.5.
    Departs from the paper: one pass says both players' values, the player to move first; they are made to sum to zero.
    Checked by: tests/learning/rebel/test_nets.py.
    """

    def __init__(self, config: ValueNetConfig, *, generator: torch.Generator) -> None:
        """Draws the weights."""
        super().__init__()
        self.config = config
        self.trunk = Trunk(config, generator=generator)

    def forward(self, kind: torch.Tensor, belief: torch.Tensor) -> torch.Tensor:
        """Returns `[B, 2, width]` for kinds `[B]` and beliefs `[B, 2, width]`."""
        shown = torch.nn.functional.one_hot(kind, self.config.kinds).to(belief.dtype)
        shares = self.config.buckets * belief.flatten(start_dim=1)
        ranges = torch.sqrt(shares) if self.config.takes_roots else shares
        found = self.trunk(torch.cat([shown, ranges], dim=1)).view_as(belief)
        left = (belief * found).sum(dim=(1, 2), keepdim=True)
        out: torch.Tensor = found - 0.5 * left
        return out


class RebelTrainer(CycleTrainer):
    """A training of a network by self-play."""

    def __init__(self, game: BeliefGame, settings: RebelSettings, label: str) -> None:
        """Begins a training.

        Args:
            game: what is played.
            settings: how.
            label: the game, as `format_game` writes it.
        """
        self.game = game
        self.memory = ExampleMemory(settings.capacity, game.width)
        super().__init__(settings, make_config(game, settings, label), self.memory, word=19)
        self.settings: RebelSettings = settings
        self.self_play = SelfPlay(game, settings)
        self._live = torch.from_numpy(game.is_live.astype(np.float32))

    def _make_net(self) -> BeliefNet:
        return BeliefNet(self.config, generator=self.generator)

    def run(self, is_over: Callable[[], bool] = never, pool: Pool | None = None) -> Iterator[CycleRecord]:
        """Yields a record after each cycle of self-play and learning.

        Args:
            is_over: whether to stop early; asked before each cycle.
            pool: who plays; this process if None.
        """
        if pool is None:
            yield from super().run(is_over)
            return
        played = PooledPlay(pool, self.settings, self.examples, net=self.stored(), is_over=is_over)
        with contextlib.closing(played):
            while not self.is_done and not is_over():
                yield self.take_cycle(played)
                played.begin_cycle(self.stored())

    def take_cycle(self, played: PooledPlay) -> CycleRecord:
        """Takes the examples that others played, and trains the network."""
        began = time.process_time()
        for examples, seconds in played.take_cycle():
            self._remember(examples)
            self.cpu_seconds += seconds
        return self._learn(began)

    def _play(self, count: int) -> None:
        self.self_play.search_with(self.settings.recipe_at(self.examples), bind_belief_net(self.stored()))
        self._remember(self.self_play.generate(count, rng=self.rng))

    def _remember(self, examples: Examples) -> None:
        self._count(len(examples))
        self.memory.add(examples)

    def _find_loss(self) -> torch.Tensor:
        some = self.memory.sample(self.settings.batch, rng=self.rng)
        kind = torch.from_numpy(some.kind.astype(np.int64))
        found = self.net(kind, torch.from_numpy(some.belief))
        error = (found - torch.from_numpy(some.value)) * self._live[kind]
        return bend_errors(error, self.settings.loss_bend).mean()

    def test_searcher(self) -> BeliefSearcher:
        """Returns how the averaged weights play when they are tested."""
        net = bind_belief_net(self.stored())
        return BeliefSearcher(self.game, self.settings.test, lanes=self.settings.lanes, net=net)

    def _play_state(self) -> dict[str, npt.NDArray[Any]]:
        return self.self_play.state()

    def _restore_play(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.self_play.restore(arrays)
