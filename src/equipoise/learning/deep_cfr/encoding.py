# SPDX-License-Identifier: Apache-2.0
"""Information states as rows of numbers for networks: cards first, then everything else."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.games.base import CHANCE, TERMINAL, ActionClass, Game
from equipoise.games.holdem.cards import parse_card
from equipoise.games.holdem.rules import Holdem

__all__ = ["NUM_RANKS", "CardLayout", "Encoder", "HoldemEncoder", "TextEncoder", "find_encoder"]

NUM_RANKS: Final = 13
HASHED_COLUMNS: Final = 256
BETS_PER_ROUND: Final = 6
NO_LIMIT_ACTIONS: Final = 8  # of menus; a fold, a call and so many raises
MARKS_KEPT: Final = 1 << 16

SingleArray = npt.NDArray[np.float32]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CardLayout:
    """How rows of numbers are made up.

    >>> CardLayout(groups=(2, 3), num_numbers=24).num_columns
    29
    """

    groups: tuple[int, ...] = ()  # cards in each group whose order says nothing: 4 * rank + suit + 1, 0 for none
    num_numbers: int  # after the cards

    @property
    def num_cards(self) -> int:
        """Returns the columns of cards."""
        return sum(self.groups)

    @property
    def num_columns(self) -> int:
        """Returns all columns."""
        return self.num_cards + self.num_numbers


class Encoder(Protocol):
    """What networks are told of a game's information states."""

    @property
    def layout(self) -> CardLayout:
        """Returns how rows are made up."""
        ...

    @property
    def num_actions(self) -> int:
        """Returns the outputs that actions share, A."""
        ...

    def encode(self, player: int, infostate: str) -> SingleArray:
        """Returns `[F]` a player's information state."""
        ...

    def outputs(self, classes: Sequence[ActionClass]) -> list[int]:
        """Returns which output each legal action has, by what kind of move they are."""
        ...


class TextEncoder:
    """Any game's information states by the letters of their texts, each at one of some columns that a hash chooses.

    >>> encoder = TextEncoder(num_players=2, num_actions=2)
    >>> float(encoder.encode(0, "J:b").sum())
    3.0
    """

    def __init__(self, *, num_players: int, num_actions: int) -> None:
        self.num_players, self.num_actions = num_players, num_actions
        self.layout = CardLayout(num_numbers=HASHED_COLUMNS + num_players)

    def encode(self, player: int, infostate: str) -> SingleArray:
        """Returns `[F]` ones where letters of the text stand, and at the player's column."""
        out = np.zeros(self.layout.num_columns, np.float32)
        for word, text in enumerate(re.split(r"\W", infostate)):
            for place, letter in enumerate(text):
                out[find_column(word, place, letter)] = 1.0
        out[HASHED_COLUMNS + player] = 1.0
        return out

    def outputs(self, classes: Sequence[ActionClass]) -> list[int]:
        """Returns the outputs in the order of actions."""
        return list(range(len(classes)))


@functools.lru_cache(MARKS_KEPT)
def find_column(word: int, place: int, letter: str) -> int:
    """Returns the column of a letter at a place of a word: the same on every machine."""
    mark = f"{word},{place},{letter}".encode()
    return int.from_bytes(hashlib.blake2b(mark, digest_size=4).digest(), "little") % HASHED_COLUMNS


class HoldemEncoder:
    """Hold'em: cards in groups, and up to six bets a round, each whether it was made and its size in pots.

    Paper: Brown 2020, PhD thesis, section 4.1.2 [B20].
    Departs from the paper: sizes are shares of twice the price to stay, which the paper leaves open; the seat is told.
    Checked by: tests/learning/deep_cfr/test_rules_walks.py.

    >>> from equipoise.games import make_game
    >>> game = make_game("holdem", bet_sizes="2,2", max_raises="3,4", small_blind=1, big_blind=2, last_street="flop")
    >>> encoder = HoldemEncoder(game)
    >>> encoder.layout, encoder.num_actions
    (CardLayout(groups=(2, 3), num_numbers=26), 3)
    """

    def __init__(self, game: Holdem) -> None:
        rounds = {"flop": 2, "turn": 3, "river": 4}[game.last_street]
        self.num_rounds, self.big_blind = rounds, game.big_blind
        self.groups = (2, 3, 1, 1)[:rounds]
        self.is_limit = bool(game.bet_sizes)
        self.num_actions = 3 if self.is_limit else NO_LIMIT_ACTIONS
        self.num_players = len(game.stacks)
        self.layout = CardLayout(groups=self.groups, num_numbers=2 * BETS_PER_ROUND * rounds + self.num_players)
        self._read_bets = functools.lru_cache(MARKS_KEPT)(self._read_betting)

    def encode(self, player: int, infostate: str) -> SingleArray:
        """Returns `[F]` cards, bets and the seat."""
        out = np.zeros(self.layout.num_columns, np.float32)
        hole, _, public = infostate.partition("|")
        parts = public.split("/")
        dealt = [hole, *[part.partition(":")[0] for part in parts[1:]]]
        begin = 0
        for size, text in zip(self.groups, dealt, strict=False):
            cards = sorted([parse_card(text[place : place + 2]) for place in range(0, len(text), 2)])
            out[begin : begin + len(cards)] = np.array(cards, np.float32) + 1.0
            begin += size
        betting = tuple([parts[0], *[part.partition(":")[2] for part in parts[1:]]])
        out[self.layout.num_cards : -self.num_players] = self._read_bets(betting)
        out[player - self.num_players] = 1.0
        return out

    def _read_betting(self, betting: tuple[str, ...]) -> SingleArray:
        """Returns `[12 rounds]` of each position whether there was a bet, and its size."""
        out = np.zeros((self.num_rounds, BETS_PER_ROUND, 2), np.float32)
        price = self.big_blind
        for row, text in zip(out, betting, strict=False):
            for place, move in enumerate(re.findall(r"[a-z]\d*", text)):
                if not move.startswith("r"):
                    continue
                to = int(move[1:])
                if place < BETS_PER_ROUND:
                    row[place] = 1.0, (to - price) / (2.0 * price)
                price = to
        return out.reshape(-1)

    def outputs(self, classes: Sequence[ActionClass]) -> list[int]:
        """Returns fold 0, call 1, raises from 2 on."""
        out, raises = [], 2
        for kind in classes:
            if kind is ActionClass.FOLD:
                out.append(0)
            elif kind is ActionClass.CALL:
                out.append(1)
            else:
                out.append(raises)
                raises += 1
        return out


def find_encoder(game: Game[Any], *, num_actions: int | None = None) -> Encoder:
    """Returns what networks are told of a game.

    Args:
        game: any.
        num_actions: the most that a decision of it has, for games that do not say; found by playing if None.
    """
    if isinstance(game, Holdem):
        return HoldemEncoder(game)
    return TextEncoder(num_players=game.spec.num_players, num_actions=num_actions or count_actions(game))


def count_actions(game: Game[Any], *, games: int = 200) -> int:
    """Returns the most actions of a decision in some games played at random, the same ones every time."""
    rng, most = np.random.default_rng(0), 1
    for _ in range(games):
        state = game.initial_state()
        while (actor := game.actor(state)) != TERMINAL:
            outcomes = game.chance_outcomes(state) if actor == CHANCE else ()
            actions = [action for action, _ in outcomes] or game.legal_actions(state)
            if actor >= 0:
                most = max(most, len(actions))
            state = game.apply(state, actions[rng.integers(len(actions))])
    return most
