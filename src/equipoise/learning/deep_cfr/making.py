# SPDX-License-Identifier: Apache-2.0
"""Trainings by networks, put together from a game and settings. Importing this module needs torch."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import CheckpointError, ConfigError, GameTooLargeError
from equipoise.core.files import StrPath
from equipoise.core.interruption import IsInterrupted, never
from equipoise.core.tensor_files import load_tensors, save_tensors
from equipoise.games.base import Game
from equipoise.games.holdem.rules import Holdem
from equipoise.learning.deep_cfr.encoding import CardLayout, Encoder, find_encoder
from equipoise.learning.deep_cfr.fitting import NetRegressor, PolicyFit, load_tensors_into, predict_rows, soften
from equipoise.learning.deep_cfr.nets import make_net
from equipoise.learning.deep_cfr.nfsp import NFSPTraining
from equipoise.learning.deep_cfr.rules_walks import RulesWalks
from equipoise.learning.deep_cfr.runs import NET, DeepCFRRun
from equipoise.learning.deep_cfr.settings import DeepCFRSettings, Learner, Player
from equipoise.learning.deep_cfr.training import DeepCFR
from equipoise.learning.deep_cfr.walks import TreeWalks, Walks
from equipoise.learning.values.trunk import copy_weights
from equipoise.trees.history import build_history_tree
from equipoise.trees.segments import flatten_ranges, number_within

__all__ = [
    "MOST_HISTORIES",
    "fit_policy",
    "load_policy_net",
    "make_policy",
    "make_trainer",
    "make_training",
    "make_walks",
    "save_policy_net",
    "tabulate_policy",
]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]

MOST_HISTORIES: Final = 2_000_000  # of a game that is walked as a tree
NET_FORMAT: Final = "equipoise policy network"


def make_walks(game: Game[Any], settings: DeepCFRSettings, *, max_histories: int = MOST_HISTORIES) -> Walks:
    """Returns a game as Deep CFR sees it: natively on its tree, or through its rules if that is too large.

    Hold'em is always walked through its rules: there networks are told cards and bets.
    """
    rng = np.random.default_rng([settings.seed, 31])
    if isinstance(game, Holdem):
        return RulesWalks(game, settings, rng=rng)
    try:
        return TreeWalks(build_history_tree(game, max_histories=max_histories), settings, rng=rng)
    except GameTooLargeError:
        return RulesWalks(game, settings, rng=rng)


def make_training(walks: Walks, settings: DeepCFRSettings) -> DeepCFR:
    """Returns a training that has not begun, a network for each player.

    >>> from equipoise.games import make_game
    >>> settings = DeepCFRSettings(traversals=20, capacity=1000, steps=2, batch=16, hidden=8)
    >>> run = make_training(make_walks(make_game("kuhn"), settings), settings)
    >>> run.iterate(2)
    >>> run.evaluate().exploitability > 0
    True
    """
    if settings.player is Player.VALUES and not isinstance(walks, TreeWalks):
        raise ConfigError("player=values needs a game whose tree fits: elsewhere a network of the average plays")
    seeds = np.random.SeedSequence([settings.seed, 37]).generate_state(walks.num_players).tolist()
    regressors = [NetRegressor(walks, settings, find_layout(walks), seed=seed) for seed in seeds]
    return DeepCFR(walks, settings, regressors)


def make_policy(walks: Walks, settings: DeepCFRSettings) -> PolicyFit:
    """Returns a network of the average strategy that has learnt nothing yet."""
    return PolicyFit(walks, settings, find_layout(walks), seed=settings.seed)


def find_layout(walks: Walks) -> CardLayout:
    """Returns how the rows of a walk's features are made up."""
    if isinstance(walks, RulesWalks):
        return walks.encoder.layout
    return CardLayout(num_numbers=walks.num_features)


def make_trainer(game: Game[Any], settings: DeepCFRSettings) -> DeepCFR | NFSPTraining:
    """Returns a training that has not begun, of whoever the settings say learns."""
    if settings.learner is Learner.NFSP:
        return NFSPTraining(build_history_tree(game, max_histories=MOST_HISTORIES), settings)
    return make_training(make_walks(game, settings), settings)


def fit_policy(run: DeepCFR, *, is_interrupted: IsInterrupted = never) -> PolicyFit:
    """Returns a network that has learnt the average strategy of a run; the run does not notice.

    Raises `AbandonedError` once it is interrupted.
    """
    settings = dataclasses.replace(run.settings, seed=run.settings.seed + 1000 * run.iteration)
    policy = make_policy(run.walks, settings)
    policy.fit(run.policy_memory, max(run.iteration, 1), is_interrupted=is_interrupted)
    return policy


def tabulate_policy(policy: PolicyFit, walks: TreeWalks) -> FloatArray:
    """Returns `[Q]` what a network plays everywhere on a tree."""
    out = np.ones(walks.kernel.num_sequences)
    infosets = np.arange(walks.kernel.num_infosets)
    rows = policy.play(0, infosets, walks.is_legal)
    counts = walks.tree.num_actions
    cells = flatten_ranges(walks.tree.first_sequence, counts)
    out[cells] = rows[np.repeat(infosets, counts), number_within(counts)]
    return out


def save_policy_net(policy: PolicyFit, path: StrPath, card: Mapping[str, Any]) -> None:
    """Writes a network of the average strategy, with a card that says where it comes from."""
    tensors = copy_weights(policy.fitting.net)
    save_tensors(path, tensors, {"format": NET_FORMAT, "card": json.dumps(dict(card))})


def load_policy_net(run: DeepCFRRun) -> tuple[Encoder, Callable[[AnyArray, BoolArray], FloatArray]]:
    """Returns what a run's network is told, and what answers `[B, F]` and legal actions `[B, A]` with strategies."""
    tensors, metadata = load_tensors(run.path / NET)
    if metadata.get("format") != NET_FORMAT:
        raise CheckpointError(f"{run.path / NET} holds no {NET_FORMAT}")
    outputs = next(part.shape[0] for name, part in tensors.items() if name == "head.last.bias")
    encoder = find_encoder(run.game, num_actions=outputs)
    net = make_net(run.settings, encoder.layout, encoder.num_actions, is_policy=True, seed=0)
    load_tensors_into(net, tensors)
    return encoder, lambda features, is_legal: soften(predict_rows(net, features), is_legal)
