# SPDX-License-Identifier: Apache-2.0
"""`equipoise engine`: an agent as an engine that other programs use, over UCI, GTP or lines of JSON.

Each protocol is a loop over lines that answers on standard output; what it cannot do is said in the protocol's own way,
and nothing that is sent ends it but `quit` and the end of the input.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final

import numpy as np
import typer

from equipoise.agents.base import Agent, Observation, observe_state
from equipoise.agents.bot_programs import PROTOCOL
from equipoise.agents.notation import AgentText, describe_agents, limit_seconds
from equipoise.core.errors import ConfigError, EquipoiseError
from equipoise.core.provenance import version
from equipoise.games.base import TERMINAL, ActionClass, Game
from equipoise.games.board_moves import CHESS, GO, list_gtp_moves, list_uci_moves
from equipoise.games.registry import make_game, parse_game

__all__ = ["EngineOptions", "Protocol", "answer_gtp", "answer_json", "answer_uci", "engine"]

NO_MOVE: Final = "0000"
LARGEST_BOARD: Final = 19
Make = Callable[[Game[Any]], Agent]


class Protocol(enum.StrEnum):
    """What an engine speaks."""

    UCI = "uci"
    GTP = "gtp"
    JSONL = "jsonl"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """What `equipoise engine` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise engine ismcts:500 --protocol gtp",
        "equipoise engine uniform --protocol uci",
    )

    agent: Annotated[str, typer.Argument(help=f"Who plays: {describe_agents()}.")]
    protocol: Annotated[Protocol, typer.Option(help="uci for chess, gtp for Go, jsonl for any game.")]
    seed: Annotated[int, typer.Option(min=0, help="Of the agent.")] = 0
    seconds_per_decision: Annotated[
        float | None, typer.Option(help="The longest that an agent which searches may take.", metavar="S")
    ] = None
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="As in every command; an engine only ever says answers.")
    ] = False


def engine(options: EngineOptions) -> None:
    """Let another program play against an agent: commands on standard input, answers on standard output."""
    (maker,) = limit_seconds([AgentText(options.agent)], options.seconds_per_decision)
    answer = {Protocol.UCI: answer_uci, Protocol.GTP: answer_gtp, Protocol.JSONL: answer_json}[options.protocol]
    for line in answer(sys.stdin, maker, np.random.default_rng(options.seed)):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def _choose(game: Game[Any], agent: Agent, actions: Iterable[int], rng: np.random.Generator) -> int:
    """Returns what an agent does after some actions, having seen each of them from its seat."""
    states = [game.initial_state()]
    for action in actions:
        states.append(game.apply(states[-1], action))
    seat = game.actor(states[-1])
    agent.begin_game(seat)
    for before, state in itertools.pairwise(states):
        if game.actor(before) != seat:
            agent.observe(observe_state(game, state, seat))
    return agent.act(observe_state(game, states[-1], seat), rng=rng)


def answer_uci(lines: Iterable[str], make: Make, rng: np.random.Generator) -> Iterator[str]:
    """Yields the answers to the commands of the Universal Chess Interface."""
    game = make_game(CHESS)
    agent = make(game)
    played: list[int] = []
    for line in lines:
        command, *words = line.split() or [""]
        if command == "quit":
            return
        if command == "uci":
            yield from (f"id name Equipoise {version()} {agent.name}", "id author the authors of Equipoise", "uciok")
        elif command == "isready":
            yield "readyok"
        elif command == "ucinewgame":
            played = []
        elif command == "position":
            try:
                played = _read_position(game, words)
            except ConfigError as error:
                yield f"info string {error}"
        elif command == "go":
            state = game.initial_state()
            for action in played:
                state = game.apply(state, action)
            if game.actor(state) == TERMINAL:
                yield f"bestmove {NO_MOVE}"
                continue
            action = _choose(game, agent, played, rng)
            yield "bestmove " + next(word for word, move in list_uci_moves(state).items() if move == action)


def _read_position(game: Game[Any], words: list[str]) -> list[int]:
    """Returns the actions of `startpos [moves ...]`."""
    if words[:1] != ["startpos"] or words[1:2] not in ([], ["moves"]):
        raise ConfigError("positions are given by their moves: position startpos moves e2e4 ...")
    state = game.initial_state()
    played: list[int] = []
    for word in words[2:]:
        moves = list_uci_moves(state) if game.actor(state) != TERMINAL else {}
        if word not in moves:
            raise ConfigError(f"{word[:20]} is not legal after {len(played)} moves; the position stays as it was")
        played.append(moves[word])
        state = game.apply(state, moves[word])
    return played


