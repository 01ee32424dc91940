# SPDX-License-Identifier: Apache-2.0
"""Games in which everybody sees everything, over public states: each player has one private state everywhere.

States are looked at as they are asked for, so that chess and Go can be searched; nothing is enumerated.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, ActionClass, Game, GameSpec
from equipoise.games.openspiel import OpenSpielGame
from equipoise.games.public import PublicEdge, Relation
from equipoise.games.tic_tac_toe import TicTacToe

__all__ = ["OpenState", "PerfectInformationGame", "find_open_form"]

FloatArray = npt.NDArray[np.float64]
STAY = Relation.pick([0])


@functools.cache
def _move(column: int) -> Relation:
    return Relation.pick([0], action=column)


class OpenState(NamedTuple):
    """A state of the game, and how likely chance brought it about."""

    inside: Any
    chance: float = 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class PerfectInformationGame:
    """`PublicGame` of a two-player game that hides nothing: a public state is a state.

    >>> from equipoise.games import make_game
    >>> form = PerfectInformationGame(make_game("tic_tac_toe"))
    >>> len(form.edges(form.initial_state()))
    9
    """

    game: Game[Any]

    def __post_init__(self) -> None:
        if self.game.spec.num_players != 2:
            raise ConfigError(f"public games have two players, {self.game.spec.label} has {self.game.spec.num_players}")

    @property
    def spec(self) -> GameSpec:
        """Returns the facts of the game."""
        return self.game.spec

    def initial_state(self) -> OpenState:
        """Returns the state before anything has happened."""
        return OpenState(self.game.initial_state())

    def actor(self, state: OpenState) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        return self.game.actor(state.inside)

    def num_private(self, state: OpenState, player: int) -> int:
        """Returns 1."""
        return 1

    def legal_actions(self, state: OpenState) -> tuple[int, ...]:
        """Returns the actor's actions, ascending."""
        return self.game.legal_actions(state.inside)

    def legality(self, state: OpenState) -> npt.NDArray[np.bool_]:
        """Returns `[1, A]` ones."""
        return np.ones((1, len(self.legal_actions(state))), np.bool_)

    def edges(self, state: OpenState) -> tuple[PublicEdge[OpenState], ...]:
        """Returns an edge for each action or outcome."""
        inside, actor = state.inside, self.actor(state)
        if actor == CHANCE:
            return tuple(
                PublicEdge(OpenState(self.game.apply(inside, outcome), state.chance * share), (STAY, STAY))
                for outcome, share in self.game.chance_outcomes(inside)
            )
        edges = []
        for column, action in enumerate(self.game.legal_actions(inside)):
            child = OpenState(self.game.apply(inside, action), state.chance)
            moves = _move(column)
            edges.append(PublicEdge(child, (moves, STAY) if actor == 0 else (STAY, moves)))
        return tuple(edges)

    def outline(self, state: OpenState) -> tuple[int, int] | None:
        """Returns who moves and how many actions there are; None at chance, whose outcomes differ in weight."""
        actor = self.actor(state)
        return None if actor == CHANCE else (actor, len(self.legal_actions(state)))

    def child(self, state: OpenState, edge: int) -> OpenState:
        """Returns the state after an action."""
        return OpenState(self.game.apply(state.inside, self.legal_actions(state)[edge]), state.chance)

    def joint_weights(self, state: OpenState) -> FloatArray:
        """Returns `[1, 1]` how likely chance brought the state about."""
        return np.array([[state.chance]])

    def payoffs(self, state: OpenState) -> FloatArray:
        """Returns `[2, 1, 1]` joint weight times utility of each player at a terminal state."""
        return np.array(self.game.returns(state.inside)).reshape(2, 1, 1) * state.chance

    def infostate(self, state: OpenState, player: int, private: int) -> str:
        """Returns all that a player knows."""
        return self.game.infostate(state.inside, player)

    def public_state(self, state: OpenState) -> str:
        """Returns all that everybody has seen."""
        return self.game.public_state(state.inside)

    def action_name(self, state: OpenState, action: int) -> str:
        """Returns a short word for an action."""
        return self.game.action_name(state.inside, action)

    def action_class(self, state: OpenState, action: int) -> ActionClass:
        """Returns the kind of move that an action is."""
        return self.game.action_class(state.inside, action)


def find_open_form(game: Game[Any]) -> PerfectInformationGame | None:
    """Returns a game over public states if it has two players in sum 0 and hides nothing, else None.

    >>> from equipoise.games import make_game
    >>> find_open_form(make_game("kuhn")) is None
    True
    """
    if game.spec.num_players != 2 or not game.spec.is_zero_sum:
        return None
    is_open = isinstance(game, TicTacToe) or (isinstance(game, OpenSpielGame) and game.is_perfect_information)
    return PerfectInformationGame(game) if is_open else None
