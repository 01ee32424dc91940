# SPDX-License-Identifier: Apache-2.0
"""Poker hands by their definition: the twin of native/handeval.hpp."""

import itertools

import numpy as np

USUAL_ORDER = ["high card", "pair", "two pair", "trips", "straight", "flush", "full house", "quads", "straight flush"]
COUNTS = {
    (1, 1, 1, 1, 1): "high card",
    (2, 1, 1, 1): "pair",
    (2, 2, 1): "two pair",
    (3, 1, 1): "trips",
    (3, 2): "full house",
    (4, 1): "quads",
}


def category_order(deck):
    order = list(USUAL_ORDER)
    if deck.flush_beats_full_house:
        order[5], order[6] = order[6], order[5]
    if deck.trips_beat_straight:
        order[3], order[4] = order[4], order[3]
    return order


def straight_top(ranks, deck):
    """Returns the highest rank of five different ranks in a row, by places in the deck, or -1."""
    places = sorted("23456789TJQKA".index(rank) for rank in deck.ranks)
    places_of = sorted(places.index(rank) for rank in ranks)
    if places_of == list(range(places_of[0], places_of[0] + 5)):
        return places_of[-1]
    has_low_ace = 12 in ranks and places_of[:4] == [0, 1, 2, 3]
    return 3 if has_low_ace else -1


def classify_five(cards, deck):
    """Returns the place of a hand's category and what decides among hands of it: tuples that compare as hands do."""
    ranks = [card // 4 for card in cards]
    groups = sorted(((ranks.count(rank), rank) for rank in set(ranks)), reverse=True)
    name, decisive = COUNTS[tuple(count for count, _ in groups)], tuple(rank for _, rank in groups)
    is_flush = len({card % 4 for card in cards}) == 1
    top = straight_top(ranks, deck) if name == "high card" else -1
    if top >= 0:
        name, decisive = "straight flush" if is_flush else "straight", (top,)
    elif is_flush:
        name = "flush"
    return category_order(deck).index(name), decisive


def classify(cards, deck):
    """Returns the best that five of the cards make."""
    return max(classify_five(five, deck) for five in itertools.combinations(cards, 5))


def order_of_all_five_card_hands():
    """Returns all hands `[B, 5]` of the full deck, their categories and numbers that compare as the hands do."""
    hands = np.array(list(itertools.combinations(range(52), 5)), np.uint8)
    ranks, suits = hands.astype(np.int64) // 4, hands % 4
    counts = (ranks[:, :, None] == ranks[:, None, :]).sum(axis=2)
    # cards of the most frequent rank first, then by rank
    grouped = np.sort(counts * 16 + ranks, axis=1)[:, ::-1]
    pattern = (grouped // 16) @ [10000, 1000, 100, 10, 1]
    names = {11111: 0, 22111: 1, 22221: 2, 33311: 3, 33322: 6, 44441: 7}
    category = np.select([pattern == p for p in names], list(names.values()))
    decisive = (grouped % 16) @ [16**4, 16**3, 16**2, 16, 1]
    lowest, highest = ranks.min(axis=1), ranks.max(axis=1)
    is_wheel = (np.sort(ranks, axis=1) == [0, 1, 2, 3, 12]).all(axis=1)
    is_straight = (category == 0) & ((highest - lowest == 4) | is_wheel)
    decisive = np.where(is_straight, np.where(is_wheel, 3, highest), decisive)
    is_flush = (suits == suits[:, :1]).all(axis=1)
    category = np.where(is_straight & is_flush, 8, np.where(is_straight, 4, np.where(is_flush, 5, category)))
    return hands, category, category * 16**5 + decisive
