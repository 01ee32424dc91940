# SPDX-License-Identifier: Apache-2.0
"""`equipoise dealer`: a table that bots of the Annual Computer Poker Competition's protocol sit down at.

As the protocol's authors advise, a match ends at the first answer that is malformed, not allowed or late.
"""

from __future__ import annotations

import dataclasses
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Annotated, ClassVar, Final

import numpy as np
import typer
from rich.table import Table

from equipoise.apps.acpc.lines import LineSocket, LostConnectionError
from equipoise.apps.acpc.seat import find_holdem
from equipoise.apps.display import make_console
from equipoise.apps.output import print_result, write_json
from equipoise.apps.shared_options import GameParameters, Json, Quiet
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.errors import AgentFailedError, CheckpointError, ConfigError, EquipoiseError, ParseError
from equipoise.core.files import check_writable, describe_os_error
from equipoise.core.machine import describe_origin
from equipoise.evaluation.matches import CHANCE_STREAM
from equipoise.evaluation.statistics import Estimate, describe_estimate, estimate_mean, format_estimate
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.holdem.acpc import VERSION, format_log_line, format_match_state, parse_action
from equipoise.games.holdem.rules import ALL_RAISES, Holdem, HoldemState
from equipoise.solvers.playouts import draw_chance

__all__ = ["DealerOptions", "DealerTable", "dealer"]

SHOWN: Final = 80
SECONDS_TO_GREET: Final = 10.0
SECONDS_BETWEEN_LOOKS: Final = 0.25  # at signals, while players are waited for
DEFAULT_GAME: Final = "holdem"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DealerOptions:
    """What `equipoise dealer` is told."""

    panels: ClassVar[dict[str, tuple[str, ...]]] = {
        "What is played": ("game", "parameters", "definition", "hands", "seed"),
        "Where and how long": ("port", "host", "seconds", "wait"),
        "What is kept and said": ("names", "log", "overwrite", "json", "quiet"),
    }
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise dealer --port 20000 --hands 1000 --log match.log",
        "equipoise dealer --game holdem_six --port 20000 --names a,b,c,d,e,f",
    )

    port: Annotated[int, typer.Option(min=0, max=65535, help="Where players connect; 0: any that is free.")] = 20000
    host: Annotated[str, typer.Option(help="Which address listens; 0.0.0.0 lets other machines in.")] = "127.0.0.1"
    game: Annotated[str | None, typer.Option("--game", "-g", help="What is played (default: holdem).")] = None
    parameters: GameParameters = None
    definition: Annotated[Path | None, typer.Option(help="A game definition of the competition.", metavar="FILE")] = (
        None
    )
    hands: Annotated[int, typer.Option("--hands", "-n", min=1, help="To be played; seats move on after each.")] = 1000
    seed: Annotated[int, typer.Option(min=0, help="Of the deals.")] = 0
    seconds: Annotated[float, typer.Option(min=0.001, help="For an answer.", metavar="S")] = 10.0
    wait: Annotated[float, typer.Option(min=0.001, help="Until all players sit.", metavar="S")] = 600.0
    names: Annotated[str, typer.Option(help="Of players in the order in which they connect, between commas.")] = ""
    log: Annotated[Path | None, typer.Option(help="Write the competition's log there.", metavar="FILE")] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing --log.")] = False
    json: Json = False
    quiet: Quiet = False


def dealer(options: DealerOptions) -> None:
    """Deal hold'em to bots that connect, over the ACPC protocol; seats move on by one after every hand."""
    text = None if options.definition else (options.game or DEFAULT_GAME)
    game = find_holdem([], text, options.parameters, options.definition)
    if not game.bet_sizes:
        game = dataclasses.replace(game, menu=ALL_RAISES)
    names = _read_names(options.names, game.betting_rules.num_players)
    console = make_console(is_quiet=options.quiet)
    with SignalFlag() as flag, _listen(options) as server:
        log = _open_log(options, game)
        port = server.getsockname()[1]
        console.print(f"waiting for {len(names)} players at {options.host}:{port}")
        links: list[LineSocket] = []
        table = DealerTable(game, links, names, seed=options.seed, seconds=options.seconds, log=log)
        failure: EquipoiseError | None = None
        try:
            greet(server, links, names, options.wait, flag)
            with TaskDisplay(console, " v ".join(names)) as display:
                while len(table.won) < options.hands and not flag():
                    table.play_hand()
                    display.update(len(table.won) / options.hands, format_estimate(*table.estimate(0)))
        except AgentFailedError as error:
            failure = error
        finally:
            for link in links:
                link.close()
            table.end()
    if table.won:
        _report(options, table)
    if failure is not None:
        said = f"; {len(table.won):,} hands were played before" if table.won else ""
        raise AgentFailedError(f"{failure}{said}")
    if flag():
        console.print(f"interrupted after {len(table.won):,} hands", style="yellow")
        raise typer.Exit(flag.exit_code)


def _listen(options: DealerOptions) -> socket.socket:
    try:
        return socket.create_server((options.host, options.port))
    except OSError as error:
        why = describe_os_error(error) if error.strerror else str(error)
        raise ConfigError(f"cannot listen at {options.host}:{options.port}: {why}") from None


