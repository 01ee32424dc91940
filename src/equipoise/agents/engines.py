# SPDX-License-Identifier: Apache-2.0
"""Engines of chess and Go as agents: programs that speak UCI or GTP, each told the game so far and asked for a move.

What an engine does wrong (no answer, an illegal move, its end) ends the match with one line; it is never given another
move than the one it chose.
"""

from __future__ import annotations

import abc
import re
import shlex
import time
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from equipoise.agents.base import Observation
from equipoise.agents.programs import LEAST_SECONDS_TO_START, Program, close_with, parse_command, shorten
from equipoise.core.errors import AgentFailedError, ConfigError
from equipoise.games.base import Game
from equipoise.games.board_moves import CHESS, GO, check_board_game, list_gtp_moves, list_uci_moves, replay
from equipoise.games.openspiel import OpenSpielGame, OpenSpielState

__all__ = ["GTPAgent", "UCIAgent", "limit_engine", "make_gtp", "make_uci"]

DEFAULT_SECONDS: Final = 0.1  # that an engine of chess thinks
GRACE: Final = 10.0  # seconds beyond what an engine is asked to think for
LONGEST_THOUGHT: Final = 60.0  # of an engine that is not asked for a time
SETTING: Final = re.compile(r"\s*(seconds|nodes|depth|skill)=([0-9]{1,9}(?:\.[0-9]{1,6})?),(.*)", re.DOTALL)
WHOLE: Final = ("nodes", "depth", "skill")


def make_uci(game: Game[Any], text: str) -> UCIAgent:
    """Returns the agent of `[seconds=S,][nodes=N,][depth=D,][skill=K,]COMMAND` for chess."""
    settings, words = _parse(text, "uci")
    return UCIAgent(check_board_game(game, CHESS, "uci"), words, settings)


def make_gtp(game: Game[Any], text: str) -> GTPAgent:
    """Returns the agent of `[seconds=S,]COMMAND` for Go; the seconds are the longest it may take."""
    settings, words = _parse(text, "gtp")
    if set(settings) - {"seconds"}:
        raise ConfigError(f"engines of Go take seconds alone; their strength is set by their command, got {text!r}")
    return GTPAgent(check_board_game(game, GO, "gtp"), words, settings)


def limit_engine(text: str, seconds: float) -> str:
    """Returns an engine's settings with so many seconds for a move.

    >>> limit_engine("seconds=1,skill=0,stockfish", 0.5)
    'seconds=0.5,skill=0,stockfish'
    """
    settings, command = _split(text)
    pairs = {"seconds": seconds, **{key: value for key, value in settings.items() if key != "seconds"}}
    return "".join(f"{key}={value:g}," for key, value in pairs.items()) + command


def _split(text: str) -> tuple[dict[str, float], str]:
    settings: dict[str, float] = {}
    while (found := SETTING.match(text)) is not None:
        key, value, text = found.groups()
        if key in settings or (key in WHOLE and "." in value) or (key != "skill" and not float(value) > 0):
            raise ConfigError(f"an engine's {key} must be given once, as a positive number, got {key}={value}")
        settings[key] = float(value)
    return settings, text.strip()


def _parse(text: str, name: str) -> tuple[dict[str, float], list[str]]:
    settings, command = _split(text)
    return settings, parse_command(command, text, name, "an engine")


class _EngineAgent(abc.ABC):
    """What both protocols share: a program that is started with its first game and ended with its match."""

    def __init__(self, game: OpenSpielGame, words: list[str], settings: Mapping[str, float]) -> None:
        self.game, self.settings = game, settings
        self.name = Path(words[0]).name
        self._words = words
        self._program: Program | None = None

    def begin_game(self, seat: int) -> None:
        """Starts the engine if it does not run, and says that a new game begins."""
        if self._program is None:
            self._program = Program(self._words)
            weakref.finalize(self, self._program.close)
            close_with(self)
            self._greet()
        self._begin()

    def observe(self, observation: Observation) -> None:
        """Returns at once: a question says all that was played."""
        return

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns the move that the engine chooses; raises `AgentFailedError` if it is none, or none in time."""
        return self._choose(replay(self.game, observation.public_state))

    def close(self) -> None:
        """Ends the program."""
        if self._program is not None:
            self._program.close()
            self._program = None

    @abc.abstractmethod
    def _greet(self) -> None:
        """Says hello to a program that has just started."""

    @abc.abstractmethod
    def _begin(self) -> None:
        """Says that a new game begins."""

    @abc.abstractmethod
    def _choose(self, state: OpenSpielState) -> int:
        """Returns the engine's move."""

    def _tell(self, line: str) -> None:
        program = self._running()
        if not program.write_line(line, LEAST_SECONDS_TO_START):
            raise self._failed(program.explain_end() or "does not read what it is told")

    def _hear(self, seconds: float) -> Iterator[str]:
        """Yields lines of an answer; raises when the time is over."""
        program, deadline = self._running(), time.monotonic() + seconds
        while True:
            line = program.read_line(max(deadline - time.monotonic(), 0))
            if line is None:
                raise self._failed(program.explain_end() or f"gave no answer within {seconds:g} seconds")
            yield line

    def _find(self, word: str, moves: Mapping[str, int], state: OpenSpielState) -> int:
        if word not in moves:
            raise self._failed(
                f"chose {shorten(word)}, which is not legal after {shorten(_write(state), quoted=False)}"
            )
        return moves[word]

    def _running(self) -> Program:
        if self._program is None:
            raise ConfigError(f"engine {self.name} must be told that a game begins before anything else")
        return self._program

    def _failed(self, what: str) -> AgentFailedError:
        """Ends the program and returns the error that ends the match."""
        self.close()
        return AgentFailedError(f"engine {shorten(shlex.join(self._words), quoted=False)}: {what}")


