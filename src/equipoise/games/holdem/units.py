# SPDX-License-Identifier: Apache-2.0
"""Figures of a spot in the units of players, and the spot itself as text by which two are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from equipoise.core.formatting import format_small
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import format_board, format_deck
from equipoise.games.holdem.menu_notation import format_menu
from equipoise.games.holdem.ranges import format_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_file import SpotFile, format_locks

__all__ = ["describe_units", "format_amount", "format_chips", "format_net", "format_shares", "spot_parameters"]


def describe_units(spot: HoldemSpot, exploitability: float, values: Sequence[float]) -> dict[str, Any]:
    """Returns the figures that only spots have: shares are the chips of the pot that each player takes in the end."""
    percent, mbb = _in_units(spot, exploitability)
    return {
        "exploitability_percent_of_pot": percent,
        "exploitability_mbb": mbb,
        "pot_shares": [value + paid for value, paid in zip(values, spot.paid, strict=True)],
    }


def format_chips(spot: HoldemSpot, chips: float) -> str:
    """Returns chips per hand with percent of the pot and mbb."""
    amount, share, thousandths = map(format_amount, (chips, *_in_units(spot, chips)))
    return f"{amount} chips ({share}% of the pot, {thousandths} mbb)"


def format_shares(file: SpotFile, values: Sequence[float]) -> str:
    """Returns what both players win per hand, a line each."""
    spot, lines = file.spot, []
    for name, value, paid in zip(file.seat_names, values, spot.paid, strict=True):
        share = value + paid
        percent = 100 * share / spot.root_pot
        lines.append(f"{name} {share:.4g} chips of the pot ({percent:.1f}%), net {format_net(value)}")
    return "\n".join(lines)


def format_net(chips: float) -> str:
    """Returns chips won, or lost if negative.

    >>> format_net(-8.967534)
    '-8.968 chips'
    """
    return f"{chips:+,.4g} chips"


def format_amount(value: float) -> str:
    """Returns a number that is not negative as people read it.

    >>> format_amount(12345.6), format_amount(0.5)
    ('12,346', '0.5')
    """
    return f"{value:,.0f}" if value >= 100 else format_small(value)


def spot_parameters(file: SpotFile) -> dict[str, str]:
    """Returns all that decides what is solved, as text."""
    spot = file.spot
    rules = spot.betting_rules
    return {
        "board": format_board(spot.board),
        "pot": str(spot.root_pot),
        "stacks": ",".join(map(str, spot.stacks)),
        "big_blind": str(spot.big_blind),
        "deck": format_deck(spot.deck),
        "menu": format_menu(spot.menu),
        "oop": format_range(spot.ranges[0]),
        "ip": format_range(spot.ranges[1]),
        **({} if spot.board else {"small_blind": str(rules.small_blind), "ante": str(rules.ante)}),
        **({"bet_sizes": ",".join(map(str, spot.bet_sizes))} if spot.bet_sizes else {}),
        **({"max_raises": ",".join(map(str, spot.max_raises))} if spot.max_raises else {}),
        **({"last_street": rules.last_street.name.lower()} if rules.last_street is not Street.RIVER else {}),
        **({"rake": f"{spot.rake_rate},{spot.rake_cap}"} if spot.rake_rate else {}),
        **({"locks": format_locks(file.locks)} if file.locks else {}),
    }


def _in_units(spot: HoldemSpot, chips: float) -> tuple[float, float]:
    """Returns chips per hand as percent of the pot and in mbb."""
    return 100 * chips / spot.root_pot, 1000 * chips / spot.big_blind
