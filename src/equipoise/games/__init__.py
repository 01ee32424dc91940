# SPDX-License-Identifier: Apache-2.0
"""The rules of games, and nothing but the rules."""

from equipoise.games.base import CHANCE, TERMINAL, ActionClass, Game, GameSpec
from equipoise.games.parameters import ParameterRow
from equipoise.games.registry import describe_parameters, game_names, make_game, parse_game

__all__ = [
    "CHANCE",
    "TERMINAL",
    "ActionClass",
    "Game",
    "GameSpec",
    "ParameterRow",
    "describe_parameters",
    "game_names",
    "make_game",
    "parse_game",
]
