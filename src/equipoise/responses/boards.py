# SPDX-License-Identifier: Apache-2.0
"""Hands watched on hold'em trees, and the frequentist best response to what they showed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import AbandonedError
from equipoise.core.interruption import IsInterrupted, never
from equipoise.games.holdem.betting import CALL, FOLD, Street
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.cards import FULL_DECK
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import hand_permutation
from equipoise.kernels.holdem.arrays import TILE
from equipoise.responses.forms import BoardForm, Table
from equipoise.responses.sampled import FrequentistResponse
from equipoise.trees.holdem.tree import Decision, HoldemTree

__all__ = ["BoardFBR", "Hands", "always_call", "probe_table"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

CHUNK = 20_000  # hands that are walked together
WIDTH = 3  # fewest fresh pairs drawn at a time, for each pair that is still wanted


def _fill_rows(tree: HoldemTree, share: dict[int, FloatArray]) -> Table:
    """Returns `[C]` a table in which every hand plays alike, from `[A]` by decision."""
    out = np.zeros(tree.arrays.num_cells, np.float32)
    for board, street in enumerate(tree.arrays.board_field("street").tolist()):
        for node, decision in tree.decisions.items():
            if decision.street == street:
                out[tree.cells(board, node)] = share[node]
    return out


def always_call(tree: HoldemTree) -> Table:
    """Returns `[C]` play that always calls or checks."""
    actions = {node: np.array(tree.betting.nodes[node].actions) for node in tree.decisions}
    return _fill_rows(tree, {node: (chosen == CALL).astype(float) for node, chosen in actions.items()})


def probe_table(tree: HoldemTree) -> Table:
    """Returns `[C]` play that never folds: all other actions alike."""
    actions = {node: np.array(tree.betting.nodes[node].actions) for node in tree.decisions}
    return _fill_rows(tree, {node: (chosen != FOLD).astype(float) for node, chosen in actions.items()})


class Hands:
    """Deals of a spot, walked down its betting together."""

    def __init__(self, tree: HoldemTree) -> None:
        self.tree, self.deck = tree, tree.spot.deck
        self.cards = hands_of(self.deck).cards.astype(np.int64)
        self.weights = [tree.spot.live_weights(player) / tree.spot.live_weights(player).sum() for player in (0, 1)]
        streets = range(tree.betting.root.state.street, tree.betting.rules.last_street + 1)
        self.sizes = [Street(street).num_board_cards for street in streets]
        self.is_dead = np.ones(len(FULL_DECK.cards), np.bool_)  # cards that are never dealt
        self.is_dead[[card for card in self.deck.cards if card not in tree.spot.board]] = False
        self._rows: dict[tuple[int, ...], tuple[int, tuple[IntArray, IntArray]]] = {}

    def count_actions(
        self,
        player: int,
        profile: Table,
        *,
        num_hands: int,
        rng: np.random.Generator,
        is_interrupted: IsInterrupted = never,
    ) -> FloatArray:
        """Returns `[C]` how often a player took each action in hands that both play by a profile `[C]`.

        Hands that are the same but for the names of suits, where the tree merges them, share what they showed.
        """
        counts = np.zeros(self.tree.arrays.num_cells)
        for start in range(0, num_hands, CHUNK):
            if is_interrupted():
                raise AbandonedError("watching hands was interrupted")
            walk = _Walk(self, min(CHUNK, num_hands - start), rng)
            walk.go(0, np.arange(walk.num_hands), player, profile, counts)
        return self._pool(counts)

    def deal(self, count: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Returns `[B, 2]` hands of both players that share no card, and `[B, cards]` what follows on the board."""
        pairs = np.zeros((0, 2), np.int64)
        while len(pairs) < count:
            wanted = WIDTH * (count - len(pairs))
            drawn = np.stack([rng.choice(weights.size, wanted, p=weights) for weights in self.weights], axis=1)
            first, second = self.cards[drawn[:, 0]], self.cards[drawn[:, 1]]
            is_apart = ~(first[:, :, None] == second[:, None, :]).any(axis=(1, 2))
            pairs = np.concatenate([pairs, drawn[is_apart]])
        pairs = pairs[:count]
        keys = rng.random((count, self.is_dead.size))
        keys[:, self.is_dead] = 2.0
        np.put_along_axis(keys, self.cards[pairs].reshape(count, -1), 2.0, axis=1)
        num_new = self.sizes[-1] - self.sizes[0]
        runouts = np.argsort(keys, axis=1, kind="stable")[:, :num_new]
        if num_new and not self.tree.spot.board:
            runouts[:, :3] = np.sort(runouts[:, :3], axis=1)  # a flop is one deal, in ascending order
        return pairs, runouts

    def rows(self, board: tuple[int, ...]) -> tuple[int, tuple[IntArray, IntArray]]:
        """Returns the tree's index of a board and, by player, `[H]` the row of every hand there; -1: it has none."""
        if board not in self._rows:
            index, relabelling = self.tree.locate(board)
            there = hand_permutation(relabelling, self.deck)
            found = []
            for player in (0, 1):
                row_of = np.full(self.deck.num_hands, -1, np.int64)
                numbers = self.tree.hands[index][player]
                row_of[numbers] = np.arange(numbers.size)
                found.append(row_of[there])
            self._rows[board] = index, (found[0], found[1])
        return self._rows[board]

    def _pool(self, counts: FloatArray) -> FloatArray:
        """Returns `[C]` counts in which hands that are the same but for the names of suits have all of theirs."""
        arrays = self.tree.arrays
        for board in range(len(arrays.boards)):
            fields = arrays.board(board)
            for player, num_cells in enumerate(arrays.street(fields.street).num_cells):
                num_rows = arrays.num_rows(board, player)
                first_cell, first_hand = fields.first_cell[player], fields.first_hand[player]
                orbit = arrays.value_row[first_hand : first_hand + num_rows]
                block = counts[first_cell : first_cell + num_rows * num_cells].reshape(-1, num_cells, TILE)
                by_row = block.transpose(0, 2, 1).reshape(num_rows, num_cells)
                total = np.zeros_like(by_row)
                np.add.at(total, orbit, by_row)
                block[:] = total[orbit].reshape(-1, TILE, num_cells).transpose(0, 2, 1)
        return counts


