# SPDX-License-Identifier: Apache-2.0
"""Depth limits: what they count, and that parts end there."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.holdem.rules import HoldemEndgame
from equipoise.games.registry import make_game
from equipoise.search.limits import ActionLimit, BudgetLimit, RoundLimit
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.subtree import cut_subtree
from tests.search.fixtures import second_round

TREE = build_public_tree(derive_public_game(make_game("leduc")))


def path(node, root=0):
    """Returns the nodes above a node, down from the root."""
    nodes = []
    while node != root:
        node = int(TREE.parent[node])
        nodes.append(node)
    return nodes[::-1]


@pytest.mark.parametrize("actions", [1, 2, 3])
def test_actions_are_counted_from_the_root(actions):
    for root in (0, second_round(TREE)[0]):
        leaves = ActionLimit(actions).leaves(TREE, root).tolist()
        assert leaves
        assert {sum(int(TREE.actor[n] >= 0) for n in path(leaf, root)) for leaf in leaves} == {actions}
        assert TERMINAL not in TREE.actor[leaves]


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


@pytest.mark.parametrize("nodes", [1, 5, 30, 200])
def test_a_budget_is_kept_and_spent_on_shallow_nodes(nodes):
    leaves = BudgetLimit(nodes).leaves(TREE, 0)
    part = cut_subtree(TREE, 0, leaves=leaves)
    assert part.tree.actor.size <= max(nodes, 3)  # the root and its two children always fit
    inner = np.setdiff1d(part.nodes, part.nodes[part.leaves])
    inner = inner[TREE.actor[inner] != TERMINAL]
    assert max(len(path(int(node))) for node in inner) <= min(len(path(int(leaf))) for leaf in leaves)


def test_a_budget_for_everything_has_no_leaves():
    assert BudgetLimit(TREE.actor.size).leaves(TREE, 0).size == 0


def test_limits_of_nothing_are_refused():
    for make, name in ((ActionLimit, "actions"), (RoundLimit, "rounds"), (BudgetLimit, "nodes")):
        with pytest.raises(ConfigError, match=f"{name} must be at least 1, got 0"):
            make(0)
