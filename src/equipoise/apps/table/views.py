# SPDX-License-Identifier: Apache-2.0
"""What one seat may see of a game, in plain words: cards, board, pot, chips; nothing that it may not know."""

from __future__ import annotations

import re
from typing import Any

from equipoise.games.base import Game
from equipoise.games.holdem.betting import Stage, pot, to_call
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.dealing import HAND_SIZE
from equipoise.games.holdem.rules import Holdem, HoldemState
from equipoise.games.kuhn import Kuhn, KuhnState
from equipoise.games.leduc import Leduc, LeducState
from equipoise.games.liars_dice import LiarsDice
from equipoise.games.parameters import format_value

__all__ = ["describe_seat", "describe_showdown"]


def describe_seat(game: Game[Any], state: Any, seat: int, names: tuple[str, ...]) -> str:
    """Returns what a seat sees, in one line.

    Args:
        game: what is played.
        state: where.
        seat: who looks.
        names: of the players, by seat.
    """
    if isinstance(game, Holdem):
        return _describe_holdem(state, seat, names)
    if isinstance(game, Kuhn):
        return _describe_kuhn(game, state, seat)
    if isinstance(game, Leduc):
        return _describe_leduc(game, state, seat)
    if isinstance(game, LiarsDice):
        dice, _, bids = game.infostate(state, seat).partition("|")
        return f"your dice {dice} | bids (count-face) {bids or 'none'}"
    return f"you see {game.infostate(state, seat)}"


def describe_showdown(game: Game[Any], state: Any, names: tuple[str, ...]) -> str:
    """Returns what everybody sees at the end of a game in which hidden cards are shown.

    Args:
        game: what was played.
        state: its end; in hold'em a showdown.
        names: of the players, by seat.
    """
    if isinstance(game, Holdem):
        folded = state.betting.is_folded
        shown = [f"{name} {_show_hand(state, seat)}" for seat, name in enumerate(names) if not folded[seat]]
        return " | ".join([f"board {_space(state.board)}", *shown])
    if isinstance(game, Kuhn | Leduc):
        cards = [re.split(r"[:|]", game.infostate(state, seat))[0] for seat in range(len(names))]
        return " | ".join(f"{name} {card}" for name, card in zip(names, cards, strict=True))
    return game.describe(state)


def _show_hand(state: HoldemState, seat: int) -> str:
    """Returns a player's cards, the higher one first."""
    return _space(tuple(reversed(state.hole[HAND_SIZE * seat : HAND_SIZE * (seat + 1)])))


def _space(cards: tuple[int, ...]) -> str:
    """Returns cards with spaces between."""
    return " ".join(format_board((card,)) for card in cards)


def _describe_holdem(state: HoldemState, seat: int, names: tuple[str, ...]) -> str:
    betting = state.betting
    stacks = ", ".join(f"{name} {betting.stacks[player]:,}" for player, name in enumerate(names))
    parts = [
        f"your cards {_show_hand(state, seat)}",
        f"board {_space(state.board) or '-'}",
        f"pot {pot(betting):,}",
        f"behind: {stacks}",
    ]
    if betting.stage is Stage.ACT and betting.actor == seat and (asked := to_call(betting)):
        parts.append(f"{asked:,} to call")
    return " | ".join(parts)


def _describe_kuhn(game: Kuhn, state: KuhnState, seat: int) -> str:
    card = game.infostate(state, seat).partition(":")[0]
    return f"your card {card} | pot {game.players + state.bets.count('b')}"


def _describe_leduc(game: Leduc, state: LeducState, seat: int) -> str:
    card = game.infostate(state, seat).partition("|")[0]
    board = game.describe(state).partition("public ")[2].partition(",")[0]
    own, other = state.chips[seat], state.chips[1 - seat]
    asked = f" | {format_value(other - own)} to call" if other > own else ""
    return f"your card {card} | board {board} | pot {format_value(own + other)}{asked}"
