# SPDX-License-Identifier: Apache-2.0
"""AIVAT for games small enough to be listed: every history with what each player knows in it, for any players.

Beliefs are weights over the histories of one public state. Guesses are a number for each history and player, by default
what each wins if everybody goes on by a given strategy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import PublicDecision
from equipoise.core.errors import GameTooLargeError, InvalidStateError
from equipoise.core.formatting import brief_repr
from equipoise.evaluation.aivat import KnownMove
from equipoise.games.base import CHANCE, TERMINAL, ActionClass, Game
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.history import DEFAULT_MAX_HISTORIES

__all__ = ["Histories", "HistoryBeliefs", "HistoryForm", "HistoryMove", "list_histories", "value_histories"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Histories:
    """Every history of a game, level by level: those that follow one are neighbours.

    Axes: N histories, P players.
    """

    game: Game[Any]
    actor: IntArray  # [N] player, CHANCE or TERMINAL
    first_child: IntArray  # [N+1] those of history n are first_child[n] to first_child[n+1]
    action: IntArray  # [N] that led to it, 0 at the root
    chance: FloatArray  # [N] probability of the move into it, 1 unless chance moved
    public: IntArray  # [N] number of its public state
    private: IntArray  # [P, N] number of each player's information state
    utility: FloatArray  # [N, P] at ends, 0 elsewhere
    public_number: dict[str, int]
    private_number: tuple[dict[str, int], ...]  # by player
    action_class: dict[tuple[int, int], ActionClass]  # of each action in each public state where a player acts

    __repr__ = brief_repr

    @property
    def num_players(self) -> int:
        """Returns P."""
        return len(self.private_number)


def list_histories(game: Game[Any], *, max_histories: int = DEFAULT_MAX_HISTORIES) -> Histories:
    """Returns every history of a game."""
    players = range(game.spec.num_players)
    public_number: dict[str, int] = {}
    private_number: tuple[dict[str, int], ...] = tuple({} for _ in players)
    actors, first, actions, chances, public = [], [1], [0], [1.0], []
    private: list[list[int]] = [[] for _ in players]
    utility: list[tuple[float, ...]] = []
    classes: dict[tuple[int, int], ActionClass] = {}
    nothing = (0.0,) * len(players)
    level = [game.initial_state()]
    while level:
        below = []
        for state in level:
            actor = game.actor(state)
            actors.append(actor)
            public.append(public_number.setdefault(game.public_state(state), len(public_number)))
            for player in players:
                names = private_number[player]
                private[player].append(names.setdefault(game.infostate(state, player), len(names)))
            utility.append(game.returns(state) if actor == TERMINAL else nothing)
            if actor == CHANCE:
                moves = game.chance_outcomes(state)
            else:
                moves = tuple([(action, 1.0) for action in game.legal_actions(state)])
                for action, _ in moves:
                    if (public[-1], action) not in classes:
                        classes[public[-1], action] = game.action_class(state, action)
            for action, chance in moves:
                actions.append(action)
                chances.append(chance)
                below.append(game.apply(state, action))
            first.append(len(actions))
        if len(actions) > max_histories:
            raise GameTooLargeError(f"{game.spec.label} has more than {max_histories:,} histories, the limit given")
        level = below
    return Histories(
        game=game,
        actor=np.array(actors, np.int64),
        first_child=np.array(first, np.int64),
        action=np.array(actions, np.int64),
        chance=np.array(chances),
        public=np.array(public, np.int64),
        private=np.array(private, np.int64),
        utility=np.array(utility, np.float64),
        public_number=public_number,
        private_number=private_number,
        action_class=classes,
    )


def value_histories(histories: Histories, strategy: TabularStrategy) -> FloatArray:
    """Returns `[N, P]` what each player wins on average from each history on if all play by a strategy."""
    values = histories.utility.copy()
    share = histories.chance.copy()
    names = [list(numbers) for numbers in histories.private_number]
    for node in np.flatnonzero(histories.actor >= 0).tolist():
        player = int(histories.actor[node])
        span = slice(histories.first_child[node], histories.first_child[node + 1])
        share[span] = strategy.probabilities(player, names[player][histories.private[player, node]])
    for node in reversed(np.flatnonzero(histories.actor != TERMINAL).tolist()):  # what follows has higher numbers
        span = slice(histories.first_child[node], histories.first_child[node + 1])
        values[node] = share[span] @ values[span]
    return values


class HistoryMove(NamedTuple):
    """Where a move led to, and what a known player might have done instead."""

    public: int
    private: tuple[int, ...]  # by player; those of known players are not read
    asked: KnownMove | None


class _PublicState(NamedTuple):
    """A public state in which a player acts."""

    decision: PublicDecision
    privates: IntArray  # [H] numbers of the actor's information states, ascending
    actions: IntArray  # [A] ascending


class HistoryForm:
    """A small game, listed."""

    def __init__(self, histories: Histories, guesses: FloatArray) -> None:
        """Keeps the histories.

        Args:
            histories: of the game.
            guesses: `[N, P]` what each player is guessed to win from each history on, anything.
        """
        self.histories, self.guesses = histories, guesses
        self._order = np.argsort(histories.public, kind="stable")
        self._first = np.searchsorted(histories.public[self._order], np.arange(len(histories.public_number) + 1))
        self._states: dict[int, _PublicState] = {}

    @property
    def game(self) -> Game[Any]:
        """Returns the rules."""
        return self.histories.game

    @classmethod
    def of(cls, game: Game[Any], strategy: TabularStrategy) -> HistoryForm:
        """Returns a game whose values are guessed by what a strategy wins against itself."""
        histories = list_histories(game)
        return cls(histories, value_histories(histories, strategy))

    def describe(self, state: Any) -> PublicDecision:
        """Returns the decision of the player to move."""
        return self.public_state(self.histories.public_number[self.histories.game.public_state(state)]).decision

    def begin(self, known: frozenset[int]) -> HistoryBeliefs:
        """Returns the beliefs before anything has happened."""
        return HistoryBeliefs(self, known, np.zeros(1, np.int64), np.ones(1))

    def trace(self, states: Sequence[Any], asked: Sequence[KnownMove | None]) -> list[HistoryMove]:
        """Returns the moves of a game, given all of its states."""
        histories, game = self.histories, self.histories.game
        return [
            HistoryMove(
                histories.public_number[game.public_state(after)],
                tuple(names[game.infostate(after, player)] for player, names in enumerate(histories.private_number)),
                said,
            )
            for after, said in zip(states[1:], asked[:-1], strict=True)
        ]

    def public_state(self, number: int) -> _PublicState:
        """Returns a public state in which a player acts."""
        if number not in self._states:
            self._states[number] = self._make_state(number)
        return self._states[number]

    def _make_state(self, number: int) -> _PublicState:
        histories = self.histories
        nodes = self._order[self._first[number] : self._first[number + 1]]
        seat = int(histories.actor[nodes[0]])
        numbers, first = np.unique(histories.private[seat, nodes], return_index=True)
        names = list(histories.private_number[seat])
        menus = [self._actions(int(node)) for node in nodes[first]]
        actions = tuple(sorted({action for menu in menus for action in menu}))
        legality = np.array([[action in menu for action in actions] for menu in menus])
        decision = PublicDecision(
            seat=seat,
            public_state=list(histories.public_number)[number],
            infostates=[names[private] for private in numbers.tolist()],
            actions=actions,
            classes=tuple([histories.action_class[number, action] for action in actions]),
            legality=legality,
        )
        return _PublicState(decision, numbers, np.array(actions))

    def _actions(self, node: int) -> tuple[int, ...]:
        """Returns the actions at a history."""
        span = slice(self.histories.first_child[node], self.histories.first_child[node + 1])
        return tuple(self.histories.action[span].tolist())


class HistoryBeliefs:
    """Weights of the histories that chance and known players may have led to."""

    def __init__(self, form: HistoryForm, known: frozenset[int], nodes: IntArray, weights: FloatArray) -> None:
        """Keeps them.

        Args:
            form: of the game.
            known: players whose strategies are known.
            nodes: `[B]` histories of one public state.
            weights: `[B]` in proportion to their probability.
        """
        self.form, self.known, self.nodes, self.weights = form, known, nodes, weights

    def follow(self, move: HistoryMove) -> tuple[FloatArray, HistoryBeliefs]:
        """Returns `[P]` the mean guess over all that might have followed, and the beliefs after what did."""
        histories, form = self.form.histories, self.form
        first = histories.first_child[self.nodes]
        counts = histories.first_child[self.nodes + 1] - first
        parent = np.repeat(np.arange(counts.size), counts)
        below = np.arange(parent.size) + (first - np.cumsum(counts) + counts)[parent]
        is_next = histories.public[below] == move.public
        for player in range(histories.num_players):
            if player not in self.known:
                is_next &= histories.private[player, below] == move.private[player]
        if not is_next.any():
            raise InvalidStateError(f"a move led to where {histories.game.spec.label} does not lead")
        weights = self.weights[parent] * self._chances(move, parent, below, is_next)
        expected = weights @ form.guesses[below] / self.weights.sum()
        is_next &= weights > 0
        if not is_next.any():
            who = "a player" if move.asked is None else move.asked.name
            raise InvalidStateError(f"{who} did what it says that it never does")
        return expected, HistoryBeliefs(form, self.known, below[is_next], weights[is_next])

    def guess(self) -> FloatArray:
        """Returns `[P]` the mean of the guesses."""
        return self._mean(self.form.guesses)

    def payoff(self) -> FloatArray:
        """Returns `[P]` the mean of what each player has won."""
        if (self.form.histories.actor[self.nodes] != TERMINAL).any():
            raise InvalidStateError("the game has not ended")
        return self._mean(self.form.histories.utility)

    def _mean(self, values: FloatArray) -> FloatArray:
        mean: FloatArray = self.weights @ values[self.nodes] / self.weights.sum()
        return mean

    def _chances(
        self, move: HistoryMove, parent: IntArray, below: IntArray, is_next: npt.NDArray[np.bool_]
    ) -> FloatArray:
        """Returns the probability of each move that might have been made."""
        histories = self.form.histories
        actor = int(histories.actor[self.nodes[0]])
        if actor == CHANCE:
            return histories.chance[below]
        if actor not in self.known:  # what it did, whatever that then led to
            taken: FloatArray = (histories.action[below] == histories.action[below[is_next][0]]).astype(np.float64)
            return taken
        assert move.asked is not None
        state = self.form.public_state(int(histories.public[self.nodes[0]]))
        rows = np.searchsorted(state.privates, histories.private[actor, self.nodes])
        is_live = np.zeros(state.privates.size, np.bool_)
        is_live[rows] = True
        shares = np.zeros((is_live.size, state.actions.size))  # what it was not asked for it never does
        shares[:, np.searchsorted(state.actions, move.asked.actions)] = move.asked.shares(is_live)
        chances: FloatArray = shares[rows[parent], np.searchsorted(state.actions, histories.action[below])]
        return chances
