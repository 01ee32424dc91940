# SPDX-License-Identifier: Apache-2.0
"""What a game is: the protocol that every rules object satisfies.

A game is a frozen dataclass whose fields are its parameters; its states are immutable values and its methods
pure functions over them. Nothing here builds trees or solves.

>>> from equipoise.games import make_game
>>> kuhn = make_game("kuhn")
>>> kuhn.actor(kuhn.initial_state()) == CHANCE, CHANCE == TERMINAL
(True, False)
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

from equipoise.core.errors import ConfigError, IllegalActionError, InvalidStateError
from equipoise.core.formatting import show_given
from equipoise.games.parameters import derived, format_value, parameter, parameters_of

__all__ = [
    "CHANCE",
    "METHODS",
    "TERMINAL",
    "ActionClass",
    "ClassifiesActions",
    "Game",
    "GameSpec",
    "check_given_game",
    "classify_actions",
    "derived",
    "duel_spec",
    "illegal_action",
    "no_returns",
    "parameter",
]

CHANCE: Final = -1  # actor of a state in which nature moves
TERMINAL: Final = -2  # actor of a state in which the game is over
METHODS: Final = (  # of every game
    "initial_state",
    "actor",
    "legal_actions",
    "chance_outcomes",
    "apply",
    "returns",
    "infostate",
    "public_state",
    "action_name",
    "action_class",
    "describe",
)
LARGEST_UTILITY: Final = 1e100  # its square, and sums of that over any run, are still numbers

State = TypeVar("State")


class ActionClass(enum.Enum):
    """What kind of move an action is; biased continuations and local best response ask for it.

    >>> from equipoise.games import make_game
    >>> leduc = make_game("leduc")
    >>> state = leduc.apply(leduc.apply(leduc.initial_state(), 0), 3)
    >>> [leduc.action_class(state, action).name for action in leduc.legal_actions(state)]
    ['CALL', 'RAISE']
    """

    FOLD = "fold"
    CALL = "call"  # checking counts as calling nothing
    RAISE = "raise"  # betting counts as raising
    OTHER = "other"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GameSpec:
    """What is true of a game before any state is looked at.

    >>> from equipoise.games import make_game
    >>> spec = make_game("kuhn").spec
    >>> spec.label, spec.num_players, spec.utility_range
    ('kuhn(players=2)', 2, 4.0)
    """

    name: str  # as registered
    version: int  # raised whenever behaviour changes: caches and checkpoints carry it
    num_players: int
    parameters: Mapping[str, Any] = dataclasses.field(hash=False)
    is_zero_sum: bool
    min_utility: float  # smallest return of any player at any terminal state; attained
    max_utility: float  # largest return of any player at any terminal state; attained
    max_length: int  # most actions (chance included) on any path; attained or above

    def __post_init__(self) -> None:
        largest = max(self.min_utility, self.max_utility, key=abs)
        if not abs(largest) <= LARGEST_UTILITY:
            raise ConfigError(
                f"payoffs of {self.name} must lie between {-LARGEST_UTILITY:g} and {LARGEST_UTILITY:g}, got {largest:g}"
            )

    @property
    def utility_range(self) -> float:
        """Returns the distance between the smallest and the largest return."""
        return self.max_utility - self.min_utility

    @property
    def label(self) -> str:
        """Returns the name with every parameter, a key for caches and reports; `parse_game` reads it back."""
        inside = ",".join(f"{key}={format_value(value)}" for key, value in self.parameters.items())
        return f"{self.name}({inside})"


def duel_spec(game: Any, *, most: float, max_length: int, version: int = 1) -> GameSpec:
    """Returns the facts of a game of two players in sum 0 in which both can win the same.

    Args:
        game: a dataclass with a name and parameters.
        most: that either can win.
        max_length: most actions on any path.
        version: of its behaviour.
    """
    return GameSpec(
        name=game.name,
        version=version,
        num_players=2,
        parameters=parameters_of(game),
        is_zero_sum=True,
        min_utility=-most,
        max_utility=most,
        max_length=max_length,
    )


class Game(Protocol[State]):
    """A rules object: pure functions over immutable, hashable states.

    Simultaneous moves are serialised: the first mover's choice is hidden from the second until both have
    chosen.

    >>> from equipoise.games import make_game
    >>> def count_ends(game: Game, state) -> int:
    ...     actor = game.actor(state)
    ...     if actor == TERMINAL:
    ...         return 1
    ...     moves = [move for move, _ in game.chance_outcomes(state)] if actor == CHANCE else game.legal_actions(state)
    ...     return sum(count_ends(game, game.apply(state, move)) for move in moves)
    >>> kuhn = make_game("kuhn")
    >>> count_ends(kuhn, kuhn.initial_state())
    30
    """

    @property
    def spec(self) -> GameSpec:
        """Returns the game's facts and parameters."""
        ...

    def initial_state(self) -> State:
        """Returns the state before anything has happened."""
        ...

    def actor(self, state: State) -> int:
        """Returns the player to move (from 0), `CHANCE` or `TERMINAL`."""
        ...

    def legal_actions(self, state: State) -> tuple[int, ...]:
        """Returns the acting player's actions, ascending; empty at chance and terminal states."""
        ...

    def chance_outcomes(self, state: State) -> tuple[tuple[int, float], ...]:
        """Returns `(action, probability)` pairs, actions ascending, at a chance state; empty elsewhere."""
        ...

    def apply(self, state: State, action: int) -> State:
        """Returns the state after an action; raises `IllegalActionError` if the rules do not allow it."""
        ...

    def returns(self, state: State) -> tuple[float, ...]:
        """Returns each player's utility at a terminal state; raises `InvalidStateError` elsewhere."""
        ...

    def infostate(self, state: State, player: int) -> str:
        """Returns all that `player` has seen and done, on turn or off, readable, without line breaks."""
        ...

    def public_state(self, state: State) -> str:
        """Returns all that everybody has seen; it names one public actor."""
        ...

    def action_name(self, state: State, action: int) -> str:
        """Returns a short word for an action (or a chance outcome) in a state."""
        ...

    def action_class(self, state: State, action: int) -> ActionClass:
        """Returns the kind of move that an action is."""
        ...

    def describe(self, state: State) -> str:
        """Returns the whole state in words, hidden parts included."""
        ...


