# SPDX-License-Identifier: Apache-2.0
"""Parts of a public tree as public trees: from any node on, and down to chosen leaves.

A leaf is a node at which the game goes on but the part ends: it is kept as a terminal that pays nothing, with its joint
weights, so that whatever stands for the rest of the game can be put there. Nothing here solves or knows beliefs.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr
from equipoise.games.base import TERMINAL
from equipoise.games.public import NO_ACTION
from equipoise.trees.descendants import Descendants
from equipoise.trees.public import PublicTree, TreeFacts, assemble_public_tree
from equipoise.trees.public_arrays import PublicArrays
from equipoise.trees.public_edges import find_children, trace_back
from equipoise.trees.public_pairs import joint_weights
from equipoise.trees.segments import flatten_ranges, join, starts

__all__ = [
    "Subtree",
    "cut_subtree",
    "find_private_labels",
    "to_arrays",
]

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subtree:
    """A part of a public tree, with the way back. What stands for the rest of the game at leaves may be added to it."""

    ADDED = -1

    whole: PublicTree
    tree: PublicTree  # its root is node 0; leaves are landmarks
    nodes: LongArray  # [N] number in the whole tree of each node
    leaves: LongArray  # nodes of `tree` below which the whole tree goes on
    infosets: LongArray  # [I] number in the whole tree of each information state, ADDED where it has none
    sequences: LongArray  # [S] number in the whole tree of each (information state, action) pair, likewise

    __repr__ = brief_repr

    def restrict(self, strategy: FloatArray) -> FloatArray:
        """Returns `[C]` over this part the whole tree's strategy `[C]`.

        What it did with actions that are left out is spread over the others in proportion, evenly if it did no other.
        """
        whole, tree = self.whole, self.tree
        known, kept_pairs = self.infosets != Subtree.ADDED, self.sequences != Subtree.ADDED
        infosets, sequences = self.infosets[known], self.sequences[kept_pairs]
        num_before, num_legal = np.diff(whole.infoset_start)[infosets], np.diff(tree.infoset_start)[known]
        before = flatten_ranges(whole.infoset_start[infosets], num_before)
        missing = np.where(np.isin(before, sequences), 0.0, strategy[whole.sequence_cell[before]])
        lost = np.bincount(np.repeat(np.arange(num_before.size), num_before), missing, minlength=num_before.size)
        kept = strategy[whole.sequence_cell[sequences]]
        owner = np.repeat(np.arange(num_legal.size), num_legal)
        total = np.bincount(owner, kept, minlength=num_legal.size)
        # where nothing is lost everything stays as it is, to the bit
        factor = np.where(lost > 0, np.divide(1.0, total, out=np.zeros(total.size), where=total > 0), 1.0)
        even = np.where((lost > 0) & (total <= 0), 1.0 / num_legal, 0.0)
        out = tree.legal_share.copy()
        out[tree.sequence_cell[kept_pairs]] = kept * factor[owner] + even[owner]
        return out

    def insert(self, strategy: FloatArray, out: FloatArray, *, players: tuple[int, ...] = (0, 1)) -> None:
        """Overwrites what some players do in this part of a whole strategy `out` `[C]` with `strategy` `[C]`."""
        tree, whole = self.tree, self.whole
        mine = np.isin(tree.infoset_player(), players) & (self.infosets != Subtree.ADDED)
        num_legal = np.diff(whole.infoset_start)[self.infosets[mine]]
        out[whole.sequence_cell[flatten_ranges(whole.infoset_start[self.infosets[mine]], num_legal)]] = 0.0
        chosen = np.repeat(mine, np.diff(tree.infoset_start))
        out[self.whole.sequence_cell[self.sequences[chosen]]] = strategy[tree.sequence_cell[chosen]]


def _find_columns(tree: PublicTree, infosets: LongArray) -> IntArray:
    """Returns the column of each legal action of some information states."""
    count = np.diff(tree.infoset_start)[infosets]
    cells = tree.sequence_cell[flatten_ranges(tree.infoset_start[infosets], count)]
    node = np.repeat(tree.infoset_node[infosets], count)
    columns: IntArray = ((cells - tree.table_start[node]) // tree.stride[node]).astype(np.int32)
    return columns


def to_arrays(tree: PublicTree) -> PublicArrays:
    """Returns a public tree as the arrays that it was laid out from."""
    return PublicArrays(
        states=tree.states,
        public_labels=tree.public_labels,
        actor=tree.actor,
        parent=tree.parent,
        depth=tree.descendants.depth,
        num_private=tree.num_private,
        num_actions=tree.num_actions,
        action_labels=tree.action_labels,
        relation_start=tree.relation_start,
        relation_private=tree.relation_private,
        relation_action=tree.relation_action,
        relation_target=tree.relation_target,
        relation_weight=tree.relation_weight,
        payoff_table=tree.payoff_table,
        payoff_factor=tree.payoff_factor,
        payoff_start=tree.payoff_start,
        payoff_private=tree.payoff_private,
        payoff_chance=tree.payoff_chance,
        payoff=tree.payoff,
        infoset_start=tree.infoset_start,
        infoset_labels=tree.infoset_labels,
        sequence_column=_find_columns(tree, np.arange(tree.infoset_node.size)),
    )


def find_private_labels(tree: PublicTree, node: int, player: int) -> list[str]:
    """Returns `[H]` what a player knows in each private state of a node, as its nearest decision says it.

    Where the player moves that is its information state; else that of its next decision on any way from there, or of
    its last one before; a number where it has none.
    """
    first = int(np.searchsorted(tree.infoset_node, node))
    count = int(tree.num_private[node, player])
    if tree.actor[node] == player:
        return list(tree.infoset_labels[first : first + count])
    labels: dict[int, str] = {}
    pending = [(node, np.arange(count))]
    while pending and len(labels) < count:  # breadth first; each way ends at the player's next decision
        here, origin = pending.pop(0)
        if tree.actor[here] == player:
            below = find_private_labels(tree, here, player)
            for private, label in zip(origin.tolist(), below, strict=True):
                labels.setdefault(private, label)
            continue
        for child in find_children(tree, here).tolist():
            entries = slice(*tree.relation_start[2 * child + player : 2 * child + player + 2].tolist())
            source = np.zeros(int(tree.num_private[child, player]), np.int64)
            source[tree.relation_target[entries]] = tree.relation_private[entries]
            pending.append((child, origin[source]))
    if len(labels) < count and node != 0:
        above = find_private_labels(tree, int(tree.parent[node]), player)
        before, _ = trace_back(tree, node, player)
        for private, came_from in enumerate(before.tolist()):
            labels.setdefault(private, above[came_from])
    return [labels.get(private, str(private)) for private in range(count)]


def cut_subtree(
    tree: PublicTree,
    node: int = 0,
    *,
    leaves: npt.ArrayLike = (),
    without: npt.ArrayLike = (),
    landmarks: npt.ArrayLike = (),
) -> Subtree:
    """Returns the part of a public tree from a node on.

    Args:
        tree: the whole.
        node: where the part begins.
        leaves: nodes of the whole at which it ends; terminals among them, and nodes below others, count for nothing.
        without: nodes of the whole that are left out, with all below and with the actions that lead there.
        landmarks: nodes of the whole whose values will be asked for; leaves always are.
    """
    num_nodes = tree.actor.size
    if not 0 <= node < num_nodes:
        raise ConfigError(f"a node of {tree.game_label} is from 0 to {num_nodes - 1}, got {node}")
    if tree.actor[node] == TERMINAL:
        raise ConfigError(f"the game is over at {tree.public_labels[node]!r}: there is nothing to cut")
    is_leaf = np.zeros(num_nodes, np.bool_)
    is_leaf[np.asarray(leaves, np.int64)] = True
    is_leaf &= tree.actor != TERMINAL
    if is_leaf[node]:
        raise ConfigError(f"the part that begins at {tree.public_labels[node]!r} cannot end there")
    below = tree.descendants
    is_kept = np.zeros(num_nodes, np.bool_)
    is_kept[below.of(node)] = True
    is_leaf &= is_kept
    dropped = np.asarray(without, np.int64)
    dropped = dropped[is_kept[dropped] & (dropped != node)]
    is_gone = np.zeros(num_nodes, np.bool_)
    is_gone[dropped] = True
    is_kept &= ~is_gone & (below.count_above(is_leaf | is_gone) == 0)
    nodes = np.flatnonzero(is_kept)
    rank = np.full(num_nodes, -1, np.int64)
    rank[nodes] = np.arange(nodes.size)
    marked = rank[np.asarray(landmarks, np.int64)]
    kept_leaves = np.flatnonzero(is_leaf[nodes])
    columns = _Columns(tree, dropped[is_kept[tree.parent[dropped]] & ~is_leaf[tree.parent[dropped]]], is_kept)
    arrays, infosets, sequences = _keep_nodes(tree, nodes, is_leaf[nodes], rank, columns)
    facts = TreeFacts(tree.game_label, tree.num_histories, tree.is_zero_sum, tree.utility_range)
    part = assemble_public_tree(arrays, facts, landmarks=np.concatenate([kept_leaves, marked[marked >= 0]]))
    return Subtree(whole=tree, tree=part, nodes=nodes, leaves=kept_leaves, infosets=infosets, sequences=sequences)


class _Columns:
    """The actions of every node's actor, those left out that lead to dropped nodes."""

    def __init__(self, tree: PublicTree, dropped: LongArray, is_kept: npt.NDArray[np.bool_]) -> None:
        self.tree = tree
        self.first = np.cumsum(tree.num_actions) - tree.num_actions
        self.is_kept = np.ones(int(tree.num_actions.sum()), np.bool_)
        for gone in dropped.tolist():
            above = int(tree.parent[gone])
            if tree.actor[above] < 0:
                raise ConfigError(f"{tree.public_labels[gone]!r} cannot be left out: chance leads there, and no action")
            self.is_kept[self.first[above] + self._actions_into(gone)] = False
        for above in np.unique(tree.parent[dropped]).tolist():
            for child in find_children(tree, above).tolist():
                if is_kept[child] and not self.is_kept[self.first[above] + self._actions_into(child)].all():
                    raise ConfigError(
                        f"what leads to {tree.public_labels[child]!r} also leads to a node that is left out"
                    )
        before: LongArray = np.cumsum(self.is_kept) - self.is_kept
        size = self.is_kept.size
        start = before[np.minimum(self.first, size - 1)] if size else np.zeros(self.first.size, np.int64)
        self.rank = before - np.repeat(start, tree.num_actions)  # [columns] new number, where kept
        self.num_kept = np.bincount(
            np.repeat(np.arange(tree.actor.size), tree.num_actions), self.is_kept, minlength=tree.actor.size
        ).astype(np.int32)

    def _actions_into(self, child: int) -> IntArray:
        actor = int(self.tree.actor[self.tree.parent[child]])
        entries = slice(*self.tree.relation_start[2 * child + actor : 2 * child + actor + 2].tolist())
        return np.unique(self.tree.relation_action[entries])

    def renumber(self, node: npt.NDArray[Any], action: IntArray) -> IntArray:
        """Returns the new numbers of actions at nodes; those of players who wait stay what they are."""
        out = action.copy()
        moved = action != NO_ACTION
        out[moved] = self.rank[self.first[node[moved]] + action[moved]]
        return out


