# SPDX-License-Identifier: Apache-2.0
"""A game as sound self-play sees it: its public form, and what networks are told of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import Game
from equipoise.games.holdem.merged_suits import SuitMergedHoldem
from equipoise.games.holdem.rules import Holdem
from equipoise.games.perfect_information import find_open_form
from equipoise.games.public import PublicGame
from equipoise.games.registry import format_game
from equipoise.games.scotland_yard import ScotlandYard, ScotlandYardPublicGame
from equipoise.learning.values.configuration import NetKind, ValueNetConfig
from equipoise.learning.values.weights import StoredNet
from equipoise.search.belief_games import find_public_form
from equipoise.search.beliefs import PublicBelief
from equipoise.search.net_leaves import NetLeaves
from equipoise.search.public_features import find_features
from equipoise.search.rule_book import RuleBook

__all__ = ["SelfPlayGame", "check_public_net"]

FloatArray = npt.NDArray[np.float64]


class SelfPlayGame:
    """Rules over public states, with features.

    >>> from equipoise.games import make_game
    >>> SelfPlayGame(make_game("leduc")).features.sizes.num_inputs
    77
    """

    def __init__(self, game: Game[Any]) -> None:
        """Finds the public form: a game that hides nothing has one without being enumerated."""
        self.game = game
        self.form = _find_form(game)
        self.features = find_features(game, self.form)
        self.rules = RuleBook(self.form)

    def config(self, *, hidden: int, layers: int, takes_roots: bool) -> ValueNetConfig:
        """Returns the shape of a network."""
        sizes = self.features.sizes
        return ValueNetConfig(
            kind=NetKind.PUBLIC,
            game=format_game(self.game),
            hidden=hidden,
            layers=layers,
            is_residual=False,
            takes_roots=takes_roots,
            features=sizes.features,
            places=sizes.places,
            actions=sizes.actions,
        )

    def leaves(self, stored: StoredNet, *, temperature: float = 1.0) -> NetLeaves:
        """Returns a network as searches ask it, its policies made more even by a temperature above 1."""
        layers = stored.layers()
        if temperature != 1.0:
            sizes = self.features.sizes
            factor = np.ones(sizes.num_outputs, np.float32)
            factor[sum(sizes.places) :] /= temperature  # values come first
            layers[-1] = layers[-1]._replace(weight=layers[-1].weight * factor, bias=layers[-1].bias * factor)
        return NetLeaves(self.features, layers, takes_roots=stored.config.takes_roots)

    def belief(self, state: Any, reach: tuple[FloatArray, FloatArray]) -> PublicBelief:
        """Returns beliefs at a public state."""
        return PublicBelief(reach=reach, joint=self.rules.facts(state).joint)

    def first_reach(self) -> tuple[FloatArray, FloatArray]:
        """Returns what reaches are when the game begins."""
        state = self.form.initial_state()
        return np.ones(self.form.num_private(state, 0)), np.ones(self.form.num_private(state, 1))


def _find_form(game: Game[Any]) -> PublicGame[Any]:
    if game.spec.num_players != 2 or not game.spec.is_zero_sum:
        raise ConfigError(f"Player of Games is for two players in sum 0, and {game.spec.label} is not such a game")
    if isinstance(game, ScotlandYard):
        return ScotlandYardPublicGame(game)
    if isinstance(game, Holdem):
        return SuitMergedHoldem(game)
    return find_open_form(game) or find_public_form(game)


def check_public_net(stored: StoredNet, game: Game[Any]) -> None:
    """Raises `ConfigError` unless a network is one of public states, made for a game."""
    if stored.config.kind is not NetKind.PUBLIC:
        raise ConfigError(f"expected a network of public states, got one of kind {stored.config.kind}")
    if stored.config.game != format_game(game):
        raise ConfigError(f"the network was made for {stored.config.game}, not for {format_game(game)}")
