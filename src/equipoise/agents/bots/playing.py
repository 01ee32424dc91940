# SPDX-License-Identifier: Apache-2.0
"""Agents of machines, from the folders into which their blueprints were trained."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.blueprints import StoredBlueprint
from equipoise.agents.base import Observation, PublicDecision
from equipoise.agents.bots.machine import Machine
from equipoise.agents.holdem.blueprint import BlueprintAgent, check_blueprint_game, game_of_blueprint
from equipoise.agents.holdem.endgame import ENDGAME_OPTIONS, EndgameAgent, EndgameSearch, parse_endgame_options
from equipoise.agents.holdem.rounds import ROUND_OPTIONS, RoundAgent, RoundSearch, parse_round_options
from equipoise.core.checkpoint import digest_file
from equipoise.core.errors import ConfigError
from equipoise.games.base import Game
from equipoise.games.holdem.rules import Holdem

__all__ = ["SeatsAgent", "digest_machine", "game_of_machine", "limit_machine", "make_machine_agent"]

FILE: Final = "blueprint.eq"
OPTION: Final = re.compile(r",(?=\s*[a-z]+\s*=)")
OneAgent = BlueprintAgent | EndgameAgent | RoundAgent


class SeatsAgent:
    """Plays each seat by an agent of its own."""

    def __init__(self, agents: Sequence[OneAgent], *, name: str) -> None:
        """Keeps the agents.

        Args:
            agents: by seat.
            name: for tables of results.
        """
        self.agents, self.name = tuple(agents), name
        self._seat = 0

    def begin_game(self, seat: int) -> None:
        """Forgets the last game."""
        self._seat = seat
        self.agents[seat].begin_game(seat)

    def observe(self, observation: Observation) -> None:
        """Takes in what the seat sees."""
        self.agents[self._seat].observe(observation)

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns one of the observation's actions."""
        return self.agents[observation.seat].act(observation, rng=rng)

    def public_actions(self, decision: PublicDecision) -> tuple[int, ...]:
        """Returns those of a decision's actions that some hand may play, ascending."""
        return self.agents[decision.seat].public_actions(decision)

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Returns `[H, A]` what each hand plays."""
        return self.agents[decision.seat].public_strategy(decision, rng=rng)


def _split(text: str) -> tuple[Path, dict[str, str]]:
    """Returns the folder, or file, and the options of `PATH[,OPTION=VALUE...]`."""
    path, *options = OPTION.split(text)
    pairs = [option.partition("=") for option in options]
    return Path(path.strip()), {name.strip(): value.strip() for name, _, value in pairs}


def _files(machine: Machine, path: Path) -> list[Path]:
    """Returns the files of a machine's blueprints, by seat if it has several."""
    if machine.is_by_seat:
        return [path / str(seat) / FILE for seat in (0, 1)]
    return [path / FILE if path.is_dir() else path]


def make_machine_agent(machine: Machine, game: Game[Any], text: str) -> SeatsAgent | OneAgent:
    """Returns the agent of `PATH[,OPTION=VALUE...]`."""
    path, options = _split(text)
    rounds, search = _choose_searches(machine, options)
    agents: list[OneAgent] = []
    for file in _files(machine, path):
        blueprint = StoredBlueprint(file)
        check_blueprint_game(blueprint, game)
        plan = BlueprintAgent(blueprint, machine.sharpening, name=machine.name)
        early = plan if rounds is None else RoundAgent(plan, rounds, name=machine.name)
        agents.append(early if search is None else EndgameAgent(early, search, name=machine.name))
    return SeatsAgent(agents, name=machine.name) if machine.is_by_seat else agents[0]


def _choose_searches(machine: Machine, options: dict[str, str]) -> tuple[RoundSearch | None, EndgameSearch | None]:
    """Returns a machine's searches with options changed; one that both have is of both."""
    rounds, search = machine.rounds, machine.search
    if options and rounds is None and search is None:
        raise ConfigError(f"{machine.name} searches nothing and has no options, got {', '.join(options)}")
    if rounds is None:
        return None, None if search is None else parse_endgame_options(search, options)
    if search is None:
        return parse_round_options(rounds, options), None
    late = {name: text for name, text in options.items() if name in ENDGAME_OPTIONS}
    early = {name: text for name, text in options.items() if name in ROUND_OPTIONS or name not in late}
    return parse_round_options(rounds, early), parse_endgame_options(search, late)


def game_of_machine(machine: Machine, text: str) -> Holdem:
    """Returns the game of a machine's blueprint."""
    return game_of_blueprint(str(_files(machine, _split(text)[0])[0]))


def digest_machine(machine: Machine, text: str) -> str | None:
    """Returns a short hash over a machine's blueprints."""
    digests = "".join(digest_file(file) for file in _files(machine, _split(text)[0]))
    return hashlib.sha256(digests.encode()).hexdigest()[:16]


def limit_machine(text: str, seconds: float) -> str:
    """Returns a machine's settings with so many seconds for a decision.

    >>> limit_machine("runs/libratus,menu=50%,a,seconds=9", 2.0)
    'runs/libratus,menu=50%,a,seconds=2'
    """
    path, options = _split(text)
    return ",".join([str(path), *(f"{name}={value}" for name, value in {**options, "seconds": f"{seconds:g}"}.items())])