def _keep_nodes(
    tree: PublicTree,
    nodes: LongArray,
    is_leaf: npt.NDArray[np.bool_],
    rank: LongArray,
    columns: _Columns,
) -> tuple[PublicArrays, LongArray, LongArray]:
    """Returns the arrays of some nodes, the first of them the root, their information states and the pairs."""
    actor = tree.actor[nodes].copy()
    actor[is_leaf] = TERMINAL
    parent = rank[tree.parent[nodes]].astype(np.int32)
    parent[0] = PublicTree.ROOT

    segments = (2 * nodes[:, None] + np.arange(2)).ravel()
    num_entries = np.diff(tree.relation_start)[segments]
    num_entries[:2] = 0
    entry = flatten_ranges(tree.relation_start[segments], num_entries)

    is_decision = tree.actor >= 0
    per_node = np.where(is_decision, tree.num_private[np.arange(tree.actor.size), np.maximum(tree.actor, 0)], 0)
    first_infoset = np.cumsum(per_node) - per_node
    decisions = nodes[actor >= 0]
    infosets = flatten_ranges(first_infoset[decisions], per_node[decisions])
    num_legal = np.diff(tree.infoset_start)[infosets]
    sequences = flatten_ranges(tree.infoset_start[infosets], num_legal)
    column, owner = _find_columns(tree, infosets), np.repeat(np.arange(infosets.size), num_legal)
    is_left = columns.is_kept[columns.first[tree.infoset_node[infosets[owner]]] + column]
    sequences, column, owner = sequences[is_left], column[is_left], owner[is_left]
    num_legal = np.bincount(owner, minlength=infosets.size)
    if (num_legal == 0).any():
        label = tree.infoset_labels[int(infosets[np.argmin(num_legal)])]
        raise ConfigError(f"nothing would be left to do at {label!r}")
    above = np.repeat(tree.parent[segments // 2], num_entries)
    pairs, chance, payoff = _keep_payoffs(tree, nodes[actor == TERMINAL], is_leaf[actor == TERMINAL])
    kept = PublicArrays(
        states=tuple([tree.states[node] for node in nodes.tolist()]),
        public_labels=tuple([tree.public_labels[node] for node in nodes.tolist()]),
        actor=actor,
        parent=parent,
        depth=Descendants(parent).depth,
        num_private=np.ascontiguousarray(tree.num_private[nodes]),
        num_actions=np.where(actor >= 0, columns.num_kept[nodes], 0).astype(np.int32),
        action_labels=tuple(
            [
                ()
                if leaf
                else tuple(itertools.compress(tree.action_labels[node], columns.is_kept[columns.first[node] :]))
                for node, leaf in zip(nodes.tolist(), is_leaf, strict=True)
            ]
        ),
        relation_start=starts(num_entries),
        relation_private=tree.relation_private[entry],
        relation_action=columns.renumber(above, tree.relation_action[entry]),
        relation_target=tree.relation_target[entry],
        relation_weight=tree.relation_weight[entry],
        payoff_table=np.arange(len(chance), dtype=np.int32),
        payoff_factor=np.ones(len(chance)),
        payoff_start=starts([part.size for part in chance]),
        payoff_private=join(pairs, np.int32, axis=1),
        payoff_chance=join(chance, np.float64),
        payoff=join(payoff, np.float64, axis=1),
        infoset_start=starts(num_legal),
        infoset_labels=tuple([tree.infoset_labels[infoset] for infoset in infosets.tolist()]),
        sequence_column=columns.renumber(tree.infoset_node[infosets[owner]], column),
    )
    return kept, infosets, sequences


def _keep_payoffs(
    tree: PublicTree, ends: LongArray, is_leaf: npt.NDArray[np.bool_]
) -> tuple[list[IntArray], list[FloatArray], list[FloatArray]]:
    """Returns pairs, joint weights and payoffs of a part's terminals, leaves among them with payoffs of zero."""
    terminal = np.cumsum(tree.actor == TERMINAL) - 1
    pairs, chance, payoff = [], [], []
    for node, leaf in zip(ends.tolist(), is_leaf.tolist(), strict=True):
        if leaf:
            weights = joint_weights(tree, node)
            possible = np.argwhere(weights != 0.0).T
            pairs.append(possible.astype(np.int32))
            chance.append(weights[possible[0], possible[1]])
            payoff.append(np.zeros((2, possible.shape[1])))
            continue
        found_pairs, found_chance, found_payoff = tree.pairs_at(int(terminal[node]))
        pairs.append(found_pairs)
        chance.append(found_chance)
        payoff.append(found_payoff)
    return pairs, chance, payoff
