# SPDX-License-Identifier: Apache-2.0
"""Bots of other programs: a command whose standard input and output speak JSON, a line a message.

A bot is told `begin`, `see`, `act` and `end`, and answers `act` alone. docs/bots.md describes every field. What a bot
does wrong ends its match with one line; it is never given another move than the one it chose.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import threading
import time
import weakref
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from equipoise.agents.base import Observation
from equipoise.core.errors import AgentFailedError, ConfigError
from equipoise.core.files import describe_os_error
from equipoise.games.base import Game
from equipoise.games.holdem.rules import Holdem
from equipoise.games.holdem.seen_table import SeenTable, read_table

__all__ = ["BotAgent", "close_bots", "digest_bot", "limit_bot", "make_bot"]

PROTOCOL: Final = 1  # raised when messages change
DEFAULT_SECONDS: Final = 10.0  # for an answer; the first one may wait for the program to start
LEAST_SECONDS_TO_START: Final = 30.0
SECONDS_TO_END: Final = 1.0
LONGEST_LINE: Final = 1 << 16  # bytes of an answer
SHOWN: Final = 80  # characters of an answer or of a command, in messages
MOST_MOVES: Final = 64  # that a question lists; more raises are given by their limits
SECONDS_PATTERN: Final = re.compile(r"seconds=([0-9]{1,6}(?:\.[0-9]{1,6})?),(.*)", re.DOTALL)
EXAMPLE: Final = '{"action": 1}'

_running: weakref.WeakSet[BotAgent] = weakref.WeakSet()


def make_bot(game: Game[Any], text: str) -> BotAgent:
    """Returns the agent of `[seconds=S,]COMMAND`; the command is split as a shell would, and started by no shell."""
    seconds, command = _split(text)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"the command of a bot cannot be read: {error}, got {command[:SHOWN]!r}") from None
    if not words:
        raise ConfigError(f"a bot is written bot:COMMAND, got nothing but {text[:SHOWN]!r}")
    if shutil.which(words[0]) is None:
        raise ConfigError(f"there is no program {words[0]!r} to start as a bot")
    return BotAgent(game, words, seconds=seconds)


def limit_bot(text: str, seconds: float) -> str:
    """Returns a bot's settings with so many seconds for an answer.

    >>> limit_bot("seconds=9,python mine.py", 2.0)
    'seconds=2,python mine.py'
    """
    return f"seconds={seconds:g},{_split(text)[1]}"


def digest_bot(text: str) -> str | None:
    """Returns a short hash over the files that a bot's command names, None if it names none."""
    with contextlib.suppress(ValueError):
        files = [Path(word) for word in shlex.split(_split(text)[1])[1:] if os.path.isfile(word)]
        if files:
            return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    return None


def _split(text: str) -> tuple[float, str]:
    """Returns the seconds for an answer and the command."""
    match = SECONDS_PATTERN.fullmatch(text.strip())
    if match is None:
        return DEFAULT_SECONDS, text.strip()
    if not float(match[1]) > 0:
        raise ConfigError(f"seconds of a bot must be positive, got {match[1]}")
    return float(match[1]), match[2].strip()


def close_bots() -> None:
    """Ends the programs that this process has started as bots; one that plays again is started again."""
    for bot in list(_running):
        bot.close()


