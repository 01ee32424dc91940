# SPDX-License-Identifier: Apache-2.0
"""A training of values of beliefs by cycles of self-play. Importing this module needs torch, the extra `[learn]`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.pool import Pool
from equipoise.learning.cycles import CycleRecord, CycleTrainer, bend_errors
from equipoise.learning.rebel.memory import ExampleMemory
from equipoise.learning.rebel.nets import bind_belief_net, make_config
from equipoise.learning.rebel.policies import LEVELS, PolicyMemory, bind_guide, make_policy_config
from equipoise.learning.rebel.pooling import PooledPlay
from equipoise.learning.rebel.self_play import BeliefSearcher, Examples, SelfPlay
from equipoise.learning.rebel.settings import RebelSettings
from equipoise.learning.torch_extra import torch
from equipoise.learning.values.configuration import ValueNetConfig
from equipoise.learning.values.trunk import Trunk, copy_weights
from equipoise.learning.values.weights import StoredNet
from equipoise.search.belief_games import BeliefGame

__all__ = ["BeliefNet", "CycleRecord", "RebelTrainer"]

POLICY_PREFIX: Final = "policy."  # of weights
KEPT: Final = "policies."  # of arrays of a state


class BeliefNet(torch.nn.Module):
    """What private states are worth at a kind of public state, for both players' beliefs.

    Paper: Brown 2020, PhD thesis, section 5.3.5.
    Departs from the paper: one pass says both players' values, the player to move first; they are made to sum to zero.
    Checked by: tests/learning/rebel/test_nets.py.
    """

    def __init__(
        self, config: ValueNetConfig, *, generator: torch.Generator, policy_config: ValueNetConfig | None = None
    ) -> None:
        """Draws the weights; with those of a network that proposes strategies, if one is asked for."""
        super().__init__()
        self.config, self.policy_config = config, policy_config
        self.trunk = Trunk(config, generator=generator)
        if policy_config is not None:
            self.policy = Trunk(policy_config, generator=generator)

    def _run(self, trunk: Trunk, config: ValueNetConfig, kind: torch.Tensor, belief: torch.Tensor) -> torch.Tensor:
        shown = torch.nn.functional.one_hot(kind, config.kinds).to(belief.dtype)
        shares = config.buckets * belief.flatten(start_dim=1)
        ranges = torch.sqrt(shares) if config.takes_roots else shares
        found: torch.Tensor = trunk(torch.cat([shown, ranges], dim=1))
        return found

    def _propose(self, kind: torch.Tensor, belief: torch.Tensor) -> torch.Tensor:
        """Returns `[B, A, width]` shares of actions for kinds `[B]` of all states and beliefs `[B, 2, width]`."""
        assert self.policy_config is not None, "the network was asked for"
        found = self._run(self.policy, self.policy_config, kind, belief)
        return found.view(len(belief), self.policy_config.actions[0], -1)

    def forward(self, kind: torch.Tensor, belief: torch.Tensor, *, proposes: bool = False) -> torch.Tensor:
        """Returns `[B, 2, width]` values for kinds `[B]` and beliefs `[B, 2, width]`, or what is proposed."""
        if proposes:
            return self._propose(kind, belief)
        found = self._run(self.trunk, self.config, kind, belief).view_as(belief)
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
        self.policies = PolicyMemory(settings.capacity, game) if settings.warm_start else None
        self.policy_config = make_policy_config(game, settings, label) if settings.warm_start else None
        super().__init__(settings, make_config(game, settings, label), self.memory, word=19)
        self.settings: RebelSettings = settings
        self.self_play = SelfPlay(game, settings)
        self._live = torch.from_numpy(game.is_live.astype(np.float32))

    def _make_net(self) -> BeliefNet:
        return BeliefNet(self.config, generator=self.generator, policy_config=self.policy_config)

    def stored(self, card: Mapping[str, Any] | None = None) -> StoredNet:
        """Returns the averaged weights of values, which play."""
        tensors = copy_weights(self.averaged)
        values = {name: part for name, part in tensors.items() if not name.startswith(POLICY_PREFIX)}
        return StoredNet(config=self.config, tensors=values, card=card or {})

    def stored_policy(self, card: Mapping[str, Any] | None = None) -> StoredNet | None:
        """Returns the averaged weights of what proposes strategies, None if nothing does."""
        if self.policy_config is None:
            return None
        tensors = copy_weights(self.averaged)
        policy = {
            "trunk." + name.removeprefix(POLICY_PREFIX): part
            for name, part in tensors.items()
            if name.startswith(POLICY_PREFIX)
        }
        return StoredNet(config=self.policy_config, tensors=policy, card=card or {})

    def _trusted_policy(self) -> StoredNet | None:
        """Returns what searches of self-play begin with: nothing as long as early networks are not forgotten."""
        is_early = self.examples < self.settings.dropped_at * self.settings.examples
        return None if is_early else self.stored_policy()

    def _weights_to_play(self) -> tuple[StoredNet, StoredNet | None]:
        return self.stored(), self._trusted_policy()

    def _begin_pooled(self, pool: Pool, is_over: Callable[[], bool]) -> PooledPlay:
        net, policy = self._weights_to_play()
        return PooledPlay(pool, self.settings, self.examples, net=net, policy=policy, is_over=is_over)

    def _play(self, count: int) -> None:
        guide = bind_guide(self.game, self._trusted_policy(), self.settings)
        self.self_play.search_with(self.settings.recipe_at(self.examples), bind_belief_net(self.stored()), guide)
        self._remember(self.self_play.generate(count, rng=self.rng))

    def _remember(self, examples: Examples) -> None:
        self._count(len(examples))
        if self.policies is not None and examples.policies is not None:
            if self.memory.count == 0:
                self.policies.clear()
            self.policies.add(examples.policies)
        self.memory.add(examples)

    def _find_loss(self) -> torch.Tensor:
        some = self.memory.sample(self.settings.batch, rng=self.rng)
        kind = torch.from_numpy(some.kind.astype(np.int64))
        found = self.net(kind, torch.from_numpy(some.belief))
        error = (found - torch.from_numpy(some.value)) * self._live[kind]
        loss = bend_errors(error, self.settings.loss_bend).mean()
        return loss if self.policies is None else loss + self._find_policy_loss(self.policies)

    def _find_policy_loss(self, memory: PolicyMemory) -> torch.Tensor:
        """Returns the mean square of what is wrong with shares of actions."""
        some = memory.draw(self.settings.batch, rng=self.rng)
        shares = torch.from_numpy(some["policy"].astype(np.float32)) / LEVELS
        kind, belief = torch.from_numpy(some["kind"].astype(np.int64)), torch.from_numpy(some["belief"])
        found = self.net(kind, belief, proposes=True)
        loss: torch.Tensor = ((found - shares) ** 2).mean()
        return loss

    def test_searcher(self) -> BeliefSearcher:
        """Returns how the averaged weights play when they are tested."""
        net, guide = bind_belief_net(self.stored()), bind_guide(self.game, self.stored_policy(), self.settings)
        return BeliefSearcher(self.game, self.settings.test, net=net, guide=guide)

    def _play_state(self) -> dict[str, npt.NDArray[Any]]:
        kept = {} if self.policies is None else self.policies.state()
        return self.self_play.state() | {KEPT + name: part for name, part in kept.items()}

    def _restore_play(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.self_play.restore(arrays)
        if self.policies is not None:
            kept = {name.removeprefix(KEPT): part for name, part in arrays.items() if name.startswith(KEPT)}
            self.policies.restore(kept)
