# SPDX-License-Identifier: Apache-2.0
"""Who sits at the table: the person at the keyboard, and agents whose moves are said aloud."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console

from equipoise.agents.base import Agent, NamingAgent, Observation, PolicyAgent, ToldAgent
from equipoise.apps.table.moves import list_moves, parse_move
from equipoise.apps.table.views import describe_seat
from equipoise.core.errors import EquipoiseError, ParseError
from equipoise.games.base import ActionClass, Game
from equipoise.games.holdem.rules import Holdem

__all__ = ["Announced", "Left", "Person", "Table"]

LEAST_SHOWN = 0.005  # probability of an action that a hint names
NAMES = """\
a move is written as it stands below, by its beginning or by its number in the list
hint            what the other player would do in your place
q, quit         leave; the score is shown"""
HELP = """\
f, fold         give up the hand
c, call, check  match the bet, or pass where there is none
raise 300       bet or raise to 300 in this round; also 300, bet 300, raise by 100, min
half pot, pot   also 75%, 2x pot, third pot
all in          everything
hint            what the other player would do in your place
q, quit         leave; the score is shown"""


class Left(Exception):
    """The person has left the table."""


class Table:
    """What is played, and where play is: shared by all who sit there."""

    def __init__(self, game: Game[Any], console: Console) -> None:
        self.game, self.console = game, console
        self.state: Any = None
        self.names: tuple[str, ...] = ()
        self.is_folded = False  # whether the last move gave up

    def follow(self, state: Any) -> None:
        """Keeps where play is."""
        self.state = state

    def say(self, text: str, style: str | None = None) -> None:
        """Prints a line."""
        self.console.print(text, style=style)


class Announced:
    """An agent whose betting is told to everybody; moves that may be hidden are not."""

    def __init__(self, agent: Agent, table: Table, *, name: str | None = None) -> None:
        self.agent, self.table = agent, table
        self.name = name or agent.name
        self.needs_names = isinstance(agent, NamingAgent) and agent.needs_names

    def begin_game(self, seat: int) -> None:
        """Begins a game."""
        self.agent.begin_game(seat)

    def observe(self, observation: Observation) -> None:
        """Hands on what the seat sees."""
        self.agent.observe(observation)

    def end_game(self, won: float) -> None:
        """Hands on what the seat won."""
        if isinstance(self.agent, ToldAgent):
            self.agent.end_game(won)

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns the agent's action, told aloud if it is a bet, a call or a fold."""
        game, state = self.table.game, self.table.state
        with self.table.console.status(f"{self.name} thinks"):
            action = self.agent.act(observation, rng=rng)
        kind = game.action_class(state, action)
        self.table.is_folded = kind is ActionClass.FOLD
        if kind is not ActionClass.OTHER:
            self.table.say(f"{self.name}: {game.action_name(state, action)}")
        return action


class Person:
    """Whoever is at the keyboard."""

    name = "you"
    needs_names = True  # whoever advises may ask for them

    def __init__(
        self, table: Table, read: Callable[[], str], adviser: Callable[[], Agent], *, is_advised: bool = False
    ) -> None:
        """Sits down.

        Args:
            table: where.
            read: returns the next line that is typed; raises `EOFError` at its end.
            adviser: makes the agent whose moves hints are.
            is_advised: whether hints come unasked.
        """
        self.table, self._read, self._make_adviser, self.is_advised = table, read, adviser, is_advised
        self._adviser: Agent | None = None
        self._seat, self._seen = 0, list[Observation]()

    def begin_game(self, seat: int) -> None:
        """Begins a game."""
        self._seat, self._seen = seat, []
        if self._adviser is not None:
            self._adviser.begin_game(seat)

    def observe(self, observation: Observation) -> None:
        """Keeps what the seat sees, for hints."""
        self._seen.append(observation)
        if self._adviser is not None:
            self._adviser.observe(observation)

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns the move that is typed; asks until there is one."""
        table = self.table
        table.say("")
        table.say(describe_seat(table.game, table.state, observation.seat, table.names))
        table.say(f"you can: {', '.join(list_moves(table.game, table.state))}", style="dim")
        if self.is_advised:
            self._advise(observation, rng)
        while True:
            words = self._listen()
            if words in ("?", "h", "help"):
                self._help()
            elif words == "hint":
                self._advise(observation, rng)
            elif words:
                try:
                    action = parse_move(words, table.game, table.state)
                except ParseError as error:
                    table.say(str(error), style="yellow")
                    continue
                table.is_folded = table.game.action_class(table.state, action) is ActionClass.FOLD
                return action

    def _listen(self) -> str:
        """Returns the next line, in small letters; raises `Left` if there is none or it says so."""
        try:
            words = " ".join(self._read().lower().split())
        except EOFError:
            self.table.say("")
            raise Left from None
        except UnicodeDecodeError:
            self.table.say("that was no text", style="yellow")
            return ""
        if words in ("q", "quit", "exit"):
            raise Left
        return words

    def _help(self) -> None:
        self.table.say(HELP if isinstance(self.table.game, Holdem) else NAMES)
        self.table.say(f"you can: {', '.join(list_moves(self.table.game, self.table.state))}", style="dim")

    def _advise(self, observation: Observation, rng: np.random.Generator) -> None:
        """Says what the other player's agent would do in the person's place."""
        if self._adviser is None:
            self._adviser = self._make_adviser()
            self._adviser.begin_game(self._seat)
            for seen in self._seen:
                self._adviser.observe(seen)
        try:
            with self.table.console.status("asking"):
                said = self._ask(self._adviser, observation, rng)
        except EquipoiseError as error:
            said = f"no hint here: {error}"
        self.table.say(said, style="cyan")

    def _ask(self, adviser: Agent, observation: Observation, rng: np.random.Generator) -> str:
        game, state = self.table.game, self.table.state
        if not isinstance(adviser, PolicyAgent):
            return f"{adviser.name} would {game.action_name(state, adviser.act(observation, rng=rng))}"
        shares = zip(observation.actions, adviser.probabilities(observation, rng=rng), strict=True)
        likely = sorted((pair for pair in shares if pair[1] >= LEAST_SHOWN), key=lambda pair: -pair[1])
        return f"{adviser.name} would: {', '.join(f'{game.action_name(state, a)} {share:.0%}' for a, share in likely)}"
