# SPDX-License-Identifier: Apache-2.0
"""An agent that plays a blueprint of two to six players from its file, read as it is needed."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.blueprints import StoredBlueprint
from equipoise.abstraction.translation import pot_fraction, translate_action
from equipoise.agents.base import Observation
from equipoise.agents.holdem.hands import hands_by_name
from equipoise.core.errors import ConfigError
from equipoise.games.base import Game
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
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.rules import ALL_RAISES, Holdem
from equipoise.solvers.playouts import draw_index

__all__ = ["BlueprintAgent", "Sharpening", "game_of_blueprint", "make_blueprint_agent"]

LOST: Final = -1
KEPT_BOARDS: Final = 64
STREETS: Final = {street.name.lower(): street for street in Street}
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sharpening:
    """What is made of a strategy's rows before they are played.

    Paper: Ganzfried, Sandholm & Waugh 2012, "Strategy Purification and Thresholding", AAMAS; Brown 2020 (thesis),
        section 6.3 for a first street that stays mixed.
    Symbols: none.
    Departs from the paper: of equally likely actions the first is taken.
    Checked by: tests/agents/test_blueprint_agent.py.

    >>> Sharpening(threshold=0.2).apply(np.array([0.1, 0.3, 0.6]), Street.FLOP).round(3).tolist()
    [0.0, 0.333, 0.667]
    >>> Sharpening(purified_from=Street.FLOP).apply(np.array([0.1, 0.3, 0.6]), Street.FLOP).tolist()
    [0.0, 0.0, 1.0]
    """

    threshold: float = 0.0  # in [0, 1): actions that are rarer are not played, unless all are
    purified_from: Street | None = None  # from this street on the likeliest action alone is played

    def __post_init__(self) -> None:
        if not 0 <= self.threshold < 1:
            raise ConfigError(f"threshold must be at least 0 and below 1, got {self.threshold}")

    def apply(self, row: FloatArray, street: Street) -> FloatArray:
        """Returns what is played."""
        if self.purified_from is not None and street >= self.purified_from:
            pure: FloatArray = np.zeros(len(row))
            pure[row.argmax()] = 1.0
            return pure
        kept: FloatArray = np.where(row >= self.threshold, row, 0.0)
        played: FloatArray = kept / kept.sum() if kept.sum() > 0 else row
        return played


class BlueprintAgent:
    """Plays a blueprint along an image of the hand; bets that it does not know are drawn by pseudo-harmonic mapping.

    Where the image is lost (an all-in there that was none) it checks and calls.
    """

    def __init__(self, blueprint: StoredBlueprint, sharpening: Sharpening, *, name: str = "blueprint") -> None:
        """Keeps a blueprint, and builds its betting.

        Args:
            blueprint: what is played.
            sharpening: what is made of it.
            name: for tables of results.
        """
        self.blueprint, self.sharpening, self.name = blueprint, sharpening, name
        self.rules = blueprint.betting.rules
        self._nodes = blueprint.betting.arrays.nodes
        self._buckets = functools.lru_cache(KEPT_BOARDS)(blueprint.buckets.assign)
        self._hand_of = hands_by_name(blueprint.spec.cards)
        self.begin_game(0)

    def begin_game(self, seat: int) -> None:
        """Forgets the last game."""
        self._state = self._image = initial_betting(self.rules)
        self._node, self._num_seen, self._chosen = 0, 0, LOST

    def observe(self, observation: Observation) -> None:
        """Takes in nothing: the next observation of a decision says it all again."""

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns one of the observation's actions."""
        steps, board = parse_steps(observation.public_state)
        for step in steps[self._num_seen :]:
            self._follow(step, observation.seat, rng)
        self._num_seen = len(steps)
        self._chosen = LOST
        if self._node == LOST or self._image.stage is not Stage.ACT or self._image.actor != observation.seat:
            return CALL
        actions = self.blueprint.actions(self._node)
        row = self.row(board, observation.infostate.partition("|")[0])
        self._chosen = draw_index(row.tolist(), rng.random())
        return self._translate_own(actions[self._chosen], observation.actions)

    def row(self, board: Sequence[int], hand: str) -> FloatArray:
        """Returns `[A]` what a hand plays where the image stands."""
        bucket = int(self._buckets(tuple(board))[self._hand_of[hand]])
        return self.sharpening.apply(self.blueprint.row(self._node, bucket), self._image.street)

    def _translate_own(self, action: int, offered: tuple[int, ...]) -> int:
        """Returns the real action for one of the image's."""
        if action in offered and (action <= CALL or self._image == self._state):
            return action
        raises = [total for total in offered if total > CALL]
        if action <= CALL or not raises:
            return CALL
        if action == all_in_to(self._image):
            return raises[-1]
        wanted = self._state.price + pot_fraction(self._image, action) * pot_after_call(self._state)
        return min(raises, key=lambda total: abs(total - wanted))

    def _follow(self, step: int, seat: int, rng: np.random.Generator) -> None:
        """Moves the real hand and its image on by one step."""
        state = self._state
        if step == DEALING:
            self._state = next_street(self.rules, state)
            is_dealt = self._image.stage is Stage.DEAL
            self._image = next_street(self.rules, self._image) if is_dealt else self._image
            self._node = self._node if is_dealt else LOST
            return
        self._state = apply_action(self.rules, state, step)
        if self._node == LOST:
            return
        is_ours = self._image.stage is Stage.ACT and self._image.actor == state.actor
        if not is_ours:  # a small bet was taken for none, and the image's street is over: what is called here ends it
            self._node = self._node if self._image.stage is Stage.DEAL and state.actor == seat else LOST
            return
        actions = self.blueprint.actions(self._node)
        place = self._chosen if state.actor == seat else self._translate(actions, state, step, rng)
        self._node = LOST if place == LOST else int(self._nodes[self._node, 0]) + place
        if self._node != LOST:
            self._image = apply_action(self.rules, self._image, actions[place])
            self._node = LOST if self._nodes[self._node, 3] & 3 else self._node

    def _translate(self, actions: tuple[int, ...], state: BettingState, step: int, rng: np.random.Generator) -> int:
        """Returns the place of the image's action for another player's, `LOST` if it has no such kind."""
        if step in actions and (step <= CALL or state == self._image):
            return actions.index(step)
        shares = translate_action(step, state, self._image, actions)
        if not shares:
            return LOST
        chosen = (
            list(shares)[draw_index(list(shares.values()), rng.random())] if len(shares) > 1 else next(iter(shares))
        )
        return actions.index(chosen)


