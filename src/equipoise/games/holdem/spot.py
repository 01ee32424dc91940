# SPDX-License-Identifier: Apache-2.0
"""A heads-up spot: what is on the table, who may hold what, and which bets are considered.

Also the public text format of the Libratus endgames, one spot a file.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.checks import check_number
from equipoise.core.errors import ConfigError, EquipoiseError, ParseError
from equipoise.core.formatting import show_given
from equipoise.core.markup import html_line, join_html
from equipoise.games.holdem.betting import BettingRules, BettingState, Street, initial_betting
from equipoise.games.holdem.cards import (
    FULL_DECK,
    NUM_CARDS,
    RANKS,
    SUITS,
    Deck,
    check_board,
    check_deck,
    format_board,
    parse_board,
)
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import MENUS
from equipoise.games.holdem.menus import Menu, check_menu
from equipoise.games.holdem.ranges import Range, check_ranges
from equipoise.kernels.arithmetic import dot

__all__ = ["HoldemSpot", "parse_endgame"]

ENDGAME_FIELDS: Final = ("-round", "-board", "-pot", "-reach")
ENDGAME_STACK: Final = 20_000  # chips of each player before the hand
ENDGAME_BOARD_SIZES: Final = {"3": 4, "4": 5}  # cards on the board by round
ENDGAME_SUITS: Final = "shdc"


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_row(value: object) -> bool:
    return isinstance(value, Sequence) and all(map(_is_whole, value))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemSpot:
    """Two ranges, a board, a pot and stacks behind, player 0 to act first after the flop.

    Without a board the spot starts before the flop, where blinds and antes make the pot: player 0 posts the big blind,
    player 1 (the button) the small one and acts first.

    >>> from equipoise.games.holdem import parse_board, parse_menu, parse_range
    >>> spot = HoldemSpot(
    ...     board=parse_board("Ks7h2d5cJs"),
    ...     pot=20,
    ...     stacks=(40, 40),
    ...     ranges=(parse_range("AA, KQs"), parse_range("JJ")),
    ...     menu=parse_menu("75%, a"),
    ... )
    >>> spot.root_pot, spot.behind
    (20, (40, 40))
    """

    board: tuple[int, ...]  # 0, 3, 4 or 5 cards
    pot: int = 0  # chips, half of them from each player; 0 before the flop
    stacks: tuple[int, int]  # chips behind; before the flop those from which blinds and antes are paid
    ranges: tuple[Range, Range]  # hands that the board blocks do not count
    menu: Menu = MENUS["libratus"]
    big_blind: int = 100  # chips; the smallest bet, and the unit of mbb
    small_blind: int | None = None  # chips, before the flop; None: half the big blind
    ante: int = 0  # chips from each player before the flop
    bet_sizes: tuple[int, ...] = ()  # limit betting: fixed bets from before the flop on, the last going on
    max_raises: tuple[int, ...] = ()  # most bets and raises by street, blinds not counted; empty: no cap
    last_street: Street = Street.RIVER  # showdown after its betting
    deck: Deck = FULL_DECK
    rake_rate: float = 0.0  # share of the pot that the house takes when the hand ends; 0 to 1, 1 excluded
    rake_cap: float = math.inf  # chips; the most that the house takes

    def __post_init__(self) -> None:
        self._check_kinds()
        check_board(self.board, self.deck)
        if len(self.ranges) != 2 or len(self.stacks) != 2:
            raise ConfigError(f"a spot has two ranges and two stacks, got {len(self.ranges)} and {len(self.stacks)}")
        for player, held in enumerate(self.ranges):
            if held.deck != self.deck:
                raise ConfigError(f"the range of player {player} is of another deck than the spot")
        check_ranges(self.ranges, self.board, ("of player 0", "of player 1"))
        if self.last_street is Street.PREFLOP:
            raise ConfigError("last_street must be flop, turn or river: two cards make no hand to show")
        if not 0 <= self.rake_rate < 1:
            raise ConfigError(f"rake_rate must be at least 0 and below 1, got {self.rake_rate}")
        if not self.rake_cap >= 0:
            raise ConfigError(f"rake_cap must be at least 0 chips, got {self.rake_cap}")
        check_menu(self.betting_rules, self.menu)

    def _check_kinds(self) -> None:
        """Raises `ConfigError` where what was given is nothing that a spot is made of."""
        if not isinstance(self.board, Sequence) or not all(isinstance(card, int | np.integer) for card in self.board):
            raise ConfigError(f"board must be cards as parse_board('Ks7h2d') gives them, got {show_given(self.board)}")
        if not isinstance(self.ranges, Sequence) or not all(isinstance(held, Range) for held in self.ranges):
            raise ConfigError(f"ranges must be two as parse_range('AA, KQs') gives them, got {show_given(self.ranges)}")
        if not _is_row(self.stacks):
            raise ConfigError(f"stacks must be two numbers of chips, got {show_given(self.stacks)}")
        for name in ("bet_sizes", "max_raises"):
            if not isinstance(getattr(self, name), tuple) or not _is_row(getattr(self, name)):
                raise ConfigError(f"{name} must be a tuple of whole numbers, got {show_given(getattr(self, name))}")
        for name in ("pot", "big_blind", "small_blind", "ante"):
            is_left_out = name == "small_blind" and self.small_blind is None
            if not is_left_out and not _is_whole(getattr(self, name)):
                raise ConfigError(f"{name} must be a whole number of chips, got {show_given(getattr(self, name))}")
        check_number("rake_rate", self.rake_rate)
        check_number("rake_cap", self.rake_cap)
        if not isinstance(self.menu, Menu):
            raise ConfigError(f"menu must be a Menu as parse_menu('50%, a') gives it, got {show_given(self.menu)}")
        if not isinstance(self.last_street, Street):
            raise ConfigError(f"last_street must be a Street such as Street.RIVER, got {show_given(self.last_street)}")
        check_deck(self.deck)

    def __repr__(self) -> str:
        first, second = (int(np.count_nonzero(self.live_weights(player))) for player in (0, 1))
        chips = f"pot {self.pot}, stacks {self.stacks[0]} and {self.stacks[1]}"
        return f"<HoldemSpot {self.name}: {chips}, {first} and {second} hands>"

    def _repr_html_(self) -> str:
        return self.as_html(repr(self))

    def as_html(self, title: str) -> str:
        """Returns a title over the squares of both ranges."""
        squares = [f"<td>{held._repr_html_()}</td>" for held in self.ranges]
        return join_html(html_line(title), f"<table><tbody><tr>{''.join(squares)}</tr></tbody></table>")

    @property
    def betting_rules(self) -> BettingRules:
        """Returns the rules of the betting from here on."""
        street = next(street for street in Street if street.num_board_cards == len(self.board))
        return BettingRules(
            stacks=self.stacks,
            small_blind=self.big_blind // 2 if self.small_blind is None else self.small_blind,
            big_blind=self.big_blind,
            ante=self.ante,
            bet_sizes=self.bet_sizes,
            max_raises=self.max_raises,
            first_street=street,
            last_street=self.last_street,
            pot=self.pot,
        )

    @property
    def paid(self) -> tuple[int, int]:
        """Returns the chips that each player has in the pot at the root: blinds and antes before the flop."""
        first, second = initial_betting(self.betting_rules).committed
        return first, second

    @property
    def behind(self) -> tuple[int, int]:
        """Returns the chips that each player has left at the root."""
        first, second = initial_betting(self.betting_rules).stacks
        return first, second

    @property
    def root_pot(self) -> int:
        """Returns the chips in the pot at the root: before the flop blinds and antes."""
        return sum(self.paid)

    @property
    def name(self) -> str:
        """Returns the street and the board, as in `turn Ks7h2d5c`, or `preflop`."""
        return f"{self.betting_rules.first_street.name.lower()} {format_board(self.board)}".strip()

    def live_weights(self, player: int) -> npt.NDArray[np.float64]:
        """Returns `[H]` a range's weights without the hands that the board blocks."""
        live = np.where(hands_of(self.deck).blocked(self.board), 0.0, self.ranges[player].weights)
        live.setflags(write=False)
        return live

    def rake(self, state: BettingState) -> float:
        """Returns the chips that the house takes where a hand ends: nothing before the flop.

        An uncalled bet goes back before.
        """
        if state.street is Street.PREFLOP:
            return 0.0
        called = 2 * min(state.committed)
        return min(self.rake_rate * called, self.rake_cap)

    def pair_weight(self) -> float:
        """Returns the sum over pairs of hands that share no card of the product of their weights."""
        return dot(self.live_weights(0), hands_of(self.deck).compatible(self.live_weights(1)))


