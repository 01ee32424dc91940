# SPDX-License-Identifier: Apache-2.0
"""Arrays kept on disk, so that what takes long to compute is computed once.

The key is an identity: everything that decides what the arrays are, versions included. A file that cannot be read is
computed again, a directory that cannot be written is no error: the cache saves time and does nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import CheckpointError

__all__ = ["MIN_BUILD_SECONDS", "CacheFile", "Parts", "default_cache_directory"]

MIN_BUILD_SECONDS: Final = 1.0  # what builds faster is not worth a file
MAX_CACHE_BYTES: Final = 4_000_000_000  # beyond it the files used longest ago go
ENVIRONMENT_VARIABLE: Final = "EQUIPOISE_CACHE"
SUFFIXES: Final = {Kind.TREE: ".tree", Kind.TABLE: ".table"}

Built = TypeVar("Built")
Parts = Mapping[str, Any]  # arrays, lists of strings and JSON scalars by name


def default_cache_directory() -> Path | None:
    """Returns where files are kept: `EQUIPOISE_CACHE` (`off`: nowhere), else `equipoise` in the user's cache.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, EQUIPOISE_CACHE="trees"):
    ...     print(default_cache_directory())
    trees
    """
    override = os.environ.get(ENVIRONMENT_VARIABLE, "")
    if override:
        return None if override.lower() == "off" else Path(override).expanduser()
    base = os.environ.get("XDG_CACHE_HOME", "")
    with contextlib.suppress(RuntimeError):  # a user without a home has no cache
        return (Path(base) if base else Path.home() / ".cache") / "equipoise"
    return None


class CacheFile:
    """The file of one thing that is worth keeping."""

    def __init__(
        self,
        kind: Kind,
        name: str,
        identity: dict[str, Any],
        *,
        directory: Path | None = None,
        is_kept: bool = True,
        min_build_seconds: float = MIN_BUILD_SECONDS,
    ) -> None:
        """Finds where the file belongs.

        Args:
            kind: `TREE` or `TABLE`.
            name: what the file's name begins with.
            identity: JSON values, all that decides what is in the file.
            directory: where files are kept; `default_cache_directory()` if None.
            is_kept: if not, nothing is read and nothing written.
            min_build_seconds: what builds faster is not kept.
        """
        self.kind = kind
        self.identity = identity
        self.min_build_seconds = min_build_seconds
        directory = directory or default_cache_directory()
        is_kept = is_kept and directory is not None
        self.path = directory / _file_name(kind, name, identity) if directory is not None and is_kept else None

    def read(self) -> Parts | None:
        """Returns the parts that were kept, or None if there is no sound file of exactly this identity."""
        if self.path is None:
            return None
        try:
            content = checkpoint.load(self.path, self.kind)
        except CheckpointError:
            return None
        scalars = content.metadata.pop("scalars", {})
        if content.metadata != self.identity:
            return None
        with contextlib.suppress(OSError):
            os.utime(self.path)  # the files used longest ago are the first to go
        return {**scalars, **content.arrays, **content.strings}

    def fill(self, build: Callable[[], Built], pack: Callable[[Built], Parts]) -> Built:
        """Returns a thing after building it, and keeps its parts if that took long."""
        began = time.perf_counter()
        built = build()
        if self.path is not None and time.perf_counter() - began >= self.min_build_seconds:
            self._keep(self.path, pack(built))
        return built

    def _keep(self, path: Path, parts: Parts) -> None:
        """Saves parts if the directory allows it, and makes room for them."""
        scalars = {name: value for name, value in parts.items() if isinstance(value, bool | int | float | str)}
        content = {name: value for name, value in parts.items() if name not in scalars}
        with contextlib.suppress(OSError, CheckpointError):
            path.parent.mkdir(parents=True, exist_ok=True)
            checkpoint.save(path, self.kind, {**self.identity, "scalars": scalars}, content)
            _evict(path)


def _file_name(kind: Kind, name: str, identity: dict[str, Any]) -> str:
    digest = hashlib.sha256(repr(sorted(identity.items())).encode()).hexdigest()
    plain = "".join(letter if letter.isalnum() else "-" for letter in name)
    return f"{plain[:40]}-{digest[:20]}{SUFFIXES[kind]}"


def _evict(newest: Path) -> None:
    """Removes the files used longest ago until the rest fit, the newest excepted."""
    kept = [file for file in newest.parent.iterdir() if file.suffix in SUFFIXES.values()]
    total = newest.stat().st_size
    for file in sorted(kept, key=lambda file: file.stat().st_mtime, reverse=True):
        if file == newest:
            continue
        total += file.stat().st_size
        if total > MAX_CACHE_BYTES:
            file.unlink(missing_ok=True)
