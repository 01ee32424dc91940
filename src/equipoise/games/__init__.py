# SPDX-License-Identifier: Apache-2.0
"""The rules of games, and nothing but the rules."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.games.base import CHANCE, TERMINAL, ActionClass, Game, GameSpec
    from equipoise.games.base_game import BaseGame
    from equipoise.games.conformance import GameReport, check_game
    from equipoise.games.gambit import EfgGame, load_efg, save_efg
    from equipoise.games.parameters import ParameterRow
    from equipoise.games.playthrough import format_playthrough, sample_action
    from equipoise.games.registry import describe_parameters, game_names, make_game, parse_game
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "base": ("CHANCE", "TERMINAL", "ActionClass", "Game", "GameSpec"),
            "base_game": ("BaseGame",),
            "conformance": ("GameReport", "check_game"),
            "gambit": ("EfgGame", "load_efg", "save_efg"),
            "parameters": ("ParameterRow",),
            "playthrough": ("format_playthrough", "sample_action"),
            "registry": ("describe_parameters", "game_names", "make_game", "parse_game"),
        },
    )

__all__ = [
    "CHANCE",
    "TERMINAL",
    "ActionClass",
    "BaseGame",
    "EfgGame",
    "Game",
    "GameReport",
    "GameSpec",
    "ParameterRow",
    "check_game",
    "describe_parameters",
    "format_playthrough",
    "game_names",
    "load_efg",
    "make_game",
    "parse_game",
    "sample_action",
    "save_efg",
]
