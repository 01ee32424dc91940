# SPDX-License-Identifier: Apache-2.0
"""The pool of a Ray cluster's workers: the supervision is every pool's, the processes are Ray's own."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from equipoise.core.errors import ConfigError
from equipoise.core.files import describe_os_error
from equipoise.core.pool import Outcome, OutcomeKind, SupervisedPool, make_sendable
from equipoise.distributed.ray_extra import ray

__all__ = ["LOCAL", "RayPool"]

LOCAL: Final = "local"  # the address of a Ray that is started here and ends with the pool
SECONDS_TO_ANSWER: Final = 10.0  # of a cluster's head


class RayPool(SupervisedPool):
    """Workers of a Ray cluster, a task for each of its processors. Entered, it leaves the cluster at the end."""

    def __init__(self, address: str, *, num_workers: int | None = None) -> None:
        """Joins a cluster.

        Args:
            address: `HOST:PORT` of its head, `auto` for the one on this machine, `local` for a new one.
            num_workers: tasks at once; None: the processors that the cluster has at the time.
        """
        if num_workers is not None and num_workers < 1:
            raise ConfigError(f"a pool needs at least one worker, got {num_workers}")
        super().__init__(_RayTasks(num_workers))
        self._is_joined = not ray.is_initialized()
        if self._is_joined:
            _join(address, num_workers)

    def __exit__(self, *error: object) -> None:
        self.close()
        if self._is_joined and ray.is_initialized():
            ray.shutdown()


def _join(address: str, num_workers: int | None) -> None:
    """Connects this process to a cluster; raises `ConfigError` if there is none."""
    own = {"num_cpus": num_workers, "include_dashboard": False} if address == LOCAL else {}
    try:
        _knock(address)
        with _own_signals():
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **own)
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(f"no Ray cluster at {address!r}: {_find_reason(error)}") from None


def _find_reason(error: Exception) -> str:
    """Returns why a cluster could not be joined, in a line."""
    if "InvalidAuthToken" in str(error.__cause__):
        return "it wants a token; with RAY_AUTH_MODE=token Ray sends yours"
    own_words = describe_os_error(error) if isinstance(error, OSError) else str(error)
    return (own_words.splitlines() or [type(error).__name__])[0]


def _knock(address: str) -> None:
    """Raises `OSError` if nobody listens at an address: Ray itself would try for minutes, and end the process."""
    host, separator, port = address.removeprefix("ray://").rpartition(":")
    if separator and port.isdecimal():
        socket.create_connection((host, int(port)), SECONDS_TO_ANSWER).close()


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Keeps SIGTERM's handler, which Ray replaces by one that leaves at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _RayTasks:
    """A crew of Ray's workers. Ray starts and replaces them; what happens to a task is decided here, so no retries."""

    def __init__(self, num_workers: int | None) -> None:
        self._num_workers = num_workers
        self._functions: dict[int, Any] = {}  # references, by flow: sent to a machine once
        self._tickets: dict[Any, int] = {}  # by reference to the result
        self._call = ray.remote(_call).options(num_cpus=1, max_retries=0)

    @property
    def num_workers(self) -> int:
        """Returns how many tasks are worked on at once; machines may join and leave."""
        return self._num_workers or max(int(ray.cluster_resources().get("CPU", 1)), 1)

    def begin(self, flow: int, function: Callable[[Any], Any]) -> None:
        """Makes a function known to the cluster."""
        self._functions[flow] = ray.put(function)

    def end(self, flow: int) -> None:
        """Forgets a function."""
        del self._functions[flow]

    def send(self, ticket: int, flow: int, task: Any) -> None:
        """Gives a task to some worker."""
        self._tickets[self._call.remote(self._functions[flow], task)] = ticket

    def wait(self, seconds: float) -> list[Outcome]:
        """Returns what has ended, waiting so long for the first."""
        if not self._tickets:
            return []
        ended, _ = ray.wait(list(self._tickets), timeout=seconds)
        if ended:  # others may have ended with it
            ended, _ = ray.wait(list(self._tickets), num_returns=len(self._tickets), timeout=0)
        return [_read(self._tickets.pop(reference), reference) for reference in ended]

    def close(self) -> None:
        """Ends what is under way."""
        while self._tickets:
            reference, _ = self._tickets.popitem()
            ray.cancel(reference, force=True)


def _call(function: Callable[[Any], Any], task: Any) -> Any:
    """Runs in a worker."""
    try:
        return function(task)
    except Exception as error:
        raise make_sendable(error) from None


def _read(ticket: int, reference: Any) -> Outcome:
    try:
        return Outcome(ticket, OutcomeKind.DONE, ray.get(reference))
    except ray.exceptions.RayTaskError as error:
        return Outcome(ticket, OutcomeKind.FAILED, error.cause if isinstance(error.cause, Exception) else error)
    except ray.exceptions.RayError as error:  # a worker that was killed, a machine that left, memory that ran out
        return Outcome(ticket, OutcomeKind.DIED, f"was lost ({type(error).__name__})")