def parse_endgame(text: str, menu: Menu = MENUS["libratus"]) -> HoldemSpot:
    """Returns the spot of a file in the format of the Libratus endgames.

    Four lines begin with `-round` (3: turn, 4: river), `-board`, `-pot` and `-reach`; the last has 1,326 numbers for
    the player who acts first and 1,326 for the other, hands in the order 2s2h, 2s2d, 2s2c, 2s3s, ... AdAc.
    """
    fields = _split_endgame(text)
    if fields["-round"] not in ENDGAME_BOARD_SIZES:
        raise ParseError(f"-round must be 3 (turn) or 4 (river), got {fields['-round']!r}")
    board = parse_board(fields["-board"])
    expected = ENDGAME_BOARD_SIZES[fields["-round"]]
    if len(board) != expected:
        raise ParseError(f"-board must have {expected} cards in round {fields['-round']}, got {len(board)}")
    if not fields["-pot"].isdecimal():
        raise ParseError(f"-pot must be a whole number of chips, got {fields['-pot']!r}")
    pot = int(fields["-pot"])
    if not 0 < pot < 2 * ENDGAME_STACK:
        raise ParseError(f"-pot must be 1 to {2 * ENDGAME_STACK - 1} chips, got {pot}")
    behind = ENDGAME_STACK - pot // 2
    weights = _parse_reach(fields["-reach"])
    try:
        ranges = Range(weights[0]), Range(weights[1])
        return HoldemSpot(board=board, pot=pot, stacks=(behind, behind), ranges=ranges, menu=menu)
    except EquipoiseError as error:
        raise ParseError(f"the endgame is no spot: {error}") from None


