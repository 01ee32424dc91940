# SPDX-License-Identifier: Apache-2.0
"""Value networks in the native module: against their twin, and what must not change a bit of what they say."""

import hashlib
import itertools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import DECKS, FULL_DECK, parse_board
from equipoise.games.holdem.isomorphism import hand_permutation, permute_cards
from equipoise.kernels.value_nets import (
    CurveAxes,
    CurveKernel,
    LayerArrays,
    PerceptronKernel,
    StateArrays,
    ValueBoard,
    find_features,
)
from equipoise.learning.values.boards import BoardFacts
from tests.reference.value_nets import ReferenceBoard, ReferenceState, run_layers

NUM_EXTRA = 3
BOARDS = {
    "river": ("Ks7h2d9cKh", FULL_DECK, CurveAxes(8, 1, 8)),
    "flush river": ("KsQsJs2s3s", FULL_DECK, CurveAxes(4, 1, 0)),
    "turn": ("Ts9s7h7d", DECKS["short"], CurveAxes(6, 3, 16)),
    "flop": ("ThJhQc", DECKS["small"], CurveAxes(5, 4, 8)),
    "flat flop": ("ThJhQh", DECKS["royal"], CurveAxes(5, 1, 8)),
}


def draw_layers(rng, sizes):
    """Returns layers of these sizes, square ones residual."""
    return [
        LayerArrays(
            weight=(rng.standard_normal((before, after)) / np.sqrt(before)).astype(np.float32),
            bias=rng.standard_normal(after).astype(np.float32),
            slope=None if place == len(sizes) - 2 else rng.random(after).astype(np.float32),
            is_residual=before == after and place < len(sizes) - 2,
        )
        for place, (before, after) in enumerate(itertools.pairwise(sizes))
    ]


def draw_kernel(rng, axes, hidden=(20, 20)):
    num_masses = 3 if axes.potential_cells > 1 else 2
    num_cells = axes.cells * axes.potential_cells
    sizes = [num_masses * num_cells + 3 * axes.cells + NUM_EXTRA, *hidden, num_cells * 2 * (1 + axes.segments)]
    layers = draw_layers(rng, sizes)
    return CurveKernel(axes, NUM_EXTRA, layers), layers


def draw_reach(rng, num_states, num_hands):
    """Returns reaches of which some are zero and a few large."""
    spread = rng.random((2, num_states, num_hands)) ** 6 * (rng.random((2, num_states, num_hands)) < 0.7)
    return spread[0], 3.0 * spread[1]


def ask(kernel, facts, reach, extra, **options):
    states = StateArrays([facts.bound], np.zeros(len(extra), np.int32), reach)
    return np.stack(kernel.evaluate(states, extra, **options), axis=1)


@pytest.mark.parametrize("name", BOARDS)
def test_features_equal_the_twins(name):
    text, deck, axes = BOARDS[name]
    facts, twin = BoardFacts(parse_board(text, deck), deck), ReferenceBoard(parse_board(text, deck), deck)
    first, second = draw_reach(np.random.default_rng(1), 2, facts.num_hands)
    second[1] = 0.0
    found = find_features(axes, StateArrays([facts.bound], np.zeros(2, np.int32), (first, second)))
    for row in range(2):
        expected = ReferenceState(twin, (first[row], second[row]), axes)
        for field in ("mass", "range", "matched", "base", "place"):
            np.testing.assert_allclose(
                getattr(found, field)[row], getattr(expected, field), atol=2e-6, err_msg=f"{field} of state {row}"
            )
        np.testing.assert_array_equal(found.segment[row], expected.segment)
    np.testing.assert_allclose(facts.potential if facts.potential is not None else twin.potential, twin.potential)


def test_showdowns_are_exact_where_one_hand_outweighs_the_others():
    facts, twin = BoardFacts(parse_board("Ts9s7h7d")), ReferenceBoard(parse_board("Ts9s7h7d"))
    reach = np.full((2, 1, facts.num_hands), 1e-4)
    reach[:, :, 500] = 1.0 - 1e-4 * (facts.num_hands - 1)
    found = find_features(CurveAxes(4, 1, 0), StateArrays([facts.bound], np.zeros(1, np.int32), tuple(reach)))
    exact = twin.ahead @ reach[1, 0] / (2 * twin.num_runouts * reach[1, 0].sum())
    np.testing.assert_allclose(found.base[0, 0], exact, atol=1e-6)


