# SPDX-License-Identifier: Apache-2.0
"""AIVAT: what a game was worth without most of its luck, for any number of players.

Luck is what chance and the players whose strategies are known happened to do. Whatever guesses the values of positions,
the mean over games is the true one; the better the guess, the less the games scatter. How positions are kept and
guessed is a form's business: `aivat_histories` lists a small game, `holdem.aivat` has ranges of hands.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol, Self
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Agent, NarrowAgent, PolicyAgent, PublicAgent, PublicDecision
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.games.base import Game

__all__ = ["Aivat", "AivatForm", "Beliefs", "KnownMove", "estimate_game", "explain_unknown"]

FloatArray = npt.NDArray[np.float64]
MANY_ACTIONS: Final = 32  # for whole tables of them: agents are asked for those that they may play
LARGE: Final = 1_000_000  # entries of a table
SUM_TOLERANCE: Final = 1e-6  # by which the probabilities that an agent says may miss 1


class Beliefs(Protocol):
    """What may be at one point of a game, as far as chance and the known players alone tell it apart."""

    def follow(self, move: Any) -> tuple[FloatArray, Self]:
        """Returns `[P]` the mean guess over all that might have followed, and the beliefs after what did.

        Of players who are not known only what they did might have followed; what chance and known players might have
        done counts with its true probability.
        """
        ...

    def guess(self) -> FloatArray:
        """Returns `[P]` the mean of the guesses of what each player will win."""
        ...

    def payoff(self) -> FloatArray:
        """Returns `[P]` the mean of what each player has won; raises `InvalidStateError` before the end."""
        ...


class KnownMove:
    """What a known player would have done in a whole public state, asked when it was to act there."""

    __slots__ = ("actions", "infostates", "name", "table")

    def __init__(self, decision: PublicDecision, table: FloatArray, name: str) -> None:
        """Keeps a strategy.

        Args:
            decision: with every private state that the player may be in.
            table: `[H, A]` the probability of each of its actions.
            name: of the player, for messages.
        """
        # not the decision itself, under which this is remembered as long as somebody has it
        self.infostates, self.actions = decision.infostates, decision.actions
        self.table, self.name = _keep_rows(table, decision.legality), name

    def shares(self, is_live: npt.NDArray[np.bool_]) -> FloatArray:
        """Returns `[H, A]` the table with rows in sum 1 where they count; raises if they are none."""
        if self.table.strides[0] == 0 and len(self.table) > 1:  # one row, seen many times: so are its shares
            once = copy.copy(self)
            once.table = self.table[:1]
            return np.broadcast_to(once.shares(np.ones(1, np.bool_)), self.table.shape)
        sums = np.einsum("ha->h", self.table)  # several times as fast as a sum along short rows
        # turned around, so that what is no number is refused too
        is_wrong = is_live & ~(np.abs(sums - 1.0) <= SUM_TOLERANCE)
        if not self.table.min() >= 0:
            is_wrong |= is_live & (self.table < 0).any(axis=1)
        if is_wrong.any():
            row = int(np.flatnonzero(is_wrong)[0])
            raise InvalidStateError(
                f"{self.name} must say probabilities in sum 1 at {self.infostates[row]!r}, got {sums[row]:g}"
            )
        shares: FloatArray = self.table / np.where(is_live, sums, 1.0)[:, None]
        return shares


def _keep_rows(table: FloatArray, legality: npt.NDArray[np.bool_]) -> FloatArray:
    """Returns a large table whose rows are all alike as one row seen many times; hands with every bet have 200 MB."""
    if table.size < LARGE:
        return table
    rows = np.flatnonzero(legality.any(axis=1))
    if rows.size < 2 or not np.array_equal(table[rows[0]], table[rows[1]]):
        return table
    first = table[rows[0]].copy()
    return np.broadcast_to(first, table.shape) if (table == first).all(axis=1)[rows].all() else table


class AivatForm(Protocol):
    """A game as AIVAT follows it: its positions, their guesses, and moves from the states of its rules."""

    @property
    def game(self) -> Game[Any]:
        """Returns the rules."""
        ...

    def describe(self, state: Any) -> PublicDecision:
        """Returns the decision of the player to move, with every private state that it may be in."""
        ...

    def begin(self, known: frozenset[int]) -> Beliefs:
        """Returns the beliefs before anything has happened, given who is known."""
        ...

    def trace(self, states: Sequence[Any], asked: Sequence[KnownMove | None]) -> Iterable[Any]:
        """Returns the moves of a game, given all of its states and what known players said in them."""
        ...


def estimate_game(beliefs: Beliefs, moves: Iterable[Any]) -> FloatArray:
    """Returns `[P]` an estimate of what each player wins, from one game's moves.

    Paper: Burch, Schmid, Moravcik, Morrill & Bowling 2018, "AIVAT: A New Variance Reduction Technique for Agent
        Evaluation in Imperfect Information Games", arXiv:1612.06915.
    Symbols: P_a -> the known players (and chance); the histories that only P_a tells apart -> beliefs; u -> guesses;
        k -> the differences that are added up.
    Departs from the paper: the set of known players is any one, of any number of players.
    Checked by: tests/evaluation/test_aivat.py, tests/evaluation/test_aivat_holdem.py.

    Args:
        beliefs: before the first move.
        moves: all of them, to the end.
    """
    corrections: FloatArray | float = 0.0
    for move in moves:
        expected, beliefs = beliefs.follow(move)
        corrections = corrections + (expected - beliefs.guess())
    total: FloatArray = beliefs.payoff() + corrections
    return total


class Aivat:
    """Hears games and says what they were worth.

    Known players are asked for the strategy of the whole public state where they are to act, as the game goes on: what
    an agent searches to answer it remembers, and plays.
    """

    def __init__(
        self, form: AivatForm, agents: Sequence[Agent | None], *, rng: np.random.Generator | None = None
    ) -> None:
        """Keeps who is known.

        Args:
            form: of the game that is played.
            agents: by seat, None for those whose strategies are not known.
            rng: what agents draw from when they are asked.
        """
        for seat, agent in enumerate(agents):
            if agent is not None and (reason := explain_unknown(agent)):
                raise ConfigError(f"{agent.name} in seat {seat} {reason}")
        self.form = form
        self._asks = {seat: agent for seat, agent in enumerate(agents) if isinstance(agent, PublicAgent)}
        self.known = frozenset(self._asks)
        self._rng = rng or np.random.default_rng(0)
        self._begin = form.begin(self.known)
        self._states: list[Any] = []
        self._asked: list[KnownMove | None] = []
        # forms of small games give a public state's decision once and for all
        self._kept: WeakKeyDictionary[PublicDecision, KnownMove] = WeakKeyDictionary()

    def hear(self, state: Any) -> None:
        """Takes in the next state of a game, before the move that is made in it."""
        actor = self.form.game.actor(state)
        agent = self._asks.get(actor)
        self._states.append(state)
        if agent is None:
            self._asked.append(None)
            return
        decision = self.form.describe(state)
        said = self._kept.get(decision)
        if said is None:
            asked = decision
            if len(decision.actions) > MANY_ACTIONS and isinstance(agent, NarrowAgent):
                asked = decision.narrow(agent.public_actions(decision))
            said = KnownMove(asked, agent.public_strategy(asked, rng=self._rng), agent.name)
            if isinstance(agent, PolicyAgent):  # a fixed one, see `explain_unknown`
                self._kept[decision] = said
        self._asked.append(said)

    def estimate(self) -> FloatArray:
        """Returns `[P]` an estimate of what each player won in the game that was heard, and forgets it."""
        states, asked = self._states, self._asked
        self._states, self._asked = [], []
        return estimate_game(self._begin, self.form.trace(states, asked))


def explain_unknown(agent: Agent) -> str:
    """Returns why an agent, whose name goes before, cannot be one whose strategy is known; nothing if it can."""
    if not isinstance(agent, PublicAgent):
        return "has no strategy for whole public states, which AIVAT needs to know a player"
    if isinstance(agent, PolicyAgent) and not agent.is_fixed:  # another search would play otherwise: a bias
        return "searches anew at every decision: AIVAT cannot know what it plays"
    return ""
