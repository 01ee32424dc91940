# SPDX-License-Identifier: Apache-2.0
"""Hand strength and buckets by listing everything: the twins of native/hand_strength.hpp and native/buckets.hpp."""

import bisect
import functools
import itertools
from collections import defaultdict
from fractions import Fraction

import numpy as np

BLOCKED = 0xFFFF


def strength_levels(strengths, masks):
    """Returns `[B, H]` twice the hands beaten plus the hands tied from strengths `[B, H]`, 0 where blocked."""
    is_apart = (masks[:, None] & masks[None, :]) == 0
    out = np.full(strengths.shape, BLOCKED)
    for row, own in zip(out, strengths.astype(int), strict=True):
        meets = is_apart & (own[:, None] > 0) & (own[None, :] > 0)
        level = 2 * (meets & (own[:, None] > own[None, :])).sum(1) + (meets & (own[:, None] == own[None, :])).sum(1)
        row[own > 0] = level[own > 0]
    return out


def pair_wins(strengths, weights):
    """Returns `[H, H]` the weights of the boards on which the row's hand beats the column's, neither being blocked."""
    own = strengths.astype(int)
    beats = (own[:, :, None] > own[:, None, :]) & (own[:, :, None] > 0) & (own[:, None, :] > 0)
    return (beats * np.asarray(weights, int)[:, None, None]).sum(0)


def sum_bucket_pairs(values, buckets, masks, first, second):
    """Returns `[B]` the sums of values over pairs of hands that share no card, listed."""
    out = []
    for row in buckets:
        is_met = ((masks[:, None] & masks[None, :]) == 0) & (row >= 0)[:, None] & (row >= 0)[None, :]
        out.append(first @ np.where(is_met, values[np.ix_(np.maximum(row, 0), np.maximum(row, 0))], 0.0) @ second)
    return np.array(out)


def nearest(points, centroids):
    """Returns the centroid of the least L1 distance to each point, and the distance."""
    distances = np.abs(points[:, None, :].astype(float) - centroids[None, :, :]).sum(2)
    return distances.argmin(1), distances.min(1)


def ordered_boards(cards, num_cards):
    """Returns every board: a flop in ascending order, then turn and river in every order."""
    later = num_cards - 3
    if num_cards == 0:
        return [()]
    return [
        (*flop, *rest)
        for flop in itertools.combinations(cards, 3)
        for rest in itertools.permutations([card for card in cards if card not in flop], later)
    ]


class BruteForce:
    """Percentile buckets of a tiny deck from the levels of all its complete boards."""

    def __init__(self, cards, masks, levels_of, power):
        """`levels_of` maps a set of five cards to the levels of all hands; `power` is 1 for E[HS], 2 for E[HS^2]."""
        self.cards, self.masks, self.levels_of, self.power = cards, masks, levels_of, power
        self.strength_of_set = functools.cache(self._strength)
        num_opponents = (len(cards) - 7) * (len(cards) - 8) // 2
        self.most = 2 * num_opponents

    def live(self, board):
        return [hand for hand, mask in enumerate(self.masks) if not any(int(mask) >> card & 1 for card in board)]

    def strength(self, hand, board):
        """Returns the mean of a hand's strength, to the power, as a fraction."""
        return self.strength_of_set(hand, frozenset(board))

    def _strength(self, hand, board):
        dead = {card for card in self.cards if int(self.masks[hand]) >> card & 1} | set(board)
        left = [card for card in self.cards if card not in dead]
        rests = list(itertools.combinations(left, 5 - len(board)))
        total = sum(int(self.levels_of[frozenset((*board, *rest))][hand]) ** self.power for rest in rests)
        return Fraction(total, len(rests) * self.most**self.power)

    def buckets(self, sizes, num_scores, has_recall):
        """Returns by street a dictionary from (board, hand) to its bucket."""
        streets = []
        for street, size in enumerate(sizes):
            groups, num_cards = defaultdict(list), (0, 3, 4, 5)[street]
            for board in ordered_boards(self.cards, num_cards):
                for hand in self.live(board):
                    score = self.strength(hand, board)
                    if street < 3:
                        score = int(score * (num_scores - 1) + Fraction(1, 2))  # rounded half up
                    above = streets[-1][board[: (0, 0, 3, 4)[street]], hand] if has_recall and street else 0
                    groups[above].append((score, board, hand))
            streets.append({})
            for above, members in groups.items():
                scores = sorted(score for score, _, _ in members)
                for score, board, hand in members:
                    # below it, and up to it: twice the rank of the middle of those with the same score
                    middle = bisect.bisect_left(scores, score) + bisect.bisect_right(scores, score)
                    rank = min(size * middle // (2 * len(scores)), size - 1)
                    streets[-1][board, hand] = above * size + rank
        return streets
