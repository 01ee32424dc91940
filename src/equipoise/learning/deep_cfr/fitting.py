# SPDX-License-Identifier: Apache-2.0
"""Networks fitted to memories, as regressors and as policies. Importing this module needs torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import AbandonedError, ConfigError, NotConvergedError
from equipoise.core.interruption import IsInterrupted, never
from equipoise.learning.columns import ColumnMemory
from equipoise.learning.deep_cfr.encoding import CardLayout
from equipoise.learning.deep_cfr.nets import BranchNet, ResidualNet, make_net
from equipoise.learning.deep_cfr.settings import DeepCFRSettings
from equipoise.learning.deep_cfr.walks import Walks
from equipoise.learning.networks import one_thread
from equipoise.learning.torch_extra import torch
from equipoise.learning.values.trunk import copy_weights

__all__ = ["NetRegressor", "PolicyFit", "load_tensors_into", "predict_rows", "soften"]

FloatArray = npt.NDArray[np.float64]
AnyArray = npt.NDArray[Any]

ROWS_AT_ONCE: Final = 65_536
SPREAD_SAMPLES: Final = 100_000
RIDGE: Final = 1e-6  # share of the mean square of features that keeps the last layer's problem solvable


class _Batch:
    """Samples of a step; those of one place are one row, weighed by all of them: the gradient is the same."""

    def __init__(self, walks: Walks, some: Mapping[str, AnyArray], *, scale: float, is_merged: bool) -> None:
        weight: AnyArray = some["weight"].astype(np.float64)
        place: AnyArray = some["place"]
        is_legal, target = some["is_legal"], some["target"].astype(np.float64)
        size = len(place)
        if is_merged:
            first = np.full(int(place.max()) + 1, -1)
            first[place] = np.arange(size)  # some sample of each place
            met = np.flatnonzero(first >= 0)
            number = np.zeros(first.size, np.int64)
            number[met] = np.arange(met.size)
            place, first, inverse = met.astype(place.dtype), first[met], number[place]
            total = np.bincount(inverse, weight, len(place))
            shares = weight / np.where(total > 0.0, total, 1.0)[inverse]
            target = np.stack([np.bincount(inverse, shares * column, len(place)) for column in target.T], axis=1)
            weight, is_legal = total, is_legal[first]
        self.features = torch.from_numpy(walks.features(place))
        self.is_legal = torch.from_numpy(is_legal)
        self.target = torch.from_numpy((target / scale).astype(np.float32))
        self.weight = torch.from_numpy((weight / size).astype(np.float32))

    def standardise(self) -> None:
        """Divides targets by their spread, in which places count by their weight.

        Means become small beside the samples' spread as players near an equilibrium, and it is means that are fitted.
        """
        weight = self.weight[:, None] * self.is_legal
        spread = torch.sqrt((weight * self.target**2).sum() / weight.sum())
        if spread > 0.0:
            self.target = self.target / spread


Loss = Callable[[torch.Tensor, _Batch], torch.Tensor]


def _find_advantage_loss(found: torch.Tensor, batch: _Batch) -> torch.Tensor:
    """Returns the mean over samples of squared errors, summed over legal actions."""
    error = torch.where(batch.is_legal, found - batch.target, torch.zeros(()))
    return (batch.weight * (error * error).sum(dim=1)).sum()


def _find_policy_loss(found: torch.Tensor, batch: _Batch) -> torch.Tensor:
    """Returns the mean over samples of squared errors of probabilities."""
    error = torch.softmax(found.masked_fill(~batch.is_legal, -math.inf), dim=1) - batch.target
    return (batch.weight * (error * error).sum(dim=1)).sum()


class _Fit:
    """A network, and steps of Adam on what a memory holds."""

    def __init__(self, walks: Walks, settings: DeepCFRSettings, layout: CardLayout, *, is_policy: bool, seed: int):
        self.walks, self.settings, self.layout, self.is_policy = walks, settings, layout, is_policy
        self.rng = np.random.default_rng([seed, 29])
        self.is_merged = walks.place_shape[0] == ()
        self.net = self._make()
        self.loss = math.nan

    def _make(self) -> BranchNet | ResidualNet:
        seed = int(self.rng.integers(1 << 62))
        return make_net(self.settings, self.layout, self.walks.num_actions, is_policy=self.is_policy, seed=seed)

    @one_thread()
    def run(
        self, memory: ColumnMemory, steps: int, iteration: int, find_loss: Loss, *, is_interrupted: IsInterrupted
    ) -> None:
        """Takes steps; samples weigh on average one. Raises `AbandonedError` between two steps once interrupted."""
        settings = self.settings
        if settings.is_refitted or self.is_policy:
            self.net = self._make()
        self.net.train()
        optimizer = torch.optim.Adam(self.net.parameters(), lr=settings.rate, fused=True)
        factor = 2.0 / iteration
        scale = self._find_scale(memory)
        whole = self._merge_all(memory, scale)
        for step in range(steps):
            if is_interrupted():
                raise AbandonedError("a fit was interrupted")
            share = 0.5 * (1.0 + math.cos(math.pi * step / steps))
            for group in optimizer.param_groups:
                group["lr"] = settings.rate * (settings.final_rate + (1.0 - settings.final_rate) * share)
            batch = whole or self._draw(memory, scale)
            loss = factor * find_loss(self.net(batch.features), batch)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch's own
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), settings.clip)
            optimizer.step()
        if whole is not None and settings.solves_head and not self.is_policy:
            self._solve_head(whole)
            with torch.no_grad():
                loss = factor * find_loss(self.net(whole.features), whole)
        self.loss = loss.item()
        self.net.eval()
        if not math.isfinite(self.loss):
            raise NotConvergedError(
                f"the loss is no number after {iteration:,} iterations: lower the rate, {settings.rate:g}"
            )

    @torch.no_grad()
    def _solve_head(self, batch: _Batch) -> None:
        """Puts the last layer at the minimum of the loss on a batch, action by action (a linear problem)."""
        hidden = self.net.last_features(batch.features).double()
        if not torch.isfinite(hidden).all():
            return  # the loss says so
        inputs = torch.cat([hidden, torch.ones(len(hidden), 1, dtype=torch.float64)], dim=1)
        rows = []
        for action in range(batch.target.shape[1]):
            root = torch.sqrt((batch.weight * batch.is_legal[:, action]).double())[:, None]
            square = (root * inputs).T @ (root * inputs)
            ridge = RIDGE * square.diagonal().mean().clamp(min=1e-300) * torch.eye(len(square), dtype=torch.float64)
            wanted = (root * inputs).T @ (root[:, 0] * batch.target[:, action])
            rows.append(torch.linalg.solve(square + ridge, wanted))
        found = torch.stack(rows).float()
        self.net.head.overwrite(found[:, :-1], found[:, -1])

    def _draw(self, memory: ColumnMemory, scale: float) -> _Batch:
        some = memory.draw(self.settings.batch, rng=self.rng)
        return _Batch(self.walks, some, scale=scale, is_merged=self.is_merged)

    def _merge_all(self, memory: ColumnMemory, scale: float) -> _Batch | None:
        """Returns all that is remembered as one batch, None if that is not wanted or too large."""
        if not (self.is_merged and self.settings.is_whole):
            return None
        size = len(memory)
        if np.count_nonzero(np.bincount(memory.columns["place"][:size])) > self.settings.batch:
            return None
        everything = {name: column[:size] for name, column in memory.columns.items()}
        batch = _Batch(self.walks, everything, scale=scale, is_merged=True)
        if self.settings.is_standardised and not self.is_policy:
            batch.standardise()
        return batch

    def _find_scale(self, memory: ColumnMemory) -> float:
        """Returns what targets are divided by."""
        if self.is_policy or not self.settings.is_standardised:
            return 1.0
        some = memory.columns["target"][: min(len(memory), SPREAD_SAMPLES)]
        legal = memory.columns["is_legal"][: len(some)]
        spread = float(np.sqrt(np.mean(np.square(some[legal], dtype=np.float64)))) if len(some) else 0.0
        return spread if spread > 0.0 else 1.0

    def state(self) -> dict[str, AnyArray]:
        """Returns weights, and what draws batches."""
        words = _pack_generator(self.rng)
        return {f"net.{name}": part for name, part in copy_weights(self.net).items()} | {"rng": words}

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """Goes back to a state."""
        load_tensors_into(self.net, {name[4:]: part for name, part in arrays.items() if name.startswith("net.")})
        _unpack_generator(self.rng, arrays["rng"])


def _pack_generator(rng: np.random.Generator) -> npt.NDArray[np.uint64]:
    """Returns the words of a PCG64 generator."""
    state = rng.bit_generator.state
    words = [state["state"]["state"], state["state"]["inc"]]
    mask = (1 << 64) - 1
    flat = [part for word in words for part in (word & mask, word >> 64)]
    return np.array([*flat, state["has_uint32"], state["uinteger"]], np.uint64)


def _unpack_generator(rng: np.random.Generator, words: AnyArray) -> None:
    parts = [int(word) for word in words]
    rng.bit_generator.state = {
        **rng.bit_generator.state,
        "state": {"state": parts[0] | parts[1] << 64, "inc": parts[2] | parts[3] << 64},
        "has_uint32": parts[4],
        "uinteger": parts[5],
    }


def load_tensors_into(net: torch.nn.Module, tensors: Mapping[str, AnyArray]) -> None:
    """Overwrites a network's weights by name; raises `ConfigError` if they are another network's."""
    try:
        net.load_state_dict({name: torch.from_numpy(np.array(part)) for name, part in tensors.items()})
    except RuntimeError:
        raise ConfigError("the weights are those of a network of another shape") from None


@torch.no_grad()
@one_thread()
def predict_rows(net: torch.nn.Module, features: AnyArray) -> FloatArray:
    """Returns `[B, A]` what a network says of `[B, F]`, some rows at a time."""
    parts = [
        net(torch.from_numpy(features[begin : begin + ROWS_AT_ONCE])).double().numpy()
        for begin in range(0, max(len(features), 1), ROWS_AT_ONCE)
    ]
    return np.concatenate(parts)


class NetRegressor:
    """A network of advantages, fitted anew after every iteration.

    Paper: Brown 2020, PhD thesis, section 4.1.1 and 4.1.2 [B20].
    Symbols: V -> net; theta -> its weights.
    Departs from the paper: see `DeepCFRSettings`. Before the first fit it says zero, whatever its weights.
    Checked by: tests/learning/deep_cfr/test_nets.py.
    """

    dtype = np.float32

    def __init__(self, walks: Walks, settings: DeepCFRSettings, layout: CardLayout, *, seed: int) -> None:
        """Draws the first weights."""
        self.fitting = _Fit(walks, settings, layout, is_policy=False, seed=seed)
        self.is_fitted = False

    @property
    def loss(self) -> float:
        """Returns the loss at the end of the last fit, NaN before."""
        return self.fitting.loss

    def fit(self, memory: ColumnMemory, iteration: int, *, is_interrupted: IsInterrupted = never) -> None:
        """Learns from what is remembered; raises `AbandonedError` between two steps once interrupted."""
        if not len(memory):
            return
        steps = self.fitting.settings.steps
        self.fitting.run(memory, steps, iteration, _find_advantage_loss, is_interrupted=is_interrupted)
        self.is_fitted = True

    def predict(self, place: AnyArray, is_legal: npt.NDArray[np.bool_]) -> FloatArray:
        """Returns `[B, A]` advantages, in units of the targets' spread if they are standardised."""
        if not self.is_fitted or not len(place):
            return np.zeros(is_legal.shape)
        return predict_rows(self.fitting.net, self.fitting.walks.features(place))

    def state(self) -> dict[str, AnyArray]:
        """Returns the weights and what draws batches."""
        return self.fitting.state() | {"is_fitted": np.array([self.is_fitted]), "loss": np.array([self.loss])}

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """Goes back to a state."""
        self.fitting.restore(arrays)
        self.is_fitted, self.fitting.loss = bool(arrays["is_fitted"][0]), float(arrays["loss"][0])


