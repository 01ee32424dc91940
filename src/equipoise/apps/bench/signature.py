# SPDX-License-Identifier: Apache-2.0
"""One short hash over what the solvers compute: a commit that changes it changes results, and says so.

Runs are single-threaded, seeded and short, because CFR is chaotic in its last bits: tables are compared after rounding
to six digits after the point, on a grid shifted off the round numbers on which small games love to land.
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.games.registry import parse_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, LinearCFR, PredictiveCFRPlus
from equipoise.trees.history import build_history_tree

__all__ = ["compute_signature"]

GAMES: Final = ("kuhn", "leduc", "liars_dice(dice=1,faces=5)")
RULES: Final = (CFR(), CFRPlus(), LinearCFR(), DCFR(), PredictiveCFRPlus())
NUM_ITERATIONS: Final = 10
DIGITS: Final = 6
SHIFT: Final = 0.1357  # of the rounding grid
LENGTH: Final = 12  # letters of the hash


def compute_signature(*, num_threads: int = 1) -> str:
    """Returns the hash of tree sizes and solver tables, the same on every machine that computes the same.

    Args:
        num_threads: more than one changes the order of sums; the signature should not notice.
    """
    digest = hashlib.sha256()
    for game in GAMES:
        tree = build_history_tree(parse_game(game))
        size = tree.size
        counts = (size.num_histories, size.num_terminals, size.num_infosets, size.num_sequences)
        digest.update(repr((game, counts)).encode())
        for rule in RULES:
            solver = CFRSolver(tree, rule, num_threads=num_threads)
            solver.iterate(NUM_ITERATIONS)
            digest.update(rule.name.encode())
            for table in (solver.tables.regret_sum, solver.tables.strategy_sum):
                digest.update(round_table(table).tobytes())
    return digest.hexdigest()[:LENGTH]


def round_table(table: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Returns a table in units of the last digit kept, as little-endian integers.

    >>> round_table(np.array([0.25, -1e-9, 1e-6])).tolist()
    [250000, 0, 1]
    """
    return np.rint(table * 10.0**DIGITS - SHIFT).astype("<i8")
