# SPDX-License-Identifier: Apache-2.0
"""Engines in processes of their own, as the benchmark talks to them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

from equipoise.apps.bench.engines import Task
from equipoise.core.cache import default_cache_directory
from equipoise.core.errors import EquipoiseError
from equipoise.trees.history import OnProgress

__all__ = ["EngineFailure", "EngineProcess"]

SECONDS_TO_LEAVE = 2.0
LINES_OF_COMPLAINT = 5
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class EngineFailure(EquipoiseError):
    """An engine that did not answer."""


class EngineProcess:
    """One engine, set up for one task in its own process; idle except while it is asked something."""

    def __init__(self, task: Task, *, on_progress: OnProgress | None = None) -> None:
        self.task = task
        self.on_progress = on_progress
        self.scratch = tempfile.TemporaryDirectory(prefix="equipoise-bench-")
        self.complaints = Path(self.scratch.name) / "complaints.txt"
        with open(self.complaints, "w", encoding="utf8") as complaints:
            # a session of its own: Ctrl-C reaches us alone, and we end the engine
            self.process = subprocess.Popen(
                [sys.executable, "-m", "equipoise.apps.bench.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                encoding="utf8",
                start_new_session=True,
                env=_environment(task, Path(self.scratch.name)),
            )
        self.num_histories: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def open(self) -> None:
        """Sets the engine up; builds or loads its tree."""
        self.num_histories = self._ask(operation="open", **dataclasses.asdict(self.task))["num_histories"]

    def check(self, iterations: int) -> float:
        """Advances the run and returns the exact exploitability that the engine itself computes."""
        return float(self._ask(operation="check", iterations=iterations)["exploitability"])

    def time_iterations(self, seconds: float) -> float:
        """Returns iterations per second, measured over at least so many seconds."""
        answer = self._ask(operation="time", seconds=seconds)
        return float(answer["count"] / answer["seconds"])

    def time_evaluation(self, seconds: float) -> float:
        """Returns the seconds that one exact exploitability takes."""
        answer = self._ask(operation="evaluate", seconds=seconds)
        return float(answer["seconds"] / answer["count"])

    def close(self) -> None:
        """Ends the process."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self.process.wait(timeout=SECONDS_TO_LEAVE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.scratch.cleanup()

    def _ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except OSError:
            raise self._failure() from None
        for line in self.process.stdout:
            answer = json.loads(line)
            if "error" in answer:
                raise EngineFailure(f"engine {self.task.engine}: {answer['error']}")
            if "result" in answer:
                result: dict[str, Any] = answer["result"]
                return result
            if self.on_progress is not None:
                self.on_progress(*answer["progress"])
        raise self._failure()

    def _failure(self) -> EngineFailure:
        """Returns the error of a process that ended, with the last lines that it wrote."""
        code = self.process.wait()
        last = " | ".join(self.complaints.read_text(encoding="utf8").strip().splitlines()[-LINES_OF_COMPLAINT:])
        return EngineFailure(f"engine {self.task.engine} on {self.task.game} ended with code {code}: {last}")


def _environment(task: Task, scratch: Path) -> dict[str, str]:
    """Returns the environment of an engine: libraries beside it get no threads of their own."""
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(task.num_threads))}
    if task.engine == "liteefg":
        # LiteEFG writes every game to a directory in the user's home: it gets one in our cache instead
        home = (default_cache_directory() or scratch) / "liteefg"
        home.mkdir(parents=True, exist_ok=True)
        environment["HOME"] = str(home)
    return environment
