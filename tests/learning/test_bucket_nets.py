# SPDX-License-Identifier: Apache-2.0
"""Bucket networks: against their twin, torch against the native module, and the laws that buckets keep."""

import dataclasses
import itertools

import numpy as np
import pytest

from equipoise.abstraction.buckets import Percentile, build_buckets
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.isomorphism import hand_permutation, permute_cards
from equipoise.learning.values.boards import BoardFacts
from equipoise.learning.values.buckets import find_buckets
from equipoise.learning.values.configuration import NetKind, NetStage, ValueNetConfig
from equipoise.learning.values.inference import BucketValues, Questions, bind_net
from equipoise.learning.values.inputs import find_bucket_inputs
from equipoise.learning.values.weights import StoredNet, expected_shapes
from tests.reference.value_nets import ReferenceBoard, ReferenceState, make_zero_sum, run_layers

DECK = DECKS["small"]
BUCKETS = build_buckets(Percentile(), DECK, sizes=(None, 9, 9, 9))
BOARDS = {Street.PREFLOP: "", Street.FLOP: "ThJhQc", Street.TURN: "ThJhQcAs", Street.RIVER: "ThJhQcAs9c"}
PAPER = ValueNetConfig(
    kind=NetKind.BUCKET,
    deck="small",
    buckets=9,
    hidden=16,
    layers=3,
    is_residual=False,
    takes_roots=False,
    adds_equity=False,
    times_mass=False,
    least_ratio=0.1,
)
FORMS = {
    "paper": PAPER,
    "mass": dataclasses.replace(PAPER, times_mass=True, takes_roots=True),
    "equity": dataclasses.replace(PAPER, adds_equity=True),
    "both": dataclasses.replace(PAPER, adds_equity=True, times_mass=True, takes_roots=True, is_residual=True),
}


