# SPDX-License-Identifier: Apache-2.0
"""The one tree of exceptions.

::

    EquipoiseError
    ├── ConfigError            (ValueError)    a parameter or option is not allowed
    │   └── UnknownNameError                   a name that no registry knows; carries the nearest ones
    ├── ParseError             (ValueError)    text that does not follow its notation
    ├── IllegalActionError     (ValueError)    an action that the rules do not allow
    ├── InvalidStateError      (ValueError)    a question that a state has no answer to
    ├── InvalidGameError       (ValueError)    a game that breaks its protocol
    ├── GameTooLargeError      (ValueError)    a game that does not fit the given limit
    ├── NotConvergedError      (RuntimeError)  a target that was not reached
    ├── AbandonedError         (RuntimeError)  work that was given up because it was told to
    ├── ConcurrentUseError     (RuntimeError)  two threads in what serves one at a time
    ├── WorkerError            (RuntimeError)  a worker process that ended without a result
    ├── AgentFailedError       (RuntimeError)  an agent of another program that broke off or broke the rules
    ├── MissingExtraError      (RuntimeError)  an optional package that is not installed
    └── CheckpointError        (RuntimeError)  a file that cannot be read or written
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = [
    "AbandonedError",
    "AgentFailedError",
    "CheckpointError",
    "ConcurrentUseError",
    "ConfigError",
    "EquipoiseError",
    "GameTooLargeError",
    "IllegalActionError",
    "InvalidGameError",
    "InvalidStateError",
    "MissingExtraError",
    "NotConvergedError",
    "ParseError",
    "UnknownNameError",
    "WorkerError",
]


class EquipoiseError(Exception):
    """Root of every error that Equipoise raises on purpose.

    >>> import equipoise
    >>> try:
    ...     equipoise.solve("leduk")
    ... except EquipoiseError as error:
    ...     print(error)
    unknown game 'leduk'; did you mean leduc, leduc5, leduc_nolimit?
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns how it is pickled: some are not made from their messages."""
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[EquipoiseError], args: tuple[Any, ...], fields: Mapping[str, Any]) -> EquipoiseError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


class ConfigError(EquipoiseError, ValueError):
    """A parameter or option is not allowed.

    >>> import equipoise
    >>> equipoise.solve("kuhn", iterations=-1)
    Traceback (most recent call last):
        ...
    equipoise.core.errors.ConfigError: iterations must be at least 1, got -1
    """


class UnknownNameError(ConfigError):
    """A name that no registry knows; the message offers the nearest names.

    >>> UnknownNameError("game", "leduk", ["kuhn", "leduc"]).nearest
    ('leduc',)
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        lowered = {candidate.lower(): candidate for candidate in self.known}
        matches = difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=0.4)
        self.nearest = tuple(lowered[match] for match in matches)
        hint = f"did you mean {', '.join(self.nearest)}?" if self.nearest else f"known: {', '.join(self.known)}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")


class ParseError(EquipoiseError, ValueError):
    """Text that does not follow its notation.

    >>> from equipoise.games.holdem import parse_card
    >>> parse_card("Ax")
    Traceback (most recent call last):
        ...
    equipoise.core.errors.ParseError: a card is a rank of 23456789TJQKA and a suit of cdhs, as in Ah, got 'Ax'
    """


class IllegalActionError(EquipoiseError, ValueError):
    """An action that the rules do not allow.

    >>> from equipoise.games import make_game
    >>> kuhn = make_game("kuhn")
    >>> kuhn.apply(kuhn.initial_state(), 9)
    Traceback (most recent call last):
        ...
    equipoise.core.errors.IllegalActionError: outcome 9 is not possible; possible: 0 (J), 1 (Q), 2 (K)
    """


class InvalidStateError(EquipoiseError, ValueError):
    """A question that a state has no answer to.

    >>> from equipoise.games import make_game
    >>> kuhn = make_game("kuhn")
    >>> try:
    ...     kuhn.returns(kuhn.initial_state())
    ... except InvalidStateError as error:
    ...     print(error)
    only terminal states have returns, this one has not ended: cards none, bets none
    """


class InvalidGameError(EquipoiseError, ValueError):
    """A game that breaks its protocol; `violations` holds all that `check_game` found, one line each in the message.

    >>> import numpy as np
    >>> from equipoise.games import Kuhn, check_game
    >>> class Generous(Kuhn):
    ...     def returns(self, state):
    ...         return (1.0, 1.0)
    >>> try:
    ...     check_game(Generous(), rng=np.random.default_rng(0))
    ... except InvalidGameError as error:
    ...     print(len(error.violations) > 0)
    True
    """

    def __init__(self, message: str, violations: Iterable[object] = ()) -> None:
        super().__init__(message)
        self.violations = tuple(violations)


class GameTooLargeError(EquipoiseError, ValueError):
    """A game that does not fit the given limit.

    >>> import equipoise
    >>> try:
    ...     equipoise.solve("leduc", max_histories=100)
    ... except GameTooLargeError as error:
    ...     print("more than 100 histories" in str(error))
    True
    """


class NotConvergedError(EquipoiseError, RuntimeError):
    """A target that was not reached.

    >>> try:
    ...     raise NotConvergedError("the linear program of mygame was not solved")
    ... except RuntimeError as error:
    ...     print(error)
    the linear program of mygame was not solved
    """


class AbandonedError(EquipoiseError, RuntimeError):
    """Work that was given up because it was told to; nothing of it was kept.

    >>> try:
    ...     raise AbandonedError("watching hands was interrupted")
    ... except RuntimeError as error:
    ...     print(error)
    watching hands was interrupted
    """


class ConcurrentUseError(EquipoiseError, RuntimeError):
    """Two threads in what serves one at a time.

    >>> try:
    ...     raise ConcurrentUseError("this solver is already at work in another thread; give each its own")
    ... except RuntimeError as error:
    ...     print(error)
    this solver is already at work in another thread; give each its own
    """


class WorkerError(EquipoiseError, RuntimeError):
    """A worker process that ended without a result.

    >>> try:
    ...     raise WorkerError("shards [3] are missing: a worker was killed")
    ... except RuntimeError as error:
    ...     print(error)
    shards [3] are missing: a worker was killed
    """


class AgentFailedError(EquipoiseError, RuntimeError):
    """An agent of another program that broke off, or answered what cannot be played.

    Whoever plays deals leaves those that were whole in `finished`.

    >>> import equipoise
    >>> equipoise.match("bot:true", "call", game="kuhn", hands=2)  # `true` ends before it has said anything
    Traceback (most recent call last):
    ...
    equipoise.core.errors.AgentFailedError: bot true: ended with exit code 0
    """

    finished: object = None


class MissingExtraError(EquipoiseError, RuntimeError):
    """An optional package that is not installed.

    >>> print(MissingExtraError("torch", "learn", "training"))
    training needs torch, which is not installed: pip install 'equipoise[learn]'
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install 'equipoise[{extra}]'")


class CheckpointError(EquipoiseError, RuntimeError):
    """A file that cannot be read or written.

    >>> import equipoise
    >>> equipoise.load("nowhere.eq")
    Traceback (most recent call last):
        ...
    equipoise.core.errors.CheckpointError: cannot read nowhere.eq: no such file or directory
    """
