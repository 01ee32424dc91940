# SPDX-License-Identifier: Apache-2.0
"""A training of values of beliefs in hold'em by cycles of self-play. Importing this module needs torch."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.memory import check_memory
from equipoise.core.pool import Pool
from equipoise.games.holdem.cards import FULL_DECK
from equipoise.learning.columns import ColumnMemory, count_bytes
from equipoise.learning.cycles import CycleTrainer, bend_errors
from equipoise.learning.pooled_play import PooledPlay
from equipoise.learning.rebel.holdem.nets import LEVELS, ONE, POLICY, Layer, LayerNets, make_configs, show_states
from equipoise.learning.rebel.holdem.play import HandExamples, HoldemSelfPlay, example_columns, policy_columns
from equipoise.learning.rebel.holdem.pooling import PooledHands
from equipoise.learning.rebel.holdem.settings import HoldemRebelSettings, NetForm
from equipoise.learning.torch_extra import torch
from equipoise.learning.values.boards import shared_boards
from equipoise.learning.values.configuration import NetKind, ValueNetConfig
from equipoise.learning.values.curve_net import CurveNet, CurveTensors, make_zero_sum
from equipoise.learning.values.inputs import find_inputs
from equipoise.learning.values.trunk import Trunk, copy_weights
from equipoise.learning.values.weights import StoredNet

__all__ = ["HoldemRebelTrainer"]

NAMES: Final = "layers"  # of the networks, among the arrays of a state
KEPT: Final = "policies."  # of arrays of a state
HANDS: Final = 256  # of an example that a step learns from, where networks are curves


class SeenNet(torch.nn.Module):
    """What hands are worth at any layer, in pots: one network that sees each for itself.

    Paper: Brown 2020, PhD thesis, sections 5.3.10 and 6.7.
    Departs from the paper: board cards are given one by one, without an embedding of their own; one pass says both
        players' values, a unit of mass that a hand can meet at a time, and they are made to sum to zero.
    Checked by: tests/learning/rebel/test_holdem.py.
    """

    def __init__(self, config: ValueNetConfig, *, generator: torch.Generator) -> None:
        super().__init__()
        self.config = config
        self.trunk = Trunk(config, generator=generator)

    def forward(self, inputs: torch.Tensor, shares: torch.Tensor, matched: torch.Tensor) -> torch.Tensor:
        """Returns `[B, 2, H]` values."""
        found: torch.Tensor = self.trunk(inputs)
        return make_zero_sum(found.view_as(matched) * matched, shares, matched)


class ProposingNet(torch.nn.Module):
    """What is played at decisions: shares of actions for each hand, learnt by squares."""

    def __init__(self, config: ValueNetConfig, *, generator: torch.Generator) -> None:
        super().__init__()
        self.config = config
        self.trunk = Trunk(config, generator=generator)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Returns `[B, A, H]` shares."""
        found: torch.Tensor = self.trunk(inputs)
        return found.view(len(inputs), self.config.actions[0], -1)


