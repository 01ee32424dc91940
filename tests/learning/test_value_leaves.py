# SPDX-License-Identifier: Apache-2.0
"""Stored value networks, and leaves that they value: a network that says nothing is a showdown."""

import dataclasses
import math

import numpy as np
import pytest

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.tensor_files import load_tensors, save_tensors
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.frontier import BeliefBatch
from equipoise.learning.values.configuration import NetKind, NetStage, ValueNetConfig
from equipoise.learning.values.inference import bind_net
from equipoise.learning.values.leaves import NetworkLeaves
from equipoise.learning.values.weights import StoredNet, expected_shapes
from equipoise.search.holdem.equity_leaves import equity_leaves
from equipoise.search.holdem.leaves import AfterDeal, HoldemState, bind_lines, trace_line
from equipoise.search.leaves import ZeroLeaves
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import DCFR, CFRPlus
from equipoise.trees.holdem.tree import build_holdem_tree, plan_first_street
from equipoise.trees.joint import CardRemoval

DECK = DECKS["royal"]
EVERY = Range(np.ones(DECK.num_hands), DECK)
SPOT = HoldemSpot(
    deck=DECK,
    board=parse_board("ThJhQsKc", DECK),
    pot=20,
    big_blind=2,
    stacks=(47, 47),
    menu=parse_menu("100%, a; turn cap: 2; river cap: 1"),
    ranges=(EVERY, EVERY),
)
TURN_END = ValueNetConfig(
    street=Street.TURN, stage=NetStage.END, deck="royal", cells=6, potential_cells=2, hidden=16, layers=2
)
RIVER = ValueNetConfig(deck="royal", cells=6, hidden=16, layers=2)


