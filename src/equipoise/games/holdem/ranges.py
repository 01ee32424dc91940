# SPDX-License-Identifier: Apache-2.0
"""Ranges: a weight for every pair of hole cards, and the notation in which players write them.

Entries are separated by commas or spaces; **a later entry overrides earlier ones**, so `QQ+, KK:0.5` halves kings and
`22+, 77:0` leaves sevens out.

| entry | hands |
| --- | --- |
| `AA`, `AKs`, `AKo`, `AK` | a pair, suited, offsuit, both |
| `QQ+`, `KTs+`, `T9s+` | this pair and higher; the lower card up to just below the higher; neighbours move together |
| `TT-77`, `A5s-A2s`, `T9s-76s` | both ends included; the higher card or the gap stays the same |
| `AhKh` | one pair of cards |
| `random`, `any`, `*` | every hand |

`:0.5`, `@0.5`, `:50%` or `@50%` after an entry is its weight, 0 to 1; without it the weight is 1.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from equipoise.core.checks import check_text
from equipoise.core.errors import ConfigError, ParseError
from equipoise.core.formatting import shorten_text
from equipoise.core.markup import html_line, join_html, svg_grid
from equipoise.games.holdem.cards import FULL_DECK, Deck, check_deck, format_board, format_deck
from equipoise.games.holdem.hands import Hands, format_hand, hands_of, parse_hand

__all__ = ["Range", "check_ranges", "format_range", "parse_range"]

SURE_SHARE: Final = 1e-9  # of all pairs' weight, far above what rounding makes of nothing
LEAST_PAIR_WEIGHT: Final = 1e-100  # sum over pairs of hands; a product of smaller weights may be no number
EVERY_HAND: Final = ("random", "any", "*")
ALLOWED: Final = "allowed: AA AKs AKo AK QQ+ KTs+ TT-77 A5s-A2s AhKh random, each with :0.5 or @50% if wanted"
CLASS: Final = re.compile(r"([2-9TJQKA])([2-9TJQKA])([so]?)", re.IGNORECASE)
COMBO: Final = re.compile(r"[2-9TJQKA][cdhs][2-9TJQKA][cdhs]", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Range:
    """A weight from 0 to 1 for every pair of hole cards of a deck.

    >>> parse_range("AA, AKs:0.5").num_combos
    8.0
    """

    weights: npt.NDArray[np.float64]  # [H] read-only
    deck: Deck = FULL_DECK

    def __repr__(self) -> str:
        return f"<Range of {self.num_combos:.4g} combinations: {shorten_text(format_range(self))}>"

    def _repr_html_(self) -> str:
        hands = hands_of(self.deck)
        held = np.nan_to_num(hands.grid(self.weights)).ravel()
        square = svg_grid(hands.class_names, [[1.0]] * held.size, held.tolist(), ["held"])
        return join_html(html_line(repr(self)), square)

    def __post_init__(self) -> None:
        weights = np.array(self.weights, np.float64)
        if weights.shape != (self.deck.num_hands,):
            raise ConfigError(f"a range of this deck has {self.deck.num_hands} weights, got shape {weights.shape}")
        is_right = (weights >= 0) & (weights <= 1)
        if not is_right.all():
            wrong = int(is_right.argmin())
            raise ConfigError(
                f"weights of a range are 0 to 1, got {weights[wrong]} for {format_hand(wrong, self.deck)}"
            )
        weights += 0.0  # no negative zeros: equal ranges have equal bytes
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def random(cls, deck: Deck = FULL_DECK) -> Self:
        """Returns the range of every hand."""
        return cls(np.ones(deck.num_hands), deck)

    @classmethod
    def of_hand(cls, first: int, second: int, deck: Deck = FULL_DECK) -> Self:
        """Returns the range of one pair of cards."""
        weights = np.zeros(deck.num_hands)
        weights[hands_of(deck).index(first, second)] = 1.0
        return cls(weights, deck)

    @property
    def num_combos(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    def without(self, cards: Iterable[int]) -> Self:
        """Returns the range with the hands that hold one of the cards at weight 0."""
        return type(self)(np.where(hands_of(self.deck).blocked(cards), 0.0, self.weights), self.deck)

    def grid(self) -> npt.NDArray[np.float64]:
        """Returns the average weight `[ranks, ranks]` of each class of hands; see `Hands.grid`."""
        return hands_of(self.deck).grid(self.weights)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Range):
            return NotImplemented
        return self.deck == other.deck and bool(np.array_equal(self.weights, other.weights))

    def __hash__(self) -> int:
        return hash((self.deck, self.weights.tobytes()))

    def __str__(self) -> str:
        return format_range(self)


def check_ranges(ranges: Sequence[Range], board: Sequence[int], names: Sequence[str] = ("first", "second")) -> None:
    """Raises `ConfigError` unless both ranges have hands on the board, and two hands that share no card.

    Args:
        ranges: two ranges of one deck.
        board: cards that no hand may hold.
        names: what messages call the ranges.

    >>> from equipoise.games.holdem import parse_board
    >>> check_ranges([parse_range("AA"), parse_range("KK")], parse_board("AsAhKd7c2d"))
    """
    if ranges[0].deck != ranges[1].deck:
        raise ConfigError(f"the ranges {names[0]} and {names[1]} are of different decks")
    hands = hands_of(ranges[0].deck)
    is_live = ~hands.blocked(board)
    first, second = (held.weights * is_live for held in ranges)
    for name, held, left in zip(names, ranges, (first, second), strict=True):
        if not held.weights.any():
            raise ConfigError(f"the range {name} is empty: give at least one hand a positive weight")
        if not left.any():
            shown = format_board(board)
            raise ConfigError(f"the board {shown} blocks every hand of the range {name}: {format_range(held)}")
    num_apart = hands.compatible(second > 0)  # whole numbers: exact
    if not num_apart[first > 0].any():
        raise ConfigError(f"every hand of the range {names[0]} shares a card with every hand of the range {names[1]}")
    if not _has_weight(hands, first, second):
        raise ConfigError(
            f"the weights of the ranges {names[0]} and {names[1]} are too small to compute with, at most "
            f"{first.max():.3g} and {second.max():.3g}; multiply those of a range by one factor"
        )


def _has_weight(hands: Hands, first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> bool:
    """Returns whether pairs of hands that share no card have a sum of weights that can be computed with."""
    total = float(first.sum()) * float(second.sum())
    if first @ hands.compatible(second) > max(SURE_SHARE * total, LEAST_PAIR_WEIGHT):
        return True
    # so little that it may be what subtracting left: every pair by itself
    one, other = np.flatnonzero(first), np.flatnonzero(second)
    is_apart = (hands.masks[one][:, None] & hands.masks[other][None, :]) == 0
    return float(first[one] @ is_apart @ second[other]) >= LEAST_PAIR_WEIGHT


def parse_range(text: str, deck: Deck = FULL_DECK) -> Range:
    """Returns the range that a text in the players' notation describes.

    >>> parse_range("QQ+, AKs, 76s@30%").num_combos
    23.2
    """
    check_text("range", text)
    check_deck(deck)
    tidy = re.sub(r"\s*([-:@])\s*", r"\1", text)
    tokens = [token for token in re.split(r"[\s,]+", tidy) if token]
    if not tokens:
        raise ParseError(f"a range needs at least one entry, got {text!r}; {ALLOWED}")
    weights = np.zeros(deck.num_hands)
    for token in tokens:
        entry, weight = _split_weight(token)
        named = _entry_hands(entry, token, deck)
        if not named.size:
            raise _fail(token, f"the deck {format_deck(deck)} has no such hand")
        weights[named] = weight
    return Range(weights, deck)


def format_range(held: Range) -> str:
    """Returns a short text from which `parse_range` makes the same range, weight for weight.

    Classes with one weight are written together in runs, hands that differ from their class after them.

    >>> format_range(parse_range("AA,KK,QQ,AKs,AKo,AQs,AhJh:0.25"))
    'QQ+, AQs+, AKo, AhJh:0.25'
    """
    most_common = Counter(held.weights.tolist()).most_common(1)[0][0]
    texts = [_format_entries(held, background) for background in {0.0, most_common}]
    return min(texts, key=lambda text: (len(text), text))


def _fail(token: str, reason: str) -> ParseError:
    return ParseError(f"range entry {token!r}: {reason}; {ALLOWED}")


def _split_weight(token: str) -> tuple[str, float]:
    mark = re.search("[:@]", token)
    if mark is None:
        return token, 1.0
    entry, number = token[: mark.start()], token[mark.end() :]
    try:
        weight = float(number.removesuffix("%") + "e-2") if number.endswith("%") else float(number)
    except ValueError:
        raise _fail(token, f"the weight {number!r} is not a number") from None
    if not 0 <= weight <= 1:
        raise _fail(token, f"a weight is 0 to 1 or 0% to 100%, got {number}")
    return entry, weight


def _entry_hands(entry: str, token: str, deck: Deck) -> npt.NDArray[np.intp]:
    if entry.lower() in EVERY_HAND:
        return np.arange(deck.num_hands)
    if COMBO.fullmatch(entry):
        try:
            return np.array([parse_hand(entry, deck)])
        except ParseError as error:
            raise _fail(token, str(error)) from None
    if entry.endswith("+"):
        high, low, suits = _parse_class(entry[:-1], token, deck)
        classes = _upwards(high, low, len(deck.ranks))
    elif "-" in entry:
        first, last = entry.split("-", 1)
        high, low, suits = _parse_class(first, token, deck)
        other_high, other_low, other_suits = _parse_class(last, token, deck)
        if suits != other_suits:
            raise _fail(token, "both ends of a run are suited, offsuit or neither")
        classes = _between((high, low), (other_high, other_low), token)
    else:
        high, low, suits = _parse_class(entry, token, deck)
        classes = [(high, low)]
    return _class_hands(classes, suits, deck)


def _parse_class(text: str, token: str, deck: Deck) -> tuple[int, int, str]:
    """Returns the places of both ranks among the deck's, the higher first, and `s`, `o` or nothing."""
    match = CLASS.fullmatch(text)
    if match is None:
        raise _fail(token, f"{text!r} is no hand")
    places = []
    for rank in match.group(1, 2):
        if rank.upper() not in deck.ranks:
            raise _fail(token, f"the deck has ranks {deck.ranks}, not {rank.upper()}")
        places.append(deck.ranks.index(rank.upper()))
    suits = match.group(3).lower()
    if places[0] == places[1] and suits:
        raise _fail(token, "a pair is neither suited nor offsuit")
    return max(places), min(places), suits


