# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, SIGTERM and SIGHUP: as a flag that work looks at when it can stop cleanly, or as an exception."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final, Self

__all__ = ["SignalFlag", "Stopped", "exit_code_of_interrupt", "raise_at_signals"]

# SIGHUP comes when a terminal is closed; not every system has it
SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

Handler = Callable[[int, FrameType | None], Any]


class Stopped(KeyboardInterrupt):
    """A signal that ends the work at once, so that displays, locks and temporary files are cleared away."""

    def __init__(self, number: int) -> None:
        # Ctrl-C needs no name
        super().__init__(*(() if number == signal.SIGINT else (signal.Signals(number).name,)))
        self.number = number


def exit_code_of_interrupt(error: KeyboardInterrupt) -> int:
    """Returns what shells report for the signal behind an interruption: 130 for Ctrl-C."""
    return 128 + (error.number if isinstance(error, Stopped) else signal.SIGINT)


@contextlib.contextmanager
def raise_at_signals() -> Iterator[None]:
    """While entered, every signal that asks the program to end raises `Stopped`."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Stopped(number)

    previous = _install(stop)
    try:
        yield
    finally:
        _restore(previous)


class SignalFlag:
    """While entered, the first signal that asks the program to end only raises this flag.

    A second one raises `Stopped`; so does the first where the work never looks at the flag (`is_immediate`).
    """

    def __init__(self, *, is_immediate: bool = False, on_first: Callable[[], None] = lambda: None) -> None:
        self.is_immediate = is_immediate
        self.on_first = on_first  # called at once, between two steps of whatever is being done
        self.number: int | None = None  # of the signal that came first
        self._is_raising = False  # even the first one, see `raising`
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._previous = _install(self._receive)
        return self

    def __exit__(self, *error: object) -> None:
        _restore(self._previous)

    def __call__(self) -> bool:
        """Returns whether a signal came."""
        return self.number is not None

    @property
    def exit_code(self) -> int:
        """Returns what shells report for the signal: 130 for Ctrl-C, 143 for SIGTERM; 0 if none came."""
        return 0 if self.number is None else 128 + self.number

    @contextlib.contextmanager
    def raising(self) -> Iterator[None]:
        """While entered, a signal also ends what is being done, without a trace; the flag tells what comes next."""
        was_set, self._is_raising = self(), True
        try:
            yield
        except Stopped:
            if was_set:  # the second one, which ends everything
                raise
        finally:
            self._is_raising = False

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        is_first = self.number is None
        if is_first:
            self.number = number
        if self.is_immediate or not is_first:
            raise Stopped(number)
        self.on_first()
        if self._is_raising:
            raise Stopped(number)


def _install(handler: Handler) -> dict[int, Any]:
    """Installs a handler and returns those it replaces; signals that are ignored (nohup, background jobs) stay so."""
    if threading.current_thread() is not threading.main_thread():  # elsewhere Python allows no handlers
        return {}
    heard = [number for number in SIGNALS if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    return {number: signal.signal(number, handler) for number in heard}


def _restore(previous: dict[int, Any]) -> None:
    for number, handler in previous.items():
        signal.signal(number, handler)
