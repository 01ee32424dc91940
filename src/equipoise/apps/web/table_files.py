# SPDX-License-Identifier: Apache-2.0
"""Tables on disk: how each was opened, the hand in progress, the hands that are over."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import Any, Final

from equipoise.core.errors import CheckpointError
from equipoise.core.files import write_text
from equipoise.core.records import make_finite

__all__ = ["TableFiles"]

ID: Final = re.compile(r"t[1-9]\d{0,8}")
MOST_KEPT: Final = 200  # tables; the oldest make room


class TableFiles:
    """A folder with three files a table; a name that is no table's id is no path to anything."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, id: str, how: dict[str, Any]) -> None:
        """Keeps how a table was opened; the oldest ones are forgotten where there are too many."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in self._ids()[: -(MOST_KEPT - 1)]:
            self.remove(old)
        write_text(self._path(id, "how.json"), json.dumps(how))

    def write(self, id: str, kept: dict[str, Any]) -> None:
        """Keeps the hand in progress; a disk without room is no reason to stop playing."""
        with contextlib.suppress(CheckpointError):
            write_text(self._path(id, "now.json"), json.dumps(make_finite(kept), allow_nan=False))

    def add_hand(self, id: str, hand: dict[str, Any]) -> None:
        """Keeps a hand that is over."""
        line = json.dumps(make_finite(hand), allow_nan=False)
        with contextlib.suppress(OSError), self._path(id, "hands.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def read(self, id: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None, list[dict[str, Any]]]:
        """Returns how a table was opened, its hand in progress and those that are over; None where there is no file."""
        if ID.fullmatch(id) is None:
            return None, None, []
        how, kept = (_read_json(self._path(id, name)) for name in ("how.json", "now.json"))
        hands: dict[int, dict[str, Any]] = {}
        with contextlib.suppress(OSError):
            for line in self._path(id, "hands.jsonl").read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(ValueError, KeyError, TypeError):  # a line that was being written at the end
                    hand = json.loads(line)
                    hands[int(hand["hand"])] = hand  # of a hand that was played again after a kill the last counts
        if kept is not None and not kept.get("is_over"):
            hands.pop(int(kept.get("hand", 0)), None)
        return how, kept, [hands[number] for number in sorted(hands)]

    def list_kept(self) -> dict[str, dict[str, Any]]:
        """Returns the state of every table by id."""
        found = {id: _read_json(self._path(id, "now.json")) for id in self._ids()}
        wanted = ("game", "name", "num_hands")
        return {id: kept for id, kept in found.items() if kept is not None and all(name in kept for name in wanted)}

    def find_last(self) -> int:
        """Returns the highest number of a table, 0 if there is none."""
        return max((int(id[1:]) for id in self._ids()), default=0)

    def remove(self, id: str) -> bool:
        """Forgets a table; returns whether there was one."""
        if ID.fullmatch(id) is None or not self._path(id, "how.json").exists():
            return False
        for name in ("how.json", "now.json", "hands.jsonl"):
            self._path(id, name).unlink(missing_ok=True)
        return True

    def _ids(self) -> list[str]:
        """Returns the tables that there are, the oldest first."""
        names = (path.name.removesuffix(".how.json") for path in self._folder.glob("t*.how.json"))
        return sorted((name for name in names if ID.fullmatch(name)), key=lambda name: int(name[1:]))

    def _path(self, id: str, name: str) -> Path:
        return self._folder / f"{id}.{name}"


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
