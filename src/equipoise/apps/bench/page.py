# SPDX-License-Identifier: Apache-2.0
"""What `equipoise bench page` measures: answers to many readers while a solve runs, and what they cost the solve.

The server is a process of its own, as `equipoise serve` starts it; readers are in another one, on the same machine, and
so take some of its time as well. What readers cost a solve is counted in processor time, which other processes of the
machine hardly change: by how much an iteration takes more of it, and what share of the solve's processors the server
takes beside. Readers ask so often a second of the clock, so that share is one of the clock too: of a machine that does
nothing else it is the same, on a busy one a solve that gets little would be set against readers that get all they ask.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from equipoise.apps.bench.browser import measure_file, measure_page
from equipoise.apps.bench.rows import RowsReport, Steps
from equipoise.core.errors import ConfigError, MissingExtraError
from equipoise.core.machine import num_usable_cores
from equipoise.core.reporting import OnStep

__all__ = ["PageReport", "PageSettings", "main", "run_page", "serving"]

WANTED_P95_MS: Final = 200.0
WANTED_SLOWDOWN: Final = 10.0  # percent
WANTED_NODE_MS: Final = 100.0
BROWSED: Final = ("", "/x-b50p-c/As", "/x-x/Td")  # addresses at which a reader clicks on
MOST_LINES: Final = 150  # of a spot that readers go through
SECONDS_TO_START: Final = 30.0
START: Final = "from equipoise.apps.entry import main; main()"
ADDRESS: Final = re.compile(r"http://([\d.]+):(\d+)")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PageSettings:
    """What to measure and for how long."""

    clients: int = 50  # readers at once
    pause: float = 2.0  # seconds from a reader's answer to its next question
    iterations: int = 150  # of the solve that runs meanwhile
    repeats: int = 2  # of the solve, with and without readers in turn; the fastest count
    threads: int | None = None  # of the solve; None: as many as help
    has_browser: bool = True  # whether to measure in Chromium as well
    file: Path | None = None  # a solved spot to click through as well, first of all

    def __post_init__(self) -> None:
        for name in ("clients", "iterations", "repeats"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not self.pause >= 0:
            raise ConfigError(f"pause must be at least 0, got {self.pause}")
        if self.file is not None and not self.has_browser:
            raise ConfigError("a file is clicked through in a browser: leave out --no-browser")


PageReport = RowsReport[PageSettings]


def run_page(settings: PageSettings, *, on_step: OnStep | None = None) -> PageReport:
    """Returns how fast nodes are answered, alone and to many readers, and what these cost a solve."""
    try:
        client_class = importlib.import_module("equipoise.apps.web.client").Client
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "fastapi", "web", "the page") from None
    report = PageReport(settings=settings)
    steps = Steps(3 + 2 * settings.repeats, on_step)
    try:
        steps.take("starting a server, solving a turn to read")
        options = [] if settings.threads is None else ["--threads", str(settings.threads)]
        with serving(*options, *([] if settings.file is None else [str(settings.file)])) as (address, process):
            _measure(settings, client_class(address), (address, process), steps, report)
    except KeyboardInterrupt:
        report.is_partial = True
    return report


@contextlib.contextmanager
def serving(*options: str) -> Iterator[tuple[str, int]]:
    """Gives address and process of a server with a folder of its own, for as long as it is entered."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", START, "serve", "--runs", folder, "--port", "0", *options]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            found = ADDRESS.search(process.stderr.readline())
            if found is None:
                raise ConfigError("the server did not start: `equipoise serve` says why")
            yield found[0], process.pid
        finally:
            process.terminate()
            process.communicate(timeout=SECONDS_TO_START)


def _measure(settings: PageSettings, client: Any, server: tuple[str, int], steps: Steps, report: PageReport) -> None:
    address, process = server
    _wait_until_up(client)
    if settings.file is not None:
        id = next(card.id for card in client.solutions() if card.file == settings.file.name)
        report.rows += measure_file(address, id)
    spot = _find_spot(client)
    first = client.wait(client.solve(spot, iterations=settings.iterations).id)
    lines, first_waits = _find_lines(client, first.id)
    steps.take("reading alone")
    alone = _read(address, first.id, lines, clients=1, pause=0.0, seconds=3.0)
    _add(report, "node, the first time", float(np.percentile(first_waits, 95)), "ms, 95 %", WANTED_NODE_MS)
    _add(report, "node, one reader", float(np.percentile(alone, 95)), "ms, 95 %", WANTED_NODE_MS)
    steps.take("looking with a browser")
    if settings.has_browser:
        report.rows += measure_page(address, first.id, BROWSED)
    quiet, busy, waits, spent = list[_Solved](), list[_Solved](), list[float](), [0.0, 0.0]
    for _ in range(settings.repeats):
        steps.take("solving alone")
        before = _cpu_seconds(process)
        quiet.append(_solve(client, spot, settings))
        spent[0] += _cpu_seconds(process) - before
        steps.take(f"solving while {settings.clients} read")
        before = _cpu_seconds(process)
        with _reading(address, first.id, lines, settings) as found:
            busy.append(_solve(client, spot, settings))
        waits += found
        spent[1] += _cpu_seconds(process) - before
    if waits:  # none where the solve is over before anybody is answered
        slow = float(np.percentile(waits, 95))
        _add(report, f"node, {settings.clients} readers and a solve", slow, "ms, 95 %", WANTED_P95_MS)
    _add(report, "questions answered", float(len(waits)), "in all", None)
    _add(report, "server's processor time a question", 1e3 * (spent[1] - spent[0]) / max(1, len(waits)), "ms", None)
    _add(report, "solve alone", min(one.seconds for one in quiet), "s", None)
    grown = min(one.cpu for one in busy) / min(one.cpu for one in quiet) - 1
    num_threads = settings.threads or num_usable_cores()
    beside = (spent[1] - spent[0]) / (num_threads * sum(one.seconds for one in busy))
    _add(report, "processor time of an iteration, more with readers", 100 * grown, "%", None)
    _add(report, "processors of the solve that readers take of the server", 100 * beside, "%", None)
    _add(report, "solve slowed down by readers", 100 * ((1 + grown) * (1 + beside) - 1), "%", WANTED_SLOWDOWN)
    clock = min(one.seconds for one in busy) / min(one.seconds for one in quiet) - 1
    _add(report, "the same by the clock, which other processes change", 100 * clock, "%", None)


