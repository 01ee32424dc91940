# SPDX-License-Identifier: Apache-2.0
"""Hold'em: cards and decks, hands and ranges, who wins, equity, boards that differ only in suits, betting."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.games.holdem.betting import BettingRules, BettingState, Stage, Street
    from equipoise.games.holdem.betting_tree import BettingNode, BettingTree, NodeKind, count_nodes
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
    from equipoise.games.holdem.menu_notation import MENUS, format_menu, parse_menu
    from equipoise.games.holdem.menus import Menu, check_menu, raise_options
    from equipoise.games.holdem.ranges import Range, check_ranges, format_range, parse_range
    from equipoise.games.holdem.seen_table import SeenTable, read_table
    from equipoise.games.holdem.strength import HandCategory, evaluate_boards, evaluate_hand, strength_category

__all__ = [
    "DECKS",
    "FULL_DECK",
    "MENUS",
    "BettingNode",
    "BettingRules",
    "BettingState",
    "BettingTree",
    "Deck",
    "Equity",
    "HandCategory",
    "Hands",
    "Menu",
    "NodeKind",
    "Range",
    "SeenTable",
    "Stage",
    "Street",
    "check_menu",
    "check_ranges",
    "compute_equity",
    "count_nodes",
    "evaluate_boards",
    "evaluate_hand",
    "format_board",
    "format_card",
    "format_deck",
    "format_hand",
    "format_menu",
    "format_range",
    "hands_of",
    "parse_board",
    "parse_card",
    "parse_deck",
    "parse_hand",
    "parse_menu",
    "parse_range",
    "raise_options",
    "read_table",
    "strength_category",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
