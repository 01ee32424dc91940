# SPDX-License-Identifier: Apache-2.0
"""`equipoise seat`: an agent sits down at a dealer of the Annual Computer Poker Competition's protocol."""

from __future__ import annotations

import dataclasses
import socket
import time
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import numpy as np
import typer
from rich.console import Console

from equipoise.agents.base import Agent, ToldAgent, observe_state
from equipoise.agents.notation import AgentText, describe_agents, limit_seconds
from equipoise.apps.acpc.lines import LineSocket, LostConnectionError, parse_address
from equipoise.apps.display import make_console
from equipoise.apps.output import print_result, write_json
from equipoise.apps.shared_options import GameParameters, Json, Quiet
from equipoise.core.errors import AgentFailedError, ConfigError
from equipoise.core.files import describe_os_error
from equipoise.evaluation.statistics import describe_estimate, estimate_mean, format_estimate
from equipoise.games.base import TERMINAL
from equipoise.games.holdem.acpc import (
    VERSION,
    MatchState,
    format_action,
    load_definition,
    parse_match_state,
    replay_match_state,
)
from equipoise.games.holdem.rules import ALL_RAISES, Holdem, HoldemState
from equipoise.runs.matches import find_game

__all__ = ["Seat", "SeatOptions", "find_holdem", "seat"]

SECONDS_BETWEEN_TRIES: Final = 0.2
SECONDS_BETWEEN_WORDS: Final = 5.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SeatOptions:
    """What `equipoise seat` is told."""

    panels: ClassVar[dict[str, tuple[str, ...]]] = {
        "What is played": ("dealer", "game", "parameters", "definition", "seed"),
        "How": ("seconds_per_decision", "wait"),
        "What is said": ("json", "quiet"),
    }
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise seat blueprint:heads-up/blueprint.eq --dealer 127.0.0.1:20000",
        "equipoise seat call --dealer 20000 --definition nolimit.game",
    )

    agent: Annotated[str, typer.Argument(help=f"Who plays: {describe_agents()}.")]
    dealer: Annotated[str, typer.Option(help="Where the dealer listens.", metavar="HOST:PORT")]
    game: Annotated[str | None, typer.Option("--game", "-g", help="What is played (default: the agent's game).")] = None
    parameters: GameParameters = None
    definition: Annotated[Path | None, typer.Option(help="The dealer's game definition.", metavar="FILE")] = None
    seed: Annotated[int, typer.Option(min=0, help="Of the agent.")] = 0
    seconds_per_decision: Annotated[
        float | None, typer.Option(help="The longest that an agent which searches may take.", metavar="S")
    ] = None
    wait: Annotated[float, typer.Option(min=0.0, help="Seconds until the dealer must be there.", metavar="S")] = 10.0
    json: Json = False
    quiet: Quiet = False


def seat(options: SeatOptions) -> None:
    """Let an agent play at a dealer of the ACPC protocol, until the dealer ends the match."""
    (maker,) = limit_seconds([AgentText(options.agent)], options.seconds_per_decision)
    game = find_holdem([maker], options.game, options.parameters, options.definition)
    if maker.game is None and not game.bet_sizes:  # whoever plays no file's menu is told every bet
        game = dataclasses.replace(game, menu=ALL_RAISES)
    player = Seat(game, maker(game), np.random.default_rng(options.seed))
    console = make_console(is_quiet=options.quiet)
    link = _connect(options.dealer, options.wait)
    try:
        link.send(VERSION)
        _play(player, link, console)
    finally:
        link.close()
        player.close()
    _report(options, player, game)


def find_holdem(
    makers: list[AgentText], game: str | None, parameters: list[str] | None, definition: Path | None
) -> Holdem:
    """Returns the game that is played over the protocol: every whole hand of hold'em, with all bets."""
    if definition is not None:
        if game is not None or parameters:
            raise ConfigError("--definition says what is played: leave out --game and -p")
        return load_definition(definition)
    found = find_game(makers, game, parameters)
    if not isinstance(found, Holdem) or found.board or found.ante or found.last_street != "river":
        raise ConfigError(f"the protocol is for whole hands of hold'em without antes, got {found.spec.label}")
    return found


