# SPDX-License-Identifier: Apache-2.0
"""One short hash over what the solvers compute: a commit that changes it changes results, and says so.

Runs are single-threaded, seeded and short, because CFR is chaotic in its last bits: tables are compared after rounding
to six digits after the point, on a grid shifted off the round numbers on which small games love to land, and Liar's
Dice, where regrets tie exactly and the last bit would decide what is played, has payoffs that are a little off.
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.games.registry import parse_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.mccfr import MCCFRConfig, MCCFRSolver, Scheme
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, LinearCFR, PredictiveCFRPlus, Rule
from equipoise.trees.history import HistoryTree, build_history_tree
from equipoise.trees.perturbation import perturb_payoffs

__all__ = ["compute_signature"]

GAMES: Final = ("kuhn", "leduc", "liars_dice")
GAMES_WITH_TIES: Final = ("liars_dice",)
PERTURBATION: Final = 1e-2  # of the payoffs of these, as a share of their range
RULES: Final = (CFR(), CFRPlus(), LinearCFR(), DCFR(), PredictiveCFRPlus())
SCHEMES: Final = (Scheme.EXTERNAL, Scheme.OUTCOME)
NUM_ITERATIONS: Final = 10
SEED: Final = 0
DIGITS: Final = 6
SHIFT: Final = 0.1357  # of the rounding grid
LENGTH: Final = 12  # letters of the hash

Array = npt.NDArray[np.float64]


def compute_signature(*, num_threads: int = 1) -> str:
    """Returns the hash of tree sizes, sampled visits and solver tables.

    Args:
        num_threads: of full-width runs; more than one changes the order of sums, which the signature does not notice.
    """
    digest = hashlib.sha256()
    for game in GAMES:
        tree = build_history_tree(parse_game(game))
        size = tree.size
        counts = (size.num_histories, size.num_terminals, size.num_infosets, size.num_sequences)
        digest.update(repr((game, counts)).encode())
        if game in GAMES_WITH_TIES:
            tree = perturb_payoffs(tree, relative=PERTURBATION, rng=np.random.default_rng(SEED))
        for rule in RULES:
            regret_sum, strategy_sum = _run_full_width(tree, rule, num_threads)
            digest.update(rule.name.encode() + round_table(strategy_sum).tobytes() + round_table(regret_sum).tobytes())
        for scheme in SCHEMES:
            num_nodes, strategy_sum = _run_sampled(tree, scheme)
            digest.update(f"{scheme.name} {num_nodes}".encode() + round_table(strategy_sum).tobytes())
    return digest.hexdigest()[:LENGTH]


def _run_full_width(tree: HistoryTree, rule: Rule, num_threads: int) -> tuple[Array, Array]:
    """Returns `[Q]` regret and strategy sums of a short run."""
    solver = CFRSolver(tree, rule, num_threads=num_threads)
    solver.iterate(NUM_ITERATIONS)
    return solver.tables.regret_sum, solver.tables.strategy_sum


def _run_sampled(tree: HistoryTree, scheme: Scheme) -> tuple[int, Array]:
    """Returns the histories that a short seeded run visits, and its strategy sums `[Q]`."""
    solver = MCCFRSolver(tree, MCCFRConfig(scheme=scheme), rng=np.random.default_rng(SEED))
    solver.iterate(NUM_ITERATIONS)
    return solver.nodes_touched, solver.tables.strategy_sum


def round_table(table: Array) -> npt.NDArray[np.int64]:
    """Returns a table in units of the last digit kept, as little-endian integers.

    >>> round_table(np.array([0.25, -1e-9, 1e-6])).tolist()
    [250000, 0, 1]
    """
    return np.rint(table * 10.0**DIGITS - SHIFT).astype("<i8")