class _Walk:
    """Some hands on their way down the betting."""

    def __init__(self, hands: Hands, num_hands: int, rng: np.random.Generator) -> None:
        self.hands, self.tree, self.num_hands, self.rng = hands, hands.tree, num_hands, rng
        pairs, runouts = hands.deal(num_hands, rng)
        # by street and player, the cell of action 0 of decision 0 of each hand's row
        self.base = [self._find_cells(street, pairs, runouts) for street in range(len(hands.sizes))]

    def _find_cells(self, street: int, pairs: IntArray, runouts: IntArray) -> IntArray:
        arrays = self.tree.arrays
        num_cells = arrays.street(street).num_cells
        dealt = runouts[:, : self.hands.sizes[street] - self.hands.sizes[0]]
        boards, which = np.unique(dealt, axis=0, return_inverse=True)
        which = which.reshape(-1)  # its shape differs between versions of NumPy
        out = np.zeros((2, self.num_hands), np.int64)
        for place, cards in enumerate(boards.tolist()):
            index, row_of = self.hands.rows((*self.tree.spot.board, *cards))
            here = np.flatnonzero(which == place)
            for player, first in enumerate(arrays.board(index).first_cell):
                row = row_of[player][pairs[here, player]]
                out[player, here] = first + row // TILE * TILE * num_cells[player] + row % TILE
        return out

    def go(self, node: int, here: IntArray, player: int, profile: Table, counts: FloatArray) -> None:
        """Takes the hands `here` down from a node of the betting; adds what a player does to `counts`."""
        if not here.size:
            return
        at = self.tree.betting.nodes[node]
        if at.kind is NodeKind.STREET_END and at.children:
            self.go(at.children[0], here, player, profile, counts)
        if at.kind is not NodeKind.DECISION:
            return
        decision = self.tree.decisions[node]
        cells = self._cells(decision, here)
        action = self._act(profile[cells].astype(np.float64))
        if decision.player == player:
            np.add.at(counts, cells[np.arange(here.size), action], 1.0)
        for number, child in enumerate(at.children):
            self.go(child, here[action == number], player, profile, counts)

    def _cells(self, decision: Decision, here: IntArray) -> IntArray:
        actions = TILE * (decision.first_cell + np.arange(decision.num_actions))
        return self.base[decision.street][decision.player, here, None] + actions

    def _act(self, sums: FloatArray) -> IntArray:
        shares = np.maximum(sums, 0.0)
        shares[~(shares > 0).any(axis=1)] = 1.0
        ends = np.cumsum(shares, axis=1)
        drawn = self.rng.random(len(sums)) * ends[:, -1]
        chosen: IntArray = np.minimum((ends <= drawn[:, None]).sum(axis=1), sums.shape[1] - 1)
        return chosen


class BoardFBR(FrequentistResponse):
    """The frequentist best response on a hold'em tree; where it merges suits, hands are modelled as one too."""

    def __init__(self, form: BoardForm, num_hands: int) -> None:
        super().__init__(form, num_hands)
        self.hands = Hands(form.tree)
        self.probe, self.calls = probe_table(form.tree), always_call(form.tree)

    def model(self, strategy: Table, seat: int, rng: np.random.Generator) -> Table:
        """Returns `[C]` what hands say that the opponent of `seat` does; it calls where none came by."""
        counts = self.hands.count_actions(
            1 - seat,
            self.combine(strategy, self.probe, seat),
            num_hands=self.num_hands,
            rng=rng,
            is_interrupted=self.is_interrupted,
        ).astype(strategy.dtype)
        assert isinstance(self.form, BoardForm)
        unseen = self.form.spread_rows(self.form.row_totals(counts) == 0)
        return np.where(unseen, self.calls.astype(strategy.dtype), counts)
