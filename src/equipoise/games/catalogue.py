# SPDX-License-Identifier: Apache-2.0
"""Our own games: their names, and where each lives; none is loaded before it is asked for."""

from __future__ import annotations

from typing import Final

from equipoise.core.lazy import LazyTable

__all__ = ["GAMES", "game_names"]

GAMES: Final = LazyTable(
    {
        "bucketed_limit_holdem": "equipoise.games.holdem.bucketed_limit:BucketedLimitHoldem",
        "coin_toss": "equipoise.games.coin_toss:CoinToss",
        "dcfr_slow_2x2": "equipoise.games.matrix:DCFRSlow2x2",
        "flop_holdem": "equipoise.games.holdem.rules:FlopHoldem",
        "glasses": "equipoise.games.scotland_yard.game:Glasses",
        "goofspiel": "equipoise.games.goofspiel:Goofspiel",
        "holdem": "equipoise.games.holdem.rules:Holdem",
        "holdem_endgame": "equipoise.games.holdem.rules:HoldemEndgame",
        "holdem_limit": "equipoise.games.holdem.rules:HoldemLimit",
        "holdem_six": "equipoise.games.holdem.rules:HoldemSix",
        "kuhn": "equipoise.games.kuhn:Kuhn",
        "leduc": "equipoise.games.leduc:Leduc",
        "leduc5": "equipoise.games.leduc:Leduc5",
        "leduc_nolimit": "equipoise.games.leduc:LeducNoLimit",
        "lemonade_stand": "equipoise.games.lemonade_stand:LemonadeStand",
        "liars_dice": "equipoise.games.liars_dice:LiarsDice",
        "matrix": "equipoise.games.matrix:Matrix",
        "phantom_tic_tac_toe": "equipoise.games.phantom_tic_tac_toe:PhantomTicTacToe",
        "rock_paper_scissors": "equipoise.games.matrix:RockPaperScissors",
        "rps_plus": "equipoise.games.matrix:RPSPlus",
        "scotland_yard": "equipoise.games.scotland_yard.game:ScotlandYard",
        "scotland_yard_town": "equipoise.games.scotland_yard.game:ScotlandYardTown",
        "tic_tac_toe": "equipoise.games.tic_tac_toe:TicTacToe",
    }
)


def game_names() -> tuple[str, ...]:
    """Returns the names of our own games, in alphabetical order.

    >>> "leduc" in game_names()
    True
    """
    return tuple(GAMES)
