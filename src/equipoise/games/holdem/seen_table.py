# SPDX-License-Identifier: Apache-2.0
"""What a seat sees of a hand of hold'em as values, read from the text of its information state.

For agents that want cards, pot, stacks and bets by name instead of `AcKd|r300c/Ks7h2d:c`. Nothing that the seat may
not know is in the text, so nothing of it is here.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Final

from equipoise.core.errors import ParseError
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingState,
    Stage,
    apply_action,
    initial_betting,
    name_action,
    next_street,
    pot,
    to_call,
)
from equipoise.games.holdem.betting_tree import DEALING
from equipoise.games.holdem.cards import format_card
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.rules import Holdem

__all__ = ["SeenTable", "read_table"]

HALF_A_FLOP: Final = re.compile(r"(?<=/)(?:[2-9TJQKA][cdhs])+$")  # cards of a deal that is not complete


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SeenTable:
    """A hand of hold'em as one seat sees it; chips are whole numbers, seats count from 0.

    >>> from equipoise.games import make_game
    >>> table = read_table(make_game("holdem"), "AcKd|r300", seat=0)
    >>> table.pot, table.to_call, [table.name(action) for action in table.actions[:2]]
    (400, 200, ['fold', 'call'])
    """

    seat: int
    cards: tuple[str, ...]  # the seat's own, the higher one first; empty before they are dealt
    board: tuple[str, ...]
    betting: BettingState  # all of it is public
    actions: tuple[int, ...]  # legal, ascending; empty unless it is this seat's turn

    @property
    def street(self) -> str:
        """Returns preflop, flop, turn or river."""
        return self.betting.street.name.lower()

    @property
    def pot(self) -> int:
        """Returns the chips that all have put in."""
        return pot(self.betting)

    @property
    def stacks(self) -> tuple[int, ...]:
        """Returns the chips left to each seat."""
        return self.betting.stacks

    @property
    def bets(self) -> tuple[int, ...]:
        """Returns what each seat has put in during this round; antes are no bets."""
        return tuple(max(paid - self.betting.base, 0) for paid in self.betting.committed)

    @property
    def to_call(self) -> int:
        """Returns the chips that this seat must add to stay."""
        return to_call(self.betting, self.seat)

    @property
    def raises(self) -> tuple[int, ...]:
        """Returns those actions that bet or raise, ascending: totals over the hand that they raise to."""
        return tuple(action for action in self.actions if action not in (FOLD, CALL))

    def name(self, action: int) -> str:
        """Returns what a legal action is called: fold, check, call, bet 300, raise to 900, all-in."""
        return name_action(self.betting, action)

    def as_dict(self) -> dict[str, Any]:
        """Returns what JSON takes; bets are given by their amounts in this round."""
        return {
            "cards": list(self.cards),
            "board": list(self.board),
            "street": self.street,
            "pot": self.pot,
            "to_call": self.to_call,
            "stacks": list(self.stacks),
            "bets": list(self.bets),
            "put_in": list(self.betting.committed),
            "folded": list(self.betting.is_folded),
        }


def read_table(game: Holdem, infostate: str, seat: int) -> SeenTable:
    """Returns what an information state of hold'em says, bets by name included.

    >>> from equipoise.games.holdem.rules import Holdem
    >>> table = read_table(Holdem(), "AcKd|r300c/Ks7h2d:c", seat=1)
    >>> table.cards, table.board, table.pot, table.to_call
    (('Ac', 'Kd'), ('Ks', '7h', '2d'), 600, 0)
    >>> [table.name(action) for action in table.actions]
    ['check', 'bet 600', 'all-in']
    """
    hand, bar, public = infostate.partition("|")
    if not bar:
        raise ParseError(f"{infostate!r} is no information state of hold'em; they look like AcKd|r300c/Ks7h2d:c")
    betting, board = initial_betting(game.betting_rules), game.first_board
    if not public.startswith("deal "):
        steps, seen = parse_steps(HALF_A_FLOP.sub("", public))
        partial = HALF_A_FLOP.search(public)
        board = tuple(map(format_card, seen)) + (_cut(partial[0]) if partial else ())
        for step in steps:
            rules = game.betting_rules
            betting = next_street(rules, betting) if step == DEALING else apply_action(rules, betting, step)
    is_turn = not public.startswith("deal ") and betting.stage is Stage.ACT and betting.actor == seat
    return SeenTable(
        seat=seat,
        cards=_cut(hand) if hand != "?" else (),
        board=board,
        betting=betting,
        actions=game.betting_actions(betting) if is_turn else (),
    )


def _cut(cards: str) -> tuple[str, ...]:
    """Returns cards that are written without spaces."""
    return tuple(cards[place : place + 2] for place in range(0, len(cards), 2))
