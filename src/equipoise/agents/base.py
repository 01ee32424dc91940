# SPDX-License-Identifier: Apache-2.0
"""What an agent is: it is told what its seat sees, and acts.

Agents get values without a way back to the state of the game, so that none can look at what its seat may not see. Who
deals, keeps the score and swaps seats is the business of `equipoise.evaluation`.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, Final, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import InvalidStateError
from equipoise.core.formatting import brief_repr, show_given
from equipoise.games.base import ActionClass, Game, classify_actions
from equipoise.games.public import PublicGame
from equipoise.solvers.playouts import draw_index

__all__ = [
    "Agent",
    "NamingAgent",
    "NarrowAgent",
    "Observation",
    "PolicyAgent",
    "PublicAgent",
    "PublicDecision",
    "ToldAgent",
    "check_shares",
    "describe_decision",
    "observe_state",
]

SUM_TOLERANCE: Final = 1e-6  # by which an agent's probabilities may miss 1

FloatArray = npt.NDArray[np.float64]


class Observation(NamedTuple):
    """All that one seat knows of a game in progress.

    >>> from equipoise.games import make_game
    >>> game = make_game("kuhn")
    >>> state = game.apply(game.apply(game.initial_state(), 0), 2)  # the jack and the king are dealt
    >>> observe_state(game, state, 0).infostate
    'J:'
    """

    seat: int
    infostate: str  # as `Game.infostate` writes it
    public_state: str  # empty where the game does not say
    actions: tuple[int, ...]  # legal, ascending; empty unless it is this seat's turn
    classes: tuple[ActionClass, ...]  # what kind of move each of them is
    names: tuple[str, ...] = ()  # what each of them is called; for agents alone that have `needs_names`


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class PublicDecision:
    """A public state in which a seat acts, with every private state that the seat may be in.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import derive_public_game
    >>> game = derive_public_game(make_game("kuhn"))
    >>> decision = describe_decision(game, game.initial_state())
    >>> decision.seat, decision.infostates
    (0, ['J:', 'Q:', 'K:'])
    """

    seat: int
    public_state: str
    infostates: Sequence[str]  # [H] the seat's information state in each private state
    actions: tuple[int, ...]  # [A] ascending, that some private state has
    classes: tuple[ActionClass, ...]  # [A]
    legality: npt.NDArray[np.bool_]  # [H, A] which of them each private state has

    __repr__ = brief_repr

    def narrow(self, actions: Sequence[int]) -> PublicDecision:
        """Returns the same decision with some of its actions, ascending: for whoever never does another."""
        places = {action: column for column, action in enumerate(self.actions)}
        columns = [places[action] for action in actions]
        return dataclasses.replace(
            self,
            actions=tuple(actions),
            classes=tuple([self.classes[column] for column in columns]),
            legality=self.legality[:, columns],
        )

    def observation(self, private: int) -> Observation:
        """Returns what the seat sees in one of its private states."""
        columns = np.flatnonzero(self.legality[private]).tolist()
        return Observation(
            self.seat,
            self.infostates[private],
            self.public_state,
            tuple([self.actions[column] for column in columns]),
            tuple([self.classes[column] for column in columns]),
        )


class Agent(Protocol):
    """Who plays one seat at a time; memory of a game, if any, lasts from `begin_game` to the next.

    >>> from equipoise.agents import make
    >>> def introduce(agent: Agent) -> str:
    ...     return f"my name is {agent.name}"
    >>> introduce(make("uniform", "kuhn"))
    'my name is uniform'
    """

    @property
    def name(self) -> str:
        """Returns a short name for tables of results."""
        ...

    def begin_game(self, seat: int) -> None:
        """Forgets the last game: a new one begins, played from this seat."""
        ...

    def observe(self, observation: Observation) -> None:
        """Takes in what the seat sees after a move that it did not make, chance's included."""
        ...

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns one of the observation's actions."""
        ...


