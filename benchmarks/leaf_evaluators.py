# SPDX-License-Identifier: Apache-2.0
"""Prints what an evaluator of leaves adds to an iteration of CFR on Leduc's first round.

Wall-clock time, the minimum over repeats, alternating updates: leaves are asked for twice an iteration. The target for
an evaluator that does nothing is 15 microseconds an iteration.
"""

from __future__ import annotations

import platform
import sys
import time

import numpy as np

import equipoise
from equipoise.games.registry import make_game
from equipoise.kernels.frontier import BeliefBatch, LeafValues
from equipoise.search.leaves import FixedLeaves, LeafEvaluator, ZeroLeaves
from equipoise.search.limits import RoundLimit
from equipoise.search.public import PublicProfile
from equipoise.solvers.cfr import CFRSolver
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree

ITERATIONS = 2000
REPEATS = 20


class IdleLeaves:
    """Answers with the same arrays every time."""

    def __init__(self) -> None:
        """Has no answer yet."""
        self._answer: LeafValues | None = None

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns zeros."""
        if self._answer is None:
            first, second = (np.zeros(own.shape) for own in batch.reach)
            self._answer = LeafValues((first, second))
        return self._answer


def main() -> None:
    """Measures and prints."""
    tree = build_public_tree(derive_public_game(make_game("leduc")))
    blueprint = PublicProfile(tree, tree.legal_share)
    evaluators: dict[str, LeafEvaluator] = {
        "nothing": IdleLeaves(),
        "zeros": ZeroLeaves(),
        "a fixed strategy": FixedLeaves(tree, tree.legal_share),
    }
    sys.stdout.write(f"equipoise {equipoise.__version__}, {platform.processor() or platform.machine()}\n")
    for name, evaluator in evaluators.items():
        round_one = blueprint.subgame(0).end_at(RoundLimit(), evaluator)
        times = []
        for frontier in (None, round_one.frontier):
            solver = CFRSolver(round_one.tree, frontier=frontier, kernel=round_one.kernel)
            solver.iterate(ITERATIONS)
            found = []
            for _ in range(REPEATS):
                start = time.perf_counter()
                solver.iterate(ITERATIONS)
                found.append(time.perf_counter() - start)
            times.append(1e6 * min(found) / ITERATIONS)
        added = times[1] - times[0]
        sys.stdout.write(f"{name}: {added:.1f} microseconds an iteration, the sweep {times[0]:.1f}\n")


if __name__ == "__main__":
    main()
