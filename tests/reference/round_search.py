# SPDX-License-Identifier: Apache-2.0
"""The twin of native/round_search.hpp: one round of betting sampled from ranges, a blueprint played out behind it.

Everything is recursion over lists and dictionaries of Python; sums are of 32 bits, in the order that is written down,
so that both agree to the bit from the same words.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from tests.reference.sampling import Xoshiro

FOLD_END, SIDE_POTS = 1, 3
NUM_WAYS = 4  # as it is; towards folds, calls, raises
ONE = np.float32(1.0)


class Node(NamedTuple):
    """A line of `nodes`, unpacked."""

    first: int
    slot: int
    offset: int
    ending: int
    street: int
    player: int
    has_fold: bool
    has_call: bool
    num_actions: int
    amount: int


def unpack(row) -> Node:
    first, slot, offset, packed = (int(number) for number in row)
    packed &= 0xFFFFFFFF
    kinds = bool(packed >> 7 & 1), bool(packed >> 8 & 1)
    return Node(
        first, slot, offset, packed & 3, packed >> 2 & 3, packed >> 4 & 7, *kinds, packed >> 9 & 31, packed >> 14
    )


def draw_below(generator: Xoshiro, size: int) -> int:
    return (generator.next() >> 32) * size >> 32


def draw_share(generator: Xoshiro, share, scale=ONE) -> int:
    left = np.float32(generator.next() >> 40) * np.float32(2.0**-24) * scale
    for action, part in enumerate(share[:-1]):
        if left < part:
            return action
        left -= part
    return len(share) - 1


def sum_up(values):
    total = np.float32(0.0)
    for value in values:
        total += value
    return total


def match_regrets(regrets):
    positive = [max(np.float32(regret), np.float32(0.0)) for regret in regrets]
    total = sum_up(positive)
    return [part / total if total > 0 else ONE / np.float32(len(positive)) for part in positive]


def pay(node: Node, side_pots, strengths, player: int, paid: int):
    """Returns what a player who is left, and has paid so much, wins at an end."""
    left = [seat for seat in range(len(strengths)) if node.slot >> seat & 1]
    if node.ending == FOLD_END:
        return np.float32(node.first - paid)
    if node.ending != SIDE_POTS:
        best = max(strengths[seat] for seat in left)
        if strengths[player] < best:
            return np.float32(-paid)
        return np.float32(node.first) / np.float32([strengths[seat] for seat in left].count(best)) - np.float32(paid)
    committed = side_pots[node.first]
    won, below = np.float32(-paid), 0
    for level in sorted({int(committed[seat]) for seat in left if committed[seat] <= paid}):
        chips = sum(min(int(put), level) - min(int(put), below) for put in committed)
        among = [strengths[seat] for seat in left if committed[seat] >= level]
        if strengths[player] == max(among):
            won += np.float32(chips) / np.float32(among.count(max(among)))
        below = level
    return won


@dataclasses.dataclass
class Round:
    """A round with its tables, `[H, width]` of each player."""

    betting: object  # RoundArrays
    plan: object  # PlanArrays
    cards: object  # CardDeals, whose `look_up` has a test of its own
    deck: tuple[int, ...]
    board: tuple[int, ...]
    street: int
    ranges: np.ndarray
    num_rollouts: int = 1
    bias: float = 5.0

    def __post_init__(self) -> None:
        self.nodes = [unpack(row) for row in self.betting.nodes]
        self.plan_nodes = {}
        num_hands = self.ranges.shape[1]
        self.regrets = [np.zeros((num_hands, int(width)), np.float32) for width in self.betting.width]
        self.averages = [np.zeros_like(table) for table in self.regrets]
        self.live = [player for player, held in enumerate(self.ranges) if held.sum() > 0]
        totals = self.ranges.sum(axis=1, keepdims=True)
        self.cumulative = np.cumsum(self.ranges / np.where(totals > 0, totals, 1.0), axis=1)
        self.touched = 0

    def iterate(self, generator: Xoshiro) -> None:
        """One deal, which everybody who holds cards traverses."""
        self.random = generator
        self.deal()
        for player in self.live:
            self.me = player
            self.traverse(0, int(self.betting.paid[player]))

    def deal(self) -> None:
        hole = [None] * len(self.ranges)
        self.hands = [0] * len(self.ranges)
        while True:
            used = set(self.board)
            for player in self.live:
                sums = self.cumulative[player]
                point = (self.random.next() >> 11) * 2.0**-53 * sums[-1]
                hand = min(int(np.searchsorted(sums, point, side="right")), len(sums) - 1)
                own = self.cards.hole_cards[hand].tolist()
                if used & set(own):
                    break
                used |= set(own)
                hole[player], self.hands[player] = own, hand
            else:
                break
        for player in range(len(self.ranges)):
            if player not in self.live:
                hole[player] = [self.draw_card(used), self.draw_card(used)]
        runout = [self.draw_card(used) for _ in range(5 - len(self.board))]
        cards = np.array([[*self.board, *runout]], np.uint8)
        buckets, strengths = self.cards.look_up(cards, np.array([hole], np.uint8))
        self.buckets, self.strengths = buckets[0].tolist(), strengths[0].tolist()

    def draw_card(self, used: set[int]) -> int:
        while True:
            card = self.deck[draw_below(self.random, len(self.deck))]
            if card not in used:
                used.add(card)
                return card

    def fixed_row(self, at: int, hand: int):
        begin, count = int(self.betting.fixed_row[at]), self.nodes[at].num_actions
        return None if begin < 0 else self.betting.fixed[begin + hand * count : begin + (hand + 1) * count]

    def row(self, player: int, offset: int, count: int):
        return self.regrets[player][self.hands[player], offset : offset + count]

    def traverse(self, at: int, mine: int):
        self.touched += 1
        node = self.nodes[at]
        if node.ending:
            return pay(node, self.betting.side_pots, self.strengths, self.me, mine)
        if not node.num_actions:
            return self.leaf(node.first)
        if node.num_actions == 1:
            paid = self.nodes[node.first].amount if node.player == self.me else mine
            return self.traverse(node.first, paid)
        fixed = self.fixed_row(at, self.hands[node.player])
        row = self.row(node.player, node.offset, node.num_actions)
        share = match_regrets(row) if fixed is None else list(fixed)
        if node.player != self.me:
            return self.traverse(node.first + draw_share(self.random, share), mine)
        value, mean = [], np.float32(0.0)
        for action, part in enumerate(share):
            won = np.float32(0.0)
            if fixed is None or part > 0:
                is_fold = action == 0 and node.has_fold
                child = node.first + action
                won = np.float32(-mine) if is_fold else self.traverse(child, self.nodes[child].amount)
                mean += part * won
            value.append(won)
        if fixed is None:
            row += np.array([won - mean for won in value], np.float32)
        return mean

    def leaf(self, number: int):
        offsets = self.betting.leaf_offset[number].tolist()
        ways = [0] * len(offsets)
        for player, offset in enumerate(offsets):
            if player != self.me and offset >= 0:
                ways[player] = draw_share(self.random, match_regrets(self.row(player, offset, NUM_WAYS)))
        if offsets[self.me] < 0:
            return self.play_out_often(number, ways)
        row = self.row(self.me, offsets[self.me], NUM_WAYS)
        before, value = list(self.random.words), []
        for way in range(NUM_WAYS):
            self.random.words = list(before)
            ways[self.me] = way
            value.append(self.play_out_often(number, ways))
        mean = sum_up(part * won for part, won in zip(match_regrets(row), value, strict=True))
        row += np.array([won - mean for won in value], np.float32)
        return mean

    def play_out_often(self, number: int, ways: list[int]):
        return sum_up(self.play_out(number, ways) for _ in range(self.num_rollouts)) / np.float32(self.num_rollouts)

    def play_out(self, number: int, ways: list[int]):
        """Returns the chips that the traverser wins if the blueprint goes on in these ways."""
        betting = self.betting
        begun = mine = int(betting.image_paid[number, self.me])
        at = int(betting.leaf_node[number])
        while True:
            node = self.plan_nodes.setdefault(at, unpack(self.plan.plan_nodes[at]))
            if node.ending:
                since = pay(node, self.plan.plan_side_pots, self.strengths, self.me, mine) + np.float32(begun)
                break
            self.touched += 1
            action = self.follow(node, ways[node.player])
            if node.player == self.me:
                if action == 0 and node.has_fold:
                    since = np.float32(begun - mine)
                    break
                mine = unpack(self.plan.plan_nodes[node.first + action]).amount
            at = node.first + action
        return betting.leaf_scale[number] * since - np.float32(betting.leaf_paid[number, self.me])

    def follow(self, node: Node, way: int) -> int:
        kinds = [1] * node.has_fold + [2] * node.has_call
        kinds += [3] * (node.num_actions - len(kinds))
        start = int(self.plan.plan_start[node.slot])
        begin = start + self.buckets[node.player][node.street] * int(self.plan.plan_width[node.slot]) + node.offset
        cells = [1] * node.num_actions if start < 0 else self.plan.plan_cells[begin : begin + node.num_actions]
        share = [
            np.float32(cell) * (np.float32(self.bias) if kind == way else ONE)
            for cell, kind in zip(cells, kinds, strict=True)
        ]
        return draw_share(self.random, share, sum_up(share))

    def end_period(self, weight: float, factor: float) -> None:
        """Adds own reach times what is played to the averages, then multiplies both tables by a factor."""
        for player in self.live:
            for hand, (regrets, averages) in enumerate(zip(self.regrets[player], self.averages[player], strict=True)):
                self.add_strategy(0, player, hand, np.float32(weight), regrets, averages)
            self.regrets[player] *= np.float32(factor)
            self.averages[player] *= np.float32(factor)

    def add_strategy(self, at: int, player: int, hand: int, reach, regrets, averages) -> None:
        node = self.nodes[at]
        if node.ending or not node.num_actions:
            return
        share = [ONE] * node.num_actions
        if node.player == player and node.num_actions > 1:
            end = node.offset + node.num_actions
            fixed = self.fixed_row(at, hand)
            share = match_regrets(regrets[node.offset : end] if fixed is None else fixed)
            averages[node.offset : end] += np.array([reach * part for part in share], np.float32)
        for action, part in enumerate(share):
            self.add_strategy(node.first + action, player, hand, reach * part, regrets, averages)
