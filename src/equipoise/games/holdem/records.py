# SPDX-License-Identifier: Apache-2.0
"""Hands of hold'em that were played somewhere, whatever file they come from, and what was seen at every decision."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

from equipoise.core.errors import EquipoiseError, ParseError
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingRules,
    BettingState,
    Stage,
    apply_action,
    initial_betting,
    next_street,
)
from equipoise.games.holdem.cards import check_board, format_board

__all__ = ["Moment", "RecordedHand"]

WORDS = {FOLD: "f", CALL: "c"}


class Moment(NamedTuple):
    """A decision of a hand that was played."""

    seat: int
    betting: BettingState
    public_state: str  # as `Holdem.public_state` writes it
    board: tuple[int, ...]
    action: int  # what was done: 0 folds, 1 calls, others are totals over the hand


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RecordedHand:
    """A hand from a file; seats are in the order in which players act after the flop.

    >>> hand = RecordedHand(rules=BettingRules(), hole=((0, 4), (8, 12)), board=(), actions=(300, 0), names=("a", "b"))
    >>> [(moment.seat, moment.public_state) for moment in hand.moments()]
    [(1, ''), (0, 'r300')]
    """

    rules: BettingRules
    hole: tuple[tuple[int, ...], ...]  # of each seat, ascending; empty where they are not known
    board: tuple[int, ...]  # as far as it was dealt; the flop ascending
    actions: tuple[int, ...]  # of players
    names: tuple[str, ...]  # of seats
    number: int = 0
    won: tuple[int, ...] | None = None  # chips of each seat, where the file says so

    def __post_init__(self) -> None:
        size = self.rules.num_players
        if len(self.names) != size or len(self.hole) != size or any(len(cards) not in (0, 2) for cards in self.hole):
            raise ParseError(f"a hand of {size} players has as many names and hands of two cards")
        check_board(self.board)
        known = [*self.board, *(card for cards in self.hole for card in cards)]
        if len(set(known)) != len(known):
            raise ParseError(f"a card is dealt twice: board {format_board(self.board)}, hands of players beside it")

    def moments(self) -> Iterator[Moment]:
        """Yields the decisions; raises `ParseError` at one that the rules do not allow."""
        betting = initial_betting(self.rules)
        public = "/" if betting.stage is Stage.DEAL else ""
        for action in self.actions:
            while betting.stage is Stage.DEAL:
                betting, public = self._deal(betting, public)
            if betting.stage is not Stage.ACT:
                raise ParseError("there are actions after the end of the hand")
            yield Moment(betting.actor, betting, public, self._board_at(betting), action)
            try:
                betting = apply_action(self.rules, betting, action)
            except EquipoiseError as error:
                raise ParseError(f"after {public or 'the blinds'}: {error}") from None
            public += WORDS.get(action, f"r{action}") + ("/" if betting.stage is Stage.DEAL else "")

    def _board_at(self, betting: BettingState) -> tuple[int, ...]:
        return self.board[: betting.street.num_board_cards]

    def _deal(self, betting: BettingState, public: str) -> tuple[BettingState, str]:
        """Returns the betting after the next cards of the board, and the text of what is seen."""
        after = next_street(self.rules, betting)
        cards = self.board[betting.street.num_board_cards : after.street.num_board_cards]
        if len(self.board) < after.street.num_board_cards:
            raise ParseError(f"the board {format_board(self.board) or 'of no cards'} ends before the betting does")
        end = "/" if after.stage is Stage.DEAL else ""
        return after, f"{public}{format_board(cards)}:{end}"
