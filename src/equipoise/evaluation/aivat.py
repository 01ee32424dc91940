# SPDX-License-Identifier: Apache-2.0
"""AIVAT: what a game was worth without most of its luck, for games small enough for their public form.

Luck is what chance and the players whose strategies are known happened to do. Whatever guesses the values of positions,
the mean over games is the true one; the better the guess, the less the games scatter.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.games.base import CHANCE, TERMINAL, Game
from equipoise.games.public import NO_ACTION, PublicEdge, PublicGame, Relation
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.derive import DerivedPublicGame

__all__ = ["Aivat", "PublicStep", "PublicTracer", "guess_values", "strategy_tables"]

FloatArray = npt.NDArray[np.float64]
Pair = tuple[int, int]


class PublicStep(NamedTuple):
    """A public state that a game came through, and where each player was in it."""

    state: Any
    private: Pair


class Aivat:
    """Estimates of what player 0 wins, game by game.

    Paper: Burch, Schmid, Moravcik, Morrill & Bowling 2018, "AIVAT: A New Variance Reduction Technique for Agent
        Evaluation in Imperfect Information Games", arXiv:1612.06915.
    Symbols: P_a -> known (and chance); the histories that only P_a tells apart -> all private states of the known
        players, with one each for the others; u -> guesses; k -> the difference in `_correct`.
    Departs from the paper: positions are public states, so that private deals and what leads to them are one event.
    Checked by: tests/evaluation/test_aivat.py.
    """

    def __init__(
        self,
        public: PublicGame[Any],
        tables: Sequence[FloatArray],
        guesses: Sequence[FloatArray],
        *,
        known: Iterable[int],
    ) -> None:
        """Keeps what is known.

        Args:
            public: states numbered from 0, as `derive_public_game` makes them.
            tables: by state, `[H, A]` what its actor plays; those of players that are not known are not read.
            guesses: by state, `[H0, H1]` the guessed value for player 0 times the joint weight of the pair.
            known: the players whose strategies are given.
        """
        self.public, self.tables, self.guesses = public, tables, guesses
        self.known = frozenset(known)
        if not self.known <= {0, 1}:
            raise ConfigError(f"the players known are some of 0 and 1, got {sorted(self.known)}")
        self._edges: dict[Any, tuple[PublicEdge[Any], ...]] = {}
        self._joint: dict[Any, FloatArray] = {}

    def estimate(self, path: Sequence[PublicStep]) -> float:
        """Returns an estimate of what player 0 wins, from one game's public states, the first and the last included."""
        public = self.public
        first = path[0]
        sizes = [public.num_private(first.state, player) for player in (0, 1)]
        everything = [np.ones(size) for size in sizes]
        reach = [self._keep(everything[player], player, first.private[player]) for player in (0, 1)]
        # the deal before the first state
        total = float(self.guesses[first.state].sum() / public.joint_weights(first.state).sum())
        total -= self._mean_guess(first.state, reach)
        for above, below in itertools.pairwise(path):
            total += self._expect(above, below, reach)
            reach = self._advance(above, below, reach)
            total -= self._mean_guess(below.state, reach)
        last = path[-1].state
        if public.actor(last) != TERMINAL:
            raise InvalidStateError(f"the game has not ended at {public.public_state(last)!r}")
        return total + float(reach[0] @ public.payoffs(last)[0] @ reach[1]) / self._weight(last, reach)

    def _keep(self, reach: FloatArray, player: int, private: int) -> FloatArray:
        """Returns the reach of all private states if the player is known, else that of its own alone."""
        if player in self.known:
            return reach
        own = np.zeros_like(reach)
        own[private] = reach[private]
        return own

    def _weight(self, state: Any, reach: Sequence[FloatArray]) -> float:
        if state not in self._joint:
            self._joint[state] = self.public.joint_weights(state)
        return float(reach[0] @ self._joint[state] @ reach[1])

    def _mean_guess(self, state: Any, reach: Sequence[FloatArray]) -> float:
        return float(reach[0] @ self.guesses[state] @ reach[1]) / self._weight(state, reach)

    def _expect(self, above: PublicStep, below: PublicStep, reach: Sequence[FloatArray]) -> float:
        """Returns the mean guess over all that chance and known players might have done in this step."""
        actor = self.public.actor(above.state)
        action = None
        if actor not in self.known and actor != CHANCE:
            action = self._find_action(above, below, actor)
        total = 0.0
        for edge in self._edges_of(above.state):
            after = [self._push(above, edge, player, reach[player], action) for player in (0, 1)]
            if after[0].any() and after[1].any():
                total += float(after[0] @ self.guesses[edge.child] @ after[1])
        return total / self._weight(above.state, reach)

    def _advance(self, above: PublicStep, below: PublicStep, reach: Sequence[FloatArray]) -> list[FloatArray]:
        """Returns the reach at the state that the game came to."""
        edge = next(edge for edge in self._edges_of(above.state) if edge.child == below.state)
        actor = self.public.actor(above.state)
        action = None
        if actor not in self.known and actor != CHANCE:
            action = self._find_action(above, below, actor)
        after = [self._push(above, edge, player, reach[player], action) for player in (0, 1)]
        return [self._keep(after[player], player, below.private[player]) for player in (0, 1)]

    def _push(
        self, above: PublicStep, edge: PublicEdge[Any], player: int, reach: FloatArray, action: int | None
    ) -> FloatArray:
        """Returns a player's reach along an edge; of an unknown actor along one action."""
        relation = edge.relations[player]
        size = self.guesses[edge.child].shape[player]
        weight = relation.weight * reach[relation.private]
        if self.public.actor(above.state) == player:
            if action is None:
                weight = weight * self.tables[above.state][relation.private, relation.action]
            else:
                weight = weight * (relation.action == action)
        after: FloatArray = np.bincount(relation.target, weight, minlength=size).astype(np.float64, copy=False)
        return after

    def _find_action(self, above: PublicStep, below: PublicStep, actor: int) -> int:
        edge = next(edge for edge in self._edges_of(above.state) if edge.child == below.state)
        relation = edge.relations[actor]
        is_taken = (relation.private == above.private[actor]) & (relation.target == below.private[actor])
        return int(relation.action[np.flatnonzero(is_taken)[0]])

    def _edges_of(self, state: Any) -> tuple[PublicEdge[Any], ...]:
        if state not in self._edges:
            self._edges[state] = self.public.edges(state)
        return self._edges[state]


