# SPDX-License-Identifier: Apache-2.0
"""Agents that play Scotland Yard by supposing where Mr. X is."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from equipoise.agents.base import Observation, PolicyAgent
from equipoise.agents.public_paths import PublicPaths
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.base import Game
from equipoise.games.parameters import parse_parameters, parse_value
from equipoise.games.scotland_yard import ScotlandYard, ScotlandYardPublicGame
from equipoise.games.scotland_yard.situation import FUGITIVE
from equipoise.search.hunt import HuntConfig, HuntSearch

__all__ = ["HuntAgent", "make_hunt_agent"]

FEATURES: Final = {
    "one_tree": "has_one_tree",
    "categories": "has_categories",
    "coalition": "has_coalition",
    "greedy": "has_greedy_playouts",
    "filter": "has_filter",
}


class HuntAgent(PolicyAgent):
    """Plays the move that most simulations took.

    >>> from equipoise.agents import make
    >>> from equipoise.runs import match
    >>> match(make("hunt:20", "glasses"), "uniform", game="glasses", hands=2).num_hands
    2
    """

    is_fixed = False

    def __init__(self, game: ScotlandYard, config: HuntConfig | None = None, *, name: str = "hunt") -> None:
        """Keeps the board."""
        self.name = name
        self.search = HuntSearch(game.yard, config)
        self._paths = PublicPaths(ScotlandYardPublicGame(game))

    def begin_game(self, seat: int) -> None:
        """Goes back to the beginning."""
        self._paths.begin_game()

    def observe(self, observation: Observation) -> None:
        """Follows the game."""
        self._paths.observe(observation.public_state)

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` the favourites, the same for each of them."""
        state = self._paths.state_at(self._paths.locate(observation.public_state))
        possible = state.possible
        if observation.seat == FUGITIVE:  # he knows where he is: his way stands before what is public
            possible = (int(observation.infostate.partition("|")[0].split()[-1]),)
        visits = self.search.visits(state.situation, possible, rng=rng)
        favourites = visits == visits.max()
        shares: list[float] = (favourites / favourites.sum()).tolist()
        return shares


def make_hunt_agent(game: Game[Any], text: str) -> HuntAgent:
    """Returns the agent of `SIMULATIONS[,FEATURE=false...]`."""
    if not isinstance(game, ScotlandYard):
        raise ConfigError(f"hunt plays Scotland Yard, got {game.spec.label}")
    count, *parts = [part.strip() for part in text.split(",")]
    changes: dict[str, Any] = {"num_simulations": int(parse_value("simulations of hunt", count, int))}
    for key, value in parse_parameters(parts).items():
        if key not in FEATURES:
            raise UnknownNameError("feature of hunt", key, FEATURES)
        changes[FEATURES[key]] = bool(parse_value(key, value, bool))
    return HuntAgent(game, dataclasses.replace(HuntConfig(), **changes), name=f"hunt:{text}")