def _split_endgame(text: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, _, value = line.strip().partition(" ")
        if not name:
            continue
        if name not in ENDGAME_FIELDS or name in fields:
            reason = "is there twice" if name in fields else f"is none of {', '.join(ENDGAME_FIELDS)}"
            raise ParseError(f"line {number} of the endgame begins with {name[:20]!r}, which {reason}")
        fields[name] = value.strip()
    missing = [name for name in ENDGAME_FIELDS if not fields.get(name)]
    if missing:
        raise ParseError(f"the endgame has no {', '.join(missing)}; is the file cut short?")
    return fields


def _parse_reach(text: str) -> npt.NDArray[np.float64]:
    """Returns `[2, H]` weights in the order of `hands_of`."""
    numbers = text.split()
    size = FULL_DECK.num_hands
    if len(numbers) != 2 * size:
        raise ParseError(f"-reach must have {2 * size} numbers, got {len(numbers)}; is the file cut short?")
    try:
        values = [float(number) for number in numbers]
    except ValueError as error:
        raise ParseError(f"-reach must be numbers: {error}") from None
    if not all(math.isfinite(value) and 0 <= value <= 1 for value in values):
        raise ParseError("-reach must be numbers from 0 to 1")
    cards = [4 * rank + SUITS.index(suit) for rank in range(len(RANKS)) for suit in ENDGAME_SUITS]
    order = [hands_of().index(cards[i], cards[j]) for i in range(NUM_CARDS) for j in range(i + 1, NUM_CARDS)]
    weights = np.zeros((2, size))
    weights[:, order] = np.array(values).reshape(2, size)
    return weights
