# SPDX-License-Identifier: Apache-2.0
"""Neural fictitious self-play: deep Q-learning against an average that it is itself imitated into. Needs torch."""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import AbandonedError, ConfigError
from equipoise.core.interruption import IsInterrupted, never
from equipoise.learning.deep_cfr.memory import make_memory
from equipoise.learning.deep_cfr.settings import DeepCFRSettings, Memory
from equipoise.learning.deep_cfr.training import IteratedTraining
from equipoise.learning.dqn import DQNConfig, DQNLearner
from equipoise.learning.learner import FloatArray
from equipoise.learning.networks import Adam, NetworkStack, check_outputs, one_thread
from equipoise.learning.torch_extra import torch
from equipoise.solvers.best_response import Evaluation
from equipoise.trees.history import HistoryTree

__all__ = ["NFSPLearner", "NFSPTraining"]

STATE_VERSION: Final = 1
LAST_EXPLORATION: Final = 0.001


class NFSPLearner(DQNLearner):
    """Self-play in which every seat plays its Q-values' best response in a share of games, else the average of those.

    Paper: Heinrich & Silver 2016, "Deep Reinforcement Learning from Self-Play in Imperfect-Information Games",
        arXiv:1603.01121, Algorithm 1 [HS16].
    Symbols: eta -> anticipation; M_RL -> buffers; M_SL -> memories; Q -> network; Pi -> policies;
        epsilon -> exploration.
    Departs from the paper: Adam in place of plain gradient descent; games of a round are played by the same networks
        and rounds of updates follow; exploration falls linearly.
    Checked by: tests/learning/deep_cfr/test_nfsp.py.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> learner = NFSPLearner(tree, DQNConfig(hidden=(8,)), rng=np.random.default_rng(0))
    >>> learner.train(200)
    >>> learner.evaluate().nash_conv > 0
    True
    """

    def __init__(
        self,
        tree: HistoryTree,
        config: DQNConfig | None = None,
        *,
        anticipation: float = 0.1,
        capacity: int = 2_000_000,
        rng: np.random.Generator,
    ) -> None:
        """Begins to learn.

        Args:
            tree: of the game.
            config: of Q-learning; rate, layers, batches and rounds are those of the averages as well.
            anticipation: share of games in which a seat plays its best response.
            capacity: decisions of best responses that each seat remembers to imitate.
            rng: of everything that is drawn.
        """
        if not 0.0 < anticipation <= 1.0:
            raise ConfigError(f"anticipation must be above 0 and at most 1, got {anticipation}")
        super().__init__(tree, config or DQNConfig(), rng=rng)
        self.anticipation = anticipation
        self.nodes_touched = 0
        shapes = {"row": ((), np.int64), "action": ((), np.int64)}
        self.memories = [
            make_memory(Memory.RESERVOIR, capacity, shapes, purpose="decisions", rng=rng)
            for _ in range(tree.num_players)
        ]
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        sizes = (self.features.shape[-1], *self.configs[0].hidden, self.is_legal.shape[-1])
        self.policies = NetworkStack(self.leading, sizes, generator=generator)
        self.policy_optimizer = Adam(self.policies, [self.configs[0].rate])
        self.policy_loss = math.nan

    def best_response(self) -> FloatArray:
        """Returns `[Q]` the actions of the largest values."""
        return super().strategy(0)

    @torch.no_grad()
    def strategy(self, member: int = 0) -> FloatArray:
        """Returns `[Q]` the averages, which converge."""
        logits = self.policies(self.features)
        check_outputs(logits)
        shares = torch.softmax(logits.masked_fill(~self.is_legal, -math.inf), dim=-1).double().numpy()
        out = np.ones(int(self.tree.sequence_start[-1]))
        out[self.layout.sequence] = shares[0].reshape(-1)[self.layout.cell]
        return self._evaluation_kernel.normalize(out)

    def _play_round(self, num_games: int) -> None:
        """Plays games, each seat by its best response or its average, and remembers the decisions."""
        tree, config = self.tree, self.configs[0]
        owner, player = tree.sequence_infoset(), tree.infoset_player()
        seat_of = np.where(owner >= 0, player[owner], 0)
        share = config.explore(self.num_games)
        uniform = np.where(owner >= 0, 1.0 / tree.num_actions[owner], 1.0)
        responding, average = (1.0 - share) * self.best_response() + share * uniform, self.strategy()
        modes = list(itertools.product([True, False], repeat=tree.num_players))
        chances = [math.prod(self.anticipation if one else 1.0 - self.anticipation for one in mode) for mode in modes]
        for mode, count in zip(modes, self.rng.multinomial(num_games, chances).tolist(), strict=True):
            responds = np.array(mode)
            games = self.kernel.play(np.where(responds[seat_of], responding, average), self.random_words, count)
            self.nodes_touched += games.sequence.size + count  # decisions and ends
            infoset = owner[games.sequence]
            following = np.where(games.next_infoset >= 0, self.layout.infoset_row[games.next_infoset], -1)
            for seat in range(tree.num_players):
                own = player[infoset] == seat
                row = self.layout.infoset_row[infoset[own]]
                action = games.sequence[own] - tree.first_sequence[infoset[own]]
                self.buffers.add(0, seat, row=row, action=action, following=following[own], returns=games.returns[own])
                if responds[seat]:
                    self.memories[seat].append({"row": row, "action": action.astype(np.int64)})

    def _update(self, batch_size: int) -> None:
        """Moves values towards their targets, and averages towards what best responses did."""
        if (self.buffers.count > 0).all():
            super()._update(batch_size)
        if not all(len(memory) for memory in self.memories):
            return
        drawn = [memory.draw(batch_size, rng=self.rng) for memory in self.memories]
        row = torch.from_numpy(np.stack([some["row"] for some in drawn]))[None]
        action = torch.from_numpy(np.stack([some["action"] for some in drawn]))[None]
        seats = torch.arange(self.leading[1])[None, :, None]
        logits = self.policies(self.features[seats, row]).masked_fill(~self.is_legal[seats, row], -1e9)
        chosen = torch.log_softmax(logits, dim=-1).gather(-1, action[..., None])
        loss = -chosen.mean(dim=2).sum()
        self.policy_loss = float(loss.detach())
        self.policy_optimizer.step(loss)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns all that the learner needs to go on to the bit."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "random_words": self.random_words.copy(),
            "rng": np.frombuffer(json.dumps(self.rng.bit_generator.state).encode(), np.uint8).copy(),
            "counts": np.array([self.num_games, self.num_rounds, self.nodes_touched]),
            "target": self._target.numpy().copy(),
            "buffer.count": self.buffers.count.copy(),
            "policy_loss": np.array([self.policy_loss]),
        }
        arrays |= {f"buffer.{name}": column.copy() for name, column in self.buffers.columns.items()}
        for seat, memory in enumerate(self.memories):
            arrays |= {f"memory{seat}.{name}": part for name, part in memory.state().items()}
        for name, part in self._tensors().items():
            arrays[name] = part.detach().numpy().copy()
        return arrays

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes back to a state of a learner of the same settings."""
        with torch.no_grad():
            for name, part in self._tensors().items():
                part.copy_(torch.from_numpy(np.array(arrays[name])))
        for seat, memory in enumerate(self.memories):
            start = f"memory{seat}."
            memory.restore({name[len(start) :]: part for name, part in arrays.items() if name.startswith(start)})
        for name, column in self.buffers.columns.items():
            column[:] = arrays[f"buffer.{name}"]
        self.buffers.count[:] = arrays["buffer.count"]
        self.random_words[:] = arrays["random_words"]
        self.rng.bit_generator.state = json.loads(bytes(arrays["rng"].tobytes()))
        self.num_games, self.num_rounds, self.nodes_touched = (int(one) for one in arrays["counts"])
        self.policy_loss = float(arrays["policy_loss"][0])
        self._values = self._tabulate()
        self._target = torch.from_numpy(np.array(arrays["target"]))

    def _tensors(self) -> dict[str, torch.Tensor]:
        """Returns weights and moments by name."""
        found = {}
        for name, stack, optimizer in (
            ("values", self.network, self.optimizer),
            ("policies", self.policies, self.policy_optimizer),
        ):
            for place, weight in enumerate(stack.parameters):
                found[f"{name}.{place}"] = weight
                found[f"{name}.mean.{place}"] = optimizer.mean[place]
                found[f"{name}.square.{place}"] = optimizer.square[place]
            found[f"{name}.steps"] = optimizer.steps
        return found


class NFSPTraining(IteratedTraining):
    """A training by neural fictitious self-play under Deep CFR's settings: an iteration is `traversals` games."""

    def __init__(self, tree: HistoryTree, settings: DeepCFRSettings) -> None:
        """Begins a training."""
        self.settings, self.tree = settings, tree
        config = DQNConfig(
            hidden=(settings.hidden,) * 2,
            rate=settings.rate,
            exploration=0.06,
            last_exploration=LAST_EXPLORATION,
            exploration_games=settings.iterations * settings.traversals,
            replay_size=min(settings.capacity, 200_000),
            batch_size=128,
            games_per_round=64,
            updates_per_round=8,
            target_rounds=40,
        )
        rng = np.random.default_rng([settings.seed, 41])
        self.learner = NFSPLearner(
            tree, config, anticipation=settings.anticipation, capacity=min(settings.capacity, 2_000_000), rng=rng
        )
        self.iteration, self.cpu_seconds = 0, 0.0
        self.goal: int | None = None  # games after which the iteration under way is over

    @property
    def step(self) -> int:
        """Returns the updates so far."""
        return self.learner.num_rounds * self.learner.configs[0].updates_per_round

    @property
    def loss(self) -> float:
        """Returns the loss of imitation."""
        return self.learner.policy_loss

    @property
    def nodes_touched(self) -> int:
        """Returns the decisions and ends of games so far."""
        return self.learner.nodes_touched

    def iterate(self, num_iterations: int, is_interrupted: IsInterrupted = never) -> None:
        """Plays games and learns from them; raises `AbandonedError` between two rounds once interrupted."""
        for _ in range(num_iterations):
            began = time.process_time()
            if self.goal is None:
                self.goal = self.learner.num_games + self.settings.traversals
            self.learner.train(max(0, self.goal - self.learner.num_games), is_interrupted)
            self.cpu_seconds += time.process_time() - began
            if self.learner.num_games < self.goal:
                raise AbandonedError("an iteration was interrupted")
            self.iteration, self.goal = self.iteration + 1, None

    def evaluate(self) -> Evaluation:
        """Returns the exact quality of the averages."""
        with one_thread():
            return self.learner.evaluate()

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns all that a run needs to go on to the bit."""
        own = {"progress": np.array([STATE_VERSION, self.iteration, self.cpu_seconds])}
        goal = {} if self.goal is None else {"goal": np.array([self.goal])}
        return self.learner.state() | own | goal

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes back to a state of a run with the same settings."""
        try:
            _, iteration, self.cpu_seconds = arrays["progress"].tolist()
            self.learner.restore(arrays)
            self.iteration = int(iteration)
            self.goal = int(arrays["goal"][0]) if "goal" in arrays else None
        except (KeyError, RuntimeError, ValueError) as error:
            raise ConfigError(f"the saved training is of another one: {error}") from None
