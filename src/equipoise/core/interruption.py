# SPDX-License-Identifier: Apache-2.0
"""How long work learns that it is wanted no more: it is given a question, and asks it now and then."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol, runtime_checkable

__all__ = ["IsInterrupted", "Listener", "Stoppable", "call_interruptibly", "call_watched", "first_ctrl_c", "never"]

SECONDS_BETWEEN_LOOKS: Final = 0.05

IsInterrupted = Callable[[], bool]


@runtime_checkable
class Listener(Protocol):
    """Work that may take long, and gives up with `AbandonedError` once a question is answered yes."""

    def listen(self, is_interrupted: IsInterrupted) -> None:
        """Makes a question the one that is asked from now on."""
        ...


@runtime_checkable
class Stoppable(Protocol):
    """Work whose calls into native code can be ended from another thread, and gone on with later."""

    @property
    def can_stop(self) -> bool:
        """Returns whether they can, in this case."""
        ...

    def stop(self) -> None:
        """Ends the call under way, if there is one, as soon as that can be done without loss."""
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
    _start(work, failures).join()
    if failures:
        raise failures[0]


def call_watched(work: Callable[[], None], is_interrupted: IsInterrupted, stop: Callable[[], None]) -> None:
    """Does native work in a thread while this one looks for interruptions, at which `stop` is to end the work.

    Python runs the handlers of signals in its main thread alone, and only between its own steps: here it has some.
    """
    failures: list[BaseException] = []
    thread = _start(work, failures)
    while thread.is_alive():
        if is_interrupted():
            stop()
        thread.join(SECONDS_BETWEEN_LOOKS)
    if failures:
        raise failures[0]


def _start(work: Callable[[], None], failures: list[BaseException]) -> threading.Thread:
    """Returns a thread that does the work; what it raises is put into `failures`."""

    def run() -> None:
        try:
            work()
        except BaseException as error:  # raised where the work was asked for
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


@contextlib.contextmanager
def first_ctrl_c(stop: Callable[[], None]) -> Iterator[None]:
    """While entered, the first Ctrl-C asks work to end and the second raises; outside the main thread as ever.

    Whoever has a handler of its own for the signal keeps it.
    """
    is_ours = threading.current_thread() is threading.main_thread()
    if not is_ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def hear(_number: int, _frame: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
