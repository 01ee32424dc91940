# SPDX-License-Identifier: Apache-2.0
"""A run as a folder: what was asked for, numbered events, files; of solves, matches and studies alike.

`config.json` is written once, whole. `events.jsonl` only grows, a line an event: a process that is killed leaves at
most one torn line, which readers ignore and the next writer cuts off, so that numbers go on without a gap. Others may
read while one process writes. `result.eq` is checkpoint and result in one, and opens without the folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.files import StrPath, describe_os_error, lock, write_atomically
from equipoise.core.provenance import find_commit, version
from equipoise.core.records import make_finite

__all__ = ["RunFolder"]

CONFIG: Final = "config.json"
EVENTS: Final = "events.jsonl"
RESULT: Final = "result.eq"


class RunFolder:
    """The folder of one run.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = RunFolder.create(f"{folder}/first", "solve", {"game": "kuhn"})
    ...     with run.writing():
    ...         _ = run.record("begin", game="kuhn")
    ...     print([event["event"] for event in run.events()])
    ['begin']
    """

    def __init__(self, path: StrPath) -> None:
        """Opens a folder that `create` made; raises `CheckpointError` for anything else."""
        self.path = Path(path)
        self._next_number: int | None = None  # of the event to be written; None: nothing was written here yet
        try:
            content = json.loads((self.path / CONFIG).read_bytes())
        except FileNotFoundError:
            raise CheckpointError(f"{path} holds no run: it has no {CONFIG}") from None
        except OSError as error:
            raise CheckpointError(f"cannot read {self.path / CONFIG}: {describe_os_error(error)}") from None
        except ValueError:
            content = None
        if not isinstance(content, dict) or not isinstance(content.get("config"), dict) or "kind" not in content:
            raise CheckpointError(f"{self.path / CONFIG} does not describe a run")
        self.kind = str(content["kind"])  # solve, match, study
        self.config: dict[str, Any] = content["config"]  # what was asked for

    def __repr__(self) -> str:
        return f"<RunFolder {self.path}>"

    @classmethod
    def create(cls, path: StrPath, kind: str, config: Mapping[str, Any], *, is_overwritten: bool = False) -> RunFolder:
        """Returns a new folder with a configuration; one that holds a run is refused, or emptied of it if asked to."""
        folder = Path(path)
        if cls.is_run(folder):
            if not is_overwritten:
                raise ConfigError(f"{path} holds a run: give `resume` to go on with it, `overwrite` to replace it")
            for name in (EVENTS, RESULT, CONFIG):
                (folder / name).unlink(missing_ok=True)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(f"cannot make the folder {path}: {describe_os_error(error)}") from None
        described = {"kind": kind, "version": version(), "commit": find_commit(), "config": make_finite(dict(config))}
        write_atomically(folder / CONFIG, lambda file: _write_text(file, json.dumps(described, indent=2) + "\n"))
        return cls(folder)

    @classmethod
    def open_or_create(
        cls, path: StrPath, kind: str, config: Mapping[str, Any], *, is_resumed: bool, is_overwritten: bool
    ) -> RunFolder:
        """Returns the folder of a run to go on with, if that is asked for and there is one, or a new one."""
        if is_resumed and is_overwritten:
            raise ConfigError("`resume` goes on with a run and `overwrite` replaces it: give one of them")
        if not (is_resumed and cls.is_run(path)):
            return cls.create(path, kind, config, is_overwritten=is_overwritten)
        folder = cls(path)
        folder.check_kind(kind)
        return folder

    @staticmethod
    def is_run(path: StrPath) -> bool:
        """Returns whether there is a run in a folder."""
        return (Path(path) / CONFIG).exists()

    @property
    def result(self) -> Path:
        """Returns where the result is, or will be."""
        return self.path / RESULT

    def check_same(
        self,
        fields: Mapping[str, Any],
        *,
        free: frozenset[str] = frozenset(),
        began: Mapping[str, Any] | None = None,
    ) -> None:
        """Raises `ConfigError` unless a training that goes on has the game and the settings that it began with.

        Args:
            fields: the game, and settings by name, as they are now.
            free: names of those that may differ.
            began: the settings that it began with, with those that are newer than it; None: as its folder says.
        """
        before = {"game": self.config.get("game"), **_flatten(began or self.config.get("settings", {}))}
        for name, value in _flatten(fields).items():
            if name not in free and before.get(name) != value:
                raise ConfigError(
                    f"{self.path} was begun with {name} {before.get(name)}, now it is {value}: give the same options, "
                    "or `overwrite` to begin anew"
                )

    def check_kind(self, kind: str) -> None:
        """Raises `ConfigError` unless the run is of a kind."""
        if self.kind != kind:
            raise ConfigError(f"{self.path} holds a {self.kind}, expected a {kind}")

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """While entered, no other process writes events here; raises `CheckpointError` if one does."""
        with lock(self.path / EVENTS):
            self._next_number = self._find_end() + 1
            try:
                yield
            finally:
                self._next_number = None

    def record(self, event: str, **fields: Any) -> int:
        """Appends an event with the time, and returns its number; for who is `writing`."""
        assert self._next_number is not None, "events are recorded by who is writing"
        number = self._next_number
        content = make_finite({"number": number, "time": time.time(), "event": event, **fields})
        line = json.dumps(content, allow_nan=False).encode() + b"\n"
        try:
            with open(self.path / EVENTS, "ab", buffering=0) as file:
                file.write(line)
        except OSError as error:
            raise CheckpointError(f"cannot write {self.path / EVENTS}: {describe_os_error(error)}") from error
        self._next_number += 1
        return number

    def events(self, *, after: int = 0) -> list[dict[str, Any]]:
        """Returns the events with numbers above one, oldest first; a line that is being written is not there yet."""
        found: list[dict[str, Any]] = []
        for place, line in enumerate(self._lines(), start=1):
            try:
                event = json.loads(line)
                is_next = event["number"] == place
            except (ValueError, KeyError, TypeError):
                is_next = False
            if not is_next:
                raise CheckpointError(f"{self.path / EVENTS} is damaged: line {place} is not event {place}")
            if place > after:
                found.append(event)
        return found

    def _lines(self) -> list[bytes]:
        """Returns the whole lines; what stands behind the last line break is torn."""
        try:
            return (self.path / EVENTS).read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise CheckpointError(f"cannot read {self.path / EVENTS}: {describe_os_error(error)}") from None

    def _find_end(self) -> int:
        """Cuts a torn line off and returns the number of the last event."""
        lines = self._lines()
        with contextlib.suppress(FileNotFoundError):
            os.truncate(self.path / EVENTS, sum(len(line) + 1 for line in lines))
        return len(self.events())


def _write_text(file: BinaryIO, text: str) -> None:
    file.write(text.encode())


def _flatten(fields: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        flat |= _flatten(value, f"{name}.") if isinstance(value, Mapping) else {prefix + name: value}
    return flat
