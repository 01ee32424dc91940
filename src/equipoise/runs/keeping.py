# SPDX-License-Identifier: Apache-2.0
"""Saves of a run on the way and at its end: now and then, and never for more than a small share of the time."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any, Final

from equipoise.core.checkpoint import count_payload_bytes
from equipoise.core.errors import CheckpointError
from equipoise.core.files import StrPath, check_writable, format_bytes
from equipoise.core.reporting import Reporter
from equipoise.core.runs import RunFolder
from equipoise.runs.run import Run

__all__ = ["Keeper"]

SAVE_EVERY_SECONDS: Final = 10.0
SAVE_SHARE: Final = 0.05  # of the time that saving may take
WORTH_SAYING_BYTES: Final = 200_000_000  # below, a file is written before anybody wonders
HEADER_BYTES: Final = 100_000  # of a file: the configuration and some hundred records of progress


class Keeper:
    """Keeps a run in a file, if there is one to keep it in."""

    def __init__(self, run: Run, path: StrPath | None, reporter: Reporter, folder: RunFolder | None = None) -> None:
        """Raises `CheckpointError` unless the file can be written and the disk has room for it.

        Args:
            run: what is kept.
            path: where; None: nowhere.
            reporter: is warned when a save on the way fails.
            folder: whose events tell how the run goes on; the caller is its writer.
        """
        self.run, self.path, self.reporter, self.folder = run, path, reporter, folder
        self._num_recorded = len(run.records)
        self._next_save = time.monotonic() + SAVE_EVERY_SECONDS
        self._has_warned = False
        self._num_bytes = 0  # of the file
        if path is not None:
            self._num_bytes = HEADER_BYTES + count_payload_bytes(run.file_content())
            check_writable(path, num_bytes=self._num_bytes)
        self._record("begin", iteration=run.solver.iteration, config=dataclasses.asdict(run.config))

    def _record(self, event: str, **fields: Any) -> None:
        if self.folder is not None:
            self.folder.record(event, **fields)

    def save_now_and_then(self) -> None:
        """Records what is new and saves if it is time; a failure is said once: the run may still end well."""
        for record in self.run.records[self._num_recorded :]:
            self._record("progress", **dataclasses.asdict(record))
        self._num_recorded = len(self.run.records)
        if self.path is None or time.monotonic() < self._next_save:
            return
        began = time.monotonic()
        try:
            self._save(self.path)
            self._record("checkpoint", iteration=self.run.records[-1].iteration, file=Path(self.path).name)
        except CheckpointError as error:
            if not self._has_warned:
                self.reporter.warn(f"not saved, the run goes on: {error}")
            self._has_warned = True
        spent = time.monotonic() - began
        self._next_save = time.monotonic() + max(SAVE_EVERY_SECONDS, spent / SAVE_SHARE)

    def _save(self, path: StrPath) -> None:
        """Saves, and says so where it takes long enough to be noticed."""
        if self._num_bytes < WORTH_SAYING_BYTES:
            self.run.save(path)
            return
        with self.reporter.stage(f"saving {format_bytes(self._num_bytes)} to {path}"):
            self.run.save(path)

    def save_at_the_end(self) -> CheckpointError | None:
        """Saves, and returns why that failed: a disk without room is no reason to keep the result to ourselves."""
        try:
            if self.path is not None:
                self._save(self.path)
            last = dataclasses.asdict(self.run.records[-1])
            self._record("end", stopped_by=str(self.run.stopped_by), **last)
        except CheckpointError as error:
            return error
        return None
