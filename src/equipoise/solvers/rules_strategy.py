# SPDX-License-Identifier: Apache-2.0
"""Strategies over the rules of a public game, where there is no tree: places are its public states."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import InvalidStateError
from equipoise.games.public import PublicGame
from equipoise.solvers.strategy import TabularStrategy

__all__ = ["RulesPlaces", "RulesStrategy"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class RulesPlaces:
    """The public states of a game; `UniformStrategy` needs no more of them."""

    game: PublicGame[Any]

    def legal_at(self, place: Any) -> npt.NDArray[np.bool_]:
        """Returns `[H, A]` which actions each of the actor's private states has."""
        return self.game.legality(place)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class RulesStrategy:
    """A table of information states, asked by public state; those that it lacks play uniformly."""

    game: PublicGame[Any]
    table: TabularStrategy

    def probabilities(self, place: Any) -> FloatArray:
        """Returns `[H, A]` what the table says."""
        game = self.game
        actor, legality = game.actor(place), game.legality(place)
        out: FloatArray = legality / legality.sum(axis=1, keepdims=True)
        for private in range(len(legality)):
            infostate = game.infostate(place, actor, private)
            found = self.table.probabilities_or_none(actor, infostate)
            if found is None:
                continue
            if found.size != legality[private].sum():
                raise InvalidStateError(
                    f"the strategy for {self.table.game_label} has {found.size} actions at {infostate!r} of player "
                    f"{actor}, the game has {legality[private].sum()}"
                )
            out[private, legality[private]] = found
        return out