@runtime_checkable
class ClassifiesActions(Protocol):
    """A game with thousands of actions, whose kinds it says at once."""

    def action_classes(self, state: Any, actions: tuple[int, ...]) -> tuple[ActionClass, ...]:
        """Returns what kinds of moves actions at a state are."""
        ...


def classify_actions(game: Game[State], state: State, actions: tuple[int, ...]) -> tuple[ActionClass, ...]:
    """Returns what kinds of moves actions at a state are.

    >>> from equipoise.games import make_game
    >>> game = make_game("holdem", menu="all", stacks=(4, 4), small_blind=1, big_blind=2)
    >>> state = game.initial_state()
    >>> for card in (0, 1, 2, 3):
    ...     state = game.apply(state, card)
    >>> [kind.name for kind in classify_actions(game, state, game.legal_actions(state))]
    ['FOLD', 'CALL', 'RAISE']
    """
    if isinstance(game, ClassifiesActions):
        return game.action_classes(state, actions)
    return tuple([game.action_class(state, action) for action in actions])


def illegal_action(game: Game[Any], state: Any, action: int) -> IllegalActionError:
    """Returns the error for an action that the rules do not allow in a state, for `apply` to raise."""
    actor = game.actor(state)
    if actor == TERMINAL:
        return IllegalActionError(f"action {action} is not legal: the game is over")
    if actor == CHANCE:
        allowed = tuple(outcome for outcome, _ in game.chance_outcomes(state))
        return IllegalActionError(f"outcome {action} is not possible; possible: {_listing(game, state, allowed)}")
    allowed = game.legal_actions(state)
    return IllegalActionError(
        f"action {action} is not legal for player {actor}; legal: {_listing(game, state, allowed)}"
    )


class _Describer(Protocol):
    """As much of a game as an error about a state needs."""

    def describe(self, state: Any) -> str: ...


def no_returns(game: _Describer, state: Any) -> InvalidStateError:
    """Returns the error for asking a state's returns before the game is over, for `returns` to raise."""
    return InvalidStateError(f"only terminal states have returns, this one has not ended: {game.describe(state)}")


def _listing(game: Game[Any], state: Any, actions: tuple[int, ...]) -> str:
    return ", ".join(f"{action} ({game.action_name(state, action)})" for action in actions)


def check_given_game(game: Any, expected: str = "a Game such as make_game('kuhn')") -> None:
    """Raises `ConfigError` unless rules are given, whatever their class.

    Args:
        game: what was given.
        expected: what could have been, for the message.

    >>> check_given_game("kuhn")
    Traceback (most recent call last):
        ...
    equipoise.core.errors.ConfigError: game must be a Game such as make_game('kuhn'), got 'kuhn'
    """
    if isinstance(game, type):
        raise ConfigError(
            f"game must be {expected}, got the class {game.__name__}: make a game of it, {game.__name__}()"
        )
    if not isinstance(getattr(game, "spec", None), GameSpec):
        raise ConfigError(f"game must be {expected}, got {show_given(game)}")
    if missing := [name for name in METHODS if not callable(getattr(game, name, None))]:
        raise ConfigError(f"{game.spec.name} is not a game: it lacks {', '.join(missing)}")
