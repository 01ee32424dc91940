# SPDX-License-Identifier: Apache-2.0
"""Agents that play a training by Deep CFR or one of its rivals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from equipoise.agents.base import Observation, PolicyAgent
from equipoise.agents.strategies import StrategyAgent
from equipoise.core.errors import UnknownNameError
from equipoise.games.base import Game
from equipoise.games.parameters import parse_parameters
from equipoise.learning.deep_cfr.runs import NET, DeepCFRRun
from equipoise.learning.deep_cfr.settings import Player
from equipoise.learning.values.net_files import NetFile
from equipoise.solvers.strategy import TabularStrategy

__all__ = ["NetworkAgent", "digest_deep_cfr_run", "game_of_deep_cfr_run", "make_deep_cfr_agent"]


class NetworkAgent(PolicyAgent):
    """Plays what a network of the average strategy says of each information state; it needs torch."""

    def __init__(self, run: DeepCFRRun, *, name: str = "deep-cfr") -> None:
        """Reads the network."""
        from equipoise.learning.deep_cfr.making import load_policy_net  # noqa: PLC0415 - torch is an extra

        self.name = name
        self.encoder, self._ask = load_policy_net(run)

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` what the network says."""
        outputs = self.encoder.outputs(observation.classes)
        is_legal = np.zeros((1, self.encoder.num_actions), np.bool_)
        is_legal[0, outputs] = True
        features = self.encoder.encode(observation.seat, observation.infostate)[None]
        shares: list[float] = self._ask(features, is_legal)[0, outputs].tolist()
        return shares


def make_deep_cfr_agent(game: Game[Any], text: str) -> StrategyAgent | NetworkAgent:
    """Returns the agent of `RUN[,player=policy|values]`."""
    run, player = _read(text)
    run.check_game(game)
    table = run.find_table(player)
    if table is None:
        return NetworkAgent(run, name=f"deep-cfr:{text}")
    return StrategyAgent(TabularStrategy.load(table), game, name=f"deep-cfr:{text}")


def digest_deep_cfr_run(text: str) -> str:
    """Returns a short hash over what plays."""
    run, player = _read(text)
    return NetFile.at(run.find_table(player) or run.path / NET).digest


def game_of_deep_cfr_run(text: str) -> Game[Any]:
    """Returns the game that a run's agent plays."""
    return _read(text)[0].game


def _read(text: str) -> tuple[DeepCFRRun, Player | None]:
    path, *parts = [part.strip() for part in text.split(",")]
    given = parse_parameters(parts)
    if unknown := [key for key in given if key != "player"]:
        raise UnknownNameError("option of deep-cfr", unknown[0], ("player",))
    player = given.get("player")
    if player is not None and player not in set(Player):
        raise UnknownNameError("player of deep-cfr", player, list(Player))
    return DeepCFRRun.open(path), None if player is None else Player(player)
