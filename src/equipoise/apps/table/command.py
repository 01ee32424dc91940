# SPDX-License-Identifier: Apache-2.0
"""`equipoise play`: a person against an agent in the terminal, hand by hand, with the score."""

from __future__ import annotations

import dataclasses
import secrets
from typing import Annotated, Any, ClassVar

import numpy as np
import typer

from equipoise.agents.base import Agent
from equipoise.agents.notation import AgentText, describe_agents, limit_seconds
from equipoise.apps.completion import complete_game
from equipoise.apps.display import make_console
from equipoise.apps.exit_codes import ExitCode
from equipoise.apps.shared_options import GameParameters
from equipoise.apps.signals import exit_code_of_interrupt
from equipoise.apps.table.players import Announced, Left, Person, Table
from equipoise.apps.table.views import describe_showdown
from equipoise.core.errors import AgentFailedError, ConfigError
from equipoise.evaluation.play import play_game
from equipoise.evaluation.statistics import big_blind_of, estimate_mean, format_estimate
from equipoise.games.base import Game
from equipoise.games.holdem.betting import Stage
from equipoise.games.holdem.rules import Holdem
from equipoise.games.parameters import format_value
from equipoise.games.registry import parse_game_options

__all__ = ["PlayOptions", "find_game", "play"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PlayOptions:
    """What `equipoise play` is told."""

    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise play kuhn --against uniform",
        "equipoise play holdem --against call --seed 3",
    )

    game: Annotated[
        str | None, typer.Argument(help="What is played (default: the agent's game).", autocompletion=complete_game)
    ] = None
    against: Annotated[str, typer.Option("--against", "-a", help=f"Who plays: {describe_agents()}.", metavar="AGENT")]
    parameters: GameParameters = None
    hands: Annotated[int | None, typer.Option("--hands", "-n", min=1, help="Stop after so many.")] = None
    seed: Annotated[int | None, typer.Option(min=0, help="Of deals and of the agent (default: another each time).")] = (
        None
    )
    hint: Annotated[bool, typer.Option("--hint", help="Show what the agent would do in your place.")] = False
    seconds_per_decision: Annotated[
        float | None, typer.Option(help="The longest that an agent which searches may take.", metavar="S")
    ] = None
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only what happens: no greeting and no score.")] = False


def play(options: PlayOptions) -> None:
    """Play against an agent in the terminal; ? helps, q leaves."""
    (maker,) = limit_seconds([AgentText(options.against)], options.seconds_per_decision)
    game = find_game(maker, options)
    console = make_console(is_stderr=False)
    session = Session(game, maker, Table(game, console), options)
    if not options.quiet:
        session.table.say(f"{game.spec.name} against {maker.name}; ? helps, q leaves")
    try:
        session.run()
    except KeyboardInterrupt as error:
        session.table.say("")
        session.conclude()
        raise typer.Exit(exit_code_of_interrupt(error)) from None
    except AgentFailedError as error:
        session.table.say(f"error: {error}", style="red")
        session.conclude()
        raise typer.Exit(ExitCode.FAILED) from None
    session.conclude()


def find_game(maker: AgentText, options: PlayOptions) -> Game[Any]:
    """Returns what is played: the agent's own form of the game that is named, unless parameters say otherwise."""
    own = maker.game
    if options.game is None:
        if own is None or options.parameters:
            raise ConfigError("say which game: equipoise play GAME --against AGENT")
        return own
    if own is not None and own.spec.name == options.game and not options.parameters:
        return own
    return parse_game_options(options.game, options.parameters or [])


class Session:
    """Hands one after another, the person's seat moving on each time."""

    def __init__(self, game: Game[Any], maker: AgentText, table: Table, options: PlayOptions) -> None:
        self.game, self.table, self.options = game, table, options
        seed = secrets.randbits(32) if options.seed is None else options.seed
        self._chance, self._rng = (np.random.default_rng((seed, stream)) for stream in (0, 1))
        agent: Agent = maker(game)  # what is wrong with it is said at once
        self.agent = Announced(agent, table, name=agent.name)
        self.person = Person(table, lambda: input("> "), lambda: maker(game), is_advised=options.hint)
        self.won: list[float] = []

    def run(self) -> None:
        """Plays until the person leaves or all hands are played."""
        while self.options.hands is None or len(self.won) < self.options.hands:
            seat = (len(self.won) + 1) % self.game.spec.num_players  # heads-up in hold'em: first on the button
            try:
                self._play_hand(seat)
            except Left:
                return

    def _play_hand(self, seat: int) -> None:
        table, num_players = self.table, self.game.spec.num_players
        others = (f"{self.agent.name} {k}" if num_players > 2 else self.agent.name for k in range(1, num_players))
        table.names = tuple("you" if player == seat else next(others) for player in range(num_players))
        table.is_folded = False
        table.say(f"\n--- hand {len(self.won) + 1}, you are player {seat}{self._name_seat(seat)} ---", style="bold")
        agents: list[Any] = [
            self.person if player == seat else Announced(self.agent.agent, table, name=table.names[player])
            for player in range(num_players)
        ]
        returns = play_game(
            self.game, agents, chance=self._chance, rng=self._rng, expects_all_ins=False, on_state=table.follow
        )
        self.won.append(returns[seat])
        self._show_end()
        score = "" if self.options.quiet else f"; {self._score()}"
        table.say(f"you {_say_won(returns[seat])}{score}", style="bold")

    def _name_seat(self, seat: int) -> str:
        if not isinstance(self.game, Holdem) or self.game.spec.num_players != 2 or self.game.board:
            return ""
        return ", on the button" if seat == 1 else ", in the big blind"

    def _show_end(self) -> None:
        """Says what lies on the table if nobody gave up."""
        state, table = self.table.state, self.table
        is_over = state.betting.stage is Stage.FOLD if isinstance(self.game, Holdem) else table.is_folded
        if not is_over:
            table.say(describe_showdown(self.game, state, table.names))

    def _score(self) -> str:
        total, count = sum(self.won), len(self.won)
        hands = "1 hand" if count == 1 else f"{count} hands"
        said = f"{_signed(total)} in {hands}"
        blind = big_blind_of(self.game)
        if blind is None or not count:
            return said
        return f"{said}, {format_estimate(estimate_mean(np.array(self.won)), blind)}"

    def conclude(self) -> None:
        """Says how it went."""
        if not self.options.quiet:
            self.table.say(f"score: {self._score()}" if self.won else "no hand was finished", style="bold")


def _signed(amount: float) -> str:
    return f"{'+' if amount > 0 else ''}{format_value(round(amount, 6))}"


def _say_won(amount: float) -> str:
    if amount == 0:
        return "win nothing and lose nothing"
    return f"{'win' if amount > 0 else 'lose'} {format_value(round(abs(amount), 6))}"