def greet(
    server: socket.socket,
    links: list[LineSocket],
    names: Sequence[str],
    wait: float,
    is_interrupted: Callable[[], bool],
) -> None:
    """Seats players in the order in which they connect; who does not speak the protocol is sent away."""
    deadline = time.monotonic() + wait
    server.settimeout(SECONDS_BETWEEN_LOOKS)
    while len(links) < len(names) and not is_interrupted():
        if time.monotonic() > deadline:
            raise LostConnectionError(f"{len(links)} of {len(names)} players came within {wait:g} seconds")
        try:
            connection, _ = server.accept()
        except TimeoutError:
            continue
        link = LineSocket(connection, names[len(links)])
        try:
            said = link.read(SECONDS_TO_GREET)
        except LostConnectionError:
            said = None
        if said == VERSION:
            links.append(link)
        else:
            link.close()


class DealerTable:
    """Hands between connected players, one after the other."""

    def __init__(
        self,
        game: Holdem,
        links: Sequence[LineSocket],
        names: Sequence[str],
        *,
        seed: int,
        seconds: float,
        log: IO[str] | None = None,
    ) -> None:
        """Is ready to deal.

        Args:
            game: with all bets.
            links: players.
            names: of players.
            seed: of the deals.
            seconds: for an answer.
            log: where hands are written.
        """
        self.game, self.links, self.names = game, links, names
        self.seed, self.seconds, self.log = seed, seconds, log
        self.won: list[list[float]] = []  # by hand and player

    def play_hand(self) -> None:
        """Deals and plays a hand; raises `AgentFailedError` where a player fails, and the hand does not count."""
        game, number, size = self.game, len(self.won), len(self.names)
        players = [(position - number) % size for position in range(size)]  # by position
        chance = np.random.default_rng([self.seed, CHANCE_STREAM, number])
        state = self._deal(game.initial_state(), chance)
        while True:
            told = [format_match_state(game, state, position, number) for position in range(size)]
            for position, player in enumerate(players):
                self.links[player].send(told[position])
            actor = game.actor(state)
            if actor == TERMINAL:
                break
            state = self._deal(game.apply(state, self._ask(players[actor], told[actor], state)), chance)
        returns = game.returns(state)
        names = [self.names[player] for player in players]
        self.won.append([returns[players.index(player)] for player in range(size)])
        self._write(format_log_line(game, state, number, names))

    def _deal(self, state: HoldemState, chance: np.random.Generator) -> HoldemState:
        while self.game.actor(state) == CHANCE:
            state = self.game.apply(state, draw_chance(self.game, state, chance.random()))
        return state

    def _ask(self, player: int, told: str, state: HoldemState) -> int:
        """Returns what a player answers."""
        name, link = self.names[player], self.links[player]
        line = link.read(self.seconds)
        while line is not None and (not line or line[0] in "#;"):
            line = link.read(self.seconds)
        if line is None:
            raise AgentFailedError(f"{name} gave no answer to {told} within {self.seconds:g} seconds")
        given, _, action = line.rpartition(":")
        if given != told:
            raise AgentFailedError(f"{name} answered {line[:SHOWN]!r}, expected {told}:ACTION")
        try:
            return parse_action(self.game, state, action)
        except ParseError as error:
            raise AgentFailedError(f"{name} answered {line[:SHOWN]!r}: {error}") from None

    def estimate(self, player: int) -> tuple[Estimate, float]:
        """Returns what a player wins a hand, and the big blind."""
        return estimate_mean(np.array(self.won)[:, player]), float(self.game.big_blind)

    def _write(self, line: str) -> None:
        if self.log is None:
            return
        try:
            self.log.write(line + "\n")
            self.log.flush()
        except OSError as error:
            raise CheckpointError(f"cannot write {self.log.name}: {describe_os_error(error)}") from error

    def end(self) -> None:
        """Writes the score and closes the log."""
        if self.log is not None:
            totals = np.array(self.won).sum(axis=0) if self.won else np.zeros(len(self.names))
            self._write(f"SCORE:{'|'.join(f'{total:g}' for total in totals)}:{'|'.join(self.names)}")
            self.log.close()


def _read_names(text: str, num_players: int) -> list[str]:
    names = [name.strip() for name in text.split(",")] if text else [f"player{i + 1}" for i in range(num_players)]
    if len(names) != num_players or len(set(names)) != num_players:
        raise ConfigError(f"{num_players} players have as many different names, got {', '.join(names)}")
    if bad := next((name for name in names if not name or any(letter in name for letter in ":|\n")), None):
        raise ConfigError(f"names have letters other than : and |, got {bad!r}")
    return names


def _open_log(options: DealerOptions, game: Holdem) -> IO[str] | None:
    if options.log is None:
        return None
    if options.log.exists() and not options.overwrite:
        raise ConfigError(f"{options.log} exists: --overwrite replaces it")
    check_writable(options.log)
    log = options.log.open("w", encoding="ascii", errors="backslashreplace")
    log.write(f"# name/game/hands/seed {options.log.stem} {game.spec.name} {options.hands} {options.seed}\n")
    return log


def _report(options: DealerOptions, table: DealerTable) -> None:
    estimates = [table.estimate(player) for player in range(len(table.names))]
    if options.json:
        agents = [
            {"name": name, **describe_estimate(estimate, blind)}
            for name, (estimate, blind) in zip(table.names, estimates, strict=True)
        ]
        write_json(
            {
                "label": table.game.spec.label,
                "agents": agents,
                "num_hands": len(table.won),
                "seed": options.seed,
                **describe_origin(),
            }
        )
        return
    shown = Table(title=f"{table.game.spec.name}, {len(table.won):,} hands", title_justify="left")
    shown.add_column("player")
    shown.add_column("wins a hand", justify="right")
    for name, (estimate, blind) in zip(table.names, estimates, strict=True):
        shown.add_row(name, format_estimate(estimate, blind))
    print_result(shown, is_quiet=options.quiet)
