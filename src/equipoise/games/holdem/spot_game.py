# SPDX-License-Identifier: Apache-2.0
"""From a heads-up spot to the game that is played from it, hand by hand."""

from __future__ import annotations

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import format_board, format_deck
from equipoise.games.holdem.dealing import format_ranges
from equipoise.games.holdem.menu_notation import format_menu
from equipoise.games.holdem.rules import Holdem
from equipoise.games.holdem.spot import HoldemSpot

__all__ = ["game_of_spot"]


def game_of_spot(spot: HoldemSpot) -> Holdem:
    """Returns the game of a spot: the same cards, chips, bets and ranges."""
    if spot.rake_rate:
        raise ConfigError(f"games are played without rake, the spot has a rake of {spot.rake_rate:g}")
    rules = spot.betting_rules
    is_random = all((held.weights == held.weights[0]).all() for held in spot.ranges)
    return Holdem(
        deck=format_deck(spot.deck),
        stacks=spot.stacks,
        small_blind=rules.small_blind,
        big_blind=rules.big_blind,
        ante=rules.ante,
        bet_sizes=spot.bet_sizes,
        max_raises=spot.max_raises,
        last_street=spot.last_street.name.lower(),
        board=format_board(spot.board),
        pot=spot.pot,
        ranges="" if is_random else format_ranges(spot.ranges),
        menu=format_menu(spot.menu),
    )
