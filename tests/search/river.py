# SPDX-License-Identifier: Apache-2.0
"""A river of twelve cards on a public tree and on a hold'em tree, with bets that its solution does not know."""

import functools

import numpy as np

from equipoise.agents.holdem.hands import hands_by_name
from equipoise.games.holdem.cards import parse_board, parse_deck
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.rules import HoldemEndgame
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.public import PublicProfile
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.derive import derive_public_game
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import find_children
from equipoise.trees.subtree import find_private_labels
from equipoise.trees.vector import TreeStrategy

DECK_TEXT, BOARD_TEXT = "QKA/cdhs", "QcKhAsQhKs"
DECK = parse_deck(DECK_TEXT)
BOARD = parse_board(BOARD_TEXT, DECK)
HAND_OF = hands_by_name(DECK)
FEW = 10  # iterations; float32 and float64 part later


class River:
    """A river of twelve cards solved for bets of 33 % and 250 % of the pot, and its tree with bets of 100 % too."""

    def __init__(self):
        chips = {"pot": 100, "big_blind": 10, "stacks": (4000, 4000)}
        self.game = HoldemEndgame(
            deck=DECK_TEXT, board=BOARD_TEXT, small_blind=5, menu="33%, 100%, 250%; cap: 2", **chips
        )
        self.tree = build_public_tree(derive_public_game(self.game))
        self.off_tree = [
            int(find_children(self.tree, node)[-2])
            for node in np.flatnonzero(self.tree.num_actions > 3)  # all three sizes: the middle one
        ]
        ranges = Range.random(DECK), Range.random(DECK)
        spot = HoldemSpot(deck=DECK, board=BOARD, menu=parse_menu("33%, 250%; cap: 2"), ranges=ranges, **chips)
        solver = CFRSolver(build_holdem_tree(spot), CFRPlus(), dtype=np.float64)
        solver.iterate(30)
        self.policy = TreeStrategy(solver.tree, solver.tables.strategy_sum)
        self.last = TreeStrategy(solver.tree, solver.tables.regret_sum)
        self.strategy = self.copy(self.policy)

    def node(self, label):
        """Returns the decision of the solved spot's betting at a public state, None if it does not know the way."""
        node = 0
        for step in parse_steps(label)[0]:
            here = self.policy.tree.betting.nodes[node]
            if step not in here.actions:
                return None
            node = here.children[here.actions.index(step)]
        return node

    def profiles(self):
        """Returns the solved spot and its last iterate on both trees."""
        small = PublicProfile.without(self.tree, self.strategy, self.off_tree)
        small.response = TreeStrategy(small.tree, small.ground.restrict(self.copy(self.last)))
        return small, HoldemProfile(self.policy, response=self.last)

    def copy(self, policy):
        """Returns `[C]` over the tree what a strategy of the solved spot plays."""
        out = self.tree.legal_share.copy()
        for row, label in enumerate(self.tree.infoset_labels):
            hand, _, state = label.partition("|")
            node = self.node(state)
            if node is not None:
                cells = self.tree.sequence_cell[self.tree.infoset_start[row] : self.tree.infoset_start[row + 1]]
                out[cells] = 0.0
                out[cells[self.known(int(self.tree.infoset_node[row]))]] = policy.probabilities(
                    HoldemPlace(node, BOARD)
                )[HAND_OF[hand]].tolist()
        return out

    def known(self, node):
        """Returns which of a node's actions are no bets of the pot."""
        return [place for place, child in enumerate(find_children(self.tree, node)) if int(child) not in self.off_tree]

    def hands(self, node, player):
        """Returns the deck's numbers of a player's private states at a node."""
        return [HAND_OF[label.partition("|")[0]] for label in find_private_labels(self.tree, node, player)]


@functools.cache
def river():
    return River()
