# SPDX-License-Identifier: Apache-2.0
"""Tables that runs leave: rows of reproduced studies, of reports over boards, results of matches."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from equipoise.core.records import make_finite
from equipoise.core.runs import CONFIG, RunFolder

__all__ = ["read_tables"]

MOST_BYTES: Final = 5_000_000  # of a study's file
MOST_ROWS: Final = 500
MATCH_COLUMNS: Final = ("mean", "mean_mbb", "standard_error_mbb", "num_samples")


def read_tables(folder: RunFolder) -> Iterator[dict[str, Any]]:
    """Yields tables with a title, names of columns and rows of numbers and words."""
    for path in sorted(folder.path.glob("*.json")):
        if path.name != CONFIG and (study := _read_study(path)) is not None:
            yield study
    events = folder.events()
    if matches := {tuple(event["agents"]): event for event in events if isinstance(event.get("agents"), list)}:
        rows = [{"agents": " v ".join(map(str, agents)), **_pick(event)} for agents, event in matches.items()]
        yield _tabulate("Result", rows)
    if rows := [event["row"] for event in events if isinstance(event.get("row"), Mapping)]:
        yield _tabulate("Boards", rows)


def _read_study(path: Path) -> dict[str, Any] | None:
    with contextlib.suppress(OSError, ValueError):
        if path.stat().st_size <= MOST_BYTES and isinstance(found := json.loads(path.read_text()), dict):
            listed = found.get("rows")
            rows = [row for row in listed if isinstance(row, Mapping)] if isinstance(listed, list) else []
            title = [str(found[key]) for key in ("title", "source") if found.get(key)]
            return _tabulate(", ".join(title) or path.stem, rows) if rows else None
    return None


def _pick(event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: event[name] for name in MATCH_COLUMNS if name in event}


def _tabulate(title: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    shown = rows[:MOST_ROWS]
    columns = list(dict.fromkeys(str(key) for row in shown for key in row))
    cells = [[_say(row.get(name)) for name in columns] for row in shown]
    return {"title": title, "columns": columns, "rows": make_finite(cells)}


def _say(value: object) -> str | float | bool | None:
    """Returns what a cell shows: lists and tables as they are written."""
    return value if value is None or isinstance(value, str | int | float | bool) else json.dumps(value)
