# SPDX-License-Identifier: Apache-2.0
"""The process in which one engine is timed: one JSON request a line in, JSON answers out.

Requests are `{"operation": "open", ...}` with the fields of a `Task`, then any number of `check`, `time` and
`evaluate`. Answers are `{"progress": ...}` while a tree is built, and `{"result": ...}` or `{"error": ...}` at the end.
The process ends when its input does, whatever it is at: then whoever asked is gone.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TextIO

from equipoise.apps.bench.engines import ENGINES, Engine, Task
from equipoise.core.errors import EquipoiseError

__all__ = ["main", "time_calls"]

BATCHES_PER_MEASUREMENT = 8  # the clock is read about so often
LARGEST_BATCH = 1 << 18  # iterations in one call
READ_BYTES = 1 << 16  # at once


def time_calls(run: Callable[[int], None], seconds: float) -> tuple[int, float]:
    """Returns how many iterations ran in at least that many seconds, and the time they took.

    Args:
        run: runs so many iterations.
        seconds: least time to measure; one iteration runs in any case.
    """
    count, batch = 0, 1
    began = time.perf_counter()
    while True:
        run(batch)
        count += batch
        elapsed = time.perf_counter() - began
        if elapsed >= seconds:
            return count, elapsed
        wanted = count / max(elapsed, 1e-9) * seconds / BATCHES_PER_MEASUREMENT
        batch = max(1, min(int(wanted), 4 * batch, LARGEST_BATCH))


class _Worker:
    """An engine and the stream that its answers go to."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.engine: Engine | None = None

    def send(self, **answer: Any) -> None:
        self.stream.write(json.dumps(answer) + "\n")
        self.stream.flush()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Returns the result of a request."""
        operation = request.pop("operation")
        if operation == "open":
            task = Task(**request)
            self.engine = ENGINES[task.engine].build(task, lambda count, share: self.send(progress=[count, share]))
            return {"num_histories": self.engine.num_histories}
        assert self.engine is not None, "the first request opens an engine"
        if operation == "check":
            self.engine.advance(request["iterations"])
            return {"exploitability": self.engine.exploitability()}
        measured = self.engine.advance if operation == "time" else self.evaluate
        count, elapsed = time_calls(measured, request["seconds"])
        return {"count": count, "seconds": elapsed}

    def evaluate(self, count: int) -> None:
        assert self.engine is not None
        for _ in range(count):
            self.engine.exploitability()


def _read_requests(requests: queue.SimpleQueue[str]) -> None:
    """Puts every line of standard input into a queue, and ends the process with the last one."""
    # without a buffer of Python's, whose lock a failing main thread would wait for
    rest = b""
    while piece := os.read(sys.stdin.fileno(), READ_BYTES):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            requests.put(line.decode())
    os._exit(0)


def main() -> None:
    """Serves requests from standard input until it is closed."""
    # what libraries print goes to the error stream: standard output carries answers alone
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    worker = _Worker(answers)
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    while True:
        line = requests.get()
        try:
            worker.send(result=worker.answer(json.loads(line)))
        except EquipoiseError as error:
            worker.send(error=str(error))


if __name__ == "__main__":
    main()
