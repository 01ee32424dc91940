# SPDX-License-Identifier: Apache-2.0
"""Tic-tac-toe on boards of any small size, and the board that its phantom form shares."""

from __future__ import annotations

import abc
import dataclasses
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar

from equipoise.core.errors import ConfigError
from equipoise.games.base import (
    TERMINAL,
    ActionClass,
    GameSpec,
    derived,
    duel_spec,
    illegal_action,
    no_returns,
    parameter,
)
from equipoise.games.parameters import check_parameters

__all__ = ["NOBODY", "STONES", "Board", "LineGame", "TicTacToe", "TicTacToeState"]

NOBODY = -1
STONES = "xo"


@dataclasses.dataclass(frozen=True, slots=True)
class Board:
    """Cells counted by rows from the top left, as bits of an integer; columns are lettered, rows numbered."""

    rows: int
    columns: int
    line: int  # stones in a row that win; 0: the shorter side, at most 3
    names: tuple[str, ...] = derived()
    cells: tuple[int, ...] = derived()
    lines_through: tuple[tuple[int, ...], ...] = derived()  # by cell, the masks of the lines that hold it
    full: int = derived()

    def __post_init__(self) -> None:
        longest = max(self.rows, self.columns)
        if self.line and not 2 <= self.line <= longest:
            raise ConfigError(f"line must be 0 or between 2 and {longest}, got {self.line}")
        num_cells = self.rows * self.columns
        names = (f"{'abcdefgh'[cell % self.columns]}{cell // self.columns + 1}" for cell in range(num_cells))
        masks = self._line_masks()
        object.__setattr__(self, "names", tuple(names))
        object.__setattr__(self, "cells", tuple(range(num_cells)))
        object.__setattr__(self, "full", 2**num_cells - 1)
        object.__setattr__(
            self,
            "lines_through",
            tuple(tuple(mask for mask in masks if mask >> cell & 1) for cell in range(num_cells)),
        )

    def completes_line(self, stones: int, cell: int) -> bool:
        """Returns whether the stones hold a line through the cell."""
        return any(stones & mask == mask for mask in self.lines_through[cell])

    def draw(self, stones: tuple[int, int]) -> str:
        """Returns the board as text, rows separated by slashes."""
        marks = ["x" if stones[0] >> cell & 1 else "o" if stones[1] >> cell & 1 else "." for cell in self.cells]
        return "/".join("".join(marks[start : start + self.columns]) for start in self.cells[:: self.columns])

    def _line_masks(self) -> list[int]:
        length = self.line or min(self.rows, self.columns, 3)
        masks = []
        for row in range(self.rows):
            for column in range(self.columns):
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    last_row, last_column = row + down * (length - 1), column + right * (length - 1)
                    if last_row < self.rows and 0 <= last_column < self.columns:
                        places = ((row + down * step, column + right * step) for step in range(length))
                        masks.append(sum(1 << (y * self.columns + x) for y, x in places))
        return masks


class LineState(Protocol):
    """What a state of any form of the game says about its end."""

    @property
    def actor(self) -> int:
        """Returns the player to move or `TERMINAL`."""
        ...

    @property
    def winner(self) -> int:
        """Returns the player with a line, or `NOBODY`."""
        ...


State = TypeVar("State", bound=LineState)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LineGame(abc.ABC, Generic[State]):
    """What every form of the game has in common: a line of own stones wins 1, a full board without one is a draw."""

    name: ClassVar[str]

    rows: int = parameter(3, "rows of the board", low=2, high=8)
    columns: int = parameter(3, "columns of the board", low=2, high=8)
    line: int = parameter(0, "stones in a row that win; 0: the shorter side, at most 3")
    spec: GameSpec = derived()
    _board: Board = derived()

    def __post_init__(self) -> None:
        check_parameters(self)
        object.__setattr__(self, "_board", Board(self.rows, self.columns, self.line))
        spec = duel_spec(self, most=1.0, max_length=self._most_moves())
        object.__setattr__(self, "spec", spec)

    def actor(self, state: State) -> int:
        """Returns the player to move or `TERMINAL`."""
        return state.actor

    def chance_outcomes(self, state: State) -> tuple[tuple[int, float], ...]:
        """Returns nothing: there is no chance in it."""
        return ()

    def returns(self, state: State) -> tuple[float, ...]:
        """Returns 1 for the winner, -1 for the loser, 0 for a draw."""
        if state.actor != TERMINAL:
            raise no_returns(self, state)
        return ((1.0, -1.0), (-1.0, 1.0), (0.0, 0.0))[state.winner]

    def action_name(self, state: State, action: int) -> str:
        """Returns the cell by column letter and row number."""
        return self._board.names[action]

    def action_class(self, state: State, action: int) -> ActionClass:
        """Returns `OTHER`."""
        return ActionClass.OTHER

    @abc.abstractmethod
    def describe(self, state: State) -> str:
        """Returns the whole state in words."""

    @abc.abstractmethod
    def _most_moves(self) -> int:
        """Returns the length of the longest game."""


class TicTacToeState(NamedTuple):
    """The stones of both players as bits, and the moves in order."""

    actor: int
    stones: tuple[int, int]
    winner: int  # or NOBODY
    moves: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TicTacToe(LineGame[TicTacToeState]):
    """Tic-tac-toe: players take turns to place a stone.

    Everything is public; states with the same board but other orders of moves are told apart, as perfect
    recall asks.

    >>> game = TicTacToe()
    >>> len(game.legal_actions(game.apply(game.initial_state(), 4)))
    8
    """

    name: ClassVar[str] = "tic_tac_toe"

    def initial_state(self) -> TicTacToeState:
        """Returns the empty board."""
        return TicTacToeState(0, (0, 0), NOBODY, "")

    def legal_actions(self, state: TicTacToeState) -> tuple[int, ...]:
        """Returns the empty cells."""
        if state.actor == TERMINAL:
            return ()
        taken = state.stones[0] | state.stones[1]
        return tuple([cell for cell in self._board.cells if not taken >> cell & 1])

    def apply(self, state: TicTacToeState, action: int) -> TicTacToeState:
        """Returns the state after a stone is placed."""
        actor, (mine, theirs), _, moves = state
        board = self._board
        if actor == TERMINAL or action not in board.cells or (mine | theirs) >> action & 1:
            raise illegal_action(self, state, action)
        if actor == 0:
            own = mine = mine | 1 << action
        else:
            own = theirs = theirs | 1 << action
        moves = f"{moves} {board.names[action]}" if moves else board.names[action]
        if board.completes_line(own, action):
            return TicTacToeState(TERMINAL, (mine, theirs), actor, moves)
        following = TERMINAL if mine | theirs == board.full else 1 - actor
        return TicTacToeState(following, (mine, theirs), NOBODY, moves)

    def infostate(self, state: TicTacToeState, player: int) -> str:
        """Returns the moves in order."""
        return state.moves

    def public_state(self, state: TicTacToeState) -> str:
        """Returns the moves in order."""
        return state.moves

    def describe(self, state: TicTacToeState) -> str:
        """Returns the board, rows separated by slashes."""
        return self._board.draw(state.stones)

    def _most_moves(self) -> int:
        return self.rows * self.columns
