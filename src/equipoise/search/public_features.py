# SPDX-License-Identifier: Apache-2.0
"""What networks are told of public states: features, and where private states and actions stand in inputs and outputs.

Every kind of game has its own features; small games that have none are told apart state by state. Ranges are no
features: they come with each query. Nothing here knows a network.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, TERMINAL, Game
from equipoise.games.holdem.betting import CALL, FOLD
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menus import Menu
from equipoise.games.holdem.merged_suits import MergedState, SuitMergedHoldem
from equipoise.games.leduc import Leduc, LeducState
from equipoise.games.openspiel import OpenSpielGame
from equipoise.games.perfect_information import OpenState, PerfectInformationGame
from equipoise.games.public import PublicGame
from equipoise.games.scotland_yard import ScotlandYardPublicGame
from equipoise.games.scotland_yard.public_form import YardPublicState
from equipoise.games.scotland_yard.situation import DETECTIVES, FUGITIVE, PASS, TICKET_NAMES
from equipoise.games.tic_tac_toe import TicTacToe, TicTacToeState
from equipoise.kernels.public_nets import PublicSizes, StateInputs
from equipoise.trees.derive import DerivedPublicGame

__all__ = ["PublicFeatures", "find_features"]

IntArray = npt.NDArray[np.int32]

MOST_LABELS: Final = 20_000  # public states that are told apart one by one
FEW_STATIONS: Final = 16  # up to so many, Mr. X's moves are told apart by where they lead
FEW_ROUNDS: Final = 12  # up to so many, rounds are told apart one by one


class PublicFeatures(Protocol):
    """Says what a network is told of the public states of a game."""

    @property
    def sizes(self) -> PublicSizes:
        """Returns how much there is to be told."""
        ...

    def inputs(self, state: Any) -> StateInputs:
        """Returns what is told of a public state."""
        ...


def find_features(game: Game[Any], form: PublicGame[Any]) -> PublicFeatures:
    """Returns the features of a game; raises `ConfigError` if networks cannot be told of it.

    >>> from equipoise.games import make_game
    >>> game = make_game("scotland_yard")
    >>> find_features(game, ScotlandYardPublicGame(game)).sizes.num_inputs
    1223
    """
    if isinstance(form, ScotlandYardPublicGame):
        return YardFeatures(form)
    if isinstance(form, PerfectInformationGame):
        return OpenFeatures(form)
    if isinstance(form, SuitMergedHoldem):
        return HoldemFeatures(form)
    if isinstance(form, DerivedPublicGame):
        return LeducFeatures(game, form) if isinstance(game, Leduc) else LabelFeatures(form)
    raise ConfigError(f"networks cannot be told of {game.spec.label}: it has no features")


def one_hot(*groups: tuple[int, int]) -> tuple[IntArray, npt.NDArray[np.float32]]:
    """Returns the features of groups of which one each is 1: (size, which), one after the other."""
    starts = np.cumsum([0, *(size for size, _ in groups)])[:-1]
    feature = np.array([start + which for start, (_, which) in zip(starts, groups, strict=True)], np.int32)
    return feature, np.ones(feature.size, np.float32)


def sparse(amounts: Iterable[float]) -> tuple[IntArray, npt.NDArray[np.float32]]:
    """Returns those of some features that are not 0."""
    given = amounts if isinstance(amounts, np.ndarray) else np.fromiter(amounts, np.float32)
    feature = np.flatnonzero(given).astype(np.int32)
    return feature, given[feature]


class _Derived:
    """Private states and actions of a game that was enumerated: private states keep their place from the deal on."""

    def __init__(self, form: DerivedPublicGame) -> None:
        self.form = form
        first = form.initial_state()
        self.places: dict[int, tuple[IntArray, IntArray]] = {}
        widths = form.num_private(first, 0), form.num_private(first, 1)
        self.places[first] = np.arange(widths[0], dtype=np.int32), np.arange(widths[1], dtype=np.int32)
        for state in range(form.num_public_states):
            for edge in form.edges(state):
                self.places[edge.child] = self._below(state, edge)
        self.width = widths
        states = range(form.num_public_states)
        numbers = [
            sorted({action for state in states if form.actor(state) == player for action in form.legal_actions(state)})
            for player in (0, 1)
        ]
        self.column = [{action: column for column, action in enumerate(own)} for own in numbers]

    def _below(self, state: int, edge: Any) -> tuple[IntArray, IntArray]:
        places = []
        for player, relation in enumerate(edge.relations):
            place = np.full(self.form.num_private(edge.child, player), -1, np.int32)
            above = self.places[state][player][relation.private]
            place[relation.target] = above
            if (place[relation.target] != above).any() or np.unique(place).size != place.size:
                raise ConfigError(
                    f"networks cannot be told of {self.form.spec.label}: players learn more than they were dealt"
                )
            places.append(place)
        return places[0], places[1]

    def actions(self, state: int) -> IntArray:
        actor = self.form.actor(state)
        columns = [self.column[actor][action] for action in self.form.legal_actions(state)] if actor >= 0 else []
        return np.array(columns, np.int32)

    @property
    def num_actions(self) -> tuple[int, int]:
        return max(len(self.column[0]), 1), max(len(self.column[1]), 1)


class LabelFeatures:
    """Each public state of a small game for itself.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import derive_public_game
    >>> LabelFeatures(derive_public_game(make_game("kuhn"))).sizes
    PublicSizes(features=9, places=(3, 3), actions=(2, 2))
    """

    def __init__(self, form: DerivedPublicGame) -> None:
        if form.num_public_states > MOST_LABELS:
            raise ConfigError(f"{form.spec.label} has {form.num_public_states:,} public states, too many for networks")
        self._derived = _Derived(form)
        self.sizes = PublicSizes(form.num_public_states, self._derived.width, self._derived.num_actions)
        self._unit = form.spec.utility_range / 2.0

    def inputs(self, state: int) -> StateInputs:
        """Returns the state's number."""
        feature, amount = one_hot((self.sizes.features, state))
        return StateInputs(
            actor=self._derived.form.actor(state),
            feature=feature,
            amount=amount,
            places=self._derived.places[state],
            actions=self._derived.actions(state),
            unit=self._unit,
        )


