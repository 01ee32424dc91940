# SPDX-License-Identifier: Apache-2.0
"""Everything in a folder of runs: solves, matches, studies, trainings, jobs; curves, states, what differs."""

from __future__ import annotations

import datetime
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.ids import make_id
from equipoise.apps.web.jobs import ACTIVE, JobBoard
from equipoise.apps.web.library import JOBS, UPLOADS, Library
from equipoise.apps.web.run_tables import read_tables
from equipoise.core.errors import CheckpointError
from equipoise.core.runs import RunFolder

__all__ = ["Lab", "flatten"]

DEEPEST: Final = 3  # folders below the runs folder that are looked into
MOST_RUNS: Final = 500
MOST_POINTS: Final = 5000  # of an answer
FRESH_SECONDS: Final = 30.0  # since the last event of a run that is under way elsewhere
COUNTS: Final = ("iteration", "step", "deals", "num_samples", "number")  # what a run counts, the first that it has
AXES: Final = (*COUNTS, "seconds", "nodes_touched", "time")
UNDRAWN: Final = ("share", "confidence")  # of events: how far they are, how sure their intervals
HIDDEN: Final = (  # configuration keys that are texts of many lines, places on this machine, or how a command talks
    *("text", "spot", "start", "run", "out", "hands_out", "data", "overwrite", "resume", "json", "quiet"),
)
ENDINGS: Final = ("end", "done", "result", "finish")


class Lab:
    """Runs by id."""

    def __init__(self, folder: Path, jobs: JobBoard, library: Library) -> None:
        self.folder, self.jobs, self.library = folder, jobs, library

    def list_runs(self) -> list[dict[str, Any]]:
        """Returns every run, the newest first."""
        rows = []
        for id, path in itertools.islice(self._find_all(), MOST_RUNS):
            try:
                rows.append(self._describe(id, RunFolder(path)))
            except CheckpointError:
                continue
        return sorted(rows, key=lambda row: str(row["changed"]), reverse=True)

    def describe(self, id: str) -> dict[str, Any]:
        """Returns a run with its configuration, keys of nested parts joined by dots."""
        folder = self._open(id)
        return {**self._describe(id, folder), "config": _configure(folder), "tables": list(read_tables(folder))}

    def list_points(self, id: str, after: int) -> dict[str, Any]:
        """Returns what a run has recorded since an event, as far as it is numbers."""
        folder = self._open(id)
        began = _first_time(folder.events()) if after else None
        events = folder.events(after=after)[:MOST_POINTS]
        last = events[-1]["number"] if events else after
        began = _first_time(events) if began is None else began
        return {"points": [_keep_numbers(event, began) for event in events], "last": last}

    def compare(self, ids: Sequence[str]) -> dict[str, Any]:
        """Returns where the configurations of runs differ, and what is the same."""
        configs = [_configure(self._open(id)) for id in ids]
        keys = list(dict.fromkeys(key for config in configs for key in config))
        differ, same = [], {}
        for key in keys:
            values = [config.get(key) for config in configs]
            if all(value == values[0] for value in values):
                same[key] = values[0]
            else:
                differ.append({"key": key, "values": values})
        return {"ids": list(ids), "differ": differ, "same": same}

    def _find_all(self) -> Iterator[tuple[str, Path]]:
        """Yields ids and folders of runs, jobs included."""
        seen: set[str] = set()
        for path in self._walk(self.folder, DEEPEST):
            id = make_id("-".join(part for part in path.relative_to(self.folder).parts if part != JOBS))
            wanted, number = id, 2
            while id in seen:
                id, number = f"{wanted}-{number}", number + 1
            seen.add(id)
            yield id, path

    def _walk(self, folder: Path, depth: int) -> Iterator[Path]:
        try:
            children = sorted(path for path in folder.iterdir() if path.is_dir() and path.name != UPLOADS)
        except OSError:
            return
        for path in children:
            if RunFolder.is_run(path):
                yield path
            elif depth > 1:
                yield from self._walk(path, depth - 1)

    def _open(self, id: str) -> RunFolder:
        for one, path in self._find_all():
            if one == id:
                return RunFolder(path)
        raise ApiError(404, "there is no such run", field="id", got=id)

    def _describe(self, id: str, folder: RunFolder) -> dict[str, Any]:
        events = folder.events()
        points = [_keep_numbers(event, _first_time(events)) for event in events]
        unmeasured = {*AXES, *UNDRAWN, "event", "network"}
        drawn = [point for point in points if not point.keys() <= unmeasured]
        measures = sorted({key for point in drawn for key in point} - unmeasured)
        job = folder.path.name if folder.path.parent == self.folder / JOBS else None
        solutions = {one.path: one.id for one in self.library.list_files()}
        changed = events[-1]["time"] if events else (folder.path / "config.json").stat().st_mtime
        return {
            "id": id,
            "name": folder.path.name,
            "kind": folder.kind,
            "title": _title(folder, events),
            "state": self._find_state(folder, events, job),
            "started": _stamp(events[0]["time"]) if events else None,
            "changed": _stamp(changed),
            "last": drawn[-1] if drawn else None,
            "measures": measures,
            "num_points": len(drawn),
            "solution": solutions.get(folder.result),
            "job": job,
        }

    def _find_state(self, folder: RunFolder, events: Sequence[Mapping[str, Any]], job: str | None) -> str:
        if job is not None:
            known = next((one for one in self.jobs.list_jobs() if one.id == job), None)
            if known is not None:
                return "running" if known.state in ACTIVE else known.state
        if events and events[-1]["event"] in ENDINGS:
            return "done"
        is_fresh = bool(events) and time.time() - events[-1]["time"] < FRESH_SECONDS
        return "running" if is_fresh else "interrupted"


