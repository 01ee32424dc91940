# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning by self-play. Importing this module needs torch, the extra `[learn]`."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.kernels.calls import check_integer
from equipoise.learning.features import lay_out_players
from equipoise.learning.learner import FloatArray, SelfPlayLearner, play_greedily
from equipoise.learning.networks import Adam, NetworkStack, check_outputs, one_thread
from equipoise.learning.replay import ReplayBuffers
from equipoise.learning.torch_extra import torch
from equipoise.trees.history import HistoryTree

__all__ = ["DQNConfig", "DQNLearner"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DQNConfig:
    """How one network of action values a seat is trained.

    >>> DQNConfig(hidden=(32,)).explore(0)
    1.0
    """

    hidden: tuple[int, ...] = (64,)  # units of each hidden layer
    rate: float = 1e-3  # learning rate
    exploration: float = 1.0  # probability of a uniform move in the first game, falling linearly ...
    last_exploration: float = 0.1  # ... to this (or staying, if it is lower already) ...
    exploration_games: int = 100_000  # ... within so many games
    replay_size: int = 10_000  # decisions that each seat remembers
    batch_size: int = 128  # decisions in an update
    games_per_round: int = 64  # played with the same values, before every round of updates
    updates_per_round: int = 16
    target_rounds: int = 16  # rounds after which targets are computed by the present values

    def __post_init__(self) -> None:
        for name in (
            "exploration_games",
            "replay_size",
            "batch_size",
            "games_per_round",
            "updates_per_round",
            "target_rounds",
        ):
            check_integer(name, getattr(self, name), 1)
        for size in self.hidden:
            check_integer("size of a hidden layer", size, 1)
        if not 0 <= self.rate < math.inf:
            raise ConfigError(f"rate must be finite and at least 0, got {self.rate}")
        for name in ("exploration", "last_exploration"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must be between 0 and 1, got {getattr(self, name)}")

    @property
    def shape(self) -> tuple[object, ...]:
        """Returns what settings that learn side by side must share."""
        return (self.hidden, self.batch_size, self.games_per_round, self.updates_per_round, self.target_rounds)

    def explore(self, num_games: int) -> float:
        """Returns the probability of a uniform move after so many games.

        >>> DQNConfig(exploration=0.5, last_exploration=0.1, exploration_games=1000).explore(1000)
        0.1
        """
        last = min(self.last_exploration, self.exploration)
        left = max(0.0, 1.0 - num_games / self.exploration_games)
        return last + (self.exploration - last) * left


class DQNLearner(SelfPlayLearner):
    """Deep Q-learning, a network for each seat; several settings of one shape learn side by side.

    Paper: Mnih et al. 2015, "Human-level control through deep reinforcement learning", Nature 518, as in Schmid et al.
        2021, "Player of Games", arXiv:2112.03178, appendix C.4.2 and Table 6 [SG21].
    Symbols: Q -> network; Q of the target -> target; epsilon -> exploration.
    Departs from the paper: [SG21] gives learning rates, exploration, buffers and layers alone. Here Adam on squared
        errors, no discount; games of a round are played by the same values, and rounds of updates follow. What other
        seats do between two decisions is part of the environment.
    Checked by: tests/learning/test_dqn.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> learner = DQNLearner(tree, DQNConfig(hidden=(8,)), rng=np.random.default_rng(0))
    >>> learner.train(200)
    >>> learner.evaluate().nash_conv > 0
    True
    """

    def __init__(self, tree: HistoryTree, *configs: DQNConfig, rng: np.random.Generator) -> None:
        super().__init__(tree, rng=rng)
        self.configs = configs or (DQNConfig(),)
        shapes = {config.shape for config in self.configs}
        if len(shapes) > 1:
            raise ConfigError(
                "settings that learn side by side must have the same hidden layers, batch_size, games_per_round, "
                f"updates_per_round and target_rounds, got {shapes}"
            )
        self.rng = rng
        self.layout = lay_out_players(tree)
        self.features = torch.tensor(self.layout.features, dtype=torch.float32)
        self.is_legal = torch.tensor(self.layout.is_legal)
        self.leading = (len(self.configs), tree.num_players)
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        sizes = (self.features.shape[-1], *self.configs[0].hidden, self.is_legal.shape[-1])
        self.network = NetworkStack(self.leading, sizes, generator=generator)
        self.optimizer = Adam(self.network, [config.rate for config in self.configs])
        self.buffers = ReplayBuffers([config.replay_size for config in self.configs], tree.num_players)
        self.num_rounds = 0
        self._values = self._tabulate()  # [M, P, N, A] of the present network
        self._target = self._largest()  # [M, P, N] what a target says that an information set is worth

    @property
    def num_members(self) -> int:
        """Returns the number of settings."""
        return len(self.configs)

    @property
    def games_per_step(self) -> int:
        """Returns the games of a round."""
        return self.configs[0].games_per_round

    def strategy(self, member: int = 0) -> FloatArray:
        """Returns `[Q]` the actions of the largest value of one setting."""
        out = np.zeros(int(self.tree.sequence_start[-1]))
        out[self.layout.sequence] = self._values[member].reshape(-1)[self.layout.cell]
        return play_greedily(self.tree, out)

    def _tabulate(self) -> FloatArray:
        """Returns `[M, P, N, A]` the values of all actions, minus infinity where illegal."""
        with torch.no_grad():
            values = self.network(self.features)
        check_outputs(values)
        out: FloatArray = values.masked_fill(~self.is_legal, -math.inf).double().numpy()
        return out

    def _largest(self) -> torch.Tensor:
        return torch.from_numpy(self._values.max(axis=-1).astype(np.float32))

    @one_thread()
    def _train(self, num_games: int) -> int:
        config = self.configs[0]
        self._play_round(config.games_per_round)
        for _ in range(config.updates_per_round):
            self._update(config.batch_size)
        self.num_rounds += 1
        self._values = self._tabulate()
        if self.num_rounds % config.target_rounds == 0:
            self._target = self._largest()
        return config.games_per_round

    def _play_round(self, num_games: int) -> None:
        """Plays games of every setting, with its exploration, and remembers the decisions."""
        tree = self.tree
        owner, player = tree.sequence_infoset(), tree.infoset_player()
        uniform = np.where(owner >= 0, 1.0 / tree.num_actions[owner], 1.0)
        for member, config in enumerate(self.configs):
            share = config.explore(self.num_games)
            strategy = (1.0 - share) * self.strategy(member) + share * uniform
            games = self.kernel.play(strategy, self.random_words, num_games)
            infoset = owner[games.sequence]
            following = np.where(games.next_infoset >= 0, self.layout.infoset_row[games.next_infoset], -1)
            for seat in range(tree.num_players):
                own = player[infoset] == seat
                self.buffers.add(
                    member,
                    seat,
                    row=self.layout.infoset_row[infoset[own]],
                    action=games.sequence[own] - tree.first_sequence[infoset[own]],
                    following=following[own],
                    returns=games.returns[own],
                )

    def _update(self, batch_size: int) -> None:
        """Moves every network towards the targets of decisions drawn from its memory."""
        batch = self.buffers.sample(batch_size, rng=self.rng)
        seats = torch.arange(self.leading[1])[None, :, None]
        values = self.network(self.features[seats, batch.row])
        chosen = values.gather(-1, batch.action[..., None])[..., 0]
        members = torch.arange(self.leading[0])[:, None, None]
        later = self._target[members, seats, batch.following.clamp(min=0)]
        target = torch.where(batch.following >= 0, later, batch.returns)
        self.optimizer.step(((chosen - target) ** 2).mean(dim=-1).sum())
