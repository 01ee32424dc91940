# SPDX-License-Identifier: Apache-2.0
"""What `equipoise bench decisions` measures: how long an agent takes to act, by street of hold'em, beside the bars."""

from __future__ import annotations

import dataclasses
import statistics
import time
from typing import Any, Final

import numpy as np

from equipoise.agents.base import Agent, Observation
from equipoise.agents.notation import AgentText
from equipoise.apps.bench.rows import RowsReport, Steps
from equipoise.core.errors import ConfigError
from equipoise.core.reporting import OnStep
from equipoise.evaluation.play import play_game
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.rules import Holdem
from equipoise.games.registry import parse_game

__all__ = ["DecisionsReport", "DecisionsSettings", "run_decisions"]

FIRST: Final = "the first of all"  # the agent is made, its networks are read
ALL: Final = "all others"
BARS: Final = {FIRST: (None, 10.0), ALL: (2.0, 10.0), "river": (None, 0.5)}  # median and worst, seconds
SEED: Final = 16


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DecisionsSettings:
    """Who is timed, and in how many hands."""

    agent: str = "supremus"
    opponent: str = "call"  # hands against it come to the river
    game: str = "holdem(menu=all)"
    hands: int = 10

    def __post_init__(self) -> None:
        if self.hands < 1:
            raise ConfigError(f"hands must be at least 1, got {self.hands}")
        if not isinstance(parse_game(self.game), Holdem):
            raise ConfigError(f"game must be hold'em, got {self.game}")
        AgentText(self.agent)
        AgentText(self.opponent)


DecisionsReport = RowsReport[DecisionsSettings]


@dataclasses.dataclass(frozen=True, slots=True)
class _Taken:
    """What a decision took."""

    street: str
    seconds: float  # by the clock
    cpu_seconds: float  # of the processor


class _Timed:
    """An agent with a watch."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.name = agent, agent.name
        self.taken: list[_Taken] = []

    def begin_game(self, seat: int) -> None:
        """Passes it on."""
        self.agent.begin_game(seat)

    def observe(self, observation: Observation) -> None:
        """Passes it on."""
        self.agent.observe(observation)

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns what the agent does, and keeps what that took."""
        _, board = parse_steps(observation.public_state)
        wall, processor = time.perf_counter(), time.process_time()
        action = self.agent.act(observation, rng=rng)
        street = next(each for each in reversed(Street) if len(board) >= each.num_board_cards)
        taken = _Taken(street.name.lower(), time.perf_counter() - wall, time.process_time() - processor)
        self.taken.append(taken)
        return action


def run_decisions(settings: DecisionsSettings, *, on_step: OnStep | None = None) -> DecisionsReport:
    """Returns what decisions took; an interrupted run returns what it has, marked partial."""
    report, steps = DecisionsReport(settings=settings), Steps(settings.hands, on_step)
    game = parse_game(settings.game)
    wall, processor = time.perf_counter(), time.process_time()
    timed = _Timed(AgentText(settings.agent)(game))
    made = _Taken(FIRST, time.perf_counter() - wall, time.process_time() - processor)
    opponent = AgentText(settings.opponent)(game)
    try:
        for number in range(settings.hands):
            steps.take(f"hand {number + 1}")
            agents = [timed, opponent] if number % 2 == 0 else [opponent, timed]
            chance, rng = np.random.default_rng([SEED, 0, number]), np.random.default_rng([SEED, 1, number])
            play_game(game, agents, chance=chance, rng=rng)
    except KeyboardInterrupt:
        report.is_partial = True
    report.rows += _summarize(made, timed.taken)
    return report


def _summarize(made: _Taken, taken: list[_Taken]) -> list[dict[str, Any]]:
    """Returns a row for the first decision, one a street, and one for all."""
    if not taken:
        return []
    start, rest = taken[0], taken[1:]
    first = _Taken(FIRST, made.seconds + start.seconds, made.cpu_seconds + start.cpu_seconds)
    streets = [street.name.lower() for street in Street]
    groups = {FIRST: [first]} | {street: [each for each in rest if each.street == street] for street in streets}
    return [_row(name, some) for name, some in {**groups, ALL: rest}.items() if some]


def _row(name: str, taken: list[_Taken]) -> dict[str, Any]:
    walls, processors = [each.seconds for each in taken], [each.cpu_seconds for each in taken]
    median, worst = BARS.get(name, (None, None))
    return {
        "decisions": name,
        "count": len(taken),
        "median": statistics.median(walls),
        "worst": max(walls),
        "cpu_median": statistics.median(processors),
        "cpu_worst": max(processors),
        "wanted_median": median,
        "wanted_worst": worst,
    }
