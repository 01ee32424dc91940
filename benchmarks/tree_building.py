# SPDX-License-Identifier: Apache-2.0
"""Prints what building trees costs, in microseconds of CPU time per history; the target is 15 for our own games."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

import equipoise
from equipoise.games.registry import parse_game
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.public import build_public_tree

MIN_REPEATS: Final = 3
MIN_SECONDS: Final = 1.0  # of all repeats together
GAMES: Final = (
    "leduc",
    "leduc(merge_suits=true)",
    "leduc5",
    "leduc_nolimit",
    "liars_dice",
    "goofspiel(cards=4)",
    "goofspiel(cards=4,reveal_bids=false)",
    "goofspiel(cards=4,prizes=random)",
    "goofspiel(cards=4,prizes=random,reveal_bids=false)",
    "goofspiel",
    "goofspiel(reveal_bids=false)",
    "phantom_tic_tac_toe(rows=2,columns=3)",
    "tic_tac_toe",
)

T = TypeVar("T")


def measure(work: Callable[[], T]) -> tuple[float, T]:
    """Returns the least CPU time of the work, and what it made."""
    seconds: list[float] = []
    while len(seconds) < MIN_REPEATS or sum(seconds) < MIN_SECONDS:
        began = time.process_time()
        result = work()
        seconds.append(time.process_time() - began)
    return min(seconds), result


def measure_game(name: str) -> str:
    """Returns a row of the table."""
    game: Any = parse_game(name)
    history_seconds, history = measure(lambda: build_history_tree(game))
    derive_seconds, derived = measure(lambda: derive_public_game(game))
    layout_seconds, tree = measure(lambda: build_public_tree(derived))
    count = history.actor.size
    figures = (history_seconds, derive_seconds, layout_seconds, derive_seconds + layout_seconds)
    cells = " | ".join(f"{figure / count * 1e6:.1f}" for figure in figures)
    return f"| {name} | {count:,} | {tree.actor.size:,} | {cells} |"


def main() -> None:
    """Measures and prints."""
    sys.stdout.write(f"equipoise {equipoise.__version__}, {platform.processor() or platform.machine()}\n\n")
    sys.stdout.write("| game | histories | public states | history tree | derive | lay out | public tree |\n")
    sys.stdout.write("| --- | --- | --- | --- | --- | --- | --- |\n")
    for name in GAMES:
        sys.stdout.write(measure_game(name) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
