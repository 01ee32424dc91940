# SPDX-License-Identifier: Apache-2.0
"""Layers of a hand of hold'em, from the end of the first round to the start of the last, and networks that value them.

Values are in pots for ranges that add up to 1, as those of value networks are. No torch is needed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.games.holdem.betting import Stage, Street
from equipoise.games.holdem.cards import FULL_DECK, NUM_CARDS
from equipoise.games.holdem.hands import hands_of
from equipoise.kernels.frontier import BeliefBatch, LeafValues
from equipoise.kernels.value_nets import PerceptronKernel
from equipoise.learning.rebel.holdem.settings import HoldemRebelSettings, NetForm
from equipoise.learning.values.configuration import (
    NUM_RATIO_FEATURES,
    NetKind,
    NetStage,
    ValueNetConfig,
)
from equipoise.learning.values.inference import bind_net
from equipoise.learning.values.leaves import NetworkLeaves
from equipoise.learning.values.weights import StoredNet
from equipoise.search.holdem.equity_leaves import EquityLeaves
from equipoise.search.leaves import LeafEvaluator

__all__ = [
    "LABEL",
    "LEVELS",
    "NUM_TOLD",
    "ONE",
    "POLICY",
    "HandsGuide",
    "Layer",
    "LayerNets",
    "SeenHands",
    "find_layers",
    "make_configs",
    "show_states",
]

LABEL: Final = "holdem"  # of networks that see every hand for itself
NUM_LAYERS: Final = 6
ONE: Final = "layers"  # name of the network of all of them
POLICY: Final = "policy"  # of that which proposes strategies
NUM_TOLD: Final = 3  # numbers that it is told besides: what both have put in, and whether anybody has bet in the round
LEVELS: Final = 255  # that shares of strategies are rounded to
LEAST_TOTAL: Final = 1e-3  # of what it says of all actions; uniform play where it is less
MOST_RATIO: Final = 250.0  # of stack to pot
LEAST_MET: Final = 1e-12  # of both ranges, that share no card

FloatArray = npt.NDArray[np.float64]
SingleArray = npt.NDArray[np.float32]


class Layer(NamedTuple):
    """Where searches begin or end: the start or the end of a round of betting."""

    street: Street
    stage: NetStage

    @property
    def number(self) -> int:
        """Returns which of the six it is.

        >>> [Layer(Street(2), stage).number for stage in (NetStage.START, NetStage.END)]
        [3, 4]
        """
        return 2 * int(self.street) - (self.stage is NetStage.START)

    @classmethod
    def of(cls, number: int) -> Layer:
        """Returns the layer of a number."""
        return cls(Street((number + 1) // 2), NetStage.START if number % 2 else NetStage.END)

    @property
    def name(self) -> str:
        """Returns the name of its file, as value networks that come with the package have them."""
        return self.street.name.lower() + ("-end" if self.stage is NetStage.END else "")


def find_layers(first: Street) -> tuple[Layer, ...]:
    """Returns the layers of hands that begin with a street, in the order of play.

    >>> [layer.name for layer in find_layers(Street.TURN)]
    ['turn-end', 'river']
    """
    return tuple(Layer.of(number) for number in range(2 * int(first), NUM_LAYERS))


def make_configs(settings: HoldemRebelSettings) -> dict[str, ValueNetConfig]:
    """Returns the shapes of the networks by name."""
    if settings.nets is NetForm.ONE:
        one = make_one_config(hidden=settings.hidden, layers=settings.layers)
        if not settings.warm_start:
            return {ONE: one}
        actions, told = (settings.most_actions,) * 2, one.kinds + NUM_TOLD
        return {ONE: one, POLICY: dataclasses.replace(one, kind=NetKind.POLICY, kinds=told, actions=actions)}
    return {
        layer.name: ValueNetConfig(
            kind=NetKind.CURVE,
            street=layer.street,
            stage=layer.stage,
            cells=settings.cells,
            potential_cells=1 if layer.street is Street.RIVER else settings.potential,
            least_ratio=0.02,
            most_ratio=MOST_RATIO,
            hidden=settings.hidden,
            layers=settings.layers,
        )
        for layer in find_layers(settings.street)
    }


def make_one_config(*, hidden: int, layers: int) -> ValueNetConfig:
    """Returns the shape of a network of all layers that sees every hand for itself."""
    return ValueNetConfig(
        kind=NetKind.BELIEF,
        game=LABEL,
        hidden=hidden,
        layers=layers,
        most_ratio=MOST_RATIO,
        is_residual=False,
        buckets=hands_of(FULL_DECK).num_hands,
        kinds=NUM_LAYERS + NUM_CARDS + NUM_RATIO_FEATURES,
    )


class SeenHands(NamedTuple):
    """Public states as a network of all layers sees them, B of them."""

    inputs: SingleArray  # [B, inputs]
    shares: SingleArray  # [B, 2, H] ranges, 0 for hands that the board blocks
    matched: SingleArray  # [B, 2, H] mass of the other player that shares no card with a hand or the board


def show_states(
    config: ValueNetConfig,
    number: npt.NDArray[np.integer],
    board: npt.NDArray[np.integer],
    ratio: npt.NDArray[np.floating],
    shares: npt.NDArray[np.floating],
    told: npt.NDArray[np.floating] | None = None,
) -> SeenHands:
    """Returns what a network of all layers is told.

    Args:
        config: of the network.
        number: `[B]` of layers.
        board: `[B, 5]` cards, -1 where none lies.
        ratio: `[B]` of stack to pot.
        shares: `[B, 2, H]` ranges that add up to 1.
        told: `[B, F]` what it is told besides, if it is.
    """
    count, hands = len(number), hands_of(FULL_DECK)
    cards = np.zeros((count, NUM_CARDS + 1), np.float32)
    cards[np.arange(count)[:, None], board] = 1.0  # the last column is of cards that do not lie there
    held = np.array([~hands.blocked([card for card in row if card >= 0]) for row in board.tolist()])
    own = np.asarray(shares, np.float64) * held[:, None]
    matched = np.stack([[hands.compatible(side) for side in row[::-1]] for row in own]) * held[:, None]
    inputs = np.zeros((count, config.num_inputs), np.float32)
    inputs[np.arange(count), number] = 1.0
    inputs[:, NUM_LAYERS : NUM_LAYERS + NUM_CARDS] = cards[:, :NUM_CARDS]
    ends = NUM_LAYERS + NUM_CARDS + NUM_RATIO_FEATURES
    inputs[:, NUM_LAYERS + NUM_CARDS : ends] = config.encode_ratios(ratio)
    if told is not None:
        inputs[:, ends : config.kinds] = told
    inputs[:, config.kinds :] = np.sqrt(own * config.buckets).reshape(count, -1)
    return SeenHands(inputs, own.astype(np.float32), np.maximum(matched, 0.0).astype(np.float32))


class BeliefLeaves:
    """Values of any layer by one network that sees every hand for itself: `LeafEvaluator`."""

    def __init__(self, stored: StoredNet) -> None:
        """Copies the weights."""
        self.config = stored.config
        self._kernel = PerceptronKernel(stored.config.num_inputs, stored.config.num_outputs, stored.layers())

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns what the network says."""
        states = batch.states
        number = np.array([_layer_at(state).number for state in states])
        board = np.array([[*state.board, *[-1] * (5 - len(state.board))] for state in states])
        pot = np.array([2.0 * min(state.betting.committed) for state in states])
        ratio = np.array([min(state.stacks) for state in states]) / pot
        reach = np.stack(batch.reach, axis=1)
        mass = reach.sum(axis=2)
        seen = show_states(self.config, number, board, ratio, reach / np.maximum(mass, LEAST_MET)[:, :, None])
        found = self._kernel.run(seen.inputs).reshape(seen.matched.shape) * seen.matched
        left = (seen.shares * found).sum(axis=(1, 2), dtype=np.float64)
        met = (seen.shares[:, 0] * seen.matched[:, 0]).sum(axis=1, dtype=np.float64)
        found = found - (left / (2.0 * np.maximum(met, LEAST_MET)))[:, None, None] * seen.matched
        first, second = (found[:, player] * (pot * mass[:, 1 - player])[:, None] for player in (0, 1))
        return LeafValues((first, second))


