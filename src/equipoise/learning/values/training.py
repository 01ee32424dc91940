# SPDX-License-Identifier: Apache-2.0
"""Value networks trained on solved situations and toy games. Importing this module needs torch, the extra `[learn]`.

A run can be stopped after any step and goes on from its saved state to the bit, on the same machine with the same
version of torch: what a library's sums do is its own business.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, NotConvergedError
from equipoise.core.interruption import never
from equipoise.core.memory import check_memory
from equipoise.learning.networks import one_thread
from equipoise.learning.torch_extra import find_device, torch
from equipoise.learning.values.boards import BoardFacts
from equipoise.learning.values.bucket_net import BucketNet, BucketTensors
from equipoise.learning.values.buckets import find_buckets
from equipoise.learning.values.configuration import NetKind, ValueNetConfig
from equipoise.learning.values.curve_net import CurveNet, CurveTensors
from equipoise.learning.values.inputs import BucketInputs, CurveInputs, find_bucket_inputs, find_inputs
from equipoise.learning.values.measures import Errors
from equipoise.learning.values.settings import TrainingSettings
from equipoise.learning.values.trunk import copy_weights, load_weights
from equipoise.learning.values.weights import StoredNet

__all__ = ["SituationSet", "ToySet", "TrainingRecord", "ValueTrainer"]

VALIDATED_AT_ONCE: Final = 100
STATE_VERSION: Final = 3
STEPS_PER_RECORD: Final = 100
TIMED_STEPS: Final = 20
BYTES_PER_HAND: Final = 42  # of a situation: ranges, masses, places, values

HalfArray = npt.NDArray[np.float16]


class SituationSet:
    """Solved situations as a network sees them."""

    def __init__(self, inputs: CurveInputs | BucketInputs, value: HalfArray, ratio: npt.NDArray[np.float32]) -> None:
        """Keeps what is seen, `[B, 2, n]` what hands are worth in pots, and `[B]` what is behind."""
        self.inputs, self.value, self.ratio = inputs, value, ratio
        self.tensors: Any = CurveTensors.of(inputs) if isinstance(inputs, CurveInputs) else BucketTensors.of(inputs)

    def __len__(self) -> int:
        return len(self.value)

    @property
    def num_hands(self) -> int:
        """Hands of each situation."""
        return int(self.value.shape[2])

    @classmethod
    def of(
        cls, config: ValueNetConfig, shards: Sequence[Mapping[str, npt.NDArray[Any]]], prefix: str = ""
    ) -> SituationSet:
        """Returns the situations of shards.

        Args:
            config: of the network that sees them.
            shards: their arrays.
            prefix: `end_` for those where lines leave the street.
        """
        num_hands = sum(shard[f"{prefix}value"].size for shard in shards) // 2
        check_memory(
            2 * BYTES_PER_HAND * num_hands, "what a network sees of its situations"
        )  # twice while they are joined
        parts = []
        for shard in shards:
            boards, board_of = np.unique(shard[f"{prefix}board"], axis=0, return_inverse=True)
            facts = [BoardFacts(tuple(board.tolist()), config.cards) for board in boards]
            ranges, ratio = shard[f"{prefix}range"].astype(np.float64), shard[f"{prefix}ratio"]
            parts.append(_see(config, facts, board_of.reshape(-1), ranges, ratio))
        value = np.concatenate([shard[f"{prefix}value"] for shard in shards])
        return cls(type(parts[0]).join(parts), value, np.concatenate([shard[f"{prefix}ratio"] for shard in shards]))


def _see(config: ValueNetConfig, facts: list[BoardFacts], board_of: Any, ranges: Any, ratio: Any) -> Any:
    """Returns what a network sees of situations."""
    if config.kind is NetKind.CURVE:
        return find_inputs(config, facts, board_of, ranges, ratio)
    return find_bucket_inputs(config, facts, board_of, ranges, ratio, buckets=find_buckets(config))


class ToySet:
    """Toy games as a network sees them."""

    def __init__(self, config: ValueNetConfig, shards: Sequence[Mapping[str, npt.NDArray[Any]]]) -> None:
        mass = np.concatenate([shard["mass"] for shard in shards])
        if mass.shape[2] != config.cells or config.potential_cells != 1:
            raise ConfigError(f"toy games have {mass.shape[2]} strengths, the network {config.cells} cells of strength")
        ratio = np.concatenate([shard["ratio"] for shard in shards])
        self.mass, self.extra = torch.from_numpy(mass), torch.from_numpy(config.encode_ratios(ratio))
        self.value = torch.from_numpy(np.concatenate([shard["value"] for shard in shards]))

    def __len__(self) -> int:
        return len(self.value)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRecord:
    """Where a run stands after some step."""

    step: int
    loss: float  # Huber, of the last situations, smoothed
    toy_loss: float
    errors: Errors | None = None  # of the averaged weights on the held-out situations, where they were measured
    choice: Errors | None = None  # the same on those by which the best are chosen


class ValueTrainer:
    """A run: a network, its averaged weights, the best of these so far, and where it is in its data.

    The best are those with the smallest Huber loss on situations set aside: they are what is kept of a run. What is
    held out has no say in it, so that it says what the network is worth.

    Paper: Zarick et al. 2020, arXiv:2007.10442, section 4.3: Adam on the Huber loss.
    Symbols: none.
    Departs from the paper: toy games beside solved situations in every step, some hands of a situation a step, a rate
        that falls along a cosine, averaged weights.
    Checked by: tests/learning/values/test_training.py.

    >>> from equipoise.games.holdem import Deck, Street
    >>> from equipoise.learning.values.generation import SolvedSource
    >>> from equipoise.learning.values.labels import Labels
    >>> deck = Deck(ranks="9TJQKA", suits="cdh")
    >>> config = ValueNetConfig(deck="9TJQKA/cdh", cells=8, segments=8, hidden=16, layers=2)
    >>> source = SolvedSource(street=Street.RIVER, labels=Labels(iterations=10), per_shard=10, deck=deck)
    >>> trainer = ValueTrainer(
    ...     config, TrainingSettings(steps=4, batch=4, hands=20), SituationSet.of(config, [source.make(0)])
    ... )
    >>> for report in trainer.run():
    ...     pass
    >>> trainer.is_done
    True
    """

    def __init__(
        self,
        config: ValueNetConfig,
        settings: TrainingSettings,
        situations: SituationSet,
        *,
        toys: ToySet | None = None,
        aside: SituationSet | None = None,
        held_out: SituationSet | None = None,
        device: str | torch.device = "cpu",
    ) -> None:
        """Draws the first weights.

        Args:
            config: of the network.
            settings: of the training.
            situations: that are learnt from.
            toys: games that are learnt from beside.
            aside: situations by which the best weights are chosen; None: the last weights are kept.
            held_out: situations that are measured on and decide nothing.
            device: that the network is on, as torch names it; data stay in memory, what a step needs goes over.
        """
        self.device = find_device(device)
        self.config, self.settings = config, settings
        self.situations, self.toys, self.aside, self.held_out = situations, toys, aside, held_out
        self.generator = torch.Generator().manual_seed(settings.seed)
        form = CurveNet if config.kind is NetKind.CURVE else BucketNet
        self.net: Any = form(config, generator=self.generator).to(self.device)
        self.averaged = copy.deepcopy(self.net)
        self.best_net = copy.deepcopy(self.net)  # the averaged weights where they were best
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=settings.rate, betas=(0.9, 0.99))
        self.step = 0
        self.loss = self.toy_loss = math.nan
        self.best, self.best_step = math.inf, 0

    def start_from(self, stored: StoredNet) -> None:
        """Begins with the weights of an earlier network; raises `ConfigError` unless it is of this form."""
        if stored.config != self.config:
            raise ConfigError("training starts from a network of the same form only, and the one given has another")
        for net in (self.net, self.averaged, self.best_net):
            load_weights(net, stored)

    @property
    def is_done(self) -> bool:
        """Returns whether all steps are taken, or nothing has become better for long."""
        waited = (self.step - self.best_step) // self.settings.validate_every
        is_waited = self.aside is not None and 0 < self.settings.patience <= waited
        return self.step >= self.settings.steps or is_waited

    @property
    def kept(self) -> Any:
        """Returns the network that is kept: the best on what is set aside, the last where nothing is."""
        return self.best_net if self.best_step else self.averaged

    @property
    def kept_step(self) -> int:
        """Returns the step after which it was like that."""
        return self.best_step or self.step

    def run(self, is_over: Callable[[], bool] = never) -> Iterator[TrainingRecord]:
        """Yields records every hundred steps, with errors now and then and at the end.

        Args:
            is_over: whether to stop early; asked before every step.
        """
        with one_thread():
            while not self.is_done and not is_over():
                self._take_step()
                is_checked = self.step % self.settings.validate_every == 0 or self.step == self.settings.steps
                errors = self.measure(self.held_out) if is_checked and self.held_out is not None else None
                choice = self.measure(self.aside) if is_checked and self.aside is not None else None
                if choice is not None and (huber := float(choice.huber.mean())) < self.best:
                    self.best, self.best_step = huber, self.step
                    self.best_net.load_state_dict(self.averaged.state_dict())
                if is_checked or self.step % STEPS_PER_RECORD == 0:
                    losses = {"loss": self.loss, "toy_loss": self.toy_loss}
                    yield TrainingRecord(step=self.step, errors=errors, choice=choice, **losses)

    def fit(self, seconds: float) -> None:
        """Leaves out the last steps so that about so much time is taken, from the speed of some first ones."""
        began = time.monotonic()
        with one_thread():
            for _ in range(min(TIMED_STEPS, self.settings.steps - self.step)):
                self._take_step()
        each = max((time.monotonic() - began) / TIMED_STEPS, 1e-6)
        steps = min(self.settings.steps, self.step + max(1, int(seconds / each)))
        self.settings = dataclasses.replace(self.settings, steps=steps)

    def measure(self, held_out: SituationSet) -> Errors:
        """Returns how far the averaged weights are off."""
        found, ranges = self.predict(held_out)
        return Errors.of(found, held_out.value.astype(np.float64), ranges, held_out.ratio.astype(np.float64))

    def predict(self, held_out: SituationSet) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Returns `[B, 2, n]` what the averaged weights say of situations, in pots, and their ranges."""
        found, ranges = [], []
        with torch.no_grad():
            for begin in range(0, len(held_out), VALIDATED_AT_ONCE):
                some = held_out.tensors.take(torch.arange(begin, min(begin + VALIDATED_AT_ONCE, len(held_out))))
                found.append(self.averaged(some.to(self.device)).cpu().numpy())
                ranges.append(some.range.numpy())
        return np.concatenate(found).astype(np.float64), np.concatenate(ranges).astype(np.float64)

    def _take_step(self) -> None:
        settings = self.settings
        self.step += 1
        rate = settings.rate * min(1.0, self.step / settings.warm_up)
        rate *= 0.5 * (1.0 + math.cos(math.pi * min(1.0, self.step / settings.steps))) + 1e-3
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        loss = self._situation_loss()
        total = loss
        if self.toys is not None:
            toy_loss = self._toy_loss(self.toys)
            total = loss + settings.toy_weight * toy_loss
            self.toy_loss = _smooth(self.toy_loss, toy_loss.item())
        self.loss = _smooth(self.loss, loss.item())
        if not math.isfinite(self.loss):
            raise NotConvergedError(f"the loss is no number after {self.step:,} steps: lower the rate, {settings.rate}")
        self.optimizer.zero_grad()
        total.backward()  # type: ignore[no-untyped-call]  # torch's own
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), settings.clip)
        self.optimizer.step()
        decay = min(settings.average_decay, self.step / (self.step + 10))
        with torch.no_grad():
            for kept, fresh in zip(self.averaged.parameters(), self.net.parameters(), strict=True):
                kept.lerp_(fresh, 1.0 - decay)

    def _situation_loss(self) -> torch.Tensor:
        rows = torch.randint(len(self.situations), (self.settings.batch,), generator=self.generator)
        known = torch.from_numpy(self.situations.value[rows.numpy()].astype(np.float32)).to(self.device)
        states = self.situations.tensors.take(rows).to(self.device)
        num_hands = self.situations.num_hands
        if self.settings.hands >= num_hands:
            return torch.nn.functional.huber_loss(self.net(states), known)
        hands = torch.randperm(num_hands, generator=self.generator)[: self.settings.hands].sort().values
        hands = hands.to(self.device)
        return torch.nn.functional.huber_loss(self.net(states, hands), known.index_select(2, hands))

    def _toy_loss(self, toys: ToySet) -> torch.Tensor:
        rows = torch.randint(len(toys), (self.settings.toy_batch,), generator=self.generator)
        mass, extra, known = (part[rows].to(self.device) for part in (toys.mass, toys.extra, toys.value))
        error = torch.nn.functional.huber_loss(self.net.toy_values(mass, extra), known.float(), reduction="none")
        # cells that hold many hands matter more
        weight = 0.5 + 0.5 * mass[:, 2:] * mass.shape[2]
        return (error * weight).mean()

    # --- kept states ---

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns all that a run needs to go on."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        for prefix, net in (("net.", self.net), ("averaged.", self.averaged), ("best.", self.best_net)):
            arrays |= {prefix + name: weights for name, weights in copy_weights(net).items()}
        for place, moments in self.optimizer.state_dict()["state"].items():
            arrays |= {f"adam.{place}.{name}": np.asarray(part.cpu()) for name, part in moments.items()}
        arrays["generator"] = self.generator.get_state().numpy()
        arrays["progress"] = np.array([STATE_VERSION, self.step, self.loss, self.toy_loss, self.best, self.best_step])
        return arrays

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes back to a state of a run with the same configuration."""
        try:
            version, step, self.loss, self.toy_loss, self.best, best_step = arrays["progress"].tolist()
            if version != STATE_VERSION:
                raise ConfigError(f"the training was saved in form {version:g}, this version reads {STATE_VERSION}")
            self.step, self.best_step = int(step), int(best_step)
            for prefix, net in (("net.", self.net), ("averaged.", self.averaged), ("best.", self.best_net)):
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
            self.generator.set_state(torch.from_numpy(np.array(arrays["generator"])))
        except (KeyError, RuntimeError, ValueError) as error:
            raise ConfigError(f"the saved training is of another network: {error}") from None


def _smooth(before: float, now: float) -> float:
    return now if math.isnan(before) else 0.98 * before + 0.02 * now
