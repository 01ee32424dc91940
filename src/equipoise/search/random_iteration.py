# SPDX-License-Identifier: Apache-2.0
"""Play by one iteration of a search, drawn at random: what makes search safe without a gate.

Whoever plays the strategies of an iteration that nobody else knows plays their average as far as others can tell; what
is solved below continues from the beliefs of that iteration, not from those of the average.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.search.resolving import SubgameSolver
from equipoise.solvers.rules import Rule, tabulate_discounts

__all__ = ["draw_iteration", "iteration_chances", "solve_sampled"]

FloatArray = npt.NDArray[np.float64]


def iteration_chances(rule: Rule, num_iterations: int) -> FloatArray:
    """Returns `[iterations]` the share of each iteration's strategies in the average after so many."""
    if num_iterations < 1:
        raise ConfigError(f"iterations must be at least 1, got {num_iterations}")
    decay, weight = tabulate_discounts(rule, 1, num_iterations)[:, 2:4].T
    later = np.append(np.cumprod(decay[:0:-1])[::-1], 1.0)  # what the iterations after each one leave of it
    counted = weight * later
    shares: FloatArray = counted / counted.sum()
    return shares


def draw_iteration(rule: Rule, num_iterations: int, *, rng: np.random.Generator) -> int:
    """Returns an iteration, from 1 on, as often as it counts in the average."""
    return int(rng.choice(num_iterations, p=iteration_chances(rule, num_iterations))) + 1


def solve_sampled(solver: SubgameSolver, num_iterations: int, *, rng: np.random.Generator) -> FloatArray:
    """Returns `[C]` what both players do in one iteration of a search that has not begun.

    The whole profile of that iteration is to be played to the end of the subgame, and believed to be played: a draw for
    every action would be another strategy.

    Paper: Brown et al. 2020, "Combining Deep Reinforcement Learning and Search for Imperfect-Information Games"; Brown
        2020, PhD thesis, section 5.3.4.
    Departs from the paper: an iteration is as likely as it counts in the average, whatever the rule; the text draws
        uniformly, its listing by the weights of linear CFR. Iterations after the one drawn are not run.
    Checked by: tests/search/test_properties.py.

    Args:
        solver: of the subgame.
        num_iterations: of the search.
        rng: draws the iteration, and must be the player's secret.
    """
    if solver.iteration != 0:
        raise ConfigError(f"the search must not have begun, got one after {solver.iteration} iterations")
    before = draw_iteration(solver.rule, num_iterations, rng=rng) - 1
    if before:
        solver.iterate(before)
    return solver.current_strategy()
