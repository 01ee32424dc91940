# SPDX-License-Identifier: Apache-2.0
"""The pool of this machine's processes, each with one thread, which live and end with whoever started them."""

from __future__ import annotations

import collections
import contextlib
import multiprocessing
import multiprocessing.connection
import multiprocessing.resource_tracker
import os
import pickle
import queue
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Final, NamedTuple, TypeVar

from equipoise.core.errors import ConfigError, WorkerError
from equipoise.core.pool import Outcome, OutcomeKind, SupervisedPool, Supervision, SupervisionClock, make_sendable

__all__ = ["LocalPool"]

Task = TypeVar("Task")
Result = TypeVar("Result")

# libraries that would take a thread for every core in every process
THREAD_VARIABLES: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
# a terminal sends these to all processes: the one that waits for results decides
DECIDED: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name))
MOST_FALSE_STARTS: Final = 3  # of workers in a row that end before they can take a task
SECONDS_TO_END: Final = 5.0  # that a process gets whose pipe is closed already


class LocalPool(SupervisedPool):
    """Processes of this machine; with one worker everything happens in the caller's process, unless told otherwise.

    >>> list(LocalPool(1).map(abs, [-2, 3]))
    [2, 3]
    """

    def __init__(self, num_workers: int = 1, *, in_process: bool | None = None) -> None:
        """Starts nothing yet.

        Args:
            num_workers: how many processes.
            in_process: whether the caller's process does the work itself; None: if it would have one worker.
        """
        if not isinstance(num_workers, int) or num_workers < 1:
            raise ConfigError(f"a pool needs at least one worker, got {num_workers!r}")
        if in_process and num_workers > 1:
            raise ConfigError(f"one process is one worker, got {num_workers}")
        super().__init__(_Processes(num_workers))
        self._in_process = num_workers == 1 if in_process is None else in_process

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Iterable[Task],
        *,
        in_order: bool = True,
        supervision: Supervision = Supervision(),  # noqa: B008 - frozen
    ) -> Generator[Result, None, None]:
        """Yields `function(task)` for each task; see `Pool.map`.

        >>> with LocalPool() as pool:
        ...     list(pool.map(abs, [-2, 3]))
        [2, 3]
        """
        if self._in_process:
            return _map_here(function, tasks, supervision)
        return super().map(function, tasks, in_order=in_order, supervision=supervision)


def _map_here(
    function: Callable[[Task], Result], tasks: Iterable[Task], supervision: Supervision
) -> Generator[Result, None, None]:
    clock = SupervisionClock(supervision)
    for task in tasks:
        yield function(task)
        clock.tick()
        if supervision.is_interrupted():
            return


class _Parcel(NamedTuple):
    """A task as it is sent."""

    ticket: int
    flow: int
    payload: bytes


class _Worker:
    """A process, seen from outside."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # forking would copy the native module's threads half
        self.connection, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _single_threaded(), _deaf():
            self.process.start()
        theirs.close()
        self.is_ready = False
        self.parcel: _Parcel | None = None  # that it is at
        self.flows: set[int] = set()  # whose functions it has

    def describe_end(self) -> str:
        """Returns how the process ended, for the middle of a sentence."""
        self.process.join(SECONDS_TO_END)
        code = self.process.exitcode
        if code is not None and code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    def end(self) -> None:
        """Ends the process at once."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self.connection.close()


