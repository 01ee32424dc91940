# SPDX-License-Identifier: Apache-2.0
"""Cards, boards and decks of hold'em, and their text.

A card is the integer `rank * 4 + suit`: ranks 0 (deuce) to 12 (ace), suits c, d, h, s. A card keeps its number and its
name in every deck, so that arrays and texts of different decks never mean different cards.

>>> len(DECKS["short"].ranks), DECKS["full"] == FULL_DECK
(9, True)
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable, Mapping
from typing import Any, Final

from equipoise.core.checks import check_text
from equipoise.core.errors import ConfigError, ParseError
from equipoise.core.formatting import show_given

__all__ = [
    "DECKS",
    "FULL_DECK",
    "NUM_CARDS",
    "RANKS",
    "SUITS",
    "Deck",
    "card_rank",
    "card_suit",
    "check_board",
    "check_deck",
    "format_board",
    "format_card",
    "format_deck",
    "parse_board",
    "parse_card",
    "parse_deck",
]

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
NUM_CARDS: Final = len(RANKS) * len(SUITS)
BOARD_SIZES: Final = (0, 3, 4, 5)


def _check_letters(name: str, letters: str, allowed: str) -> None:
    if not letters or "".join(letter for letter in allowed if letter in letters) != letters:
        raise ConfigError(f"{name} must be some of {allowed}, each once and in this order, got {letters!r}")


@dataclasses.dataclass(frozen=True, slots=True)
class Deck:
    """Every card of some ranks in some suits, and how hands of them rank.

    Straights are five neighbours among the deck's ranks; the ace also stands below the lowest rank. In the short deck
    A-6-7-8-9 is a straight for that reason.

    >>> Deck("TJQKA", "hs").num_cards
    10
    """

    ranks: str = RANKS  # in ascending order
    suits: str = SUITS  # in the order c, d, h, s
    flush_beats_full_house: bool = False
    trips_beat_straight: bool = False
    cards: tuple[int, ...] = dataclasses.field(init=False, repr=False, compare=False)  # ascending

    def __post_init__(self) -> None:
        _check_letters("ranks", self.ranks, RANKS)
        _check_letters("suits", self.suits, SUITS)
        cards = tuple(4 * RANKS.index(rank) + SUITS.index(suit) for rank in self.ranks for suit in self.suits)
        if len(cards) < 4:
            raise ConfigError(f"a deck needs at least 4 cards, got {len(cards)}: {self.ranks}/{self.suits}")
        object.__setattr__(self, "cards", cards)

    @property
    def num_cards(self) -> int:
        """Number of cards."""
        return len(self.cards)

    @property
    def num_hands(self) -> int:
        """Number of pairs of hole cards."""
        return len(self.cards) * (len(self.cards) - 1) // 2

    @property
    def rank_mask(self) -> int:
        """The ranks as bits, the deuce being bit 0."""
        return sum(1 << RANKS.index(rank) for rank in self.ranks)

    def __contains__(self, card: object) -> bool:
        return card in self.cards


FULL_DECK: Final = Deck()
DECKS: Final[Mapping[str, Deck]] = {
    "full": FULL_DECK,
    "short": Deck("6789TJQKA", flush_beats_full_house=True),
    "royal": Deck("TJQKA"),  # 20 cards
    "small": Deck("9TJQKA", "chs"),  # 18 cards: flushes are likely and suits symmetric
    "tiny": Deck("TJQKA", "hs"),  # 10 cards: every deal of a river can be listed
}


def card_rank(card: int) -> int:
    """Returns a card's rank, 0 for a deuce to 12 for an ace."""
    return card // 4


def card_suit(card: int) -> int:
    """Returns a card's suit, an index into `SUITS`."""
    return card % 4


def parse_card(text: str, deck: Deck = FULL_DECK) -> int:
    """Returns the card that a text such as `Ah` names; capitals do not matter.

    >>> parse_card("Ah"), parse_card("2C")
    (50, 0)
    """
    check_text("card", text)
    check_deck(deck)
    cleaned = text.strip()
    if len(cleaned) != 2 or cleaned[0].upper() not in RANKS or cleaned[1].lower() not in SUITS:
        raise ParseError(f"a card is a rank of {RANKS} and a suit of {SUITS}, as in Ah, got {text!r}")
    card = 4 * RANKS.index(cleaned[0].upper()) + SUITS.index(cleaned[1].lower())
    if card not in deck:
        raise ParseError(f"the deck has ranks {deck.ranks} and suits {deck.suits}, not {format_card(card)}")
    return card


