# SPDX-License-Identifier: Apache-2.0
"""Checks of what calls into the native module pass besides arrays."""

from __future__ import annotations

import operator
from typing import Final

from equipoise.core.errors import AbandonedError, ConfigError
from equipoise.core.formatting import show_given

__all__ = [
    "MAX_INTEGER",
    "MAX_THREADS",
    "check_finished",
    "check_integer",
    "check_num_threads",
    "check_player",
]

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
        raise ConfigError(f"{name} must be a whole number, got {show_given(value)}")
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