class HandsGuide:
    """A network that proposes strategies at decisions, whoever moves first in its ranges."""

    def __init__(self, stored: StoredNet) -> None:
        """Copies the weights."""
        self.config = stored.config
        self._kernel = PerceptronKernel(stored.config.num_inputs, stored.config.num_outputs, stored.layers())

    def propose(self, asked: Mapping[str, npt.NDArray[Any]], num_actions: int) -> FloatArray:
        """Returns `[H, A]` what is proposed at one decision, described as examples of strategies are."""
        seen = show_states(self.config, asked["layer"], asked["board"], asked["ratio"], asked["range"], asked["told"])
        said = self._kernel.run(seen.inputs).reshape(self.config.actions[0], -1)[:num_actions].T.astype(np.float64)
        positive = np.maximum(said, 0.0)
        total = positive.sum(axis=1, keepdims=True)
        shares = np.full(positive.shape, 1.0 / num_actions)
        np.divide(positive, total, out=shares, where=total > LEAST_TOTAL)
        return shares


def _layer_at(state: object) -> Layer:
    betting = state.betting  # type: ignore[attr-defined]  # a `HoldemState`
    return Layer(Street(betting.street), NetStage.END if betting.stage is Stage.DEAL else NetStage.START)


class _Shown:
    """An evaluator, and hands shown down at once where nobody has chips left."""

    def __init__(self, inner: LeafEvaluator, equity: LeafEvaluator) -> None:
        self.inner, self.equity = inner, equity

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns what the network says, or what showdowns pay."""
        is_over = np.array([min(state.stacks) == 0 for state in batch.states])
        out = np.zeros(batch.reach[0].shape), np.zeros(batch.reach[1].shape)
        for rows, evaluator in ((np.flatnonzero(~is_over), self.inner), (np.flatnonzero(is_over), self.equity)):
            if not rows.size:
                continue
            part = BeliefBatch(
                states=[batch.states[row] for row in rows.tolist()],
                reach=(batch.reach[0][rows], batch.reach[1][rows]),
                num_private=batch.num_private[rows],
                joint=[batch.joint[row] for row in rows.tolist()],
            )
            for own, found in zip(out, evaluator.evaluate(part).cfv, strict=True):
                own[rows] = found
        return LeafValues(out)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LayerNets:
    """Networks at work."""

    stored: Mapping[str, StoredNet]
    evaluators: Mapping[str, LeafEvaluator]
    guide: HandsGuide | None = None  # proposes what searches begin with

    @classmethod
    def of(cls, settings: HoldemRebelSettings, stored: Mapping[str, StoredNet]) -> LayerNets:
        """Returns networks by name; raises `ConfigError` unless they are those of the settings."""
        for name, config in make_configs(settings).items():
            if name not in stored or stored[name].config != config:
                raise ConfigError(f"the network {name} is not one of this training")
        if settings.nets is NetForm.CURVES:
            return cls(stored=stored, evaluators={name: NetworkLeaves(bind_net(each)) for name, each in stored.items()})
        one: LeafEvaluator = BeliefLeaves(stored[ONE])
        return cls(
            stored=stored,
            evaluators={ONE: _Shown(one, EquityLeaves(FULL_DECK)) if settings.has_all_in_table else one},
            guide=HandsGuide(stored[POLICY]) if settings.warm_start else None,
        )

    @classmethod
    def load(cls, settings: HoldemRebelSettings, folder: Path) -> LayerNets:
        """Returns the networks in a folder."""
        paths = {name: folder / f"{name}.safetensors" for name in make_configs(settings)}
        for path in paths.values():
            if not path.exists():
                raise CheckpointError(f"{folder} has no {path.name} yet: nothing was learnt so far")
        return cls.of(settings, {name: StoredNet.load(path) for name, path in paths.items()})

    def at(self, layer: Layer) -> LeafEvaluator:
        """Returns who values a layer."""
        return self.evaluators.get(layer.name) or self.evaluators[ONE]
