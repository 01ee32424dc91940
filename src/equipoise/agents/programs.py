# SPDX-License-Identifier: Apache-2.0
"""Other programs that play: started, told a line, asked for a line, ended; none of it can hang this process."""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import threading
import time
import weakref
from typing import IO, Final, Protocol

from equipoise.core.errors import AgentFailedError, ConfigError
from equipoise.core.files import describe_os_error

__all__ = [
    "LEAST_SECONDS_TO_START",
    "SHOWN",
    "Closing",
    "Program",
    "close_programs",
    "close_with",
    "parse_command",
    "shorten",
]

LEAST_SECONDS_TO_START: Final = 30.0  # for a first answer
SECONDS_TO_END: Final = 1.0
LONGEST_LINE: Final = 1 << 16  # bytes of an answer
SHOWN: Final = 80  # characters of an answer or of a command, in messages


class Closing(Protocol):
    """An agent that has started a program."""

    def close(self) -> None:
        """Ends it; an agent that plays again starts it again."""
        ...


_agents: weakref.WeakSet[Closing] = weakref.WeakSet()


def close_with(agent: Closing) -> None:
    """Has an agent's program ended by `close_programs`."""
    _agents.add(agent)


def close_programs() -> None:
    """Ends the programs that agents of this process have started."""
    for agent in list(_agents):
        agent.close()
        _agents.discard(agent)


def parse_command(command: str, given: str, agent: str, kind: str) -> list[str]:
    """Returns a program and its arguments, split as a shell would; raises `ConfigError` if there is no such program.

    Args:
        command: as it was typed.
        given: all that was typed behind the colon, settings included.
        agent: name that stands before the colon.
        kind: of program, for messages: "a bot".

    >>> parse_command("python3 'my bot.py'", "seconds=2,python3 'my bot.py'", "bot", "a bot")
    ['python3', 'my bot.py']
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"the command of {kind} cannot be read: {error}, got {command[:SHOWN]!r}") from None
    if not words:
        raise ConfigError(f"{kind} is written {agent}:COMMAND, got nothing but {given[:SHOWN]!r}")
    if shutil.which(words[0]) is None:
        remedy = f"; Python starts it: python3 {words[0]}" if words[0].endswith(".py") else ""
        raise ConfigError(f"there is no program {words[0]!r} to start as {kind}{remedy}")
    return words


def shorten(text: str, *, quoted: bool = True) -> str:
    """Returns the beginning of a text, for messages."""
    short = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    return repr(short) if quoted else short


class Program:
    """A started program with a line to it and one from it, neither of which can hang this process."""

    def __init__(self, words: list[str]) -> None:
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the match: the program is told to end when that ends
            )
        except OSError as error:
            raise AgentFailedError(f"{shlex.join(words)} cannot be started: {describe_os_error(error)}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        for end in (self._to, self._from):
            os.set_blocking(end, False)
        self._is_closed = False
        self._buffer = b""
        self._complaint = b""  # the last words on standard error
        self._listener = threading.Thread(target=self._listen, args=(self._process.stderr,), daemon=True)
        self._listener.start()

    def write_line(self, line: str, seconds: float) -> bool:
        """Returns whether the program took a line in time."""
        data = memoryview(line.encode() + b"\n")
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._to, selectors.EVENT_WRITE)
            while data:
                if not selector.select(max(deadline - time.monotonic(), 0)):
                    return False
                try:
                    data = data[os.write(self._to, data) :]
                except BlockingIOError:
                    continue
                except OSError:
                    return False
        return True

    def read_line(self, seconds: float) -> str | None:
        """Returns the next line, None if none comes in time or the program has ended."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._buffer and len(self._buffer) < LONGEST_LINE:
            if not self._read(max(deadline - time.monotonic(), 0)):
                return None
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode(errors="replace").strip()

    def read_stray(self) -> str:
        """Returns what the program said without being asked."""
        while len(self._buffer) < LONGEST_LINE and self._read(0):
            pass
        return self._buffer.decode(errors="replace").strip()

    def _read(self, seconds: float) -> bool:
        """Returns whether something came."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._from, selectors.EVENT_READ)
            if not selector.select(seconds):
                return False
        try:
            data = os.read(self._from, LONGEST_LINE)
        except OSError:
            return False
        self._buffer += data
        return bool(data)

    def explain_end(self) -> str:
        """Returns how the program ended, nothing if it runs."""
        try:
            code = self._process.wait(SECONDS_TO_END / 4)
        except subprocess.TimeoutExpired:
            return ""
        self._listener.join(SECONDS_TO_END)
        lines = self._complaint.decode(errors="replace").strip().splitlines()
        said = f": {lines[-1].strip()[:SHOWN]}" if lines else ""
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}{said}"
        return f"ended with exit code {code}{said}"

    def close(self) -> None:
        """Ends the program: it is told by the end of its input, and made to if it does not listen."""
        process = self._process
        if self._is_closed:
            return
        self._is_closed = True
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        try:
            process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._listener.join(SECONDS_TO_END)
        for stream in (process.stdout, process.stderr):
            if stream is not None and not (stream is process.stderr and self._listener.is_alive()):
                stream.close()

    def _listen(self, stream: IO[bytes]) -> None:
        """Keeps the last words that the program says to people."""
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(stream.fileno(), 4096):
                self._complaint = (self._complaint + data)[-4096:]
