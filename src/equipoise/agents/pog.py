# SPDX-License-Identifier: Apache-2.0
"""Agents that play a training of Player of Games: a search at every decision, ended by its network."""

from __future__ import annotations

import dataclasses
from typing import Any

from equipoise.agents.continual import ContinualAgent
from equipoise.core.errors import UnknownNameError
from equipoise.games.base import Game
from equipoise.games.parameters import parse_parameters, parse_value
from equipoise.learning.pog.runs import NET, PogRun, find_run
from equipoise.learning.values.net_files import NetFile

__all__ = ["digest_pog_run", "game_of_pog_run", "make_pog_agent"]

OPTIONS = ("s", "c", "alternating", "share", "seed")


def make_pog_agent(game: Game[Any], text: str) -> ContinualAgent:
    """Returns the agent of `RUN[,s=N][,c=X][,alternating=true][,share=X][,seed=N]`."""
    path, *parts = [part.strip() for part in text.split(",")]
    run = PogRun.open(find_run(path))
    run.check_game(game)
    growth, share, seed = run.settings.growth, None, 0
    for key, value in parse_parameters(parts).items():
        if key not in OPTIONS:
            raise UnknownNameError("option of pog", key, OPTIONS)
        if key == "s":
            growth = dataclasses.replace(growth, simulations=int(parse_value(key, value, int)))
        elif key == "c":
            growth = dataclasses.replace(growth, per_sweep=float(parse_value(key, value, float)))
        elif key == "alternating":
            growth = dataclasses.replace(growth, is_alternating=bool(parse_value(key, value, bool)))
        elif key == "share":
            share = float(parse_value(key, value, float))
        else:
            seed = int(parse_value(key, value, int))
    return ContinualAgent(run.game.form, search=run.play(growth, share=share, seed=seed), name=f"pog:{text}")


def digest_pog_run(text: str) -> str:
    """Returns a short hash over the weights of a run."""
    return NetFile.at(find_run(text.partition(",")[0].strip()) / NET).digest


def game_of_pog_run(text: str) -> Game[Any]:
    """Returns the game that a run's agent plays."""
    return PogRun.open(find_run(text.partition(",")[0].strip())).game.game
