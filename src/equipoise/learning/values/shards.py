# SPDX-License-Identifier: Apache-2.0
"""Solved situations in files, some hundred to a file: what generators write and trainers read.

A shard is made from its configuration and its number alone, so that any number of machines can fill one folder
(`filling`): who begins a shard claims its number in a hidden file, and a claim is taken over when its process has ended
or has not been heard of for minutes. Should two make the same shard after all, both write the same.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.core.checkpoint import Kind, load, save
from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.files import describe_os_error

__all__ = ["Shard", "ShardFolder"]

NAME: Final = re.compile(r"(?P<number>[0-9]{6})\.eq")
OLD_CLAIM: Final = 300.0  # seconds without a sign of life of whoever claimed a shard

Arrays = dict[str, npt.NDArray[Any]]


class Shard(NamedTuple):
    """The content of a file."""

    number: int
    config: dict[str, Any]
    arrays: Arrays


class ShardFolder:
    """A folder of shards of one configuration."""

    def __init__(self, path: Path, config: dict[str, Any]) -> None:
        """Makes the folder if need be; raises `ConfigError` if it has shards of another configuration."""
        self.path, self.config = path, config
        self._claimed: set[int] = set()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(f"cannot make the folder {path}: {describe_os_error(error)}") from None
        numbers = self.numbers()
        if numbers:
            known = self.read(numbers[0]).config
            differing = [name for name in {**known, **config} if known.get(name) != config.get(name)]
            if differing:
                name = sorted(differing)[0]
                raise ConfigError(
                    f"{path} has situations of another kind: {name.replace('_', ' ')} is {known.get(name)!r} there and "
                    f"{config.get(name)!r} here; give another folder"
                )

    def numbers(self) -> list[int]:
        """Returns the numbers of the shards that are there, ascending."""
        found = (NAME.fullmatch(entry.name) for entry in self.path.iterdir())
        return sorted(int(match["number"]) for match in found if match)

    def read(self, number: int) -> Shard:
        """Returns a shard; raises `CheckpointError` if it is missing or damaged."""
        content = load(self._place(number), Kind.SITUATIONS)
        config = content.metadata.get("config")
        if not isinstance(config, dict):
            raise CheckpointError(f"{self._place(number)} does not say what its situations are")
        return Shard(number, config, content.arrays)

    def write(self, number: int, arrays: Arrays) -> Shard:
        """Writes a shard, all or nothing."""
        save(self._place(number), Kind.SITUATIONS, {"config": self.config, "number": number}, arrays)
        return Shard(number, self.config, arrays)

    def claim(self, number: int) -> bool:
        """Returns whether a shard is to be made here; if so, others leave it alone until it is released."""
        if self._place(number).exists() or not _create(self._claim(number)):
            return False
        self._claimed.add(number)
        if self._place(number).exists():  # by somebody who has just released it
            self.release(number)
            return False
        return True

    def release(self, *numbers: int) -> None:
        """Gives claims back; all of this process if none are named."""
        for number in numbers or tuple(self._claimed):
            self._claimed.discard(number)
            self._claim(number).unlink(missing_ok=True)

    def refresh(self) -> None:
        """Lets others know that the shards claimed here are still worked on."""
        for number in self._claimed:
            with contextlib.suppress(FileNotFoundError):
                os.utime(self._claim(number))

    def _place(self, number: int) -> Path:
        return self.path / f"{number:06d}.eq"

    def _claim(self, number: int) -> Path:
        return self.path / f".{number:06d}.claim"


def _create(claim: Path) -> bool:
    """Returns whether a claim could be made: nobody else has one who is still at work."""
    if _is_stale(claim):
        claim.unlink(missing_ok=True)
    try:
        descriptor = os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        try:
            os.write(descriptor, _sign().encode())
        except BaseException:
            claim.unlink(missing_ok=True)
            raise
        finally:
            os.close(descriptor)
    except FileExistsError:
        return False
    except OSError as error:
        raise CheckpointError(f"cannot write to {claim.parent}: {describe_os_error(error)}") from None
    return True


def _sign() -> str:
    """Returns who claims: the machine and the process."""
    return f"{socket.gethostname()} {os.getpid()}"


def _is_stale(claim: Path) -> bool:
    """Returns whether nobody works on a claimed shard any more."""
    try:
        if time.time() - claim.stat().st_mtime > OLD_CLAIM:
            return True
        host, _, process = claim.read_text(encoding="utf8", errors="replace").rpartition(" ")
    except FileNotFoundError:
        return False
    return host == socket.gethostname() and process.isdecimal() and not _is_running(int(process))


def _is_running(process: int) -> bool:
    """Returns whether a process of this machine is there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's, or no number of a process: left to its age
        return True
    return True


def stack_rows(rows: Sequence[Any], prefix: str = "") -> Arrays:
    """Returns solved situations as arrays over them."""
    if not rows:
        return {}
    return {
        f"{prefix}board": np.array([row.situation.board for row in rows], np.uint8),
        f"{prefix}ratio": np.array([row.situation.ratio for row in rows], np.float32),
        f"{prefix}range": np.stack([row.situation.ranges for row in rows]),
        f"{prefix}value": np.stack([row.value for row in rows]),
    }
