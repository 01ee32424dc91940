# SPDX-License-Identifier: Apache-2.0
"""Advantage actor-critic by self-play. Importing this module needs torch, the extra `[learn]`."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.kernels.calls import check_integer
from equipoise.learning.features import lay_out_players
from equipoise.learning.learner import FloatArray, SelfPlayLearner
from equipoise.learning.networks import Adam, NetworkStack, check_outputs, one_thread
from equipoise.learning.torch_extra import torch
from equipoise.trees.history import HistoryTree

__all__ = ["A2CConfig", "A2CLearner"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class A2CConfig:
    """How one actor and one critic a seat are trained.

    >>> A2CConfig(hidden=(32,)).games_per_update
    128
    """

    hidden: tuple[int, ...] = (64,)  # units of each hidden layer
    actor_rate: float = 1e-3  # learning rate
    critic_rate: float = 1e-2
    critic_updates: int = 4  # before every update of the actor
    entropy_cost: float = 0.01  # what a nat of the policy's entropy is worth, at first
    halving: int = 0  # critic updates in which that and the actor's rate are halved, again and again; 0: never
    games_per_update: int = 128  # fresh ones for every update of the critic

    def __post_init__(self) -> None:
        for name in ("critic_updates", "games_per_update"):
            check_integer(name, getattr(self, name), 1)
        check_integer("halving", self.halving, 0)
        for size in self.hidden:
            check_integer("size of a hidden layer", size, 1)
        for name in ("actor_rate", "critic_rate", "entropy_cost"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigError(f"{name} must be finite and at least 0, got {getattr(self, name)}")

    def fade(self, num_updates: int) -> float:
        """Returns what is left of the actor's rate and of the cost of entropy after so many updates of the critic.

        >>> A2CConfig(halving=500).fade(1000)
        0.25
        """
        return 0.5 ** (num_updates / self.halving) if self.halving else 1.0


class A2CLearner(SelfPlayLearner):
    """Advantage actor-critic, an actor and a critic for each seat; several settings of one shape learn side by side.

    Paper: Mnih et al. 2016, "Asynchronous Methods for Deep Reinforcement Learning", arXiv:1602.01783, in its
        synchronous form, as in Schmid et al. 2021, "Player of Games", arXiv:2112.03178, appendix C.4.2 and Table 6
        [SG21].
    Symbols: pi -> actor; V -> critic; beta -> entropy_cost.
    Departs from the paper: [SG21] gives learning rates, layers and critic updates alone. Here returns of whole games
        (no bootstrapping, no discount), actor and critic with layers of their own, Adam, batch and a cost of entropy
        as in `A2CConfig`, where that cost and the actor's rate may fall. A batch's gradient is computed from its sums
        over information sets and actions, which is the same.
    Checked by: tests/learning/test_a2c.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> learner = A2CLearner(tree, A2CConfig(hidden=(8,)), rng=np.random.default_rng(0))
    >>> learner.train(1000)
    >>> learner.evaluate().nash_conv > 0
    True
    """

    def __init__(self, tree: HistoryTree, *configs: A2CConfig, rng: np.random.Generator) -> None:
        super().__init__(tree, rng=rng)
        self.configs = configs or (A2CConfig(),)
        shapes = {(config.hidden, config.games_per_update) for config in self.configs}
        if len(shapes) > 1:
            raise ConfigError(
                f"settings that learn side by side must have the same hidden layers and games_per_update, got {shapes}"
            )
        self.layout = lay_out_players(tree)
        self.features = torch.tensor(self.layout.features, dtype=torch.float32)
        self.is_legal = torch.tensor(self.layout.is_legal)
        leading = (len(self.configs), tree.num_players)
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        num_features, num_actions = self.features.shape[-1], self.is_legal.shape[-1]
        hidden = self.configs[0].hidden
        self.actor = NetworkStack(leading, (num_features, *hidden, num_actions), generator=generator)
        self.critic = NetworkStack(leading, (num_features, *hidden, 1), generator=generator)
        self.actor_optimizer = Adam(self.actor, [config.actor_rate for config in self.configs])
        self.critic_optimizer = Adam(self.critic, [config.critic_rate for config in self.configs])
        self.num_updates = 0  # of the critics
        self._strategies = self._play()

    @property
    def num_members(self) -> int:
        """Returns the number of settings."""
        return len(self.configs)

    @property
    def games_per_step(self) -> int:
        """Returns the games in an update."""
        return self.configs[0].games_per_update

    def strategy(self, member: int = 0) -> FloatArray:
        """Returns `[Q]` the policy of one setting."""
        out: FloatArray = self._strategies[member].copy()
        return out

    def _log_policy(self) -> torch.Tensor:
        """Returns `[M, P, N, A]` the logarithm of the actors' probabilities, minus infinity at illegal actions."""
        logits = self.actor(self.features).masked_fill(~self.is_legal, -math.inf)
        return torch.log_softmax(logits, dim=-1)

    def _play(self) -> FloatArray:
        """Returns `[M, Q]` the actors' policies."""
        with torch.no_grad():
            outputs = self.actor(self.features)
            check_outputs(outputs)
            logits = outputs.double().masked_fill(~self.is_legal, -math.inf)  # in double, so that rows sum to 1 closely
            policy = torch.softmax(logits, dim=-1).numpy().reshape(self.num_members, -1)
        out = np.ones((self.num_members, int(self.tree.sequence_start[-1])))
        out[:, self.layout.sequence] = policy[:, self.layout.cell]
        return out

    @one_thread()
    def _train(self, num_games: int) -> int:
        visits, return_sum = self._sum_games(self.games_per_step)
        self.num_updates += 1
        value = self._update_critic(visits, return_sum)
        takes_part = torch.tensor([self.num_updates % config.critic_updates == 0 for config in self.configs])
        if takes_part.any():
            self._update_actor(visits, return_sum, value, takes_part)
            self._strategies = self._play()
        return self.games_per_step

    def _sum_games(self, num_games: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns `[M, P, N, A]` how often each action was taken in games of each setting, and what it returned."""
        sums = np.zeros((2, self.num_members, self.is_legal.numel()), np.float32)
        for member, strategy in enumerate(self._strategies):
            games = self.kernel.play(strategy, self.random_words, num_games)
            sums[0, member, self.layout.cell] = np.bincount(games.sequence, minlength=strategy.size)[
                self.layout.sequence
            ]
            sums[1, member, self.layout.cell] = np.bincount(
                games.sequence, weights=games.returns, minlength=strategy.size
            )[self.layout.sequence]
        both = torch.from_numpy(sums).reshape(2, self.num_members, *self.is_legal.shape)
        return both[0], both[1]

    def _update_critic(self, visits: torch.Tensor, return_sum: torch.Tensor) -> torch.Tensor:
        """Moves the critics towards the mean returns; returns `[M, P, N]` their values before."""
        value = self.critic(self.features)[..., 0]
        count = visits.sum(dim=-1)
        # the mean square of (value - return), without what does not depend on the value
        error = (count * value * value - 2.0 * value * return_sum.sum(dim=-1)).sum(dim=-1) / count.sum(dim=-1)
        self.critic_optimizer.step(error.sum())
        return value.detach()

    def _update_actor(
        self, visits: torch.Tensor, return_sum: torch.Tensor, value: torch.Tensor, takes_part: torch.Tensor
    ) -> None:
        log_policy = self._log_policy().masked_fill(~self.is_legal, 0.0)
        advantage = return_sum - visits * value[..., None]
        count = visits.sum(dim=-1)
        gain = (advantage * log_policy).sum(dim=(-1, -2))
        fade = torch.tensor([config.fade(self.num_updates) for config in self.configs])
        cost = torch.tensor([config.entropy_cost for config in self.configs]) * fade
        entropy = -(count[..., None] * self.is_legal * log_policy.exp() * log_policy).sum(dim=(-1, -2))
        loss = -(gain + cost[:, None] * entropy) / count.sum(dim=-1)
        self.actor_optimizer.step(loss.sum(), takes_part * fade)
