# SPDX-License-Identifier: Apache-2.0
"""The joint law of bucket paths by dealing every pair of hands and every board in every order, one at a time."""

import itertools

import numpy as np

from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.strength import hand_kernel


def deal_everything(buckets):
    """Returns wins and ties `[P, P]` of buckets with recall."""
    deck, num_paths = buckets.deck, buckets.num_buckets(3)
    hands, kernel = hands_of(deck), hand_kernel(deck)
    wins, ties = np.zeros((num_paths, num_paths), np.int64), np.zeros((num_paths, num_paths), np.int64)
    for flop in itertools.combinations(deck.cards, 3):
        for later in itertools.permutations([card for card in deck.cards if card not in flop], 2):
            board = (*flop, *later)
            path = buckets.assign(board).tolist()
            live = [hand for hand, one in enumerate(path) if one >= 0]
            strength = {hand: kernel.evaluate([*hands.cards[hand].tolist(), *board]) for hand in live}
            for first, second in itertools.permutations(live, 2):
                if set(hands.cards[first].tolist()) & set(hands.cards[second].tolist()):
                    continue
                wins[path[first], path[second]] += strength[first] > strength[second]
                ties[path[first], path[second]] += strength[first] == strength[second]
    return wins, ties
