# SPDX-License-Identifier: Apache-2.0
"""Where a search ends before the game does: after some actions, after some rounds, or when a budget is spent.

Limits are asked for the leaves of a tree that there is, or, where there is none, whether a single step is one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.public import PublicGame
from equipoise.trees.public import PublicTree

__all__ = ["ActionLimit", "BudgetLimit", "DepthLimit", "RoundLimit", "Step"]

LongArray = npt.NDArray[np.int64]


class Step(NamedTuple):
    """A public state some way below where a search begins."""

    state: Any  # as the public game has it
    path: tuple[int, ...]  # edges taken since then
    num_actions: int = 0  # of players on the way
    num_deals: int = 0  # public moves of chance on the way


class DepthLimit(Protocol):
    """Says where a part of a tree ends."""

    def leaves(self, tree: PublicTree, root: int) -> LongArray:
        """Returns the nodes below a root at which the search ends, ascending; terminals are none of them."""
        ...

    def leaf_test(self, game: PublicGame[Any], root: Any) -> Callable[[Step], bool]:
        """Returns what says whether a step below a public state is a leaf, if the game is not over there."""
        ...


def _check_count(name: str, count: int) -> None:
    if count < 1:
        raise ConfigError(f"{name} must be at least 1, got {count}")


def _first_at(tree: PublicTree, root: int, count: int, *, counts_at: npt.NDArray[np.bool_]) -> LongArray:
    """Returns the nodes before which `count` counted nodes lie, from the root on, and whose parent has fewer."""
    before = tree.descendants.count_above(counts_at)
    before -= before[root]
    nodes = tree.descendants.of(root)[1:]
    is_first = (before[nodes] >= count) & (before[tree.parent[nodes]] < count)
    leaves: LongArray = nodes[is_first & (tree.actor[nodes] != TERMINAL)]
    return leaves


@dataclasses.dataclass(frozen=True, slots=True)
class ActionLimit:
    """Ends after so many actions of players."""

    actions: int

    def __post_init__(self) -> None:
        _check_count("actions", self.actions)

    def leaves(self, tree: PublicTree, root: int) -> LongArray:
        """Returns the nodes that so many actions lead to."""
        return _first_at(tree, root, self.actions, counts_at=tree.actor >= 0)

    def leaf_test(self, game: PublicGame[Any], root: Any) -> Callable[[Step], bool]:
        """Returns whether a step is so many actions away."""
        return lambda step: step.num_actions >= self.actions


@dataclasses.dataclass(frozen=True, slots=True)
class RoundLimit:
    """Ends with a round: where chance is about to move for all to see, or right after it has.

    A move of chance with which a search begins opens its first round.
    """

    rounds: int = 1
    is_after_deal: bool = False  # leaves are the public states that open the next round

    def __post_init__(self) -> None:
        _check_count("rounds", self.rounds)

    def leaves(self, tree: PublicTree, root: int) -> LongArray:
        """Returns the last nodes of the last round, or the first of the one after."""
        ends_round = tree.actor == CHANCE
        ends_round[root] = False
        after = _first_at(tree, root, self.rounds, counts_at=ends_round)
        if self.is_after_deal:
            return after
        last: LongArray = np.unique(tree.parent[after]).astype(np.int64)
        return last

    def leaf_test(self, game: PublicGame[Any], root: Any) -> Callable[[Step], bool]:
        """Returns whether a step ends the last round, or opens the one after."""
        deals = self.rounds + (game.actor(root) == CHANCE)
        if self.is_after_deal:
            return lambda step: step.num_deals >= deals
        return lambda step: bool(step.path) and step.num_deals == deals - 1 and game.actor(step.state) == CHANCE


@dataclasses.dataclass(frozen=True, slots=True)
class BudgetLimit:
    """Ends where a budget of nodes is spent, shallow nodes first."""

    nodes: int  # most nodes of the part, its root included

    def __post_init__(self) -> None:
        _check_count("nodes", self.nodes)

    def leaves(self, tree: PublicTree, root: int) -> LongArray:
        """Returns the nodes that are not expanded; those of a level are expanded in order while the budget lasts.

        The root is always expanded, whatever its children cost.
        """
        children: dict[int, list[int]] = {}
        for node in tree.descendants.of(root)[1:].tolist():
            children.setdefault(int(tree.parent[node]), []).append(node)
        level, spent, leaves = [root], 1, []
        while level:
            following: list[int] = []
            for node in level:
                below = children.get(node, [])
                if below and node != root and spent + len(below) > self.nodes:
                    leaves.append(node)
                    continue
                spent += len(below)
                following += below
            level = following
        return np.array(sorted(leaves), np.int64)

    def leaf_test(self, game: PublicGame[Any], root: Any) -> Callable[[Step], bool]:
        """Returns whether a step is one of those that are not expanded."""
        level: list[tuple[Any, tuple[int, ...]]] = [(root, ())]
        spent, leaves = 1, set()
        while level:
            following: list[tuple[Any, tuple[int, ...]]] = []
            for state, path in level:
                edges = game.edges(state)
                if edges and path and spent + len(edges) > self.nodes:
                    leaves.add(path)
                    continue
                spent += len(edges)
                following += [(edge.child, (*path, place)) for place, edge in enumerate(edges)]
            level = following
        return lambda step: step.path in leaves