class BotAgent:
    """A program that plays; started with its first game, and ended with its match."""

    def __init__(self, game: Game[Any], words: list[str], *, seconds: float = DEFAULT_SECONDS) -> None:
        """Is ready to start.

        Args:
            game: what is played.
            words: the program and its arguments.
            seconds: for an answer; the first may take longer, see `LEAST_SECONDS_TO_START`.
        """
        self.game, self.seconds = game, seconds
        self.name = Path(words[-1] if len(words) > 1 and os.path.isfile(words[-1]) else words[0]).name
        self.needs_names = not isinstance(game, Holdem)  # there bets are named from the table
        self._words = words
        self._program: _Program | None = None
        self._seat, self._num_games, self._num_answers = 0, 0, 0

    def begin_game(self, seat: int) -> None:
        """Tells the bot that a game begins, and starts it if it does not run."""
        if self._program is None:
            self._program = _Program(self._words)
            weakref.finalize(self, self._program.close)
            _running.add(self)
        self._seat = seat
        self._num_games += 1
        spec = self.game.spec
        self._tell(
            type="begin",
            protocol=PROTOCOL,
            game=spec.name,
            label=spec.label,
            num_players=spec.num_players,
            seat=seat,
            number=self._num_games,
        )

    def observe(self, observation: Observation) -> None:
        """Tells the bot what its seat sees."""
        self._tell(type="see", **self._describe(observation)[0])

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns what the bot answers; raises `AgentFailedError` if that is no move, or nothing in time."""
        program = self._running()
        if stray := program.read_stray():
            raise self._failed(f"said {_shorten(stray)} without being asked; words for people go to standard error")
        seen, table = self._describe(observation)
        moves = _list_moves(observation, table)
        self._tell(type="act", **seen, **moves, random=round(rng.random(), 9))
        seconds = self.seconds if self._num_answers else max(self.seconds, LEAST_SECONDS_TO_START)
        line = program.read_line(seconds)
        if line is None:
            raise self._failed(program.explain_end() or f"gave no answer within {seconds:g} seconds")
        self._num_answers += 1
        return self._read_answer(line, observation, table)

    def end_game(self, won: float) -> None:
        """Tells the bot what it won."""
        self._tell(type="end", seat=self._seat, won=won)

    def close(self) -> None:
        """Ends the program."""
        if self._program is not None:
            self._program.close()
            self._program = None
            self._num_answers = 0
            _running.discard(self)

    def _describe(self, observation: Observation) -> tuple[dict[str, Any], SeenTable | None]:
        """Returns what every message about the game says, and the table of hold'em."""
        seen: dict[str, Any] = {
            "seat": observation.seat,
            "infostate": observation.infostate,
            "public_state": observation.public_state,
        }
        if not isinstance(self.game, Holdem):
            return seen, None
        table = read_table(self.game, observation.infostate, observation.seat)
        return {**seen, "table": table.as_dict()}, table

    def _read_answer(self, line: str, observation: Observation, table: SeenTable | None) -> int:
        try:
            answer = json.loads(line)
            given = answer["action"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._failed(f"answered {_shorten(line)}, expected a line such as {EXAMPLE}") from None
        action = given
        if isinstance(given, str):
            action = _find_named(given, observation, table)
        if isinstance(action, bool) or not isinstance(action, int) or action not in observation.actions:
            raise self._failed(
                f"chose {_shorten(json.dumps(given))} at {observation.infostate!r}, legal: "
                f"{_shorten(', '.join(map(str, observation.actions)), quoted=False)}"
            )
        return action

    def _tell(self, **message: Any) -> None:
        program = self._running()
        if not program.write_line(json.dumps(message), max(self.seconds, LEAST_SECONDS_TO_START)):
            raise self._failed(program.explain_end() or "does not read what it is told")

    def _running(self) -> _Program:
        if self._program is None:
            raise ConfigError(f"bot {self.name} must be told that a game begins before anything else")
        return self._program

    def _failed(self, what: str) -> AgentFailedError:
        """Ends the program and returns the error that ends the match."""
        self.close()
        return AgentFailedError(f"bot {_shorten(shlex.join(self._words), quoted=False)}: {what}")


def _list_moves(observation: Observation, table: SeenTable | None) -> dict[str, Any]:
    """Returns the legal moves by number, name and kind; of very many raises only the limits."""
    moves = list(zip(observation.actions, observation.classes, strict=True))
    limits: dict[str, Any] = {}
    if table is not None and (raises := table.raises):
        limits = {"raise_from": raises[0], "raise_to": raises[-1]}
        if len(moves) > MOST_MOVES:
            moves = moves[: -len(raises)]
    names = dict(zip(observation.actions, observation.names, strict=True)) if table is None else {}
    listed = [
        {"action": action, "name": names[action] if table is None else table.name(action), "kind": kind.value}
        for action, kind in moves
    ]
    return {"moves": listed, **limits}


def _find_named(name: str, observation: Observation, table: SeenTable | None) -> int | None:
    """Returns the legal action of a name, None if there is none."""
    names = observation.names if table is None else map(table.name, observation.actions)
    words = name.strip().lower()
    return next((a for a, own in zip(observation.actions, names, strict=True) if own.lower() == words), None)


def _shorten(text: str, *, quoted: bool = True) -> str:
    short = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    return repr(short) if quoted else short


class _Program:
    """A started program with a line to it and one from it, neither of which can hang this process."""

    def __init__(self, words: list[str]) -> None:
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the match: the bot is told to end when that ends
            )
        except OSError as error:
            raise AgentFailedError(f"bot {shlex.join(words)} cannot be started: {describe_os_error(error)}") from None
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