class Seat:
    """An agent's view of a match that a dealer tells line by line."""

    def __init__(self, game: Holdem, agent: Agent, rng: np.random.Generator) -> None:
        """Waits for the first hand."""
        self.game, self.agent, self.rng = game, agent, rng
        self.won: list[float] = []
        self._told: MatchState | None = None
        self._num_seen = 0
        self.is_over = True  # the hand that was told last

    def answer(self, line: str) -> str | None:
        """Returns the response to a line of the dealer's, None where it is not the agent's turn."""
        if not line or line[0] in "#;":
            return None
        told = parse_match_state(line)
        if self._told is None or (told.number, told.position) != (self._told.number, self._told.position):
            self._begin(told)
        self._told = told
        states = replay_match_state(self.game, told)
        self._observe(states, told.position)
        state = states[-1]
        actor = self.game.actor(state)
        if actor == TERMINAL:
            self._end(state, told.position)
            return None
        if actor != told.position:
            return None
        action = self.agent.act(observe_state(self.game, state, actor), rng=self.rng)
        return f"{line}:{format_action(self.game, action)}"

    def close(self) -> None:
        """Ends programs that the agent has started."""
        close: Any = getattr(self.agent, "close", None)
        if close is not None:
            close()

    def _begin(self, told: MatchState) -> None:
        self.agent.begin_game(told.position)
        self._num_seen, self.is_over = 1, False

    def _observe(self, states: list[HoldemState], position: int) -> None:
        for place in range(self._num_seen, len(states)):
            if self.game.actor(states[place - 1]) != position:
                self.agent.observe(observe_state(self.game, states[place], position))
        self._num_seen = max(self._num_seen, len(states))

    def _end(self, state: HoldemState, position: int) -> None:
        if self.is_over:
            return
        self.is_over = True
        self.won.append(self.game.returns(state)[position])
        if isinstance(self.agent, ToldAgent):
            self.agent.end_game(self.won[-1])


def _connect(text: str, wait: float) -> LineSocket:
    """Returns the connection to a dealer, who may be late."""
    address = parse_address(text)
    deadline = time.monotonic() + wait
    while True:
        try:
            return LineSocket(socket.create_connection(address, timeout=max(wait, 1.0)), f"the dealer at {text}")
        except OSError as error:
            if time.monotonic() >= deadline:
                why = describe_os_error(error) if error.strerror else str(error)
                raise ConfigError(f"no dealer answers at {text}: {why}") from None
            time.sleep(SECONDS_BETWEEN_TRIES)


def _play(player: Seat, link: LineSocket, console: Console) -> None:
    """Answers until the dealer goes, which must be after the end of a hand; says now and then how it goes."""
    last_said = time.monotonic()
    while True:
        try:
            line = link.read()
        except LostConnectionError as error:
            if player.won and player.is_over:
                return
            told = f"in the middle of hand {len(player.won) + 1}" if not player.is_over else "before the first hand"
            raise AgentFailedError(f"{error} {told}") from None
        answer = player.answer(line or "")
        if answer is not None:
            link.send(answer)
        if player.won and time.monotonic() - last_said > SECONDS_BETWEEN_WORDS:
            last_said = time.monotonic()
            won = format_estimate(estimate_mean(np.array(player.won)), float(player.game.big_blind))
            console.print(f"{len(player.won):,} hands, {won}")


def _report(options: SeatOptions, player: Seat, game: Holdem) -> None:
    estimate, blind = estimate_mean(np.array(player.won)), float(game.big_blind)
    if options.json:
        write_json({"agent": options.agent, "num_hands": len(player.won), **describe_estimate(estimate, blind)})
        return
    text = f"{options.agent} played {len(player.won):,} hands and won {format_estimate(estimate, blind)}"
    print_result(text, is_quiet=options.quiet)
