# SPDX-License-Identifier: Apache-2.0
"""Ranges that somebody keeps under a name."""

from __future__ import annotations

import contextlib
import json
import threading
from pathlib import Path
from typing import Any, Final

from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.spots import read_range
from equipoise.core.errors import EquipoiseError
from equipoise.core.files import write_text
from equipoise.games.holdem.ranges import format_range, parse_range

__all__ = ["SavedRanges"]

MOST: Final = 1000
LONGEST_NAME: Final = 60


class SavedRanges:
    """Ranges by name, in a file."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = {}
        self._texts: dict[str, str] = {}
        for name, text in found.items() if isinstance(found, dict) else ():
            with contextlib.suppress(EquipoiseError):  # somebody has written it by hand
                self._texts[name] = format_range(parse_range(str(text)))

    def list_ranges(self) -> list[dict[str, Any]]:
        """Returns all ranges by name."""
        with self._lock:
            return [_describe(name, text) for name, text in sorted(self._texts.items())]

    def keep(self, name: str, text: str) -> dict[str, Any]:
        """Keeps a range under a name, in place of the one that had it."""
        if not 1 <= len(name.strip()) <= LONGEST_NAME or not name.isprintable():
            raise ApiError(422, f"a name is a line of 1 to {LONGEST_NAME} characters", field="name", got=name)
        tidy = format_range(read_range(text))
        with self._lock:
            if len(self._texts) >= MOST and name not in self._texts:
                raise ApiError(409, f"{MOST:,} ranges are kept already: remove one")
            self._texts[name] = tidy
            self._write()
        return _describe(name, tidy)

    def remove(self, name: str) -> None:
        """Forgets a range."""
        with self._lock:
            if self._texts.pop(name, None) is None:
                raise ApiError(404, "there is no such range", field="name", got=name)
            self._write()

    def _write(self) -> None:
        write_text(self._path, json.dumps(self._texts, indent=1, ensure_ascii=False))


def _describe(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "text": text, "combos": parse_range(text).num_combos}
