# SPDX-License-Identifier: Apache-2.0
"""Liar's Dice for two players: bid on how many dice of a face both hold, or call the other a liar."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
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

__all__ = ["LiarsDice", "LiarsDiceState"]

NO_BID = -1


class LiarsDiceState(NamedTuple):
    """Hands rolled and bids made."""

    actor: int
    hands: tuple[int, ...]  # by player, as far as rolled; index into the sorted hands
    last_bid: int  # or NO_BID
    loser: int  # at the end; else -1
    public: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LiarsDice:
    """Liar's Dice: bids raise the count, or keep it and raise the face; the highest face is wild.

    A bid of count q on face f is action `(q - 1) * faces + f - 1`, the challenge comes last, as in
    OpenSpiel's `liars_dice`. A challenged bidder wins if both hands together hold at least q dice of face f
    or of the wild face. Each player's dice are one chance event over sorted hands with their multinomial
    weights: players see their dice sorted in OpenSpiel too, so the information states are the same and the
    tree is smaller.

    >>> from equipoise.trees import build_history_tree
    >>> build_history_tree(LiarsDice(faces=3)).size.num_infosets
    192
    """

    name: ClassVar[str] = "liars_dice"

    dice: int = parameter(1, "dice each player rolls", low=1, high=5)
    faces: int = parameter(6, "faces of a die; the highest is wild", low=2, high=9)
    spec: GameSpec = derived()
    _hands: tuple[tuple[int, ...], ...] = derived()  # sorted, faces from 1
    _hand_names: tuple[str, ...] = derived()
    _rolls: tuple[tuple[int, float], ...] = derived()  # chance outcomes of one player's roll
    _bids: tuple[tuple[int, int], ...] = derived()  # count and face of each bid
    _words: tuple[str, ...] = derived()  # of each bid and of the challenge
    _legal: tuple[tuple[int, ...], ...] = derived()  # by last bid + 1

    def __post_init__(self) -> None:
        check_parameters(self)
        hands = tuple(itertools.combinations_with_replacement(range(1, self.faces + 1), self.dice))
        bids = tuple(itertools.product(range(1, 2 * self.dice + 1), range(1, self.faces + 1)))
        liar = len(bids)
        tables = {
            "_hands": hands,
            "_hand_names": tuple("".join(map(str, hand)) for hand in hands),
            "_rolls": tuple((index, _probability(hand, self.faces)) for index, hand in enumerate(hands)),
            "_bids": bids,
            "_words": (*(f"{count}-{face}" for count, face in bids), "liar"),
            "_legal": (tuple(range(liar)), *(tuple(range(last + 1, liar + 1)) for last in range(liar))),
            "spec": duel_spec(self, most=1.0, max_length=2 + liar + 1),  # rolls, every bid, the challenge
        }
        for name, table in tables.items():
            object.__setattr__(self, name, table)

    def initial_state(self) -> LiarsDiceState:
        """Returns the state before the roll."""
        return LiarsDiceState(CHANCE, (), NO_BID, -1, "roll 0")

    def actor(self, state: LiarsDiceState) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        return state.actor

    def legal_actions(self, state: LiarsDiceState) -> tuple[int, ...]:
        """Returns the higher bids, and the challenge once there is a bid."""
        return self._legal[state.last_bid + 1] if state.actor >= 0 else ()

    def chance_outcomes(self, state: LiarsDiceState) -> tuple[tuple[int, float], ...]:
        """Returns the hands that a player may roll."""
        return self._rolls if state.actor == CHANCE else ()

    def apply(self, state: LiarsDiceState, action: int) -> LiarsDiceState:
        """Returns the state after a roll, a bid or the challenge."""
        actor, hands, last_bid, _, public = state
        if actor == CHANCE:
            return self._roll(state, action)
        if actor == TERMINAL or action not in self._legal[last_bid + 1]:
            raise illegal_action(self, state, action)
        public = f"{public} {self._words[action]}" if public else self._words[action]
        if action < len(self._bids):
            return LiarsDiceState(1 - actor, hands, action, -1, public)
        bidder = 1 - actor
        loser = actor if self._holds(hands, last_bid) else bidder
        return LiarsDiceState(TERMINAL, hands, last_bid, loser, public)

    def returns(self, state: LiarsDiceState) -> tuple[float, ...]:
        """Returns 1 for the winner of the challenge and -1 for its loser."""
        if state.actor != TERMINAL:
            raise no_returns(self, state)
        return (-1.0, 1.0) if state.loser == 0 else (1.0, -1.0)

    def infostate(self, state: LiarsDiceState, player: int) -> str:
        """Returns the player's sorted dice and the bids."""
        hand = self._hand_names[state.hands[player]] if player < len(state.hands) else "?"
        return f"{hand}|{state.public}"

    def public_state(self, state: LiarsDiceState) -> str:
        """Returns the bids, or how many players have rolled."""
        return state.public

    def action_name(self, state: LiarsDiceState, action: int) -> str:
        """Returns the dice rolled, the bid as count-face, or liar."""
        return self._hand_names[action] if state.actor == CHANCE else self._words[action]

    def action_class(self, state: LiarsDiceState, action: int) -> ActionClass:
        """Returns `OTHER`: bids here put no chips in."""
        return ActionClass.OTHER

    def describe(self, state: LiarsDiceState) -> str:
        """Returns the dice and the bids in words."""
        dice = " and ".join(self._hand_names[hand] for hand in state.hands) or "none"
        return f"dice {dice}, play {state.public or 'none'}"

    def _roll(self, state: LiarsDiceState, hand: int) -> LiarsDiceState:
        if not 0 <= hand < len(self._hands):
            raise illegal_action(self, state, hand)
        if not state.hands:
            return LiarsDiceState(CHANCE, (hand,), NO_BID, -1, "roll 1")
        return LiarsDiceState(0, (*state.hands, hand), NO_BID, -1, "")

    def _holds(self, hands: tuple[int, ...], bid: int) -> bool:
        """Returns whether both hands together hold what was bid."""
        count, face = self._bids[bid]
        dice = self._hands[hands[0]] + self._hands[hands[1]]
        return sum(die in (face, self.faces) for die in dice) >= count


def _probability(hand: tuple[int, ...], faces: int) -> float:
    orders = math.factorial(len(hand))
    for repeats in Counter(hand).values():
        orders //= math.factorial(repeats)
    return orders / int(faces ** len(hand))
