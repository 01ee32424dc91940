# SPDX-License-Identifier: Apache-2.0
"""Random situations of hold'em: a board, what is behind in pots, and both players' ranges.

Paper: Zarick et al. 2020, "Unlocking the Potential of Deep Counterfactual Value Networks", arXiv:2007.10442, section
    4.3, which draws subgames as DeepStack does (Moravcik et al. 2017, supplement).
Symbols: R(S, p) -> `draw_ranges`.
Departs from the paper: what is behind is drawn in pots, by bands; hands of equal strength come in random order. The
    paper's bands of chips are `DEEPSTACK_RATIOS`.
Checked by: tests/learning/values/test_situations.py.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.hand_strength import Strength, expected_strength, list_completions
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import FULL_DECK, Deck, check_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.strength import evaluate_boards, hand_kernel

__all__ = [
    "CPU_RATIOS",
    "DEEPSTACK_RATIOS",
    "RATIOS",
    "SHALLOW_RATIOS",
    "RatioBands",
    "Situation",
    "draw_class_weights",
    "draw_ranges",
    "draw_situation",
    "find_ratios",
    "find_strengths",
    "order_hands",
]

FloatArray = npt.NDArray[np.float64]
HalfArray = npt.NDArray[np.float16]
IntArray = npt.NDArray[np.int64]

LEAST_SHARE: Final = 2.0**-24  # of a range, that every hand has: the smallest number of 16 bits


@dataclasses.dataclass(frozen=True, slots=True)
class RatioBands:
    """How chips behind are drawn, in pots: a band by its weight, then within it."""

    edges: tuple[tuple[float, float], ...]  # lowest and highest of each band
    weights: tuple[float, ...]  # adding up to 1
    is_logarithmic: bool = True  # within a band; else uniform in what each player has paid of the stack

    def __post_init__(self) -> None:
        if len(self.edges) != len(self.weights) or not self.edges:
            raise ConfigError(f"every band has a weight, got {len(self.edges)} bands and {len(self.weights)} weights")
        if any(not 0 < low <= high for low, high in self.edges):
            raise ConfigError(f"a band goes from a positive ratio to one no smaller, got {self.edges}")
        if abs(sum(self.weights) - 1) > 1e-9 or min(self.weights) < 0:
            raise ConfigError(f"weights of bands add up to 1, got {self.weights}")

    def draw(self, rng: np.random.Generator) -> float:
        """Returns chips behind, in pots."""
        low, high = self.edges[int(rng.choice(len(self.edges), p=self.weights))]
        if self.is_logarithmic:
            return float(np.exp(rng.uniform(np.log(low), np.log(high))))
        paid = rng.uniform(_paid(high), _paid(low))
        return (1.0 - paid) / (2.0 * paid)


def _paid(ratio: float) -> float:
    """Returns what share of the stack a player has paid where so many pots are behind."""
    return 1.0 / (1.0 + 2.0 * ratio)


def _ratio(paid: float, stack: float = 20_000.0) -> float:
    return (stack - paid) / (2.0 * paid)


# [Moravcik et al. 2017]: each player's chips in the pot, of 20,000
DEEPSTACK_RATIOS: Final = RatioBands(
    tuple(
        (_ratio(high), _ratio(low)) for low, high in ((100, 100), (200, 400), (400, 2000), (2000, 6000), (6000, 19_950))
    ),
    (0.2,) * 5,
    is_logarithmic=False,
)
CPU_RATIOS: Final = RatioBands(
    ((0.02, 0.2), (0.2, 1.0), (1.0, 4.0), (4.0, 13.0), (13.0, 40.0), (40.0, 100.0)), (0.1, 0.2, 0.25, 0.2, 0.15, 0.1)
)
# where most hands are decided; deep situations take longest to solve
SHALLOW_RATIOS: Final = RatioBands(((0.02, 0.2), (0.2, 1.0), (1.0, 4.0), (4.0, 13.0)), (0.05, 0.2, 0.45, 0.3))
RATIOS: Final = {"cpu": CPU_RATIOS, "deepstack": DEEPSTACK_RATIOS, "shallow": SHALLOW_RATIOS}


def find_ratios(name: str) -> RatioBands:
    """Returns bands by name; raises `ConfigError` with the names that there are."""
    if name not in RATIOS:
        raise ConfigError(f"ratios are one of {', '.join(RATIOS)}, got {name!r}")
    return RATIOS[name]


class Situation(NamedTuple):
    """What is to be valued, for a pot of 1."""

    board: tuple[int, ...]  # ascending
    ratio: float  # chips behind, in pots
    ranges: HalfArray  # [2, n] over the hands that the board leaves, by number; each adds up to about 1


def order_hands(board: tuple[int, ...], rng: np.random.Generator, deck: Deck = FULL_DECK) -> IntArray:
    """Returns `[n]` the hands that a board leaves, weakest first by their expected strength; ties in random order."""
    live = np.flatnonzero(~hands_of(deck).blocked(board))
    keys = find_strengths(board, deck)[live]
    order: IntArray = live[np.lexsort((rng.random(live.size), keys))]
    return order


@functools.lru_cache(64)
def find_strengths(board: tuple[int, ...], deck: Deck) -> npt.NDArray[np.int64]:
    """Returns `[H]` integers in the order of expected strengths."""
    if len(board) == Street.RIVER.num_board_cards:
        strengths: IntArray = evaluate_boards(np.array([board], np.uint8), deck)[0].astype(np.int64)
        return strengths
    boards = list_completions(board, deck)
    sums, _ = hand_kernel(deck).accumulate_levels(boards, np.ones(len(boards), np.int64), hands_of(deck).cards)
    return sums.astype(np.int64)


class _Level(NamedTuple):
    """How the parts of a level of halving come from those above."""

    num_above: int
    num_parts: int
    halved: IntArray  # of the level above: those that are halved,
    weaker: IntArray  # and where their weaker halves are, the stronger ones being next
    single: IntArray  # of the level above: those that are one hand,
    kept: IntArray  # and where it is


@functools.lru_cache(16)
def _halve(size: int) -> tuple[_Level, ...]:
    """Returns the levels of halving a sorted list until every part is one hand."""
    levels: list[_Level] = []
    sizes = np.array([size])
    while sizes.max() > 1:
        is_halved = sizes > 1
        first = np.cumsum(1 + is_halved) - (1 + is_halved)
        halved, single = np.flatnonzero(is_halved), np.flatnonzero(~is_halved)
        level = _Level(sizes.size, sizes.size + halved.size, halved, first[halved], single, first[single])
        below = np.ones(level.num_parts, np.int64)
        below[level.weaker] = sizes[halved] // 2
        below[level.weaker + 1] = sizes[halved] - sizes[halved] // 2
        levels.append(level)
        sizes = below
    return tuple(levels)


def draw_ranges(shape: tuple[int, ...], size: int, rng: np.random.Generator) -> FloatArray:
    """Returns `[*shape, size]` ranges of hands sorted by strength: the weaker half gets a uniform share, and so on."""
    above = np.ones((*shape, 1))
    for level in _halve(size):
        share = rng.random((*shape, level.num_above))
        out = np.empty((*shape, level.num_parts))
        out[..., level.weaker] = (above * share)[..., level.halved]
        out[..., level.weaker + 1] = (above * (1.0 - share))[..., level.halved]
        out[..., level.kept] = above[..., level.single]
        above = out
    return above


def draw_class_weights(rng: np.random.Generator, deck: Deck = FULL_DECK) -> FloatArray:
    """Returns `[H]` weights of a range by classes: each is missing, one in three, or has some weight up to 1."""
    hands = hands_of(deck)
    weights: FloatArray = np.clip(rng.uniform(-0.5, 1.0, len(hands.class_names)), 0.0, 1.0)[hands.classes]
    return weights


def draw_situation(
    street: Street, ratios: RatioBands, rng: np.random.Generator, *, deck: Deck = FULL_DECK, board: tuple[int, ...] = ()
) -> Situation:
    """Returns a situation at random.

    Args:
        street: whose board is dealt, unless it is given.
        ratios: of chips behind.
        rng: where it is drawn from.
        deck: the cards in play.
        board: the cards, if they are known.
    """
    if board:
        check_board(board, deck)
    else:
        drawn = rng.choice(np.array(deck.cards), street.num_board_cards, replace=False)
        board = tuple(sorted(int(card) for card in drawn))
    ratio = ratios.draw(rng)
    ranges = _draw_by_class(rng, deck) if street is Street.PREFLOP else _draw_by_hand(board, rng, deck)
    return Situation(board, float(np.float32(ratio)), round_ranges(ranges))


def _draw_by_hand(board: tuple[int, ...], rng: np.random.Generator, deck: Deck) -> FloatArray:
    order = order_hands(board, rng, deck)
    by_number: FloatArray = draw_ranges((2,), order.size, rng)[:, np.argsort(order)]
    return by_number


def _draw_by_class(rng: np.random.Generator, deck: Deck) -> FloatArray:
    """Returns `[2, H]` ranges before the flop, hands of a class alike."""
    hands = hands_of(deck)
    strength = expected_strength((), deck)[Strength.EHS]
    order = np.array(sorted(set(hands.classes.tolist()), key=lambda each: strength[hands.classes == each][0]))
    shares = np.zeros((2, hands.class_sizes.size))
    shares[:, order] = draw_ranges((2,), order.size, rng)
    ranges: FloatArray = (shares / np.maximum(hands.class_sizes, 1))[:, hands.classes]
    return ranges


def round_ranges(ranges: FloatArray) -> HalfArray:
    """Returns ranges as they are kept and solved: in 16 bits, every hand having some and so a value."""
    shares = ranges / ranges.sum(axis=-1, keepdims=True)
    rounded: HalfArray = np.maximum(shares, LEAST_SHARE).astype(np.float16)
    return rounded
