# SPDX-License-Identifier: Apache-2.0
"""Scotland Yard on any board: Mr. X against detectives who see his tickets, and now and then his station."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

from equipoise.core.errors import ConfigError
from equipoise.games.base import (
    CHANCE,
    TERMINAL,
    ActionClass,
    GameSpec,
    derived,
    duel_spec,
    illegal_action,
    no_returns,
    parameter,
)
from equipoise.games.parameters import check_parameters, format_value
from equipoise.games.scotland_yard.board import load_board
from equipoise.games.scotland_yard.situation import (
    DETECTIVES,
    FUGITIVE,
    NOBODY,
    PASS,
    TICKET_NAMES,
    Situation,
    Yard,
)

__all__ = ["Glasses", "ScotlandYard", "ScotlandYardState", "ScotlandYardTown"]

NOWHERE = 0  # Mr. X's station before he has drawn it


class ScotlandYardState(NamedTuple):
    """The open part, Mr. X's station, and the way he came."""

    actor: int
    situation: Situation
    station: int  # Mr. X's, or NOWHERE
    path: str  # his stations in order


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ScotlandYard:
    """Scotland Yard: five detectives try to step on Mr. X, who moves unseen by taxi, bus and underground.

    Player 0 is Mr. X, player 1 moves all detectives, one after the other. Everybody sees which ticket Mr. X uses;
    after the moves in `reveals` everybody sees where he is. He never moves onto a detective, and loses when he cannot
    move at all; he wins when he has made `rounds` moves and is not caught, or when no detective can move. Black tickets
    hide the transport and pay for the ferry; a double move is two moves in a row. Detectives' tickets become his.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178 [PoG21], section 4 and Figure 16.
    Symbols: player 1 (Mr. X) -> player 0; player 2 -> player 1.
    Departs from the paper: it does not say tickets, start cards and what happens to pieces that cannot move; these
        are those of the board game's first edition. A double move is offered only if its second half can be made.
    Checked by: tests/games/test_scotland_yard.py.

    >>> game = ScotlandYard(starts=(63, 65, 67, 79, 82, 111), double_moves=0, fugitive_tickets=(4, 3, 3, 0))
    >>> state = game.initial_state()
    >>> [game.action_name(state, action) for action in game.legal_actions(state)]
    ['taxi 48', 'taxi 64', 'taxi 80', 'bus 34', 'bus 100']
    """

    name: ClassVar[str] = "scotland_yard"

    board: str = parameter(
        "london", "london, town, glasses-a, glasses-b, or a .csv file: station_a,station_b,transport"
    )
    detectives: int = parameter(5, "number of detectives", low=1, high=12)
    rounds: int = parameter(24, "moves that Mr. X must make to win", low=1, high=99)
    reveals: tuple[int, ...] = parameter((3, 8, 13, 18, 24), "moves after which Mr. X shows himself")
    detective_tickets: tuple[int, ...] = parameter((10, 8, 4), "taxi, bus and underground tickets of each detective")
    fugitive_tickets: tuple[int, ...] = parameter((4, 3, 3, 5), "taxi, bus, underground and black tickets of Mr. X")
    double_moves: int = parameter(2, "double moves of Mr. X", low=0, high=9)
    starts: tuple[int, ...] = parameter((), "stations of Mr. X and each detective; none: drawn from the start cards")
    spec: GameSpec = derived()
    yard: Yard = derived()

    def __post_init__(self) -> None:
        check_parameters(self)
        board = load_board(self.board)
        object.__setattr__(self, "yard", Yard(board, self.rounds, frozenset(self.reveals)))
        self._check_numbers()
        num_deals = 0 if self.starts else self.detectives + 1
        length = num_deals + self.rounds * (1 + self.detectives)
        object.__setattr__(self, "spec", duel_spec(self, most=1.0, max_length=length))

    def initial_state(self) -> ScotlandYardState:
        """Returns the state before the start cards are drawn, or before the first move where starts are given."""
        situation = Situation(
            actor=FUGITIVE,
            mover=0,
            detectives=self.starts[1:],
            tickets=(self.detective_tickets,) * self.detectives,
            fugitive_tickets=self.fugitive_tickets,
            doubles=self.double_moves,
            num_moves=0,
            is_halfway=False,
            num_passed=0,
            winner=NOBODY,
            public=f"{' '.join(map(str, self.starts[1:]))} x{self.starts[0]}" if self.starts else "",
        )
        if self.starts:
            return ScotlandYardState(FUGITIVE, situation, self.starts[0], str(self.starts[0]))
        return ScotlandYardState(CHANCE, situation, NOWHERE, "")

    def actor(self, state: ScotlandYardState) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        return state.actor

    def legal_actions(self, state: ScotlandYardState) -> tuple[int, ...]:
        """Returns the moves of Mr. X or of the detective whose turn it is; 0 alone for a piece that cannot move."""
        if state.actor == FUGITIVE:
            return self.yard.fugitive_actions(state.situation, state.station)
        return self.yard.detective_actions(state.situation) if state.actor == DETECTIVES else ()

    def chance_outcomes(self, state: ScotlandYardState) -> tuple[tuple[int, float], ...]:
        """Returns the start cards that are left: the detectives draw one each, then Mr. X."""
        if state.actor != CHANCE:
            return ()
        left = [station for station in self.yard.board.starts if station not in state.situation.detectives]
        return tuple((station, 1.0 / len(left)) for station in left)

    def apply(self, state: ScotlandYardState, action: int) -> ScotlandYardState:
        """Returns the state after a start card is drawn or a piece has moved."""
        actor, situation, station, path = state
        if actor == CHANCE:
            return self._draw(state, action)
        if actor == TERMINAL or action not in self.legal_actions(state):
            raise illegal_action(self, state, action)
        if actor == FUGITIVE:
            following = self.yard.after_fugitive(situation, action)
            if action != PASS:
                station = self.yard.move_of(action).station
                path = f"{path} {station}"
            return ScotlandYardState(following.actor, following, station, path)
        is_capture = action != PASS and self.yard.move_of(action).station == station
        following = self.yard.after_detective(situation, action, is_capture=is_capture)
        return ScotlandYardState(following.actor, following, station, path)

    def returns(self, state: ScotlandYardState) -> tuple[float, ...]:
        """Returns 1 for the side that won and -1 for the other."""
        if state.actor != TERMINAL:
            raise no_returns(self, state)
        return (1.0, -1.0) if state.situation.winner == FUGITIVE else (-1.0, 1.0)

    def infostate(self, state: ScotlandYardState, player: int) -> str:
        """Returns Mr. X's way for himself, then all that is public."""
        return f"{state.path}|{state.situation.public}" if player == FUGITIVE else f"|{state.situation.public}"

    def public_state(self, state: ScotlandYardState) -> str:
        """Returns start stations, Mr. X's tickets (with his station where he shows it) and the detectives' moves."""
        return state.situation.public

    def action_name(self, state: ScotlandYardState, action: int) -> str:
        """Returns the start station, or the ticket and the station it leads to."""
        if state.actor == CHANCE:
            return f"start {action}"
        if action == PASS:
            return "give up" if state.actor == FUGITIVE else "stay"
        station, ticket, is_double = self.yard.move_of(action)
        return f"{'double ' if is_double else ''}{TICKET_NAMES[ticket]} {station}"

    def action_class(self, state: ScotlandYardState, action: int) -> ActionClass:
        """Returns `OTHER`: moves are neither folds nor calls nor raises."""
        return ActionClass.OTHER

    def describe(self, state: ScotlandYardState) -> str:
        """Returns where everybody is and what has been played, Mr. X's station included."""
        situation = state.situation
        where = state.station or "nowhere yet"
        detectives = " ".join(map(str, situation.detectives)) or "nowhere yet"
        tickets = " ".join(map(str, situation.fugitive_tickets))
        return (
            f"Mr. X at {where} with tickets {tickets} and {situation.doubles} double moves, "
            f"detectives at {detectives}, {situation.num_moves} of {self.rounds} moves made, "
            f"play {situation.public or 'none'}"
        )

    def _draw(self, state: ScotlandYardState, station: int) -> ScotlandYardState:
        situation = state.situation
        if station not in self.yard.board.starts or station in situation.detectives:
            raise illegal_action(self, state, station)
        if len(situation.detectives) == self.detectives:
            situation = situation._replace(public=f"{situation.public} x")
            return ScotlandYardState(FUGITIVE, situation, station, str(station))
        public = f"{situation.public} {station}".strip()
        situation = situation._replace(detectives=(*situation.detectives, station), public=public)
        return state._replace(situation=situation)

    def _check_numbers(self) -> None:
        board = self.yard.board
        for name, numbers, length in (
            ("detective_tickets", self.detective_tickets, 3),
            ("fugitive_tickets", self.fugitive_tickets, 4),
        ):
            if len(numbers) != length or min(numbers) < 0:
                raise ConfigError(f"{name} must be {length} numbers of at least 0, got {format_value(numbers)!r}")
        if any(not 1 <= number <= self.rounds for number in self.reveals):
            raise ConfigError(f"reveals must be moves from 1 to {self.rounds}, got {format_value(self.reveals)}")
        if not self.starts:
            if self.detectives >= len(board.starts):
                raise ConfigError(
                    f"board {board.name} has start cards for {len(board.starts)} pieces, got {self.detectives + 1}"
                )
            return
        if len(self.starts) != self.detectives + 1 or len(set(self.starts)) != len(self.starts):
            got = format_value(self.starts)
            raise ConfigError(f"starts must be {self.detectives + 1} different stations, Mr. X's first, got {got}")
        if any(not 1 <= station <= board.num_stations for station in self.starts):
            raise ConfigError(
                f"starts must be stations from 1 to {board.num_stations}, got {format_value(self.starts)}"
            )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ScotlandYardTown(ScotlandYard):
    """Scotland Yard on a town of 30 stations with taxis and buses: three detectives, ten moves."""

    name: ClassVar[str] = "scotland_yard_town"

    board: str = parameter("town", "london, town, glasses-a, glasses-b, or a .csv file: station_a,station_b,transport")
    detectives: int = parameter(3, "number of detectives", low=1, high=12)
    rounds: int = parameter(10, "moves that Mr. X must make to win", low=1, high=99)
    reveals: tuple[int, ...] = parameter((3, 7), "moves after which Mr. X shows himself")
    detective_tickets: tuple[int, ...] = parameter((6, 4, 0), "taxi, bus and underground tickets of each detective")
    fugitive_tickets: tuple[int, ...] = parameter((4, 3, 0, 2), "taxi, bus, underground and black tickets of Mr. X")
    double_moves: int = parameter(1, "double moves of Mr. X", low=0, high=9)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Glasses(ScotlandYard):
    """Scotland Yard on two rings of eleven stations, small enough to be solved: two detectives, five moves.

    Paper: as `ScotlandYard`, section C.2. Its map is printed as a picture only: `glasses-a` (rings that share a
        station) and `glasses-b` (rings and a bridge) are stand-ins with its pieces, tickets and rounds.
    Departs from the paper: the map; nobody is shown, because a reveal in round 3 decides both stand-ins.
    """

    name: ClassVar[str] = "glasses"

    board: str = parameter("glasses-a", "glasses-a, glasses-b, or another board of `scotland_yard`")
    detectives: int = parameter(2, "number of detectives", low=1, high=12)
    rounds: int = parameter(5, "moves that Mr. X must make to win", low=1, high=99)
    reveals: tuple[int, ...] = parameter((), "moves after which Mr. X shows himself")
    detective_tickets: tuple[int, ...] = parameter((5, 0, 0), "taxi, bus and underground tickets of each detective")
    fugitive_tickets: tuple[int, ...] = parameter((5, 0, 0, 0), "taxi, bus, underground and black tickets of Mr. X")
    double_moves: int = parameter(0, "double moves of Mr. X", low=0, high=9)
    starts: tuple[int, ...] = parameter((6, 1, 11), "stations of Mr. X and each detective; none: the start cards")
