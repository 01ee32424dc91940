# SPDX-License-Identifier: Apache-2.0
"""What happened, numbered: a log on disk that pages follow, from wherever they left off."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from equipoise.core.records import make_finite

__all__ = ["EventLog"]

MOST_KEPT: Final = 5000  # events that somebody who was away can still have

Event = dict[str, Any]


class EventLog:
    """Events in the order in which they happened; those of before a restart go on counting."""

    def __init__(self, path: Path) -> None:
        """Reads what is there; a line that was being written when the server was killed is dropped."""
        self.path = path
        self._lock = threading.Lock()
        self._kept: deque[Event] = deque(_read(path), maxlen=MOST_KEPT)
        self._last = self._kept[-1]["seq"] if self._kept else 0
        self._num_written = 0
        self._is_torn = False  # the file lacks events, or ends within one
        self._listeners: list[Callable[[], None]] = []
        self._rewrite()

    @property
    def last(self) -> int:
        """Returns the number of the newest event."""
        return self._last

    def add(self, kind: str, **fields: Any) -> int:
        """Numbers and keeps an event, and tells whoever listens."""
        with self._lock:
            self._last += 1
            event = make_finite({"seq": self._last, "type": kind, **fields})
            self._kept.append(event)
            try:
                self._write(json.dumps(event, allow_nan=False).encode() + b"\n")
            except OSError:  # a full disk: pages hear of it all the same, and the file is written again when it can be
                self._is_torn = True
            listeners = list(self._listeners)
        for tell in listeners:
            tell()
        return self._last

    def after(self, seq: int) -> tuple[list[Event], bool]:
        """Returns the events above a number, and whether older ones among them are gone."""
        with self._lock:
            found = [event for event in self._kept if event["seq"] > seq]
            oldest = self._kept[0]["seq"] if self._kept else self._last + 1
            return found, seq > self._last or seq + 1 < oldest

    @contextlib.contextmanager
    def listening(self, tell: Callable[[], None]) -> Iterator[None]:
        """While entered, a function is called after each event, from whatever thread."""
        with self._lock:
            self._listeners.append(tell)
        try:
            yield
        finally:
            with self._lock:
                self._listeners.remove(tell)

    def _write(self, line: bytes) -> None:
        """Adds a line to the file, which is written anew where it is torn or long."""
        if self._is_torn or self._num_written >= 2 * MOST_KEPT:
            self._rewrite()
            return
        with open(self.path, "ab") as file:
            file.write(line)
        self._num_written += 1

    def _rewrite(self) -> None:
        """Writes the file again with what is kept alone."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_bytes(b"".join(json.dumps(event).encode() + b"\n" for event in self._kept))
        os.replace(part, self.path)
        self._num_written, self._is_torn = 0, False


def _read(path: Path) -> Iterator[Event]:
    """Yields the events of a file up to the first line that is none."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return
    for line in lines:
        try:
            event = json.loads(line)
            if not isinstance(event["seq"], int):
                return
        except (ValueError, KeyError, TypeError):
            return
        yield event