class LeducFeatures:
    """Leduc: the card, and where the betting stands; values are in units of the larger stake.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178, Table 2, for the kind of inputs.
    Departs from the paper: nothing is published of Leduc's; chips, raises and checks are told apart one by one.
    Checked by: tests/search/test_public_features.py.
    """

    def __init__(self, game: Leduc, form: DerivedPublicGame) -> None:
        self._derived = _Derived(form)
        known = represent(game, form)
        self._states = [known[form.public_state(state)] for state in range(form.num_public_states)]
        betting: dict[Hashable, int] = {}
        self._betting = [betting.setdefault(_betting_of(state), len(betting)) for state in self._states]
        self._num_boards = max(state.board for state in self._states) + 2  # none is one of them
        self.sizes = PublicSizes(len(betting) + self._num_boards, self._derived.width, self._derived.num_actions)

    def inputs(self, state: int) -> StateInputs:
        """Returns the betting and the card."""
        inside = self._states[state]
        num_betting = self.sizes.features - self._num_boards
        feature, amount = one_hot((num_betting, self._betting[state]), (self._num_boards, inside.board + 1))
        return StateInputs(
            actor=self._derived.form.actor(state),
            feature=feature,
            amount=amount,
            places=self._derived.places[state],
            actions=self._derived.actions(state),
            unit=max(inside.chips),
        )


def _betting_of(state: LeducState) -> Hashable:
    return state.board >= 0, state.chips, state.actor, state.num_raises, state.has_checked


def represent(game: Game[Any], form: DerivedPublicGame) -> dict[str, Any]:
    """Returns a state of a game for each public state, by its label: the first that is met."""
    wanted = {form.public_state(state) for state in range(form.num_public_states)}
    found: dict[str, Any] = {}
    waiting = [game.initial_state()]
    while waiting:
        state = waiting.pop()
        found.setdefault(game.public_state(state), state)
        actor = game.actor(state)
        if actor == TERMINAL:
            continue
        chances = game.chance_outcomes(state) if actor == CHANCE else ()
        actions = [outcome for outcome, _ in chances] or list(game.legal_actions(state))
        waiting += [game.apply(state, action) for action in actions]
    return {label: found[label] for label in wanted}