def format_card(card: int) -> str:
    """Returns a card's name.

    >>> format_card(50)
    'Ah'
    """
    if not 0 <= card < NUM_CARDS:
        raise ConfigError(f"a card is 0 to {NUM_CARDS - 1}, got {card}")
    return RANKS[card // 4] + SUITS[card % 4]


def parse_board(text: str, deck: Deck = FULL_DECK) -> tuple[int, ...]:
    """Returns the cards of a board in the order given: none, three, four or five.

    Spaces and commas between cards do not matter.

    >>> parse_board("Ks7h2d") == parse_board("Ks, 7h 2d")
    True
    """
    check_text("board", text)
    check_deck(deck)
    letters = "".join(text.replace(",", " ").split())
    if len(letters) % 2:
        raise ParseError(f"a board is a row of cards of two letters each, as in Ks7h2d, got {text!r}")
    board = tuple(parse_card(letters[i : i + 2], deck) for i in range(0, len(letters), 2))
    try:
        check_board(board, deck)
    except ConfigError as error:
        raise ParseError(f"{error} (board {text!r})") from None
    return board


def format_board(board: Iterable[int]) -> str:
    """Returns the names of a board's cards in their order.

    >>> format_board((47, 22, 1))
    'Ks7h2d'
    """
    return "".join(map(format_card, board))


def check_board(board: Iterable[int], deck: Deck = FULL_DECK) -> None:
    """Raises `ConfigError` unless a board has 0, 3, 4 or 5 different cards of the deck."""
    check_deck(deck)
    try:
        cards = tuple(map(operator.index, board))
    except TypeError:
        raise ConfigError(f"board must be cards as parse_board('Ks7h2d') gives them, got {show_given(board)}") from None
    foreign = [card for card in cards if card not in deck]
    if foreign:
        name = format_card(foreign[0])
        raise ConfigError(f"a board's cards are of ranks {deck.ranks} and suits {deck.suits}, got {name}")
    twice = [card for card in set(cards) if cards.count(card) > 1]
    if twice:
        raise ConfigError(f"a board's cards are different, got {format_card(min(twice))} twice")
    if len(cards) not in BOARD_SIZES:
        raise ConfigError(f"a board has 0, 3, 4 or 5 cards, got {len(cards)}")
    if deck.num_cards < 9:
        raise ConfigError(f"two hands and a board need 9 cards, the deck has {deck.num_cards}")


def check_deck(deck: Any) -> None:
    """Raises `ConfigError` unless a deck is given, as is soon forgotten where its name would do.

    >>> check_deck("short")
    Traceback (most recent call last):
        ...
    equipoise.core.errors.ConfigError: deck must be a Deck as parse_deck('short') gives it, got 'short'
    """
    if not isinstance(deck, Deck):
        raise ConfigError(f"deck must be a Deck as parse_deck('short') gives it, got {show_given(deck)}")


def parse_deck(text: str) -> Deck:
    """Returns a deck by its name in `DECKS` or from `RANKS/SUITS`.

    `RANKS/SUITS/flush` lets flushes beat full houses, `/trips` trips straights, `/flush+trips` both.

    >>> parse_deck("TJQKA/hs").num_cards, parse_deck("short").num_cards
    (10, 36)
    """
    check_text("deck", text)
    cleaned = text.strip()
    if cleaned.lower() in DECKS:
        return DECKS[cleaned.lower()]
    parts = cleaned.split("/")
    options = set(parts[2].lower().split("+")) if len(parts) == 3 else set()
    if len(parts) not in (2, 3) or options - {"flush", "trips"}:
        names = ", ".join(DECKS)
        raise ParseError(f"a deck is {names} or RANKS/SUITS[/flush+trips], as in 6789TJQKA/cdhs/flush, got {text!r}")
    try:
        return Deck(parts[0].upper(), parts[1].lower(), "flush" in options, "trips" in options)
    except ConfigError as error:
        raise ParseError(f"{error} (deck {text!r})") from None


def format_deck(deck: Deck) -> str:
    """Returns a deck as `parse_deck` reads it.

    >>> format_deck(DECKS["short"]), format_deck(Deck("TJQKA", "chs"))
    ('short', 'TJQKA/chs')
    """
    for name, known in DECKS.items():
        if known == deck:
            return name
    options = ["flush"] * deck.flush_beats_full_house + ["trips"] * deck.trips_beat_straight
    return "/".join([deck.ranks, deck.suits, *(["+".join(options)] if options else [])])
