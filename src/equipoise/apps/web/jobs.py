# SPDX-License-Identifier: Apache-2.0
"""Jobs: a bounded queue of folders, worker processes that do them, and what they tell; all of it survives the server.

Every job is the folder of a run (`core.runs`) with `job.json` beside: its state. A server that starts again goes on
with what was waiting or under way, from the last save.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import io
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.events import EventLog
from equipoise.apps.web.job_text import FLOPS, Command, JobSpec, Limits
from equipoise.apps.web.library import JOBS
from equipoise.apps.web.settings import ServerSettings
from equipoise.apps.web.worker import Controls, Voice, make_request, solve_job, tell_failure
from equipoise.core.errors import CheckpointError, EquipoiseError
from equipoise.core.files import remove_stale, write_text
from equipoise.core.runs import RunFolder

__all__ = ["ACTIVE", "FINAL", "Job", "JobBoard"]

RECORD: Final = "job.json"
ACTIVE: Final = ("building", "running", "pausing", "paused", "stopping")  # a worker has it
FINAL: Final = ("done", "failed", "interrupted", "cancelled")
MOST_SAID: Final = 50
SECONDS_TO_END: Final = 5.0  # that a worker that was killed has
SECONDS_TO_SAVE: Final = 10.0  # that workers have when the server ends
KEPT: Final = ("kind", "title", "state", "created", "changed", "bytes", "target", "error", "stopped_by", "totals")


@dataclasses.dataclass(slots=True, kw_only=True)
class Job:
    """A job as it stands."""

    id: str
    kind: str
    title: str
    created: str
    changed: str
    state: str = "waiting"
    bytes: int | None = None  # that it takes
    target: float | None = None  # in chips, or the unit of the game
    error: str | None = None
    stopped_by: str | None = None
    totals: dict[str, Any] = dataclasses.field(default_factory=dict)  # limits that were set later
    progress: dict[str, Any] | None = None
    said: list[str] = dataclasses.field(default_factory=list)
    num_done: int = 0  # flops
    num_flops: int = 0
    process: subprocess.Popen[str] | None = None


class JobBoard:
    """All jobs of a server."""

    def __init__(self, settings: ServerSettings, events: EventLog, on_change: Callable[[], None]) -> None:
        """Reads what is there; nothing is started before `start`."""
        self.settings, self.events, self.on_change = settings, events, on_change
        self.folder = settings.runs / JOBS
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.RLock()
        self._worker_left = threading.Condition(self._lock)
        self._jobs: dict[str, Job] = {}
        self._queue: list[str] = []
        self._threads: list[threading.Thread] = []
        self._is_closing = False
        self._last_number = 0
        for path in sorted(self.folder.iterdir(), key=lambda path: (len(path.name), path.name)):
            job = _read_job(path)
            if job is None:
                continue
            self._jobs[job.id] = job
            if job.state == "paused":
                job.progress = self._last_progress(job)
            elif job.state == "waiting" or job.state in ACTIVE:
                job.state = "waiting"
                self._queue.append(job.id)

    def start(self) -> None:
        """Goes on with what was waiting or under way when the last server ended."""
        with self._lock:
            self._schedule()

    def submit(self, spec: JobSpec, *, num_bytes: int | None = None, id: str | None = None) -> Job:
        """Returns a new job at the end of the queue; refuses one too many."""
        with self._lock:
            if len(self._queue) >= self.settings.most_waiting:
                raise ApiError(429, f"{len(self._queue)} jobs are waiting already: try again when one is done")
            job = self._add(spec, id or self._next_id(), num_bytes)
            self._queue.append(job.id)
            self._announce(job)
            self._schedule()
            return job

    def _add(self, spec: JobSpec, id: str, num_bytes: int | None) -> Job:
        RunFolder.create(self.folder / id, spec.kind, spec.as_json())
        now = _now()
        job = Job(id=id, kind=spec.kind, title=spec.title, created=now, changed=now, bytes=num_bytes)
        job.num_flops = len(spec.flops)
        self._jobs[id] = job
        self._keep(job)
        return job

    def solve_here(self, spec: JobSpec, *, id: str) -> Job:
        """Returns a job that was done at once, in this process: one so small that a worker takes longer to start."""
        with self._lock:
            job = self._add(spec, id, None)
            folder, said = self.folder_of(job), io.StringIO()
            limits = Limits(num_bytes=self.settings.find_job_bytes())
            voice = Voice(said)
            try:
                with folder.writing():
                    solve_job(folder, spec, limits, Controls(io.StringIO()), voice)
            except EquipoiseError as error:  # the server is of use without it
                tell_failure(voice, error, folder.path)
            for line in said.getvalue().splitlines():
                self._hear(job, json.loads(line))
        self.on_change()
        return job

    def find(self, id: str) -> Job:
        """Returns the job of an id; refuses an unknown one."""
        with self._lock:
            if id in self._jobs:
                self._forget_if_gone(self._jobs[id])
            if id not in self._jobs:
                raise ApiError(404, "there is no such job", field="id", got=id)
            return self._jobs[id]

    def _forget_if_gone(self, job: Job) -> None:
        """Forgets a job whose folder somebody removed; its worker, if it has one, has nowhere to write to."""
        if RunFolder.is_run(self.folder / job.id):
            return
        self._drop(job)
        if job.id in self._queue:
            self._queue.remove(job.id)
        job.state = "cancelled"
        if job.process is not None:
            job.process.kill()

    def _drop(self, job: Job) -> None:
        """Forgets a job, also on the pages that show it."""
        del self._jobs[job.id]
        self.events.add("removed", job=job.id)

    def list_jobs(self) -> list[Job]:
        """Returns all jobs, the newest first."""
        with self._lock:
            for job in list(self._jobs.values()):
                self._forget_if_gone(job)
            return sorted(self._jobs.values(), key=lambda job: job.created, reverse=True)

    def folder_of(self, job: Job) -> RunFolder:
        """Returns the folder of a job."""
        return RunFolder(self.folder / job.id)

    def describe(self, job: Job) -> dict[str, Any]:
        """Returns what lists say of a job."""
        spec = JobSpec.from_json(self.folder_of(job).config)
        has_result = (self.folder / job.id / "result.eq").is_file()
        progress = job.progress
        pot = None
        if progress is not None and progress.get("percent_of_pot") and progress.get("exploitability"):
            pot = 100 * progress["exploitability"] / progress["percent_of_pot"]
        return {
            "id": job.id,
            "kind": "flops" if job.kind == FLOPS else ("resolve" if spec.origin else "solve"),
            "title": job.title,
            "state": job.state,
            "place_in_queue": self._queue.index(job.id) + 1 if job.id in self._queue else 0,
            "bytes": job.bytes,
            "progress": progress,
            "target": job.target,
            "percent_target": 100 * job.target / pot if pot and job.target is not None else None,
            "solution": job.id if has_result else None,
            "error": job.error,
            "stopped_by": job.stopped_by,
            "can_resume": job.state in ("paused", "interrupted", "failed", "done", "cancelled"),
            "created": job.created,
            "changed": job.changed,
            "said": list(job.said),
            "num_done": job.num_done,
            "num_flops": job.num_flops,
            "origin": spec.origin,
        }

    def pause(self, id: str) -> Job:
        """Asks a job to hold on, keeping its memory."""
        with self._lock:
            job = self.find(id)
            if job.state == "waiting":
                self._queue.remove(id)
                self._set_state(job, "paused")
            elif job.state in ("building", "running"):
                self._tell(job, Command.PAUSE)
                self._set_state(job, "pausing")
            elif job.state not in ("pausing", "paused"):
                raise ApiError(409, f"a job that is {job.state} cannot be paused")
            return job

    def resume(self, id: str, totals: Mapping[str, Any]) -> Job:
        """Lets a job go on, to new limits if there are any."""
        with self._lock:
            job = self._find_left(id)
            if job.process is not None and job.state == "pausing" and not totals:
                self._go_on(job)
                return job
            if job.state in ("waiting", "building", "running") and not totals:
                return job
            if job.state == "waiting" or (job.process is not None and (job.state != "paused" or totals)):
                raise ApiError(409, f"the job is {job.state}: new limits can be set when it has ended")
            make_request(JobSpec.from_json(self.folder_of(job).config).request, totals)  # refuses what cannot be
            if len(self._queue) >= self.settings.most_waiting:
                raise ApiError(429, f"{len(self._queue)} jobs are waiting already: try again when one is done")
            job.totals |= {name: value for name, value in totals.items() if value is not None}
            job.error = job.stopped_by = None
            self._queue.append(id)
            self._set_state(job, "waiting")
            self._schedule()
            return job

    def stop(self, id: str) -> Job:
        """Asks a job to end and keep what it has."""
        with self._lock:
            job = self.find(id)
            if job.state == "waiting":
                self._queue.remove(id)
            if job.state == "waiting" and job.process is None:
                self._set_state(job, "cancelled")
            elif job.process is not None and job.state in ("waiting", *ACTIVE):
                self._tell(job, Command.STOP)
                self._set_state(job, "stopping")
            elif job.state == "paused" and self.folder_of(job).result.exists():  # since before a restart: it is kept
                job.stopped_by = "interrupted"
                self._set_state(job, "done")
            elif job.state == "paused":  # before it began
                self._set_state(job, "cancelled")
            return job

    def cancel(self, id: str) -> Job:
        """Ends a job at once and drops what it has."""
        with self._lock:
            job = self.find(id)
            if job.state == "done":
                raise ApiError(409, "the job is done: remove it if what it found is not wanted")
            if id in self._queue:
                self._queue.remove(id)
            process = job.process
            if job.state not in FINAL:
                job.state = "cancelled"  # before the worker's end is heard
            if process is not None:
                process.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(SECONDS_TO_END)  # a save under way would bring back what is dropped
            result = self.folder_of(job).result
            result.unlink(missing_ok=True)
            remove_stale(result)
            self._set_state(job, "cancelled")
            self.on_change()
            return job

    def remove(self, id: str) -> None:
        """Forgets a job that is over, and what it found."""
        with self._lock:
            job = self._find_left(id)
            if job.process is not None or job.state == "waiting":
                raise ApiError(409, f"a job that is {job.state} is not removed: stop or cancel it first")
            self._drop(job)
            shutil.rmtree(self.folder / id, ignore_errors=True)
        self.on_change()

    def close(self) -> None:
        """Lets workers keep what they have and leave; the next server goes on with their jobs."""
        with self._lock:
            self._is_closing = True
            processes = [job.process for job in self._jobs.values() if job.process is not None]
        for process in processes:
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.close()
        for process in processes:
            try:
                process.wait(SECONDS_TO_SAVE)
            except subprocess.TimeoutExpired:
                process.kill()
        for thread in self._threads:
            thread.join(SECONDS_TO_SAVE)

    def _find_left(self, id: str) -> Job:
        """Returns a job; one that is over is waited for until its worker, who said so, has left too."""
        job = self.find(id)
        self._worker_left.wait_for(lambda: job.process is None or job.state not in FINAL, SECONDS_TO_END)
        return job

    def _next_id(self) -> str:
        """Returns an id that no job has had since the server began: pages remember what they saw of a job."""
        numbers = [int(path.name[1:]) for path in self.folder.iterdir() if path.name[1:].isdecimal()]
        self._last_number = max(self._last_number, *numbers, 0) + 1
        return f"j{self._last_number}"

    def _schedule(self) -> None:
        """Lets as many jobs work as there is room for; those that hold on keep their memory, not their place."""
        while self._queue and not self._is_closing:
            if sum(
                job.process is not None and job.state not in ("paused", "waiting") for job in self._jobs.values()
            ) >= (self.settings.num_workers):
                return
            job = self._jobs[self._queue.pop(0)]
            if job.process is None:
                self._start_worker(job)
            else:
                self._go_on(job)

    def _go_on(self, job: Job) -> None:
        """Lets a job work that holds on."""
        self._tell(job, Command.RESUME)
        self._set_state(job, "running")

    def _start_worker(self, job: Job) -> None:
        how = {"num_bytes": self.settings.find_job_bytes(), "totals": job.totals}
        job.process = subprocess.Popen(
            [sys.executable, "-m", "equipoise.apps.web.worker", str(self.folder / job.id), json.dumps(how)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
            start_new_session=True,  # Ctrl-C at the server's terminal is the server's to hear
        )
        self._set_state(job, "building")
        thread = threading.Thread(target=self._follow, args=(job, job.process), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _follow(self, job: Job, process: subprocess.Popen[str]) -> None:
        """Hears a worker until it ends."""
        assert process.stdout is not None
        assert process.stdin is not None
        for line in process.stdout:
            with contextlib.suppress(ValueError):
                self._hear(job, json.loads(line))
        code = process.wait()
        with self._lock:
            job.process = None
            self._worker_left.notify_all()
            process.stdout.close()
            with contextlib.suppress(OSError):
                process.stdin.close()
            if self._is_closing:
                return
            if job.state not in FINAL and job.id not in self._queue:  # else it begins again from its last save
                job.error = f"the worker ended by signal {-code}" if code < 0 else "the worker ended without a result"
                self._set_state(job, "interrupted")
            self._schedule()
        self.on_change()

    def _hear(self, job: Job, message: dict[str, Any]) -> None:
        """Takes in what a worker says."""
        with self._lock:
            kind = message.pop("type")
            if job.state == "cancelled":
                return
            if kind == "progress":
                job.progress = message
                self.events.add("progress", job=job.id, **message)
            elif kind == "said":
                job.said = [*job.said, str(message["text"])][-MOST_SAID:]
                self.events.add("said", job=job.id, text=message["text"])
            elif kind == "sizes":
                job.bytes, job.target = message["bytes"], message["target"]
                self._keep(job)
            elif kind == "flop":
                job.num_done, job.num_flops = message["num_done"], message["num_flops"]
                self.events.add("flop", job=job.id, **message)
            elif kind == "state":
                job.error, job.stopped_by = message.get("error"), message.get("stopped_by")
                if not _is_overtaken(job.state, message["state"]) and not self._is_closing:
                    self._set_state(job, message["state"])
                if message["state"] == "paused":
                    self._schedule()

    def _tell(self, job: Job, command: Command) -> None:
        assert job.process is not None
        assert job.process.stdin is not None
        with contextlib.suppress(OSError):
            job.process.stdin.write(f"{command}\n")
            job.process.stdin.flush()

    def _set_state(self, job: Job, state: str) -> None:
        job.state, job.changed = state, _now()
        self._keep(job)
        self._announce(job)

    def _announce(self, job: Job) -> None:
        has_result = (self.folder / job.id / "result.eq").is_file()
        self.events.add(
            "state",
            job=job.id,
            state=job.state,
            solution=job.id if has_result else None,
            stopped_by=job.stopped_by,
            error=job.error,
            place_in_queue=self._queue.index(job.id) + 1 if job.id in self._queue else 0,
        )

    def _keep(self, job: Job) -> None:
        """Writes what a job is to its folder."""
        with contextlib.suppress(CheckpointError):  # the folder may have been removed meanwhile
            kept = {name: getattr(job, name) for name in KEPT}
            write_text(self.folder / job.id / RECORD, json.dumps(kept, indent=1))

    def _last_progress(self, job: Job) -> dict[str, Any] | None:
        records = [one for one in self.folder_of(job).events() if one["event"] in ("progress", "end")]
        return {name: records[-1].get(name) for name in ("iteration", "seconds", "exploitability")} if records else None


def _is_overtaken(state: str, told: str) -> bool:
    """Returns whether a worker tells of a state from before it was asked for the one that its job has."""
    if told == "paused":
        return state not in ("pausing", "paused")
    return told in ("building", "running") and state in ("pausing", "paused", "stopping", "waiting")


def _read_job(path: Path) -> Job | None:
    """Returns the job of a folder, None if it holds none."""
    try:
        found = json.loads((path / RECORD).read_text())
        RunFolder(path)
        return Job(id=path.name, **{name: found[name] for name in KEPT})
    except (OSError, ValueError, KeyError, TypeError, CheckpointError):
        return None


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