@pytest.mark.parametrize("name", BOARDS)
def test_values_equal_the_twins(name):
    text, deck, axes = BOARDS[name]
    rng = np.random.default_rng(2)
    facts, twin = BoardFacts(parse_board(text, deck), deck), ReferenceBoard(parse_board(text, deck), deck)
    kernel, layers = draw_kernel(rng, axes)
    reach = draw_reach(rng, 3, facts.num_hands)
    extra, share = rng.random((3, NUM_EXTRA)).astype(np.float32), np.array([1.0, 0.0, 0.5], np.float32)
    scale = np.array([1.0, 2.0, 3.0])
    found = ask(kernel, facts, reach, extra, share=share, scale=scale)
    for row in range(3):
        state = ReferenceState(twin, (reach[0][row], reach[1][row]), axes)
        totals = np.array([[reach[1][row].sum()], [reach[0][row].sum()]])
        expected = scale[row] * totals * state.values(layers, extra[row], share[row])
        np.testing.assert_allclose(found[row], expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", BOARDS)
def test_values_sum_to_zero_for_any_weights(name):
    text, deck, axes = BOARDS[name]
    rng = np.random.default_rng(3)
    facts = BoardFacts(parse_board(text, deck), deck)
    kernel, _ = draw_kernel(rng, axes)
    reach = draw_reach(rng, 20, facts.num_hands)
    ranges = tuple(own / own.sum(axis=1, keepdims=True) for own in reach)
    found = ask(kernel, facts, ranges, rng.random((20, NUM_EXTRA)).astype(np.float32))
    np.testing.assert_allclose(sum((ranges[player] * found[:, player]).sum(axis=1) for player in (0, 1)), 0, atol=1e-5)
    assert np.abs(found).max() > 0.1


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("permutation", [(1, 0, 2, 3), (3, 1, 2, 0), (2, 3, 1, 0)])
def test_relabelled_suits_permute_values_exactly(name, permutation):
    text, deck, axes = BOARDS[name]
    permutation = (0, 1, 3, 2) if deck is DECKS["small"] else permutation
    rng = np.random.default_rng(4)
    board = parse_board(text, deck)
    image = hand_permutation(permutation, deck)
    relabelled = BoardFacts(permute_cards(board, permutation).tolist()[::-1], deck)
    kernel, _ = draw_kernel(rng, axes)
    reach, moved = draw_reach(rng, 3, deck.num_hands), [np.empty((3, deck.num_hands)) for _ in range(2)]
    for own, to in zip(reach, moved, strict=True):
        to[:, image] = own
    extra = rng.random((3, NUM_EXTRA)).astype(np.float32)
    before = ask(kernel, BoardFacts(board, deck), reach, extra)
    after = ask(kernel, relabelled, tuple(moved), extra)
    np.testing.assert_array_equal(after[:, :, image], before)
    assert np.abs(before).max() > 0.1


def test_batches_and_threads_change_nothing():
    rng = np.random.default_rng(5)
    axes = CurveAxes(8, 2, 8)
    deck = DECKS["small"]
    boards = [BoardFacts(parse_board(text, deck), deck) for text in ("ThJhQcKs", "9cTcKcAh")]
    kernel, _ = draw_kernel(rng, axes)
    reach = draw_reach(rng, 77, deck.num_hands)
    extra = rng.random((77, NUM_EXTRA)).astype(np.float32)
    which = rng.integers(0, 2, 77).astype(np.int32)
    states = StateArrays([facts.bound for facts in boards], which, reach)
    whole = np.stack(kernel.evaluate(states, extra), axis=1)
    np.testing.assert_array_equal(np.stack(kernel.evaluate(states, extra, num_threads=3), axis=1), whole)
    for row in (0, 31, 76):
        own = tuple(np.ascontiguousarray(side[row : row + 1]) for side in reach)
        np.testing.assert_array_equal(ask(kernel, boards[which[row]], own, extra[row : row + 1])[0], whole[row])


def test_values_are_the_same_bits_everywhere():
    rng = np.random.default_rng(10)
    axes, sizes = CurveAxes(6, 2, 8), (57, 40, 40, 216)
    layers = [
        LayerArrays(
            weight=(rng.random((before, after)) - 0.5).astype(np.float32) / np.float32(4.0),
            bias=rng.random(after).astype(np.float32),
            slope=None if after == 216 else rng.random(after).astype(np.float32),
            is_residual=before == after,
        )
        for before, after in itertools.pairwise(sizes)
    ]
    kernel = CurveKernel(axes, NUM_EXTRA, layers)
    reach = tuple(rng.random((5, 1326)) * rng.random((5, 1326)) for _ in range(2))
    values = ask(kernel, BoardFacts(parse_board("Ts9s7h7d")), reach, rng.random((5, NUM_EXTRA)).astype(np.float32))
    assert hashlib.sha256(values.tobytes()).hexdigest()[:16] == "cbae58c214f3fcef"


def test_reaches_of_the_deck_and_of_live_hands_give_the_same_values():
    rng = np.random.default_rng(6)
    facts = BoardFacts(parse_board("Ks7h2d9cKh"))
    kernel, _ = draw_kernel(rng, CurveAxes(8, 1, 8))
    reach = draw_reach(rng, 2, 1326)
    live = tuple(np.ascontiguousarray(own[:, facts.hands]) for own in reach)
    extra = rng.random((2, NUM_EXTRA)).astype(np.float32)
    by_deck = ask(kernel, facts, reach, extra)
    np.testing.assert_array_equal(by_deck[:, :, facts.hands], ask(kernel, facts, live, extra))
    assert (np.delete(by_deck, facts.hands, axis=2) == 0.0).all()


def test_who_holds_nothing_leaves_the_other_nothing():
    rng = np.random.default_rng(7)
    facts = BoardFacts(parse_board("Ks7h2d9cKh"))
    kernel, _ = draw_kernel(rng, CurveAxes(8, 1, 8))
    reach = np.zeros((1, 1326)), rng.random((1, 1326))
    found = ask(kernel, facts, reach, np.zeros((1, NUM_EXTRA), np.float32))
    assert (found[0, 1] == 0.0).all()
    assert np.abs(found[0, 0]).max() > 0.1


def test_tie_groups_are_never_split():
    facts = BoardFacts(parse_board("AsKsQsJsTs"))  # everybody has the same hand
    reach = draw_reach(np.random.default_rng(8), 1, facts.num_hands)
    found = find_features(CurveAxes(32, 1, 8), StateArrays([facts.bound], np.zeros(1, np.int32), reach))
    assert (found.place == 16.0).all()
    assert (found.base == 0.0).all()


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (CurveAxes(1, 1, 0), "cells must be between 2 and 4096, got 1"),
        (CurveAxes(2, 1, 3), "segments must be a multiple of 8, got 3"),
        (CurveAxes(2, 0, 8), "potential_cells must be between 1 and 256, got 0"),
    ],
)
def test_axes_that_cannot_be_read_are_refused(axes, message):
    with pytest.raises(ConfigError, match=message):
        CurveKernel(axes, 0, [])


