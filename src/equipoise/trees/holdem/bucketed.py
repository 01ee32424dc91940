# SPDX-License-Identifier: Apache-2.0
"""Hold'em whose hands share strategies: the betting of each street once, and a row of the tables for each bucket.

Boards are not listed. A runout (the board cards of one hand, street by street) is laid out when it is wanted, with the
bucket of every hand that it leaves; solvers draw runouts, or list them where the deck is small.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.betting_tree import BettingTree, betting_tree
from equipoise.games.holdem.cards import format_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.strength import evaluate_boards
from equipoise.kernels.arithmetic import dot
from equipoise.kernels.holdem.arrays import TILE
from equipoise.kernels.holdem.sampling import RunoutArrays, StreetArrays
from equipoise.kernels.holdem.sweeps import TableArray
from equipoise.trees.holdem.places import HoldemPlace, HoldemPlaces
from equipoise.trees.holdem.tree import Decision, HoldemTree, StreetForest, plant_street
from equipoise.trees.vector import CellTable

__all__ = ["BucketAssigner", "BucketedTree", "Rows", "build_bucketed_tree"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

SidePair = tuple[int, int]  # one number for each player


class BucketAssigner(Protocol):
    """Which hands play alike. Cards come as they are dealt, the flop in ascending order."""

    def num_buckets(self, street: Street) -> int:
        """Returns how many buckets a street has."""
        ...

    def assign(self, board: Sequence[int]) -> npt.NDArray[np.integer]:
        """Returns `[H]` the bucket of every hand of the deck on a board; what blocked hands get is not read."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Where tables keep the rows of each street and player: tiles of rows by cells, rows innermost."""

    first_cell: tuple[SidePair, ...]
    num_rows: tuple[SidePair, ...]  # whole tiles
    num_cells: int  # numbers in one table

    @classmethod
    def lay_out(cls, arrays: StreetArrays, num_rows: Sequence[int]) -> Rows:
        """Returns the places of so many rows on each street, the same for both players."""
        first, rows, total = [], [], 0
        for street, count in enumerate(num_rows):
            padded = -(-count // TILE) * TILE
            sizes = [padded * cells for cells in arrays.street(street).num_cells]
            first.append((total, total + sizes[0]))
            rows.append((padded, padded))
            total += sum(sizes)
        return cls(first_cell=tuple(first), num_rows=tuple(rows), num_cells=total)


@dataclasses.dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BucketedTree(HoldemPlaces):
    r"""A spot whose hands play by bucket.

    >>> from equipoise.abstraction import Percentile, build_buckets
    >>> from equipoise.runs import load_spot
    >>> text = "deck = 'royal'\nboard = 'AsKsThQd'\npot = 4\nstacks = 4\nranges = {oop = 'JJ, AT', ip = 'QQ, KJ'}"
    >>> spot = load_spot(text).spot
    >>> tree = build_bucketed_tree(spot, build_buckets(Percentile(), spot.deck, sizes=(None, 4, 4, 4)))
    >>> len(tree.decisions), len(tree.cards_left)
    (8, 16)
    """

    spot: HoldemSpot
    betting: BettingTree
    streets: tuple[Street, ...]  # that are played
    assigner: BucketAssigner
    arrays: StreetArrays
    decisions: dict[int, Decision]  # by index of the betting tree
    rows: Rows
    hands: IntArray  # [H] numbers of the hands that some range holds; the rows of the first board
    reach: tuple[FloatArray, FloatArray]  # [rows] weights of each range, in sum 1
    pair_chance: float  # that two hands drawn from the ranges share no card

    __repr__ = brief_repr

    @property
    def cards_left(self) -> tuple[int, ...]:
        """Returns the cards from which runouts are dealt."""
        return tuple(card for card in self.spot.deck.cards if card not in self.spot.board)

    @property
    def num_runout_cards(self) -> int:
        """Returns how many cards a runout has."""
        return self.streets[-1].num_board_cards - len(self.spot.board)

    @property
    def num_runouts(self) -> int:
        """Returns how many runouts there are, the cards of a flop in any order being one."""
        count, num_left = 1, len(self.cards_left)
        for size in self._deal_sizes():
            count *= math.comb(num_left, size)
            num_left -= size
        return count

    def list_runouts(self) -> Iterator[tuple[int, ...]]:
        """Yields the cards of every runout, all as likely when no hand is known."""
        yield from self._extend((), self._deal_sizes())

    def sort_runout(self, cards: Sequence[int]) -> tuple[int, ...]:
        """Returns cards as they are dealt, those of the flop in ascending order."""
        sizes = self._deal_sizes()
        starts = itertools.accumulate(sizes, initial=0)
        return tuple(card for start, size in zip(starts, sizes, strict=False) for card in sorted(cards[start:][:size]))

    def boards(self, cards: Sequence[int]) -> list[tuple[int, ...]]:
        """Returns the board of each street of a runout."""
        board = (*self.spot.board, *cards)
        return [board[: street.num_board_cards] for street in self.streets]

    def lay_out(self, cards: Sequence[int]) -> RunoutArrays:
        """Returns a runout as sweeps read it, every hand with the row of its bucket."""
        boards = self.boards(cards)
        numbers = self.live_hands(boards)
        buckets = [self.buckets(board)[here] for board, here in zip(boards, numbers, strict=True)]
        return self.arrange(boards, numbers, [(rows, rows) for rows in buckets], self.rows)

    def live_hands(self, boards: Sequence[tuple[int, ...]]) -> list[IntArray]:
        """Returns the hands that each board leaves, weakest first on the last street."""
        all_hands = hands_of(self.spot.deck)
        numbers = [self.hands[~all_hands.blocked(board)[self.hands]] for board in boards]
        strength = evaluate_boards([boards[-1]], self.spot.deck)[0]
        numbers[-1] = numbers[-1][np.argsort(strength[numbers[-1]], kind="stable")]
        return numbers

    def arrange(
        self,
        boards: Sequence[tuple[int, ...]],
        numbers: Sequence[IntArray],
        table_rows: Sequence[tuple[IntArray, IntArray]],
        rows: Rows,
    ) -> RunoutArrays:
        """Returns a runout as sweeps read it.

        Args:
            boards: one for each street.
            numbers: by street, from `live_hands`.
            table_rows: by street and player, the row of each hand.
            rows: where the tables keep them.
        """
        all_hands = hands_of(self.spot.deck)
        row_of = np.zeros(all_hands.num_hands, np.int32)
        strength = evaluate_boards([boards[-1]], self.spot.deck)[0].astype(np.int32)
        cards, strengths, parent_rows = [], [], []
        for street, here in enumerate(numbers):
            padded = _pad_rows(here)
            cards.append(all_hands.cards[padded])
            strengths.append(strength[padded] if street == len(numbers) - 1 else np.zeros(padded.size, np.int32))
            parent_rows.append(row_of[padded])
            row_of[here] = np.arange(here.size)
        return RunoutArrays(
            num_hands=tuple(here.size for here in numbers),
            cards=tuple(cards),
            strength=tuple(strengths),
            parent_row=tuple(parent_rows),
            table_row=tuple((_pad_rows(first), _pad_rows(second)) for first, second in table_rows),
            first_cell=rows.first_cell,
            num_table_rows=rows.num_rows,
        )

    def buckets(self, board: tuple[int, ...]) -> IntArray:
        """Returns `[H]` the bucket of every hand on a board, -1 where the board blocks it; checks the assigner."""
        street = next(street for street in Street if street.num_board_cards == len(board))
        is_blocked = hands_of(self.spot.deck).blocked(board)
        buckets = np.where(is_blocked, np.int32(-1), self.assigner.assign(board).astype(np.int32))
        live = buckets[~is_blocked]
        num_buckets = self.assigner.num_buckets(street)
        if live.min() < 0 or live.max() >= num_buckets:
            raise ConfigError(
                f"buckets of {street.name.lower()} hands must be 0 to {num_buckets - 1}, "
                f"got {live.min()} to {live.max()} on board {format_board(board)}"
            )
        return buckets

    def rows_at(self, sums: CellTable, place: HoldemPlace) -> FloatArray:
        """Returns `[H, A]` at a decision on any board the numbers of each hand's bucket in a table `[C]`."""
        buckets = self.buckets(place.board)
        numbers: FloatArray = self._sums(sums, self.decisions[place.node])[buckets]
        numbers[buckets < 0] = 0.0
        return numbers

    def normalize(self, table: TableArray, node: int, board: Sequence[int]) -> FloatArray:
        """Returns `[H, A]` what every hand of the deck plays at a decision on a board: its bucket's shares of a table.

        Rows of hands that the board blocks are 0.
        """
        decision = self.decisions[node]
        if len(board) != self.streets[decision.street].num_board_cards:
            raise ConfigError(f"betting node {node} is not on the street of board {format_board(board)}")
        buckets = self.buckets(tuple(board))
        return np.where(buckets[:, None] < 0, 0.0, self._shares(table, decision)[buckets])

    def bucket_strategy(self, table: TableArray, node: int) -> FloatArray:
        """Returns `[buckets, A]` what each bucket plays at a decision, uniformly where a table has nothing."""
        decision = self.decisions[node]
        num_buckets = self.assigner.num_buckets(self.streets[decision.street])
        return self._shares(table, decision)[:num_buckets]

    def count_rows(self, table: TableArray) -> int:
        """Returns at how many (decision, bucket) pairs a table has some positive number."""
        return sum(int((self._sums(table, decision) > 0).any(axis=1).sum()) for decision in self.decisions.values())

    def lift(self, table: TableArray, tree: HoldemTree) -> TableArray:
        """Returns `[C]` a table of a tree of the same spot in which every hand plays as its bucket does here.

        It has the dtype of the one given. Suits that the tree merges should be merged by the assigner too: boards that
        share one play as that one does.
        """
        shares = {node: self._shares(table, decision) for node, decision in self.decisions.items()}
        return self._spread(shares, tree, table.dtype)

    def lift_sums(self, table: TableArray, tree: HoldemTree) -> TableArray:
        """Returns what `lift` does, in which every hand has its bucket's numbers as they are."""
        sums = {node: self._sums(table, decision) for node, decision in self.decisions.items()}
        return self._spread(sums, tree, table.dtype)

    def _spread(self, rows: dict[int, FloatArray], tree: HoldemTree, dtype: npt.DTypeLike) -> TableArray:
        """Returns `[C]` a table of a tree from `[buckets, A]` by decision."""
        if tree.decisions != self.decisions or tree.spot.deck != self.spot.deck:
            raise ConfigError("a bucketed strategy is lifted to a tree of the same betting and the same deck")
        out = np.zeros(tree.arrays.num_cells, dtype)
        for index, board in enumerate(tree.boards):
            street, buckets = self._street_index(board), self.buckets(board)
            for node, decision in self.decisions.items():
                if decision.street == street:
                    hands = tree.hands[index][decision.player]
                    out[tree.cells(index, node)] = rows[node][buckets[hands]]
        return out

    def mean_value(self, player: int, values: FloatArray) -> float:
        """Returns chips per hand from a player's counterfactual values `[rows]` at the root."""
        return dot(self.reach[player], values) / self.pair_chance

    def _shares(self, table: TableArray, decision: Decision) -> FloatArray:
        """Returns `[buckets, A]` what each bucket plays at a decision, uniformly where a table has nothing."""
        sums = np.maximum(self._sums(table, decision), 0.0)
        totals = sums.sum(axis=1, keepdims=True)
        shares: FloatArray = np.full(sums.shape, 1.0 / decision.num_actions)
        np.divide(sums, totals, out=shares, where=totals > 0)
        return shares

    def _sums(self, table: CellTable, decision: Decision) -> FloatArray:
        """Returns `[buckets, A]` a table's numbers at a decision, padding included."""
        sums: FloatArray = table[self._cells(decision)].astype(np.float64)
        return sums

    def cells(self, node: int) -> npt.NDArray[np.int64]:
        """Returns `[buckets, A]` where tables keep a decision of the betting tree."""
        decision = self.decisions[node]
        return self._cells(decision)[: self.assigner.num_buckets(self.streets[decision.street])]

    def _cells(self, decision: Decision) -> npt.NDArray[np.int64]:
        """Returns `[rows, A]` where tables keep a decision, padding included."""
        num_cells = self.arrays.street(decision.street).num_cells[decision.player]
        tile, lane = np.divmod(np.arange(self.rows.num_rows[decision.street][decision.player]), TILE)
        first = self.rows.first_cell[decision.street][decision.player] + tile * num_cells * TILE + lane
        return first[:, None] + TILE * (decision.first_cell + np.arange(decision.num_actions))

    def _street_index(self, board: Sequence[int]) -> int:
        return next(i for i, street in enumerate(self.streets) if street.num_board_cards == len(board))

    def _deal_sizes(self) -> list[int]:
        counts = [street.num_board_cards for street in self.streets]
        return [after - before for before, after in itertools.pairwise(counts)]

    def _extend(self, cards: tuple[int, ...], sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
        if not sizes:
            yield cards
            return
        left = [card for card in self.cards_left if card not in cards]
        for new in itertools.combinations(left, sizes[0]):
            yield from self._extend((*cards, *new), sizes[1:])


def build_bucketed_tree(spot: HoldemSpot, assigner: BucketAssigner, *, max_nodes: int = 1_000_000) -> BucketedTree:
    r"""Returns a spot whose hands play by bucket.

    Args:
        spot: What is solved, from any street on.
        assigner: Which hands play alike.
        max_nodes: Refuse menus whose betting has more nodes.

    >>> from equipoise.abstraction import Percentile, build_buckets
    >>> from equipoise.runs import load_spot
    >>> text = "deck = 'royal'\nboard = 'AsKsThQd'\npot = 4\nstacks = 4\nranges = {oop = 'JJ, AT', ip = 'QQ, KJ'}"
    >>> spot = load_spot(text).spot
    >>> tree = build_bucketed_tree(spot, build_buckets(Percentile(), spot.deck, sizes=(None, 4, 4, 4)))
    >>> tree.num_runouts
    16
    """
    betting = betting_tree(spot.betting_rules, spot.menu, max_nodes=max_nodes)
    decisions: dict[int, Decision] = {}
    forests: list[StreetForest] = []
    streets = [Street(s) for s in range(betting.root.state.street, betting.rules.last_street + 1)]
    for street in streets:
        nodes = [node for node in betting.nodes if node.state.street == street]
        forest = plant_street(spot, nodes, len(forests), decisions)
        if street != streets[-1]:
            forest.flats.scales[:] *= _count_deals(spot, street)
        forests.append(forest)
    arrays = StreetArrays(
        streets=np.array([forest.fields for forest in forests], np.int32),
        nodes=np.concatenate([nodes for forest in forests for nodes in forest.nodes]),
        flat_slot=np.concatenate([forest.flats.slots.ravel() for forest in forests]),
        flat_scale=np.concatenate([forest.flats.scales.ravel() for forest in forests]),
        flat_rake=forests[-1].flats.rake if forests[-1].flats.rake.any() else np.zeros(0),
        fold_slot=np.concatenate([forest.folds.slots.ravel() for forest in forests]),
        fold_scale=np.concatenate([forest.folds.scales.ravel() for forest in forests]),
    )
    weights = [spot.live_weights(player) for player in (0, 1)]
    hands = np.flatnonzero((weights[0] > 0) | (weights[1] > 0)).astype(np.int32)
    if len(streets) == 1:  # rows of the last street are in the order of strength
        hands = hands[np.argsort(evaluate_boards([spot.board], spot.deck)[0][hands], kind="stable")]
    first, second = (_fill_up(held[hands] / held.sum()) for held in weights)
    return BucketedTree(
        spot=spot,
        betting=betting,
        streets=tuple(streets),
        assigner=assigner,
        arrays=arrays,
        decisions=decisions,
        rows=Rows.lay_out(arrays, [assigner.num_buckets(street) for street in streets]),
        hands=hands,
        reach=(first, second),
        pair_chance=spot.pair_weight() / float(weights[0].sum() * weights[1].sum()),
    )


def _count_deals(spot: HoldemSpot, street: Street) -> int:
    """Returns how many sets of cards may be dealt after a street when no hand is known."""
    num_left = spot.deck.num_cards - street.num_board_cards
    return math.comb(num_left, Street(street + 1).num_board_cards - street.num_board_cards)


def _pad_rows(values: IntArray) -> IntArray:
    """Returns an array over hands in whole tiles, its last entry repeated."""
    num_rows = -(-values.size // TILE) * TILE
    return values[np.minimum(np.arange(num_rows), values.size - 1)]


def _fill_up(values: FloatArray) -> FloatArray:
    """Returns an array over hands in whole tiles, zeros appended."""
    return np.concatenate([values, np.zeros(-values.size % TILE)])
