# SPDX-License-Identifier: Apache-2.0
"""Which Equipoise produced a result: its version, and its commit when it runs from a checkout."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path
from typing import Final

import equipoise

__all__ = ["find_commit", "find_root", "version"]

TIMEOUT: Final = 60  # seconds; a busy machine has taken more than five


def version() -> str:
    """Returns the version of the package.

    >>> version().count(".")
    2
    """
    return equipoise.__version__


def find_root() -> Path | None:
    """Returns the checkout that this code runs from, None outside of one."""
    root = Path(__file__).resolve().parents[3]
    # an installed copy may lie inside somebody else's repository: only our own source tree counts
    return root if (root / ".git").exists() and (root / "native").is_dir() else None


@functools.cache
def find_commit() -> str | None:
    """Returns the commit of the checkout that this code runs from, `-dirty` if changed, or None outside of one.

    >>> commit = find_commit()
    >>> commit is None or len(commit) >= 12
    True
    """
    root = find_root()
    if root is None:
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
