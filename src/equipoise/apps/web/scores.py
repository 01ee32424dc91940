# SPDX-License-Identifier: Apache-2.0
"""How a person fares against an agent: means with intervals, all-ins by their odds, and AIVAT where it can be had."""

from __future__ import annotations

import contextlib
from typing import Any, Final

import numpy as np

from equipoise.agents.base import Agent
from equipoise.agents.strategies import StrategyAgent
from equipoise.core.errors import ConfigError, EquipoiseError
from equipoise.evaluation.aivat import Aivat, AivatForm, explain_unknown
from equipoise.evaluation.aivat_histories import HistoryForm
from equipoise.evaluation.holdem.checked_down import CheckedDownForm
from equipoise.evaluation.holdem.solved import SolvedForm
from equipoise.evaluation.statistics import big_blind_of, estimate_mean
from equipoise.games.base import Game
from equipoise.games.holdem.rules import Holdem
from equipoise.runs.solution import solve
from equipoise.solvers.holdem.solved_spot import view_strategy
from equipoise.trees.history import estimate_num_histories

__all__ = ["Scores"]

MOST_HISTORIES: Final = 30_000  # of a game that is solved for its guesses while somebody waits
ITERATIONS: Final = 100
UNGUESSED: Final = "no guesses"
UNKNOWN: Final = "its strategy is not known"


class Scores:
    """The score of a table, from the person's seat."""

    def __init__(self, game: Game[Any], agent: Agent) -> None:
        self.game, self.agent = game, agent
        self._won: list[float] = []
        self._expected: list[float] = []
        self._estimates: list[float] = []
        self._aivat: tuple[Aivat, Aivat] | None = None  # by the person's seat
        self._missing: str | None = None  # why there is none
        self._is_prepared = False

    def prepare(self) -> None:
        """Finds what AIVAT guesses by, once: the agent's own spot, or a solution of a game that is small enough."""
        if self._is_prepared:
            return
        self._is_prepared = True
        if explain_unknown(self.agent):
            self._missing = UNKNOWN
            return
        try:
            form = self._make_form()
            if form is not None:
                self._aivat = Aivat(form, [None, self.agent]), Aivat(form, [self.agent, None])
        except EquipoiseError:
            form = None
        if form is None:
            self._missing = UNGUESSED

    def _make_form(self) -> AivatForm | None:
        """Returns the game with guesses, None if nobody has any."""
        game, agent = self.game, self.agent
        if isinstance(game, Holdem):
            views = view_strategy(agent.hand_strategy) if isinstance(agent, StrategyAgent) else None
            with contextlib.suppress(ConfigError):  # a solution without the values that guesses need
                return CheckedDownForm(game) if views is None else SolvedForm(game, views)
            return CheckedDownForm(game)
        if estimate_num_histories(game, rng=np.random.default_rng(0)) > MOST_HISTORIES:
            return None
        return HistoryForm.of(game, solve(game, iterations=ITERATIONS).strategy)

    def hear(self, state: Any, seat: int) -> None:
        """Takes in a state before a move is made in it."""
        if self._aivat is not None:
            self._aivat[seat].hear(state)

    def finish(self, state: Any, seat: int, won: float, expected: float) -> float | None:
        """Keeps what a hand brought, and returns AIVAT's estimate of it."""
        self._won.append(won)
        self._expected.append(expected)
        if self._aivat is None:
            return None
        self._aivat[seat].hear(state)
        estimate = float(self._aivat[seat].estimate()[seat])
        self._estimates.append(estimate)
        return estimate

    def recall(self, won: float, expected: float, estimate: float | None) -> None:
        """Keeps a hand that was scored before."""
        self._won.append(won)
        self._expected.append(expected)
        if estimate is not None:
            self._estimates.append(estimate)

    def describe(self) -> dict[str, Any]:
        """Returns the score so far."""
        has_adjusted = isinstance(self.game, Holdem) and self._won
        if self._won and not self._estimates:
            self.prepare()  # hands recalled from before a restart: it is said again why there are none
        return {
            "hands": len(self._won),
            "total": sum(self._won),
            **self._describe(self._won),
            "all_in_adjusted": self._describe(self._expected) if has_adjusted else None,
            "aivat": self._describe(self._estimates) if self._estimates else None,
            "no_aivat": self._missing,
        }

    def _describe(self, samples: list[float]) -> dict[str, Any]:
        """Returns a mean with its interval, in the game's unit and in mbb; None where there are too few hands."""
        if not samples:
            return {"mean": None, "interval": None, "mbb": None, "interval_mbb": None}
        blind = big_blind_of(self.game)
        found = estimate_mean(np.array(samples))
        scaled = None if blind is None else found.scale(1000 / blind)
        has_interval = len(samples) > 1
        return {
            "mean": found.mean,
            "interval": list(found.interval) if has_interval else None,
            "mbb": None if scaled is None else scaled.mean,
            "interval_mbb": list(scaled.interval) if scaled is not None and has_interval else None,
        }
