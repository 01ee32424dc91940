# SPDX-License-Identifier: Apache-2.0
"""A public tree that grows between sweeps of CFR: append-only arrays in the core, checked where they are handed over.

Nodes are numbered as they are added, the root first; a node's children are added after it. What a node stands for is
the caller's business.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import equipoise._native as _native
from equipoise.core.errors import ConfigError
from equipoise.kernels.arrays import check_array, check_finite, check_generator, check_range
from equipoise.kernels.gates import RootGate, gate_memory
from equipoise.kernels.rules import FLOAT64, NUM_DISCOUNT_COLUMNS, KernelRule, PolicyMap

__all__ = ["GrowingArena", "NodeFacts", "Opening", "Step", "Watched"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Step = tuple[int, int]  # a node and a column of its actions, where a walk left the tree; -1 for none
NO_PAYOFFS: Final = np.zeros(0)


class Watched(enum.IntEnum):
    """Of which nodes values will be asked for, beside the first one's."""

    NEXT = 0  # what follows a node, by chance too
    MOVES = 1  # and what follows that by moves of one player alone
    ALL = 2  # everything below the node


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeFacts:
    """What a node is before anything follows it."""

    actor: int  # player, or as `games.base` numbers chance and the end
    joint: FloatArray  # [H0, H1] chance's weights of pairs
    payoffs: FloatArray | None = None  # [2, H0, H1] at the end of the game


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opening:
    """What can follow a node, E edges: entries of both players' relations, edge by edge, player 0's first.

    Checked when it is made, so that trees may share it.
    """

    actor: int
    num_private: tuple[int, int]  # of the node
    legal: BoolArray  # [H, A] of the actor's private states; [0, 0] at chance
    sizes: IntArray  # [E, 2] entries of each player
    places: IntArray  # [K, 3] private state above, column of the action (-1: none) and private state below
    weights: FloatArray  # [K]
    num_below: IntArray  # [E, 2] private states of the nodes that follow
    edges_of: tuple[tuple[int, ...], ...] = dataclasses.field(init=False)  # [A] edges to which an action may lead

    def __post_init__(self) -> None:
        num_entries, num_actions = int(self.sizes.sum()), self.legal.shape[1]
        check_array("places", self.places, np.int32, (num_entries, 3))
        check_array("weights", self.weights, np.float64, (num_entries,))
        check_array("sizes", self.sizes, np.int32, self.num_below.shape)
        owner = np.repeat(np.arange(self.sizes.size), self.sizes.reshape(-1))
        edge, player = owner // 2, owner % 2
        check_range("private states above", self.places[:, 0], 0, np.array(self.num_private)[player])
        check_range("private states below", self.places[:, 2], 0, self.num_below[edge, player])
        is_own = player == self.actor
        check_range("columns of actions", self.places[is_own, 1], 0, num_actions)
        if self.actor >= 0:
            check_array("legal", self.legal, np.bool_, (self.num_private[self.actor], num_actions))
        edges_of: list[list[int]] = [[] for _ in range(num_actions)]
        for number, column in zip(edge[is_own].tolist(), self.places[is_own, 1].tolist(), strict=True):
            if not edges_of[column] or edges_of[column][-1] != number:  # edges ascend
                edges_of[column].append(number)
        object.__setattr__(self, "edges_of", tuple(map(tuple, edges_of)))