class UCIAgent(_EngineAgent):
    """An engine of chess that speaks the Universal Chess Interface."""

    def _greet(self) -> None:
        self._tell("uci")
        self._wait_for("uciok")
        if "skill" in self.settings:
            self._tell(f"setoption name Skill Level value {self.settings['skill']:.0f}")

    def _begin(self) -> None:
        self._tell("ucinewgame")
        self._tell("isready")
        self._wait_for("readyok")

    def _choose(self, state: OpenSpielState) -> int:
        played = " ".join(move.to_lan() for move in state.inner.moves_history())
        self._tell(f"position startpos moves {played}" if played else "position startpos")
        self._tell(f"go {self._limits()}")
        seconds = self.settings.get("seconds", DEFAULT_SECONDS if not self._counts() else LONGEST_THOUGHT) + GRACE
        answer = next(line for line in self._hear(seconds) if line.startswith("bestmove"))
        return self._find(answer.removeprefix("bestmove").strip().split(" ")[0], list_uci_moves(state), state)

    def _counts(self) -> list[str]:
        return [f"{key} {self.settings[key]:.0f}" for key in ("nodes", "depth") if key in self.settings]

    def _limits(self) -> str:
        limits = self._counts()
        if "seconds" in self.settings or not limits:
            limits.append(f"movetime {max(round(1000 * self.settings.get('seconds', DEFAULT_SECONDS)), 1)}")
        return " ".join(limits)

    def _wait_for(self, word: str) -> None:
        next(line for line in self._hear(LEAST_SECONDS_TO_START) if line == word)


class GTPAgent(_EngineAgent):
    """An engine of Go that speaks the Go Text Protocol, version 2.

    One that resigns passes instead: the game is scored as it stands when both have passed.
    """

    def __init__(self, game: OpenSpielGame, words: list[str], settings: Mapping[str, float]) -> None:
        super().__init__(game, words, settings)
        self._played: tuple[int, ...] = ()  # what the engine knows

    def _greet(self) -> None:
        self._ask("protocol_version")

    def _begin(self) -> None:
        settings = dict(self.game.spec.parameters)
        self._ask(f"boardsize {settings.get('board_size', 19)}")
        self._ask("clear_board")
        self._ask(f"komi {settings.get('komi', 7.5)}")
        self._played = ()

    def _choose(self, state: OpenSpielState) -> int:
        if state.history[: len(self._played)] != self._played:
            self._begin()
        colour = self._catch_up(state)
        moves = list_gtp_moves(state)
        word = self._ask(f"genmove {colour}", self.settings.get("seconds", LONGEST_THOUGHT)).upper()
        action = self._find("PASS" if word == "RESIGN" else word, moves, state)
        # one that resigns has not played: it is told of its pass when it is asked again
        self._played = state.history if word == "RESIGN" else (*state.history, action)
        return action

    def _catch_up(self, state: OpenSpielState) -> str:
        """Tells the engine what it does not know; returns whose turn it is."""
        at = self.game.initial_state()
        colours = "bw"
        for number, action in enumerate(state.history):
            if number >= len(self._played):
                word = next(word for word, move in list_gtp_moves(at).items() if move == action)
                self._ask(f"play {colours[number % 2]} {word}")
            at = self.game.apply(at, action)
        return colours[len(state.history) % 2]

    def _ask(self, command: str, seconds: float = LEAST_SECONDS_TO_START) -> str:
        """Returns the answer to a command; raises if the engine refuses it."""
        self._tell(command)
        lines = self._hear(seconds + GRACE)
        answer = next(line for line in lines if line)
        if not answer.startswith("="):
            raise self._failed(f"answered {command!r} with {shorten(answer)}")
        next(line for line in lines if not line)  # an empty line ends an answer
        return re.sub(r"^=\d*\s*", "", answer).strip()


def _write(state: OpenSpielState) -> str:
    return f"{len(state.history)} moves: {state.inner.to_string().strip().splitlines()[0]}"
