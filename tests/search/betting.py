# SPDX-License-Identifier: Apache-2.0
"""Leduc with bets of half, three quarters of and the whole pot, the middle one off the tree."""

import functools

from equipoise.abstraction.translation import translate_bet
from equipoise.games.registry import make_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import find_children, trace_back
from equipoise.trees.subtree import cut_subtree

SIZES = (0.5, 0.75, 1.0)
FIRST_RAISE, MIDDLE = 2, 3  # actions of Leduc's rules


class ThreeSizes:
    """The tree with all three sizes, and an equilibrium without the middle one."""

    def __init__(self, iterations):
        sizes = {"first_sizes": SIZES, "second_sizes": SIZES, "sizing": "pot", "stack": 20.0, "max_raises": 1}
        self.game = derive_public_game(make_game("leduc", **sizes))
        self.tree = build_public_tree(self.game)
        self.off_tree = [node for node in range(1, self.tree.actor.size) if self.action_into(node) == MIDDLE]
        part = cut_subtree(self.tree, 0, without=self.off_tree)
        solver = CFRSolver(part.tree, CFRPlus())
        solver.iterate(iterations)
        self.strategy = self.tree.legal_share.copy()
        part.insert(solver.average_strategy(), self.strategy)

    def action_into(self, node):
        """Returns the action of the rules that leads to a node, None after chance."""
        above = int(self.tree.parent[node])
        if self.tree.actor[above] < 0:
            return None
        return self.game.legal_actions(above)[trace_back(self.tree, node, int(self.tree.actor[above]))[1][0]]

    def images(self, node):
        """Returns what a bet of the middle size is taken for."""
        beside = {self.action_into(child): child for child in find_children(self.tree, int(self.tree.parent[node]))}
        shares = translate_bet(SIZES[1], (SIZES[0], SIZES[2]))
        return {int(beside[FIRST_RAISE + SIZES.index(size)]): share for size, share in shares.items()}


@functools.cache
def three_sizes(iterations=1000):
    return ThreeSizes(iterations)
