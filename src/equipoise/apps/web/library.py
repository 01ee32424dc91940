# SPDX-License-Identifier: Apache-2.0
"""The solved files that a server lists, by id, and those of them that are open in memory.

Ids come from names of files that were listed here; whoever asks names an id and never a path. What a file says is read
again when it changes, as that of a running job does.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from equipoise.abstraction.bucketed_strategy import SolvedBuckets
from equipoise.abstraction.solutions import AnySolution, open_solution
from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.ids import make_id
from equipoise.apps.web.whole_spots import WholeSpot
from equipoise.core.checkpoint import CheckpointReader, Kind
from equipoise.core.errors import CheckpointError, EquipoiseError
from equipoise.core.files import write_text
from equipoise.core.memory import available_bytes
from equipoise.core.runs import RunFolder
from equipoise.games.holdem.cards import format_card
from equipoise.games.registry import GAMES, format_game, parse_game
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.solution_file import SolvedGame

__all__ = ["JOBS", "UPLOADS", "Library", "ListedFile", "OpenFile"]

JOBS: Final = "jobs"
UPLOADS: Final = "uploads"
TITLES: Final = "titles.json"
SUFFIX: Final = ".eq"
MOST_OPEN: Final = 8
SPARE_BYTES: Final = 500_000_000  # that stay free when a table is read whole
MOST_ANSWERS: Final = 400  # kept of each file
LONGEST_NAME: Final = 120

Stamp = tuple[int, int]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """A file that may be asked for."""

    id: str
    path: Path
    origin: str  # file, run, example, upload
    job: str | None = None  # that writes it

    @property
    def is_own(self) -> bool:
        """Returns whether the server made it, so that it may remove it."""
        return self.origin in ("upload", "example") or self.job is not None


class OpenFile:
    """A file that is open: one reader at a time, until it is closed for another one."""

    def __init__(self, listed: ListedFile, stamp: Stamp) -> None:
        self.listed, self.stamp = listed, stamp
        self.lock = threading.Lock()
        self.solution: AnySolution = open_solution(listed.path)
        self._answers: OrderedDict[Any, bytes] = OrderedDict()  # that were asked for last
        self._answering = threading.Lock()  # answers come from several handles
        self._whole: WholeSpot | None = None
        self._table_bytes = 0  # of the table that is read whole
        self.kept: dict[str, Any] = {}  # what is worth finding once
        self.is_closed = False

    @property
    def num_bytes(self) -> int:
        """Returns about what it takes in memory."""
        return self.stamp[1] + self._table_bytes

    def find_answer(self, key: Any) -> bytes | None:
        """Returns an answer that was given before, None if there is none."""
        with self._answering:
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def keep_answer(self, key: Any, answer: bytes) -> bytes:
        """Keeps an answer, and returns it."""
        with self._answering:
            self._answers[key] = answer
            while len(self._answers) > MOST_ANSWERS:
                self._answers.popitem(last=False)
        return answer

    @property
    def has_whole(self) -> bool:
        """Returns whether `open_whole` was called: there was room."""
        return self._whole is not None

    def open_whole(self) -> WholeSpot:
        """Returns the spot on a handle of its own, to be read whole; for whoever has entered the file."""
        if self._whole is None:
            assert isinstance(self.solution, SolvedSpot)
            self._table_bytes = self.solution.strategy_sum.num_bytes
            self._whole = WholeSpot(self.listed.path)
        return self._whole

    def close(self) -> None:
        """Closes the file once nobody reads."""
        with self.lock:
            self.is_closed = True
            self.solution.close()
        if self._whole is not None:
            self._whole.close()


class Library:
    """Files by id."""

    def __init__(self, folder: Path, files: Sequence[Path], *, open_bytes: int, on_change: Callable[[], None]) -> None:
        """Makes the folders that are missing; raises `CheckpointError` for a file that holds no solution.

        Args:
            folder: with runs, jobs and uploads.
            files: to list besides.
            open_bytes: about so much is kept open.
            on_change: called when files come, go or get other names.
        """
        self.folder, self.open_bytes, self.on_change = folder, open_bytes, on_change
        self.files: list[Path] = []
        for name in (JOBS, UPLOADS):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self._lock = threading.RLock()
        self._open: OrderedDict[str, OpenFile] = OrderedDict()
        self._cards: dict[Path, tuple[Stamp, dict[str, Any]]] = {}
        self._titles: dict[str, str] = _read_titles(folder / TITLES)
        for path in files:
            self.add_file(path)

    def add_file(self, path: Path) -> str:
        """Lists a file that somebody named on the command line, and returns its id."""
        with open_solution(path):
            pass
        self.files.append(path.resolve())
        return next(one.id for one in self.list_files() if one.path == path.resolve())

    def list_files(self) -> list[ListedFile]:
        """Returns everything that may be asked for."""
        found: dict[str, ListedFile] = {}

        def add(name: str, path: Path, origin: str, job: str | None = None) -> None:
            if any(one.path == path for one in found.values()):
                return
            wanted, number = make_id(name), 2
            unique = wanted
            while unique in found:
                unique, number = f"{wanted}-{number}", number + 1
            found[unique] = ListedFile(id=unique, path=path, origin=origin, job=job)

        for folder in sorted((self.folder / JOBS).iterdir()):
            if (result := folder / "result.eq").is_file():
                add(folder.name, result, "example" if folder.name.startswith("example") else "run", folder.name)
        for path in self.files:
            add(path.stem, path, "file")
        for path in sorted((self.folder / UPLOADS).glob(f"*{SUFFIX}")):
            add(path.stem, path, "upload")
        for path in sorted(self.folder.iterdir()):
            if path.name in (JOBS, UPLOADS):
                continue
            if path.is_dir() and RunFolder.is_run(path) and (path / "result.eq").is_file():
                add(path.name, path / "result.eq", "run")
            elif path.is_file() and path.suffix == SUFFIX:
                add(path.stem, path, "run")
        # those that were removed keep their ids, so that no other file gets them meanwhile
        return [one for one in found.values() if one.path.is_file()]

    def find(self, id: str) -> ListedFile:
        """Returns the file of an id; refuses what is not listed."""
        for listed in self.list_files():
            if listed.id == id:
                return listed
        raise ApiError(404, "there is no such solution", field="id", got=id)

    def list_cards(self) -> list[dict[str, Any]]:
        """Returns what lists say of every file, the newest first."""
        cards = []
        for listed in self.list_files():
            with contextlib.suppress(FileNotFoundError):  # it went while we looked
                cards.append(self.describe(listed))
        return sorted(cards, key=lambda card: str(card["changed"]), reverse=True)

    def describe(self, listed: ListedFile) -> dict[str, Any]:
        """Returns what lists say of a file, which is read only if it changed."""
        stamp = _stamp(listed.path)
        with self._lock:
            known = self._cards.get(listed.path)
        if known is None or known[0] != stamp:
            known = stamp, _read_card(listed)
            with self._lock:
                self._cards[listed.path] = known
        changed = datetime.datetime.fromtimestamp(stamp[0] / 1e9, datetime.UTC)
        card = {**known[1], "changed": changed.isoformat(timespec="milliseconds").replace("+00:00", "Z")}
        card["name"] = self._titles.get(listed.id, card["name"])
        return card

    def rename(self, id: str, name: str) -> dict[str, Any]:
        """Gives a file another name in lists."""
        listed = self.find(id)
        tidy = name.strip()
        if not 1 <= len(tidy) <= LONGEST_NAME or not tidy.isprintable():
            raise ApiError(422, f"a name is a line of 1 to {LONGEST_NAME} characters", field="name", got=name)
        with self._lock:
            self._titles[listed.id] = tidy
            self._keep_titles()
        self.on_change()
        return self.describe(listed)

    def remove(self, id: str) -> None:
        """Removes a file that the server made; refuses others."""
        listed = self.find(id)
        if not listed.is_own:
            raise ApiError(409, "only what was solved or uploaded here is removed here", field="id", got=id)
        self.forget(listed.id)
        if listed.job is not None:
            shutil.rmtree(self.folder / JOBS / listed.job)
        else:
            listed.path.unlink(missing_ok=True)
        self.on_change()

    def forget(self, id: str) -> None:
        """Closes a file that is removed and drops its title, which the next file of that id is not to get."""
        self._forget(id)
        with self._lock:
            if self._titles.pop(id, None) is not None:
                self._keep_titles()

    def _keep_titles(self) -> None:
        write_text(self.folder / TITLES, json.dumps(self._titles, indent=1, ensure_ascii=False))

    def duplicate(self, id: str) -> dict[str, Any]:
        """Returns the card of a copy."""
        listed = self.find(id)
        path = self._new_upload(f"{listed.id}-copy")
        shutil.copyfile(listed.path, path)
        return self._announce(path)

    def take_in(self, part: Path, name: str) -> dict[str, Any]:
        """Returns the card of a file that was uploaded; refuses one that is no solution, or of somebody's own code."""
        try:
            with open_solution(part) as solution:
                _refuse_own_code(solution)
        except EquipoiseError as error:
            part.unlink(missing_ok=True)
            message = str(error).replace(str(part), "the file")
            raise ApiError(422, message, code="parse", field="body") from None
        path = self._new_upload(Path(name).stem)
        part.replace(path)
        return self._announce(path)

    def _new_upload(self, name: str) -> Path:
        base, number = make_id(name), 2
        path = self.folder / UPLOADS / f"{base}{SUFFIX}"
        while path.exists():
            path, number = self.folder / UPLOADS / f"{base}-{number}{SUFFIX}", number + 1
        return path

    def _announce(self, path: Path) -> dict[str, Any]:
        self.on_change()
        return self.describe(next(one for one in self.list_files() if one.path == path))

    @contextlib.contextmanager
    def opened(self, id: str) -> Iterator[OpenFile]:
        """Gives an open file to read from while entered; nobody else reads from it meanwhile."""
        path = self.find(id).path
        try:
            while True:
                file = self._find_open(id)
                with file.lock:
                    if file.is_closed:
                        continue
                    yield file
                    return
        except CheckpointError as error:
            message = str(error).replace(str(path), path.name)
            raise ApiError(409, message, code="failed") from None

    @contextlib.contextmanager
    def opened_spot(self, id: str) -> Iterator[tuple[OpenFile, SolvedSpot]]:
        """Gives an open spot to read from while entered; refuses other files."""
        with self.opened(id) as file:
            if not isinstance(file.solution, SolvedSpot):
                raise ApiError(409, "this is no hold'em spot: ask for its states", field="id", got=id)
            yield file, file.solution

    @contextlib.contextmanager
    def opened_game(self, id: str) -> Iterator[tuple[OpenFile, SolvedGame]]:
        """Gives an open file of a game to read from while entered; refuses other files."""
        with self.opened(id) as file:
            if not isinstance(file.solution, SolvedGame):
                raise ApiError(409, "this is a hold'em spot: ask for its nodes", field="id", got=id)
            if file.listed.origin == "upload":
                _refuse_own_code(file.solution)
            yield file, file.solution

    def _find_open(self, id: str) -> OpenFile:
        """Returns a file that is open, if need be since now; the ones used longest ago make room for it."""
        listed = self.find(id)
        stamp = _stamp(listed.path)
        closing: list[OpenFile] = []
        try:
            with self._lock:
                file = self._open.get(id)
                if file is None or file.stamp != stamp or file.listed.path != listed.path:
                    if file is not None:
                        closing.append(self._open.pop(id))
                    file = OpenFile(listed, stamp)
                self._open[id] = file
                self._open.move_to_end(id)
                closing += self._take_excess()
        finally:  # also where what the file holds now cannot be read
            for one in closing:
                one.close()
        return file

    def make_room(self) -> None:
        """Closes the files used longest ago where a table that is read whole leaves them no room."""
        with self._lock:
            closing = self._take_excess()
        for one in closing:
            one.close()

    def _take_excess(self) -> list[OpenFile]:
        """Takes out what there is no room for; the file used last stays."""
        found: list[OpenFile] = []
        while len(self._open) > 1 and (len(self._open) > MOST_OPEN or self._num_open_bytes() > self.open_bytes):
            found.append(self._open.popitem(last=False)[1])
        return found

    def _num_open_bytes(self) -> int:
        return sum(file.num_bytes for file in self._open.values())

    def _forget(self, id: str) -> None:
        with self._lock:
            file = self._open.pop(id, None)
        if file is not None:
            file.close()

    def close(self) -> None:
        """Closes all files."""
        for id in list(self._open):
            self._forget(id)

    def has_room(self, num_bytes: int) -> bool:
        """Returns whether there is room to read a table whole, which values need."""
        free = available_bytes()
        return free is None or num_bytes + num_bytes // 4 + SPARE_BYTES < free


