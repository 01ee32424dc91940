# SPDX-License-Identifier: Apache-2.0
"""Q-learning and self-play on trees: against their twins, with the same draws, and what they refuse."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.learning import LearningKernel
from equipoise.solvers.mccfr import lay_out_for_sampling
from equipoise.trees.history import build_history_tree
from tests.reference.sampling import Xoshiro
from tests.reference.self_play import ReferenceQLearner, play_game

GAMES = {
    "kuhn3": make_game("kuhn", players=3),
    "goofspiel3r": make_game("goofspiel", cards=3, prizes="random"),
    "merged": make_game("leduc", merge_suits=True, max_raises=1),
}


def make_words():
    return np.random.default_rng(5).integers(1, 2**64 - 1, size=4, dtype=np.uint64)


def make_kernel(tree):
    return LearningKernel(lay_out_for_sampling(tree))


def row_of(tree, player, infostate):
    """Returns the information set and where its sequences are."""
    start, end = tree.infoset_start[player : player + 2]
    infoset = start + tree.infoset_labels[start:end].index(infostate)
    first = tree.first_sequence[infoset]
    return infoset, slice(first, first + tree.num_actions[infoset])


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("step_size", [0.3, 1.0])
def test_learned_values_equal_the_twins(name, step_size):
    tree = build_history_tree(GAMES[name])
    words, value = make_words(), np.zeros(int(tree.sequence_start[-1]))
    twin = ReferenceQLearner(GAMES[name], step_size, 0.25, Xoshiro(words).draw)
    make_kernel(tree).learn_values(value, words, 200, step_size=step_size, exploration=0.25)
    for _ in range(200):
        twin.play_game()
    expected = np.zeros_like(value)
    for (player, infostate), row in twin.value.items():
        expected[row_of(tree, player, infostate)[1]] = row
    np.testing.assert_allclose(value, expected, atol=1e-12)
    assert np.abs(value).max() > 0.1


@pytest.mark.parametrize("name", GAMES)
def test_decisions_equal_the_twins(name):
    tree = build_history_tree(GAMES[name])
    words, strategy = make_words(), np.ones(int(tree.sequence_start[-1]))
    rng, draw = np.random.default_rng(1), Xoshiro(words).draw
    for first, count in zip(tree.first_sequence, tree.num_actions, strict=True):
        strategy[first : first + count] = rng.dirichlet(np.ones(count))
    decisions = make_kernel(tree).play(strategy, words, 50)
    games = [
        play_game(GAMES[name], lambda player, text: strategy[row_of(tree, player, text)[1]], draw) for _ in range(50)
    ]
    expected = [
        (
            row_of(tree, player, infostate)[1].start + chosen,
            -1 if following is None else row_of(tree, player, following)[0],
            returned,
        )
        for game in games
        for player, infostate, chosen, following, returned in game
    ]
    assert list(zip(*(column.tolist() for column in decisions), strict=True)) == expected


def test_longest_game_has_room():
    assert make_kernel(build_history_tree(make_game("leduc"))).longest == 8
    assert make_kernel(build_history_tree(make_game("kuhn"))).longest == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step_size": 0.0}, "step_size must be above 0 and at most 1, got 0.0"),
        ({"exploration": 1.5}, "exploration must be between 0 and 1, got 1.5"),
    ],
)
def test_settings_out_of_range_are_refused(changes, message):
    tree = build_history_tree(make_game("kuhn"))
    settings = {"step_size": 0.1, "exploration": 0.1, **changes}
    with pytest.raises(ConfigError, match=message):
        make_kernel(tree).learn_values(np.zeros(int(tree.sequence_start[-1])), make_words(), 1, **settings)


def test_generator_without_a_bit_is_refused():
    tree = build_history_tree(make_game("kuhn"))
    with pytest.raises(ValueError, match="random_words must not all be zero"):
        make_kernel(tree).play(np.ones(int(tree.sequence_start[-1])), np.zeros(4, np.uint64), 1)
