# SPDX-License-Identifier: Apache-2.0
"""Belief networks at work, without torch: for searches in the native module, and in NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import Game
from equipoise.games.registry import format_game
from equipoise.kernels.belief_search import BeliefNetKernel
from equipoise.kernels.value_nets import PerceptronKernel
from equipoise.learning.rebel.settings import RebelSettings
from equipoise.learning.values.configuration import NetKind, ValueNetConfig
from equipoise.learning.values.weights import StoredNet
from equipoise.search.belief_games import BeliefGame, format_horizon

__all__ = ["bind_belief_net", "bind_elsewhere", "check_belief_net", "encode_beliefs", "make_config", "predict"]

SingleArray = npt.NDArray[np.float32]


def make_config(game: BeliefGame, settings: RebelSettings, label: str) -> ValueNetConfig:
    """Returns the shape of a network for a game, named by its label."""
    return ValueNetConfig(
        kind=NetKind.BELIEF,
        game=label,
        hidden=settings.hidden,
        layers=settings.layers,
        is_residual=False,
        buckets=game.width,
        kinds=game.num_kinds,
        horizon=settings.horizon,
    )


def check_belief_net(stored: StoredNet, game: Game[object], *, kind: NetKind = NetKind.BELIEF) -> None:
    """Raises `ConfigError` unless a network is of a kind, one of beliefs if none is named, and made for a game."""
    if stored.config.kind is not kind:
        raise ConfigError(f"expected a {kind} network, got one of kind {stored.config.kind}")
    if stored.config.game != format_game(game):
        raise ConfigError(f"the network was made for {stored.config.game}, not for {format_game(game)}")


def bind_belief_net(stored: StoredNet) -> BeliefNetKernel:
    """Returns a network as searches ask it."""
    config = stored.config
    return BeliefNetKernel(config.kinds, config.buckets, stored.layers(), takes_roots=config.takes_roots)


def bind_elsewhere(stored: StoredNet, trained: BeliefGame, game: BeliefGame) -> BeliefNetKernel:
    """Returns a network as searches ask it that end elsewhere than those that it was trained with.

    Raises:
        ConfigError: they end at public states that the network knows nothing of.
    """
    config, layers = stored.config, stored.layers()
    found = game.numbers_in(trained)
    kinds = [number for number in found if number is not None]
    if len(kinds) < len(found):
        raise ConfigError(
            f"searches with horizon {format_horizon(game.limit)} end at public states that the network knows nothing "
            f"of: it was trained with horizon {format_horizon(trained.limit)}"
        )
    weight = np.concatenate([layers[0].weight[kinds], layers[0].weight[config.kinds :]])
    first = layers[0]._replace(weight=np.ascontiguousarray(weight))
    return BeliefNetKernel(len(kinds), config.buckets, [first, *layers[1:]], takes_roots=config.takes_roots)


def encode_beliefs(config: ValueNetConfig, kind: npt.NDArray[np.int32], belief: SingleArray) -> SingleArray:
    """Returns `[B, inputs]` what a network is told of public states of kinds `[B]` and beliefs `[B, 2, width]`."""
    count = len(kind)
    inputs = np.zeros((count, config.num_inputs), np.float32)
    inputs[np.arange(count), kind] = 1.0
    shares = np.float32(config.buckets) * belief.reshape(count, -1)
    inputs[:, config.kinds :] = np.sqrt(shares) if config.takes_roots else shares
    return inputs


def predict(stored: StoredNet, kind: npt.NDArray[np.int32], belief: SingleArray) -> SingleArray:
    """Returns `[B, 2, width]` what private states are worth at states of kinds `[B]` for beliefs `[B, 2, width]`."""
    kernel = PerceptronKernel(stored.config.num_inputs, stored.config.num_outputs, stored.layers())
    found = kernel.run(encode_beliefs(stored.config, kind, belief)).reshape(belief.shape)
    left = (belief * found).sum(axis=(1, 2), keepdims=True)
    out: SingleArray = found - np.float32(0.5) * left
    return out
