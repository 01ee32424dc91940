# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM as a flag that work looks at when it can stop cleanly."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

__all__ = ["SignalFlag"]


class SignalFlag:
    """While entered, the first SIGINT or SIGTERM only raises this flag; a second one interrupts at once.

    Work that never looks at the flag (`is_immediate`) ends with the first one: Python would wait for native code.
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self, *, is_immediate: bool = False) -> None:
        self.is_immediate = is_immediate
        self.number: int | None = None  # of the signal that came
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # elsewhere Python allows no handlers
            handler = signal.SIG_DFL if self.is_immediate else self._receive
            self._previous = {number: signal.signal(number, handler) for number in self.SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def __call__(self) -> bool:
        """Returns whether a signal came."""
        return self.number is not None

    @property
    def exit_code(self) -> int:
        """Returns what shells report for the signal: 130 for Ctrl-C, 143 for SIGTERM; 0 if none came."""
        return 0 if self.number is None else 128 + self.number

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        if self.number is not None:
            raise KeyboardInterrupt
        self.number = number