class HoldemFeatures:
    """Hold'em: the board, both players' chips as shares of their stacks, and who is next; values in the larger stake.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178, Table 2 (57 features and two ranges of 1,326).
    Departs from the paper: hands that differ by the names of suits alone share the place of the lowest one; decks may
        be smaller; raises have a place each, by size.
    Checked by: tests/search/test_public_features.py.

    >>> from equipoise.games import make_game
    >>> HoldemFeatures(SuitMergedHoldem(make_game("flop_holdem", deck="TJQKA/hs"))).sizes
    PublicSizes(features=15, places=(45, 45), actions=(3, 3))
    """

    def __init__(self, form: SuitMergedHoldem) -> None:
        self._form, deck = form, form.spot.deck
        self._card = {card: place for place, card in enumerate(deck.cards)}
        num_hands, num_actions = hands_of(deck).num_hands, 2 + count_sizes(form.spot.menu)
        self._num_raises = num_actions - 2
        self.sizes = PublicSizes(deck.num_cards + 2 + 3, (num_hands, num_hands), (num_actions, num_actions))

    def inputs(self, state: MergedState) -> StateInputs:
        """Returns cards, chips and who is next, chance being one of them."""
        betting, actor = state.betting, self._form.actor(state)
        told = np.zeros(self.sizes.features, np.float32)
        told[[self._card[card] for card in state.board]] = 1.0
        first = len(self._card)
        told[first : first + 2] = [
            paid / max(paid + left, 1) for paid, left in zip(betting.committed, betting.stacks, strict=True)
        ]
        if actor != TERMINAL:
            told[first + 2 + (2 if actor == CHANCE else actor)] = 1.0
        feature, amount = sparse(told)
        hands = self._form.board(state.board).hand.astype(np.int32)
        return StateInputs(
            actor=actor,
            feature=feature,
            amount=amount,
            places=(hands, hands),
            actions=self._slots(self._form.legal_actions(state)),
            unit=float(max(*betting.committed, 1)),
        )

    def _slots(self, actions: tuple[int, ...]) -> IntArray:
        raises = [action for action in actions if action not in (FOLD, CALL)]
        slots = {FOLD: 0, CALL: 1} | {
            action: 2 + min(place, self._num_raises - 1) for place, action in enumerate(raises)
        }
        return np.array([slots[action] for action in actions], np.int32)


def count_sizes(menu: Menu) -> int:
    """Returns the most sizes that a menu offers at once, at least 1."""
    rounds = [one for _, one in menu.items()]
    groups = [group for one in rounds for group in (*one.sizes, one.donk or ())]
    return max([len(group) for group in groups], default=0) or 1


