# SPDX-License-Identifier: Apache-2.0
"""Depth limits: what they count, and that parts end there."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.rules import HoldemEndgame
from equipoise.games.registry import make_game
from equipoise.search.limits import ActionLimit, BudgetLimit, RoundLimit
from equipoise.trees.derive import derive_public_game
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import find_children
from equipoise.trees.subtree import cut_subtree
from tests.search.fixtures import second_round
from tests.search.layouts import flop_game

TREE = build_public_tree(derive_public_game(make_game("leduc")))
TREES = {"leduc": lambda: TREE, "flop": lambda: flop_game().tree}
on_both = pytest.mark.parametrize("name", TREES)


def path(node, root=0, tree=TREE):
    """Returns the nodes above a node, down from the root."""
    nodes = []
    while node != root:
        node = int(tree.parent[node])
        nodes.append(node)
    return nodes[::-1]


@on_both
@pytest.mark.parametrize("actions", [1, 2, 3])
def test_actions_are_counted_from_the_root(name, actions):
    tree = TREES[name]()
    for root in (0, second_round(tree)[0]):
        leaves = ActionLimit(actions).leaves(tree, root).tolist()
        assert leaves or (name, root != 0, actions) == ("flop", True, 3)  # one raise: two more actions end the hand
        assert {sum(int(tree.actor[n] >= 0) for n in path(leaf, root, tree)) for leaf in leaves} <= {actions}
        assert TERMINAL not in tree.actor[leaves]


def test_rounds_end_before_the_deal_at_the_lines_that_leave_a_street_by_hands():
    game = flop_game()
    before, after = (RoundLimit(is_after_deal=value).leaves(game.tree, 0) for value in (False, True))
    leaving = [node.index for node in game.betting.nodes if node.kind is NodeKind.STREET_END]
    assert [game.place(node) for node in before] == [HoldemPlace(node, ()) for node in leaving]
    assert after.tolist() == second_round(game.tree)
    assert after.size == len(leaving) * len({game.place(node).board for node in after})


def test_rounds_end_before_or_after_the_deal():
    before = RoundLimit().leaves(TREE, 0)
    assert set(TREE.actor[before].tolist()) == {CHANCE}
    assert before.size == 5  # betting lines that end the first round
    after = RoundLimit(is_after_deal=True).leaves(TREE, 0)
    assert after.tolist() == second_round(TREE)
    assert RoundLimit(rounds=2).leaves(TREE, 0).size == 0  # there is no third round


def test_the_deal_with_which_a_search_begins_opens_its_first_round():
    rules = HoldemEndgame(deck="QKA/cdh", board="QcKdAh", pot=2, big_blind=2, small_blind=1, stacks=(2, 2), menu="a")
    tree = build_public_tree(derive_public_game(rules))
    turn = tree.public_labels.index("QcKdAh:cc/")
    before, after = (RoundLimit(is_after_deal=value).leaves(tree, turn) for value in (False, True))
    assert {tree.public_labels[leaf][-4:] for leaf in before} == {":cc/"}
    assert before.size == 6  # turns; bets are all-in
    assert after.size == 6 * 5
    assert RoundLimit(rounds=2).leaves(tree, turn).size == 0


@on_both
@pytest.mark.parametrize("nodes", [1, 5, 30, 200])
def test_a_budget_is_kept_and_spent_on_shallow_nodes(name, nodes):
    tree = TREES[name]()
    leaves = BudgetLimit(nodes).leaves(tree, 0)
    part = cut_subtree(tree, 0, leaves=leaves)
    assert part.tree.actor.size <= max(nodes, 1 + find_children(tree, 0).size)  # the root and its children always fit
    inner = np.setdiff1d(part.nodes, part.nodes[part.leaves])
    inner = inner[tree.actor[inner] != TERMINAL]
    least = min(len(path(int(leaf), tree=tree)) for leaf in leaves)
    assert max(len(path(int(node), tree=tree)) for node in inner) <= least


@on_both
def test_a_budget_for_everything_has_no_leaves(name):
    tree = TREES[name]()
    assert BudgetLimit(tree.actor.size).leaves(tree, 0).size == 0


def test_limits_of_nothing_are_refused():
    for make, name in ((ActionLimit, "actions"), (RoundLimit, "rounds"), (BudgetLimit, "nodes")):
        with pytest.raises(ConfigError, match=f"{name} must be at least 1, got 0"):
            make(0)