def draw_net(config, seed=1):
    rng = np.random.default_rng(seed)
    tensors = {
        name: (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
        for name, shape in expected_shapes(config).items()
    }
    return StoredNet(config=config, tensors=tensors)


def draw_ranges(num_states, num_hands, seed=2):
    ranges = np.random.default_rng(seed).random((num_states, 2, num_hands)) ** 4
    return ranges / ranges.sum(axis=2, keepdims=True)


def ask(net, facts, ranges, ratio):
    asked = Questions([facts], np.zeros(len(ranges), np.int32), np.asarray(ratio, float), np.ones(len(ranges)))
    reach = tuple(np.ascontiguousarray(ranges[:, player]) for player in (0, 1))
    return np.stack(net.evaluate(asked, reach), axis=1)


@pytest.mark.parametrize("street", [Street.FLOP, Street.TURN, Street.RIVER])
@pytest.mark.parametrize("form", FORMS)
def test_values_equal_the_twins(form, street):
    config = dataclasses.replace(FORMS[form], street=street)
    stored, board = draw_net(config), parse_board(BOARDS[street], DECK)
    facts, twin = BoardFacts(board, DECK), ReferenceBoard(board, DECK)
    ranges, ratio = draw_ranges(3, facts.num_hands), [2.0, 0.0, 0.05]
    found = ask(BucketValues(stored, buckets=BUCKETS), facts, ranges, ratio)
    bucket = BUCKETS.assign(board)[facts.hands]
    for row, share in enumerate([1.0, 0.0, 0.5]):
        state = ReferenceState(twin, ranges[row], (2, 1, 0))
        mass = 9 * np.stack([np.bincount(bucket, own, minlength=9) for own in state.range]).ravel()
        inputs = np.concatenate([np.sqrt(mass) if config.takes_roots else mass, config.encode_ratios(ratio)[row]])
        value = run_layers(stored.layers(), inputs).reshape(2, 9)[:, bucket]
        value = share * (value * state.matched if config.times_mass else value)
        value += state.base * (1.0 if config.adds_equity else 1.0 - share)
        if config.times_mass:
            value = make_zero_sum(value, state.range, state.matched)
        else:
            value = value - (state.range * value).sum() / 2.0
        np.testing.assert_allclose(found[row], value, atol=2e-5)


@pytest.mark.parametrize("form", FORMS)
def test_torch_says_the_same(form):
    torch = pytest.importorskip("torch")
    bucket_net = pytest.importorskip("equipoise.learning.values.bucket_net")
    config = dataclasses.replace(FORMS[form], street=Street.TURN)
    stored, facts = draw_net(config), BoardFacts(parse_board(BOARDS[Street.TURN], DECK), DECK)
    net = bucket_net.BucketNet.of(stored)
    ranges, ratio = draw_ranges(4, facts.num_hands), [0.0, 0.05, 1.0, 7.0]
    inputs = find_bucket_inputs(config, [facts], np.zeros(4, int), ranges, ratio, buckets=BUCKETS)
    states = bucket_net.BucketTensors.of(inputs)
    with torch.no_grad():
        expected, part = net(states).numpy(), net(states, torch.tensor([5, 2])).numpy()
    np.testing.assert_allclose(
        ask(BucketValues(net.store(), buckets=BUCKETS), facts, ranges, ratio), expected, atol=1e-5
    )
    # what is taken off is in proportion to the mass that a hand meets, or the same for all
    taken = part - expected[:, :, [5, 2]]
    unit = inputs.matched[:, :, [5, 2]] if config.times_mass else np.ones_like(taken)
    np.testing.assert_allclose(taken / unit, np.broadcast_to((taken / unit)[:, :1, :1], taken.shape), atol=2e-5)


@pytest.mark.parametrize("form", FORMS)
def test_values_sum_to_zero_for_any_weights(form):
    facts = BoardFacts(parse_board(BOARDS[Street.RIVER], DECK), DECK)
    ranges = draw_ranges(10, facts.num_hands)
    for seed in range(3):
        found = ask(BucketValues(draw_net(FORMS[form], seed), buckets=BUCKETS), facts, ranges, np.linspace(0, 9, 10))
        np.testing.assert_allclose((ranges * found).sum(axis=(1, 2)), 0.0, atol=1e-5)


def test_buckets_conserve_mass():
    torch = pytest.importorskip("torch")
    bucket_net = pytest.importorskip("equipoise.learning.values.bucket_net")
    facts = BoardFacts(parse_board(BOARDS[Street.FLOP], DECK), DECK)
    config, ranges = dataclasses.replace(PAPER, street=Street.FLOP), draw_ranges(6, facts.num_hands)
    inputs = find_bucket_inputs(config, [facts], np.zeros(6, int), ranges, np.ones(6), buckets=BUCKETS)
    mass = bucket_net.BucketNet.of(draw_net(config)).masses(bucket_net.BucketTensors.of(inputs))
    torch.testing.assert_close(mass.sum(dim=2), torch.ones(6, 2))
    held = ranges[0, 0][BUCKETS.assign(facts.board)[facts.hands] == 4]
    np.testing.assert_allclose(mass[0, 0, 4], held.sum(), atol=1e-6)


def test_hands_of_a_bucket_get_one_value():
    board = parse_board(BOARDS[Street.RIVER], DECK)
    facts, bucket = BoardFacts(board, DECK), BUCKETS.assign(board)
    found = ask(BucketValues(draw_net(PAPER), buckets=BUCKETS), facts, draw_ranges(2, facts.num_hands), [1.0, 2.0])
    for state, player, number in itertools.product((0, 1), (0, 1), range(9)):
        assert np.unique(found[state, player, bucket[facts.hands] == number]).size <= 1
    assert np.unique(found[0, 0]).size == np.unique(bucket[facts.hands]).size > 2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("street", BOARDS)
def test_relabelled_suits_permute_values_exactly(form, street):
    board, permutation = parse_board(BOARDS[street], DECK), (2, 1, 3, 0)
    config = dataclasses.replace(
        FORMS[form], street=street, buckets=find_num_classes() if street is Street.PREFLOP else 9
    )
    net, image = BucketValues(draw_net(config), buckets=BUCKETS), hand_permutation(permutation, DECK)
    ranges = draw_ranges(2, DECK.num_hands)
    moved = np.empty_like(ranges)
    moved[:, :, image] = ranges
    before = ask(net, BoardFacts(board, DECK), ranges, [1.0, 0.05])
    after = ask(net, BoardFacts(permute_cards(board, permutation).tolist(), DECK), moved, [1.0, 0.05])
    np.testing.assert_array_equal(after[:, :, image], before)


def find_num_classes():
    return len(np.unique(hands_of(DECK).classes))


def test_before_the_flop_buckets_are_classes_of_hands():
    config = ValueNetConfig(
        kind=NetKind.BUCKET, street=Street.PREFLOP, stage=NetStage.END, deck="small", buckets=find_num_classes()
    )
    assigned, classes = find_buckets(config).assign(()), hands_of(DECK).classes
    assert len(set(zip(assigned.tolist(), classes.tolist(), strict=True))) == len(set(classes.tolist()))
    facts = BoardFacts((), DECK)
    found = ask(bind_net(draw_net(config)), facts, np.full((1, 2, DECK.num_hands), 1.0 / DECK.num_hands), [3.0])
    for number in np.unique(classes):  # suits are alike
        own = found[0][:, classes == number]
        np.testing.assert_allclose(own, own[:, :1] + np.zeros_like(own), atol=1e-5)


def test_kmeans_buckets_are_found_for_a_street():
    config = dataclasses.replace(PAPER, deck="tiny", street=Street.FLOP, buckets=5)
    assigned = find_buckets(config).assign(parse_board("ThJhQs", DECKS["tiny"]))
    assert set(assigned.tolist()) <= set(range(-1, 5))
