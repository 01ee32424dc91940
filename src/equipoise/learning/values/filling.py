# SPDX-License-Identifier: Apache-2.0
"""Folders of situations, filled by a pool: on all cores, by any number of machines at once, interrupted and resumed.

Workers make shards, this process writes them as they come. What is lost with a killed worker, or with this process, is
the shards under way: sources make theirs small enough to take less than a minute.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

from equipoise.core.errors import WorkerError
from equipoise.core.interruption import IsInterrupted, never
from equipoise.core.pool import Pool, Supervision
from equipoise.learning.values.shards import Arrays, ShardFolder

__all__ = ["FillingProgress", "Source", "generate"]

SECONDS_BETWEEN_LOOKS: Final = 0.5  # at shards that others are making
MOST_LOST: Final = 3  # shards that workers die of before it is not the shards


class Source(Protocol):
    """Where the shards of a folder come from."""

    @property
    def per_shard(self) -> int:
        """Returns the situations of a shard."""
        ...

    @property
    def config(self) -> dict[str, Any]:
        """Returns what shards are made from, as JSON values."""
        ...

    def make(self, number: int) -> Arrays:
        """Returns the arrays of a shard."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FillingProgress:
    """How far a folder is filled."""

    shards: int  # in the folder, whoever made them
    situations: int  # that were made here
    seconds: float  # since it began
    situations_per_second: float  # made here
    seconds_left: float | None  # until enough are there or time is up, None if neither can be foreseen


@dataclasses.dataclass(frozen=True, slots=True)
class _Making:
    """What a worker does: a shard from its number."""

    source: Source

    def __call__(self, number: int) -> tuple[int, Arrays]:
        return number, self.source.make(number)


def generate(
    folder: ShardFolder,
    source: Source,
    pool: Pool,
    *,
    until: int | None = None,
    deadline: float = math.inf,
    on_shard: Callable[[FillingProgress], None] | None = None,
    is_interrupted: IsInterrupted = never,
) -> FillingProgress:
    """Fills a folder, and returns how far it came.

    Claims are given back whatever happens. A shard whose workers die again and again is left out, which is an error
    once the others are done; so is a disk that is full, at once.

    Args:
        folder: where shards go; others may fill it at the same time.
        source: what they are made from.
        pool: who makes them.
        until: shards 0 to this one are wanted, and waited for if others make them; None: there is no end.
        deadline: on the monotonic clock, after which no shard is begun; those under way are waited for.
        on_shard: called for every shard that was made here, once it is on disk.
        is_interrupted: asked several times a second; shards under way are dropped.
    """
    filling = _Filling(folder, source, until, deadline)
    supervision = Supervision(
        is_interrupted=is_interrupted, snapshot=folder.refresh, on_lost=filling.note_lost, num_ahead=1
    )
    try:
        while filling.is_wanted() and not is_interrupted():
            num_made = filling.num_made
            for number, arrays in pool.map(
                _Making(source), filling.claim_shards(), in_order=False, supervision=supervision
            ):
                folder.write(number, arrays)
                folder.release(number)
                filling.num_made += 1
                if on_shard is not None:
                    on_shard(filling.progress())
            if filling.num_made == num_made and filling.is_wanted():  # all that is left is claimed by others
                time.sleep(SECONDS_BETWEEN_LOOKS)
    finally:
        folder.release()
    if filling.lost:
        raise WorkerError(f"shards {sorted(filling.lost)} are missing: {filling.reason}")
    return filling.progress()


class _Filling:
    """One call of `generate`: what is wanted, and what was made."""

    def __init__(self, folder: ShardFolder, source: Source, until: int | None, deadline: float) -> None:
        self.folder, self.source = folder, source
        self.until, self.deadline = until, deadline
        self.num_made = 0
        self.lost: set[int] = set()
        self.reason = ""
        self._begin = time.monotonic()
        self._num_before = len(folder.numbers())

    def is_wanted(self) -> bool:
        """Returns whether anything is left to do."""
        if time.monotonic() >= self.deadline:
            return False
        return self.until is None or bool(set(range(self.until)) - set(self.folder.numbers()) - self.lost)

    def claim_shards(self) -> Iterator[int]:
        """Yields shards that nobody else makes, as long as there is time."""
        there = set(self.folder.numbers()) | self.lost
        for number in itertools.count() if self.until is None else range(self.until):
            if time.monotonic() >= self.deadline:
                return
            if number not in there and self.folder.claim(number):
                yield number

    def note_lost(self, number: Any, reason: str) -> None:
        """Hears of a shard that was given up."""
        self.lost.add(number)
        self.reason = reason
        self.folder.release(number)
        if len(self.lost) >= MOST_LOST:
            raise WorkerError(f"shards {sorted(self.lost)} were given up: {reason}")

    def progress(self) -> FillingProgress:
        """Returns how far it is."""
        seconds = time.monotonic() - self._begin
        there = len(self.folder.numbers())
        pace = (there - self._num_before) / seconds if seconds > 0 else 0.0  # of all that fill the folder
        left = [self.deadline - time.monotonic()] if math.isfinite(self.deadline) else []
        if self.until is not None and pace > 0:
            left.append((self.until - there) / pace)
        situations = self.num_made * self.source.per_shard
        return FillingProgress(
            shards=there,
            situations=situations,
            seconds=seconds,
            situations_per_second=situations / seconds if seconds > 0 else 0.0,
            seconds_left=max(min(left), 0.0) if left else None,
        )
