# SPDX-License-Identifier: Apache-2.0
"""Matrix games: one simultaneous choice each, paid from a table."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar, NamedTuple

from equipoise.core.errors import ConfigError
from equipoise.games.base import (
    TERMINAL,
    ActionClass,
    GameSpec,
    derived,
    illegal_action,
    no_returns,
    parameter,
)
from equipoise.games.parameters import check_parameters, format_value, parameters_of

__all__ = ["DCFRSlow2x2", "Matrix", "MatrixState", "RPSPlus", "RockPaperScissors", "Table"]

Table = tuple[tuple[float, ...], ...]

RESERVED = set(",;=()")  # have a meaning where parameters are typed
RPS_NAMES = ("rock", "paper", "scissors")
PAYOFFS = "row player's payoffs, rows separated by ;"
COLUMN_PAYOFFS = "column player's payoffs; empty: the row player's with the sign turned"
ROW_NAMES = "names of the rows; empty: r1, r2, ..."
COLUMN_NAMES = "names of the columns; empty: c1, c2, ..."


class MatrixState(NamedTuple):
    """The choices made so far, the row player's first."""

    choices: tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A two-player game in normal form: player 0 picks a row, hidden until player 1 has picked a column.

    >>> import equipoise
    >>> equipoise.solve(Matrix(payoffs=((3, 0), (1, 2))), method="lp").game_value
    1.5
    """

    name: ClassVar[str] = "matrix"

    payoffs: Table = parameter(((1.0, -1.0), (-1.0, 1.0)), PAYOFFS)
    column_payoffs: Table = parameter((), COLUMN_PAYOFFS)
    row_names: tuple[str, ...] = parameter((), ROW_NAMES)
    column_names: tuple[str, ...] = parameter((), COLUMN_NAMES)
    spec: GameSpec = derived()
    _names: tuple[tuple[str, ...], tuple[str, ...]] = derived()
    _legal: tuple[tuple[int, ...], ...] = derived()  # by number of choices made
    _returns: tuple[tuple[tuple[float, float], ...], ...] = derived()  # by row and column

    def __post_init__(self) -> None:
        check_parameters(self)
        _check_table("payoffs", self.payoffs)
        num_rows, num_columns = len(self.payoffs), len(self.payoffs[0])
        if self.column_payoffs:
            _check_table("column_payoffs", self.column_payoffs)
            if (len(self.column_payoffs), len(self.column_payoffs[0])) != (num_rows, num_columns):
                raise ConfigError(
                    f"column_payoffs must be a {num_rows}x{num_columns} table like payoffs, "
                    f"got {format_value(self.column_payoffs)!r}"
                )
        other = self.column_payoffs or tuple(tuple(0.0 - value for value in row) for row in self.payoffs)
        names = (
            _check_names("row_names", self.row_names, num_rows) or _count("r", num_rows),
            _check_names("column_names", self.column_names, num_columns) or _count("c", num_columns),
        )
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_legal", (tuple(range(num_rows)), tuple(range(num_columns)), ()))
        object.__setattr__(
            self,
            "_returns",
            tuple(tuple(zip(*rows, strict=True)) for rows in zip(self.payoffs, other, strict=True)),
        )
        object.__setattr__(self, "spec", self._make_spec())

    def initial_state(self) -> MatrixState:
        """Returns the state before both choices."""
        return MatrixState(())

    def actor(self, state: MatrixState) -> int:
        """Returns the row player (0), then the column player (1), then `TERMINAL`."""
        return TERMINAL if len(state.choices) == 2 else len(state.choices)

    def legal_actions(self, state: MatrixState) -> tuple[int, ...]:
        """Returns the rows or the columns."""
        return self._legal[len(state.choices)]

    def chance_outcomes(self, state: MatrixState) -> tuple[tuple[int, float], ...]:
        """Returns nothing: there is no chance in it."""
        return ()

    def apply(self, state: MatrixState, action: int) -> MatrixState:
        """Returns the state after a choice."""
        if action not in self._legal[len(state.choices)]:
            raise illegal_action(self, state, action)
        return MatrixState((*state.choices, action))

    def returns(self, state: MatrixState) -> tuple[float, ...]:
        """Returns the entry of each player's table."""
        if len(state.choices) != 2:
            raise no_returns(self, state)
        row, column = state.choices
        return self._returns[row][column]

    def infostate(self, state: MatrixState, player: int) -> str:
        """Returns who has chosen, the player's own choice, and both when they are shown."""
        own = f"{self._names[0][state.choices[0]]}|" if player == 0 and len(state.choices) == 1 else ""
        return own + self.public_state(state)

    def public_state(self, state: MatrixState) -> str:
        """Returns who chooses, or both choices."""
        if len(state.choices) < 2:
            return ("row chooses", "column chooses")[len(state.choices)]
        return " ".join(names[choice] for names, choice in zip(self._names, state.choices, strict=True))

    def action_name(self, state: MatrixState, action: int) -> str:
        """Returns the name of a row or a column."""
        return self._names[len(state.choices)][action]

    def action_class(self, state: MatrixState, action: int) -> ActionClass:
        """Returns `OTHER`."""
        return ActionClass.OTHER

    def describe(self, state: MatrixState) -> str:
        """Returns the choices in words."""
        words = (names[choice] for names, choice in zip(self._names, state.choices, strict=False))
        return "chosen " + (" and ".join(words) or "nothing")

    def _make_spec(self) -> GameSpec:
        values = [value for row in self._returns for pair in row for value in pair]
        return GameSpec(
            name=self.name,
            version=1,
            num_players=2,
            parameters=parameters_of(self),
            is_zero_sum=all(math.isclose(a, -b, abs_tol=1e-12) for row in self._returns for a, b in row),
            min_utility=min(values),
            max_utility=max(values),
            max_length=2,
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RockPaperScissors(Matrix):
    """Rock, paper, scissors.

    >>> import equipoise
    >>> equipoise.solve(RockPaperScissors(), iterations=100).exploitability < 0.01
    True
    """

    name: ClassVar[str] = "rock_paper_scissors"

    payoffs: Table = parameter(((0.0, -1.0, 1.0), (1.0, 0.0, -1.0), (-1.0, 1.0, 0.0)), PAYOFFS)
    row_names: tuple[str, ...] = parameter(RPS_NAMES, ROW_NAMES)
    column_names: tuple[str, ...] = parameter(RPS_NAMES, COLUMN_NAMES)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RPSPlus(Matrix):
    """Rock, paper, scissors, doubled when either plays scissors; equilibrium 0.4, 0.4, 0.2.

    Paper: Brown 2020 (thesis), section 5.2.1.
    Departs from the paper: nothing.

    >>> import equipoise
    >>> equipoise.solve(RPSPlus(), method="lp").exploitability < 1e-9
    True
    """

    name: ClassVar[str] = "rps_plus"

    payoffs: Table = parameter(((0.0, -1.0, 2.0), (1.0, 0.0, -2.0), (-2.0, 2.0, 0.0)), PAYOFFS)
    row_names: tuple[str, ...] = parameter(RPS_NAMES, ROW_NAMES)
    column_names: tuple[str, ...] = parameter(RPS_NAMES, COLUMN_NAMES)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DCFRSlow2x2(Matrix):
    """The 2x2 game on which CFR+ converges slower than 1/T.

    Paper: Brown & Sandholm 2019, "Solving Imperfect-Information Games via Discounted Regret Minimization",
        arXiv:1809.04040 [BS19], background section.
    Departs from the paper: nothing; the thesis's rendering of the table is damaged, this is the paper's.
    """

    name: ClassVar[str] = "dcfr_slow_2x2"

    payoffs: Table = parameter(((1.0, 0.9), (-0.7, 1.0)), PAYOFFS)


def _check_table(name: str, table: Table) -> None:
    if not table or not table[0] or any(len(row) != len(table[0]) for row in table):
        raise ConfigError(f"{name} must be a table with rows of equal length, got {format_value(table)!r}")
    if not all(math.isfinite(value) for row in table for value in row):
        raise ConfigError(f"{name} must be finite, got {format_value(table)!r}")


def _check_names(name: str, words: tuple[str, ...], count: int) -> tuple[str, ...]:
    is_good = len(set(words)) == len(words) and all(word and not RESERVED & set(word) for word in words)
    if words and (len(words) != count or not is_good):
        raise ConfigError(f"{name} must be {count} different words, got {format_value(words)!r}")
    return words


def _count(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{number}" for number in range(1, count + 1))
