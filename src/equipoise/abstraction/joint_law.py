# SPDX-License-Identifier: Apache-2.0
"""Counts the joint law of two players' bucket paths over every deal of the real cards.

Boards that differ by the names of suits alone count once with their number; each stands for its twenty orders (three
cards of the flop, then turn and river), because nested buckets depend on which cards came first. On a board, a hand
beats the hands below it less those that share a card with it, by path: the sums are whole numbers and exact.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

import numpy as np

from equipoise.abstraction.buckets import CardBuckets, Percentile, build_buckets, list_orders
from equipoise.abstraction.hand_strength import OnProgress, Strength, canonical_boards
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.bucket_law import NUM_STREETS, BucketLaw, law_file
from equipoise.games.holdem.cards import FULL_DECK, Deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.strength import hand_kernel

__all__ = ["MAX_BUCKETS", "count_law", "load_or_count_law"]

MAX_BUCKETS: Final = 6  # a street: laws of 7 and more take half a gigabyte and hours
CHUNK: Final = 64  # boards whose paths are held at once
BUCKETING_SHARE: Final = 0.4  # of the time that a law takes, for the buckets themselves


def load_or_count_law(
    num_buckets: int, deck: Deck = FULL_DECK, *, on_progress: OnProgress | None = None, directory: Path | None = None
) -> BucketLaw:
    """Returns the law of k nested percentile buckets of E[HS^2] a street, from the cache if it is there.

    Paper: Davis 2015 (thesis), section 5.2.2: percentile buckets on every street by expected hand strength squared.
    Symbols: k -> num_buckets.
    Departs from the paper: equal strengths are never split, so that buckets may differ a little in weight; strengths
        before the river are rounded to 14 bits.
    Checked by: tests/abstraction/test_joint_law.py.

    Args:
        num_buckets: k, up to 6.
        deck: the cards in play.
        on_progress: called now and then with the share done and what is being done.
        directory: where tables are kept; `default_cache_directory()` if None.
    """
    if not 1 <= num_buckets <= MAX_BUCKETS:
        raise ConfigError(f"buckets must be between 1 and {MAX_BUCKETS}, got {num_buckets}")
    file = law_file(num_buckets, deck, directory=directory)
    parts = file.read()
    if parts is not None:
        return BucketLaw(num_buckets, parts["wins"], parts["ties"])

    def build() -> BucketLaw:
        buckets = build_buckets(
            Percentile(strength=Strength.EHS2, has_recall=True),
            deck,
            sizes=(num_buckets,) * NUM_STREETS,
            on_progress=on_progress and (lambda done, step: on_progress(BUCKETING_SHARE * done, step)),
            directory=directory,
        )
        return count_law(
            buckets,
            on_progress=on_progress
            and (lambda done, step: on_progress(BUCKETING_SHARE + (1 - BUCKETING_SHARE) * done, step)),
        )

    return file.fill(build, lambda law: {"wins": law.wins, "ties": law.ties})


def count_law(buckets: CardBuckets, *, on_progress: OnProgress | None = None) -> BucketLaw:
    """Returns the law of buckets with recall, of as many on every street, by going through every deal."""
    num_paths = buckets.num_buckets(Street.RIVER)
    num_buckets = round(num_paths ** (1 / NUM_STREETS))
    if not buckets.has_recall or num_buckets**NUM_STREETS != num_paths:
        raise ConfigError(f"a joint law needs k, k^2, k^3 and k^4 buckets with recall, got {num_paths} at the river")
    deck = buckets.deck
    boards, kernel, hole_cards = canonical_boards(deck, 5), hand_kernel(deck), hands_of(deck).cards
    order = np.argsort(boards.counts, kind="stable")  # equal weights in a row, which the kernel sums in short words
    wins, ties = np.zeros((num_paths, num_paths), np.int64), np.zeros((num_paths, num_paths), np.int64)
    for begin in range(0, order.size, CHUNK):
        chosen = order[begin : begin + CHUNK]
        sets = boards.sets[chosen]
        paths = buckets.assign_orders(sets)
        kernel.accumulate_joint_counts(sets, boards.counts[chosen], hole_cards, paths, wins=wins, ties=ties)
        if on_progress is not None:
            on_progress(begin / order.size, "deals")
    law = BucketLaw(num_buckets, wins, ties)
    left = deck.num_cards - 5
    expected = math.comb(deck.num_cards, 5) * len(list_orders(Street.RIVER)) * math.comb(left, 2)
    assert law.num_deals == expected * math.comb(left - 2, 2)
    return law
