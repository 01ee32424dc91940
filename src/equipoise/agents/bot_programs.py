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
import shlex
import weakref
from pathlib import Path
from typing import Any, Final

import numpy as np

from equipoise.agents.base import Observation
from equipoise.agents.programs import LEAST_SECONDS_TO_START, Program, close_with, parse_command, shorten
from equipoise.core.errors import AgentFailedError, ConfigError
from equipoise.games.base import Game
from equipoise.games.holdem.rules import Holdem
from equipoise.games.holdem.seen_table import SeenTable, read_table

__all__ = ["BotAgent", "digest_bot", "limit_bot", "make_bot"]

PROTOCOL: Final = 1  # raised when messages change
DEFAULT_SECONDS: Final = 10.0  # for an answer; the first one may wait for the program to start
MOST_MOVES: Final = 64  # that a question lists; more raises are given by their limits
SECONDS_PATTERN: Final = re.compile(r"seconds=([0-9]{1,6}(?:\.[0-9]{1,6})?),(.*)", re.DOTALL)
EXAMPLE: Final = '{"action": 1}'


def make_bot(game: Game[Any], text: str) -> BotAgent:
    """Returns the agent of `[seconds=S,]COMMAND`; the command is split as a shell would, and started by no shell."""
    seconds, command = _split(text)
    return BotAgent(game, parse_command(command, text, "bot", "a bot"), seconds=seconds)


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
        self._program: Program | None = None
        self._seat, self._num_games, self._num_answers = 0, 0, 0

    def begin_game(self, seat: int) -> None:
        """Tells the bot that a game begins, and starts it if it does not run."""
        if self._program is None:
            self._program = Program(self._words)
            weakref.finalize(self, self._program.close)
            close_with(self)
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
            raise self._failed(f"said {shorten(stray)} without being asked; words for people go to standard error")
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
            raise self._failed(f"answered {shorten(line)}, expected a line such as {EXAMPLE}") from None
        action = given
        if isinstance(given, str):
            action = _find_named(given, observation, table)
        if isinstance(action, bool) or not isinstance(action, int) or action not in observation.actions:
            raise self._failed(
                f"chose {shorten(json.dumps(given))} at {observation.infostate!r}, legal: "
                f"{shorten(', '.join(map(str, observation.actions)), quoted=False)}"
            )
        return action

    def _tell(self, **message: Any) -> None:
        program = self._running()
        if not program.write_line(json.dumps(message), max(self.seconds, LEAST_SECONDS_TO_START)):
            raise self._failed(program.explain_end() or "does not read what it is told")

    def _running(self) -> Program:
        if self._program is None:
            raise ConfigError(f"bot {self.name} must be told that a game begins before anything else")
        return self._program

    def _failed(self, what: str) -> AgentFailedError:
        """Ends the program and returns the error that ends the match."""
        self.close()
        return AgentFailedError(f"bot {shorten(shlex.join(self._words), quoted=False)}: {what}")


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
