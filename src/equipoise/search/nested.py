# SPDX-License-Identifier: Apache-2.0
"""Nested search: actions that the strategy so far does not know are added where the opponent takes them.

The whole tree has every action; the strategy so far lives on a part without some (`off_tree`, the nodes that these lead
to). When the opponent takes one, a subgame after it (the inexpensive form) or before it (the expensive form) is solved,
again without further off-tree actions, and the result is the strategy so far for what comes below.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.kernels.arithmetic import multiply
from equipoise.search.beliefs import PublicBelief
from equipoise.search.gadgets import (
    Given,
    Maxmargin,
    Method,
    Reach,
    Resolve,
    Unsafe,
    check_deviation,
    find_gifts,
    pose,
)
from equipoise.search.overlays import LayeredStrategy, Overlay
from equipoise.search.resolving import DEFAULT_ITERATIONS, SubgameSolver
from equipoise.search.subgames import Blueprint, Subgame
from equipoise.solvers.best_response import bind_public_kernel
from equipoise.solvers.rules import Rule
from equipoise.trees.public import PublicTree
from equipoise.trees.public_edges import read_policy, relation_matrices, trace_back
from equipoise.trees.public_pairs import joint_weights
from equipoise.trees.subtree import Subtree, cut_subtree

__all__ = ["NestedSearch", "Stage"]

FloatArray = npt.NDArray[np.float64]
LongArray = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage:
    """A strategy so far: on which part of the whole tree it lives, and where the next off-tree action may come."""

    part: Subtree
    blueprint: Blueprint  # on the part's tree
    begins: int  # node of the whole tree: the stage is played from there on
    gifts: FloatArray  # [H] what each of the opponent's private states gave away before the part's root


class NestedSearch:
    """Replies to off-tree actions of one opponent, stage upon stage.

    Paper: Brown 2020, PhD thesis, section 5.1.7.
    Symbols: sigma -> the stage's strategy; I_1 -> private states before the off-tree action; a -> that action.
    Departs from the paper: alternatives are best responses within the part on which the stage lives (CB~V); gifts of
        earlier stages are kept as they were found.
    Checked by: tests/search/test_nested.py.
    """

    def __init__(
        self,
        tree: PublicTree,
        off_tree: npt.ArrayLike,
        searcher: int,
        method: Method,
        *,
        iterations: int = DEFAULT_ITERATIONS,
        rule: Rule | None = None,
        is_expensive: bool = False,
    ) -> None:
        """Says how replies are found.

        Args:
            tree: with every action.
            off_tree: nodes that the actions lead to which strategies do not know, of both players.
            searcher: who replies.
            method: how a reply is made safe; its alternatives are this class's business.
            iterations: of CFR, for each reply.
            rule: CFR+ with linear averaging if None.
            is_expensive: solve from before the action on, all other actions included.
        """
        if isinstance(method, Unsafe) and not is_expensive:
            raise ConfigError("unsafe search needs the probability of the action, which only the expensive form has")
        if not isinstance(method, Unsafe) and not isinstance(method.alternatives, type(Maxmargin().alternatives)):
            raise ConfigError("nested search finds its alternatives itself: leave them at their default")
        check_deviation(method, "nested search")
        self.tree = tree
        self.off_tree: LongArray = np.unique(np.asarray(off_tree, np.int64))
        self.searcher, self.opponent = searcher, 1 - searcher
        self.method = method
        self.iterations, self.rule, self.is_expensive = iterations, rule, is_expensive

    def begin(self, strategy: FloatArray) -> Stage:
        """Returns the first stage: a strategy `[C]` over the whole tree, on the part without off-tree actions."""
        part = cut_subtree(self.tree, 0, without=self.off_tree)
        gifts = np.zeros(int(self.tree.num_private[0, self.opponent]))
        return Stage(part=part, blueprint=Blueprint(part.tree, part.restrict(strategy)), begins=0, gifts=gifts)

    def surprises(self, stage: Stage) -> Iterator[int]:
        """Yields the nodes that an off-tree action of the opponent leads to from within a stage."""
        below = self.off_tree[self.tree.descendants.has(stage.begins, self.off_tree) & (self.off_tree != stage.begins)]
        above = self.tree.parent[below]
        yield from below[np.isin(above, stage.part.nodes) & (self.tree.actor[above] == self.opponent)].tolist()

    def reply(self, stage: Stage, node: int) -> Stage | None:
        """Returns the stage after the opponent's off-tree action that leads to a node.

        None where the searcher's own strategy never comes: there is nothing to search for.
        """
        above = int(self.tree.parent[node])
        inner = int(np.searchsorted(stage.part.nodes, above))
        beliefs = stage.blueprint.beliefs(inner)
        if not beliefs.reach[self.searcher].any():
            return None
        values = self._values_before(stage, inner)
        gifts = self._gifts_before(stage, inner)
        if self.is_expensive:
            root, without = above, np.setdiff1d(self.off_tree, [node])
        else:
            root, without = node, self.off_tree
            private, _ = trace_back(self.tree, node, self.opponent)
            values, gifts = values[private], gifts[private]
            first, second = (multiply(beliefs.reach[player], self._follow(node, player)) for player in (0, 1))
            beliefs = PublicBelief(reach=(first, second), joint=joint_weights(self.tree, node))
        part = cut_subtree(self.tree, root, without=without)
        kernel = bind_public_kernel(part.tree)
        subgame = Subgame(part=part, node=root, beliefs=beliefs, blueprint=part.tree.legal_share, kernel=kernel)
        method = self.method
        if isinstance(method, Resolve | Maxmargin):
            raised = values + gifts if method.reach is not None else values
            method = dataclasses.replace(method, alternatives=Given(raised), reach=None)
        solver = SubgameSolver(subgame, pose(stage.blueprint, subgame, self.searcher, method), rule=self.rule)
        solver.iterate(self.iterations)
        found = Blueprint(part.tree, solver.average_strategy(), root_reach=beliefs.reach)
        return Stage(part=part, blueprint=found, begins=node, gifts=gifts)

    def _follow(self, node: int, player: int) -> FloatArray:
        """Returns how reach flows into a node; that of the opponent as if everybody took the action."""
        above = int(self.tree.parent[node])
        if self.tree.actor[above] != player:
            return relation_matrices(self.tree, node, player)
        everybody = np.ones((int(self.tree.num_private[above, player]), int(self.tree.num_actions[above])))
        return relation_matrices(self.tree, node, player, everybody)

    def _values_before(self, stage: Stage, inner: int) -> FloatArray:
        """Returns `[H]` what the opponent's best response within the stage earns at a node, given that it is there."""
        tree = stage.part.tree
        actions = read_policy(tree, inner, stage.blueprint.best_cfv(self.opponent))
        is_legal = read_policy(tree, inner, tree.legal_share) > 0
        mass = stage.blueprint.beliefs(inner).mass(self.opponent)
        best = np.max(np.where(is_legal, actions, -np.inf), axis=1)
        values: FloatArray = np.divide(best, mass, out=np.zeros(mass.size), where=mass > 0)
        return values

    def _gifts_before(self, stage: Stage, inner: int) -> FloatArray:
        """Returns `[H]` what the opponent's private states at a node of a stage gave away on their way."""
        reach = None if isinstance(self.method, Unsafe) else self.method.reach
        root = np.arange(stage.part.tree.num_private[inner, self.opponent], dtype=np.int32)
        below = inner
        while below != 0:
            source, _ = trace_back(stage.part.tree, below, self.opponent)
            root, below = source[root], int(stage.part.tree.parent[below])
        return stage.gifts[root] + find_gifts(stage.blueprint, inner, self.opponent, reach or Reach(scale=0.0))

    def everywhere(self, strategy: FloatArray) -> LayeredStrategy:
        """Returns the searcher's replies to every off-tree action, at every stage, over a strategy `[C]`.

        What the opponent does is the first stage's where it is known, and means nothing elsewhere.
        """
        first = self.begin(strategy)
        layers = LayeredStrategy(
            tree=self.tree,
            base=self.tree.legal_share.copy(),
            overlays=(Overlay(part=first.part, strategy=first.blueprint.strategy),),
        )
        pending = [first]
        while pending:
            stage = pending.pop()
            for node in self.surprises(stage):
                following = self.reply(stage, node)
                if following is None:
                    continue
                layers = layers.over(self._overlay(following))
                pending.append(following)
        return layers

    def _overlay(self, stage: Stage) -> Overlay:
        """Returns what is played of a stage: what lies below the action."""
        if not self.is_expensive:
            return Overlay(part=stage.part, strategy=stage.blueprint.strategy, players=(self.searcher,))
        part = cut_subtree(self.tree, stage.begins, without=self.off_tree)
        everything = self.tree.legal_share.copy()
        stage.part.insert(stage.blueprint.strategy, everything)
        return Overlay(part=part, strategy=part.restrict(everything), players=(self.searcher,))
