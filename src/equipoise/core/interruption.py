# SPDX-License-Identifier: Apache-2.0
"""How long work learns that it is wanted no more: it is given a question, and asks it now and then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

__all__ = ["IsInterrupted", "Listener", "never"]

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
