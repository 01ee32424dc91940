# SPDX-License-Identifier: Apache-2.0
"""Kuhn poker for two or more players: one card each, one chip to bet."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

from equipoise.games.base import (
    CHANCE,
    TERMINAL,
    ActionClass,
    GameSpec,
    derived,
    illegal_action,
    no_returns,
    parameter,
)
from equipoise.games.parameters import check_parameters, parameters_of

__all__ = ["Kuhn", "KuhnState"]

PASS, BET = 0, 1
RANKS = "23456789TJQK"


class KuhnState(NamedTuple):
    """Cards dealt and bets made."""

    actor: int
    cards: tuple[int, ...]  # by player, as far as dealt
    bets: str  # one letter an action, p or b
    public: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Kuhn:
    """Kuhn poker: a deck of one card more than players, an ante and at most one bet of one chip each.

    In turn from player 0 everybody passes or bets; after the first bet everybody else once passes (folds) or
    bets (calls). The highest card among those who bet wins the pot, or among all if nobody did. More than two
    players play as in OpenSpiel's `kuhn_poker`.

    >>> kuhn = Kuhn()
    >>> state = kuhn.apply(kuhn.apply(kuhn.initial_state(), 0), 2)  # a jack against a king
    >>> [kuhn.action_name(state, action) for action in kuhn.legal_actions(state)]
    ['check', 'bet']
    """

    name: ClassVar[str] = "kuhn"

    players: int = parameter(2, "number of players; the deck has one card more", low=2, high=10)
    spec: GameSpec = derived()
    _card_names: str = derived()

    def __post_init__(self) -> None:
        check_parameters(self)
        spec = GameSpec(
            name=self.name,
            version=1,
            num_players=self.players,
            parameters=parameters_of(self),
            is_zero_sum=True,
            min_utility=-2.0,
            max_utility=2.0 * (self.players - 1),
            max_length=self.players + 2 * self.players - 1,
        )
        object.__setattr__(self, "spec", spec)
        object.__setattr__(self, "_card_names", RANKS[-(self.players + 1) :])

    def initial_state(self) -> KuhnState:
        """Returns the state before the deal."""
        return KuhnState(CHANCE, (), "", "deal 0")

    def actor(self, state: KuhnState) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        return state.actor

    def legal_actions(self, state: KuhnState) -> tuple[int, ...]:
        """Returns pass and bet where a player acts."""
        return (PASS, BET) if state.actor >= 0 else ()

    def chance_outcomes(self, state: KuhnState) -> tuple[tuple[int, float], ...]:
        """Returns the cards that the next player may be dealt."""
        if state.actor != CHANCE:
            return ()
        deck = range(self.players + 1)
        probability = 1.0 / (self.players + 1 - len(state.cards))
        return tuple((card, probability) for card in deck if card not in state.cards)

    def apply(self, state: KuhnState, action: int) -> KuhnState:
        """Returns the state after a card is dealt or a player passes or bets."""
        if state.actor == CHANCE:
            return self._deal(state, action)
        if state.actor == TERMINAL or action not in (PASS, BET):
            raise illegal_action(self, state, action)
        bets = state.bets + ("b" if action == BET else "p")
        num_actions = len(bets)
        first_bet = bets.find("b")
        # without a bet everybody acts once; the first bettor waits for everybody else
        last_action = self.players if first_bet < 0 else first_bet + self.players
        actor = TERMINAL if num_actions == last_action else num_actions % self.players
        return KuhnState(actor, state.cards, bets, bets)

    def returns(self, state: KuhnState) -> tuple[float, ...]:
        """Returns chips won by each player."""
        if state.actor != TERMINAL:
            raise no_returns(self, state)
        num_players = self.players
        stakes = [1.0 + ("b" in state.bets[player::num_players]) for player in range(num_players)]
        top_stake = max(stakes)
        winner = max(
            (player for player in range(num_players) if stakes[player] == top_stake),
            key=state.cards.__getitem__,
        )
        pot = sum(stakes)
        return tuple((pot if player == winner else 0.0) - stake for player, stake in enumerate(stakes))

    def infostate(self, state: KuhnState, player: int) -> str:
        """Returns the player's card and the bets."""
        card = self._card_names[state.cards[player]] if player < len(state.cards) else "?"
        return f"{card}:{state.public}"

    def public_state(self, state: KuhnState) -> str:
        """Returns the bets, or how many cards are dealt."""
        return state.public

    def action_name(self, state: KuhnState, action: int) -> str:
        """Returns check, bet, fold or call, or the card dealt."""
        if state.actor == CHANCE:
            return self._card_names[action]
        if "b" in state.bets:
            return "call" if action == BET else "fold"
        return "bet" if action == BET else "check"

    def action_class(self, state: KuhnState, action: int) -> ActionClass:
        """Returns what passing or betting amounts to here."""
        if state.actor == CHANCE:
            return ActionClass.OTHER
        if "b" in state.bets:
            return ActionClass.CALL if action == BET else ActionClass.FOLD
        return ActionClass.RAISE if action == BET else ActionClass.CALL

    def describe(self, state: KuhnState) -> str:
        """Returns the cards and the bets in words."""
        cards = " ".join(self._card_names[card] for card in state.cards) or "none"
        return f"cards {cards}, bets {state.bets or 'none'}"

    def _deal(self, state: KuhnState, card: int) -> KuhnState:
        if card in state.cards or not 0 <= card <= self.players:
            raise illegal_action(self, state, card)
        cards = (*state.cards, card)
        if len(cards) < self.players:
            return KuhnState(CHANCE, cards, "", f"deal {len(cards)}")
        return KuhnState(0, cards, "", "")
