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
from collections.abc import Iterable

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
    """Root of every error that Equipoise raises on purpose."""


class ConfigError(EquipoiseError, ValueError):
    """A parameter or option is not allowed."""


class UnknownNameError(ConfigError):
    """A name that no registry knows; the message offers the nearest names."""

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
    """Text that does not follow its notation."""


class IllegalActionError(EquipoiseError, ValueError):
    """An action that the rules do not allow."""


class InvalidStateError(EquipoiseError, ValueError):
    """A question that a state has no answer to."""


class InvalidGameError(EquipoiseError, ValueError):
    """A game that breaks its protocol; `violations` holds all that `check_game` found, one line each in the message."""

    def __init__(self, message: str, violations: Iterable[object] = ()) -> None:
        super().__init__(message)
        self.violations = tuple(violations)


class GameTooLargeError(EquipoiseError, ValueError):
    """A game that does not fit the given limit."""


class NotConvergedError(EquipoiseError, RuntimeError):
    """A target that was not reached."""


class AbandonedError(EquipoiseError, RuntimeError):
    """Work that was given up because it was told to; nothing of it was kept."""


class ConcurrentUseError(EquipoiseError, RuntimeError):
    """Two threads in what serves one at a time."""


class WorkerError(EquipoiseError, RuntimeError):
    """A worker process that ended without a result."""


class AgentFailedError(EquipoiseError, RuntimeError):
    """An agent of another program that broke off, or answered what cannot be played.

    Whoever plays deals leaves those that were whole in `finished`.
    """

    finished: object = None


class MissingExtraError(EquipoiseError, RuntimeError):
    """An optional package that is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install 'equipoise[{extra}]'")


class CheckpointError(EquipoiseError, RuntimeError):
    """A file that cannot be read or written."""
