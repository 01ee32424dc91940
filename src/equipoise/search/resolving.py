# SPDX-License-Identifier: Apache-2.0
"""Subgames solved again: one at a time as a run that can go on, and all at once as a strategy whose quality is exact.

Playing search at whatever subgame comes up is the same as having solved every one of them before the game, so what a
search costs or gains is the exploitability of the strategy in which all are replaced.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.search.gadgets import Method, RootProblem, pose
from equipoise.search.subgames import Blueprint, Subgame
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus, Rule
from equipoise.trees.public import PublicTree

__all__ = ["SubgameResult", "SubgameSolver", "search_everywhere", "solve_subgame"]

FloatArray = npt.NDArray[np.float64]

DEFAULT_ITERATIONS = 500


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SubgameResult:
    """What a search found at a subgame."""

    strategy: FloatArray  # [C] over the subgame's tree; only the searcher's part is meant to be played
    alternative: FloatArray  # [H] what staying out was worth to the opponent, gifts included
    value: FloatArray  # [H] what its best response earns now; both given that it is there, 0 where it cannot be
    possible: npt.NDArray[np.bool_]  # [H] where the opponent can be

    @property
    def margin(self) -> FloatArray:
        """Returns `[H]` how much less than its alternative every private state of the opponent can get now."""
        return self.alternative - self.value

    @property
    def least_margin(self) -> float:
        """Returns the least margin of the private states in which the opponent can be."""
        return float(self.margin[self.possible].min())


class SubgameSolver(CFRSolver[PublicTree]):
    """A run of CFR below the root of a subgame, its gate within the same native call; root values are watched."""

    def __init__(
        self,
        subgame: Subgame,
        problem: RootProblem,
        *,
        rule: Rule | None = None,
        is_alternating: bool = True,
        watched: Sequence[int] = (),
    ) -> None:
        """Begins a run.

        Args:
            subgame: what is solved.
            problem: who searches and how the opponent enters.
            rule: CFR+ with linear averaging, the thesis's choice, if None.
            is_alternating: whether each player sees the other's update of the same iteration.
            watched: landmarks of the subgame's tree whose average values are wanted beside those of its root.
        """
        self.subgame, self.problem = subgame, problem
        super().__init__(
            subgame.tree,
            rule or CFRPlus(gamma=1.0),
            is_alternating=is_alternating,
            gate=problem.gate,
            watched=(0, *watched),
            root_reach=subgame.beliefs.reach,
            kernel=subgame.kernel,
        )

    def result(self) -> SubgameResult:
        """Returns what the run has found so far."""
        return summarize(self.subgame, self.problem, self.average_strategy())


def summarize(subgame: Subgame, problem: RootProblem, strategy: FloatArray) -> SubgameResult:
    """Returns what a strategy `[C]` of the searcher leaves to the opponent, exactly."""
    opponent = 1 - problem.searcher
    mass = subgame.mass(opponent)
    possible = mass > 0
    value = np.divide(subgame.best_values(opponent, strategy), mass, out=np.zeros(mass.size), where=possible)
    return SubgameResult(strategy=strategy, alternative=problem.alternative, value=value, possible=possible)


def solve_subgame(
    blueprint: Blueprint,
    node: int,
    searcher: int,
    method: Method,
    *,
    iterations: int = DEFAULT_ITERATIONS,
    rule: Rule | None = None,
    is_alternating: bool = True,
) -> SubgameResult:
    """Returns the searcher's strategy from a node on, solved again.

    Args:
        blueprint: what is played above, and by whom the opponent's alternatives are measured.
        node: of the blueprint's tree.
        searcher: whose strategy is wanted.
        method: how the subgame is made safe.
        iterations: of CFR.
        rule: CFR+ with linear averaging if None.
        is_alternating: whether each player sees the other's update of the same iteration.
    """
    if iterations < 1:
        raise ConfigError(f"iterations must be at least 1, got {iterations}")
    subgame = blueprint.subgame(node)
    solver = SubgameSolver(
        subgame, pose(blueprint, subgame, searcher, method), rule=rule, is_alternating=is_alternating
    )
    solver.iterate(iterations)
    return solver.result()


def search_everywhere(
    blueprint: Blueprint,
    nodes: Sequence[int],
    searcher: int,
    method: Method | Callable[[Subgame], Method],
    *,
    iterations: int = DEFAULT_ITERATIONS,
    rule: Rule | None = None,
    is_alternating: bool = True,
) -> FloatArray:
    """Returns `[C]` the blueprint's strategy with the searcher's part of every given subgame solved again.

    Subgames to which the searcher's own blueprint never comes keep it: there is nothing to search for.

    Args:
        blueprint: what is played elsewhere.
        nodes: roots of disjoint subgames.
        searcher: whose strategy is replaced.
        method: how they are made safe, for all or for each.
        iterations: of CFR, for each.
        rule: CFR+ with linear averaging if None.
        is_alternating: whether each player sees the other's update of the same iteration.
    """
    out = blueprint.strategy.copy()
    for node in nodes:
        subgame = blueprint.subgame(node)
        if not subgame.beliefs.reach[searcher].any():
            continue
        chosen = method(subgame) if callable(method) else method
        problem = pose(blueprint, subgame, searcher, chosen)
        solver = SubgameSolver(subgame, problem, rule=rule, is_alternating=is_alternating)
        solver.iterate(iterations)
        subgame.part.insert(solver.average_strategy(), out, players=(searcher,))
    return out