@runtime_checkable
class PublicAgent(Agent, Protocol):
    """An agent that can say what it would do in every private state at once.

    >>> from equipoise.agents import make
    >>> isinstance(make("uniform", "kuhn"), PublicAgent)
    True
    """

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` the probability of each action in each private state; rows of live states sum to 1."""
        ...


@runtime_checkable
class NarrowAgent(PublicAgent, Protocol):
    """One that says which actions it may play at all, where a game offers thousands of bets."""

    def public_actions(self, decision: PublicDecision) -> tuple[int, ...]:
        """Returns those of a decision's actions that some private state may play, ascending."""
        ...


@runtime_checkable
class NamingAgent(Agent, Protocol):
    """One that may want the names of actions in its observations."""

    @property
    def needs_names(self) -> bool:
        """Returns whether it does."""
        ...


@runtime_checkable
class ToldAgent(Agent, Protocol):
    """One that is told how a game ended."""

    def end_game(self, won: float) -> None:
        """Takes in what its seat won."""
        ...


class PolicyAgent(abc.ABC):
    """An agent without memory of the game: a probability for each action at each information state.

    >>> class Timid(PolicyAgent):
    ...     name = "timid"
    ...     def probabilities(self, observation, *, rng):
    ...         return [float(action == min(observation.actions)) for action in observation.actions]
    >>> from equipoise.runs import match
    >>> match(Timid(), "raise", game="kuhn", hands=100).num_hands
    100
    """

    is_fixed: ClassVar[bool] = True  # probabilities depend on nothing that is drawn: once asked for, they are known

    name: str  # short, for tables of results

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @abc.abstractmethod
    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` the probability of each of the observation's actions; agents that search may need `rng`."""

    def begin_game(self, seat: int) -> None:  # noqa: B027 - without memory there is nothing to forget
        """Begins a game."""

    def observe(self, observation: Observation) -> None:  # noqa: B027 - the next observation says it all again
        """Takes in what the seat sees."""

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns an action drawn by its probability."""
        shares = self.probabilities(observation, rng=rng)
        check_shares(self.name, shares, len(observation.actions), observation.infostate)
        return observation.actions[draw_index(shares, rng.random())]

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` the probability of each action in each private state."""
        out = np.zeros(decision.legality.shape)
        for private in np.flatnonzero(decision.legality.any(axis=1)).tolist():
            observation = decision.observation(private)
            shares = self.probabilities(observation, rng=rng)
            check_shares(self.name, shares, len(observation.actions), observation.infostate)
            out[private, decision.legality[private]] = shares
        return out


def check_shares(name: str, shares: Sequence[float], count: int, infostate: str) -> None:
    """Raises `InvalidStateError` unless an agent answers with a probability for each of so many actions.

    >>> check_shares("timid", [1.0, 0.0], 2, "K:")
    >>> check_shares("odd", [0.5, float("nan")], 2, "K:")
    Traceback (most recent call last):
        ...
    equipoise.core.errors.InvalidStateError: odd must give 2 probabilities in sum 1 at 'K:', got [0.5, nan]
    """
    try:
        # turned around, so that what is no number is refused too
        is_wrong = len(shares) != count or not (min(shares) >= 0 and abs(sum(shares) - 1.0) <= SUM_TOLERANCE)
    except (TypeError, ValueError):  # no row, a table, or words
        is_wrong = True
    if is_wrong:
        given = list(shares) if isinstance(shares, Sequence | np.ndarray) and not isinstance(shares, str) else shares
        raise InvalidStateError(
            f"{name} must give {count} probabilities in sum 1 at {infostate!r}, got {show_given(given)}"
        )


def observe_state(game: Game[Any], state: Any, seat: int, *, has_names: bool = False) -> Observation:
    """Returns what a seat sees of a state, with or without the names of its actions.

    >>> from equipoise.games import make_game
    >>> game = make_game("kuhn")
    >>> state = game.apply(game.apply(game.initial_state(), 0), 2)
    >>> observe_state(game, state, 0).actions, observe_state(game, state, 1).actions
    ((0, 1), ())
    """
    actions = game.legal_actions(state) if game.actor(state) == seat else ()
    try:
        public = game.public_state(state)
    except InvalidStateError:
        public = ""  # a game that does not say what everybody has seen can still be played
    return Observation(
        seat,
        game.infostate(state, seat),
        public,
        actions,
        classify_actions(game, state, actions),
        tuple([game.action_name(state, action) for action in actions]) if has_names else (),
    )


def describe_decision(game: PublicGame[Any], state: Any) -> PublicDecision:
    """Returns the decision of a public state's actor, for agents that know strategies of whole public states.

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import derive_public_game
    >>> game = derive_public_game(make_game("leduc"))
    >>> describe_decision(game, game.initial_state()).actions
    (1, 2)
    """
    seat = game.actor(state)
    actions = game.legal_actions(state)
    return PublicDecision(
        seat=seat,
        public_state=game.public_state(state),
        infostates=[game.infostate(state, seat, private) for private in range(game.num_private(state, seat))],
        actions=actions,
        classes=tuple([game.action_class(state, action) for action in actions]),
        legality=game.legality(state),
    )
