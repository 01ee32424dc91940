# SPDX-License-Identifier: Apache-2.0
"""What long work tells whoever asked for it: words, warnings, shares done; nothing unless somebody listens."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager

__all__ = ["OnGrowth", "OnStep", "Reporter"]

OnStep = Callable[[float, str], None]  # share of the work done, what comes now
OnGrowth = Callable[[int, float], None]  # number of things built, share of the whole


class Reporter:
    """Hears what preparing and running say; this one keeps it to itself.

    >>> from equipoise.runs import RunRequest, prepare_run
    >>> class Loud(Reporter):
    ...     def say(self, text):
    ...         print(text.partition(", history")[0])
    >>> run = prepare_run("kuhn", RunRequest(iterations=10), Loud())
    kuhn: 58 histories, 12 information sets
    dcfr: tables of 1.3 kB
    """

    def say(self, text: str) -> None:
        """Hears a line about what is done."""

    def warn(self, text: str) -> None:
        """Hears a line that deserves attention."""

    def confirm(self, question: str) -> bool:
        """Answers a question about what is going to be done; this one trusts whoever asked for it."""
        return True

    def stage(self, title: str) -> AbstractContextManager[None]:
        """Hears what is being done, for as long as it is entered; how far it is cannot be said."""
        return contextlib.nullcontext()

    def task(self, title: str) -> AbstractContextManager[OnStep]:
        """Gives what is told how far a piece of work is, for as long as it is entered."""
        return contextlib.nullcontext(lambda _share, _step: None)

    def growth(self, label: str) -> AbstractContextManager[OnGrowth]:
        """Gives what is told how far a tree has grown, for as long as it is entered."""
        return contextlib.nullcontext(lambda _count, _share: None)