class HoldemRebelTrainer(CycleTrainer):
    """A training of the networks of all layers by self-play."""

    def __init__(self, settings: HoldemRebelSettings) -> None:
        """Begins a training."""
        columns = example_columns()
        check_memory(count_bytes(settings.capacity, columns), f"remembering {settings.capacity:,} examples")
        self.configs = make_configs(settings)
        self.memory = ColumnMemory(settings.capacity, columns)
        kept = policy_columns(settings) if settings.warm_start else {}
        check_memory(count_bytes(settings.capacity, kept), f"remembering strategies of {settings.capacity:,} decisions")
        self.policies = ColumnMemory(settings.capacity, kept) if kept else None
        super().__init__(settings, next(iter(self.configs.values())), self.memory, word=23)
        self.settings: HoldemRebelSettings = settings
        self.self_play = HoldemSelfPlay(settings)

    def _make_net(self) -> torch.nn.Module:
        forms: dict[NetKind, Callable[..., torch.nn.Module]] = {
            NetKind.BELIEF: SeenNet,
            NetKind.POLICY: ProposingNet,
            NetKind.CURVE: CurveNet,
        }
        return torch.nn.ModuleDict(
            {name: forms[config.kind](config, generator=self.generator) for name, config in self.configs.items()}
        )

    def stored_nets(self, card: Mapping[str, Any] | None = None) -> dict[str, StoredNet]:
        """Returns the averaged weights of each network, which play."""
        nets: Any = self.averaged
        return {
            name: StoredNet(config=config, tensors=copy_weights(nets[name]), card=card or {})
            for name, config in self.configs.items()
        }

    def nets(self) -> LayerNets:
        """Returns the averaged weights as searches ask them."""
        return LayerNets.of(self.settings, self.stored_nets())

    def _weights_to_play(self) -> dict[str, StoredNet]:
        return self.stored_nets()

    def _begin_pooled(self, pool: Pool, is_over: Callable[[], bool]) -> PooledPlay[Any]:
        return PooledHands(pool, self.settings, self.examples, nets=self.stored_nets(), is_over=is_over)

    def _play(self, count: int) -> None:
        self.self_play.search_with(self.nets(), self.settings.iterations_at(self.examples))
        self._remember(self.self_play.generate(count, rng=self.rng))

    def _remember(self, examples: HandExamples) -> None:
        self._count(len(examples.values["layer"]))
        self.memory.append(examples.values)
        if self.policies is not None and examples.policies is not None:
            self.policies.append(examples.policies)

    def _count(self, size: int) -> None:
        """Counts examples before they are added; once, the oldest of those so far are forgotten."""
        settings = self.settings
        dropped_at = int(settings.dropped_at * settings.examples)
        if self.examples < dropped_at <= self.examples + size:
            for memory in (self.memory, self.policies):
                if memory is not None:
                    memory.keep_newest(round((1.0 - settings.dropped_share) * len(memory)))
        self.examples += size

    def _find_loss(self) -> torch.Tensor:
        some = self.memory.draw(self.settings.batch, rng=self.rng)
        if self.settings.nets is NetForm.ONE:
            loss = self._find_one(some)
            return loss if not self.policies else loss + self._find_policy_loss(self.policies)
        total = torch.zeros(())
        for number in np.unique(some["layer"]).tolist():
            rows = np.flatnonzero(some["layer"] == number)
            total = total + self._find_curve(Layer.of(number), {name: part[rows] for name, part in some.items()})
        return total / len(some["layer"])

    def _find_one(self, some: Mapping[str, npt.NDArray[Any]]) -> torch.Tensor:
        nets: Any = self.net
        board = some["board"].astype(np.int64)
        seen = show_states(self.configs[ONE], some["layer"], board, some["ratio"], some["range"])
        found = nets[ONE](*map(torch.from_numpy, seen))
        known = torch.from_numpy(some["value"].astype(np.float32))
        loss: torch.Tensor = bend_errors(found - known, self.settings.loss_bend).mean()
        return loss

    def _find_policy_loss(self, memory: ColumnMemory) -> torch.Tensor:
        """Returns the mean square of what is wrong with shares of actions."""
        nets: Any = self.net
        some = memory.draw(self.settings.batch, rng=self.rng)
        board = some["board"].astype(np.int64)
        seen = show_states(self.configs[POLICY], some["layer"], board, some["ratio"], some["range"], some["told"])
        shares = torch.from_numpy(some["policy"].astype(np.float32))
        known = shares / LEVELS if self.settings.quantises else shares
        loss: torch.Tensor = ((nets[POLICY](torch.from_numpy(seen.inputs)) - known) ** 2).mean()
        return loss

    def _find_curve(self, layer: Layer, some: Mapping[str, npt.NDArray[Any]]) -> torch.Tensor:
        """Returns the losses of examples of one layer, added up over some hands."""
        nets: Any = self.net
        num_cards = layer.street.num_board_cards
        boards, board_of = np.unique(np.sort(some["board"][:, :num_cards], axis=1), axis=0, return_inverse=True)
        facts = shared_boards(FULL_DECK).find([tuple(row) for row in boards.tolist()])
        live = np.stack([each.hands for each in facts])[board_of.ravel()][:, None]  # [B, 1, n]
        ranges = np.take_along_axis(some["range"], live, axis=2).astype(np.float64)
        known = np.take_along_axis(some["value"], live, axis=2).astype(np.float32)
        inputs = find_inputs(self.configs[layer.name], facts, board_of.ravel(), ranges, some["ratio"])
        hands = np.sort(self.rng.choice(live.shape[2], min(HANDS, live.shape[2]), replace=False))
        found = nets[layer.name](CurveTensors.of(inputs), torch.from_numpy(hands))
        error = found - torch.from_numpy(np.ascontiguousarray(known[:, :, hands]))
        loss: torch.Tensor = bend_errors(error, self.settings.loss_bend).mean(dim=(1, 2)).sum()
        return loss

    def _play_state(self) -> dict[str, npt.NDArray[Any]]:
        names = json.dumps(list(self.configs)).encode()
        kept = {} if self.policies is None else self.policies.state()
        return {NAMES: np.frombuffer(names, np.uint8).copy()} | {KEPT + name: part for name, part in kept.items()}

    def _restore_play(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        if bytes(arrays[NAMES].tobytes()) != json.dumps(list(self.configs)).encode():
            raise ConfigError("the saved networks are of other layers")
        if self.policies is not None:
            kept = {name.removeprefix(KEPT): part for name, part in arrays.items() if name.startswith(KEPT)}
            self.policies.restore(kept)
