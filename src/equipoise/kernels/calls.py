# SPDX-License-Identifier: Apache-2.0
"""Checks of what calls into the native module pass besides arrays, and that one thread at a time makes them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final, Generic, TypeVar

import equipoise._native as _native
from equipoise.core.errors import AbandonedError, ConcurrentUseError, ConfigError

__all__ = [
    "MAX_INTEGER",
    "MAX_THREADS",
    "LastBound",
    "OneCaller",
    "check_finished",
    "check_integer",
    "check_num_threads",
    "check_player",
]

Bound = TypeVar("Bound")

MAX_THREADS: Final = 256  # each has a value table of its own
MAX_INTEGER: Final = 2**62  # of counts; sums of two fit the native module's 64 bits


def check_integer(name: str, value: int, low: int, high: int = MAX_INTEGER) -> None:
    """Raises `ConfigError` unless a whole number is from `low` to `high`, both included."""
    if type(value) is int and low <= value <= high:  # almost always, and in calls of one iteration
        return
    try:
        found = None if isinstance(value, bool) else operator.index(value)
    except TypeError:  # also of classes and arrays, which have the method of whole numbers
        found = None
    if found is None:
        raise ConfigError(f"{name} must be a whole number, got {value!r}")
    if not low <= found <= high:
        # of the largest count people are told where they have passed it
        expected = f"at least {low}" if high == MAX_INTEGER and found < low else f"between {low} and {high}"
        raise ConfigError(f"{name} must be {expected}, got {value}")


def check_finished(is_finished: bool, what: str) -> None:
    """Raises `AbandonedError` unless a native call was done to its end."""
    if not is_finished:
        raise AbandonedError(f"{what} was given up: it was interrupted")


def check_player(player: int, num_players: int) -> None:
    """Raises `ConfigError` unless there is such a player."""
    check_integer("player", player, 0, num_players - 1)


def check_num_threads(num_threads: int) -> None:
    """Raises `ConfigError` unless a team of threads has a sensible size."""
    check_integer("num_threads", num_threads, 1, MAX_THREADS)


class OneCaller:
    """A block of code for one thread at a time: a second one is refused instead of kept waiting.

    The native module gives up the interpreter's lock while it works, so nothing else keeps threads apart.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self.turn = _native.Turn()  # as native calls take it that check nothing else

    def __enter__(self) -> None:
        if not self.turn.take():
            raise ConcurrentUseError(f"this {self._owner} is already at work in another thread; give each its own")

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self.turn.give_back()


class LastBound(Generic[Bound]):
    """What was made last, with what it was made of: the same objects find it again."""

    def __init__(self) -> None:
        self._last: tuple[tuple[object, ...], Bound] | None = None

    def find(self, parts: tuple[object, ...], bind: Callable[[], Bound]) -> Bound:
        """Returns what was made of these very parts last time, or makes it."""
        if self._last is None or not all(map(operator.is_, self._last[0], parts)):
            self._last = parts, bind()
        return self._last[1]
