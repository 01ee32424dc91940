# SPDX-License-Identifier: Apache-2.0
"""What routes need: the parts of one server, made once, closed together."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.resources
import threading
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.events import EventLog
from equipoise.apps.web.job_text import SOLVE, JobSpec
from equipoise.apps.web.jobs import JobBoard
from equipoise.apps.web.lab import Lab
from equipoise.apps.web.library import JOBS, Library
from equipoise.apps.web.other_games import OtherGames
from equipoise.apps.web.places import Places
from equipoise.apps.web.ranges import SavedRanges
from equipoise.apps.web.settings import ServerSettings
from equipoise.apps.web.spots import Paces
from equipoise.apps.web.tables import GameTable, TableRoom
from equipoise.apps.web.training import Trainer
from equipoise.apps.web.whole_spots import Wish
from equipoise.core.errors import CheckpointError, ConfigError, EquipoiseError
from equipoise.core.files import describe_os_error, lock
from equipoise.games.holdem.spot_file import format_spot, parse_spot

__all__ = ["EXAMPLE", "Services", "UsedServices", "answer_json", "ask_while_wanted", "read_example"]

EXAMPLE: Final = "example-river"
EXAMPLES: Final = "equipoise.apps.web.examples"


def read_example(name: str) -> str:
    """Returns the text of a spot that comes along."""
    return (importlib.resources.files(EXAMPLES) / f"{name}.toml").read_text(encoding="utf-8")


class Services:
    """The parts of a server; a context manager during which it may be asked."""

    def __init__(self, settings: ServerSettings) -> None:
        """Opens the folder of runs; raises `ConfigError` where that cannot be."""
        self.settings = settings
        try:
            settings.runs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot keep runs in {settings.runs}: {describe_os_error(error)}") from None
        self._stack = contextlib.ExitStack()
        try:
            self._stack.enter_context(lock(settings.runs / "server"))
        except CheckpointError:
            raise ConfigError(
                f"another server keeps its runs in {settings.runs}: open that one, or name another folder with --runs"
            ) from None
        self.events = EventLog(settings.runs / "page-events.jsonl")
        self.library = Library(
            settings.runs, settings.files, open_bytes=settings.open_bytes, on_change=self._tell_library
        )
        self.jobs = JobBoard(settings, self.events, self._tell_library)
        self.places, self.games = Places(self.library), OtherGames(self.library)
        self.ranges, self.paces = SavedRanges(settings.runs / "ranges.json"), Paces()
        self.one_preview = asyncio.Semaphore(1)
        self.trainer = Trainer(self.library, self.places, settings.runs / "training.json")
        self.tables = TableRoom(self.library, self._tell_table, settings.runs / "tables")
        self.lab = Lab(settings.runs, self.jobs, self.library)

    def __enter__(self) -> Services:
        """Goes on with the jobs that there are; the first time, the example is one."""
        if self.settings.solves_example and not (self.settings.runs / JOBS / EXAMPLE).exists():
            file = parse_spot(read_example("river"))
            spec = JobSpec(kind=SOLVE, title="River example", spot=format_spot(file))
            self.jobs.solve_here(spec, id=EXAMPLE)
        self.jobs.start()
        if self.settings.files:
            threading.Thread(target=self._open_first, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.jobs.close()
        self.library.close()
        self._stack.close()

    def _open_first(self) -> None:
        """Reads the first place that a visitor will see, so that it need not be waited for."""
        with contextlib.suppress(ApiError, EquipoiseError, OSError, ValueError):  # the server may be ending
            first = self.find_first()
            if first is not None:
                self.places.describe_node(first, "", has_values=False)

    def find_first(self) -> str | None:
        """Returns the solution that a visitor sees first: a file that was named, else the example."""
        listed = self.library.list_files()
        named = [one.id for one in listed if one.origin == "file"]
        return named[0] if named else next((one.id for one in listed if one.id == EXAMPLE), None)

    def _tell_table(self, table: GameTable) -> None:
        self.events.add("table", table=table.id, version=table.version)

    def _tell_library(self) -> None:
        self.events.add("library")


def _find_services(connection: HTTPConnection) -> Services:
    services: Services = connection.app.state.services
    return services


SECONDS_BETWEEN_LOOKS: Final = 0.2
Found = TypeVar("Found")

UsedServices = Annotated[Services, Depends(_find_services)]


async def ask_while_wanted(request: Request, ask: Callable[[Wish], Found]) -> Found:
    """Returns what is asked for in a thread; whoever is asked hears if the client goes away meanwhile."""
    wish = Wish()
    asked = asyncio.ensure_future(run_in_threadpool(ask, wish))
    try:
        while not (await asyncio.wait({asked}, timeout=SECONDS_BETWEEN_LOOKS))[0]:
            if await request.is_disconnected():
                wish.leave()
        return asked.result()
    except asyncio.CancelledError:
        wish.leave()
        raise


def answer_json(content: bytes) -> Any:
    """Returns an answer that is JSON already."""
    return Response(content, media_type="application/json")
