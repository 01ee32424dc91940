# SPDX-License-Identifier: Apache-2.0
"""Curves of a training for TensorBoard, where it is installed: the numbers of a run's events, whatever trains.

The folder of curves follows from `events.jsonl` alone: it is made anew whenever a run goes on, so that curves are whole
even if the package came later.
"""

from __future__ import annotations

import contextlib
import importlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.files import describe_os_error
from equipoise.core.runs import RunFolder

__all__ = ["BOARD_FOLDER", "ScalarBoard", "find_writer", "open_board"]

BOARD_FOLDER: Final = "tensorboard"  # in that of the run
WRITERS: Final = ("torch.utils.tensorboard", "tensorboardX")  # modules with a SummaryWriter, the first one found
STEPS: Final = ("step", "shards")  # fields that count an event's way
UNSHOWN: Final = frozenset({"number", "time", "event", *STEPS})
READ_SECONDS: Final = 5.0  # between two looks at the events


class ScalarBoard:
    """Writes the numbers of a run's events as curves; texts among their fields say which curve it is."""

    def __init__(self, folder: RunFolder, writer: Any) -> None:
        """Begins with the first event.

        Args:
            folder: of the run.
            writer: a `SummaryWriter`.
        """
        self.folder, self.writer = folder, writer
        self._last, self._looked = 0, float("-inf")

    def follow(self, *, is_now: bool = False) -> None:
        """Writes the events that have come; reads them only now and then unless it must be now."""
        if not is_now and time.monotonic() - self._looked < READ_SECONDS:
            return
        for event in self.folder.events(after=self._last):
            self._last = event["number"]
            step = next((event[name] for name in STEPS if name in event), event["number"])
            for tag, value in name_scalars(event):
                self.writer.add_scalar(tag, value, step, walltime=event["time"])
        self.writer.flush()
        self._looked = time.monotonic()


def name_scalars(event: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yields the numbers of an event under their names, its texts in front.

    >>> list(name_scalars({"number": 7, "event": "measured", "network": "river", "step": 100, "rms": 6.5}))
    [('river/rms', 6.5)]
    """
    shown = {name: value for name, value in event.items() if name not in UNSHOWN}
    yield from _name_numbers("/".join(value for value in shown.values() if isinstance(value, str)), shown)


def _name_numbers(prefix: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in fields.items():
        tag = f"{prefix}/{name}" if prefix else name
        if isinstance(value, Mapping):
            yield from _name_numbers(tag, value)
        elif isinstance(value, int | float):
            yield tag, float(value)


def find_writer(*, is_wanted: bool | None = None) -> Any:
    """Returns a class that writes curves, None if there shall be none.

    Args:
        is_wanted: None: if a package has one; True: raises `ConfigError` if none has; False: no curves.
    """
    if is_wanted is False:
        return None
    for name in WRITERS:
        with contextlib.suppress(ImportError):
            return importlib.import_module(name).SummaryWriter
    if is_wanted:
        raise ConfigError("curves need tensorboard or tensorboardX, neither is installed: pip install tensorboard")
    return None


@contextlib.contextmanager
def open_board(folder: RunFolder, writer: Any) -> Iterator[ScalarBoard | None]:
    """Yields what writes the curves of a run into its folder, None without a writer.

    Args:
        folder: of the run, whose events others write.
        writer: found by `find_writer`.
    """
    if writer is None:
        yield None
        return
    path = folder.path / BOARD_FOLDER
    _empty(path)
    with contextlib.closing(writer(str(path))) as opened:
        board = ScalarBoard(folder, opened)
        board.follow(is_now=True)
        try:
            yield board
        finally:
            board.follow(is_now=True)


def _empty(path: Path) -> None:
    """Removes the curves that were written before."""
    try:
        for old in path.glob("events.out.tfevents.*"):
            old.unlink()
    except OSError as error:
        raise CheckpointError(f"cannot clear {path}: {describe_os_error(error)}") from None
