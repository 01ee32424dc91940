# SPDX-License-Identifier: Apache-2.0
"""Payoff ranges of hands at decisions of hold'em trees.

The same numbers as `payoff_ranges` finds in a history tree: only what a hand may meet counts, so that one that loses to
nobody has a smaller range than others at the same decision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.cards import FULL_DECK
from equipoise.kernels.holdem.arrays import TILE, BoardFields, HoldemArrays, StreetFields
from equipoise.kernels.holdem.sweeps import TableArray
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["count_ends", "fill_ranges"]

FloatArray = npt.NDArray[np.float64]
Pair = tuple[FloatArray, FloatArray]
Weigh = Callable[[FloatArray, FloatArray, int], FloatArray]


def fill_ranges(tree: HoldemTree, weigh: Weigh, out: TableArray) -> None:
    """Fills `out` `[R]` with what `weigh` makes of payoff ranges.

    Args:
        tree: what is played.
        weigh: takes ranges `[H]` of a decision; the chances `[H]` of the own hand and of the cards dealt, which values
            of a history tree have and those of hold'em trees lack; and the number of actions.
        out: in the order of a table's rows.
    """
    walk = _RangeWalk(tree, weigh, out)
    # of the own hand, here given that hands share no card
    pairs = float(tree.spot.live_weights(0).sum() * tree.spot.live_weights(1).sum()) / tree.pair_weight
    first, second = (
        pairs * np.pad(reach[: hands.size], (0, reach.size - hands.size), mode="edge")
        for reach, hands in zip(tree.arrays.root_reach, tree.hands[0], strict=True)
    )
    walk.visit(0, (first, second))


class _Bounds(NamedTuple):
    """Largest and smallest payoffs of hands, `[slots, H]`; -inf and inf where no other hand is met."""

    high: FloatArray
    low: FloatArray

    @classmethod
    def of_nothing(cls, num_slots: int, num_hands: int) -> _Bounds:
        return cls(np.full((num_slots, num_hands), -np.inf), np.full((num_slots, num_hands), np.inf))

    def widen(self, slot: int, high: FloatArray, low: FloatArray) -> None:
        """Takes in payoffs `[H]` below a slot, in place."""
        np.maximum(self.high[slot], high, out=self.high[slot])
        np.minimum(self.low[slot], low, out=self.low[slot])


class _Betting(NamedTuple):
    """A street's betting as one player sees it."""

    num_lines: int
    num_slots: int
    nodes: list[list[int]]  # first cell, number of actions, slot
    flats: list[tuple[int, float, float]]  # slot, scale, rake in stakes; without padding
    folds: list[tuple[int, float]]  # slot, chips won


def count_ends(tree: HoldemTree, street: int) -> tuple[int, int]:
    """Returns how many flats and folds a street has, without padding; streets are counted from the root's."""
    first = tree.betting.root.state.street
    kinds = [node.kind for node in tree.betting.nodes if node.state.street - first == street]
    num_folds = kinds.count(NodeKind.FOLD)
    return len(kinds) - num_folds - kinds.count(NodeKind.DECISION), num_folds


def _see_streets(tree: HoldemTree) -> list[tuple[_Betting, _Betting]]:
    """Returns the betting of each street by player, read from the arrays."""
    arrays, streets = tree.arrays, []
    next_node, next_flat, next_fold = 0, 0, 0
    for street, row in enumerate(arrays.streets.tolist()):
        fields = StreetFields(*row)
        num_flats, num_folds = count_ends(tree, street)
        rake = arrays.flat_rake if fields.is_last and arrays.flat_rake.size else np.zeros(num_flats)
        seen = []
        for num_cells, num_nodes in zip(fields.num_cells, fields.num_nodes, strict=True):
            flats, folds = slice(next_flat, next_flat + num_flats), slice(next_fold, next_fold + num_folds)
            flat_columns = arrays.flat_slot[flats], arrays.flat_scale[flats], rake[:num_flats]
            fold_columns = arrays.fold_slot[folds], arrays.fold_scale[folds]
            seen.append(
                _Betting(
                    fields.num_lines,
                    fields.num_lines + num_cells,
                    arrays.nodes[next_node : next_node + num_nodes].tolist(),
                    list(zip(*(column.tolist() for column in flat_columns), strict=True)),
                    list(zip(*(column.tolist() for column in fold_columns), strict=True)),
                )
            )
            next_node += num_nodes
            next_flat += fields.flat_packs * TILE
            next_fold += fields.fold_packs * TILE
        streets.append((seen[0], seen[1]))
    return streets


