# SPDX-License-Identifier: Apache-2.0
"""The rules of games, and nothing but the rules."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.games.base import CHANCE, TERMINAL, ActionClass, Game, GameSpec
    from equipoise.games.base_game import BaseGame
    from equipoise.games.coin_toss import CoinToss
    from equipoise.games.conformance import GameReport, check_game
    from equipoise.games.gambit import EfgGame, load_efg, save_efg
    from equipoise.games.goofspiel import Goofspiel
    from equipoise.games.holdem.rules import FlopHoldem, Holdem, HoldemLimit, HoldemSix
    from equipoise.games.holdem.spot import HoldemSpot
    from equipoise.games.holdem.spot_file import SpotFile
    from equipoise.games.kuhn import Kuhn
    from equipoise.games.leduc import Leduc, Leduc5, LeducNoLimit
    from equipoise.games.liars_dice import LiarsDice
    from equipoise.games.matrix import Matrix, RockPaperScissors, RPSPlus
    from equipoise.games.openspiel import OpenSpielGame, load_openspiel
    from equipoise.games.parameters import ParameterRow, derived, parameter
    from equipoise.games.perfect_information import PerfectInformationGame
    from equipoise.games.phantom_tic_tac_toe import PhantomTicTacToe
    from equipoise.games.playthrough import format_playthrough, random_playthrough, sample_action
    from equipoise.games.public import PublicGame
    from equipoise.games.registry import describe_parameters, format_game, game_names, make_game, parse_game
    from equipoise.games.scotland_yard.game import ScotlandYard
    from equipoise.games.tic_tac_toe import TicTacToe

__all__ = [
    "CHANCE",
    "TERMINAL",
    "ActionClass",
    "BaseGame",
    "CoinToss",
    "EfgGame",
    "FlopHoldem",
    "Game",
    "GameReport",
    "GameSpec",
    "Goofspiel",
    "Holdem",
    "HoldemLimit",
    "HoldemSix",
    "HoldemSpot",
    "Kuhn",
    "Leduc",
    "Leduc5",
    "LeducNoLimit",
    "LiarsDice",
    "Matrix",
    "OpenSpielGame",
    "ParameterRow",
    "PerfectInformationGame",
    "PhantomTicTacToe",
    "PublicGame",
    "RPSPlus",
    "RockPaperScissors",
    "ScotlandYard",
    "SpotFile",
    "TicTacToe",
    "check_game",
    "derived",
    "describe_parameters",
    "format_game",
    "format_playthrough",
    "game_names",
    "load_efg",
    "load_openspiel",
    "make_game",
    "parameter",
    "parse_game",
    "random_playthrough",
    "sample_action",
    "save_efg",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
