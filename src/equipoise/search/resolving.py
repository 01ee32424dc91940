# SPDX-License-Identifier: Apache-2.0
"""Subgames solved again: one at a time as a run that can go on, and all at once as a strategy whose quality is exact.

Playing search at whatever subgame comes up is the same as having solved every one of them before the game, so what a
search costs or gains is the exploitability of the strategy in which all are replaced.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr
from equipoise.kernels.arithmetic import dot
from equipoise.search.gadgets import Method
from equipoise.search.posing import RootProblem, pose
from equipoise.search.profiles import Stage, Subgame, Table, given_there
from equipoise.search.public import PublicProfile, PublicSubgame
from equipoise.search.settings import DEFAULT_ITERATIONS
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus, Rule
from equipoise.trees.public import PublicTree

__all__ = ["SearchResult", "SubgameSolver", "search_everywhere", "solve_subgame", "summarize"]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchResult:
    """What a search found; values of the opponent's private states are given that it is there, 0 where it cannot be.

    >>> from equipoise.games import make_game
    >>> from equipoise.search import PublicProfile, Resolve
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_public_tree, derive_public_game
    >>> tree = build_public_tree(derive_public_game(make_game("kuhn")))
    >>> profile = PublicProfile(tree, CFRSolver(tree).average_strategy())
    >>> found = solve_subgame(profile, tree.public_labels.index("p"), 1, Resolve(), iterations=200)
    >>> found.searcher, found.margin.shape
    (1, (3,))
    """

    searcher: int
    subgame: Subgame  # to the end of the game
    strategy: Table  # [C] over the subgame's tree; only the searcher's part is meant to be played
    alternative: FloatArray  # [H] what staying out was worth to the opponent, gifts included; zeros if unsafe
    value: FloatArray  # [H] what its best response earns now
    possible: npt.NDArray[np.bool_]  # [H] where the opponent can be
    stage: Stage[Any] | None = None  # what is played from now on; None unless searches may follow

    __repr__ = brief_repr

    @property
    def margin(self) -> FloatArray:
        """Returns `[H]` how much less than its alternative every private state of the opponent can get now."""
        return self.alternative - self.value

    @property
    def least_margin(self) -> float:
        """Returns the least margin of the private states in which the opponent can be."""
        return float(self.margin[self.possible].min())

    def opponent_weights(self) -> FloatArray:
        """Returns `[H]` how likely the opponent's private states are, as far as its strategy so far says."""
        reach, opponent, tree = self.subgame.reach, 1 - self.searcher, self.subgame.tree
        own = reach[opponent] if reach[opponent].any() else self.possible.astype(np.float64)
        odds = own * tree.joint_at(tree.root_place).mass(opponent, reach[self.searcher]) * self.possible
        weights: FloatArray = odds / odds.sum() if odds.sum() > 0 else odds
        return weights

    def responses(self) -> tuple[float, float]:
        """Returns what the opponent's best response earns, before (0 if unsafe) and now, over its private states."""
        weights = self.opponent_weights()
        gifts = 0.0 if self.stage is None else self.stage.gifts
        return dot(weights, self.alternative - gifts), dot(weights, self.value)


class SubgameSolver(CFRSolver[Any]):
    """A run of CFR below the root of a subgame, its gate within the same native call.

    >>> from equipoise.games import make_game
    >>> from equipoise.search import Maxmargin, PublicProfile
    >>> from equipoise.search.posing import pose
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_public_tree, derive_public_game
    >>> tree = build_public_tree(derive_public_game(make_game("kuhn")))
    >>> profile = PublicProfile(tree, CFRSolver(tree).average_strategy())
    >>> subgame = profile.subgame(tree.public_labels.index("p"))
    >>> solver = SubgameSolver(subgame, pose(profile, subgame, 1, Maxmargin()))
    >>> solver.iterate(100)
    >>> solver.result().searcher
    1
    """

    def __init__(
        self,
        subgame: Subgame,
        problem: RootProblem,
        *,
        rule: Rule | None = None,
        is_alternating: bool = True,
        watched: Sequence[int] = (),
        dtype: npt.DTypeLike | None = None,
        num_threads: int = 1,
    ) -> None:
        """Begins a run.

        Args:
            subgame: what is solved.
            problem: who searches and how the opponent enters.
            rule: CFR+ with linear averaging, the thesis's choice, if None.
            is_alternating: whether each player sees the other's update of the same iteration.
            watched: of a public tree: landmarks whose average values are wanted beside those of its root.
            dtype: of the tables; the kernel's default if None.
            num_threads: size of the team.
        """
        self.subgame, self.problem = subgame, problem
        super().__init__(
            subgame.tree,
            rule or CFRPlus(gamma=1.0),
            dtype=dtype,
            is_alternating=is_alternating,
            num_threads=num_threads,
            gate=problem.gate,
            frontier=subgame.frontier,
            watched=(0, *watched) if isinstance(subgame.tree, PublicTree) else watched,
            root_reach=subgame.root_reach,
            kernel=subgame.kernel,
        )

    def result(self) -> SearchResult:
        """Returns what the run has found so far."""
        return summarize(self.subgame, self.problem, self.subgame.finish(self.average_sums))


def summarize(subgame: Subgame, problem: RootProblem, strategy: Table) -> SearchResult:
    """Returns what a strategy `[C]` of the searcher leaves to the opponent, exactly."""
    opponent = 1 - problem.searcher
    mass = subgame.mass(opponent)
    return SearchResult(
        searcher=problem.searcher,
        subgame=subgame,
        strategy=strategy,
        alternative=problem.alternative,
        value=given_there(subgame.best_values(opponent, strategy), mass),
        possible=mass > 0,
    )


def solve_subgame(
    blueprint: PublicProfile,
    node: int,
    searcher: int,
    method: Method,
    *,
    iterations: int = DEFAULT_ITERATIONS,
    rule: Rule | None = None,
    is_alternating: bool = True,
) -> SearchResult:
    """Returns the searcher's strategy from a node on, solved again.

    Args:
        blueprint: what is played above, and by whom the opponent's alternatives are measured.
        node: of the blueprint's tree.
        searcher: whose strategy is wanted.
        method: how the subgame is made safe.
        iterations: of CFR.
        rule: CFR+ with linear averaging if None.
        is_alternating: whether each player sees the other's update of the same iteration.

    >>> from equipoise.games import make_game
    >>> from equipoise.search import Maxmargin, PublicProfile
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_public_tree, derive_public_game
    >>> tree = build_public_tree(derive_public_game(make_game("kuhn")))
    >>> solver = CFRSolver(tree)
    >>> solver.iterate(10)
    >>> profile = PublicProfile(tree, solver.average_strategy())
    >>> found = solve_subgame(profile, tree.public_labels.index("p"), 1, Maxmargin(), iterations=200)
    >>> found.least_margin > -0.01  # no hand of the opponent gains
    True
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
    blueprint: PublicProfile,
    nodes: Sequence[int],
    searcher: int,
    method: Method | Callable[[PublicSubgame], Method],
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

    >>> from equipoise.games import make_game
    >>> from equipoise.search import Maxmargin, PublicProfile
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_public_tree, derive_public_game
    >>> tree = build_public_tree(derive_public_game(make_game("kuhn")))
    >>> profile = PublicProfile(tree, CFRSolver(tree).average_strategy())
    >>> nodes = [tree.public_labels.index(label) for label in ("p", "b")]
    >>> better = search_everywhere(profile, nodes, 1, Maxmargin(), iterations=200)
    >>> PublicProfile(tree, better).evaluate().exploitability < profile.evaluate().exploitability
    True
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
