# SPDX-License-Identifier: Apache-2.0
"""Whose turn it is in a bound form, and what was bound for the last call."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Generic, TypeVar

import equipoise._native as _native
from equipoise.core.copying import NotCopied
from equipoise.core.errors import ConcurrentUseError

__all__ = ["LastBound", "OneCaller"]

Bound = TypeVar("Bound")


class OneCaller(NotCopied):
    """A block of code for one thread at a time: a second one is refused instead of kept waiting.

    The native module gives up the interpreter's lock while it works, so nothing else keeps threads apart.
    """

    kept_by = "a solver holds threads and workspaces; send or keep its tables, or the strategy"

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
