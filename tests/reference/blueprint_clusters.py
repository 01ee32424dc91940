# SPDX-License-Identifier: Apache-2.0
"""The twin of native/blueprint.hpp and blueprint_clusters.hpp: external sampling by head and clusters, without pruning.

Blocks are dictionaries by slot that are filled on first visit; sums are of 32 bits in the order that is written down.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from tests.reference.round_search import Node, draw_below, draw_share, pay, sum_up, unpack
from tests.reference.sampling import Xoshiro

MOST = 2_000_000_000


def positive(row):
    return [np.float32(max(int(regret), 0)) for regret in row]


@dataclasses.dataclass
class Tables:
    """A head's or a cluster's."""

    betting: object  # BettingArrays
    posted: tuple[int, ...]
    num_buckets: np.ndarray  # [players, 4]
    cards: object  # CardDeals
    scale: float
    floor: int
    walked_streets: int

    def __post_init__(self) -> None:
        self.nodes = [unpack(row) for row in self.betting.nodes]
        self.regrets: dict[int, np.ndarray] = {}
        self.averages: dict[int, np.ndarray] = {}
        self.touched = 0

    def block(self, node: Node):
        if node.slot not in self.regrets:
            shape = int(self.num_buckets[node.player, node.street]), int(self.betting.width[node.slot])
            self.regrets[node.slot] = np.zeros(shape, np.int64)
            self.averages[node.slot] = np.zeros(shape, np.float32)
        return self.regrets[node.slot]

    def row(self, node: Node, table=None):
        rows = self.block(node) if table is None else table[node.slot]
        return rows[self.buckets[node.player][node.street], node.offset : node.offset + node.num_actions]

    def look_up(self, board, hole) -> None:
        dealt = np.array([hole], np.uint8).reshape(1, -1, 2)
        buckets, strengths = self.cards.look_up(np.array([board], np.uint8), dealt)
        self.buckets, self.strengths = buckets[0].tolist(), strengths[0].tolist()

    def sample(self, node: Node) -> int:
        share = positive(self.row(node)) if node.slot in self.regrets else [np.float32(0.0)]
        total = sum_up(share)
        return draw_share(self.random, share, total) if total > 0 else draw_below(self.random, node.num_actions)

    def add_regrets(self, node: Node, value, mean) -> None:
        row = self.row(node)
        for action, won in enumerate(value):
            moved = int(row[action]) + int(np.rint((won - mean) * np.float32(self.scale)))
            row[action] = min(max(moved, self.floor), MOST)

    def is_first_street(self, node: Node) -> bool:
        return not node.ending and node.street == 0

    def walk_average(self, at: int):
        """Returns where a walk for the average ends; None where nothing is to be learnt."""
        while not self.nodes[at].ending and self.nodes[at].street < self.walked_streets:
            node = self.nodes[at]
            if node.player != self.me:
                at = node.first + draw_below(self.random, node.num_actions)
                continue
            if node.slot not in self.regrets:
                return None
            share = positive(self.row(node))
            total = sum_up(share)
            alike = np.float32(1.0) / np.float32(node.num_actions)
            average = self.row(node, self.averages)
            average += np.array([part / total if total > 0 else alike for part in share], np.float32)
            action = self.sample(node)
            if action == 0 and node.has_fold:
                return None
            at = node.first + action
        return at

    # the head

    def ask(self, words, num_deals: int, walk_every: int, deck) -> tuple[list, list, list]:
        self.random, self.deck = Xoshiro(words), deck
        self.asked, self.walks, self.taken, self.hole = [], [], [], []
        for deal in range(num_deals):
            self.hole.append(self.draw_hole())
            self.look_up_hole(self.hole[-1])
            for player in range(len(self.posted)):
                self.me = player
                self.walk_down(deal, 0, self.posted[player])
                if deal % walk_every == 0:
                    end = self.walk_average(0)
                    if end is not None and not self.nodes[end].ending:
                        self.walks.append((deal, player, end, 0))
        return self.asked, self.walks, self.taken

    def draw_hole(self) -> list[int]:
        cards = list(self.deck)
        for place in range(2 * len(self.posted)):
            other = place + draw_below(self.random, len(cards) - place)
            cards[place], cards[other] = cards[other], cards[place]
        return cards[: 2 * len(self.posted)]

    def look_up_hole(self, hole) -> None:
        left = [card for card in self.deck if card not in hole]
        self.look_up(left[: self.cards._num_board], hole)  # any board: buckets of the first street alone are read

    def walk_down(self, deal: int, at: int, mine: int) -> None:
        node = self.nodes[at]
        self.touched += 1
        if self.is_first_street(node) and node.player != self.me:
            action = self.sample(node)
            self.taken.append(action)
            self.walk_down(deal, node.first + action, mine)
        elif self.is_first_street(node):
            for action in range(node.num_actions):
                if action == 0 and node.has_fold:
                    self.touched += 1
                else:
                    self.walk_down(deal, node.first + action, self.nodes[node.first + action].amount)
        elif node.ending != 1:
            self.asked.append((deal, self.me, at, mine))

    def learn(self, values) -> None:
        taken, values = iter(self.taken), iter(values)
        for hole in self.hole:
            self.look_up_hole(hole)
            for player in range(len(self.posted)):
                self.me = player
                self.back_up(0, self.posted[player], values, taken)

    def back_up(self, at: int, mine: int, values, taken):
        node = self.nodes[at]
        if not self.is_first_street(node):
            return np.float32(node.first - mine) if node.ending == 1 else next(values)
        if node.player != self.me:
            return self.back_up(node.first + next(taken), mine, values, taken)
        share = positive(self.row(node))
        total = sum_up(share)
        value, mean = [], np.float32(0.0)
        for action, part in enumerate(share):
            child = node.first + action
            is_fold = action == 0 and node.has_fold
            value.append(np.float32(-mine) if is_fold else self.back_up(child, self.nodes[child].amount, values, taken))
            mean += (part / total if total > 0 else np.float32(1.0) / np.float32(len(share))) * value[-1]
        self.add_regrets(node, value, mean)
        return mean

    # a cluster

    def answer(self, words, flops, hole, asked, walks, deck):
        """Returns what each question's player wins, and how many flops each deal had left."""
        self.random = Xoshiro(words)
        values, fits = [], []
        for deal, own in enumerate(hole):
            left = [list(flop) for flop in flops.tolist() if not set(flop) & set(own)]
            fits.append(len(left))
            if left:
                board = left[draw_below(self.random, len(left))]
                while len(board) < self.cards._num_board:
                    card = deck[draw_below(self.random, len(deck))]
                    board += [card] * (card not in [*board, *own])
                self.look_up(board, own)
            for _, self.me, node, mine in (question for question in asked if question[0] == deal):
                values.append(self.traverse(node, mine) if left else np.float32(0.0))
            for _, self.me, node, _paid in (walk for walk in walks if walk[0] == deal and left):
                self.walk_average(node)
        return values, fits

    def traverse(self, at: int, mine: int):
        node = self.nodes[at]
        self.touched += 1
        if node.ending:
            return pay(node, self.betting.side_pots, self.strengths, self.me, mine)
        if node.player != self.me:
            return self.traverse(node.first + self.sample(node), mine)
        share = positive(self.row(node))
        total = sum_up(share)
        factor = np.float32(1.0) / total if total > 0 else np.float32(0.0)
        alike = np.float32(0.0) if total > 0 else np.float32(1.0) / np.float32(len(share))
        value, mean = [], np.float32(0.0)
        for action, part in enumerate(share):
            child = node.first + action
            is_fold = action == 0 and node.has_fold
            self.touched += is_fold
            value.append(np.float32(-mine) if is_fold else self.traverse(child, self.nodes[child].amount))
            mean += (part * factor + alike) * value[-1]
        self.add_regrets(node, value, mean)
        return mean
