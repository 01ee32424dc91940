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
from equipoise.kernels.public_hooks import CellList, PublicHooks
from equipoise.search.gadgets import Method, RootProblem, pose
from equipoise.search.subgames import Blueprint, Subgame
from equipoise.solvers.cfr import allocate_tables
from equipoise.solvers.rules import CFRPlus, Rule, tabulate_discounts

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


class SubgameSolver:
    """A run of CFR below the root of a subgame, its gate within the same native call."""

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
        self.subgame = subgame
        self.problem = problem
        self.rule = rule or CFRPlus(gamma=1.0)
        self.is_alternating = is_alternating
        self.iteration = 0
        self.total_weight = 0.0
        self._watched = {node: index for index, node in enumerate((0, *watched))}
        missing = [node for node in watched if node not in subgame.tree.landmarks]
        if missing:
            raise ConfigError(f"watched nodes must be landmarks of the subgame, and {missing[0]} is none")
        first, second = (
            np.concatenate([subgame.tree.private_cells(node, player) for node in self._watched]) for player in (0, 1)
        )
        self.hooks = PublicHooks(subgame.kernel, gate=problem.gate, watched=CellList.of_players(first, second))
        self.tables = allocate_tables(subgame.tree, self.rule.kernel)
        self.tables.strategy[:] = subgame.kernel.normalize(self.tables.regret_sum)
        reach = list(subgame.beliefs.reach)
        if problem.gate is not None:
            reach[1 - problem.searcher] = problem.gate.first_reach()
        self.tables.realization[:] = subgame.realize(self.tables.strategy, reach=(reach[0], reach[1]))

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each of which updates both players and the gate once."""
        discounts = tabulate_discounts(self.rule, self.iteration + 1, num_iterations)
        self.hooks.iterate(
            self.rule.kernel,
            discounts,
            self.tables,
            first_t=self.iteration + 1,
            is_alternating=self.is_alternating,
        )
        for decay, weight in discounts[:, 2:4].tolist():
            self.total_weight = self.total_weight * decay + weight
        self.iteration += num_iterations

    def average_strategy(self) -> FloatArray:
        """Returns `[C]` both players' average strategies."""
        return self.subgame.kernel.normalize(self.tables.strategy_sum)

    def average_values(self, player: int, node: int = 0) -> FloatArray:
        """Returns `[H]` a player's counterfactual values at a watched node, averaged as the strategies are.

        They go with the average strategies: reaches of these are averages of the reaches that the values were seen
        with. Player of Games calls them self-play values and makes them the alternatives of the next search.
        """
        if node not in self._watched:
            raise ConfigError(f"node {node} of the subgame is not watched, only {', '.join(map(str, self._watched))}")
        counts = self.subgame.tree.num_private[list(self._watched), player]
        first = int(self.hooks.watched.start[player]) + int(counts[: self._watched[node]].sum())
        return self.hooks.value_sum[first : first + int(counts[self._watched[node]])] / self.total_weight

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
