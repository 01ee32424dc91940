# SPDX-License-Identifier: Apache-2.0
"""One player's sweep over a runout in buckets, node by node with matrices of hands against hands.

The twin of native/runout.hpp where hands share rows; and assigners that tests use.
"""

import itertools

import numpy as np

from equipoise.games.holdem.betting import payoffs
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.strength import evaluate_boards
from equipoise.kernels.holdem.arrays import TILE
from equipoise.trees.holdem.bucketed import build_bucketed_tree


class EveryHandItself:
    """Each hand on each board is a bucket of its own."""

    def __init__(self, spot):
        self.num_hands = spot.deck.num_hands
        tree = build_bucketed_tree(spot, StrengthPercentiles(spot.deck, 1))
        boards = {board for cards in tree.list_runouts() for board in tree.boards(cards)}
        self.places = {board: place for size in (0, 3, 4, 5) for place, board in enumerate(_of_size(boards, size))}

    def num_buckets(self, street):
        return self.num_hands * sum(len(board) == street.num_board_cards for board in self.places)

    def assign(self, board):
        return self.num_hands * self.places[board] + np.arange(self.num_hands)


def _of_size(boards, size):
    return sorted(board for board in boards if len(board) == size)


class StrengthPercentiles:
    """Hands in equal numbers by their mean rank over all ways to complete the board; before the flop by class."""

    def __init__(self, deck, num_buckets, last_size=5):
        self.deck, self.count, self.last_size = deck, num_buckets, last_size
        self.cache = {}

    def num_buckets(self, street):
        return self.count

    def assign(self, board):
        key = tuple(sorted(board))
        if key not in self.cache:
            self.cache[key] = self._assign(key)
        return self.cache[key]

    def _assign(self, board):
        live = ~hands_of(self.deck).blocked(board)
        scores = self._mean_rank(board) if board else -hands_of(self.deck).classes
        place = np.searchsorted(np.sort(scores[live]), scores, side="left")
        return np.minimum(place * self.count // live.sum(), self.count - 1)

    def _mean_rank(self, board):
        left = [card for card in self.deck.cards if card not in board]
        boards = [(*board, *new) for new in itertools.combinations(left, max(self.last_size - len(board), 0))]
        strength = evaluate_boards(boards, self.deck)
        total = np.zeros(self.deck.num_hands)
        for row in strength:
            total += np.searchsorted(np.sort(row[row > 0]), row) * (row > 0)
        return total / np.maximum((strength > 0).sum(axis=0), 1)


class ReferenceSweep:
    """Additions to the tables, and root values, of one player on one runout."""

    def __init__(self, tree, cards, player, sums):
        self.tree, self.player, self.sums = tree, player, sums
        self.boards = tree.boards(cards)
        self.regret, self.average = np.zeros_like(sums), np.zeros_like(sums)
        hands = hands_of(tree.spot.deck)
        self.share_no_card = (hands.masks[:, None] & hands.masks[None, :]) == 0
        self.live = [~hands.blocked(board) for board in self.boards]
        strength = evaluate_boards([self.boards[-1]], tree.spot.deck)[0].astype(int)
        self.compare = np.sign(strength[:, None] - strength[None, :]) * self.share_no_card
        weights = [tree.spot.live_weights(side) for side in (0, 1)]
        self.weight = weights[player] / weights[player].sum()
        self.root_value = self.visit(0, self.weight, weights[1 - player] / weights[1 - player].sum())

    def cells(self, decision, board):
        """Returns `[H, A]` where the tables keep the actions of every hand."""
        tree = self.tree
        row = np.maximum(tree.buckets(board), 0)
        num_cells = tree.arrays.streets[decision.street, 2 + decision.player]
        first = tree.rows.first_cell[decision.street][decision.player]
        start = first + row // TILE * num_cells * TILE + row % TILE
        return start[:, None] + TILE * (decision.first_cell + np.arange(decision.num_actions))

    def chips(self, node):
        """Returns `[H, H]` what the player wins at an end with each hand against each hand."""
        rake = self.tree.spot.rake(node.state)
        won = payoffs(node.state, (1, 0) if self.player == 0 else (0, 1))[self.player]
        if node.kind is NodeKind.FOLD:
            return (won - rake * (won > 0)) * self.share_no_card
        # the winner pays the rake; who splits a pot pays half of it
        ties = self.share_no_card & (self.compare == 0)
        return won * self.compare - rake * (self.compare > 0) - rake / 2 * ties

    def visit(self, index, own, other):
        tree = self.tree
        node = tree.betting.nodes[index]
        street = node.state.street - tree.betting.root.state.street
        live = self.live[street]
        own, other = own * live, other * live
        if node.kind in (NodeKind.FOLD, NodeKind.SHOWDOWN):
            return live * (self.chips(node) @ other)
        if node.kind is NodeKind.STREET_END:
            num_left = tree.spot.deck.num_cards - len(self.boards[street])
            num_new = len(self.boards[street + 1]) - len(self.boards[street])
            ratio = np.prod([(num_left - i) / (num_left - 4 - i) for i in range(num_new)])
            return ratio * self.visit(node.children[0], own, other)
        decision = tree.decisions[index]
        cells = self.cells(decision, self.boards[street])
        positive = np.maximum(self.sums[cells], 0.0)
        total = positive.sum(axis=1, keepdims=True)
        sigma = np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1.0 / decision.num_actions)
        if decision.player != self.player:
            return sum(self.visit(child, own, other * sigma[:, a]) for a, child in enumerate(node.children))
        values = np.stack(
            [self.visit(child, own * sigma[:, a], other) for a, child in enumerate(node.children)], axis=1
        )
        expected = (sigma * values).sum(axis=1)
        weight = (self.weight * live)[:, None]
        np.add.at(self.regret, cells, weight * (values - expected[:, None]))
        np.add.at(self.average, cells, own[:, None] * sigma)
        return expected
