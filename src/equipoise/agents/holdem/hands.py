# SPDX-License-Identifier: Apache-2.0
"""Hands of hold'em by their names in information states, and what a strategy of hands plays there."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.bucketed_strategy import BucketedStrategy
from equipoise.agents.base import Observation, PublicDecision
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.games.base import Game
from equipoise.games.holdem.cards import Deck
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.public_text import lines_of, parse_public_text
from equipoise.games.holdem.rules import Holdem, HoldemState
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.trees.holdem.places import HoldemPlace, HoldemStrategy

__all__ = [
    "HandInfostates",
    "HandRows",
    "check_holdem_game",
    "describe_holdem_decision",
    "hands_by_name",
    "number_hands",
]

FloatArray = npt.NDArray[np.float64]


class HandRows:
    """Rows of a strategy of hands, in the game of its spot."""

    def __init__(self, strategy: HoldemStrategy, game: Game[Any] | None = None, *, name: str) -> None:
        """Keeps the strategy.

        Args:
            strategy: whose rows are found.
            game: what will be played; raises unless its cards and chips are those of the strategy's spot.
            name: of the strategy, for messages.
        """
        if game is not None:
            check_holdem_game(strategy.tree.spot, game)
        self.strategy, self.name = strategy, name
        self._node_of = lines_of(strategy.tree.betting)
        self._hand_of = hands_by_name(strategy.tree.spot.deck)

    def row(self, observation: Observation) -> Sequence[float]:
        """Returns `[A]` what the hand plays."""
        place = self._find(observation.public_state, observation.actions)
        hand = self._hand_of[observation.infostate.partition("|")[0]]
        if isinstance(self.strategy, BucketedStrategy):
            return self.strategy.row(place, hand)
        row: list[float] = self.strategy.probabilities(place)[hand].tolist()
        return row

    def rows(self, decision: PublicDecision) -> FloatArray:
        """Returns `[H, A]` what each hand plays."""
        table = self.strategy.probabilities(self._find(decision.public_state, decision.actions))
        return table[number_hands(decision.infostates, self.strategy.tree.spot.deck)]

    def _find(self, public_state: str, actions: tuple[int, ...]) -> HoldemPlace:
        """Returns the betting node of a public state, and its board."""
        line, board = parse_public_text(public_state)
        node = self._node_of.get(line)
        known = () if node is None else self.strategy.tree.betting.nodes[node].actions
        if node is None or known != actions:
            raise InvalidStateError(
                f"{self.name} knows actions {known} at {public_state!r}, the game offers {actions}: both need one menu"
            )
        return HoldemPlace(node, board)


class HandInfostates(Sequence[str]):
    """The information states of all hands of a deck in their order, written when they are looked at."""

    def __init__(self, deck: Deck, public_state: str) -> None:
        """Keeps the deck and what everybody sees."""
        self.deck, self.public_state = deck, public_state
        self._names = _hand_names(deck)

    def __len__(self) -> int:
        """Returns how many hands there are."""
        return len(self._names)

    def __getitem__(self, place: Any) -> Any:
        """Returns one of them, or a list of some."""
        if isinstance(place, slice):
            return [f"{name}|{self.public_state}" for name in self._names[place]]
        return f"{self._names[place]}|{self.public_state}"


def number_hands(infostates: Sequence[str], deck: Deck) -> npt.NDArray[np.int64]:
    """Returns `[H]` the number of each information state's hand."""
    if isinstance(infostates, HandInfostates) and infostates.deck == deck:
        return np.arange(deck.num_hands)
    hand_of = hands_by_name(deck)
    return np.array([hand_of[infostate.partition("|")[0]] for infostate in infostates], np.int64)


def describe_holdem_decision(game: Holdem, state: HoldemState) -> PublicDecision:
    """Returns the decision of the player to move, private states being all hands of the deck in their order.

    Hands that the board blocks have no action; those that the other players hold are not told apart.
    """
    seat, actions = game.actor(state), game.legal_actions(state)
    hands = hands_of(game.card_deck)
    is_live = ~hands.blocked(state.board)
    public = game.public_state(state)
    return PublicDecision(
        seat=seat,
        public_state=public,
        infostates=HandInfostates(game.card_deck, public),
        actions=actions,
        classes=game.action_classes(state, actions),
        legality=np.broadcast_to(is_live[:, None], (is_live.size, len(actions))),
    )


@functools.cache
def _hand_names(deck: Deck) -> list[str]:
    return list(hands_by_name(deck))


@functools.cache
def hands_by_name(deck: Deck) -> dict[str, int]:
    """Returns the number of each hand by its name in information states, in the order of hands."""
    return {format_hand(hand, deck): hand for hand in range(deck.num_hands)}


def check_holdem_game(spot: HoldemSpot, game: Any) -> None:
    """Raises `ConfigError` unless a game has the cards and chips of a spot; its bets may be others."""
    if not isinstance(game, Holdem):
        raise ConfigError(f"a strategy of hold'em plays hold'em, got the game {game.spec.name}")
    if game.card_deck != spot.deck or game.betting_rules != spot.betting_rules:
        raise ConfigError(f"the strategy is of another deck, board or other chips than {game.spec.label}")
