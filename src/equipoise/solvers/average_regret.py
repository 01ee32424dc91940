# SPDX-License-Identifier: Apache-2.0
"""What players of any number and any payoffs can still say of a run: their average regrets.

In games of more than two players, or not of sum zero, average strategies need not come near an equilibrium. What does
come to zero is each player's average regret; if none is above epsilon, the play of all iterations together (everybody's
strategies of the same iteration, drawn at random) is a coarse correlated equilibrium up to epsilon.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise.solvers.rules import Rule
from equipoise.trees.history import HistoryTree

__all__ = ["bound_average_regrets"]

FloatArray = npt.NDArray[np.float64]


def bound_average_regrets(
    tree: HistoryTree, regret_sum: npt.NDArray[np.floating], rule: Rule, num_iterations: int
) -> tuple[float, ...] | None:
    """Returns each player's average regret over a run, or a bound above it; None where the tables do not tell.

    Overall regret is read from the regrets of information sets by going up: what a player would have gained below an
    action, plus what it would have gained by the action itself, is the best over actions. Where positive and negative
    regrets are discounted alike and none is cut off (`cfr`, `lcfr`), this is the regret itself, iterations weighted as
    the rule weighs regrets; where negative ones are forgotten faster (`cfr+`, `dcfr`), it is above it. With
    alternating updates a player's regret is against the others as they were when it was updated.

    Paper: Zinkevich, Johanson, Bowling & Piccione 2007, "Regret Minimization in Games with Incomplete Information",
        for overall regret from regrets of information sets.
    Departs from the paper: sums of positive parts, which bound it, are replaced by the maximum over plans.
    Checked by: tests/solvers/test_average_regret.py.

    Args:
        tree: what is played.
        regret_sum: `[Q]` as the run holds them.
        rule: how iterations were weighed.
        num_iterations: that were run.
    """
    total = 0.0
    for t in range(1, num_iterations + 1):
        discounts = rule.discounts(t)
        if t > 1 and discounts.negative > discounts.positive:  # before, there is nothing to discount
            return None
        total = discounts.positive * total + 1.0
    if not total:
        return None
    best = regret_sum.astype(np.float64)  # of an action and all that follows it
    below = np.zeros(best.size)
    for infoset in range(tree.num_actions.size - 1, -1, -1):
        first = int(tree.first_sequence[infoset])
        span = slice(first, first + int(tree.num_actions[infoset]))
        below[tree.parent_sequence[infoset]] += float((best[span] + below[span]).max())
    starts = tree.sequence_start[: tree.num_players]
    return tuple(float(below[start]) / total for start in starts)
