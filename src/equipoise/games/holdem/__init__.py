# SPDX-License-Identifier: Apache-2.0
"""Hold'em: cards and decks, hands and ranges, who wins, equity, and which boards are the same but for their suits."""

from equipoise.games.holdem.cards import (
    DECKS,
    FULL_DECK,
    Deck,
    format_board,
    format_card,
    format_deck,
    parse_board,
    parse_card,
    parse_deck,
)
from equipoise.games.holdem.equity import Equity, compute_equity
from equipoise.games.holdem.hands import Hands, format_hand, hands_of, parse_hand
from equipoise.games.holdem.ranges import Range, check_ranges, format_range, parse_range
from equipoise.games.holdem.strength import HandCategory, evaluate_boards, evaluate_hand, strength_category

__all__ = [
    "DECKS",
    "FULL_DECK",
    "Deck",
    "Equity",
    "HandCategory",
    "Hands",
    "Range",
    "check_ranges",
    "compute_equity",
    "evaluate_boards",
    "evaluate_hand",
    "format_board",
    "format_card",
    "format_deck",
    "format_hand",
    "format_range",
    "hands_of",
    "parse_board",
    "parse_card",
    "parse_deck",
    "parse_hand",
    "parse_range",
    "strength_category",
]
