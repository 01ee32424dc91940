# SPDX-License-Identifier: Apache-2.0
"""Self-play and learning in turn. Importing this module needs torch, the extra `[learn]`.

In one process everything follows from the seed, to the bit on the same machine with the same version of torch; rates
are scheduled by steps, never by the clock. A run can be stopped after any cycle and goes on from its saved state.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, NotConvergedError
from equipoise.core.interruption import never
from equipoise.core.pool import Pool
from equipoise.learning.networks import one_thread
from equipoise.learning.rebel.memory import ExampleMemory
from equipoise.learning.rebel.nets import bind_belief_net, make_config
from equipoise.learning.rebel.pooling import PooledPlay
from equipoise.learning.rebel.self_play import BeliefSearcher, Examples, SelfPlay
from equipoise.learning.rebel.settings import RebelSettings
from equipoise.learning.torch_extra import torch
from equipoise.learning.values.configuration import ValueNetConfig
from equipoise.learning.values.trunk import Trunk, copy_weights
from equipoise.learning.values.weights import StoredNet
from equipoise.search.belief_games import BeliefGame

__all__ = ["BeliefNet", "CycleRecord", "RebelTrainer"]

STATE_VERSION: Final = 1
CLIP: Final = 5.0  # of a gradient's norm
BETAS: Final = (0.9, 0.99)  # of Adam: with 0.999 errors were three times as large after as many steps


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
        """Returns `[B, 2, W]` for kinds `[B]` and beliefs `[B, 2, W]`."""
        shown = torch.nn.functional.one_hot(kind, self.config.kinds).to(belief.dtype)
        shares = self.config.buckets * belief.flatten(start_dim=1)
        ranges = torch.sqrt(shares) if self.config.takes_roots else shares
        found = self.trunk(torch.cat([shown, ranges], dim=1)).view_as(belief)
        left = (belief * found).sum(dim=(1, 2), keepdim=True)
        out: torch.Tensor = found - 0.5 * left
        return out


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CycleRecord:
    """Where a training stands after a cycle."""

    examples: int
    step: int
    loss: float
    cpu_seconds: float  # of training so far, tests left out


class RebelTrainer:
    """A training of a network by self-play."""

    def __init__(self, game: BeliefGame, settings: RebelSettings, label: str) -> None:
        """Begins a training.

        Args:
            game: what is played.
            settings: how.
            label: the game, as `format_game` writes it.
        """
        self.game, self.settings = game, settings
        self.rng = np.random.default_rng([settings.seed, 19])
        self.generator = torch.Generator().manual_seed(settings.seed)
        self.config = make_config(game, settings, label)
        self.net = BeliefNet(self.config, generator=self.generator)
        self.averaged = copy.deepcopy(self.net)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=settings.rate, betas=BETAS)
        self.self_play = SelfPlay(game, settings)
        self.memory = ExampleMemory(settings.capacity, game.width)
        self.examples = self.step = 0
        self.loss = math.nan
        self.cpu_seconds = 0.0
        self._live = torch.from_numpy(game.is_live.astype(np.float32))

    @property
    def is_done(self) -> bool:
        """Returns whether all examples are made."""
        return self.examples >= self.settings.examples

    def run(self, is_over: Callable[[], bool] = never, pool: Pool | None = None) -> Iterator[CycleRecord]:
        """Yields a record after each cycle of self-play and learning.

        Args:
            is_over: whether to stop early; asked before each cycle.
            pool: who plays; this process if None.
        """
        if pool is None:
            while not self.is_done and not is_over():
                yield self.run_cycle()
            return
        played = PooledPlay(pool, self.settings, self.examples, net=self.stored(), is_over=is_over)
        with contextlib.closing(played):
            while not self.is_done and not is_over():
                yield self.run_cycle(played)
                played.begin_cycle(self.stored())

    def run_cycle(self, played: PooledPlay | None = None) -> CycleRecord:
        """Makes some examples with the present network, or takes those that others played, and trains it."""
        began = time.process_time()
        settings = self.settings
        if played is None:
            self.self_play.search_with(settings.recipe_at(self.examples), bind_belief_net(self.stored()))
            count = min(settings.cycle, settings.examples - self.examples)
            self._remember(self.self_play.generate(count, rng=self.rng))
        else:
            for examples, seconds in played.take_cycle():
                self._remember(examples)
                self.cpu_seconds += seconds
        target = min(int(self.examples * settings.reuse / settings.batch), settings.steps)
        with one_thread():
            while self.step < target:
                self._take_step()
        self.cpu_seconds += time.process_time() - began
        return CycleRecord(examples=self.examples, step=self.step, loss=self.loss, cpu_seconds=self.cpu_seconds)

    def _remember(self, examples: Examples) -> None:
        dropped_at = int(self.settings.dropped_at * self.settings.examples)
        if self.examples < dropped_at <= self.examples + len(examples):
            self.memory.clear()
        self.memory.add(examples)
        self.examples += len(examples)

    def _take_step(self) -> None:
        settings = self.settings
        self.step += 1
        share = 0.5 * (1.0 + math.cos(math.pi * min(1.0, self.step / max(settings.steps, 1))))
        rate = settings.rate * (settings.final_rate + (1.0 - settings.final_rate) * share)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        some = self.memory.sample(settings.batch, rng=self.rng)
        kind = torch.from_numpy(some.kind.astype(np.int64))
        found = self.net(kind, torch.from_numpy(some.belief))
        error = (found - torch.from_numpy(some.value)) * self._live[kind]
        loss = _bent(error, settings.loss_bend).mean()
        self.loss = loss.item() if math.isnan(self.loss) else 0.99 * self.loss + 0.01 * loss.item()
        if not math.isfinite(self.loss):
            raise NotConvergedError(f"the loss is no number after {self.step:,} steps: lower the rate, {settings.rate}")
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), CLIP)
        self.optimizer.step()
        decay = min(settings.average_decay, self.step / (self.step + 10))
        with torch.no_grad():
            for kept, fresh in zip(self.averaged.parameters(), self.net.parameters(), strict=True):
                kept.lerp_(fresh, 1.0 - decay)

    def stored(self, card: Mapping[str, Any] | None = None) -> StoredNet:
        """Returns the averaged weights, which play."""
        return StoredNet(config=self.config, tensors=copy_weights(self.averaged), card=card or {})

    def test_searcher(self) -> BeliefSearcher:
        """Returns how the averaged weights play when they are tested."""
        net = bind_belief_net(self.stored())
        return BeliefSearcher(self.game, self.settings.test, lanes=self.settings.lanes, net=net)

    # --- kept states ---

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns all that a run needs to go on."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        for prefix, net in (("net.", self.net), ("averaged.", self.averaged)):
            arrays |= {prefix + name: part for name, part in copy_weights(net).items()}
        for place, moments in self.optimizer.state_dict()["state"].items():
            arrays |= {f"adam.{place}.{name}": np.asarray(part).copy() for name, part in moments.items()}
        arrays |= {f"play.{name}": part for name, part in self.self_play.state().items()}
        arrays |= {f"memory.{name}": part for name, part in self.memory.state().items()}
        words = json.dumps(self.rng.bit_generator.state).encode()
        arrays["rng"] = np.frombuffer(words, np.uint8).copy()
        arrays["progress"] = np.array([STATE_VERSION, self.examples, self.step, self.loss, self.cpu_seconds])
        return arrays

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes back to a state of a run with the same settings."""
        try:
            version, examples, step, self.loss, self.cpu_seconds = arrays["progress"].tolist()
            if version != STATE_VERSION:
                raise ConfigError(f"the training was saved in form {version:g}, this version reads {STATE_VERSION}")
            self.examples, self.step = int(examples), int(step)
            for prefix, net in (("net.", self.net), ("averaged.", self.averaged)):
                net.load_state_dict(
                    {name: torch.from_numpy(np.array(arrays[prefix + name])) for name in net.state_dict()}
                )
            moments: dict[int, dict[str, Any]] = {}
            for name, part in arrays.items():
                if name.startswith("adam."):
                    _, place, what = name.split(".")
                    moments.setdefault(int(place), {})[what] = torch.from_numpy(np.array(part))
            known = self.optimizer.state_dict()
            self.optimizer.load_state_dict({"state": moments, "param_groups": known["param_groups"]})
            self.self_play.restore({name[5:]: part for name, part in arrays.items() if name.startswith("play.")})
            self.memory.restore({name[7:]: part for name, part in arrays.items() if name.startswith("memory.")})
            self.rng.bit_generator.state = json.loads(bytes(arrays["rng"].tobytes()))
        except (KeyError, RuntimeError, ValueError) as error:
            raise ConfigError(f"the saved training is of another one: {error}") from None


def _bent(error: torch.Tensor, bend: float) -> torch.Tensor:
    """Returns squares, or Huber's loss."""
    if bend == 0.0:
        return error * error
    return torch.nn.functional.smooth_l1_loss(error, torch.zeros_like(error), beta=bend, reduction="none")
