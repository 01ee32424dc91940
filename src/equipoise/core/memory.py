# SPDX-License-Identifier: Apache-2.0
"""How much memory there is, asked before a lot of it is allocated."""

from __future__ import annotations

import os
from pathlib import Path

from equipoise.core.errors import GameTooLargeError
from equipoise.core.files import format_bytes

__all__ = ["available_bytes", "check_memory"]

MEMORY_INFO = Path("/proc/meminfo")
CONTROL_GROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int | None:
    """Returns the bytes that can still be allocated without swapping, or None where the system does not say.

    A container's limit counts as well as the machine's memory.

    >>> available = available_bytes()
    >>> available is None or available > 0
    True
    """
    figures = [figure for figure in (_machine_bytes(), _container_bytes()) if figure is not None]
    return min(figures) if figures else None


def check_memory(num_bytes: int, purpose: str) -> None:
    """Raises `GameTooLargeError` with both figures if `num_bytes` are more than what is available."""
    available = available_bytes()
    if available is not None and num_bytes > available:
        raise GameTooLargeError(
            f"{purpose} needs {format_bytes(num_bytes)} of memory, {format_bytes(available)} are available"
        )


def _machine_bytes() -> int | None:
    try:
        for line in MEMORY_INFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _container_bytes() -> int | None:
    """Returns what a memory limit of version 2 control groups leaves, None without one."""
    try:
        limit = (CONTROL_GROUP / "memory.max").read_text().strip()
        used = int((CONTROL_GROUP / "memory.current").read_text())
        return None if limit == "max" else max(0, int(limit) - used)
    except (OSError, ValueError):
        return None
