# SPDX-License-Identifier: Apache-2.0
"""What every vector tree promises, on each of its layouts."""

from types import SimpleNamespace

import numpy as np
import pytest

from equipoise.games.base import TERMINAL
from equipoise.games.holdem.cards import parse_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.registry import parse_game
from equipoise.solvers.best_response import bind_public_kernel
from equipoise.trees.derive import derive_public_game
from equipoise.trees.holdem.bucketed import build_bucketed_tree
from equipoise.trees.holdem.places import HoldemPlace, SpotPlaces
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.joint import CardRemoval, DenseJoint
from equipoise.trees.public import build_public_tree
from equipoise.trees.vector import TreeStrategy, UniformStrategy, follow_reach, play_shares


def make_spot():
    return HoldemSpot(
        board=parse_board("Ks 7h 4d 2c"),
        pot=10,
        stacks=(20, 20),
        ranges=(parse_range("AA,KQs,76s"), parse_range("KK,AQs,65s")),
        menu=parse_menu("100%, a"),
        big_blind=1,
    )


class ByFirstCard:
    """Hands play alike that share their lower card."""

    def num_buckets(self, street):
        return 52

    def assign(self, board):
        return hands_of().cards[:, 0]


def find_holdem_places(tree):
    rivers = [parse_board("Ks 7h 4d 2c 9s"), parse_board("Ks 7h 4d 2c 2h")]
    for node in tree.betting.nodes:
        boards = [tuple(tree.spot.board)] if node.state.street.num_board_cards == 4 else rivers
        yield from [HoldemPlace(node.index, tuple(board)) for board in boards]


def make_world(name):
    if name in ("leduc", "goofspiel(cards=3)"):
        tree = build_public_tree(derive_public_game(parse_game(name)))
        return SimpleNamespace(tree=tree, places=list(range(tree.actor.size)), num_cells=tree.cells.num_table_cells)
    if name == "turn":
        tree = build_holdem_tree(make_spot())
        num_cells = tree.arrays.num_cells
    else:
        tree = build_bucketed_tree(make_spot(), ByFirstCard())
        num_cells = tree.rows.num_cells
    return SimpleNamespace(tree=tree, places=list(find_holdem_places(tree)), num_cells=num_cells)


@pytest.fixture(scope="module", params=["leduc", "goofspiel(cards=3)", "turn", "bucketed turn"])
def world(request):
    found = make_world(request.param)
    sums = np.random.default_rng(3).exponential(size=found.num_cells)
    root = [np.ones(found.tree.num_private_at(found.tree.root_place, player)) for player in (0, 1)]
    found.sums, found.root_reach = sums, (root[0], root[1])
    found.probabilities = lambda place: play_shares(found.tree, sums, place)
    return found


def test_shares_are_probabilities_of_legal_actions(world):
    for place in world.places:
        if world.tree.actor_at(place) >= 0:
            shares, legal = world.probabilities(place), world.tree.legal_at(place)
            assert (shares[~legal] == 0).all()
            np.testing.assert_allclose(shares.sum(axis=1), legal.any(axis=1), atol=1e-12)


def test_shares_are_even_where_a_table_has_nothing(world):
    place = next(place for place in world.places if world.tree.actor_at(place) >= 0)
    legal = world.tree.legal_at(place)
    shares = play_shares(world.tree, np.zeros(world.num_cells), place)
    expected = legal / np.maximum(legal.sum(axis=1, keepdims=True), 1)
    np.testing.assert_array_equal(shares, expected)


def test_the_way_to_a_place_begins_at_the_root_and_leads_there(world):
    assert list(world.tree.way_to(world.tree.root_place)) == []
    for place in world.places:
        edges = world.tree.way_to(place)
        ends = [world.tree.root_place, *[below for _, below in edges]]
        assert [above for above, _ in edges] == ends[:-1]
        assert ends[-1] == place


