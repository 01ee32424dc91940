# SPDX-License-Identifier: Apache-2.0
"""Trainings that come with the package, found by name as others are by their folder."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from equipoise.core.errors import ConfigError

__all__ = ["WEIGHTS", "find_folder", "list_folders"]

WEIGHTS: Final = Path(__file__).resolve().parents[1] / "weights"  # part of the package


def list_folders(shelf: Path) -> list[str]:
    """Returns the names of the trainings on a shelf.

    >>> "leduc" in list_folders(WEIGHTS / "rebel")
    True
    """
    return sorted(path.name for path in shelf.iterdir() if path.is_dir()) if shelf.exists() else []


def find_folder(text: str, shelf: Path) -> Path:
    """Returns the folder of a training: one that there is, or one of a shelf, by name.

    >>> find_folder("leduc", WEIGHTS / "rebel").name
    'leduc'
    """
    if Path(text).exists():
        return Path(text)
    names = list_folders(shelf)
    if text in names:
        return shelf / text
    known = ", ".join(names) or "none"
    raise ConfigError(f"there is no run {text!r}: give the folder of a training, or one of the package ({known})")