class GrowingArena:
    """Nodes, edges and tables of a tree that grows; one thread uses it."""

    def __init__(self, rule: KernelRule) -> None:
        if rule.policy_map is not PolicyMap.REGRET_MATCHING or rule.is_optimistic:
            raise ConfigError("trees that grow match regrets: take cfr, cfr+, lcfr, dcfr or another such rule")
        self._native = _native.GrowingArena(*rule.native_arguments)
        self._openings: dict[int, Opening] = {}

    @property
    def num_nodes(self) -> int:
        """Returns how many nodes there are."""
        return int(self._native.num_nodes())

    @property
    def bound(self) -> Any:
        """Returns it as the native module knows it."""
        return self._native

    def shape(self, node: int) -> tuple[int, int]:
        """Returns how many private states both players have at a node."""
        first, second, _, _ = self._native.shape(node)
        return first, second

    def set_origin(self, node: int, page: int, parent: int, edge: int) -> None:
        """Says which page of a book a node is, and by which edge of which node it is reached."""
        self._native.set_origin(node, page, parent, edge)

    def origin(self, node: int) -> tuple[int, int, int]:
        """Returns what `set_origin` said, of nodes that a run added too; -1 for none."""
        found: tuple[int, int, int] = self._native.origin(node)
        return found

    def add_node(self, facts: NodeFacts) -> int:
        """Returns the number of a new node; a leaf, unless the game is over there."""
        first, second = facts.joint.shape
        check_array("joint", facts.joint, np.float64, (first, second))
        payoffs = NO_PAYOFFS
        if facts.payoffs is not None:
            check_array("payoffs", facts.payoffs, np.float64, (2, first, second))
            check_finite("payoffs", facts.payoffs)
            payoffs = facts.payoffs
        elif facts.actor == -2:
            raise ValueError("a node at which the game is over needs payoffs")
        return int(self._native.add_node(facts.actor, first, second, joint=facts.joint, payoff=payoffs))

    def open(self, node: int, opening: Opening, prior: FloatArray | None = None) -> None:
        """Says what can follow a node; `prior` `[H, A]` weighs its actions in walks, by default all alike."""
        first, second, actor, _ = self._native.shape(node)
        if opening.actor != actor or opening.num_private != (first, second):
            raise ValueError(f"node {node} has another actor or other private states than what is to follow it")
        weigh = NO_PAYOFFS
        if opening.actor >= 0:
            among = np.maximum(opening.legal.sum(axis=1, keepdims=True), 1)
            weigh = opening.legal / among if prior is None else prior
            check_array("prior", weigh, np.float64, opening.legal.shape)
            check_finite("prior", weigh)
        self._openings[node] = opening
        legal = opening.legal.view(np.uint8)
        num_actions = opening.legal.shape[1]
        self._native.open(
            node,
            num_actions,
            legal=legal,
            prior=weigh,
            sizes=opening.sizes,
            places=opening.places,
            weights=opening.weights,
        )

    def set_focus(self, node: int, watched: Watched) -> None:
        """Says of which nodes below one values will be asked for, before anything follows it."""
        self._native.set_focus(node, int(watched))

    def is_watched(self, node: int) -> bool:
        """Returns whether values of a node are kept: the first one's are."""
        return bool(self._native.is_watched(node))

    def attach(self, node: int, edge: int, child: int) -> None:
        """Puts a node below an edge of an opened one; `settle_children` says when all are there."""
        below = self._openings[node].num_below[edge]
        if not node < child < self.num_nodes or self.shape(child) != tuple(below):
            raise ValueError(f"node {child} cannot follow node {node} by edge {edge}: it has other private states")
        self._native.attach(node, edge, child)

    def child(self, node: int, edge: int) -> int:
        """Returns the node below an edge of an opened one, -1 if it is not in the tree."""
        return int(self._native.child(node, edge))

    def settle_children(self, node: int) -> None:
        """Lets the actions of a node be played all of whose edges lead into the tree."""
        self._native.settle_children(node)

    def set_unit(self, node: int, first: float, second: float) -> None:
        """Gives a leaf with one private state each its values for good, against a reach of 1."""
        self._native.set_unit(node, first, second)

    def set_reach(self, player: int, reach: FloatArray) -> None:
        """Sets the root's reach of a player."""
        check_array("reach", reach, np.float64, (self.shape(0)[player],))
        self._native.set_reach(player, reach)

    def leaves(self) -> list[int]:
        """Returns the nodes that are asked about, in the order of a batch's rows."""
        found: list[int] = self._native.leaves()
        return found

    def descend(self, reach: tuple[FloatArray, FloatArray]) -> None:
        """Spreads reaches from the root and writes those of the leaves into `[B, H]` arrays."""
        self._native.descend(first=reach[0], second=reach[1])

    def ascend(self, cfv: tuple[FloatArray, FloatArray], discount: FloatArray, *, updated: tuple[bool, bool]) -> None:
        """Brings values of the players asked for up from the leaves' `[B, H]` and updates their tables."""
        check_array("discount", discount, FLOAT64, (1, NUM_DISCOUNT_COLUMNS))
        self._native.ascend(
            first=cfv[0], second=cfv[1], discount=discount, updates_first=updated[0], updates_second=updated[1]
        )

    def pass_gate(self, gate: RootGate, discount: FloatArray, t: int) -> None:
        """Hands the root's values to a gate, which says with what reach its player enters next."""
        memory = gate_memory(gate)
        self._native.pass_gate(gate.player, int(gate.kind), gate.share, **memory, discount=discount, t=t)

    def walk(
        self, start: int, random_words: npt.NDArray[np.uint64], *, exploration: float, share: float, scale: float
    ) -> Step:
        """Returns where one walk from a node leaves the tree.

        Args:
            start: where it begins, with a pair of private states drawn by their reaches.
            random_words: `[4]` state of the generator, which moves on.
            exploration: weight of the prior against values.
            share: of decisions by value and prior; the others are the strategy's.
            scale: on values, so that they lie between -1 and 1.
        """
        check_generator(random_words)
        step: Step = self._native.walk(start, exploration, share, scale, random_words)
        return step

    def end_walks(self) -> None:
        """Ends a batch of walks, in which those on their way count as lost."""
        self._native.end_walks()

    def read_table(self, name: str, node: int) -> FloatArray:
        """Returns `[H, A]` regret, average, strategy, action_value, visits or prior of an opened decision."""
        first, second, actor, num_actions = self._native.shape(node)
        out = np.empty(((first, second)[actor], num_actions))
        self._native.read_table(name, node, out)
        return out

    def read_block(self, name: str, node: int, player: int) -> FloatArray:
        """Returns `[H]` reach, value or value_sum of a player's private states; values where they are watched."""
        if name != "reach" and not self.is_watched(node):
            raise ValueError(f"values of node {node} are not kept: it does not follow what the search is about")
        out = np.empty(self.shape(node)[player])
        self._native.read_block(name, player, node, out)
        return out

    def average_values(self, node: int, player: int) -> FloatArray:
        """Returns `[H]` a player's counterfactual values, averaged as the strategy is; zeros before the first sweep."""
        weight = float(self._native.value_weight(node, player))
        total = self.read_block("value_sum", node, player)
        return total / weight if weight > 0 else total
