# SPDX-License-Identifier: Apache-2.0
"""Flop hold'em of twelve or sixteen cards in both layouts: a public tree with suits merged, a hold'em tree by hands."""

import functools

import numpy as np

from equipoise.games.holdem.merged_suits import SuitMergedHoldem
from equipoise.games.holdem.public_text import parse_public_text, parse_steps
from equipoise.games.registry import parse_game
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.public import PublicProfile
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import write_policy
from equipoise.trees.vector import TreeStrategy

FLOPS = ("QcKdAh", "KcAdAh")
RANKS = ["QKA", "JQKA"]  # twelve cards, sixteen cards
TEXT = "holdem(deck={}/cdhs,last_street=flop,stacks=600,600,menu=100%,max_raises=1,1)"


class FlopGame:
    """A rough solution and its last iterate as profiles of both layouts."""

    def __init__(self, ranks):
        self.form = SuitMergedHoldem(parse_game(TEXT.format(ranks)))
        self.tree = build_public_tree(self.form)
        solver = CFRSolver(build_holdem_tree(self.form.spot), CFRPlus(), dtype=np.float64)
        solver.iterate(6)
        self.average, last = (
            TreeStrategy(solver.tree, table) for table in (solver.tables.strategy_sum, solver.tables.regret_sum)
        )
        self.betting = solver.tree.betting
        response = TreeStrategy(self.tree, self.copy(last))
        self.public = PublicProfile(self.tree, self.copy(self.average), response=response)
        self.holdem = HoldemProfile(self.average, response=last)

    def place(self, node):
        """Returns where by hands a node of the public tree is."""
        steps, board = parse_steps(self.tree.public_labels[node])
        here = self.betting.root
        for step in steps:
            here = self.betting.nodes[here.children[0 if step < 0 else here.actions.index(step)]]
        return HoldemPlace(here.index, board)

    def hands(self, node):
        """Returns the deck's numbers of the hands that stand for a node's private states."""
        _, board = parse_public_text(self.tree.public_labels[node])
        return self.form.board(board).hand

    def copy(self, strategy):
        """Returns `[C]` over the public tree what a strategy by hands plays."""
        out = self.tree.legal_share.copy()
        for node in np.flatnonzero(self.tree.actor >= 0).tolist():
            write_policy(self.tree, node, strategy.probabilities(self.place(node))[self.hands(node)], out)
        return out

    def steps(self, node):
        """Returns the actions and cards by hands that lead to a node of the public tree."""
        nodes, edges = self.betting.nodes, self.holdem.tree.way_to(self.place(node))
        return [
            below.board[len(above.board) :] if below.board != above.board else nodes[below.node].action
            for above, below in edges
        ]

    def assemble(self, answer, layout):
        """Returns the exact quality of what `answer` says of every decision of the public tree, in rows of a layout."""
        table = self.tree.legal_share.copy()
        for node in np.flatnonzero(self.tree.actor >= 0).tolist():
            rows = answer(node)
            write_policy(self.tree, node, rows if layout == "public" else rows[self.hands(node)], table)
        return evaluate(self.tree, table)

    def flops(self):
        """Returns decisions on two flops; on some others hands tie exactly, and rounding decides between actions."""
        labels = self.tree.public_labels
        on_flop = [n for n in np.flatnonzero(self.tree.actor >= 0).tolist() if labels[n].partition("/")[2][:6] in FLOPS]
        return on_flop[::3]


@functools.cache
def flop_game(ranks=RANKS[0]):
    return FlopGame(ranks)
