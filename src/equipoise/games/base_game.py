# SPDX-License-Identifier: Apache-2.0
"""A base class for games of one's own: six methods are the rules, everything else has a default.

The laws that the rules must keep are in docs/own_games.md, and `check_game` looks at each of them.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import math
import re
from typing import Any, Final, Generic, TypeVar

from equipoise.core.errors import ConfigError, EquipoiseError, InvalidGameError, InvalidStateError
from equipoise.core.own_code import describe_exception
from equipoise.games.base import CHANCE, TERMINAL, ActionClass, GameSpec, illegal_action, no_returns
from equipoise.games.parameters import check_parameters, parameters_of

__all__ = ["BaseGame"]

MOST_MEASURED: Final = 200_000  # histories that are walked for what a game does not declare: some seconds

State = TypeVar("State")


class BaseGame(abc.ABC, Generic[State]):
    """A game of one's own: write the rules and, where a default does not fit, what else the game says.

    The rules are `initial_state`, `actor`, `legal_actions`, `next_state`, `utilities` and `infostate`; a game with
    chance has `chance_outcomes` too. With parameters it is a frozen dataclass whose fields `parameter` makes. Values
    below that are None are found by walking the whole game once, if it is small enough; a larger one declares them.

    >>> class Pennies(BaseGame[tuple[int, ...]]):
    ...     def initial_state(self):
    ...         return ()
    ...     def actor(self, state):
    ...         return len(state) if len(state) < 2 else TERMINAL
    ...     def legal_actions(self, state):
    ...         return (0, 1) if len(state) < 2 else ()
    ...     def next_state(self, state, action):
    ...         return (*state, action)
    ...     def utilities(self, state):
    ...         return (1.0, -1.0) if state[0] == state[1] else (-1.0, 1.0)
    ...     def infostate(self, state, player):
    ...         return f"{len(state)} chosen, own {state[player : player + 1]}"
    >>> Pennies().spec.label, Pennies().spec.max_utility, Pennies().spec.max_length
    ('pennies()', 1.0, 2)
    """

    name: str = ""  # for reports; by default the name of the class, in small letters
    version: int = 1  # raise it when the rules change: saved runs carry it
    num_players: int = 2
    is_zero_sum: bool = True
    min_utility: float | None = None  # smallest utility of any player at any end
    max_utility: float | None = None  # largest utility of any player at any end
    max_length: int | None = None  # most actions on any path, chance's included

    def __post_init__(self) -> None:
        """Checks the parameters of a game that is a dataclass; one with a check of its own calls this first."""
        check_parameters(self)

    @abc.abstractmethod
    def initial_state(self) -> State:
        """Returns the state before anything has happened; states are immutable and hashable."""

    @abc.abstractmethod
    def actor(self, state: State) -> int:
        """Returns the player to move (from 0), `CHANCE` or `TERMINAL`."""

    @abc.abstractmethod
    def legal_actions(self, state: State) -> tuple[int, ...]:
        """Returns the acting player's actions, ascending; empty where no player acts."""

    @abc.abstractmethod
    def next_state(self, state: State, action: int) -> State:
        """Returns the state after an action or a chance outcome, which is a possible one."""

    @abc.abstractmethod
    def utilities(self, state: State) -> tuple[float, ...]:
        """Returns each player's utility at a terminal state."""

    @abc.abstractmethod
    def infostate(self, state: State, player: int) -> str:
        """Returns all that a player has seen and done, on turn or off, in one line."""

    def chance_outcomes(self, state: State) -> tuple[tuple[int, float], ...]:
        """Returns `(outcome, probability)` pairs, outcomes ascending, where chance moves; nothing by default."""
        return ()

    def apply(self, state: State, action: int) -> State:
        """Returns the state after an action; raises `IllegalActionError` if it is not possible."""
        is_chance = self.actor(state) == CHANCE
        possible = [outcome for outcome, _ in self.chance_outcomes(state)] if is_chance else self.legal_actions(state)
        if action not in possible:
            raise illegal_action(self, state, action)
        return self.next_state(state, action)

    def returns(self, state: State) -> tuple[float, ...]:
        """Returns each player's utility at a terminal state; raises `InvalidStateError` elsewhere."""
        if self.actor(state) != TERMINAL:
            raise no_returns(self, state)
        return tuple(self.utilities(state))

    def public_state(self, state: State) -> str:
        """Returns all that everybody has seen; by default a game does not say, and is solved by its histories."""
        raise InvalidStateError(f"{self._name} has no public states: its class does not say `public_state`")

    def action_name(self, state: State, action: int) -> str:
        """Returns a short word for an action or a chance outcome; by default its number."""
        return str(action)

    def action_class(self, state: State, action: int) -> ActionClass:
        """Returns the kind of move that an action is; by default none of poker's."""
        return ActionClass.OTHER

    def describe(self, state: State) -> str:
        """Returns the whole state in words, hidden parts included; by default as Python writes it."""
        return " ".join(repr(state).split())

    @functools.cached_property
    def spec(self) -> GameSpec:
        """Returns the game's facts and parameters."""
        low, high, length = self.min_utility, self.max_utility, self.max_length
        if low is None or high is None or length is None:
            found = self._measure()
            low, high = found[0] if low is None else low, found[1] if high is None else high
            length = found[2] if length is None else length
        return GameSpec(
            name=self._name,
            version=self.version,
            num_players=self.num_players,
            parameters=parameters_of(self) if dataclasses.is_dataclass(self) else {},
            is_zero_sum=self.is_zero_sum,
            min_utility=float(low),
            max_utility=float(high),
            max_length=length,
        )

    @property
    def _name(self) -> str:
        return self.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__).lower()

    def _measure(self) -> tuple[float, float, int]:
        """Returns the smallest and the largest utility and the length of the longest path."""
        try:
            return self._walk()
        except EquipoiseError:
            raise
        except Exception as error:  # an AttributeError would make the game look like one without a spec
            raise InvalidGameError(f"{self._name} cannot be walked through: {describe_exception(error)}") from error

    def _walk(self) -> tuple[float, float, int]:
        low, high, longest, count = math.inf, -math.inf, 0, 0
        stack: list[tuple[Any, int]] = [(self.initial_state(), 0)]
        while stack:
            state, depth = stack.pop()
            longest, count = max(longest, depth), count + 1
            if count > MOST_MEASURED:
                raise ConfigError(
                    f"{self._name} has more than {MOST_MEASURED:,} histories, too many to look for its bounds: its "
                    "class must say min_utility, max_utility and max_length"
                )
            actor = self.actor(state)
            if actor == TERMINAL:
                utilities = self.utilities(state)
                low, high = min(low, *utilities), max(high, *utilities)
                continue
            outcomes = [outcome for outcome, _ in self.chance_outcomes(state)]
            actions = outcomes if actor == CHANCE else self.legal_actions(state)
            stack.extend((self.next_state(state, action), depth + 1) for action in actions)
        return low, high, longest
