# SPDX-License-Identifier: Apache-2.0
"""What everybody sees of a game of Scotland Yard, and how moves change it.

Everything but Mr. X's station is open: where the detectives are, all tickets, which ticket he used. So the rules are
functions of a `Situation`, and of a station where they ask for his; the game and its public form both use them.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Final, NamedTuple, TypeVar

from equipoise.games.base import TERMINAL
from equipoise.games.scotland_yard.board import Board, Transport

__all__ = ["BLACK", "DETECTIVES", "FUGITIVE", "NOBODY", "PASS", "Move", "Situation", "Yard"]

T = TypeVar("T")

FUGITIVE: Final = 0  # the player that is Mr. X
DETECTIVES: Final = 1  # the player that moves all detectives
NOBODY: Final = -1
BLACK: Final = 3  # ticket that hides the transport, after taxi, bus and underground
PASS: Final = 0  # action of a piece that cannot move: a detective stays, Mr. X gives up
TICKET_LETTERS: Final = "tbu?"
TICKET_NAMES: Final = ("taxi", "bus", "underground", "black")


class Move(NamedTuple):
    """An action in its parts."""

    station: int
    ticket: int  # 0 to 2 as `Transport`, or BLACK
    is_double: bool = False  # the first half of a double move


class Situation(NamedTuple):
    """The open part of a state."""

    actor: int  # FUGITIVE, DETECTIVES or TERMINAL
    mover: int  # whose turn it is among the detectives
    detectives: tuple[int, ...]  # their stations
    tickets: tuple[tuple[int, ...], ...]  # by detective: taxi, bus, underground
    fugitive_tickets: tuple[int, ...]  # taxi, bus, underground, black
    doubles: int  # double moves that Mr. X has left
    num_moves: int  # that Mr. X has made
    is_halfway: bool  # he is in the middle of a double move
    num_passed: int  # detectives who could not move in this round
    winner: int  # or NOBODY
    public: str


@dataclasses.dataclass(frozen=True, slots=True)
class Yard:
    """A board and the numbers of a variant: the rules over situations."""

    board: Board
    num_rounds: int
    reveals: frozenset[int]

    def move_of(self, action: int) -> Move:
        """Returns the parts of an action, which is not PASS."""
        rest, station = divmod(action, self.board.num_stations + 1)
        is_double, ticket = divmod(rest, len(TICKET_NAMES))
        return Move(station, ticket, bool(is_double))

    def action_of(self, move: Move) -> int:
        """Returns the number of a move."""
        return (move.is_double * len(TICKET_NAMES) + move.ticket) * (self.board.num_stations + 1) + move.station

    def fugitive_actions(self, situation: Situation, station: int) -> tuple[int, ...]:
        """Returns what Mr. X can do from a station, ascending; PASS alone if he cannot move."""
        single = [self.action_of(move) for move in self._walks(situation, station)]
        can_double = situation.doubles > 0 and not situation.is_halfway and situation.num_moves + 2 <= self.num_rounds
        double = [
            self.action_of(move._replace(is_double=True))
            for move in (self._walks(situation, station) if can_double else ())
            if any(self._walks(_spent(situation, move), move.station))
        ]
        return tuple(sorted(single + double)) or (PASS,)

    def detective_actions(self, situation: Situation) -> tuple[int, ...]:
        """Returns what the detective whose turn it is can do, ascending; PASS alone if there is nothing."""
        station = situation.detectives[situation.mover]
        tickets = situation.tickets[situation.mover]
        moves = (
            Move(target, transport)
            for transport, number in enumerate(tickets)
            if number > 0
            for target in self.board.next_stations(station, Transport(transport))
            if target not in situation.detectives
        )
        return tuple(sorted(map(self.action_of, moves))) or (PASS,)

    def is_reveal(self, situation: Situation) -> bool:
        """Returns whether Mr. X shows himself after his next move."""
        return situation.num_moves + 1 in self.reveals

    def after_fugitive(self, situation: Situation, action: int) -> Situation:
        """Returns what everybody sees after Mr. X has moved."""
        if action == PASS:
            return situation._replace(actor=TERMINAL, winner=DETECTIVES, public=_joined(situation.public, "gives-up"))
        move = self.move_of(action)
        word = ("2" if move.is_double else "") + TICKET_LETTERS[move.ticket]
        if self.is_reveal(situation):
            word += f"@{move.station}"
        return _spent(situation, move)._replace(
            actor=FUGITIVE if move.is_double else DETECTIVES,
            mover=0,
            doubles=situation.doubles - move.is_double,
            num_moves=situation.num_moves + 1,
            is_halfway=move.is_double,
            num_passed=0,
            public=_joined(situation.public, word),
        )

    def after_detective(self, situation: Situation, action: int, *, is_capture: bool) -> Situation:
        """Returns what everybody sees after a detective has moved, onto Mr. X or not."""
        mover = situation.mover
        detectives, tickets = situation.detectives, situation.tickets
        fugitive_tickets, num_passed = situation.fugitive_tickets, situation.num_passed
        if action == PASS:
            word, num_passed = "-", num_passed + 1
        else:
            station, ticket, _ = self.move_of(action)
            word = f"{TICKET_LETTERS[ticket]}{station}" + ("!" if is_capture else "")
            detectives = _changed(detectives, mover, station)
            tickets = _changed(tickets, mover, _changed(tickets[mover], ticket, tickets[mover][ticket] - 1))
            fugitive_tickets = _changed(fugitive_tickets, ticket, fugitive_tickets[ticket] + 1)
        following = situation._replace(
            mover=mover + 1,
            detectives=detectives,
            tickets=tickets,
            fugitive_tickets=fugitive_tickets,
            num_passed=num_passed,
            public=_joined(situation.public, word),
        )
        return following._replace(actor=TERMINAL, winner=DETECTIVES) if is_capture else self._end_turn(following)

    def _end_turn(self, situation: Situation) -> Situation:
        if situation.mover < len(situation.detectives):
            return situation
        is_over = situation.num_moves == self.num_rounds or situation.num_passed == len(situation.detectives)
        if is_over:
            return situation._replace(actor=TERMINAL, winner=FUGITIVE)
        return situation._replace(actor=FUGITIVE, mover=0)

    def _walks(self, situation: Situation, station: int) -> itertools.chain[Move]:
        """Returns Mr. X's moves of one step: where no detective stands, by tickets that he has."""
        return itertools.chain.from_iterable(
            [
                Move(target, ticket)
                for target in self.board.next_stations(station, None if ticket == BLACK else Transport(ticket))
                if target not in situation.detectives
            ]
            for ticket, number in enumerate(situation.fugitive_tickets)
            if number > 0
        )


def _spent(situation: Situation, move: Move) -> Situation:
    tickets = situation.fugitive_tickets
    return situation._replace(fugitive_tickets=_changed(tickets, move.ticket, tickets[move.ticket] - 1))


def _changed(items: tuple[T, ...], place: int, item: T) -> tuple[T, ...]:
    return (*items[:place], item, *items[place + 1 :])


def _joined(text: str, word: str) -> str:
    return f"{text} {word}" if text else word
