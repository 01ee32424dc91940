# SPDX-License-Identifier: Apache-2.0
"""How long work learns that it is wanted no more: it is given a question, and asks it now and then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol, runtime_checkable

__all__ = ["IsInterrupted", "Listener", "call_interruptibly", "never"]

IsInterrupted = Callable[[], bool]


@runtime_checkable
class Listener(Protocol):
    """Work that may take long, and gives up with `AbandonedError` once a question is answered yes."""

    def listen(self, is_interrupted: IsInterrupted) -> None:
        """Makes a question the one that is asked from now on."""
        ...


def never() -> bool:
    """Returns that nobody has interrupted.

    >>> never()
    False
    """
    return False


def call_interruptibly(work: Callable[[], None]) -> None:
    """Does native work that takes long and never looks at signals; a signal's exception ends the wait for it.

    Python runs handlers between its own steps alone, so the work is done in a thread and waited for. After an exception
    the thread is abandoned: the process must leave without clearing up beneath it.
    """
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # raised where the work was asked for
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
