# SPDX-License-Identifier: Apache-2.0
"""What a line that leads to the last street pays two hands, by walking its betting: the twin of holdem_leaf_tables.hpp.

Written over the betting tree and single pairs of hands; knows nothing of tables, tiles or strengths in order.
"""

import numpy as np

from equipoise.games.holdem.betting import CALL, FOLD, payoffs
from equipoise.games.holdem.betting_tree import DEALING, NodeKind
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import hand_permutation
from equipoise.games.holdem.strength import evaluate_boards


def entering_nodes(tree):
    """Returns the betting nodes that open the last street, line by line."""
    last = tree.betting.rules.last_street
    return [node.index for node in tree.betting.nodes if node.state.street == last and node.action == DEALING]


def bias_row(shares, actions, bias):
    """Returns probabilities with those of folds, calls and raises multiplied."""
    weights = np.array([bias[{FOLD: 0, CALL: 1}.get(action, 2)] for action in actions])
    return shares * weights / (shares * weights).sum()


class LeafTwin:
    """Values of pairs of hands behind a line of the blueprint's tree."""

    def __init__(self, blueprint):
        self.tree, self.sums = blueprint.tree, blueprint.sums
        self.cards = [set(hand) for hand in hands_of(self.tree.spot.deck).cards.tolist()]

    def value(self, line, hands, biases, player):
        """Returns what two hands with biased blueprints earn a player behind a line, summed over the next card."""
        if self.cards[hands[0]] & self.cards[hands[1]]:
            return 0.0
        spot = self.tree.spot
        taken = {*spot.board, *self.cards[hands[0]], *self.cards[hands[1]]}
        first = entering_nodes(self.tree)[line]
        return sum(
            self._walk(first, (*spot.board, card), hands, biases, player)
            for card in spot.deck.cards
            if card not in taken
        )

    def _walk(self, index, board, hands, biases, player):
        node = self.tree.betting.nodes[index]
        if node.kind is NodeKind.DECISION:
            actor = node.state.actor
            shares = bias_row(self._shares(index, board, actor, hands[actor]), node.actions, biases[actor])
            return sum(
                share * self._walk(child, board, hands, biases, player)
                for share, child in zip(shares, node.children, strict=True)
            )
        spot = self.tree.spot
        strengths = evaluate_boards(np.array([board], np.uint8), spot.deck)[0][list(hands)].astype(int)
        rake = spot.rake(node.state)
        if node.kind is NodeKind.FOLD:
            won = payoffs(node.state, (1, 0))[player]
            return won - rake * (won > 0)
        if strengths[0] == strengths[1]:
            return -rake / 2
        won = payoffs(node.state, tuple(int(strength == max(strengths)) for strength in strengths))[player]
        return won - rake * (won > 0)

    def _shares(self, index, board, player, hand):
        place, relabelling = self.tree.locate(board)
        there = hand_permutation(relabelling, self.tree.spot.deck)[hand]
        row = self.tree.hands[place][player].tolist().index(there)
        return self.tree.normalize(self.sums, place, index)[row]
