# SPDX-License-Identifier: Apache-2.0
"""Scotland Yard: boards, rules, and its form over public states."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.games.scotland_yard.board import BOARD_NAMES, Board, Transport, load_board, parse_board
    from equipoise.games.scotland_yard.game import Glasses, ScotlandYard, ScotlandYardState, ScotlandYardTown
    from equipoise.games.scotland_yard.public_form import ScotlandYardPublicGame, YardPublicState

__all__ = [
    "BOARD_NAMES",
    "Board",
    "Glasses",
    "ScotlandYard",
    "ScotlandYardPublicGame",
    "ScotlandYardState",
    "ScotlandYardTown",
    "Transport",
    "YardPublicState",
    "load_board",
    "parse_board",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