class _GoBoard:
    """A game of Go as GTP's commands change it."""

    def __init__(self, make: Make) -> None:
        self._make, self.size, self.komi = make, LARGEST_BOARD, 7.5
        self.clear()

    def clear(self) -> None:
        """Begins anew with the size and the komi that were said last."""
        self.game = parse_game(f"{GO}(board_size={self.size},komi={self.komi})")
        self.agent = self._make(self.game)
        self.played: list[int] = []
        self.state = self.game.initial_state()

    def set_komi(self, komi: float) -> None:
        """Changes the komi; the moves stay."""
        played, self.komi = self.played, komi
        self.clear()
        for action in played:
            self._apply(action)

    def play(self, colour: str, word: str) -> None:
        """Makes a move; raises `ConfigError` for one that cannot be made."""
        self._check_turn(colour)
        moves = list_gtp_moves(self.state)
        if word.upper() not in moves:
            raise ConfigError("illegal move")
        self._apply(moves[word.upper()])

    def generate(self, colour: str, rng: np.random.Generator) -> str:
        """Makes the agent's move and returns it."""
        self._check_turn(colour)
        moves = list_gtp_moves(self.state)
        action = _choose(self.game, self.agent, self.played, rng)
        self._apply(action)
        return next(word for word, move in moves.items() if move == action)

    def _check_turn(self, colour: str) -> None:
        if self.game.actor(self.state) == TERMINAL:
            raise ConfigError("the game is over")
        if colour.lower()[:1] not in ("b", "w"):
            raise ConfigError("a colour is b or w")
        if (colour.lower()[:1] == "w") != len(self.played) % 2:
            raise ConfigError(f"it is the turn of {'w' if len(self.played) % 2 else 'b'}: pass comes first")

    def _apply(self, action: int) -> None:
        self.played.append(action)
        self.state = self.game.apply(self.state, action)


def answer_gtp(lines: Iterable[str], make: Make, rng: np.random.Generator) -> Iterator[str]:
    """Yields the answers to the commands of the Go Text Protocol, version 2."""
    board = _GoBoard(make)
    commands: dict[str, Callable[[list[str]], str]] = {
        "protocol_version": lambda _words: "2",
        "name": lambda _words: f"Equipoise {board.agent.name}",
        "version": lambda _words: version(),
        "list_commands": lambda _words: "\n".join(sorted(commands)),
        "known_command": lambda words: str(bool(words) and words[0] in commands).lower(),
        "boardsize": lambda words: _set_size(board, words),
        "komi": lambda words: _set_komi(board, words),
        "clear_board": lambda _words: _clear(board),
        "play": lambda words: _play(board, words),
        "genmove": lambda words: board.generate(_one(words), rng),
        "quit": lambda _words: "",
    }
    for line in lines:
        words = line.partition("#")[0].split()
        number = words.pop(0) if words and words[0].isdecimal() else ""
        if not words:
            continue
        command, *rest = words
        try:
            answer = commands[command](rest) if command in commands else None
        except (EquipoiseError, ValueError) as error:
            yield f"?{number} {str(error).splitlines()[0]}\n"
            continue
        yield f"?{number} unknown command\n" if answer is None else f"={number} {answer}\n"
        if command == "quit":
            return


def _clear(board: _GoBoard) -> str:
    board.clear()
    return ""


def _one(words: list[str]) -> str:
    if len(words) != 1:
        raise ConfigError("syntax error")
    return words[0]


def _set_size(board: _GoBoard, words: list[str]) -> str:
    size = _one(words)
    if not size.isdecimal() or not 1 < int(size[:3]) <= LARGEST_BOARD:
        raise ConfigError("unacceptable size")
    board.size = int(size)
    board.clear()
    return ""


def _set_komi(board: _GoBoard, words: list[str]) -> str:
    try:
        komi = float(_one(words))
    except ValueError:
        raise ConfigError("syntax error") from None
    if not abs(komi) <= LARGEST_BOARD**2:
        raise ConfigError("syntax error")
    board.set_komi(komi)
    return ""


def _play(board: _GoBoard, words: list[str]) -> str:
    if len(words) != 2:
        raise ConfigError("syntax error")
    board.play(*words)
    return ""


def answer_json(lines: Iterable[str], make: Make, rng: np.random.Generator) -> Iterator[str]:
    """Yields the answers to the messages that bots are sent (docs/bots.md): of `act` alone."""
    agent: Agent | None = None
    label = ""
    for line in lines:
        try:
            message = json.loads(line)
            kind = message["type"]
            if kind == "begin":
                if message.get("protocol") != PROTOCOL:
                    raise ConfigError(f"protocol {PROTOCOL} is spoken here, got {message.get('protocol')!r}")
                if agent is None or label != message["label"]:
                    label = message["label"]
                    agent = make(parse_game(label))
                agent.begin_game(int(message["seat"]))
            elif agent is None:
                raise ConfigError("a game must begin before anything else")
            elif kind == "see":
                agent.observe(_read_observation(message))
            elif kind == "act":
                yield json.dumps({"action": int(agent.act(_read_observation(message), rng=rng))})
        except (EquipoiseError, ValueError, KeyError, TypeError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else str(error).splitlines()[0]
            yield json.dumps({"error": what})


def _read_observation(message: Mapping[str, Any]) -> Observation:
    moves = message.get("moves", [])
    actions = [int(move["action"]) for move in moves]
    classes = [ActionClass(move["kind"]) for move in moves]
    if "raise_from" in message and ActionClass.RAISE not in classes:  # too many raises to list
        raises = range(int(message["raise_from"]), int(message["raise_to"]) + 1)
        actions += raises
        classes += [ActionClass.RAISE] * len(raises)
    return Observation(
        int(message["seat"]), message["infostate"], message["public_state"], tuple(actions), tuple(classes)
    )
