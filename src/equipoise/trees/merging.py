# SPDX-License-Identifier: Apache-2.0
"""Trees in which players cannot tell some of their information sets apart: abstract games, of best responses and CFR.

Histories, chance and payoffs stay as they are; only information sets and sequences are numbered anew, so that every
solver, kernel and linear program of history trees works on the result. What is merged must leave perfect recall.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr
from equipoise.trees.history import HistoryTree, check_tree, order_forests
from equipoise.trees.segments import flatten_ranges

__all__ = ["MergedTree", "group_infosets", "merge_infosets"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MergedTree:
    """A tree with merged information sets, and how it is numbered.

    >>> from equipoise.games import make_game
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> merged = merge_infosets(tree, np.arange(tree.size.num_infosets))
    >>> coarse = CFRSolver(merged.tree).average_strategy()
    >>> merged.lift(coarse).size == tree.size.num_sequences
    True
    """

    full: HistoryTree  # the tree that it was made from
    tree: HistoryTree
    sequence_map: IntArray  # [Q of full] sequence of `tree` that stands for each

    __repr__ = brief_repr

    def lift(self, strategy: FloatArray) -> FloatArray:
        """Returns `[Q of full]` a strategy of the merged tree, played at every information set that was merged."""
        lifted: FloatArray = strategy[self.sequence_map]
        return lifted

    def lower(self, strategy: FloatArray) -> FloatArray:
        """Returns `[Q of tree]` a strategy of the full tree; where sets were merged, that of the last one."""
        out = np.ones(int(self.tree.sequence_start[-1]))
        out[self.sequence_map] = strategy
        return out


def group_infosets(tree: HistoryTree, key: Callable[[int, str], Hashable]) -> IntArray:
    """Returns `[I]` a number for each information set, the same where `key(player, label)` is the same."""
    numbers: dict[Hashable, int] = {}
    keys = zip(tree.infoset_player().tolist(), tree.infoset_labels, strict=True)
    return np.array([numbers.setdefault(key(player, label), len(numbers)) for player, label in keys], np.int32)


def merge_infosets(tree: HistoryTree, groups: npt.ArrayLike, *, players: tuple[int, ...] | None = None) -> MergedTree:
    """Returns a tree whose players cannot tell information sets of one group apart.

    Args:
        tree: the game.
        groups: `[I]` the number of each information set's group; groups are merged player by player.
        players: whose information sets are merged; all players' if None.

    Raises:
        ConfigError: sets of a group have other actions, or were reached by other moves of their owner, even when those
            are merged (imperfect recall).

    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> groups = np.arange(tree.size.num_infosets)  # every information set in a group of its own
    >>> merge_infosets(tree, groups).tree.size.num_infosets
    12
    """
    check_tree(tree, HistoryTree)
    group = np.asarray(groups)
    if group.shape != tree.num_actions.shape or group.dtype.kind not in "iu":
        raise ConfigError(
            f"a merging of {tree.game_label} needs one whole number for each of its {tree.num_actions.size} "
            f"information sets, got shape {group.shape} of {group.dtype}"
        )
    owner = tree.infoset_player()
    apart = np.zeros(group.size, bool) if players is None else ~np.isin(owner, players)
    keys = np.stack([owner, np.where(apart, np.arange(group.size), group), apart], axis=1)
    _, first_member, member_of = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    representative = first_member[member_of.ravel()]

    sequences = flatten_ranges(tree.first_sequence, tree.num_actions)
    stands_for = np.arange(int(tree.sequence_start[-1]))  # sequence of the representative, in the full numbering
    _check_actions(tree, representative)
    stands_for[sequences] = flatten_ranges(tree.first_sequence[representative], tree.num_actions)
    above = stands_for[tree.parent_sequence]
    _check_recall(tree, representative, above)

    kept = np.flatnonzero(representative == np.arange(group.size))
    order, sizes = order_forests(
        above[kept].tolist(),
        tree.first_sequence[kept].tolist(),
        tree.num_actions[kept].tolist(),
        tree.sequence_start[:-1].tolist(),
    )
    chosen = kept[order]
    counts, players_of = tree.num_actions[chosen], owner[chosen]
    new_infoset = np.zeros(group.size, np.int32)
    new_infoset[chosen] = np.arange(chosen.size, dtype=np.int32)
    new_infoset = new_infoset[representative]
    first_sequence = (np.cumsum(counts) - counts + players_of + 1).astype(np.int32)
    sequence_start = np.zeros(tree.num_players + 1, np.int32)
    sequence_start[1:] = np.cumsum(1 + np.bincount(players_of, weights=counts, minlength=tree.num_players))
    renumber = np.zeros(stands_for.size, np.int32)
    renumber[tree.sequence_start[:-1]] = sequence_start[:-1]
    chosen_sequences = flatten_ranges(tree.first_sequence[chosen], counts)
    renumber[chosen_sequences] = flatten_ranges(first_sequence, counts)
    sequence_map = renumber[stands_for]

    labels = [""] * int(sequence_start[-1])
    for new, old in zip(renumber[chosen_sequences].tolist(), chosen_sequences.tolist(), strict=True):
        labels[new] = tree.sequence_labels[old]
    action_class = np.empty(int(sequence_start[-1]), np.int8)
    action_class[sequence_map] = tree.action_class
    merged = dataclasses.replace(
        tree,
        infoset=np.where(tree.infoset >= 0, new_infoset[tree.infoset], HistoryTree.NO_INFOSET).astype(np.int32),
        terminal_sequence=sequence_map[tree.terminal_sequence],
        infoset_start=np.searchsorted(players_of, np.arange(tree.num_players + 1)).astype(np.int32),
        sequence_start=sequence_start,
        first_sequence=first_sequence,
        num_actions=counts,
        parent_sequence=renumber[above[chosen]],
        infoset_end=np.arange(chosen.size, dtype=np.int32) + np.array(sizes, np.int32),
        infoset_labels=tuple(tree.infoset_labels[infoset] for infoset in chosen),
        sequence_labels=tuple(labels),
        action_class=action_class,
    )
    return MergedTree(full=tree, tree=merged, sequence_map=sequence_map)


def _check_actions(tree: HistoryTree, representative: npt.NDArray[np.int64]) -> None:
    for infoset, other in enumerate(representative.tolist()):
        if infoset == other:
            continue
        names, expected = (_action_names(tree, index) for index in (infoset, other))
        if names != expected:
            raise ConfigError(
                f"{tree.infoset_labels[other]!r} and {tree.infoset_labels[infoset]!r} cannot be merged: their actions "
                f"are {', '.join(expected)} and {', '.join(names)}"
            )


def _action_names(tree: HistoryTree, infoset: int) -> tuple[str, ...]:
    first = tree.first_sequence[infoset]
    return tree.sequence_labels[first : first + tree.num_actions[infoset]]


def _check_recall(tree: HistoryTree, representative: npt.NDArray[np.int64], above: npt.NDArray[np.int64]) -> None:
    differ = np.flatnonzero(above != above[representative])
    if differ.size:
        infoset = int(differ[0])
        raise ConfigError(
            f"{tree.infoset_labels[representative[infoset]]!r} and {tree.infoset_labels[infoset]!r} cannot be merged: "
            "their owner came there by moves that are not merged (perfect recall is needed)"
        )
