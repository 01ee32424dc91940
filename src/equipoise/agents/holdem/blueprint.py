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
from equipoise.agents.base import Observation, PublicDecision
from equipoise.agents.holdem.hands import hands_by_name, number_hands
from equipoise.agents.holdem.images import HandImages, Image
from equipoise.core.errors import ConfigError
from equipoise.games.base import Game
from equipoise.games.holdem.betting import CALL, Street
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.rules import ALL_RAISES, Holdem
from equipoise.solvers.playouts import draw_index

__all__ = ["BlueprintAgent", "Sharpening", "check_blueprint_game", "game_of_blueprint", "make_blueprint_agent"]

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

    def apply(self, rows: FloatArray, street: Street) -> FloatArray:
        """Returns `[..., A]` what is played."""
        if self.purified_from is not None and street >= self.purified_from:
            pure: FloatArray = np.zeros(rows.shape)
            np.put_along_axis(pure, rows.argmax(axis=-1)[..., None], 1.0, axis=-1)
            return pure
        if not self.threshold:
            return rows
        kept = np.where(rows >= self.threshold, rows, 0.0)
        totals = kept.sum(axis=-1, keepdims=True)
        played: FloatArray = np.where(totals > 0, kept / np.where(totals > 0, totals, 1.0), rows)
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
        self.images = HandImages(blueprint)
        self._buckets = functools.lru_cache(KEPT_BOARDS)(blueprint.buckets.assign)
        self._hand_of = hands_by_name(blueprint.spec.cards)

    def begin_game(self, seat: int) -> None:
        """Forgets the last game."""
        self.images.begin()

    def observe(self, observation: Observation) -> None:
        """Takes in nothing: the next observation of a decision says it all again."""

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        """Returns one of the observation's actions."""
        steps, board = parse_steps(observation.public_state)
        image = self.images.at(steps, rng)
        if not image.asks(observation.seat):
            return CALL
        row = self.row(image, board, observation.infostate.partition("|")[0])
        column = draw_index(row.tolist(), rng.random())
        action = image.translate_own(self.blueprint.actions(image.node)[column], observation.actions)
        self.images.choose(steps, action, column)
        return action

    def row(self, image: Image, board: Sequence[int], hand: str) -> FloatArray:
        """Returns `[A]` what a hand plays at a decision of the blueprint."""
        bucket = int(self._buckets(tuple(board))[self._hand_of[hand]])
        return self.sharpening.apply(self.blueprint.row(image.node, bucket), image.betting.street)

    def hand_rows(self, node: int, street: Street, board: Sequence[int]) -> FloatArray:
        """Returns `[H, A]` what every hand plays at a decision of the blueprint; whatever where the board blocks it."""
        buckets = np.maximum(self._buckets(tuple(board[: street.num_board_cards])), 0)
        return self.sharpening.apply(self.blueprint.rows(node), street)[buckets]

    def class_shares(
        self, seat: int, public_state: str, hand: Sequence[int], *, rng: np.random.Generator
    ) -> FloatArray:
        """Returns `[3]` the probabilities that a seat's hand folds, calls and raises after a line of bets.

        Args:
            seat: to move.
            public_state: where.
            hand: two cards, ascending.
            rng: draws what unknown bets are taken for.
        """
        steps, board = parse_steps(public_state)
        image = self.images.at(steps, rng)
        shares = np.zeros(3)
        if not image.asks(seat):
            shares[CALL] = 1.0
            return shares
        row = self.row(image, board, format_board(reversed(hand)))
        for action, share in zip(self.blueprint.actions(image.node), row, strict=True):
            shares[min(action, 2)] += share
        return shares

    def reach(self, image: Image, seat: int, board: Sequence[int], *, street: Street | None = None) -> FloatArray:
        """Returns `[H]` the probability with which each hand of a seat has done what it did on the way.

        Args:
            image: of the hand.
            seat: whose.
            board: at least the cards that lay there.
            street: of which alone what was done counts; None: all of them.
        """
        reach = np.ones(self.blueprint.spec.cards.num_hands)
        for taken in image.taken:
            if taken.seat == seat and street in (None, taken.street):
                reach *= self.hand_rows(taken.node, taken.street, board)[:, taken.column]
        return reach

    def weights_at(
        self, seat: int, steps: tuple[int, ...], board: tuple[int, ...], player: int, rng: np.random.Generator
    ) -> FloatArray:
        """Returns `[H]` how often each of a player's hands comes to the beginning of a round, as a seat sees it."""
        return self.reach(self.images.at(steps, rng), player, board)

    def public_actions(self, decision: PublicDecision) -> tuple[int, ...]:
        """Returns those of a decision's actions that some hand may play, ascending."""
        image = self.images.at(parse_steps(decision.public_state)[0], self._rng_of(decision))
        if not image.asks(decision.seat):
            return (CALL,)
        known = self.blueprint.actions(image.node)
        return tuple(sorted({image.translate_own(action, decision.actions) for action in known}))

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` what each hand plays, the image being that of this hand."""
        steps, board = parse_steps(decision.public_state)
        image = self.images.at(steps, rng)
        out = np.zeros(decision.legality.shape)
        if not image.asks(decision.seat):
            out[:, decision.actions.index(CALL)] = 1.0
        else:
            rows = self.hand_rows(image.node, image.betting.street, board)
            rows = rows[number_hands(decision.infostates, self.blueprint.spec.cards)]
            for column, action in enumerate(self.blueprint.actions(image.node)):
                out[:, decision.actions.index(image.translate_own(action, decision.actions))] += rows[:, column]
        return np.where(decision.legality, out, 0.0)

    def _rng_of(self, decision: PublicDecision) -> np.random.Generator:
        """Returns what images are drawn with by who asks without a generator: the same for the same public state."""
        return np.random.default_rng(list(decision.public_state.encode()))


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


def check_blueprint_game(blueprint: StoredBlueprint, game: Game[Any]) -> None:
    """Raises `ConfigError` unless a game has the chips and the deck of a blueprint; its bets may be others."""
    spec = blueprint.spec
    if not isinstance(game, Holdem) or game.board or game.betting_rules != spec.rules or game.card_deck != spec.cards:
        raise ConfigError(
            f"{blueprint.path} is a blueprint of hold'em for {len(spec.stacks)} players with {spec.stacks[0]:,} chips, "
            f"blinds {spec.small_blind} and {spec.big_blind} and the deck {spec.deck}; the game is {game.spec.label}"
        )


def make_blueprint_agent(game: Game[Any], text: str) -> BlueprintAgent:
    """Returns the agent of `PATH[,purify[=STREET]][,threshold=X]`."""
    path, *options = [part.strip() for part in text.split(",")]
    blueprint = StoredBlueprint(path)
    check_blueprint_game(blueprint, game)
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
