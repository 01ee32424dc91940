# SPDX-License-Identifier: Apache-2.0
"""Parts of public trees against the game asked from there on, landmarks, and leaves."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.base import TERMINAL
from equipoise.games.registry import make_game
from equipoise.solvers.best_response import bind_public_kernel, evaluate
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_arrays import PublicArrays
from equipoise.trees.public_edges import find_children, trace_back
from equipoise.trees.public_pairs import joint_weights
from equipoise.trees.subtree import cut_subtree, to_arrays
from tests.reference.pursuit import MAP_A, Pursuit, parse_map
from tests.search.blueprints import random_strategy

LEDUC = derive_public_game(make_game("leduc"))
GAMES = {
    "leduc": LEDUC,
    "goofspiel": derive_public_game(make_game("goofspiel", cards=3, prizes="random", reveal_bids=False)),
    "pursuit": Pursuit(parse_map(MAP_A), 6, (1, 11), 3),
}


@pytest.fixture(scope="module", params=GAMES)
def game(request):
    return GAMES[request.param]


@pytest.fixture(scope="module")
def leduc():
    return build_public_tree(LEDUC)


def assert_same(first, second):
    for field in dataclasses.fields(first):
        one, other = getattr(first, field.name), getattr(second, field.name)
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other, err_msg=field.name)
        elif field.name != "states":
            assert one == other


def test_a_tree_gives_back_the_arrays_it_was_made_from():
    assert_same(to_arrays(build_public_tree(LEDUC)), LEDUC.arrays)


def test_a_part_is_the_tree_of_the_game_from_there_on(game):
    tree = build_public_tree(game)
    for node in np.flatnonzero(tree.actor != TERMINAL)[3::29].tolist():
        expected = build_public_tree(game, root=tree.states[node])
        got = cut_subtree(tree, node).tree
        assert_same(to_arrays(got), to_arrays(expected))
        assert isinstance(to_arrays(got), PublicArrays)
        np.testing.assert_array_equal(got.cells.steps, expected.cells.steps)
        np.testing.assert_array_equal(got.terminals.dense_own, expected.terminals.dense_own)


def test_values_of_a_part_are_those_of_the_whole_with_landmarks(game):
    plain = build_public_tree(game)
    nodes = np.flatnonzero(plain.actor != TERMINAL)[2::17]
    tree = build_public_tree(game, landmarks=nodes)
    strategy = random_strategy(tree, 4)
    kernel = bind_public_kernel(tree)
    realization = kernel.realize(strategy)
    for player in (0, 1):
        cfv = kernel.strategy_values(player, strategy, realization)
        for node in nodes.tolist():
            part = cut_subtree(tree, node)
            inner = bind_public_kernel(part.tree)
            reach = np.zeros(inner.num_cells)
            for side in (0, 1):
                reach[inner.root_cells[side]] = realization[tree.private_cells(node, side)]
            own = part.restrict(strategy)
            expected = inner.strategy_values(player, own, inner.realize(own, root_reach=reach))
            np.testing.assert_allclose(
                tree.node_values(node, player, cfv), expected[inner.root_cells[player]], atol=1e-13
            )


def test_landmarks_change_no_value(game):
    plain, marked = (build_public_tree(game, landmarks=nodes) for nodes in ((), (1, 4, 5)))
    strategy = random_strategy(plain, 5)
    moved = marked.legal_share.copy()
    moved[marked.sequence_cell] = strategy[plain.sequence_cell]
    assert evaluate(marked, moved).values == pytest.approx(evaluate(plain, strategy).values, abs=1e-13)
    expected = evaluate(plain, strategy).best_response_values
    assert evaluate(marked, moved).best_response_values == pytest.approx(expected, abs=1e-13)


def test_a_node_that_is_no_landmark_has_no_values(leduc):
    with pytest.raises(ConfigError, match=r"node 3 of leduc.* is no landmark"):
        leduc.node_values(3, 0, np.zeros(leduc.cells.num_cells))
    with pytest.raises(ConfigError, match="landmarks must be nodes from 0 to 464, got 465"):
        build_public_tree(LEDUC, landmarks=[465])


def test_leaves_end_a_part_and_keep_their_joint_weights(game):
    tree = build_public_tree(game)
    leaves = [node for node in find_children(tree, 1).tolist() if tree.actor[node] != TERMINAL]
    leaves += [node for node in find_children(tree, 0).tolist() if node != 1 and tree.actor[node] != TERMINAL]
    part = cut_subtree(tree, 0, leaves=leaves)
    assert set(part.nodes[part.leaves].tolist()) == set(leaves)
    assert part.tree.actor.size < tree.actor.size
    np.testing.assert_array_equal(part.tree.landmarks, part.leaves)
    np.testing.assert_allclose(joint_weights(part.tree), joint_weights(tree), atol=1e-12)
    for leaf in part.leaves.tolist():
        np.testing.assert_allclose(joint_weights(part.tree, leaf), joint_weights(tree, int(part.nodes[leaf])))


def test_strategies_go_into_a_part_and_back(leduc):
    strategy, other = random_strategy(leduc, 6), random_strategy(leduc, 7)
    part = cut_subtree(leduc, 9)
    out = strategy.copy()
    part.insert(part.restrict(other), out, players=(1,))
    inside = np.isin(leduc.infoset_node, part.nodes) & (leduc.infoset_player() == 1)
    chosen = np.repeat(inside, np.diff(leduc.infoset_start))
    np.testing.assert_array_equal(out[leduc.sequence_cell[chosen]], other[leduc.sequence_cell[chosen]])
    np.testing.assert_array_equal(out[leduc.sequence_cell[~chosen]], strategy[leduc.sequence_cell[~chosen]])
    assert 0 < np.count_nonzero(chosen) < chosen.size


def test_what_was_done_with_actions_left_out_is_spread_over_the_others(leduc):
    strategy = random_strategy(leduc, 8)
    first = leduc.sequence_cell[:12].reshape(6, 2)  # player 0: check or bet
    strategy[first[0]] = (0.0, 1.0)
    bets = find_children(leduc, 1)[1:]  # player 1's after a check
    part = cut_subtree(leduc, 0, without=[*bets.tolist(), find_children(leduc, 0)[1]])
    got = part.restrict(strategy)
    totals = np.add.reduceat(got[part.tree.sequence_cell], part.tree.infoset_start[:-1])
    np.testing.assert_allclose(totals, 1.0, atol=1e-15)
    untouched = np.diff(part.tree.infoset_start) == np.diff(leduc.infoset_start)[part.infosets]
    pairs = np.repeat(untouched, np.diff(part.tree.infoset_start))
    expected = strategy[leduc.sequence_cell[part.sequences]]
    np.testing.assert_array_equal(got[part.tree.sequence_cell][pairs], expected[pairs])


def test_private_states_are_traced_back_where_they_do_not_merge(leduc):
    node = int(np.flatnonzero(leduc.actor == 1)[0])
    private, action = trace_back(leduc, node, 0)
    np.testing.assert_array_equal(private, np.arange(6))
    assert set(action.tolist()) == {0}
    merged = build_public_tree(GAMES["pursuit"])
    targets = [np.sort(merged.relation_target[slice(*merged.relation_start[2 * n : 2 * n + 2])]) for n in range(80)]
    node = next(n for n in range(1, 80) if len(set(targets[n].tolist())) < targets[n].size)
    with pytest.raises(ConfigError, match="merge at"):
        trace_back(merged, node, 0)


def test_parts_that_cannot_be_are_refused(leduc):
    with pytest.raises(ConfigError, match="from 0 to 464, got 465"):
        cut_subtree(leduc, 465)
    with pytest.raises(ConfigError, match="the game is over"):
        cut_subtree(leduc, int(np.flatnonzero(leduc.actor == TERMINAL)[0]))
    with pytest.raises(ConfigError, match="cannot end there"):
        cut_subtree(leduc, 1, leaves=[1])


def bets_of(game, tree, action):
    """Returns the nodes that an action of the rules leads to."""
    found = []
    for node in range(1, tree.actor.size):
        above = int(tree.parent[node])
        if tree.actor[above] >= 0:
            column = trace_back(tree, node, int(tree.actor[above]))[1][0]
            if game.legal_actions(above)[column] == action:
                found.append(node)
    return found


def test_a_tree_without_a_bet_is_that_of_the_game_without_it():
    sizes = {"sizing": "pot", "stack": 20.0, "max_raises": 1}
    large, small = (
        derive_public_game(make_game("leduc", first_sizes=menu, second_sizes=menu, **sizes))
        for menu in ((0.5, 0.75, 1.0), (0.5, 1.0))
    )
    tree, expected = build_public_tree(large), build_public_tree(small)
    part = cut_subtree(tree, 0, without=bets_of(large, tree, 3))
    got = to_arrays(part.tree)
    for field in dataclasses.fields(got):
        one, other = getattr(got, field.name), getattr(to_arrays(expected), field.name)
        if field.name == "states":
            continue
        if isinstance(one, np.ndarray):
            np.testing.assert_allclose(one, other, err_msg=field.name)
        else:
            assert one == other
    # what it says about a pair is what the whole tree says
    labels = np.array(tree.sequence_labels())[part.sequences]
    assert tuple(labels) == part.tree.sequence_labels()


def test_what_cannot_be_left_out_is_refused(leduc):
    chance_child = next(n for n in range(1, 465) if leduc.actor[leduc.parent[n]] == -1)
    with pytest.raises(ConfigError, match="chance leads there"):
        cut_subtree(leduc, 0, without=[chance_child])
    with pytest.raises(ConfigError, match="nothing would be left to do"):
        cut_subtree(leduc, 0, without=find_children(leduc, 0))
    # phantom tic-tac-toe: the same move is taken or refused, for all to see
    phantom = build_public_tree(derive_public_game(make_game("phantom_tic_tac_toe", rows=2, columns=2)))
    with pytest.raises(ConfigError, match="also leads to a node that is left out"):
        cut_subtree(phantom, 0, without=find_children(phantom, 1)[:1])
