# SPDX-License-Identifier: Apache-2.0
"""Goofspiel, the game of pure strategy: two players bid cards of equal hands for prizes."""

from __future__ import annotations

import dataclasses
import enum
from typing import ClassVar, NamedTuple

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
from equipoise.games.parameters import check_parameters

__all__ = ["Goofspiel", "GoofspielState", "Payoff", "PrizeOrder"]

NO_CARD = -1
PENDING = "*"  # stands in the public state for player 0's bid until player 1 has bid


class PrizeOrder(enum.StrEnum):
    """In which order prizes come."""

    ASCENDING = "ascending"
    DESCENDING = "descending"
    RANDOM = "random"


class Payoff(enum.StrEnum):
    """What the points are worth in the end."""

    DIFFERENCE = "difference"  # own points minus the other's
    HALF_DIFFERENCE = "half_difference"  # own points minus the mean, OpenSpiel's point_difference
    WIN_LOSS = "win_loss"  # 1, 0 or -1


class GoofspielState(NamedTuple):
    """Hands, prizes, and the bid that is still hidden. Cards are counted from 0, so card c is worth c + 1."""

    actor: int
    hands: tuple[tuple[int, ...], tuple[int, ...]]  # ascending
    prizes: tuple[int, ...]  # to come, in order unless that is random
    prize: int  # on the table, or NO_CARD
    bid: int  # player 0's, while player 1 chooses; else NO_CARD
    lead: int  # player 0's points minus player 1's
    own: tuple[str, str]  # what only the player knows of its bids
    public: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Goofspiel:
    """Goofspiel: hands and prizes 1 to N; the higher bid takes the prize, equal bids split it.

    Bids are simultaneous: player 0's is hidden until player 1 has bid. With `reveal_bids=false` players see
    only who took each prize. Action c bids card c + 1, as in OpenSpiel's `goofspiel`, whose rules these are
    (equal bids there discard the prize, which leaves the same difference).

    >>> import equipoise
    >>> abs(equipoise.solve(Goofspiel(cards=3), iterations=100).game_value) < 0.01
    True
    """

    name: ClassVar[str] = "goofspiel"

    cards: int = parameter(5, "cards in each hand, and prizes", low=2, high=20)
    prizes: PrizeOrder = parameter(PrizeOrder.ASCENDING, "order in which prizes come")
    reveal_bids: bool = parameter(True, "show both bids after each round, not only who won it")
    payoff: Payoff = parameter(Payoff.DIFFERENCE, "what the points are worth in the end")
    auto_last: bool = parameter(True, "play the last round, which leaves no choice, without decisions")
    spec: GameSpec = derived()

    def __post_init__(self) -> None:
        check_parameters(self)
        # the lowest card goes under the highest one for prize 1, every other card wins by one
        most = float(self.cards * (self.cards + 1) // 2 - 2)
        top = {Payoff.DIFFERENCE: most, Payoff.HALF_DIFFERENCE: most / 2, Payoff.WIN_LOSS: 1.0}[self.payoff]
        num_rounds = self.cards - self.auto_last
        spec = duel_spec(self, most=top, max_length=num_rounds * (3 if self.prizes is PrizeOrder.RANDOM else 2))
        object.__setattr__(self, "spec", spec)

    def initial_state(self) -> GoofspielState:
        """Returns the state before the first bid; before the first prize if their order is random."""
        hand = tuple(range(self.cards))
        prizes = hand[::-1] if self.prizes is PrizeOrder.DESCENDING else hand
        return self._next_round(GoofspielState(CHANCE, (hand, hand), prizes, NO_CARD, NO_CARD, 0, ("", ""), ""))

    def actor(self, state: GoofspielState) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        return state.actor

    def legal_actions(self, state: GoofspielState) -> tuple[int, ...]:
        """Returns the cards in the bidder's hand."""
        return state.hands[state.actor] if state.actor >= 0 else ()

    def chance_outcomes(self, state: GoofspielState) -> tuple[tuple[int, float], ...]:
        """Returns the prizes that may come next, where their order is random."""
        if state.actor != CHANCE:
            return ()
        return tuple((prize, 1.0 / len(state.prizes)) for prize in state.prizes)

    def apply(self, state: GoofspielState, action: int) -> GoofspielState:
        """Returns the state after a prize is turned up or a bid is made."""
        actor, hands, prizes, prize, bid, lead, own, public = state
        if actor == TERMINAL or action not in (prizes if actor == CHANCE else hands[actor]):
            raise illegal_action(self, state, action)
        if actor == CHANCE:
            return _turned_up(state, action)
        hand = _without(hands[actor], action)
        if actor == 0:
            word = _joined(own[0], str(action + 1))
            return GoofspielState(1, (hand, hands[1]), prizes, prize, action, lead, (word, own[1]), public + PENDING)
        if self.reveal_bids:
            own = ("", "")
        else:
            own = (own[0], _joined(own[1], str(action + 1)))
        lead += _points(prize, bid, action)
        public = public[: -len(PENDING)] + self._outcome(bid, action)
        return self._next_round(GoofspielState(0, (hands[0], hand), prizes, NO_CARD, NO_CARD, lead, own, public))

    def returns(self, state: GoofspielState) -> tuple[float, ...]:
        """Returns what the points are worth to each player."""
        if state.actor != TERMINAL:
            raise no_returns(self, state)
        value = float(state.lead)
        if self.payoff is Payoff.HALF_DIFFERENCE:
            value /= 2.0
        elif self.payoff is Payoff.WIN_LOSS:
            value = float((value > 0) - (value < 0))
        return (value, -value)

    def infostate(self, state: GoofspielState, player: int) -> str:
        """Returns the player's bids that others have not seen, then all that is public."""
        return f"{state.own[player]}|{state.public}"

    def public_state(self, state: GoofspielState) -> str:
        """Returns prizes with their bids (or who took them), and whether player 0 has bid."""
        return state.public

    def action_name(self, state: GoofspielState, action: int) -> str:
        """Returns the card bid or the prize turned up."""
        return f"prize {action + 1}" if state.actor == CHANCE else f"bid {action + 1}"

    def action_class(self, state: GoofspielState, action: int) -> ActionClass:
        """Returns `OTHER`: bids are neither folds nor calls nor raises."""
        return ActionClass.OTHER

    def describe(self, state: GoofspielState) -> str:
        """Returns hands, prize, hidden bid and score in words."""
        hands = " and ".join(" ".join(str(card + 1) for card in hand) or "nothing" for hand in state.hands)
        bid = state.bid + 1 if state.bid != NO_CARD else "none"
        return f"hands {hands}, player 0 leads by {state.lead}, hidden bid {bid}, play {state.public or 'none'}"

    def _next_round(self, state: GoofspielState) -> GoofspielState:
        _, hands, prizes, _, _, lead, own, public = state
        if not prizes:
            return state._replace(actor=TERMINAL)
        if len(prizes) == 1 and self.auto_last:
            (prize,), ((bid,), (answer,)) = prizes, hands
            lead += _points(prize, bid, answer)
            public = _joined(public, f"{prize + 1}:{self._outcome(bid, answer)}")
            return GoofspielState(TERMINAL, ((), ()), (), NO_CARD, NO_CARD, lead, own, public)
        if self.prizes is PrizeOrder.RANDOM:
            return state._replace(actor=CHANCE)
        return _turned_up(state, prizes[0])

    def _outcome(self, bid: int, answer: int) -> str:
        if self.reveal_bids:
            return f"{bid + 1}-{answer + 1}"
        return "=" if bid == answer else (">" if bid > answer else "<")


def _points(prize: int, bid: int, answer: int) -> int:
    """Returns what a round adds to player 0's lead."""
    return ((bid > answer) - (bid < answer)) * (prize + 1)


def _turned_up(state: GoofspielState, prize: int) -> GoofspielState:
    _, hands, prizes, _, _, lead, own, public = state
    public = _joined(public, f"{prize + 1}:")
    return GoofspielState(0, hands, _without(prizes, prize), prize, NO_CARD, lead, own, public)


def _joined(text: str, word: str) -> str:
    return f"{text} {word}" if text else word


def _without(cards: tuple[int, ...], card: int) -> tuple[int, ...]:
    place = cards.index(card)
    return cards[:place] + cards[place + 1 :]