class PolicyFit:
    """A network that has learnt the average strategy from the memory of strategies."""

    def __init__(self, walks: Walks, settings: DeepCFRSettings, layout: CardLayout, *, seed: int) -> None:
        """Draws the weights."""
        self.fitting = _Fit(walks, settings, layout, is_policy=True, seed=seed)

    def fit(self, memory: ColumnMemory, iteration: int, *, is_interrupted: IsInterrupted = never) -> None:
        """Learns anew; a memory without a sample leaves it as it is. Raises `AbandonedError` once interrupted."""
        if len(memory):
            steps = self.fitting.settings.policy_steps
            self.fitting.run(memory, steps, iteration, _find_policy_loss, is_interrupted=is_interrupted)

    def play(self, player: int, place: AnyArray, is_legal: npt.NDArray[np.bool_]) -> FloatArray:
        """Returns `[B, A]` strategies."""
        del player  # the features say whose turn it is
        return soften(predict_rows(self.fitting.net, self.fitting.walks.features(place)), is_legal)


def soften(logits: FloatArray, is_legal: npt.NDArray[np.bool_]) -> FloatArray:
    """Returns `[B, A]` probabilities of legal actions.

    >>> soften(np.zeros((1, 3)), np.array([[True, True, False]])).tolist()
    [[0.5, 0.5, 0.0]]
    """
    shown = np.where(is_legal, logits, -np.inf)
    weight = np.exp(shown - shown.max(axis=1, keepdims=True))
    out: FloatArray = weight / weight.sum(axis=1, keepdims=True)
    return out