def strategy_tables(public: DerivedPublicGame, strategy: TabularStrategy) -> list[FloatArray]:
    """Returns by state `[H, A]` what its actor plays; an empty table where nobody acts."""
    tables: list[FloatArray] = []
    for state in range(public.arrays.actor.size):
        actor = public.actor(state)
        if actor < 0:
            tables.append(np.zeros((0, 0)))
            continue
        legality = public.legality(state)
        table = np.zeros(legality.shape)
        for private in range(len(legality)):
            table[private, legality[private]] = strategy.probabilities(actor, public.infostate(state, actor, private))
        tables.append(table)
    return tables


def guess_values(public: DerivedPublicGame, tables: Sequence[FloatArray]) -> list[FloatArray]:
    """Returns by state `[H0, H1]` the joint weight times what player 0 wins if both play by `tables`."""
    size = public.arrays.actor.size
    guesses: list[FloatArray] = [np.zeros(0)] * size
    for state in reversed(range(size)):  # children have higher numbers
        if public.actor(state) == TERMINAL:
            guesses[state] = public.payoffs(state)[0]
            continue
        shape = public.num_private(state, 0), public.num_private(state, 1)
        total = np.zeros(shape)
        for edge in public.edges(state):
            steps = [
                _step_matrix(edge.relations[player], shape[player], public.num_private(edge.child, player), table)
                for player, table in enumerate(
                    tables[state] if public.actor(state) == player else None for player in (0, 1)
                )
            ]
            total += steps[0] @ guesses[edge.child] @ steps[1].T
        guesses[state] = total
    return guesses


def _step_matrix(relation: Relation, num_above: int, num_below: int, table: FloatArray | None) -> FloatArray:
    """Returns `[above, below]` the weight with which private states go along an edge."""
    weight = relation.weight if table is None else relation.weight * table[relation.private, relation.action]
    assert table is not None or (relation.action == NO_ACTION).all()
    matrix = np.zeros((num_above, num_below))
    np.add.at(matrix, (relation.private, relation.target), weight)
    return matrix


@dataclasses.dataclass(slots=True)
class PublicTracer:
    """Finds the public states that a game came through."""

    public: DerivedPublicGame
    _states: dict[str, int] = dataclasses.field(init=False)
    _private: dict[tuple[int, int, str], int] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        public = self.public
        size = public.arrays.actor.size
        self._states = {public.public_state(state): state for state in range(size)}
        self._private = {
            (state, player, public.infostate(state, player, private)): private
            for state in range(size)
            for player in (0, 1)
            for private in range(public.num_private(state, player))
        }

    def trace(self, game: Game[Any], states: Iterable[Any]) -> list[PublicStep]:
        """Returns the path of a game, given all of its states in order, without deals that are no public states."""
        path: list[PublicStep] = []
        for state in states:
            found = self._states.get(game.public_state(state))
            if found is None:
                continue
            keys = [(found, player, game.infostate(state, player)) for player in (0, 1)]
            if all(key in self._private for key in keys):
                path.append(PublicStep(found, (self._private[keys[0]], self._private[keys[1]])))
        return path