class _Solved(NamedTuple):
    """What a solve took."""

    seconds: float
    cpu: float  # seconds an iteration


def _cpu_seconds(process: int) -> float:
    """Returns the processor time of a process, not a number where the system does not say."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _add(report: PageReport, what: str, value: float, unit: str, wanted: float | None) -> None:
    report.rows.append({"what": what, "value": value, "unit": unit, "wanted": wanted})


def _find_spot(client: Any) -> dict[str, Any]:
    """Returns the turn that comes along as an example."""
    turn = next(one for one in client.examples().spots if one.id == "turn")
    return {**turn.spot.model_dump(exclude_none=True), "target": "0"}


def _wait_until_up(client: Any) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            if client.status().first is not None:
                return
        except RuntimeError:
            if time.monotonic() > until:
                raise
        time.sleep(0.05)


def _solve(client: Any, spot: dict[str, Any], settings: PageSettings) -> _Solved:
    """Solves; what the process did before its first iterations is left out."""
    job = client.solve(spot, iterations=settings.iterations)
    first = None
    while job.state not in ("done", "failed", "cancelled"):
        time.sleep(0.1)
        job = client.job(job.id)
        first = first or job.progress
    last = job.progress
    if first is None or last is None or last.iteration <= first.iteration:
        raise ConfigError("the solve is over before it can be measured: say more --iterations")
    client.remove_job(job.id)
    return _Solved(last.seconds, (last.cpu_seconds - first.cpu_seconds) / (last.iteration - first.iteration))


def _find_lines(client: Any, id: str) -> tuple[list[str], list[float]]:
    """Returns decisions of a spot, the nearest to its root first, and the milliseconds of all answers on the way."""
    waits: list[float] = []
    found: list[str] = []
    queue = [""]
    while queue and len(found) < MOST_LINES:
        line = queue.pop(0)
        began = time.perf_counter()
        node = client.node(id, line)
        waits.append(1e3 * (time.perf_counter() - began))
        if node.kind == "decision":
            found.append(line)
            queue += [",".join(action.line) for action in node.actions if action.next in ("decision", "deal")]
        elif node.kind == "deal":
            queue += [",".join(card.line) for card in (node.cards or [])[:3]]
    return found, waits


@contextlib.contextmanager
def _reading(address: str, id: str, lines: list[str], settings: PageSettings) -> Iterator[list[float]]:
    """Lets readers read in a process of their own while entered; what each answer took is in the list afterwards."""
    how = {"address": address, "id": id, "lines": lines, "clients": settings.clients, "pause": settings.pause}
    command = [sys.executable, "-m", "equipoise.apps.bench.page"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    process.stdin.write(json.dumps(how) + "\n")
    process.stdin.flush()
    found: list[float] = []
    try:
        yield found
    finally:
        told, _ = process.communicate("\n")  # a line ends it
        found += json.loads(told or "[]")


def _read(address: str, id: str, lines: list[str], *, clients: int, pause: float, seconds: float) -> list[float]:
    """Returns the milliseconds of each answer of some time."""
    waits: list[float] = []

    async def work() -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(_read_together(address, id, lines, clients, pause, waits), seconds)

    asyncio.run(work())
    return waits


async def _read_together(
    address: str, id: str, lines: list[str], clients: int, pause: float, waits: list[float]
) -> None:
    """Lets clients read until they are stopped, each in an order of its own."""
    host, port = address.removeprefix("http://").split(":")
    async with asyncio.TaskGroup() as group:
        for number in range(clients):
            group.create_task(_read_one(host, int(port), id, lines, pause, waits, number))


async def _read_one(
    host: str, port: int, id: str, lines: list[str], pause: float, waits: list[float], number: int
) -> None:
    rng = np.random.default_rng(number)
    await asyncio.sleep(pause * float(rng.random()))
    reader, writer = await asyncio.open_connection(host, port)
    try:
        while True:
            line = urllib.parse.quote(lines[int(rng.integers(len(lines)))])
            began = time.perf_counter()
            writer.write(f"GET /api/solutions/{id}/node?line={line} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(re.search(rb"content-length: (\d+)", head.lower())[1])  # type: ignore[index]  # always there
            await reader.readexactly(length)
            waits.append(1e3 * (time.perf_counter() - began))
            await asyncio.sleep(pause)
    finally:
        writer.close()


def main() -> None:
    """Reads as a line of standard input says until another one comes, and writes what each answer took."""
    how = json.loads(sys.stdin.readline())
    waits: list[float] = []

    async def work() -> None:
        task = asyncio.ensure_future(
            _read_together(how["address"], how["id"], how["lines"], how["clients"], how["pause"], waits)
        )
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(work())
    json.dump(waits, sys.stdout)


if __name__ == "__main__":
    main()
