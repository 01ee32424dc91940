# SPDX-License-Identifier: Apache-2.0
"""Agents that play a table of strategies by information state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equipoise.agents.base import Observation, PolicyAgent
from equipoise.core.errors import InvalidStateError
from equipoise.solvers.strategy import TabularStrategy

__all__ = ["TableAgent"]


class TableAgent(PolicyAgent):
    """Plays a strategy of information states, whichever form it was computed in."""

    def __init__(self, strategy: TabularStrategy, *, name: str = "table", is_partial: bool = False) -> None:
        """Keeps the strategy.

        Args:
            strategy: what is played.
            name: for tables of results.
            is_partial: whether information states that it lacks are played uniformly; an error else.
        """
        self.strategy, self.is_partial = strategy, is_partial
        self._name = name

    @property
    def name(self) -> str:
        """Returns the name that was given."""
        return self._name

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
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