class _RangeWalk:
    """Fills the rows of all boards, each after those that follow it."""

    def __init__(self, tree: HoldemTree, weigh: Weigh, out: TableArray) -> None:
        self.arrays, self.weigh, self.out = tree.arrays, weigh, out
        self.boards = [BoardFields(*row) for row in self.arrays.boards.tolist()]
        self.streets = _see_streets(tree)
        counts = self.arrays.node_rows
        self.first_row = np.cumsum(counts).reshape(counts.shape) - counts

    def visit(self, index: int, chances: Pair) -> tuple[_Bounds, _Bounds]:
        """Fills the rows of a board and of those that follow; returns the bounds of its slots by player.

        Args:
            index: of the board.
            chances: `[rows]` by player, of each hand and of the cards dealt.
        """
        board = self.boards[index]
        street = self.streets[board.street]
        sides, num_hands = _sides(board), board.num_hands
        first, second = (
            _Bounds.of_nothing(street[player].num_slots, sides[player].stop - sides[player].start) for player in (0, 1)
        )
        later = self.visit_children(board, chances) if board.street + 1 < len(self.streets) else None
        for player, bounds in enumerate((first, second)):
            meets, outcome = _compare(self.arrays, sides[player], sides[1 - player], num_hands[1 - player])
            for slot, won in street[player].folds:
                bounds.widen(slot, np.where(meets, won, -np.inf), np.where(meets, won, np.inf))
            for line, (slot, scale, rake) in enumerate(street[player].flats):
                if later is not None:
                    bounds.widen(slot, later[player].high[line], later[player].low[line])
                else:
                    bounds.widen(slot, scale * (outcome.high[0] - rake), scale * (outcome.low[0] - rake))
            self.fill(index, player, bounds, chances[player])
        return first, second

    def visit_children(self, board: BoardFields, chances: Pair) -> tuple[_Bounds, _Bounds]:
        """Returns by player the bounds `[lines, H]` of the lines that enter the boards that follow."""
        sides, below = _sides(board), self.streets[board.street + 1]
        sums = [_Bounds.of_nothing(below[player].num_lines, chances[player].size) for player in (0, 1)]
        flats = self.streets[board.street][0].flats
        chance = flats[0][1] if flats else 1.0  # no line goes on: what follows does not count
        for child in range(board.first_child, board.first_child + board.num_children):
            rows = [self.arrays.parent_row[side] for side in _sides(self.boards[child])]
            found = self.visit(child, (chance * chances[0][rows[0]], chance * chances[1][rows[1]]))
            for player, bounds in enumerate(found):
                # no hand but the last stands in several rows, and padding repeats its bounds
                for kept, new, widest in zip(sums[player], bounds, (np.maximum, np.minimum), strict=True):
                    kept[:, rows[player]] = widest(kept[:, rows[player]], new[: below[player].num_lines])
        for player in (0, 1):
            # boards that were merged into others bring a hand what they bring the others of its orbit
            first_row = self.arrays.value_row[sides[player]]
            for kept, widest in zip(sums[player], (np.maximum, np.minimum), strict=True):
                for line in kept:
                    widest.at(line, first_row, line.copy())
                kept[:] = kept[:, first_row]
        return sums[0], sums[1]

    def fill(self, index: int, player: int, bounds: _Bounds, chances: FloatArray) -> None:
        """Fills a side's rows from the bounds of its slots where betting ends; widens the other slots in place."""
        betting = self.streets[self.boards[index].street][player]
        rows = np.empty((chances.size // TILE, len(betting.nodes), TILE))
        for node in range(len(betting.nodes) - 1, -1, -1):
            first_cell, num_actions, slot = betting.nodes[node]
            actions = slice(betting.num_lines + first_cell, betting.num_lines + first_cell + num_actions)
            high, low = bounds.high[actions].max(axis=0), bounds.low[actions].min(axis=0)
            bounds.widen(slot, high, low)
            ranges = np.maximum(high - low, 0.0)  # no other hand is met: -inf - inf
            rows[:, node] = self.weigh(ranges, chances, num_actions).reshape(-1, TILE)
        first = self.first_row[index, player]
        self.out[first : first + rows.size] = rows.ravel()


def _sides(board: BoardFields) -> tuple[slice, slice]:
    """Returns by player where the arrays over hands keep a board's, padding included."""
    counts = (board.first_hand_0, board.num_hands_0), (board.first_hand_1, board.num_hands_1)
    first, second = (slice(start, start + -(-size // TILE) * TILE) for start, size in counts)
    return first, second


def _compare(arrays: HoldemArrays, own: slice, other: slice, num_others: int) -> tuple[npt.NDArray[np.bool_], _Bounds]:
    """Returns `[rows]` whether hands meet another one, and the bounds `[1, rows]` of showdowns in stakes.

    Args:
        arrays: of the tree.
        own: hands of a player on a board, padding included.
        other: those of the other player there.
        num_others: of these, without padding.
    """
    cards, strength = arrays.cards[own], arrays.strength[own]
    others = slice(other.start, other.start + num_others)
    # how many of the first so many other hands hold a card
    holders = np.zeros((num_others + 1, FULL_DECK.num_cards), np.int32)
    for column in (0, 1):
        holders[np.arange(1, num_others + 1), arrays.cards[others, column]] = 1
    np.cumsum(holders, axis=0, out=holders)

    def count(end: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Returns how many of the first other hands share no card; the same cards are subtracted twice."""
        counted: npt.NDArray[np.int64] = end - holders[end, cards[:, 0]] - holders[end, cards[:, 1]]
        return counted

    sorted_strength = arrays.strength[others]  # in order on the last street, all the same on others
    weaker = count(np.searchsorted(sorted_strength, strength, side="left"))
    not_stronger = count(np.searchsorted(sorted_strength, strength, side="right")) + (arrays.same_hand[own] >= 0)
    everybody = count(np.full(strength.size, num_others)) + (arrays.same_hand[own] >= 0)
    met = (weaker > 0, 1.0), (not_stronger > weaker, 0.0), (everybody > not_stronger, -1.0)
    outcome = _Bounds.of_nothing(1, strength.size)
    for is_met, result in met:
        outcome.widen(0, np.where(is_met, result, -np.inf), np.where(is_met, result, np.inf))
    return everybody > 0, outcome
