# SPDX-License-Identifier: Apache-2.0
"""An agent that searches every decision anew from what its last search found, without a tree of the whole game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Observation, PolicyAgent, PublicDecision
from equipoise.agents.public_paths import PublicPaths
from equipoise.core.errors import InvalidStateError
from equipoise.games.public import PublicGame
from equipoise.search.continual import ContinualSearch, ContinualSettings
from equipoise.search.lazy import PublicPolicy

__all__ = ["ContinualAgent"]

FloatArray = npt.NDArray[np.float64]


class ContinualAgent(PolicyAgent):
    """Plays by continual re-solving on a public game of which it expands no more than its searches look at.

    What it does depends on public states alone, so that it is one fixed strategy, searched where it is asked for.
    """

    def __init__(
        self,
        game: PublicGame[Any],
        *,
        blueprint: PublicPolicy | None = None,
        search: ContinualSettings | None = None,
        name: str = "continual",
    ) -> None:
        """Keeps the rules.

        Args:
            game: what is played, over public states.
            blueprint: what is played before the first search; None: it begins with the game.
            search: how decisions are searched.
            name: for tables of results.
        """
        self.game = game
        self._searches = tuple(ContinualSearch(game, seat, search, blueprint=blueprint) for seat in (0, 1))
        self._name = name
        self._paths = PublicPaths(game)

    @property
    def name(self) -> str:
        """Returns the name that was given."""
        return self._name

    def begin_game(self, seat: int) -> None:
        """Goes back to the beginning."""
        self._paths.begin_game()

    def observe(self, observation: Observation) -> None:
        """Follows the game, so that no public state needs to be looked for from the beginning."""
        self._paths.observe(observation.public_state)

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` what the last search on the way says."""
        path = self._paths.locate(observation.public_state)
        seat, state = observation.seat, self._paths.state_at(path)
        policy = self._searches[seat].policy_at(path)
        for private in range(len(policy)):
            if self.game.infostate(state, seat, private) == observation.infostate:
                shares: list[float] = policy[private, self.game.legality(state)[private]].tolist()
                return shares
        raise InvalidStateError(
            f"{self.game.spec.label} has no information state {observation.infostate!r} of player {seat} at "
            f"{observation.public_state!r}"
        )

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` what each private state does."""
        path = self._paths.locate(decision.public_state)
        state, seat = self._paths.state_at(path), decision.seat
        number = {self.game.infostate(state, seat, k): k for k in range(self.game.num_private(state, seat))}
        missing = [name for name in decision.infostates if name not in number]
        if missing:
            raise InvalidStateError(f"{self.game.spec.label} has no information state {missing[0]!r} of player {seat}")
        return self._searches[seat].policy_at(path)[[number[name] for name in decision.infostates]]
