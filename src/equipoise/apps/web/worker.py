# SPDX-License-Identifier: Apache-2.0
"""What a worker process does: one job, told what to do by lines of its standard input, telling lines of JSON.

`python -m equipoise.apps.web.worker FOLDER HOW`. When the server goes, however it goes, the input ends: the worker
keeps what it has and leaves, so that no process is left behind.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import resource
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TextIO

from equipoise.abstraction.solutions import load_run
from equipoise.apps.web.flops import run_flops
from equipoise.apps.web.job_text import SOLVE, Command, JobSpec, Limits, MessageType
from equipoise.core.errors import CheckpointError, ConfigError, EquipoiseError
from equipoise.core.progress import Progress
from equipoise.core.records import make_finite
from equipoise.core.reporting import Reporter
from equipoise.core.runs import RunFolder
from equipoise.games.holdem.spot_file import parse_spot
from equipoise.games.registry import parse_game
from equipoise.runs.game_run import GameRun, prepare_game
from equipoise.runs.keeping import Keeper
from equipoise.runs.locking import open_spot
from equipoise.runs.request import RunRequest
from equipoise.runs.spot_run import CARRIED_ITERATIONS, SpotRun, prepare_spot
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.solution_file import SolvedGame

__all__ = ["Controls", "Voice", "main", "make_request", "solve_job", "tell_failure"]

NICENESS: Final = 5  # so that pages are answered while a job has all cores
SPARE_BYTES: Final = 600_000_000  # of libraries and trees under construction, above what a job may take
SECONDS_TO_LEAVE: Final = 20.0  # after which a worker without a server goes, whatever it is doing
SECONDS_FOR_LOCK: Final = 30.0  # that a worker of a killed server may still need to save
SECONDS_BETWEEN_RECORDS: Final = 0.25


class Voice:
    """Tells the server what happens; progress at most four times a second."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._lock = out, threading.Lock()
        self._last = 0.0

    def tell(self, kind: MessageType, **fields: Any) -> None:
        """Writes a line; a server that is gone hears nothing."""
        line = json.dumps(make_finite({"type": str(kind), **fields}), allow_nan=False)
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._out.write(line + "\n")
            self._out.flush()

    def tell_state(self, state: str, **fields: Any) -> None:
        """Says which state the job is in."""
        self.tell(MessageType.STATE, state=state, **fields)

    def tell_progress(self, record: Progress, root_pot: int | None, *, is_last: bool = False) -> None:
        """Says how far the job is, unless that was said a moment ago."""
        now = time.monotonic()
        if now - self._last < SECONDS_BETWEEN_RECORDS and not is_last:
            return
        self._last = now
        self.tell(MessageType.PROGRESS, cpu_seconds=time.process_time(), **describe_record(record, root_pot))


def describe_record(record: Progress, root_pot: int | None) -> dict[str, Any]:
    """Returns a record as pages draw it."""
    quality = record.exploitability
    return {
        "iteration": record.iteration,
        "seconds": record.seconds,
        "exploitability": quality,
        "percent_of_pot": None if quality is None or not root_pot else 100 * quality / root_pot,
        "game_value": record.game_value,
        "iterations_per_second": record.iterations_per_second,
        "seconds_left": record.seconds_left,
    }


class Controls:
    """Hears what the server wants, in a thread."""

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self._changed = threading.Condition()
        self._wanted = Command.RESUME

    def listen(self) -> None:
        """Begins to hear."""
        threading.Thread(target=self._hear, daemon=True).start()

    def _hear(self) -> None:
        for line in self._source:
            if line.strip() in set(Command):
                self._set(Command(line.strip()))
        self._set(Command.LEAVE)
        time.sleep(SECONDS_TO_LEAVE)
        os._exit(1)

    def _set(self, wanted: Command) -> None:
        with self._changed:
            if self._wanted is not Command.LEAVE:
                self._wanted = wanted
            self._changed.notify_all()

    @property
    def wanted(self) -> Command:
        """Returns what the job is to do."""
        return self._wanted

    def is_interrupted(self) -> bool:
        """Returns whether it is to do anything but go on."""
        return self._wanted is not Command.RESUME

    def wait_while_paused(self) -> Command:
        """Returns what is wanted once that is no longer a pause."""
        with self._changed:
            self._changed.wait_for(lambda: self._wanted is not Command.PAUSE)
            return self._wanted


class _Told(Reporter):
    """Passes on what preparing a run says; nobody is asked anything."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice

    def say(self, text: str) -> None:
        self._voice.tell(MessageType.SAID, text=text)

    def warn(self, text: str) -> None:
        self._voice.tell(MessageType.SAID, text=text)


def main() -> None:
    """Does the job of a folder and ends the process."""
    path, limits = Path(sys.argv[1]), Limits.from_json(json.loads(sys.argv[2]))
    voice, controls = Voice(sys.stdout), Controls(sys.stdin)
    sys.stdout = sys.stderr  # what libraries print is no message
    controls.listen()
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    _limit_memory(limits.num_bytes)
    code = 1
    try:
        folder = RunFolder(path)
        with _writing(folder, controls):
            do_job(folder, limits, controls, voice)
        code = 0
    except EquipoiseError as error:
        tell_failure(voice, error, path)
    except MemoryError:
        voice.tell_state("failed", error=f"memory ran out: a job may take {limits.num_bytes / 1e9:.3g} GB")
    os._exit(code)  # native threads may be under way


def tell_failure(voice: Voice, error: EquipoiseError, path: Path) -> None:
    """Says why a job of a folder failed, without the folder's path."""
    voice.tell_state("failed", error=" ".join(str(error).split()).replace(str(path), "the job"))


