# SPDX-License-Identifier: Apache-2.0
"""`bench first-evening`: what newcomers wait for, beside the bars that it should stay under.

Every command runs in a process of its own, as people start it, modules compiled as Python does unless told otherwise.
Times are wall time where people wait; where a machine may be busy, processor time stands beside them.
"""

from __future__ import annotations

import dataclasses
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from equipoise.apps.bench.rows import RowsReport, Steps
from equipoise.core.errors import ConfigError
from equipoise.core.reporting import OnStep
from equipoise.core.runs import RunFolder

__all__ = ["FirstEveningReport", "FirstEveningSettings", "list_page_commands", "run_first_evening"]

PROGRAM: Final = "from equipoise.apps.entry import main; main()"
OPENING: Final = "import sys, equipoise; equipoise.load(sys.argv[1])"
START_BAR: Final = 0.4  # processor seconds
FIGURE_BAR: Final = 20.0
TARGET_BAR: Final = 300.0
STOP_BAR: Final = 1.0
OPEN_BAR: Final = 1.0
PAGE_BAR: Final = 60.0
START_REPEATS: Final = 5
OPEN_REPEATS: Final = 2  # the first one may compile modules
STOP_MOMENTS: Final = (  # seconds after the start at which a signal comes
    (1.5, signal.SIGINT),
    (4.0, signal.SIGTERM),
    (9.0, signal.SIGINT),
)
SECONDS_TO_END: Final = 120.0  # that a process which was told to end may take
ANSWERS: Final = (b"stopping", b"interrupted")
SAVING: Final = b"saving "  # what is said before a large file is written
SECONDS_TO_SAVE: Final = 600.0  # until that is said, after one iteration
BLOCK: Final = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
MENTION: Final = re.compile(r"`(equipoise [^`]+)`")
ENDLESS: Final = ("serve",)  # commands that go on until Ctrl-C
ADDRESS: Final = b"http://"  # what these say once they wait
NOT_TYPED: Final = ("COMMAND", "SPOT.toml", "--install", "--help")  # mentions that are no whole commands


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FirstEveningSettings:
    """What is measured."""

    spot: str  # a flop without a menu
    readme: str | None  # whose commands are typed; None: none are
    longest: float = TARGET_BAR  # seconds of solving the spot


FirstEveningReport = RowsReport[FirstEveningSettings]


class _Drained(NamedTuple):
    """How reading ended; neither: time was up."""

    is_said: bool
    has_ended: bool


@dataclasses.dataclass(frozen=True, slots=True)
class _Ran:
    """A command that has ended."""

    seconds: float
    cpu_seconds: float
    code: int


def run_first_evening(settings: FirstEveningSettings, *, on_step: OnStep | None = None) -> FirstEveningReport:
    """Returns what newcomers wait for, a row each, with its bar and whether it was kept."""
    spot = Path(settings.spot).resolve()
    if not spot.is_file():
        raise ConfigError(f"there is no spot {settings.spot}: run from a checkout, or name one with --spot")
    commands = [] if settings.readme is None else list_page_commands(Path(settings.readme))
    report = FirstEveningReport(settings=settings)
    steps = Steps(5 + len(STOP_MOMENTS) + len(commands), on_step)
    try:
        with tempfile.TemporaryDirectory(prefix="equipoise-evening-") as folder:
            here = Path(folder)
            (here / "examples").symlink_to(spot.parents[1])
            for row in _measure_all(settings, spot, here, commands, steps):
                report.rows.append(row)
    except KeyboardInterrupt:
        report.is_partial = True
    return report


def _measure_all(
    settings: FirstEveningSettings, spot: Path, here: Path, commands: Sequence[str], steps: Steps
) -> Iterator[dict[str, Any]]:
    steps.take("start")
    ran = min((_run(["games"], here) for _ in range(START_REPEATS)), key=lambda one: one.cpu_seconds)
    yield _row("start (equipoise games), CPU", ran.cpu_seconds, START_BAR, ran)
    steps.take("a first flop")
    yield from _solve_flop(spot, here, settings.longest)
    for name, words, program in (
        ("show", ["show", "run/result.eq"], PROGRAM),
        ("equipoise.load", ["run/result.eq"], OPENING),
    ):
        steps.take(f"the file opened again, {name}")
        ran = min((_run(words, here, program=program) for _ in range(OPEN_REPEATS)), key=lambda one: one.seconds)
        yield _row(f"the flop's file opened again ({name})", ran.seconds, OPEN_BAR, ran)
    for moment, number in STOP_MOMENTS:
        name = "Ctrl-C" if number == signal.SIGINT else number.name
        steps.take(f"{name} after {moment:g} s")
        is_running, answered = _time_answer(["solve", str(spot), "--seconds", "60"], here, moment, number)
        if is_running:
            yield _row(f"{name} after {moment:g} s, answered", answered, STOP_BAR, None)
    steps.take("Ctrl-C while it is saved")
    words = ["solve", str(spot), "--iterations", "1", "--out", "saved.eq"]
    is_running, answered = _time_answer(words, here, SECONDS_TO_SAVE, signal.SIGINT, after=SAVING)
    if is_running:
        yield _row("Ctrl-C while it is saved, answered", answered, STOP_BAR, None)
    for command in commands:
        steps.take(command)
        words = shlex.split(command)[1:]
        ran = _run_until_it_waits(words, here) if words[0] in ENDLESS else _run(words, here)
        row = _row(command, ran.seconds, PAGE_BAR, ran)
        yield {**row, "is_met": row["is_met"] and ran.code == 0, "code": ran.code}


