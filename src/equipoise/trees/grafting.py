# SPDX-License-Identifier: Apache-2.0
"""Leaves of a part of a tree replaced by a last, hidden choice of each player and what the choices pay.

A part with such choices is an ordinary public tree: one player chooses without being seen, then the other if it has a
choice at all, and a terminal pays by both. Whoever chooses does so in each of its private states alone.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import TERMINAL
from equipoise.games.public import Relation
from equipoise.trees.public import PublicTree, TreeFacts, assemble_public_tree
from equipoise.trees.public_arrays import PublicArrays
from equipoise.trees.segments import join, starts
from equipoise.trees.subtree import Subtree, to_arrays

__all__ = ["Choice", "attach_choices"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """What stands for the rest of the game at a leaf."""

    chooser: int  # the player who chooses first, unseen
    payoff: FloatArray  # [choices, the other's, H0, H1] joint weight times what player 0 earns

    def __post_init__(self) -> None:
        if self.payoff.ndim != 4 or 0 in self.payoff.shape[:2]:
            raise ConfigError(f"payoffs of a choice must have four axes [K, M, H0, H1], got {self.payoff.shape}")


@dataclasses.dataclass(slots=True, eq=False)
class _Node:
    """One node of the new tree, with the edge into it."""

    state: object
    label: str
    actor: int
    parent: int
    num_private: tuple[int, int]
    actions: tuple[str, ...] = ()
    relations: tuple[Relation, Relation] | None = None
    pairs: IntArray | None = None  # of terminals
    chance: FloatArray | None = None
    payoff: FloatArray | None = None
    infosets: list[tuple[str, IntArray]] = dataclasses.field(default_factory=list)  # label, columns


def attach_choices(part: Subtree, choices: dict[int, Choice]) -> Subtree:
    """Returns a part whose leaves are replaced by choices; information states of choices are `Subtree.ADDED`.

    Args:
        part: with leaves.
        choices: by leaf (a node of the part's tree); every leaf needs one.
    """
    if set(choices) != set(part.leaves.tolist()):
        raise ConfigError(f"every leaf needs a choice: {part.leaves.size} leaves, {len(choices)} choices")
    arrays = to_arrays(part.tree)
    nodes: list[_Node] = []
    number: dict[int, int] = {}  # new number of each node of the part
    origin: list[int] = []  # node of the part that a new one was, ADDED
    for node in range(part.tree.actor.size):
        number[node] = len(nodes)
        kept = _copy(arrays, part.tree, node, number)
        nodes.append(kept)
        origin.append(node)
        if node in choices:
            added = _choose(kept, len(nodes) - 1, choices[node])
            nodes += added
            origin += [Subtree.ADDED] * len(added)
    return _finish(part, nodes, np.array(origin), choices)


def _copy(arrays: PublicArrays, tree: PublicTree, node: int, number: dict[int, int]) -> _Node:
    """Returns a node of the part as it is."""
    parent = int(tree.parent[node])
    kept = _Node(
        state=tree.states[node],
        label=tree.public_labels[node],
        actor=int(tree.actor[node]),
        parent=number[parent] if parent >= 0 else PublicTree.ROOT,
        num_private=(int(tree.num_private[node, 0]), int(tree.num_private[node, 1])),
        actions=tree.action_labels[node],
    )
    if parent >= 0:
        first, second = (_relation(arrays, 2 * node + player) for player in (0, 1))
        kept.relations = (first, second)
    if kept.actor == TERMINAL:
        index = int(np.searchsorted(tree.terminal_node, node))
        kept.pairs, kept.chance, kept.payoff = tree.pairs_at(index)
    if kept.actor >= 0:
        first_infoset = int(np.searchsorted(tree.infoset_node, node))
        for infoset in range(first_infoset, first_infoset + kept.num_private[kept.actor]):
            columns = slice(arrays.infoset_start[infoset], arrays.infoset_start[infoset + 1])
            kept.infosets.append((arrays.infoset_labels[infoset], arrays.sequence_column[columns]))
    return kept


def _relation(arrays: PublicArrays, segment: int) -> Relation:
    entries = slice(arrays.relation_start[segment], arrays.relation_start[segment + 1])
    return Relation(
        private=arrays.relation_private[entries],
        action=arrays.relation_action[entries],
        target=arrays.relation_target[entries],
        weight=arrays.relation_weight[entries],
    )


def _choose(leaf: _Node, index: int, choice: Choice) -> list[_Node]:
    """Turns a leaf into its choice, in place, and returns the nodes below it."""
    num_first, num_second = choice.payoff.shape[:2]
    if choice.payoff.shape[2:] != leaf.num_private:
        raise ConfigError(f"payoffs at {leaf.label!r} must be for {leaf.num_private} private states")
    assert leaf.pairs is not None
    assert leaf.chance is not None
    pairs, chance = leaf.pairs, leaf.chance
    if num_first == num_second == 1:  # nothing to choose: an ordinary terminal
        value = choice.payoff[0, 0, pairs[0], pairs[1]]
        leaf.payoff = np.stack([value, -value])
        return []
    first, second = choice.chooser, 1 - choice.chooser
    counts = list(leaf.num_private)
    leaf.pairs = leaf.chance = leaf.payoff = None
    leaf.actor, leaf.actions = first, _options(num_first)
    leaf.infosets = _open(leaf.label, counts[first], num_first)
    private, option = (part.ravel().astype(np.int32) for part in np.mgrid[: counts[first], :num_first])
    unseen = Relation(
        private=private, action=option, target=np.arange(private.size, dtype=np.int32), weight=np.ones(private.size)
    )
    waiting = Relation.pick(np.arange(counts[second]))
    counts[first] = private.size
    # a pair's second private state (or first) is now one with a choice
    repeated = np.repeat(pairs, num_first, axis=1)
    chosen = np.tile(np.arange(num_first), pairs.shape[1])
    after = repeated.copy()
    after[first] = repeated[first] * num_first + chosen
    ends = []
    for other in range(num_second):
        value = choice.payoff[chosen, other, repeated[0], repeated[1]]
        ends.append((after.astype(np.int32), np.repeat(chance, num_first), np.stack([value, -value])))
    sizes = (counts[0], counts[1])
    if num_second == 1:
        end = _Node(leaf.state, f"{leaf.label}|chosen", TERMINAL, index, sizes)
        end.relations = (unseen, waiting) if first == 0 else (waiting, unseen)
        end.pairs, end.chance, end.payoff = ends[0]
        return [end]
    answer = _Node(leaf.state, f"{leaf.label}|chosen", second, index, sizes, _options(num_second))
    answer.relations = (unseen, waiting) if first == 0 else (waiting, unseen)
    answer.infosets = _open(answer.label, counts[second], num_second)
    below = []
    for other, (end_pairs, end_chance, end_payoff) in enumerate(ends):
        end = _Node(leaf.state, f"{leaf.label}|chosen {other + 1}", TERMINAL, index + 1, sizes)
        seen, idle = Relation.pick(np.arange(counts[second]), action=other), Relation.pick(np.arange(counts[first]))
        end.relations = (idle, seen) if first == 0 else (seen, idle)
        end.pairs, end.chance, end.payoff = end_pairs, end_chance, end_payoff
        below.append(end)
    return [answer, *below]


def _options(count: int) -> tuple[str, ...]:
    return tuple(f"continuation {number}" for number in range(1, count + 1))


def _open(label: str, num_private: int, num_options: int) -> list[tuple[str, IntArray]]:
    """Returns the information states of a choice."""
    columns = np.arange(num_options, dtype=np.int32)
    return [(f"{label}|choice of {private}", columns) for private in range(num_private)]


def _finish(part: Subtree, nodes: list[_Node], origin: npt.NDArray[np.int64], choices: dict[int, Choice]) -> Subtree:
    """Returns the new tree and its way back."""
    depth = np.zeros(len(nodes), np.int32)
    for index, node in enumerate(nodes[1:], start=1):
        depth[index] = depth[node.parent] + 1
    ends = [node for node in nodes if node.actor == TERMINAL]
    relations = [relation for node in nodes[1:] for relation in node.relations or ()]
    columns = [columns for node in nodes for _, columns in node.infosets]
    empty = np.zeros((2, 0))
    arrays = PublicArrays(
        states=tuple(node.state for node in nodes),
        public_labels=tuple(node.label for node in nodes),
        actor=np.array([node.actor for node in nodes], np.int8),
        parent=np.array([node.parent for node in nodes], np.int32),
        depth=depth,
        num_private=np.array([node.num_private for node in nodes], np.int32),
        num_actions=np.array([len(node.actions) for node in nodes], np.int32),
        action_labels=tuple(node.actions for node in nodes),
        relation_start=starts([0, 0, *(relation.weight.size for relation in relations)]),
        relation_private=join([relation.private for relation in relations], np.int32),
        relation_action=join([relation.action for relation in relations], np.int32),
        relation_target=join([relation.target for relation in relations], np.int32),
        relation_weight=join([relation.weight for relation in relations], np.float64),
        payoff_table=np.arange(len(ends), dtype=np.int32),
        payoff_factor=np.ones(len(ends)),
        payoff_start=starts([0 if node.chance is None else node.chance.size for node in ends]),
        payoff_private=join([empty if node.pairs is None else node.pairs for node in ends], np.int32, axis=1),
        payoff_chance=join([np.zeros(0) if node.chance is None else node.chance for node in ends], np.float64),
        payoff=join([empty if node.payoff is None else node.payoff for node in ends], np.float64, axis=1),
        infoset_start=starts([part.size for part in columns]),
        infoset_labels=tuple(label for node in nodes for label, _ in node.infosets),
        sequence_column=join(columns, np.int32),
    )
    tree = part.tree
    facts = TreeFacts(tree.game_label, tree.num_histories, tree.is_zero_sum, tree.utility_range)
    new_number = np.flatnonzero(origin != Subtree.ADDED)
    grown = assemble_public_tree(
        arrays, facts, landmarks=new_number[np.setdiff1d(tree.landmarks, list(choices)).astype(np.int64)]
    )
    is_known = ~np.isin(grown.infoset_node, np.append(np.flatnonzero(origin == Subtree.ADDED), new_number[part.leaves]))
    infosets = np.full(grown.infoset_node.size, Subtree.ADDED, np.int64)
    infosets[is_known] = part.infosets
    sequences = np.full(grown.sequence_cell.size, Subtree.ADDED, np.int64)
    sequences[np.repeat(is_known, np.diff(grown.infoset_start))] = part.sequences
    whole = np.full(len(nodes), Subtree.ADDED, np.int64)
    whole[new_number] = part.nodes
    return Subtree(
        whole=part.whole,
        tree=grown,
        nodes=whole,
        leaves=np.zeros(0, np.int64),
        infosets=infosets,
        sequences=sequences,
    )
