# SPDX-License-Identifier: Apache-2.0
"""Moves of chess and Go as engines write them: UCI's `e2e4`, GTP's `D4`; on OpenSpiel's boards."""

from __future__ import annotations

import re
from typing import Any, Final

from equipoise.core.errors import ConfigError
from equipoise.games.base import Game
from equipoise.games.openspiel import OpenSpielGame, OpenSpielState

__all__ = ["CHESS", "GO", "check_board_game", "list_gtp_moves", "list_uci_moves", "replay"]

CHESS: Final = "openspiel:chess"
GO: Final = "openspiel:go"
HISTORY: Final = re.compile(r"([\d ]*)\(.*\)")


def check_board_game(game: Game[Any], name: str, protocol: str) -> OpenSpielGame:
    """Returns a game that a protocol is for; raises `ConfigError` for any other.

    Args:
        game: what is to be played.
        name: `CHESS` or `GO`.
        protocol: for the message.
    """
    if not isinstance(game, OpenSpielGame) or game.spec.name != name:
        raise ConfigError(f"{protocol} is for {name}, got {game.spec.label}")
    return game


def replay(game: OpenSpielGame, public_state: str) -> OpenSpielState:
    """Returns the state of a game of perfect information from what its public state says: all actions so far."""
    found = HISTORY.fullmatch(public_state)
    assert found is not None, public_state  # games of perfect information write their history
    state = game.initial_state()
    for action in found[1].split():
        state = game.apply(state, int(action))
    return state


def list_uci_moves(state: OpenSpielState) -> dict[str, int]:
    """Returns the legal moves of chess, from square and to square, with their actions."""
    import pyspiel  # noqa: PLC0415 -- an extra, and the state is one of its

    board = state.inner.board()
    return {
        pyspiel.chess.action_to_move(action, board).to_lan(): action for action in sorted(state.inner.legal_actions())
    }


def list_gtp_moves(state: OpenSpielState) -> dict[str, int]:
    """Returns the legal moves of Go, points in capitals and PASS, with their actions."""
    player = state.inner.current_player()
    words = ((state.inner.action_to_string(player, action), action) for action in sorted(state.inner.legal_actions()))
    return {word.split(" ")[-1].upper(): action for word, action in words}
