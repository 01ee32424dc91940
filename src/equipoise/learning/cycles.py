# SPDX-License-Identifier: Apache-2.0
"""Self-play and learning in turn. Importing this module needs torch, the extra `[learn]`.

In one process everything follows from the seed, to the bit on the same machine with the same version of torch; rates
are scheduled by steps, never by the clock. A run can be stopped after any cycle and goes on from its saved state.
"""

from __future__ import annotations

import abc
import contextlib
import copy
import dataclasses
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, NotConvergedError
from equipoise.core.interruption import never
from equipoise.core.pool import Pool
from equipoise.learning.columns import ColumnMemory
from equipoise.learning.networks import one_thread
from equipoise.learning.pooled_play import PooledPlay
from equipoise.learning.torch_extra import torch
from equipoise.learning.values.configuration import ValueNetConfig
from equipoise.learning.values.trunk import copy_weights
from equipoise.learning.values.weights import StoredNet

__all__ = ["CycleRecord", "CycleSettings", "CycleTrainer", "bend_errors"]

STATE_VERSION: Final = 1
CLIP: Final = 5.0  # of a gradient's norm
BETAS: Final = (0.9, 0.99)  # of Adam: with 0.999 errors were three times as large after as many steps


class CycleSettings(Protocol):
    """What every training by cycles is told."""

    @property
    def examples(self) -> int:
        """Examples that self-play makes."""
        ...

    @property
    def cycle(self) -> int:
        """Of them between two trainings of the network."""
        ...

    @property
    def reuse(self) -> float:
        """Times that each is trained on, on average."""
        ...

    @property
    def batch(self) -> int:
        """Examples of a step."""
        ...

    @property
    def rate(self) -> float:
        """Of Adam, at the start."""
        ...

    @property
    def final_rate(self) -> float:
        """Share of it at the end."""
        ...

    @property
    def average_decay(self) -> float:
        """Of the weights that play."""
        ...

    @property
    def dropped_at(self) -> float:
        """Share of examples at which those so far are forgotten."""
        ...

    @property
    def seed(self) -> int:
        """Of everything."""
        ...

    @property
    def steps(self) -> int:
        """Of a whole training."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CycleRecord:
    """Where a training stands after a cycle."""

    examples: int
    step: int
    loss: float
    cpu_seconds: float  # of training so far, tests left out


class CycleTrainer(abc.ABC):
    """A training of a network by self-play; what is played and learnt is a subclass's."""

    settings: CycleSettings

    def __init__(self, settings: CycleSettings, config: ValueNetConfig, memory: ColumnMemory, *, word: int) -> None:
        """Begins a training; `word` is a seed's second part."""
        self.settings = settings
        self.rng = np.random.default_rng([settings.seed, word])
        self.generator = torch.Generator().manual_seed(settings.seed)
        self.config, self._ring = config, memory
        self.net = self._make_net()
        self.averaged = copy.deepcopy(self.net)
        self.optimizer = self._make_optimizer()
        self.examples = self.step = 0
        self.loss = math.nan
        self.cpu_seconds = 0.0

    @abc.abstractmethod
    def _make_net(self) -> torch.nn.Module:
        """Returns a new network."""

    def _make_optimizer(self) -> torch.optim.Optimizer:
        """Returns what takes steps."""
        return torch.optim.Adam(self.net.parameters(), lr=self.settings.rate, betas=BETAS)

    def _find_rate(self) -> float:
        """Returns the optimizer's rate at the present step: a cosine."""
        settings = self.settings
        share = 0.5 * (1.0 + math.cos(math.pi * min(1.0, self.step / max(settings.steps, 1))))
        return settings.rate * (settings.final_rate + (1.0 - settings.final_rate) * share)

    @abc.abstractmethod
    def _play(self, count: int) -> None:
        """Makes at least so many examples with the present weights."""

    @abc.abstractmethod
    def _find_loss(self) -> torch.Tensor:
        """Returns the loss over some of what is remembered."""

    @property
    def is_done(self) -> bool:
        """Returns whether all examples are made."""
        return self.examples >= self.settings.examples

    def _weights_to_play(self) -> Any:
        """Returns what a pool is sent to play with."""
        return self.stored()

    @abc.abstractmethod
    def _begin_pooled(self, pool: Pool, is_over: Callable[[], bool]) -> PooledPlay[Any]:
        """Returns self-play by a pool with the present weights."""

    @abc.abstractmethod
    def _remember(self, examples: Any) -> None:
        """Counts and keeps what others played."""

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
        with contextlib.closing(self._begin_pooled(pool, is_over)) as played:
            while not self.is_done and not is_over():
                yield self.take_cycle(played)
                played.begin_cycle(self._weights_to_play())

    def take_cycle(self, played: PooledPlay[Any]) -> CycleRecord:
        """Takes the examples that others played, and trains the network."""
        began = time.process_time()
        for examples, seconds in played.take_cycle():
            self._remember(examples)
            self.cpu_seconds += seconds
        return self._learn(began)

    def run_cycle(self) -> CycleRecord:
        """Makes some examples with the present network, and trains it."""
        began = time.process_time()
        self._play(min(self.settings.cycle, self.settings.examples - self.examples))
        return self._learn(began)

    def _learn(self, began: float) -> CycleRecord:
        """Takes the steps that are due."""
        settings = self.settings
        target = min(int(self.examples * settings.reuse / settings.batch), settings.steps)
        with one_thread():
            while self.step < target:
                self._take_step()
        self.cpu_seconds += time.process_time() - began
        return CycleRecord(examples=self.examples, step=self.step, loss=self.loss, cpu_seconds=self.cpu_seconds)

    def _count(self, size: int) -> None:
        """Counts examples before they are added; once, those so far are forgotten."""
        dropped_at = int(self.settings.dropped_at * self.settings.examples)
        if self.examples < dropped_at <= self.examples + size:
            self._ring.clear()
        self.examples += size

    def _take_step(self) -> None:
        settings = self.settings
        self.step += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self._find_rate()
        loss = self._find_loss()
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

    # --- kept states ---

    def _play_state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns what self-play needs to go on between two cycles."""
        return {}

    def _restore_play(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes back to what `_play_state` returned."""
        del arrays

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns all that a run needs to go on."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        for prefix, net in (("net.", self.net), ("averaged.", self.averaged)):
            arrays |= {prefix + name: part for name, part in copy_weights(net).items()}
        for place, moments in self.optimizer.state_dict()["state"].items():
            arrays |= {f"adam.{place}.{name}": np.asarray(part).copy() for name, part in moments.items()}
        arrays |= {f"play.{name}": part for name, part in self._play_state().items()}
        arrays |= {f"memory.{name}": part for name, part in self._ring.state().items()}
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
            self._restore_play({name[5:]: part for name, part in arrays.items() if name.startswith("play.")})
            self._ring.restore({name[7:]: part for name, part in arrays.items() if name.startswith("memory.")})
            self.rng.bit_generator.state = json.loads(bytes(arrays["rng"].tobytes()))
        except (KeyError, RuntimeError, ValueError) as error:
            raise ConfigError(f"the saved training is of another one: {error}") from None


def bend_errors(error: torch.Tensor, bend: float) -> torch.Tensor:
    """Returns squares, or Huber's loss."""
    if bend == 0.0:
        return error * error
    return torch.nn.functional.smooth_l1_loss(error, torch.zeros_like(error), beta=bend, reduction="none")
