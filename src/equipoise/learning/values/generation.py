# SPDX-License-Identifier: Apache-2.0
"""Solved situations by the thousand: shards from a configuration and a number, made by any number of processes."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.hand_strength import canonical_boards
from equipoise.core.errors import ConfigError
from equipoise.core.memory import check_memory
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import FULL_DECK, Deck, format_deck
from equipoise.games.holdem.dealing import HAND_SIZE
from equipoise.games.holdem.hands import hands_of
from equipoise.learning.values.boards import BoardFacts
from equipoise.learning.values.configuration import NetStage
from equipoise.learning.values.inference import Questions
from equipoise.learning.values.labels import Labels, SolvedSituation, ValueSolver
from equipoise.learning.values.leaves import NetworkLeaves
from equipoise.learning.values.net_files import NetFile
from equipoise.learning.values.self_play import SelfPlay
from equipoise.learning.values.shards import Arrays, stack_rows
from equipoise.learning.values.situations import Situation, draw_situation, find_ratios

__all__ = ["DistilledSource", "SolvedSource"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SolvedSource:
    """Random situations of a street, solved: a shard's content follows from this and its number."""

    street: Street
    labels: Labels
    ratios: str = "cpu"
    per_shard: int = 400
    seed: int = 0
    deck: Deck = FULL_DECK
    leaves: NetFile | None = None  # values where the street is left; None: the hand is solved to its end
    play: SelfPlay | None = None  # hands that situations are met in; None: they are drawn at random

    def __post_init__(self) -> None:
        find_ratios(self.ratios)
        if self.per_shard < 1:
            raise ConfigError(f"a shard has at least one situation, got {self.per_shard}")

    @property
    def config(self) -> dict[str, Any]:
        """Returns what shards are made from, as JSON values."""
        return {
            "street": self.street.name.lower(),
            "deck": format_deck(self.deck),
            **dataclasses.asdict(self.labels),
            "ratios": self.ratios,
            "per_shard": self.per_shard,
            "seed": self.seed,
            "leaves": "" if self.leaves is None else self.leaves.name,
            **({} if self.play is None else {"play": self.play.name, "hands": self.play.config}),
        }

    def make(self, number: int) -> Arrays:
        """Returns the arrays of a shard."""
        rng = np.random.default_rng([self.seed, int(self.street), number])
        net = None if self.leaves is None else self.leaves.bind()
        is_after_deal = net is not None and net.config.street > self.street
        leaves = None if net is None else NetworkLeaves(net)
        solver = ValueSolver(self.labels, deck=self.deck, leaves=leaves, is_after_deal=is_after_deal)
        starts, ends = [], []
        for situation in itertools.islice(self._draw(rng), self.per_shard):
            start, left = solver.solve(situation, rng)
            starts.append(start)
            ends += left
        return {**stack_rows(starts), **stack_rows(ends, "end_")}

    def _draw(self, rng: np.random.Generator) -> Iterator[Situation]:
        """Yields situations without end."""
        while True:
            if self.play is None:
                yield draw_situation(self.street, find_ratios(self.ratios), rng, deck=self.deck)
            else:
                yield from self.play.draw(self.street, NetStage.START, rng)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistilledSource:
    """Random situations at the end of a street, worth what the next one's network says of all cards that may come."""

    net: NetFile  # of the start of the next street
    ratios: str = "cpu"
    per_shard: int = 400
    per_board: int = 8  # situations in a row with the same board: what is known of the next boards serves them all
    seed: int = 0
    play: SelfPlay | None = None  # hands that situations are met in; None: they are drawn at random

    def __post_init__(self) -> None:
        find_ratios(self.ratios)

    @property
    def street(self) -> Street:
        """Returns the street whose end is valued."""
        return Street(self.net.bind().config.street - 1)

    @property
    def config(self) -> dict[str, Any]:
        """Returns what shards are made from, as JSON values."""
        return {
            "street": f"{self.street.name.lower()}-end",
            "deck": self.net.bind().config.deck,
            "source": self.net.name,
            "ratios": self.ratios,
            "per_shard": self.per_shard,
            "per_board": self.per_board,
            "seed": self.seed,
            **({} if self.play is None else {"play": self.play.name, "hands": self.play.config}),
        }

    @property
    def _num_alike(self) -> int:
        """Returns how many situations in a row have the same board; before the flop there is one board alone."""
        return self.per_shard if self.street is Street.PREFLOP else self.per_board

    def make(self, number: int) -> Arrays:
        """Returns the arrays of a shard."""
        rng = np.random.default_rng([self.seed, 10 + int(self.street), number])
        rows: list[SolvedSituation] = []
        while len(rows) < self.per_shard:
            alike = self._draw_alike(min(self._num_alike, self.per_shard - len(rows)), rng)
            rows += self._value(alike) if alike else []
        return stack_rows(rows)

    def _draw_alike(self, count: int, rng: np.random.Generator) -> list[Situation]:
        """Returns at most so many situations on one board."""
        if self.play is not None:
            return self.play.draw(self.street, NetStage.END, rng)[:count]
        deck, ratios = self.net.bind().config.cards, find_ratios(self.ratios)
        first = draw_situation(self.street, ratios, rng, deck=deck)
        same = [draw_situation(self.street, ratios, rng, deck=deck, board=first.board) for _ in range(count - 1)]
        return [first, *same]

    def _value(self, situations: list[Situation]) -> list[SolvedSituation]:
        """Returns situations on one board with their values."""
        deck, board = self.net.bind().config.cards, situations[0].board
        num_new = Street(self.street + 1).num_board_cards - len(board)
        if board:
            left = [card for card in deck.cards if card not in board]
            dealt = [tuple(sorted((*board, *new))) for new in itertools.combinations(left, num_new)]
            counts = np.ones(len(dealt))
        else:  # flops that differ by the names of suits alone are worth the same to classes of hands
            flops = canonical_boards(deck, num_new)
            dealt, counts = [tuple(each.tolist()) for each in flops.sets], flops.counts.astype(np.float64)
        num_boards = math.comb(deck.num_cards - 2 * HAND_SIZE - len(board), num_new)
        live = ~hands_of(deck).blocked(board)
        reach = np.zeros((2, len(situations), deck.num_hands))
        for player in (0, 1):
            reach[player][:, live] = [each.ranges[player] for each in situations]
        mass = reach.sum(axis=2)
        reach /= mass[..., None]
        ratio = np.array([each.ratio for each in situations], np.float64)
        total = np.zeros(reach.shape)
        known = (BoardFacts(cards, deck) for cards in dealt) if board else _keep_boards(tuple(dealt), deck)
        for facts, count in zip(known, counts, strict=True):
            total += count * self._ask(facts, reach, ratio)
        values = total / num_boards
        if not board:
            values = _average_classes(values, deck)
        return [
            SolvedSituation(each, values[:, row][:, live].astype(np.float16)) for row, each in enumerate(situations)
        ]

    def _ask(self, facts: BoardFacts, reach: FloatArray, ratio: FloatArray) -> FloatArray:
        """Returns `[2, B, H]` what hands are worth once cards are dealt, nothing for those that they block."""
        is_held = ~hands_of(facts.deck).blocked(facts.board)
        first, second = (np.ascontiguousarray(own * is_held) for own in reach)
        size = len(ratio)
        asked = Questions([facts], np.zeros(size, np.int32), ratio, np.ones(size))
        return np.stack(self.net.bind().evaluate(asked, (first, second))) * is_held


@functools.lru_cache(1)
def _keep_boards(boards: tuple[tuple[int, ...], ...], deck: Deck) -> tuple[BoardFacts, ...]:
    """Returns what is known of boards that every situation before the flop asks about: five gigabytes, two minutes."""
    num_hands = math.comb(deck.num_cards - len(boards[0]), HAND_SIZE)
    check_memory(2 * len(boards) * num_hands**2, "what is known of all flops")
    return tuple(BoardFacts(board, deck) for board in boards)


def _average_classes(values: FloatArray, deck: Deck) -> FloatArray:
    """Returns values `[..., H]` averaged over the hands of each class."""
    hands = hands_of(deck)
    order = np.argsort(hands.classes, kind="stable")
    sizes = hands.class_sizes[hands.class_sizes > 0]
    sums = np.add.reduceat(values[..., order], np.concatenate([[0], np.cumsum(sizes)[:-1]]), axis=-1)
    means = np.zeros((*values.shape[:-1], hands.class_sizes.size))
    means[..., hands.class_sizes > 0] = sums / sizes
    averaged: FloatArray = means[..., hands.classes]
    return averaged
