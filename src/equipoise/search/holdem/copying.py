# SPDX-License-Identifier: Apache-2.0
"""What a strategy of hold'em plays in a part of its betting, copied into the table of that part's own tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.isomorphism import hand_permutation
from equipoise.kernels.holdem.arrays import TILE
from equipoise.trees.holdem.places import HoldemPlace, HoldemStrategy
from equipoise.trees.holdem.tree import HoldemTree
from equipoise.trees.vector import TreeStrategy

__all__ = ["copy_strategy"]

SingleArray = npt.NDArray[np.float32]


def copy_strategy(policy: HoldemStrategy, tree: HoldemTree, outer: Mapping[int, int]) -> SingleArray:
    """Returns `[C]` over a part's tree what a policy's hands play in proportion to.

    Args:
        policy: of the whole.
        tree: of the part; no suits are merged in it.
        outer: the decision of the policy's betting that each of the part's decisions is; others stay uniform.
    """
    sums = np.zeros(tree.arrays.num_cells, np.float32)
    source, table = policy.tree, policy.sums if isinstance(policy, TreeStrategy) else None
    if isinstance(source, HoldemTree) and isinstance(table, np.ndarray):
        _copy_rows(source, table, tree, outer, sums)
        return sums
    for index, board in enumerate(tree.boards):
        street = tree.arrays.board(index).street
        for inner, whole in outer.items():
            decision = tree.decisions[inner]
            if decision.street == street:
                rows = tree.hands[index][decision.player]
                sums[tree.cells(index, inner)] = policy.probabilities(HoldemPlace(whole, board))[rows]
    return sums


def _copy_rows(
    source: HoldemTree,
    table: npt.NDArray[Any],
    tree: HoldemTree,
    outer: Mapping[int, int],
    out: npt.NDArray[np.float32],
) -> None:
    """Copies the rows of a larger tree's table into `out` `[C]`, all decisions of a board and player at once.

    A board of turn and river has thousands of decisions: one by one they would take longer than the search.
    """
    groups: dict[tuple[int, int], list[int]] = {}
    for inner in outer:
        groups.setdefault((tree.decisions[inner].street, tree.decisions[inner].player), []).append(inner)
    for index, board in enumerate(tree.boards):
        place, relabelling = source.locate(board)
        there = hand_permutation(relabelling, tree.spot.deck)
        for player in (0, 1):
            inside = groups.get((tree.arrays.board(index).street, player))
            if not inside:
                continue
            rank = np.full(tree.spot.deck.num_hands, -1)
            rank[source.hands[place][player]] = np.arange(source.hands[place][player].size)
            rows = rank[there[tree.hands[index][player]]]
            known = rows >= 0
            pairs = (tree, index, inside), (source, place, [outer[inner] for inner in inside])
            to, origin = (_locate_rows(*one) for one in pairs)
            out[to.first[known][:, None] + to.steps] = table[origin.first[rows[known]][:, None] + origin.steps]


class _Rows(NamedTuple):
    """Where a table keeps some decisions of a board's player: the first cell of each hand, and steps from there."""

    first: npt.NDArray[np.int64]  # [H]
    steps: npt.NDArray[np.int64]  # [actions of all]


def _locate_rows(tree: HoldemTree, board: int, nodes: Sequence[int]) -> _Rows:
    decisions = [tree.decisions[node] for node in nodes]
    first = tree.cells(board, nodes[0])[:, 0] - TILE * decisions[0].first_cell
    columns = [decision.first_cell + np.arange(decision.num_actions) for decision in decisions]
    return _Rows(first, TILE * np.concatenate(columns))