def _stamp(path: Path) -> Stamp:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _read_titles(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(id): str(name) for id, name in found.items()} if isinstance(found, dict) else {}


def _refuse_own_code(solution: AnySolution) -> None:
    """Raises unless a file is of a game that this package has: to open another would run what the file names."""
    if isinstance(solution, SolvedSpot | SolvedBuckets):
        return
    found = solution.metadata
    name = found.get("game", str(found.get("game_label", "")).partition("(")[0])
    if found.get("game_class") is not None or name not in GAMES:
        raise CheckpointError(f"uploads are of games that this package has, got one of {str(name)[:60]!r}")


def _read_card(listed: ListedFile) -> dict[str, Any]:
    """Returns what a file says of itself; one that cannot be read says why."""
    card: dict[str, Any] = {
        "id": listed.id,
        "file": f"{listed.job}.eq" if listed.job is not None else listed.path.name,
        "kind": "unknown",
        "game": None,
        "name": listed.id,
        "board": None,
        "pot": None,
        "stacks": None,
        "big_blind": None,
        "exploitability": None,
        "percent_of_pot": None,
        "iterations": None,
        "bytes": listed.path.stat().st_size,
        "is_own": listed.is_own,
        "origin": listed.origin,
        "job": listed.job,
        "locks": 0,
        "error": None,
    }
    try:
        with CheckpointReader(listed.path) as reader:
            kind = reader.kind
        if kind is Kind.SPOT:
            return card | _read_spot(listed.path)
        with open_solution(listed.path) as solution:
            last = solution.progress[-1] if solution.run is not None else None
            found = solution.metadata
            label = str(found.get("game_label") or found.get("game") or listed.id)
            kinds = {Kind.RUN: "game", Kind.STRATEGY: "strategy"}
            return card | {
                "kind": kinds.get(kind, "blueprint"),
                "game": label,
                "name": _shorten_game(label),
                "exploitability": None if last is None else last.exploitability,
                "iterations": None if last is None else last.iteration,
            }
    except EquipoiseError as error:
        return card | {"error": str(error).replace(str(listed.path), listed.path.name)}


def _shorten_game(label: str) -> str:
    """Returns the label of a game of the package without the parameters that are as usual."""
    if label.partition("(")[0] not in GAMES:
        return label
    try:
        return format_game(parse_game(label))
    except EquipoiseError:
        return label


def _read_spot(path: Path) -> dict[str, Any]:
    with SolvedSpot(path) as solved:
        spot, last = solved.spot, solved.progress[-1]
        share = None if last.exploitability is None else 100 * last.exploitability / spot.root_pot
        return {
            "kind": "spot",
            "game": "spot",
            "name": spot.name,
            "board": [format_card(card) for card in spot.board],
            "pot": spot.root_pot,
            "stacks": list(spot.stacks),
            "big_blind": spot.big_blind,
            "exploitability": last.exploitability,
            "percent_of_pot": share,
            "iterations": last.iteration,
            "locks": len(solved.file.locks),
        }
