# SPDX-License-Identifier: Apache-2.0
"""Agents that play a strategy as it is: of information states by their names, or of hold'em by hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Observation, PolicyAgent, PublicDecision
from equipoise.agents.holdem.hands import HandRows
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.core.formatting import show_given
from equipoise.games.base import Game
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.holdem.places import HoldemStrategy

__all__ = ["StrategyAgent"]

FloatArray = npt.NDArray[np.float64]


class Rows(Protocol):
    """Where a strategy keeps what is played."""

    def row(self, observation: Observation) -> Sequence[float]:
        """Returns `[A]` the probability of each of the observation's actions."""
        ...

    def rows(self, decision: PublicDecision) -> FloatArray | None:
        """Returns `[H, A]` those of every private state at once; None if they are found one by one."""
        ...


class StrategyAgent(PolicyAgent):
    """Plays a strategy, whichever form it was computed in.

    >>> from equipoise.runs import match, solve
    >>> agent = StrategyAgent(solve("kuhn", iterations=100).strategy)
    >>> match(agent, "uniform", game="kuhn", hands=100).estimate().mean > 0
    True
    """

    def __init__(
        self,
        strategy: TabularStrategy | HoldemStrategy,
        game: Game[Any] | None = None,
        *,
        name: str = "strategy",
        is_partial: bool = False,
    ) -> None:
        """Keeps the strategy.

        Args:
            strategy: what is played.
            game: of hold'em by hands, what will be played: of the same cards and chips as the strategy's spot.
            name: for tables of results.
            is_partial: whether information states that it lacks are played uniformly; an error else.
        """
        if not isinstance(strategy, TabularStrategy) and not hasattr(strategy, "tree"):
            raise ConfigError(f"strategy must be one such as solve('kuhn').strategy, got {show_given(strategy)}")
        self.strategy = strategy
        self.name = name
        self._rows: Rows = (
            InfostateRows(strategy, is_partial=is_partial)
            if isinstance(strategy, TabularStrategy)
            else HandRows(strategy, game, name=name)
        )

    @property
    def hand_strategy(self) -> HoldemStrategy | None:
        """Returns what is played if that is a strategy of hold'em by hands."""
        return None if isinstance(self.strategy, TabularStrategy) else self.strategy

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` what the strategy says."""
        return self._rows.row(observation)

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` what each private state plays."""
        found = self._rows.rows(decision)
        return super().public_strategy(decision, rng=rng) if found is None else found


class InfostateRows:
    """Rows by the names of information states."""

    def __init__(self, strategy: TabularStrategy, *, is_partial: bool) -> None:
        self.strategy, self.is_partial = strategy, is_partial

    def row(self, observation: Observation) -> Sequence[float]:
        """Returns `[A]` what the table says."""
        found = self.strategy.probabilities_or_none(observation.seat, observation.infostate)
        num_actions = len(observation.actions)
        if found is None and self.is_partial:
            return [1.0 / num_actions] * num_actions
        if found is None or len(found) != num_actions:
            has = "nothing" if found is None else f"{len(found)} actions"
            raise InvalidStateError(
                f"the strategy for {self.strategy.game_label} has {has} at {observation.infostate!r} of player "
                f"{observation.seat}, the game has {num_actions} actions there"
            )
        shares: list[float] = found.tolist()
        return shares

    def rows(self, decision: PublicDecision) -> None:
        """Returns None: names are looked up one by one."""
        return
