# SPDX-License-Identifier: Apache-2.0
"""Prints how many poker hands one core evaluates a second, and how long equities take.

Times are CPU seconds of the calling thread, the minimum over repeats; the target is 100 million random 7-card hands a
second in the batched form.
"""

from __future__ import annotations

import functools
import platform
import sys
import time
from collections.abc import Callable

import numpy as np

import equipoise
from equipoise.games.holdem import compute_equity, hands_of
from equipoise.games.holdem.strength import hand_kernel

SEED = 1
NUM_HANDS = 1 << 20
NUM_BOARDS = 1000
EQUITIES = (
    ("two hands before the flop", "AhAs", "KdKc", ""),
    ("two pairs before the flop", "AA", "KK", ""),
    ("any two cards before the flop", "random", "random", ""),
    ("any two cards on a flop", "random", "random", "Ks7h2d"),
)


def measure_seconds(work: Callable[[], object], repeats: int) -> float:
    """Returns the least CPU time that the work took."""
    seconds = []
    for _ in range(repeats):
        start = time.thread_time()
        work()
        seconds.append(time.thread_time() - start)
    return min(seconds)


def main() -> None:
    """Measures and prints."""
    rng = np.random.default_rng(SEED)
    kernel, hole_cards = hand_kernel(), hands_of().cards
    shuffled = rng.permuted(np.tile(np.arange(52, dtype=np.uint8), (NUM_HANDS, 1)), axis=1)
    out = np.empty(NUM_HANDS, np.uint16)
    sys.stdout.write(f"equipoise {equipoise.__version__}, {platform.processor() or platform.machine()}, seed {SEED}\n")
    for num_cards in (5, 6, 7):
        cards = np.ascontiguousarray(shuffled[:, :num_cards])
        seconds = measure_seconds(functools.partial(kernel.evaluate_hands, cards, out), 20)
        sys.stdout.write(f"{num_cards} random cards: {NUM_HANDS / seconds / 1e6:.0f} million hands a second\n")
    boards = np.ascontiguousarray(shuffled[:NUM_BOARDS, :5])
    table = np.empty((NUM_BOARDS, len(hole_cards)), np.uint16)
    seconds = measure_seconds(lambda: kernel.evaluate_boards(boards, hole_cards, table), 20)
    sys.stdout.write(f"a board and all hole cards: {table.size / seconds / 1e6:.0f} million hands a second\n")
    for name, first, second, board in EQUITIES:
        seconds = measure_seconds(functools.partial(compute_equity, first, second, board), 2)
        sys.stdout.write(f"equity, {name}: {seconds * 1e3:.0f} ms\n")


if __name__ == "__main__":
    main()
