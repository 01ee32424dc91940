# SPDX-License-Identifier: Apache-2.0
"""Work spread over workers: the protocol that callers need, and the supervision that all pools share.

Workers may die (killed, out of memory): what they worked on is given to another, and a task that ends its worker again
and again is given up. Who the workers are is a `Crew`: processes of this machine (`core.local_pool`), or Ray's.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import itertools
import pickle
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Final, NamedTuple, Protocol, Self, TypeVar

from equipoise.core.errors import WorkerError
from equipoise.core.interruption import IsInterrupted, never

__all__ = [
    "Crew",
    "Outcome",
    "OutcomeKind",
    "Pool",
    "SupervisedPool",
    "Supervision",
    "SupervisionClock",
    "make_sendable",
]

Task = TypeVar("Task")
Result = TypeVar("Result")

MOST_DEATHS: Final = 3  # of workers, by one task
SECONDS_BETWEEN_LOOKS: Final = 0.2  # at whether the work is still wanted
SHOWN_CHARACTERS: Final = 80  # of a task, in messages


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Supervision:
    """What happens around the tasks of one `Pool.map`."""

    is_interrupted: IsInterrupted = never  # asked often; once true, what is done is handed over and the rest dropped
    snapshot: Callable[[], None] | None = None  # called now and then, between results and while there are none
    snapshot_seconds: float = 30.0  # between two calls; a worker's death then costs less than a minute
    on_lost: Callable[[Any, str], None] | None = None  # told a task that was given up, and why; None: `WorkerError`
    num_ahead: int = 2  # tasks a worker that are handed out before their results are asked for


class Pool(Protocol):
    """Workers that turn tasks into results.

    >>> from equipoise.core import LocalPool
    >>> def add_up(pool: Pool) -> int:
    ...     return sum(pool.map(abs, [-2, 3]))
    >>> add_up(LocalPool(1))
    5
    """

    @property
    def num_workers(self) -> int:
        """Returns how many tasks are worked on at once."""
        ...

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Iterable[Task],
        *,
        in_order: bool = True,
        supervision: Supervision = ...,
    ) -> Generator[Result, None, None]:
        """Yields `function(task)` for each task, of which there may be no end.

        Results that come in the order of the tasks are the same from any pool, and so is what is summed up in that
        order. Tasks are taken a few ahead of the results that are asked for; closing the iterator drops those under
        way. Functions and tasks must be such as can be sent to another process. What a function raises is raised.

        Args:
            function: what workers do.
            tasks: what they do it to.
            in_order: whether results come in the order of their tasks, else as they are done.
            supervision: what happens around it.
        """
        ...


class OutcomeKind(enum.Enum):
    """How a task ended."""

    DONE = enum.auto()  # with a result
    FAILED = enum.auto()  # with an exception
    DIED = enum.auto()  # with its worker


class Outcome(NamedTuple):
    """The end of a task."""

    ticket: int
    kind: OutcomeKind
    content: Any  # the result, the exception, or a few words on how the worker ended


class Crew(Protocol):
    """Workers as they are: they take tasks, and some never come back."""

    @property
    def num_workers(self) -> int:
        """Returns how many tasks are worked on at once."""
        ...

    def begin(self, flow: int, function: Callable[[Any], Any]) -> None:
        """Makes a function known, under a number that tasks name."""
        ...

    def end(self, flow: int) -> None:
        """Forgets a function."""
        ...

    def send(self, ticket: int, flow: int, task: Any) -> None:
        """Gives a task to some worker."""
        ...

    def wait(self, seconds: float) -> list[Outcome]:
        """Returns what has ended, waiting so long for the first."""
        ...

    def close(self) -> None:
        """Ends the workers at once; a later `send` starts new ones."""
        ...


class SupervisionClock:
    """Knows when a supervision's snapshot is due."""

    def __init__(self, supervision: Supervision) -> None:
        self._supervision = supervision
        self._last = time.monotonic()

    def tick(self) -> None:
        """Calls the snapshot if it is time."""
        snapshot = self._supervision.snapshot
        if snapshot is not None and time.monotonic() - self._last >= self._supervision.snapshot_seconds:
            snapshot()
            self._last = time.monotonic()


class _Sent(NamedTuple):
    """A task under way."""

    place: int  # among the tasks of its flow
    task: Any
    num_deaths: int


