# SPDX-License-Identifier: Apache-2.0
"""Where a hand stands in a blueprint's betting, whose bets may be other ones than those that were made."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.blueprints import StoredBlueprint
from equipoise.abstraction.translation import pot_fraction, translate_action
from equipoise.games.holdem.betting import (
    CALL,
    BettingState,
    Stage,
    Street,
    all_in_to,
    apply_action,
    initial_betting,
    next_street,
    pot_after_call,
)
from equipoise.games.holdem.betting_tree import DEALING
from equipoise.solvers.playouts import draw_index

__all__ = ["LOST", "HandImages", "Image", "Taken"]

LOST: Final = -1
Steps = tuple[int, ...]
FloatArray = npt.NDArray[np.float64]


class Taken(NamedTuple):
    """A decision of the blueprint on the way, and what was done there."""

    node: int
    column: int
    seat: int
    street: Street


class Image(NamedTuple):
    """A hand and what the blueprint takes it for."""

    state: BettingState  # of the real hand
    betting: BettingState  # of the image
    node: int  # of the blueprint's tree, `LOST` where the image has no such place
    taken: tuple[Taken, ...]  # decisions on the way

    @property
    def is_alike(self) -> bool:
        """Returns whether the image is the hand itself."""
        return self.state == self.betting

    def asks(self, seat: int) -> bool:
        """Returns whether a seat is to decide in the image."""
        return self.node != LOST and self.betting.stage is Stage.ACT and self.betting.actor == seat

    def translate_own(self, action: int, offered: tuple[int, ...]) -> int:
        """Returns the real action for one of the image's."""
        if action in offered and (action <= CALL or self.is_alike):
            return action
        raises = offered[sum(total <= CALL for total in offered[:2]) :]
        if action <= CALL or not raises:
            return CALL
        if action == all_in_to(self.betting):
            return raises[-1]
        wanted = self.state.price + pot_fraction(self.betting, action) * pot_after_call(self.state)
        return min(raises, key=lambda total: abs(total - wanted))


class HandImages:
    """The images of one hand at a time, drawn once for every line of bets: whoever asks again gets the same.

    Bets that the blueprint does not have are drawn by the pseudo-harmonic mapping; what the player itself chose in the
    image is remembered, however it was rounded in the hand.
    """

    def __init__(self, blueprint: StoredBlueprint) -> None:
        """Keeps a blueprint, and builds its betting."""
        self.blueprint, self.rules = blueprint, blueprint.betting.rules
        self._nodes = blueprint.betting.arrays.nodes
        self.begin()

    def begin(self) -> None:
        """Forgets the last hand."""
        start = initial_betting(self.rules)
        self._images: dict[Steps, Image] = {(): Image(start, start, 0, ())}
        self._chosen: dict[tuple[Steps, int], int] = {}

    def choose(self, steps: Steps, action: int, column: int) -> None:
        """Remembers which of the image's actions a real one stands for."""
        self._chosen[steps, action] = column

    def at(self, steps: Steps, rng: np.random.Generator) -> Image:
        """Returns the image of a line of bets, `DEALING` between rounds."""
        length = len(steps)
        while steps[:length] not in self._images:
            length -= 1
        image = self._images[steps[:length]]
        for place in range(length, len(steps)):
            image = self._follow(image, steps[: place + 1], rng)
            self._images[steps[: place + 1]] = image
        return image

    def follow(self, image: Image, step: int) -> Image:
        """Returns an image one step further, unknown bets taken for the likelier of their neighbours."""
        return self._follow(image, (step,), None)

    def _follow(self, image: Image, steps: Steps, rng: np.random.Generator | None) -> Image:
        """Returns the image one step further; without a generator, what is likeliest."""
        state, step = image.state, steps[-1]
        if step == DEALING:
            after = next_street(self.rules, state)
            if image.node == LOST or image.betting.stage is not Stage.DEAL:
                return image._replace(state=after, node=LOST)
            return image._replace(state=after, betting=next_street(self.rules, image.betting))
        after = apply_action(self.rules, state, step)
        if image.node == LOST:
            return image._replace(state=after)
        if not image.asks(state.actor):
            # a small bet was taken for none, and the image's street is over: what is called here ends it
            is_over = image.betting.stage is Stage.DEAL and step == CALL
            return image._replace(state=after, node=image.node if is_over else LOST)
        actions = self.blueprint.actions(image.node)
        column = LOST if rng is None else self._chosen.get((steps[:-1], step), LOST)
        if column == LOST:
            column = self._translate(image, actions, step, rng)
        if column == LOST:
            return image._replace(state=after, node=LOST)
        below = int(self._nodes[image.node, 0]) + column
        taken = (*image.taken, Taken(image.node, column, state.actor, image.betting.street))
        betting = apply_action(self.rules, image.betting, actions[column])
        is_end = bool(self._nodes[below, 3] & 3)
        return Image(after, betting, LOST if is_end else below, taken)

    def _translate(self, image: Image, actions: tuple[int, ...], step: int, rng: np.random.Generator | None) -> int:
        """Returns the place of the image's action for a real one, `LOST` if it has no such kind."""
        if step in actions and (step <= CALL or image.is_alike):
            return actions.index(step)
        shares = translate_action(step, image.state, image.betting, actions)
        if not shares:
            return LOST
        if rng is None:
            return actions.index(max(shares, key=lambda action: shares[action]))
        number = draw_index(list(shares.values()), rng.random()) if len(shares) > 1 else 0
        return actions.index(list(shares)[number])
