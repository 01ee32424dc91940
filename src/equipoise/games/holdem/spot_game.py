# SPDX-License-Identifier: Apache-2.0
"""From a heads-up spot to the game that is played from it, hand by hand, and back."""

from __future__ import annotations

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import format_board, format_deck, parse_board
from equipoise.games.holdem.dealing import format_ranges, parse_ranges
from equipoise.games.holdem.menu_notation import format_menu, parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.rules import ALL_RAISES, Holdem
from equipoise.games.holdem.spot import HoldemSpot

__all__ = ["game_of_spot", "spot_of_game"]


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


def spot_of_game(game: Holdem) -> HoldemSpot:
    """Returns the spot of a heads-up game that offers the raises of a menu.

    >>> spot_of_game(Holdem(deck="short", menu="100%, a")).name
    'preflop'
    """
    if len(game.stacks) != 2:
        raise ConfigError(f"a spot has two players, got a game with {len(game.stacks)}")
    if game.menu == ALL_RAISES:
        raise ConfigError("a spot offers the raises of a menu, got a game with all raises")
    deck, board = game.card_deck, parse_board(game.board, game.card_deck)
    ranges = parse_ranges(game.ranges, deck, board) if game.ranges else (Range.random(deck), Range.random(deck))
    return HoldemSpot(
        board=board,
        pot=game.pot,
        stacks=(game.stacks[0], game.stacks[1]),
        ranges=ranges,
        menu=parse_menu(game.menu),
        big_blind=game.big_blind,
        small_blind=game.small_blind,
        ante=game.ante,
        bet_sizes=game.bet_sizes,
        max_raises=game.max_raises,
        last_street=game.betting_rules.last_street,
        deck=deck,
    )