class _Processes:
    """A crew of processes, each with one task at a time. Those that die are replaced."""

    def __init__(self, num_workers: int) -> None:
        self.num_workers = num_workers
        self._workers: list[_Worker] = []
        self._waiting: collections.deque[_Parcel] = collections.deque()  # for a worker
        self._functions: dict[int, bytes] = {}
        self._num_false_starts = 0

    def begin(self, flow: int, function: Callable[[Any], Any]) -> None:
        """Makes a function known to workers that will need it."""
        self._functions[flow] = pickle.dumps(function)

    def end(self, flow: int) -> None:
        """Forgets a function, and tasks for it that nobody has begun."""
        del self._functions[flow]
        self._waiting = collections.deque(parcel for parcel in self._waiting if parcel.flow != flow)
        for worker in self._workers:
            if flow in worker.flows:
                worker.flows.discard(flow)
                _put(worker, ("forget", flow))

    def send(self, ticket: int, flow: int, task: Any) -> None:
        """Gives a task to the next worker that has none."""
        self._waiting.append(_Parcel(ticket, flow, pickle.dumps(task)))
        self._hand_out()

    def wait(self, seconds: float) -> list[Outcome]:
        """Returns what has ended, waiting so long for the first."""
        sources: dict[Any, _Worker] = {
            source: one for one in self._workers for source in (one.connection, one.process.sentinel)
        }
        outcomes: list[Outcome] = []
        try:
            heard = {id(sources[source]) for source in multiprocessing.connection.wait(list(sources), seconds)}
            for worker in [one for one in self._workers if id(one) in heard]:
                outcomes += self._hear(worker)
            self._hand_out()
        except BaseException:  # Ctrl-C amid a message: what follows in that pipe could not be read
            self.close()
            raise
        return outcomes

    def close(self) -> None:
        """Ends the processes at once."""
        self._waiting.clear()
        while self._workers:
            self._workers.pop().end()

    def _hand_out(self) -> None:
        """Gives tasks to workers that have none; there are new ones in place of those that died."""
        while self._waiting:
            worker = next((one for one in self._workers if one.parcel is None), None)
            if worker is None:
                if len(self._workers) == self.num_workers:
                    return
                worker = _Worker()
                self._workers.append(worker)
            parcel = worker.parcel = self._waiting.popleft()
            if parcel.flow not in worker.flows:
                worker.flows.add(parcel.flow)
                _put(worker, ("learn", parcel.flow, self._functions[parcel.flow]))
            _put(worker, ("do", *parcel))

    def _hear(self, worker: _Worker) -> list[Outcome]:
        """Returns what a worker has to say, its death included."""
        is_dead = not worker.process.is_alive()  # looked at first: what it said before is in the pipe by now
        outcomes: list[Outcome] = []
        try:
            while worker.connection.poll():
                outcomes += self._read(worker, worker.connection.recv_bytes())
        except (EOFError, OSError):
            is_dead = True
        return outcomes + self._bury(worker) if is_dead else outcomes

    def _read(self, worker: _Worker, message: bytes) -> list[Outcome]:
        content = pickle.loads(message)
        if content is None:
            worker.is_ready = True
            self._num_false_starts = 0
            return []
        ticket, is_done, result = content
        worker.parcel = None
        return [Outcome(ticket, OutcomeKind.DONE if is_done else OutcomeKind.FAILED, result)]

    def _bury(self, worker: _Worker) -> list[Outcome]:
        """Takes a worker out; what it was at has died with it, unless it had not begun."""
        reason = worker.describe_end()
        self._workers.remove(worker)
        worker.end()
        if worker.is_ready:
            return [Outcome(worker.parcel.ticket, OutcomeKind.DIED, reason)] if worker.parcel else []
        self._num_false_starts += 1
        if self._num_false_starts >= MOST_FALSE_STARTS:
            raise WorkerError(
                f"worker processes end before they begin, the last one {reason}: is memory short? (a program that "
                'uses them does its work below `if __name__ == "__main__":`)'
            )
        if worker.parcel is not None and worker.parcel.flow in self._functions:
            self._waiting.appendleft(worker.parcel)
        return []


def _put(worker: _Worker, message: tuple[Any, ...]) -> None:
    """Sends a worker a message."""
    with contextlib.suppress(OSError):  # it has died, which is noticed when it is listened to
        worker.connection.send_bytes(pickle.dumps(message))


@contextlib.contextmanager
def _single_threaded() -> Iterator[None]:
    """While entered, libraries of processes that are started will use one thread."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """While entered, processes that are started hear no signal that is not for them, not even as they begin."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    multiprocessing.resource_tracker.ensure_running()  # it comes with the first process, and lets signals in again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, DECIDED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection) -> None:
    """Works in a process of its own until the other end of a connection is closed."""
    for number in DECIDED:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # what has come since `_deaf` is dropped
        signal.pthread_sigmask(signal.SIG_UNBLOCK, DECIDED)
    inbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, inbox), daemon=True).start()
    connection.send_bytes(pickle.dumps(None))
    functions: dict[int, bytes | Callable[[Any], Any]] = {}
    while True:
        match inbox.get():
            case ("learn", flow, function):
                functions[flow] = function
            case ("forget", flow):
                functions.pop(flow, None)
            case ("do", ticket, flow, payload):
                connection.send_bytes(_work(functions, flow, ticket, payload))


def _receive(connection: Connection, inbox: queue.SimpleQueue[tuple[Any, ...]]) -> None:
    """Takes messages in, also amid a task: the other side never waits for this one, and its end is noticed."""
    try:
        while True:
            inbox.put(pickle.loads(connection.recv_bytes()))
    except BaseException:  # whoever wants the results is gone, or was interrupted amid a message
        os._exit(1)


def _work(functions: dict[int, Any], flow: int, ticket: int, payload: bytes) -> bytes:
    """Returns the message that answers a task."""
    try:
        if isinstance(functions[flow], bytes):
            functions[flow] = pickle.loads(functions[flow])
        return pickle.dumps((ticket, True, functions[flow](pickle.loads(payload))))
    except Exception as error:
        return pickle.dumps((ticket, False, make_sendable(error)))