def make_net(config, *, scale=1.0, seed=1):
    """Returns a network with weights that were drawn, its last layer times `scale`."""
    rng = np.random.default_rng(seed)
    tensors = {
        name: (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
        for name, shape in expected_shapes(config).items()
    }
    for name in (f"trunk.weight.{config.layers}", f"trunk.bias.{config.layers}"):
        tensors[name] *= np.float32(scale)
    return StoredNet(config=config, tensors=tensors, card={"what": "a test", "losses": [0.1, 0.2]})


def leaves_of(config, **options):
    return NetworkLeaves(bind_net(make_net(config, **options)))


def make_batch(spot=SPOT, seed=2):
    """Returns drawn beliefs where the turn ends."""
    betting, rng = build_holdem_tree(spot, merges_suits=False).betting, np.random.default_rng(seed)
    tree = plan_first_street(spot).build()
    states = [
        HoldemState(trace_line(tree.betting, node), betting.nodes[0].state, tuple(spot.board))._replace(
            betting=tree.betting.nodes[node].state
        )
        for node in tree.leaving_nodes()
    ]
    size = (len(states), spot.deck.num_hands)
    held = np.asarray(spot.live_weights(0) > 0)
    return BeliefBatch(
        states=states,
        reach=(rng.random(size) ** 3 * held, rng.random(size) ** 3 * held),
        num_private=np.full((len(states), 2), spot.deck.num_hands, np.int32),
        joint=[CardRemoval(spot.deck, tuple(spot.board))] * len(states),
    )


def test_a_network_that_says_nothing_is_a_showdown():
    batch = make_batch()
    expected = equity_leaves(SPOT).evaluate(batch).cfv
    before = leaves_of(TURN_END, scale=0.0).evaluate(batch).cfv
    after = AfterDeal(leaves_of(RIVER, scale=0.0), SPOT).evaluate(batch).cfv
    for player in (0, 1):
        np.testing.assert_allclose(before[player], expected[player], atol=2e-4 * np.abs(expected[player]).max())
        np.testing.assert_allclose(after[player], expected[player], atol=1e-5 * np.abs(expected[player]).max())


def test_before_the_flop_a_network_that_says_nothing_is_a_showdown():
    deck = DECKS["tiny"]
    every = Range(np.ones(deck.num_hands), deck)
    spot = dataclasses.replace(SPOT, deck=deck, board=(), pot=0, ranges=(every, every), menu=parse_menu("100%, a"))
    num_classes = len(np.unique(hands_of(deck).classes))
    config = ValueNetConfig(
        kind=NetKind.BUCKET, street=Street.PREFLOP, stage=NetStage.END, deck="tiny", buckets=num_classes, hidden=8
    )
    batch = make_batch(spot)
    found, expected = leaves_of(config, scale=0.0).evaluate(batch).cfv, equity_leaves(spot).evaluate(batch).cfv
    for player in (0, 1):
        np.testing.assert_allclose(found[player], expected[player], atol=2e-4 * np.abs(expected[player]).max())
    assert len({state.stacks for state in batch.states}) > 1


def test_leaves_where_nobody_has_chips_are_showdowns():
    batch = make_batch()
    states = [state._replace(betting=state.betting._replace(stacks=(0, 0))) for state in batch.states]
    all_in = dataclasses.replace(batch, states=states)
    for mine, silent in zip(
        leaves_of(TURN_END).evaluate(all_in).cfv, leaves_of(TURN_END, scale=0.0).evaluate(batch).cfv, strict=True
    ):
        np.testing.assert_array_equal(mine, silent)


def test_a_network_is_asked_with_the_stacks_and_pot_of_each_leaf():
    batch = make_batch()
    net = make_net(TURN_END)
    whole = NetworkLeaves(bind_net(net)).evaluate(batch).cfv
    for row, state in enumerate(batch.states):
        alone = BeliefBatch(
            states=[state],
            reach=tuple(np.ascontiguousarray(own[row : row + 1]) for own in batch.reach),
            num_private=batch.num_private[row : row + 1],
            joint=batch.joint[:1],
        )
        for player in (0, 1):
            np.testing.assert_array_equal(
                NetworkLeaves(bind_net(net)).evaluate(alone).cfv[player][0], whole[player][row]
            )
    doubled = [state._replace(betting=state.betting._replace(stacks=(5, 9))) for state in batch.states]
    changed = NetworkLeaves(bind_net(net)).evaluate(dataclasses.replace(batch, states=doubled)).cfv
    assert not np.allclose(changed[0], whole[0])


def test_values_of_leaves_scale_with_the_opponents_reach():
    batch = make_batch()
    leaves = leaves_of(TURN_END)
    whole = leaves.evaluate(batch).cfv
    scaled = leaves.evaluate(dataclasses.replace(batch, reach=(batch.reach[0] * 4.0, batch.reach[1]))).cfv
    np.testing.assert_array_equal(scaled[0], whole[0])
    np.testing.assert_array_equal(scaled[1], 4.0 * whole[1])


@pytest.mark.parametrize("after", [False, True])
def test_a_street_is_solved_with_a_network_at_its_end(after):
    tree = plan_first_street(SPOT).build()
    evaluator = AfterDeal(leaves_of(RIVER, scale=0.0), SPOT) if after else leaves_of(TURN_END, scale=0.0)
    solvers = [
        CFRSolver(tree, CFRPlus(), dtype=np.float64, frontier=bind_lines(tree, (), leaves))
        for leaves in (evaluator, equity_leaves(SPOT))
    ]
    for solver in solvers:
        solver.iterate(200)
    found, expected = (solver.evaluate() for solver in solvers)
    assert found.nash_conv < 0.05
    np.testing.assert_allclose(found.values, expected.values, atol=0.02)


def test_networks_are_not_asked_about_what_they_were_not_made_for():
    batch = make_batch()
    with pytest.raises(ConfigError, match="the network values the start of the river, it was asked about the end"):
        leaves_of(RIVER).evaluate(batch)
    with pytest.raises(ConfigError, match="the network was made for the deck full, not for royal"):
        leaves_of(dataclasses.replace(TURN_END, deck="full")).evaluate(batch)


def test_batches_behind_cards_may_come_in_parts():
    batch = make_batch()
    whole, parts = (AfterDeal(leaves_of(RIVER), SPOT) for _ in range(2))
    parts.MAX_ROWS = 7
    for mine, expected in zip(parts.evaluate(batch).cfv, whole.evaluate(batch).cfv, strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-12 * np.abs(expected).max())
    assert not AfterDeal(ZeroLeaves(), SPOT).evaluate(batch).cfv[0].any()


@pytest.mark.parametrize("num_cards", [1, 5])
def test_a_few_cards_at_a_time_are_right_in_the_mean(num_cards):
    batch, deck = make_batch(), SPOT.deck
    whole = AfterDeal(leaves_of(RIVER), SPOT).evaluate(batch).cfv
    some = AfterDeal(leaves_of(RIVER), SPOT, num_cards=num_cards)
    num_calls = math.ceil((deck.num_cards - 4) / num_cards)  # until every card has come once
    calls = [some.evaluate(batch).cfv for _ in range(num_calls)]
    for player in (0, 1):
        found = np.mean([call[player] for call in calls], axis=0)
        np.testing.assert_allclose(found, whole[player], atol=1e-9 * np.abs(whole[player]).max())
    assert not np.allclose(calls[0][0], whole[0])
    again = AfterDeal(leaves_of(RIVER), SPOT, num_cards=num_cards)
    np.testing.assert_array_equal(again.evaluate(batch).cfv[0], calls[0][0])
    with pytest.raises(ConfigError, match="num_cards must be at least 0"):
        AfterDeal(leaves_of(RIVER), SPOT, num_cards=-1)


def test_a_street_is_solved_a_few_cards_at_a_time():
    tree = plan_first_street(SPOT).build()
    nets = leaves_of(RIVER)
    some, every = AfterDeal(nets, SPOT, num_cards=3), AfterDeal(nets, SPOT)
    values = []
    for leaves in (some, every):
        frontier = bind_lines(tree, (), leaves)
        solver = CFRSolver(tree, DCFR(), dtype=np.float64, frontier=frontier)
        solver.iterate(300)
        frontier.evaluate = every.evaluate
        values.append(solver.evaluate().values)
    np.testing.assert_allclose(*values, atol=0.01 * SPOT.pot)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 0.0), (np.float16, 1e-3)])