def test_arrays_that_do_not_fit_are_refused():
    rng = np.random.default_rng(9)
    facts, axes = BoardFacts(parse_board("Ks7h2d9cKh")), CurveAxes(8, 1, 8)
    kernel, layers = draw_kernel(rng, axes)
    extra = np.zeros((1, NUM_EXTRA), np.float32)
    with pytest.raises(ValueError, match="live hands or all"):
        ask(kernel, facts, draw_reach(rng, 1, 1000), extra)
    with pytest.raises(ValueError, match="reach must be finite"):
        ask(kernel, facts, (np.full((1, 1326), np.nan), np.ones((1, 1326))), extra)
    with pytest.raises(ValueError, match="board_of must be at least 0 and below 1"):
        find_features(axes, StateArrays([facts.bound], np.ones(1, np.int32), draw_reach(rng, 1, 1326)))
    with pytest.raises(ValueError, match="need boards with potential"):
        find_features(CurveAxes(8, 2, 8), StateArrays([facts.bound], np.zeros(1, np.int32), draw_reach(rng, 1, 1326)))
    with pytest.raises(ValueError, match="weight of layer 0 must have shape"):
        CurveKernel(axes, NUM_EXTRA + 1, layers)
    with pytest.raises(ValueError, match="must leave a hand"):
        ValueBoard(np.zeros(1326, np.uint16), np.zeros((1326, 2), np.uint8))


def test_a_perceptron_equals_its_twin():
    rng = np.random.default_rng(4)
    layers, inputs = draw_layers(rng, (11, 20, 20, 6)), rng.standard_normal((9, 11)).astype(np.float32)
    kernel = PerceptronKernel(11, 6, layers)
    np.testing.assert_allclose(kernel.run(inputs), run_layers(layers, inputs), rtol=1e-5, atol=1e-5)
    assert (kernel.run(inputs[3:5]) == kernel.run(inputs)[3:5]).all()
    with pytest.raises(ValueError, match="inputs"):
        kernel.run(inputs[:, :5].copy())
