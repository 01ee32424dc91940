# SPDX-License-Identifier: Apache-2.0
"""What a two-player game is to vector solvers and search: public states, private states and relations between them.

Private states of a player are numbered within each public state. Everything that happens between two public states is
a relation per player; everything that depends on both sides jointly is a weight of the pair at the public state. Small
games get this form by enumeration (`equipoise.trees.derive`); nothing here builds trees or solves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any, Final, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from equipoise.games.base import ActionClass, GameSpec

__all__ = [
    "NO_ACTION",
    "HasPublicForm",
    "MergesInfostates",
    "OpensAlike",
    "PublicEdge",
    "PublicGame",
    "Relation",
    "SharesPayoffs",
]

NO_ACTION: Final = -1  # action column in the relation of a player who did not move

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
PublicState = TypeVar("PublicState")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relation:
    """Where one player's private states go along a public edge: entries (private[, action]) -> target, weighted.

    Reach flows along it, `reach'[target] += weight * reach[private, action]`, and values flow back with the same
    weights. One-to-many (a deal, a hidden move), many-to-one (merged states) and partial (a state that the public
    observation rules out has no entry) are all allowed.
    """

    private: IntArray  # [K] private state above
    action: IntArray  # [K] column of the action taken, NO_ACTION for a player who did not move
    target: IntArray  # [K] private state below
    weight: FloatArray  # [K]

    @classmethod
    def pick(cls, private: npt.ArrayLike, *, action: int = NO_ACTION) -> Relation:
        """Returns the relation that takes `private[k]` to `k`: a deal if states repeat, a selection if some miss.

        >>> Relation.pick([2, 0]).target.tolist()
        [0, 1]
        """
        source = np.asarray(private, np.int32)
        return cls(
            private=source,
            action=np.full(source.size, action, np.int32),
            target=np.arange(source.size, dtype=np.int32),
            weight=np.ones(source.size),
        )


@dataclasses.dataclass(frozen=True, slots=True)
class PublicEdge(Generic[PublicState]):
    """One public observation: the public state it leads to, and what becomes of both players' private states."""

    child: PublicState
    relations: tuple[Relation, Relation]


class PublicGame(Protocol[PublicState]):
    """Two players over public states, each of which has one public actor.

    A history's probability is `reach_0[s0] * reach_1[s1] * joint_weights[s0, s1]`, and a profile's utility is the sum
    over terminal public states of `reach_0 @ payoffs[player] @ reach_1`, where reach is carried by relations from
    ones at the initial state.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import derive_public_game
    >>> game: PublicGame = derive_public_game(make_game("kuhn"))
    >>> game.num_private(game.initial_state(), 0), game.legal_actions(game.initial_state())
    (3, (0, 1))
    """

    @property
    def spec(self) -> GameSpec:
        """Returns the game's facts and parameters; `num_players` is 2."""
        ...

    def initial_state(self) -> PublicState:
        """Returns the public state before anything has happened."""
        ...

    def actor(self, state: PublicState) -> int:
        """Returns the player to move (from 0), `CHANCE` or `TERMINAL`."""
        ...

    def num_private(self, state: PublicState, player: int) -> int:
        """Returns the number of private states that a player can be in."""
        ...

    def legal_actions(self, state: PublicState) -> tuple[int, ...]:
        """Returns the actions that some private state of the actor has, ascending: the columns of its table."""
        ...

    def legality(self, state: PublicState) -> npt.NDArray[np.bool_]:
        """Returns `[H, A]` which of those actions each private state of the actor has."""
        ...

    def edges(self, state: PublicState) -> tuple[PublicEdge[PublicState], ...]:
        """Returns one edge per public observation that can follow; none at terminal states."""
        ...

    def joint_weights(self, state: PublicState) -> FloatArray:
        """Returns `[H0, H1]` chance's probability of each pair of private states, beyond what relations carry."""
        ...

    def payoffs(self, state: PublicState) -> FloatArray:
        """Returns `[2, H0, H1]` joint weight times utility of each player at a terminal state."""
        ...

    def infostate(self, state: PublicState, player: int, private: int) -> str:
        """Returns all that a player knows in a private state, as `Game.infostate` writes it."""
        ...

    def public_state(self, state: PublicState) -> str:
        """Returns all that everybody has seen, as `Game.public_state` writes it."""
        ...

    def action_name(self, state: PublicState, action: int) -> str:
        """Returns a short word for an action of the actor."""
        ...

    def action_class(self, state: PublicState, action: int) -> ActionClass:
        """Returns the kind of move that an action is."""
        ...


@runtime_checkable
class SharesPayoffs(Protocol):
    """A public game in which many terminal states pay alike up to a factor, so that a tree keeps each matrix once."""

    def payoff_table(self, state: Any) -> tuple[Hashable, float]:
        """Returns the name of a terminal state's payoffs and the factor on them.

        States of one name have the same private states, in the same order, and the same joint weights; their
        `payoffs` are in the ratio of their factors, none of which is 0.
        """
        ...


@runtime_checkable
class OpensAlike(Protocol):
    """A public game in which what follows a state looks alike in many, but for the states themselves.

    >>> from equipoise.games import PerfectInformationGame, make_game
    >>> form: OpensAlike = PerfectInformationGame(make_game("tic_tac_toe"))
    >>> form.outline(form.initial_state())  # who moves, and among how many actions
    (0, 9)
    """

    def outline(self, state: Any) -> Hashable:
        """Returns a name: states of one name have the same actor, legality, relations and private states below.

        None says that the state is not known to be like any other.
        """
        ...

    def child(self, state: Any, edge: int) -> Any:
        """Returns the state that an edge leads to."""
        ...


@runtime_checkable
class MergesInfostates(Protocol):
    """A public game in which several information states of a game's player are one private state.

    >>> from equipoise.games import make_game
    >>> from equipoise.games.scotland_yard import ScotlandYardPublicGame
    >>> form: MergesInfostates = ScotlandYardPublicGame(make_game("glasses"))
    >>> form.merge_infostate(0, "6 5 3|1 11")  # the way to a station no longer matters
    '3|1 11'
    """

    def merge_infostate(self, player: int, infostate: str) -> str:
        """Returns what `infostate` calls the private state that a player's information state is part of."""
        ...


@runtime_checkable
class HasPublicForm(Protocol):
    """A game that says its public form itself: it need not be enumerated to be swept a vector at a time."""

    def public_form(self) -> PublicGame[Any]:
        """Returns the game over public states, with the information states of the game itself."""
        ...

    def count_infosets(self) -> int:
        """Returns how many information states the public form has, before anything is built."""
        ...