class _Flow:
    """The tasks of one `map`: those under way, and results that nobody has asked for yet."""

    def __init__(self, number: int, *, in_order: bool, supervision: Supervision) -> None:
        self.number = number
        self.in_order = in_order
        self.supervision = supervision
        self.under_way: dict[int, _Sent] = {}  # by ticket
        self.num_tasks = 0
        self._next_place = 0
        self._by_place: dict[int, Outcome | None] = {}  # None: given up
        self._as_done: collections.deque[Outcome] = collections.deque()

    def has_room(self, num_workers: int) -> bool:
        """Returns whether another task may be handed out."""
        most = max(self.supervision.num_ahead * num_workers, 1)
        # in order, a slow task holds up results that are done: workers go on, but not for ever
        num_held = len(self._by_place) + len(self._as_done)
        return len(self.under_way) < most and len(self.under_way) + num_held < 2 * most

    def keep(self, place: int, outcome: Outcome | None) -> None:
        """Keeps an outcome until it is asked for."""
        if self.in_order:
            self._by_place[place] = outcome
        elif outcome is not None:
            self._as_done.append(outcome)

    def take(self) -> Outcome | None:
        """Returns the next outcome that may be handed over, None if there is none yet."""
        if not self.in_order:
            return self._as_done.popleft() if self._as_done else None
        while self._next_place in self._by_place:
            outcome = self._by_place.pop(self._next_place)
            self._next_place += 1
            if outcome is not None:
                return outcome
        return None


class SupervisedPool:
    """A pool over a crew. One thread asks for results; several `map`s may be under way at once."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._flows: dict[int, _Flow] = {}  # by ticket; what a dropped flow had under way is not here
        self._flow_numbers = itertools.count()
        self._tickets = itertools.count()

    @property
    def num_workers(self) -> int:
        """Returns how many tasks are worked on at once."""
        return self._crew.num_workers

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Iterable[Task],
        *,
        in_order: bool = True,
        supervision: Supervision = Supervision(),  # noqa: B008 - frozen
    ) -> Generator[Result, None, None]:
        """Yields `function(task)` for each task; see `Pool.map`."""
        flow = _Flow(next(self._flow_numbers), in_order=in_order, supervision=supervision)
        self._crew.begin(flow.number, function)
        try:
            for outcome in self._follow(flow, iter(tasks)):
                if outcome.kind is OutcomeKind.FAILED:
                    raise outcome.content
                yield outcome.content
        finally:
            for ticket in flow.under_way:
                del self._flows[ticket]
            self._crew.end(flow.number)

    def close(self) -> None:
        """Ends the workers; what they are at is dropped."""
        self._crew.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _follow(self, flow: _Flow, tasks: Iterator[Any]) -> Iterator[Outcome]:
        """Yields outcomes as they may be handed over, while workers are kept busy."""
        clock = SupervisionClock(flow.supervision)
        is_more, is_wanted = True, True
        while True:
            if is_wanted and flow.supervision.is_interrupted():
                is_wanted = is_more = False
                self._note(self._crew.wait(0.0))
            while is_more and flow.has_room(self.num_workers):
                is_more = self._hand_out(flow, tasks)
            clock.tick()
            outcome = flow.take()
            if outcome is not None:
                yield outcome
            elif not is_wanted or not flow.under_way:
                return
            else:
                self._note(self._crew.wait(SECONDS_BETWEEN_LOOKS))

    def _hand_out(self, flow: _Flow, tasks: Iterator[Any]) -> bool:
        """Gives the next task to a worker; returns whether there was one."""
        for task in tasks:
            self._send(flow, _Sent(flow.num_tasks, task, 0))
            flow.num_tasks += 1
            return True
        return False

    def _send(self, flow: _Flow, sent: _Sent) -> None:
        ticket = next(self._tickets)
        self._crew.send(ticket, flow.number, sent.task)
        flow.under_way[ticket] = sent
        self._flows[ticket] = flow

    def _note(self, outcomes: list[Outcome]) -> None:
        """Sorts outcomes by the flows that wait for them."""
        for outcome in outcomes:
            flow = self._flows.pop(outcome.ticket, None)
            if flow is None:  # dropped while it was under way
                continue
            sent = flow.under_way.pop(outcome.ticket)
            if outcome.kind is not OutcomeKind.DIED:
                flow.keep(sent.place, outcome)
            elif sent.num_deaths + 1 < MOST_DEATHS:
                self._send(flow, sent._replace(num_deaths=sent.num_deaths + 1))
            else:
                flow.keep(sent.place, _give_up(flow.supervision, sent.task, outcome))


def _give_up(supervision: Supervision, task: Any, outcome: Outcome) -> Outcome | None:
    """Returns the failure that stands for a task's result, None if somebody was told of it instead."""
    text = repr(task)
    shown = text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
    reason = (
        f"task {shown} ended its worker {MOST_DEATHS} times and was given up; the last one {outcome.content}: "
        "is memory short?"
    )
    if supervision.on_lost is not None:
        supervision.on_lost(task, reason)
        return None
    return outcome._replace(kind=OutcomeKind.FAILED, content=WorkerError(reason))


def make_sendable(error: Exception) -> Exception:
    """Returns an exception that can go to another process with its trace as a note: itself, or one with its text."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # those whose constructors take something else than their text
        return WorkerError(f"a worker failed: {type(error).__name__}: {error}")
    return error