def test_networks_are_kept_in_files(tmp_path, dtype, tolerance):
    net = make_net(TURN_END)
    net.save(tmp_path / "net.safetensors", dtype=dtype)
    found = StoredNet.load(tmp_path / "net.safetensors")
    assert found.config == TURN_END
    assert found.card == net.card
    for name, tensor in net.tensors.items():
        np.testing.assert_allclose(found.tensors[name], tensor, rtol=tolerance, atol=tolerance * 1e-3)


def test_files_that_are_no_networks_are_refused(tmp_path):
    path = tmp_path / "net.safetensors"
    make_net(RIVER).save(path)
    tensors, metadata = load_tensors(path)
    for change, message in (
        ({"format": "a poem"}, "holds a poem, expected an equipoise value network"),
        ({"version": "9"}, "has version 9 of the format, expected 1"),
        ({"config": "{}"}, "is no equipoise value network"),
        ({"config": metadata["config"].replace('"hidden": 16', '"hidden": 17')}, "must have shape"),
        ({"config": metadata["config"].replace('"layers": 2', '"layers": 3')}, "weights must be those of the network"),
    ):
        save_tensors(tmp_path / "other", tensors, metadata | change)
        with pytest.raises(CheckpointError, match=message):
            StoredNet.load(tmp_path / "other")
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(CheckpointError, match="is not a whole safetensors file"):
        StoredNet.load(path)


def test_weights_that_are_no_numbers_are_refused(tmp_path):
    net = make_net(RIVER)
    with pytest.raises(ConfigError, match=r"trunk.bias.0 must be finite"):
        dataclasses.replace(net, tensors=net.tensors | {"trunk.bias.0": np.full(16, np.nan, np.float32)})
    large = dataclasses.replace(net, tensors=net.tensors | {"trunk.bias.0": np.full(16, 1e6, np.float32)})
    with pytest.raises(CheckpointError, match=r"trunk.bias.0 is too large for float16"):
        large.save(tmp_path / "net", dtype=np.float16)
