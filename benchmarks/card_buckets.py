# SPDX-License-Identifier: Apache-2.0
"""Prints how long hand strength, look-ups of card buckets and showdowns of all pairs of hands take a board.

Times are CPU seconds of the calling thread, the minimum over repeats. Buckets are read from the cache or built first,
which takes about a minute for the full deck.
"""

from __future__ import annotations

import functools
import platform
import sys
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import equipoise
from equipoise.abstraction import CardBuckets, Percentile, build_buckets
from equipoise.abstraction.hand_strength import strength_levels
from equipoise.games.holdem import hands_of
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.strength import hand_kernel

SEED = 1
NUM_BOARDS = 2000


def report(name: str, work: Callable[[], object], num_boards: int) -> None:
    """Prints the least CPU time that the work took, per board."""
    seconds = []
    for _ in range(5):
        start = time.thread_time()
        work()
        seconds.append(time.thread_time() - start)
    sys.stdout.write(f"{name}: {min(seconds) / num_boards * 1e6:.1f} microseconds a board\n")


def assign_each(buckets: CardBuckets, boards: npt.NDArray[np.uint8]) -> None:
    """Asks for the buckets of every board by itself."""
    for board in boards.tolist():
        buckets.assign(board)


def main() -> None:
    """Measures and prints."""
    rng = np.random.default_rng(SEED)
    boards = rng.permuted(np.tile(np.arange(52, dtype=np.uint8), (NUM_BOARDS, 1)), axis=1)[:, :5]
    rivers = np.ascontiguousarray(boards)
    sys.stdout.write(f"equipoise {equipoise.__version__}, {platform.processor() or platform.machine()}, seed {SEED}\n")
    report("strength of all hands at the river", functools.partial(strength_levels, rivers), NUM_BOARDS)
    start = time.thread_time()
    buckets = build_buckets(Percentile())
    sys.stdout.write(f"200 percentiles a street: {time.thread_time() - start:.1f} seconds\n")
    for street in (Street.FLOP, Street.TURN, Street.RIVER):
        dealt = np.ascontiguousarray(boards[:, : street.num_board_cards])
        name = street.name.lower()
        report(f"buckets of the {name}, in one call", functools.partial(buckets.assign_boards, dealt), NUM_BOARDS)
        report(f"buckets of the {name}, one by one", functools.partial(assign_each, buckets, dealt), NUM_BOARDS)

    wins = np.zeros((1326, 1326), np.int64)
    weights = np.ones(NUM_BOARDS, np.uint8)
    work = functools.partial(hand_kernel().accumulate_pair_wins, rivers, weights, hands_of().cards, wins)
    report("every hand against every hand", work, NUM_BOARDS)


if __name__ == "__main__":
    main()
