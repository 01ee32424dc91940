# SPDX-License-Identifier: Apache-2.0
"""Histories that fit what one seat has seen, drawn from the rules: for games too large to list them all."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from equipoise.core.errors import InvalidStateError
from equipoise.games.base import CHANCE, Game
from equipoise.solvers.playouts import draw_index

__all__ = ["Event", "World", "WorldSampler"]

MAX_ATTEMPTS: Final = 10_000  # at one world, before what was seen is held to be impossible


class Event(NamedTuple):
    """One move of a game as a seat lived it: its own action, or what it saw after somebody else's move."""

    action: int | None = None  # of the seat itself
    infostate: str = ""  # of the seat, after a move of chance or of another player


class World(NamedTuple):
    """A state that fits what was seen."""

    state: Any
    weight: float  # how likely chance and uniform players are to show what was seen on the way to it


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class WorldSampler:
    """Draws states that fit what a seat saw, move by move from the beginning.

    Of each move that others made, those outcomes are kept after which the seat sees what it saw; chance's are drawn by
    their probabilities, players' as if they moved uniformly. A world's weight is the probability of what was kept:
    draws in proportion to it are exact. In poker weights are equal.
    """

    game: Game[Any]
    seat: int
    events: Sequence[Event]
    _kept: dict[tuple[int, Any], tuple[list[Any], list[float]]] = dataclasses.field(default_factory=dict)

    def sample(self, *, rng: np.random.Generator) -> World:
        """Returns one world.

        Raises:
            InvalidStateError: none was found.
        """
        for _ in range(MAX_ATTEMPTS):
            world = self._try(rng)
            if world is not None:
                return world
        seen = next((event.infostate for event in reversed(self.events) if event.action is None), "nothing")
        raise InvalidStateError(
            f"no history of {self.game.spec.label} was found that shows seat {self.seat} {seen!r} "
            f"({MAX_ATTEMPTS:,} attempts)"
        )

    def _try(self, rng: np.random.Generator) -> World | None:
        """Returns a world, None where a choice made earlier rules out what was seen later."""
        state, weight = self.game.initial_state(), 1.0
        for step, event in enumerate(self.events):
            if event.action is not None:
                state = self.game.apply(state, event.action)
                continue
            children, probabilities = self._keep(step, state)
            share = sum(probabilities)
            if share <= 0.0:
                return None
            state = children[draw_index([probability / share for probability in probabilities], rng.random())]
            weight *= share
        return World(state, weight)

    def _keep(self, step: int, state: Any) -> tuple[list[Any], list[float]]:
        """Returns the states after one of the others' moves that show what was seen, and their probabilities."""
        known = self._kept.get((step, state))
        if known is not None:
            return known
        game = self.game
        if game.actor(state) == CHANCE:
            moves = game.chance_outcomes(state)
        else:
            actions = game.legal_actions(state) if game.actor(state) != self.seat else ()
            moves = tuple((action, 1.0 / len(actions)) for action in actions)
        kept: tuple[list[Any], list[float]] = ([], [])
        for move, probability in moves:
            child = game.apply(state, move)
            if game.infostate(child, self.seat) == self.events[step].infostate:
                kept[0].append(child)
                kept[1].append(probability)
        self._kept[step, state] = kept
        return kept