def game_of_blueprint(text: str) -> Holdem:
    """Returns the game of a blueprint's chips and cards, in which every amount may be bet."""
    spec = StoredBlueprint(text.partition(",")[0].strip()).spec
    return Holdem(
        deck=spec.deck,
        stacks=spec.stacks,
        small_blind=spec.small_blind,
        big_blind=spec.big_blind,
        ante=spec.ante,
        last_street=spec.last_street,
        menu=ALL_RAISES,
    )


def make_blueprint_agent(game: Game[Any], text: str) -> BlueprintAgent:
    """Returns the agent of `PATH[,purify[=STREET]][,threshold=X]`."""
    path, *options = [part.strip() for part in text.split(",")]
    blueprint = StoredBlueprint(path)
    spec = blueprint.spec
    if not isinstance(game, Holdem) or game.board or game.betting_rules != spec.rules or game.card_deck != spec.cards:
        raise ConfigError(
            f"{path} is a blueprint of hold'em for {len(spec.stacks)} players with {spec.stacks[0]:,} chips, blinds "
            f"{spec.small_blind} and {spec.big_blind} and the deck {spec.deck}; the game is {game.spec.label}"
        )
    changes: dict[str, Any] = {}
    for option in options:
        name, _, value = option.partition("=")
        if name == "purify" and (value in STREETS or not value):
            changes["purified_from"] = STREETS[value or "preflop"]
        elif name == "threshold" and value.replace(".", "", 1).isdecimal():
            changes["threshold"] = float(value)
        else:
            raise ConfigError(f"a blueprint takes purify, purify=STREET or threshold=NUMBER, got {option[:80]!r}")
    return BlueprintAgent(blueprint, Sharpening(**changes))
