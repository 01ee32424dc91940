# SPDX-License-Identifier: Apache-2.0
"""Agents for games that hide nothing: whatever searches a state, asked at every decision anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Observation, PolicyAgent
from equipoise.agents.public_paths import PublicPaths
from equipoise.core.errors import ConfigError
from equipoise.games.base import Game
from equipoise.games.perfect_information import OpenState, PerfectInformationGame, find_open_form
from equipoise.search.ismcts import ISMCTSConfig
from equipoise.search.rules_ismcts import RulesISMCTS
from equipoise.search.worlds import World

__all__ = ["BoardAgent", "make_uct_agent"]

FloatArray = npt.NDArray[np.float64]
OpenSearch = Callable[[OpenState, np.random.Generator], FloatArray]  # what says how much each action deserves
SAMPLED = 4  # moves of both players that are drawn, so that games between agents that draw nothing else differ
UCT_EXPLORATION = 1.0  # C by default, where wins and losses are 1 and -1


class BoardAgent(PolicyAgent):
    """Plays the action that a search favours; the first moves of a game are drawn in proportion.

    >>> from equipoise.agents import make
    >>> from equipoise.runs import match
    >>> match(make("uct:20", "tic_tac_toe"), "uniform", game="tic_tac_toe", hands=2).num_hands
    2
    """

    is_fixed = False

    def __init__(self, form: PerfectInformationGame, search: OpenSearch, *, name: str, sampled: int = SAMPLED) -> None:
        """Keeps a search.

        Args:
            form: what is played.
            search: returns `[A]` what each action of a state deserves, at least 0.
            name: for tables of results.
            sampled: moves from the beginning, both players' counted, that are drawn in proportion to what they deserve.
        """
        self.name, self.sampled = name, sampled
        self._search, self._paths = search, PublicPaths(form)

    def begin_game(self, seat: int) -> None:
        """Goes back to the beginning."""
        self._paths.begin_game()

    def observe(self, observation: Observation) -> None:
        """Follows the game."""
        self._paths.observe(observation.public_state)

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` the favourite, or shares at the beginning of a game."""
        path = self._paths.locate(observation.public_state)
        found = self._search(self._paths.state_at(path), rng)
        if len(path) >= self.sampled:
            found = (found == found.max()).astype(np.float64)
        shares: list[float] = (found / found.sum()).tolist()
        return shares


def check_open_form(game: Game[Any], name: str) -> PerfectInformationGame:
    """Returns the form of a game that hides nothing; raises `ConfigError` for any other."""
    form = find_open_form(game)
    if form is None:
        raise ConfigError(
            f"{name} plays two-player games in sum 0 that hide nothing, such as tic_tac_toe or openspiel:connect_four; "
            f"{game.spec.label} is no such game"
        )
    return form


def make_uct_agent(game: Game[Any], text: str) -> BoardAgent:
    """Returns the agent of `SIMULATIONS[,C]`: upper confidence bounds and uniform playouts."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 2:
        raise ConfigError(f"uct takes simulations and C, got {len(parts)} settings: {text!r}")
    try:
        num_simulations = int(parts[0])
        exploration = float(parts[1]) if len(parts) > 1 else UCT_EXPLORATION
    except ValueError:
        raise ConfigError(f"simulations and C of uct must be numbers, as in 1000,1, got {text!r}") from None
    form = check_open_form(game, "uct")
    half = game.spec.utility_range / 2.0
    search = RulesISMCTS(game, ISMCTSConfig(num_simulations=num_simulations, exploration=exploration * half))

    def look(state: OpenState, rng: np.random.Generator) -> FloatArray:
        return search.search([World(state.inside, 1.0)], rng=rng).visits + 1e-9  # one simulation takes no action

    return BoardAgent(form, look, name=f"uct:{text}")