def _keep_numbers(event: Mapping[str, Any], began: float) -> dict[str, Any]:
    """Returns an event with its numbers alone, and where it stands on both axes; of trainings with their network."""
    kept = {
        key: value for key, value in event.items() if isinstance(value, int | float) and not isinstance(value, bool)
    }
    kept.setdefault("iteration", next(kept[key] for key in COUNTS if key in kept))
    kept.setdefault("seconds", event["time"] - began)
    named = {"network": event["network"]} if isinstance(event.get("network"), str) else {}
    return {**kept, **named, "event": event["event"]}


def _first_time(events: Sequence[Mapping[str, Any]]) -> float:
    return float(events[0]["time"]) if events else 0.0


def _title(folder: RunFolder, events: Sequence[Mapping[str, Any]]) -> str:
    """Returns what a run is of, and how it is computed."""
    config: dict[str, Any] = next((event["config"] for event in events if isinstance(event.get("config"), dict)), {})
    told = {**config, **folder.config}
    parts = [told.get("title") or told.get("game") or told.get("name") or folder.path.name]
    agents = told.get("agents")
    parts += [" v ".join(map(str, agents)) if isinstance(agents, list) else config.get("rule") or config.get("method")]
    return " · ".join(str(part) for part in parts if part)


def _configure(folder: RunFolder) -> dict[str, Any]:
    """Returns all that a run was told, what its first event says of it before what its folder says."""
    begun: dict[str, Any] = next(
        (event["config"] for event in folder.events() if isinstance(event.get("config"), dict)), {}
    )
    return {"kind": folder.kind, **flatten(folder.config), **flatten(begun)}


def flatten(config: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Returns nested tables as one, keys joined by dots; lists become text.

    >>> flatten({"a": {"b": 1}, "c": [1, 2]})
    {'a.b': 1, 'c': '1, 2'}
    """
    found: dict[str, Any] = {}
    for key, value in config.items():
        name = f"{above}{key}"
        if isinstance(value, Mapping):
            found |= flatten(value, f"{name}.")
        elif key in HIDDEN:
            continue
        else:
            found[name] = ", ".join(map(str, value)) if isinstance(value, list) else value
    return found


def _stamp(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
