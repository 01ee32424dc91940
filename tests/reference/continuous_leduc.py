# SPDX-License-Identifier: Apache-2.0
"""Leduc with shares of the pot as bets, one deal at a time: what the vectors of `SizedLeduc` must agree with."""

from __future__ import annotations

import itertools

import numpy as np

RANKS = range(3)


def deals():
    """Yields (card of player 0, of player 1, board) by ranks, with their chance."""
    for first, second, board in itertools.product(RANKS, repeat=3):
        pair = (1 if first == second else 2) / 15
        yield (first, second, board), pair * (2 - (board == first) - (board == second)) / 4


def winner(deal):
    """Returns 1, -1 or 0 from player 0's view."""
    first, second, board = deal
    strengths = [3 if card == board else card for card in (first, second)]
    return (strengths[0] > strengths[1]) - (strengths[0] < strengths[1])


class Walk:
    """Expected chips of player 0 under given strategies: `play(node, hand)` returns a node's probabilities."""

    def __init__(self, kernel, play):
        self.kernel, self.play, self.known = kernel, play, {}

    def value(self, node, deal):
        if node not in self.known:
            self.known[node] = self.kernel.describe(node)
        found = self.known[node]
        kind = found["kind"]
        if kind == 1:  # a fold loses what was put in
            return -found["stake"] if found["player"] == 0 else found["stake"]
        if kind == 2:
            return found["stake"] * winner(deal)
        if kind == 3:
            return self.value(found["child"][deal[2]], deal)
        chances = self.play(node, deal[found["player"]])
        return sum(p * self.value(child, deal) for p, child in zip(chances, found["child"], strict=True) if p > 0)

    def mean(self, root):
        return sum(chance * self.value(root, deal) for deal, chance in deals() if chance > 0)


def average_play(kernel):
    """Returns the average strategies as a function of node and hand."""
    known = {}

    def play(node, hand):
        if node not in known:
            known[node] = np.array(kernel.describe(node)["strategy_sum"])
        sums = known[node][:, hand]
        return sums / sums.sum() if sums.sum() > 0 else np.full(sums.size, 1.0 / sums.size)

    return play


def regrets(found):
    """Returns `[A, 3]` regrets of a described node."""
    return np.array(found["fold_sum"]) + np.array(found["rest_sum"]) - np.array(found["value_sum"])[None, :]


def decisions(kernel):
    """Yields every decision below the root with its description."""
    stack = [kernel.run.root]
    while stack:
        node = stack.pop()
        found = kernel.describe(node)
        stack += found["child"]
        if found["kind"] == 0:
            yield node, found