def _solve_flop(spot: Path, here: Path, longest: float) -> Iterator[dict[str, Any]]:
    """Yields when the first figure came, and when a hundredth of the pot was reached."""
    began = time.time()
    ran = _run(["solve", str(spot), "--target", "1% pot", "--seconds", f"{longest:g}", "--run", "run"], here)
    events = RunFolder(here / "run").events() if (here / "run").is_dir() else []
    figures = [event for event in events if event["event"] == "progress" and event.get("exploitability") is not None]
    first = figures[0]["time"] - began if figures else None
    yield _row("first flop: first figure", first, FIGURE_BAR, None)
    is_reached = any(event["event"] == "end" and event.get("stopped_by") == "target" for event in events)
    yield _row("first flop: 1% of the pot", ran.seconds if is_reached else None, TARGET_BAR, ran)


def _time_answer(
    words: Sequence[str], here: Path, moment: float, number: signal.Signals, *, after: bytes | None = None
) -> tuple[bool, float | None]:
    """Returns whether a solve still ran, and how long after a signal a word came, or the end; None if neither did.

    Args:
        words: of the command.
        here: where it runs.
        moment: seconds after the start at which the signal comes; the most of them, if it comes after a word.
        number: the signal.
        after: the word.
    """
    process = _start(words, here)
    assert process.stderr is not None
    try:
        drained = _drain(process.stderr.fileno(), moment, until=() if after is None else (after,))
        if drained.has_ended or (after is not None and not drained.is_said):
            return False, None
        began = time.monotonic()
        process.send_signal(number)
        is_answered = any(_drain(process.stderr.fileno(), SECONDS_TO_END, until=ANSWERS))
        return True, time.monotonic() - began if is_answered else None
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def _list_environment(**own: str) -> dict[str, str]:
    """Returns the environment of a command."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | own


def _start(words: Sequence[str], here: Path, **variables: str) -> subprocess.Popen[bytes]:
    """Returns a command under way, which hears signals and whose messages can be read."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=here,
        env=_list_environment(**variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_hear_signals,  # noqa: PLW1509 - a bench in the background may have them ignored
    )


def _hear_signals() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _drain(end: int, seconds: float, until: Sequence[bytes] = ()) -> _Drained:
    """Reads for so long, or until some words come or nothing more will."""
    deadline, said = time.monotonic() + seconds, b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([end], [], [], left)[0]:
            continue
        data = os.read(end, 4096)
        said += data
        is_said = any(words in said for words in until)
        if is_said or not data:
            return _Drained(is_said, not data)
    return _Drained(is_said=False, has_ended=False)


def _run(words: Sequence[str], here: Path, *, program: str = PROGRAM) -> _Ran:
    """Returns how a command ended and what it took."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words],
        cwd=here,
        env=_list_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _, status, used = os.wait4(process.pid, 0)
    except BaseException:
        process.kill()
        raise
    process.returncode = os.waitstatus_to_exitcode(status)
    return _Ran(time.monotonic() - began, used.ru_utime + used.ru_stime, process.returncode)


def _run_until_it_waits(words: Sequence[str], here: Path) -> _Ran:
    """Returns what a command took that goes on until Ctrl-C, up to its address; its code is 0 if it ended as told."""
    began = time.monotonic()
    process = _start([*words, "--port", "0"], here, XDG_DATA_HOME=str(here / "data"))
    assert process.stderr is not None
    try:
        _drain(process.stderr.fileno(), PAGE_BAR, until=(ADDRESS,))
        seconds = time.monotonic() - began
        # not `poll`, which would keep what the process used to itself
        is_waiting = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        os.kill(process.pid, signal.SIGINT)
        _, status, used = os.wait4(process.pid, 0)
    except BaseException:
        process.kill()
        raise
    finally:
        process.stderr.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    is_ended = is_waiting and process.returncode in (0, 128 + signal.SIGINT)
    return _Ran(seconds, used.ru_utime + used.ru_stime, 0 if is_ended else 1)


def _row(what: str, measured: float | None, bar: float, ran: _Ran | None) -> dict[str, Any]:
    return {
        "what": what,
        "seconds": measured,
        "bar": bar,
        "is_met": measured is not None and measured <= bar,
        "cpu_seconds": None if ran is None else ran.cpu_seconds,
    }


def list_page_commands(page: Path) -> list[str]:
    """Returns the whole commands of a page: lines of its blocks for the shell, and those in its text."""
    try:
        text = page.read_text(encoding="utf8")
    except OSError:
        raise ConfigError(f"there is no page {page}: run from a checkout, or name one with --readme") from None
    lines = [line for block in BLOCK.findall(text) for line in block.splitlines() if line.startswith("equipoise ")]
    found = [line.partition(" #")[0].strip() for line in lines] + MENTION.findall(BLOCK.sub("", text))
    return [command for command in dict.fromkeys(found) if not any(word in command for word in NOT_TYPED)]
