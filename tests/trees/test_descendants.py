# SPDX-License-Identifier: Apache-2.0
"""Subtrees found from parents, and all that stands on them, on trees whose nodes are not in depth-first order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.registry import make_game
from equipoise.search.gadgets import Maxmargin
from equipoise.search.limits import ActionLimit, BudgetLimit, RoundLimit
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import solve_subgame
from equipoise.solvers.best_response import evaluate
from equipoise.trees.derive import derive_public_game
from equipoise.trees.descendants import Descendants
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_pairs import joint_weights, leaf_payoffs
from equipoise.trees.subtree import cut_subtree
from tests.search.blueprints import random_strategy
from tests.trees.orders import Reordered, breadth_first, shuffled

TREES = {name: build_public_tree(derive_public_game(make_game(name))) for name in ("kuhn", "leduc")}
ORDERS = {
    "breadth first": breadth_first,
    "shuffled": lambda tree: shuffled(tree, rng=np.random.default_rng(1)),
}
BOTH = [(name, order) for name in TREES for order in ORDERS]


@pytest.fixture(scope="module", params=BOTH, ids=" ".join)
def reordered(request):
    name, order = request.param
    found = Reordered(TREES[name], ORDERS[order](TREES[name]))
    assert found.order.tolist() != list(range(found.order.size))
    assert (found.tree.parent < np.arange(found.order.size)).all()
    return found


@pytest.fixture(scope="module")
def strategy(reordered):
    return random_strategy(reordered.old, 0)


@st.composite
def parents(draw):
    size = draw(st.integers(1, 30))
    return np.array([-1, *(draw(st.integers(0, node - 1)) for node in range(1, size))], np.int32)


def ways_up(parent):
    """Returns the nodes above each node, itself included."""
    above = []
    for node, before in enumerate(parent.tolist()):
        above.append({node} | (above[before] if before >= 0 else set()))
    return above


@given(parent=parents(), data=st.data())
def test_subtrees_of_any_order(parent, data):
    above, below = ways_up(parent), Descendants(parent)
    nodes = range(parent.size)
    for root in nodes:
        expected = [node for node in nodes if root in above[node]]
        assert below.of(root).tolist() == expected
        assert np.flatnonzero(below.has(root, list(nodes))).tolist() == expected
    assert below.depth.tolist() == [len(way) - 1 for way in above]
    counted = np.array(data.draw(st.lists(st.booleans(), min_size=parent.size, max_size=parent.size)))
    expected = [sum(counted[node] for node in above[at] - {at}) for at in nodes]
    assert below.count_above(counted).tolist() == expected


def test_the_whole_is_worth_the_same(reordered, strategy):
    expected, got = evaluate(reordered.old, strategy), evaluate(reordered.tree, reordered.carry(strategy))
    assert got.exploitability == pytest.approx(expected.exploitability, abs=1e-12)
    assert got.values == pytest.approx(expected.values, abs=1e-12)


def test_pairs_have_the_same_weights_and_payoffs(reordered, strategy):
    carried = reordered.carry(strategy)
    for node in range(0, reordered.order.size, 1 + reordered.order.size // 60):
        old = int(reordered.order[node])
        np.testing.assert_allclose(joint_weights(reordered.tree, node), joint_weights(reordered.old, old), atol=1e-15)
        expected = leaf_payoffs(reordered.old, old, strategy)
        np.testing.assert_allclose(leaf_payoffs(reordered.tree, node, carried), expected, atol=1e-13)


def test_parts_have_the_same_nodes_and_are_worth_the_same(reordered, strategy):
    carried = reordered.carry(strategy)
    inner = np.flatnonzero((reordered.tree.actor != TERMINAL) & (np.arange(reordered.order.size) > 0))
    for node in inner[:: 1 + inner.size // 12].tolist():
        leaves = ActionLimit(1).leaves(reordered.tree, node)[:1]
        expected = cut_subtree(reordered.old, int(reordered.order[node]), leaves=reordered.order[leaves])
        got = cut_subtree(reordered.tree, node, leaves=leaves)
        assert sorted(reordered.order[got.nodes].tolist()) == expected.nodes.tolist()
        assert sorted(reordered.order[got.nodes[got.leaves]]) == expected.nodes[expected.leaves].tolist()
        assert evaluate(got.tree, got.restrict(carried)).values == pytest.approx(
            evaluate(expected.tree, expected.restrict(strategy)).values, abs=1e-12
        )


def test_actions_are_left_out_alike(reordered):
    gone = int(np.flatnonzero(reordered.tree.parent == 0)[-1])
    while reordered.tree.actor[reordered.tree.parent[gone]] < 0:
        gone = int(np.flatnonzero(reordered.tree.parent == gone)[-1])
    expected = cut_subtree(reordered.old, without=[reordered.order[gone]])
    got = cut_subtree(reordered.tree, without=[gone])
    assert sorted(reordered.order[got.nodes].tolist()) == expected.nodes.tolist()
    assert got.nodes.size < reordered.order.size


@pytest.mark.parametrize(
    "limit", [ActionLimit(1), ActionLimit(2), RoundLimit(), RoundLimit(is_after_deal=True)], ids=str
)
def test_limits_end_at_the_same_nodes(reordered, limit):
    for node in np.flatnonzero(reordered.tree.actor >= 0)[:20].tolist():
        expected = limit.leaves(reordered.old, int(reordered.order[node]))
        assert sorted(reordered.order[limit.leaves(reordered.tree, node)].tolist()) == expected.tolist()


@pytest.mark.parametrize("name", TREES)
def test_budgets_are_spent_on_the_same_nodes(name):
    found = Reordered(TREES[name], breadth_first(TREES[name]))  # siblings in the same order: so are levels
    for nodes in (1, 5, 40):
        expected = BudgetLimit(nodes).leaves(found.old, 0)
        assert sorted(found.order[BudgetLimit(nodes).leaves(found.tree, 0)].tolist()) == expected.tolist()


@pytest.mark.parametrize("searcher", [0, 1])
def test_a_subgame_is_solved_alike(searcher):
    found = Reordered(TREES["leduc"], breadth_first(TREES["leduc"]))
    strategy = random_strategy(found.old, 3)
    node = int(np.flatnonzero(found.tree.actor[found.tree.parent] == CHANCE)[0])
    margins = []
    for tree, played, root in (
        (found.old, strategy, int(found.order[node])),
        (found.tree, found.carry(strategy), node),
    ):
        blueprint = PublicProfile(tree, played)
        margins.append(solve_subgame(blueprint, root, searcher, Maxmargin(), iterations=20).margin)
    np.testing.assert_allclose(margins[1], margins[0], atol=1e-9)