def test_a_reach_is_one_of_the_private_state_above_times_what_it_does(world):
    for place in world.places:
        edges = world.tree.way_to(place)
        if not edges:
            continue
        above, below = edges[-1]
        before = follow_reach(world.tree, world, world.root_reach, above)
        after = follow_reach(world.tree, world, world.root_reach, below)
        actor = world.tree.actor_at(above)
        for player in (0, 1):
            source, action = world.tree.trace_back(below, player)
            expected = before[player][source]
            if player == actor:
                expected = expected * world.probabilities(above)[source, action]
            held = after[player] > 0
            np.testing.assert_allclose(after[player][held], expected[held], rtol=1e-12)


def test_the_mass_is_the_sum_over_pairs(world):
    rng = np.random.default_rng(1)
    for place in world.places[:: max(1, len(world.places) // 12)]:
        joint = world.tree.joint_at(place)
        pairs = joint.pairs()
        reach = [rng.random(world.tree.num_private_at(place, player)) for player in (0, 1)]
        np.testing.assert_allclose(joint.mass(0, reach[1]), pairs @ reach[1], atol=1e-9)
        np.testing.assert_allclose(joint.mass(1, reach[0]), reach[0] @ pairs, atol=1e-9)


def test_terminals_have_nobody_to_move(world):
    assert any(world.tree.actor_at(place) == TERMINAL for place in world.places)


def test_reaches_on_a_public_tree_are_those_of_its_kernel():
    world = make_world("leduc")
    kernel = bind_public_kernel(world.tree)
    strategy = kernel.normalize(np.random.default_rng(3).exponential(size=world.num_cells))
    plays = SimpleNamespace(probabilities=lambda node: play_shares(world.tree, strategy, node))
    realization = kernel.realize(strategy)
    for node in world.places:
        reach = follow_reach(world.tree, plays, (np.ones(6), np.ones(6)), node)
        for player in (0, 1):
            expected = realization[world.tree.private_cells(node, player)]
            np.testing.assert_allclose(reach[player], expected, atol=1e-12)


def test_joints_of_cards_leave_out_what_shares_a_card():
    joint = CardRemoval(make_spot().deck, tuple(make_spot().board))
    hands = hands_of()
    aces = np.zeros(hands.num_hands)
    aces[parse_range("AA").weights > 0] = 1.0
    mass = joint.mass(0, aces)
    assert mass[parse_range("AhAs").weights > 0] == pytest.approx(1.0)
    assert mass[parse_range("AhQh").weights > 0] == pytest.approx(3.0)
    assert mass[parse_range("QhQs").weights > 0] == pytest.approx(6.0)
    assert mass[parse_range("KsQs").weights > 0] == 0.0


def test_dense_joints_are_matrices():
    joint = DenseJoint(np.array([[0.0, 1.0], [2.0, 0.0]]))
    np.testing.assert_array_equal(joint.mass(0, np.array([1.0, 3.0])), [3.0, 2.0])
    np.testing.assert_array_equal(joint.mass(1, np.array([1.0, 3.0])), [6.0, 1.0])


def test_strategies_over_trees_play_in_proportion_to_their_table(world):
    strategy = TreeStrategy(world.tree, world.sums)
    place = next(place for place in world.places if world.tree.actor_at(place) >= 0)
    np.testing.assert_array_equal(strategy.probabilities(place), world.probabilities(place))
    with pytest.raises(ValueError, match="read-only"):
        strategy.probabilities(place)[0, 0] = 1.0


def test_uniform_strategies_need_no_table(world):
    nothing, uniform = np.zeros(world.num_cells), UniformStrategy(world.tree)
    for place in world.places[:10]:
        if world.tree.actor_at(place) >= 0:
            np.testing.assert_array_equal(uniform.probabilities(place), play_shares(world.tree, nothing, place))


def test_the_places_of_a_spot_are_those_of_its_trees():
    tree, places = make_world("turn").tree, SpotPlaces.of(make_spot())
    assert places.root_place == tree.root_place
    for place in find_holdem_places(tree):
        assert places.actor_at(place) == tree.actor_at(place)
        np.testing.assert_array_equal(places.legal_at(place), tree.legal_at(place))


def test_buckets_of_unsigned_bytes_mark_blocked_hands():
    tree = make_world("bucketed turn").tree
    assert tree.assigner.assign(()).dtype == np.uint8
    blocked = hands_of().blocked(tree.spot.board)
    assert (tree.buckets(tuple(tree.spot.board))[blocked] == -1).all()