def _upwards(high: int, low: int, num_ranks: int) -> list[tuple[int, int]]:
    gap = high - low
    if gap <= 1:
        return [(top, top - gap) for top in range(high, num_ranks)]
    return [(high, bottom) for bottom in range(low, high)]


def _between(first: tuple[int, int], last: tuple[int, int], token: str) -> list[tuple[int, int]]:
    (high, low), (end_high, end_low) = max(first, last), min(first, last)
    if high - low == end_high - end_low:
        return [(end_high + i, end_low + i) for i in range(high - end_high + 1)]
    if high == end_high and end_high != end_low and high != low:
        return [(high, bottom) for bottom in range(end_low, low + 1)]
    raise _fail(token, "a run keeps its higher card, as in A5s-A2s, or its gap, as in TT-77 and T9s-76s")


def _class_hands(classes: Iterable[tuple[int, int]], suits: str, deck: Deck) -> npt.NDArray[np.intp]:
    hands, size = hands_of(deck), len(deck.ranks)
    wanted = np.zeros(size * size, np.bool_)
    for high, low in classes:
        top, bottom = size - 1 - high, size - 1 - low
        wanted[top * size + bottom] |= suits != "o"
        wanted[bottom * size + top] |= suits != "s"
    return np.flatnonzero(wanted[hands.classes])


