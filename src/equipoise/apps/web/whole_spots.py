# SPDX-License-Identifier: Apache-2.0
"""Values of spots whose tables are large: read on a handle of their own, one place at a time, the newest wish first.

Such a place may take a minute, most of it for the first one, which reads the table. Strategies do not wait for it: they
are read from the file that the library has open. Wishes of those who have gone elsewhere are given up, also under way.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path

from equipoise.core.errors import AbandonedError
from equipoise.solvers.holdem.solved_spot import SolvedSpot

__all__ = ["WholeSpot", "Wish"]


class Wish:
    """That somebody waits for an answer, until they do not."""

    def __init__(self) -> None:
        self.is_gone = False
        self._on_leave: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def leave(self) -> None:
        """Says that nobody waits any more."""
        with self._lock:
            self.is_gone = True
            told = list(self._on_leave)
        for tell in told:
            tell()

    def tell(self, on_leave: Callable[[], None]) -> None:
        """Calls a function when nobody waits any more, now if that is so."""
        with self._lock:
            self._on_leave.append(on_leave)
            is_gone = self.is_gone
        if is_gone:
            on_leave()


class WholeSpot:
    """A large solved spot with its table in memory, read when it is first asked for values."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._changed = threading.Condition()
        self._waiting: list[Wish] = []  # the newest last
        self._current: Wish | None = None
        self._is_closed = False
        self._solved: SolvedSpot | None = None

    def answer(self, describe: Callable[[SolvedSpot], bytes], wish: Wish) -> bytes:
        """Returns what is described once it is its turn; raises `AbandonedError` where nobody waits for it any more."""
        wish.tell(lambda: self._give_up(wish))
        self._begin(wish)
        try:
            return describe(self._read())
        finally:
            with self._changed:
                self._current = None
                if self._solved is not None:
                    self._solved.kernel.stop(0)  # a request that came too late is not the next one's
                self._close_if_free()
                self._changed.notify_all()

    def _begin(self, wish: Wish) -> None:
        """Waits until a wish is the newest and nothing is under way."""
        with self._changed:
            self._waiting.append(wish)
            try:
                self._changed.wait_for(
                    lambda: (
                        self._is_closed or wish.is_gone or (self._current is None and self._newest_waiting() is wish)
                    )
                )
            finally:
                self._waiting.remove(wish)
            if wish.is_gone or self._is_closed:
                raise AbandonedError("nobody waits for it any more")
            self._current = wish

    def _newest_waiting(self) -> Wish | None:
        return next((wish for wish in reversed(self._waiting) if not wish.is_gone), None)

    def _give_up(self, wish: Wish) -> None:
        """Ends what is under way for somebody who has gone; the table is read to its end, somebody will need it."""
        with self._changed:
            if self._current is wish and self._solved is not None:
                self._solved.kernel.stop()
            self._changed.notify_all()

    def _read(self) -> SolvedSpot:
        if self._solved is None:
            with contextlib.ExitStack() as stack:
                solved = stack.enter_context(SolvedSpot(self.path))
                solved.read_values()
                with self._changed:
                    self._solved = solved
                stack.pop_all()
        with self._changed:
            if self._is_closed or (self._current is not None and self._current.is_gone):
                raise AbandonedError("nobody waits for it any more")
        return self._solved

    def close(self) -> None:
        """Ends what is under way; the file is closed by whoever reads it, who is not waited for."""
        with self._changed:
            self._is_closed = True
            if self._solved is not None and self._current is not None:
                self._solved.kernel.stop()
            self._close_if_free()
            self._changed.notify_all()

    def _close_if_free(self) -> None:
        if self._is_closed and self._current is None and self._solved is not None:
            self._solved.close()
            self._solved = None
