# SPDX-License-Identifier: Apache-2.0
"""Agents by name: the one table from text to agents.

An agent is written `NAME` or `NAME:SETTINGS`; what the settings are is the entry's own business.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from equipoise.agents.base import Agent
from equipoise.agents.files import game_of_file, load_agent
from equipoise.agents.ismcts import make_ismcts_agent
from equipoise.agents.simple import ClassAgent, UniformAgent
from equipoise.core.checkpoint import digest_file
from equipoise.core.errors import ConfigError, ParseError, UnknownNameError
from equipoise.games.base import ActionClass, Game
from equipoise.search.ismcts import FinalPolicy, ISMCTSConfig

__all__ = ["AGENTS", "AgentEntry", "AgentText", "describe_agents", "parse_agent"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AgentEntry:
    """An agent as it is typed."""

    make: Callable[[Game[Any], str], Agent]  # called with the game and what stands after the colon
    settings: str = ""  # how these are written; empty: the agent takes none
    description: str


def _make_ismcts(game: Game[Any], text: str) -> Agent:
    """Returns the agent of `SIMULATIONS[,C[,POLICY]]`; C is half the range of returns unless it is given."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 3:
        raise ConfigError(f"ismcts takes simulations, C and a final policy, got {len(parts)} settings: {text!r}")
    try:
        num_simulations = int(parts[0])
        exploration = float(parts[1]) if len(parts) > 1 else game.spec.utility_range / 2
    except ValueError:
        raise ConfigError(f"simulations and C of ismcts must be numbers, as in 1000,13, got {text!r}") from None
    final = parts[2] if len(parts) > 2 else FinalPolicy.MAX_VISITS
    if final not in list(FinalPolicy):
        raise UnknownNameError("final policy", final, list(FinalPolicy))
    config = ISMCTSConfig(num_simulations=num_simulations, exploration=exploration, final=FinalPolicy(final))
    return make_ismcts_agent(game, config)


AGENTS: Mapping[str, AgentEntry] = {
    "uniform": AgentEntry(make=lambda _game, _text: UniformAgent(), description="every action as often"),
    "call": AgentEntry(make=lambda _game, _text: ClassAgent(ActionClass.CALL), description="always checks or calls"),
    "fold": AgentEntry(
        make=lambda _game, _text: ClassAgent(ActionClass.FOLD), description="folds to every bet, checks else"
    ),
    "raise": AgentEntry(
        make=lambda _game, _text: ClassAgent(ActionClass.RAISE),
        description="raises whenever it can, each size as often",
    ),
    "file": AgentEntry(
        make=lambda game, path: load_agent(path, game),
        settings="PATH",
        description="plays what `solve --out` wrote: a game's strategy, a spot, a blueprint",
    ),
    "ismcts": AgentEntry(
        make=_make_ismcts,
        settings="SIMULATIONS[,C[,POLICY]]",
        description="searches at every decision; POLICY is visits, max-visits (unless given) or max-value",
    ),
}


@dataclasses.dataclass(frozen=True, slots=True)
class AgentText:
    """An agent as text, which other processes can make for themselves; calling it makes the agent.

    >>> AgentText("call").name
    'call'
    """

    text: str

    def __post_init__(self) -> None:
        _split(self.text)

    @property
    def name(self) -> str:
        """Returns the text."""
        return self.text

    @property
    def game(self) -> Game[Any] | None:
        """Returns the game that the agent's file is for; None if any game will do."""
        name, settings = _split(self.text)
        return game_of_file(settings) if name == "file" else None

    def digest(self) -> str | None:
        """Returns a short hash over the content of the agent's file, None if it has none."""
        name, settings = _split(self.text)
        return digest_file(settings) if name == "file" else None

    def __call__(self, game: Game[Any]) -> Agent:
        """Returns the agent."""
        name, settings = _split(self.text)
        return AGENTS[name].make(game, settings)


def parse_agent(text: str, game: Game[Any]) -> Agent:
    """Returns the agent that a text names.

    >>> from equipoise.games.registry import make_game
    >>> parse_agent("raise", make_game("kuhn")).name
    'raise'
    """
    return AgentText(text)(game)


def describe_agents() -> str:
    """Returns every way to write an agent, for the help of commands."""
    return ", ".join(f"{name}:{entry.settings}" if entry.settings else name for name, entry in AGENTS.items())


def _split(text: str) -> tuple[str, str]:
    name, colon, settings = text.strip().partition(":")
    if name not in AGENTS:
        if name.endswith(".eq"):
            raise ParseError(f"an agent that plays a file is written file:{text.strip()}, got {text!r}")
        raise UnknownNameError("agent", name, AGENTS)
    entry = AGENTS[name]
    if bool(entry.settings) != bool(settings):
        expected = f"{name}:{entry.settings}" if entry.settings else name
        raise ConfigError(f"this agent is written {expected}, got {text!r}")
    if colon and not settings:
        raise ConfigError(f"nothing stands behind the colon of {text!r}")
    return name, settings
