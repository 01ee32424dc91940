# SPDX-License-Identifier: Apache-2.0
"""Files that are either wholly written or not touched at all, and the check that they can be written.

Knows nothing about what is inside; the disk format is `core.checkpoint`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from equipoise.core.checks import check_path
from equipoise.core.errors import CheckpointError

try:
    import fcntl
except ImportError:  # not on every system: files are not locked there
    fcntl = None  # type: ignore[assignment]  # how mypy is told of the other system

__all__ = [
    "STEP_BYTES",
    "StrPath",
    "check_writable",
    "describe_os_error",
    "format_bytes",
    "lock",
    "remove_stale",
    "write_atomically",
    "write_steadily",
    "write_text",
]

StrPath = str | os.PathLike[str]

FARTHEST_BYTES: Final = 1e17  # beyond, only the order of magnitude is read
TOKEN_BYTES: Final = 6  # at random in the name of a temporary file
STEP_BYTES: Final = 1 << 25  # of large content: what even a slow disk takes within a second
LONGEST_NAME: Final = 200  # bytes of a file's name that names beside it repeat; systems take 255


def format_bytes(count: float) -> str:
    """Returns a number of bytes with the unit that people read.

    >>> format_bytes(950), format_bytes(1_500_000), format_bytes(2.25e9), format_bytes(6.2e38)
    ('950 B', '1.5 MB', '2.2 GB', '6.2e+26 TB')
    """
    if count >= FARTHEST_BYTES:
        return f"{count / 1e12:.2g} TB"
    for size, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,.0f} B"


def check_writable(path: StrPath, *, num_bytes: int = 0) -> None:
    """Raises `CheckpointError` with the reason unless a file of `num_bytes` can be written at `path`.

    A probe file is created beside it and removed, because permissions alone do not tell (read-only disks, quotas).
    """
    target = _resolve(path)
    _refuse_non_files(path, target)
    if target.exists() and not os.access(target, os.W_OK):
        raise CheckpointError(f"cannot write {path}: the file is read-only")
    remove_stale(target)
    free = shutil.disk_usage(target.parent).free
    if num_bytes > free:
        raise CheckpointError(
            f"cannot write {path}: it needs about {format_bytes(num_bytes)}, the disk has {format_bytes(free)} free"
        )
    try:
        probe = _temporary_name(target)
        os.close(_create(probe))
        probe.unlink(missing_ok=True)  # another process may have taken it for stale
    except OSError as error:
        raise CheckpointError(f"cannot write {path}: {describe_os_error(error)}") from None


@contextlib.contextmanager
def lock(path: StrPath) -> Iterator[None]:
    """While entered, keeps other processes from locking `path`; raises `CheckpointError` if one has.

    The lock is the system's, on a hidden file beside `path`, so that it ends with the process however that ends. Where
    the file system has no locks there is none.
    """
    target = _resolve(path)
    _refuse_non_files(path, target)
    place = _beside(target, "lock")
    try:
        descriptor = _try_lock(place)
    except BlockingIOError:
        raise CheckpointError(
            f"cannot write {path}: another process is at work on it; wait for that one, or choose another file"
        ) from None
    except OSError as error:
        raise CheckpointError(f"cannot write {path}: {describe_os_error(error)}") from None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            place.unlink()
        os.close(descriptor)


def _try_lock(place: Path) -> int:
    """Returns the descriptor of a locked file; raises `BlockingIOError` if another process has it."""
    while True:
        try:
            descriptor = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
        except PermissionError as error:  # left behind by somebody else's process that was killed
            try:
                descriptor = os.open(place, os.O_RDONLY)
            except FileNotFoundError:  # no: the folder is closed to us
                raise error from None
        try:
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise
        except OSError:  # a file system without locks
            return descriptor
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), place.stat()):
                return descriptor
        os.close(descriptor)  # its holder removed it before we had it: ours would keep nobody out


def write_atomically(path: StrPath, write: Callable[[BinaryIO], None]) -> None:
    """Writes a file through `write`; whatever happens, `path` holds the old content or all of the new.

    The new content goes to a temporary file in the same directory, to disk, and then takes the name. A failure raises
    `CheckpointError` and leaves no temporary file behind; those that killed processes left of `path` are removed.
    """
    target = _resolve(path)
    _refuse_non_files(path, target)
    remove_stale(target)
    try:
        temporary, descriptor = _create_temporary(target)
        try:
            with open(descriptor, "wb", closefd=False) as file:
                write(file)
            os.fsync(descriptor)
            os.replace(temporary, target)
        except BaseException:  # Ctrl-C included: no litter
            with contextlib.suppress(FileNotFoundError):
                temporary.unlink()
            raise
        finally:
            os.close(descriptor)  # only now: a temporary file without a lock is stale
        _sync_directory(target.parent)
    except OSError as error:
        kept = "; the previous file is untouched" if target.exists() else ""
        raise CheckpointError(f"cannot write {path}: {describe_os_error(error)}{kept}") from error


def write_steadily(file: BinaryIO, parts: Iterable[memoryview]) -> None:
    """Writes large content in steps that are on the disk before the next: signals are heard between two of them.

    One call for all, or one `fsync` at the end, would keep Ctrl-C waiting for as long as the disk takes.
    """
    unsynced = 0
    for part in parts:
        for begin in range(0, len(part), STEP_BYTES):
            unsynced += file.write(part[begin : begin + STEP_BYTES])
            if unsynced >= STEP_BYTES:
                file.flush()
                os.fsync(file.fileno())
                unsynced = 0


def write_text(path: StrPath, text: str) -> None:
    """Writes a text to a file atomically, as UTF-8."""
    write_atomically(path, lambda file: _write_encoded(file, text))


def _write_encoded(file: BinaryIO, text: str) -> None:
    file.write(text.encode())


def _resolve(path: StrPath) -> Path:
    """Returns the real place of a path, so that a link keeps pointing at what is written."""
    check_path(path)
    try:
        return Path(path).expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise CheckpointError(f"cannot write {os.fspath(path)!r}: {error}") from None


def _refuse_non_files(path: StrPath, target: Path) -> None:
    """Raises unless the target is, or could become, a regular file in an existing directory."""
    try:
        parent_mode = target.parent.stat().st_mode
    except OSError:
        raise CheckpointError(f"cannot write {path}: directory {target.parent} does not exist") from None
    if not stat.S_ISDIR(parent_mode):
        raise CheckpointError(f"cannot write {path}: {target.parent} is not a directory")
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise CheckpointError(f"cannot write {path}: {describe_os_error(error)}") from None
    if stat.S_ISDIR(mode):
        raise CheckpointError(f"cannot write {path}: it is a directory, expected a file")
    if not stat.S_ISREG(mode):
        raise CheckpointError(f"cannot write {path}: it is a device or pipe, expected a regular file")


def _temporary_name(target: Path) -> Path:
    return _beside(target, f"{secrets.token_hex(TOKEN_BYTES)}.tmp")


def _create_temporary(target: Path) -> tuple[Path, int]:
    """Returns a new file beside the target and its descriptor, which keeps it locked until it is closed."""
    while True:
        temporary = _temporary_name(target)
        descriptor = _create(temporary)
        with contextlib.suppress(OSError):  # a file system without locks
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), temporary.stat()):
                return temporary, descriptor
        os.close(descriptor)  # taken for stale before it was locked


def remove_stale(target: Path) -> None:
    """Removes the target's temporary files that nobody has locked: who wrote them was killed."""
    stale = re.compile(f"{re.escape(_beside(target, '').name)}[0-9a-f]{{{2 * TOKEN_BYTES}}}\\.tmp")
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for place in [Path(entry.path) for entry in entries if stale.fullmatch(entry.name)]:
            _remove_if_unlocked(place)


def _remove_if_unlocked(place: Path) -> None:
    if fcntl is None:
        return
    with contextlib.suppress(OSError):  # locked, gone, somebody else's, or on a file system without locks
        descriptor = os.open(place, os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            place.unlink()
        finally:
            os.close(descriptor)


def _beside(target: Path, ending: str) -> Path:
    """Returns a hidden name in the same directory that belongs to the target alone."""
    name = os.fsencode(target.name)
    stem = target.name if len(name) <= LONGEST_NAME else hashlib.blake2b(name, digest_size=16).hexdigest()
    return target.with_name(f".{stem}.{ending}")


def _create(path: Path) -> int:
    """Returns a descriptor of a new file with the user's default permissions."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)


def _sync_directory(directory: Path) -> None:
    """Makes a rename survive a power cut, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def describe_os_error(error: OSError) -> str:
    """Returns the system's reason in the middle of a sentence."""
    return (error.strerror or str(error)).lower()