class YardFeatures:
    """Scotland Yard: where detectives are, all tickets, who moves, and how many rounds are over.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178, Table 2.
    Departs from the paper: in games of up to 12 rounds these are told apart one by one; on boards of more than 16
        stations the policy of Mr. X tells his moves apart by their ticket alone.
    Checked by: tests/search/test_public_features.py.
    """

    def __init__(self, form: ScotlandYardPublicGame) -> None:
        self._form, self._game = form, form.game
        first = form.initial_state().situation
        self._num_detectives = self._game.detectives
        self._stations = self._game.yard.board.num_stations
        rounds = self._game.yard.num_rounds
        self._rounds = rounds + 1 if rounds <= FEW_ROUNDS else 1
        self._most_tickets = max(1, *(n for own in first.tickets for n in own), *first.fugitive_tickets)
        num_tickets = 3 * self._num_detectives + len(TICKET_NAMES) + 1
        detectives = self._num_detectives
        num_features = detectives * self._stations + num_tickets + detectives + 1 + 1 + self._rounds
        by_target = self._stations <= FEW_STATIONS
        self._kinds = 2 * len(TICKET_NAMES)
        fugitive = self._stations if by_target else self._kinds
        self.sizes = PublicSizes(num_features, (self._stations, 1), (fugitive + 1, 3 * self._stations + 1))
        self._by_target = by_target

    def inputs(self, state: YardPublicState) -> StateInputs:
        """Returns the open part."""
        places = np.array([max(station - 1, 0) for station in state.possible], np.int32)
        feature, amount = sparse(self._describe(state))
        return StateInputs(
            actor=state.actor,
            feature=feature,
            amount=amount,
            places=(places, np.zeros(1, np.int32)),
            actions=np.array([self._slot(state.actor, action) for action in self._form.legal_actions(state)], np.int32),
            unit=1.0,
        )

    def _describe(self, state: YardPublicState) -> npt.NDArray[np.float32]:
        situation, count, most = state.situation, self._num_detectives, self._most_tickets
        told = np.zeros(self.sizes.features, np.float32)
        stands = [(number, at) for number, at in enumerate(situation.detectives[:count]) if at > 0]
        told[[number * self._stations + at - 1 for number, at in stands]] = 1.0
        tickets = [n for own in situation.tickets for n in own]
        first = count * self._stations
        told[first : first + len(tickets)] = np.array(tickets) / most
        first += len(tickets)
        rest = (*situation.fugitive_tickets, situation.doubles)
        told[first : first + len(rest)] = np.array(rest) / most
        first += len(rest)
        if state.actor >= 0:
            told[first + (0 if state.actor == FUGITIVE else 1 + min(situation.mover, count - 1))] = 1.0
        first += count + 1
        told[first] = situation.is_halfway
        if self._rounds == 1:
            told[first + 1] = situation.num_moves / self._game.yard.num_rounds
        elif situation.num_moves < self._rounds:
            told[first + 1 + situation.num_moves] = 1.0
        return told

    def _slot(self, actor: int, action: int) -> int:
        if action == PASS:
            return 0
        move = self._game.yard.move_of(action)
        if actor == DETECTIVES:
            return 1 + move.ticket * self._stations + move.station - 1
        return move.station if self._by_target else 1 + len(TICKET_NAMES) * move.is_double + move.ticket


class OpenFeatures:
    """Games that hide nothing: planes of a board, as whoever is to move sees it."""

    def __init__(self, form: PerfectInformationGame) -> None:
        self._form = form
        self._planes = _find_planes(form.game)
        first = form.initial_state()
        num_features = self._planes(first.inside).size + 2
        num_actions = _count_actions(form.game)
        self.sizes = PublicSizes(num_features, (1, 1), (num_actions, num_actions))
        self._unit = form.spec.utility_range / 2.0

    def inputs(self, state: OpenState) -> StateInputs:
        """Returns planes, and who is to move."""
        actor = self._form.actor(state)
        turn = np.array([actor == player for player in (0, 1)], np.float32)
        feature, amount = sparse(np.concatenate([self._planes(state.inside), turn]))
        place = np.zeros(1, np.int32)
        actions = np.array(self._form.legal_actions(state) if actor >= 0 else (), np.int32)
        return StateInputs(
            actor=actor, feature=feature, amount=amount, places=(place, place), actions=actions, unit=self._unit
        )


def _find_planes(game: Game[Any]) -> Callable[[Any], npt.NDArray[np.float32]]:
    """Returns what shows a state of a board game as numbers."""
    if isinstance(game, TicTacToe):
        return functools.partial(_show_stones, game.rows * game.columns)
    if isinstance(game, OpenSpielGame):
        return game.planes
    raise ConfigError(f"networks cannot be told of {game.spec.label}: its boards are no numbers")


def _show_stones(num_cells: int, state: TicTacToeState) -> npt.NDArray[np.float32]:
    """Returns a plane for each player's stones."""
    return np.array([stones >> cell & 1 for stones in state.stones for cell in range(num_cells)], np.float32)


def _count_actions(game: Game[Any]) -> int:
    if isinstance(game, OpenSpielGame):
        return game.num_actions
    return 1 + max(game.legal_actions(game.initial_state()))
