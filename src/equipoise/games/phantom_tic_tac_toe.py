# SPDX-License-Identifier: Apache-2.0
"""Phantom tic-tac-toe with visible turns: players do not see each other's stones, but see every attempt."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple, TypeVar

from equipoise.games.base import TERMINAL, illegal_action
from equipoise.games.tic_tac_toe import NOBODY, STONES, LineGame

T = TypeVar("T")

__all__ = ["PhantomTicTacToe", "PhantomTicTacToeState"]


class PhantomTicTacToeState(NamedTuple):
    """Stones and attempts of both players as bits, and what each has seen."""

    actor: int
    stones: tuple[int, int]
    tried: tuple[int, int]  # cells whose holder the player knows: own stones and failed attempts
    winner: int  # or NOBODY
    attempts: tuple[str, str]  # the player's own, in order, failed ones marked !
    public: str  # who attempted in turn, failed attempts marked !


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PhantomTicTacToe(LineGame[PhantomTicTacToeState]):
    """Tic-tac-toe in which nobody sees the other's marks: who tries a cell that is taken learns so and tries another.

    Everybody sees that an attempt was made, by whom, and whether the turn passed; nobody sees where. These
    are the rules of OpenSpiel's `phantom_ttt(obstype=reveal-numturns)`, on boards of any small size: with a
    side of 2 the line is 2 unless it is given, because a line of 3 would fit in one direction alone or not at
    all.

    >>> game = PhantomTicTacToe()
    >>> game.infostate(game.apply(game.initial_state(), 4), 1)
    '|x'
    """

    name: ClassVar[str] = "phantom_tic_tac_toe"

    def initial_state(self) -> PhantomTicTacToeState:
        """Returns the empty board."""
        return PhantomTicTacToeState(0, (0, 0), (0, 0), NOBODY, ("", ""), "")

    def legal_actions(self, state: PhantomTicTacToeState) -> tuple[int, ...]:
        """Returns the cells that the player does not know to be taken."""
        if state.actor == TERMINAL:
            return ()
        known = state.tried[state.actor]
        return tuple([cell for cell in self._board.cells if not known >> cell & 1])

    def apply(self, state: PhantomTicTacToeState, action: int) -> PhantomTicTacToeState:
        """Returns the state after an attempt."""
        actor, stones, tried, _, attempts, public = state
        board = self._board
        if actor == TERMINAL or action not in board.cells or tried[actor] >> action & 1:
            raise illegal_action(self, state, action)
        bit = 1 << action
        known = _changed(tried, actor, tried[actor] | bit)
        is_taken = bool(stones[1 - actor] & bit)
        mark = "!" if is_taken else ""
        attempts = _changed(attempts, actor, f"{attempts[actor]} {board.names[action]}{mark}".lstrip())
        public = f"{public} {STONES[actor]}{mark}".lstrip()
        if is_taken:
            return PhantomTicTacToeState(actor, stones, known, NOBODY, attempts, public)
        stones = _changed(stones, actor, stones[actor] | bit)
        if board.completes_line(stones[actor], action):
            return PhantomTicTacToeState(TERMINAL, stones, known, actor, attempts, public + " wins")
        if stones[0] | stones[1] == board.full:
            return PhantomTicTacToeState(TERMINAL, stones, known, NOBODY, attempts, public + " draw")
        return PhantomTicTacToeState(1 - actor, stones, known, NOBODY, attempts, public)

    def infostate(self, state: PhantomTicTacToeState, player: int) -> str:
        """Returns the player's own attempts with their outcomes, then everybody's turns."""
        return f"{state.attempts[player]}|{state.public}"

    def public_state(self, state: PhantomTicTacToeState) -> str:
        """Returns who attempted in turn and which attempts failed."""
        return state.public

    def describe(self, state: PhantomTicTacToeState) -> str:
        """Returns the board, rows separated by slashes, and the turns."""
        return f"{self._board.draw(state.stones)}, turns {state.public or 'none'}"

    def _most_moves(self) -> int:
        return 2 * self.rows * self.columns - 1  # each tries each cell; the last stone ends the game


def _changed(pair: tuple[T, T], index: int, value: T) -> tuple[T, T]:
    return (value, pair[1]) if index == 0 else (pair[0], value)