def do_job(folder: RunFolder, limits: Limits, controls: Controls, voice: Voice) -> None:
    """Does what a folder asks for."""
    spec = JobSpec.from_json(folder.config)
    if spec.kind == SOLVE:
        solve_job(folder, spec, limits, controls, voice)
    else:
        run_flops(folder, spec, limits, controls, voice, _Told(voice))


def _limit_memory(num_bytes: int) -> None:
    """Lets the process have so much memory of its own and some more, where the system can be told so."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        most = num_bytes + SPARE_BYTES
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


@contextlib.contextmanager
def _writing(folder: RunFolder, controls: Controls) -> Iterator[None]:
    """While entered, nobody else writes; waits for a worker that a killed server has left to its save."""
    until = time.monotonic() + SECONDS_FOR_LOCK
    with contextlib.ExitStack() as stack:
        while True:
            try:
                stack.enter_context(folder.writing())
                break
            except CheckpointError:
                if time.monotonic() > until or controls.wanted is Command.LEAVE:
                    raise
                time.sleep(0.2)
        yield


def solve_job(folder: RunFolder, spec: JobSpec, limits: Limits, controls: Controls, voice: Voice) -> None:
    """Solves a game or a spot until it is done or somebody wants something else."""
    voice.tell_state("building")
    run = _prepare(folder, spec, limits, voice)
    pot = run.file.spot.root_pot if isinstance(run, SpotRun) else None
    voice.tell(MessageType.SIZES, bytes=run.sizes.tree_bytes + run.sizes.table_bytes, target=run.stopping.target)
    keeper = Keeper(run, folder.result, _Told(voice), folder)
    voice.tell_state("running")
    while True:
        for record in run.advance(
            is_interrupted=controls.is_interrupted, on_advance=lambda record: voice.tell_progress(record, pot)
        ):
            voice.tell_progress(record, pot)
            keeper.save_now_and_then()
        if run.records:
            voice.tell_progress(run.records[-1], pot, is_last=True)
        wanted = controls.wanted
        if run.stopped_by is not None and str(run.stopped_by) != "interrupted":
            break
        if wanted is Command.PAUSE:
            _rest(run, folder, voice)
            wanted = controls.wait_while_paused()
            if wanted is Command.RESUME:
                voice.tell_state("running")
                continue
        if wanted is Command.LEAVE:
            _rest(run, folder, None)
            return
        if wanted is Command.STOP:
            break
    if not run.records:
        voice.tell_state("cancelled", error="stopped within the first iteration: nothing is computed yet")
        return
    failure = keeper.save_at_the_end()
    if failure is not None:
        raise failure
    voice.tell_state("done", stopped_by=str(run.stopped_by))


def _rest(run: GameRun | SpotRun, folder: RunFolder, voice: Voice | None) -> None:
    """Saves a run that may go on in this process, in another one, or never."""
    if run.records:
        run.save(folder.result)
        folder.record("checkpoint", iteration=run.solver.iteration, file=folder.result.name)
    if voice is not None:
        voice.tell_state("paused")


def _prepare(folder: RunFolder, spec: JobSpec, limits: Limits, voice: Voice) -> GameRun | SpotRun:
    """Returns the run that is asked for, going on from what is saved."""
    request = make_request(spec.request, limits.totals)
    saved = load_run(folder.result) if folder.result.exists() else None
    reporter = _Told(voice)
    if spec.spot is not None:
        if saved is not None and not isinstance(saved, SolvedSpot):
            raise ConfigError("what is saved is of another job")
        run = prepare_spot(parse_spot(spec.spot), request, reporter, saved, where="the job")
        if spec.start is not None:
            _begin_from(run, spec.start, request, reporter)
        return run
    assert spec.game is not None
    if saved is not None and not isinstance(saved, SolvedGame):
        raise ConfigError("what is saved is of another job")
    return prepare_game(parse_game(spec.game), request, reporter, saved, where="the job")


def _begin_from(run: SpotRun, path: str, request: RunRequest, reporter: Reporter) -> None:
    """Begins a fresh run with the regrets of a solution that differs by its locks; anew where that cannot be.

    Iterations that are asked for come on top of those that the regrets count for.
    """
    try:
        with open_spot(path) as stored:
            carried = min(stored.progress[-1].iteration, CARRIED_ITERATIONS)
            if not run.records:
                run.begin_from(stored)
                reporter.say(f"begins with the regrets of the solution before, taken for {carried} iterations")
            elif run.config.warm_start is None:
                return
    except EquipoiseError as error:
        reporter.warn(f"begins anew: {error}")
        return
    if request.iterations is not None:
        run.set_limits(dataclasses.replace(request, iterations=request.iterations + carried))


def make_request(asked: Mapping[str, Any], totals: Mapping[str, Any]) -> RunRequest:
    """Returns what is asked of a run, limits that were set later in place of its own; refuses what cannot be."""
    return RunRequest.restore({**asked, **totals})


if __name__ == "__main__":
    main()