def _format_entries(held: Range, background: float) -> str:
    """Returns a range's text in which hands without an entry have the background weight."""
    hands = hands_of(held.deck)
    class_weights: dict[int, float] = {}
    combos: list[tuple[float, int]] = []
    for index in np.flatnonzero(hands.class_sizes):
        members = np.flatnonzero(hands.classes == index)
        weights = held.weights[members].tolist()
        common, count = Counter(weights).most_common(1)[0]
        # an entry for the class pays if it saves more than one for single hands
        default = common if count - weights.count(background) > 1 or count == len(weights) else background
        class_weights[int(index)] = default
        combos += [(weight, int(hand)) for hand, weight in zip(members, weights, strict=True) if weight != default]
    entries = [] if background == 0 else ["random" + _format_weight(background)]
    for weight in sorted({*class_weights.values()} - {background}, reverse=True):
        chosen = {index for index, own in class_weights.items() if own == weight}
        entries += [name + _format_weight(weight) for name in _class_runs(chosen, held.deck)]
    combos.sort(key=lambda combo: (-combo[0], -combo[1]))
    entries += [format_hand(hand, held.deck) + _format_weight(weight) for weight, hand in combos]
    return ", ".join(entries) or "random:0"


def _format_weight(weight: float) -> str:
    if weight == 1:
        return ""
    return ":0" if weight == 0 else f":{weight!r}"


def _class_runs(classes: set[int], deck: Deck) -> Iterator[str]:
    """Yields entries, without weights, that together name exactly these classes."""
    size = len(deck.ranks)
    pairs = [size - 1 - place for place in range(size) if place * size + place in classes]
    for top, bottom in _runs(pairs):
        yield _format_run(top, top, bottom, bottom, "", deck, is_open=top == size - 1)
    for high in range(size - 1, 0, -1):
        row = size - 1 - high
        suited = [size - 1 - place for place in range(row + 1, size) if row * size + place in classes]
        offsuit = [size - 1 - place for place in range(row + 1, size) if place * size + row in classes]
        has_one_suit = len(deck.suits) == 1
        same = suited == offsuit
        for kickers, suits in [(suited, "")] if same else [(suited, "" if has_one_suit else "s"), (offsuit, "o")]:
            for top, bottom in _runs(kickers):
                # KQ+ would go on to AK, so a run to the top needs at least two hands to be open
                yield _format_run(high, top, high, bottom, suits, deck, is_open=top == high - 1 > bottom)


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yields first and last of each unbroken run of descending places."""
    start = 0
    for i in range(1, len(places) + 1):
        if i == len(places) or places[i] != places[i - 1] - 1:
            yield places[start], places[i - 1]
            start = i


def _format_run(high: int, low: int, end_high: int, end_low: int, suits: str, deck: Deck, *, is_open: bool) -> str:
    last = deck.ranks[end_high] + deck.ranks[end_low] + suits
    if (high, low) == (end_high, end_low):
        return last
    return last + "+" if is_open else f"{deck.ranks[high]}{deck.ranks[low]}{suits}-{last}"
