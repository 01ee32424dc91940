# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.core.errors import AbandonedError, ConfigError
from equipoise.games.registry import make_game
from equipoise.kernels.walks import WalkKernel
from equipoise.responses.sampled import find_calls
from equipoise.solvers.best_response import bind_history_kernel
from equipoise.solvers.mccfr import lay_out_for_sampling
from equipoise.trees.history import build_history_tree
from tests.reference import walks as reference
from tests.reference.regrets import by_label
from tests.reference.sampling import Xoshiro

GAMES = {
    "kuhn": make_game("kuhn"),
    "leduc": make_game("leduc", ranks=2),
    "merged": make_game("leduc", merge_suits=True, max_raises=1),  # chance that is not uniform
    "matrix": make_game("matrix", payoffs="1,0,-2,3,1;-1,1,3,0,2"),  # five actions
    "liars_dice": make_game("liars_dice", faces=2),
}


def prepare(name, seed=3):
    tree = build_history_tree(GAMES[name])
    kernel = bind_history_kernel(tree)
    rng = np.random.default_rng(seed)
    # a third of the actions is never played
    strategy = kernel.normalize(rng.exponential(size=kernel.num_sequences) * (rng.random(kernel.num_sequences) < 0.67))
    words = rng.integers(1, 2**64 - 1, size=4, dtype=np.uint64)
    return tree, WalkKernel(lay_out_for_sampling(tree)), strategy, words


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("exploration", [0.0, 2.5])
def test_searches_equal_the_twins(name, player, exploration):
    tree, walks, strategy, words = prepare(name)
    generator = Xoshiro(words)
    found = walks.search_uct(
        player, strategy, num_iterations=400, exploration=exploration, fallback=find_calls(tree), random_words=words
    )
    twin = reference.search_uct(GAMES[name], player, by_label(tree, strategy), 400, exploration, generator.draw)
    assert generator.words == words.tolist()
    calls = find_calls(tree)
    for infoset in range(tree.infoset_start[player], tree.infoset_start[player + 1]):
        first, count = tree.first_sequence[infoset], tree.num_actions[infoset]
        expected = np.zeros(count)
        expected[twin.get(tree.infoset_labels[infoset], calls[infoset])] = 1.0
        np.testing.assert_array_equal(found[first : first + count], expected)
    assert len(twin) > 0


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("player", [0, 1])
def test_counts_equal_the_twins(name, player):
    tree, walks, strategy, words = prepare(name, seed=8)
    generator = Xoshiro(words)
    counts = walks.count_actions(player, strategy, num_hands=300, random_words=words)
    twin = reference.count_actions(GAMES[name], player, by_label(tree, strategy), 300, generator.draw)
    assert generator.words == words.tolist()
    assert counts.sum() == sum(sum(row) for row in twin.values()) > 0
    for infoset in range(tree.infoset_start[player], tree.infoset_start[player + 1]):
        first, count = tree.first_sequence[infoset], tree.num_actions[infoset]
        expected = twin.get(tree.infoset_labels[infoset], [0] * count)
        assert counts[first : first + count].tolist() == expected
    assert counts[strategy == 0].sum() == 0


def test_nothing_is_left_of_an_earlier_search():
    # P17: answers depend on what is answered and on the draws alone
    tree, walks, strategy, words = prepare("leduc")
    call = {"num_iterations": 500, "exploration": 2.0, "fallback": find_calls(tree)}
    first = walks.search_uct(0, strategy, random_words=words.copy(), **call)
    walks.search_uct(1, strategy[::-1].copy(), random_words=words.copy() + np.uint64(1), **call)
    np.testing.assert_array_equal(walks.search_uct(0, strategy, random_words=words.copy(), **call), first)


def test_long_calls_ask_whether_they_are_wanted():
    tree, walks, strategy, words = prepare("kuhn")
    call = {"exploration": 2.0, "fallback": find_calls(tree)}
    first = walks.search_uct(0, strategy, num_iterations=200_000, random_words=words.copy(), **call)
    asked = []
    assert walks.search_uct(
        0, strategy, num_iterations=200_000, random_words=words.copy(), is_interrupted=lambda: asked.append(1), **call
    ) == pytest.approx(first)
    assert len(asked) == 3
    with pytest.raises(AbandonedError, match="a search was given up"):
        walks.search_uct(0, strategy, num_iterations=10**12, random_words=words, is_interrupted=lambda: True, **call)
    with pytest.raises(AbandonedError, match="a series of hands"):
        walks.count_actions(0, strategy, num_hands=10**12, random_words=words, is_interrupted=lambda: True)
    with pytest.raises(ZeroDivisionError):  # what a question raises comes through
        walks.count_actions(0, strategy, num_hands=10**12, random_words=words, is_interrupted=lambda: 1 / 0)


def test_bad_input_is_refused():
    tree, walks, strategy, words = prepare("kuhn")
    call = {"num_iterations": 1, "exploration": 1.0, "fallback": find_calls(tree), "random_words": words}
    with pytest.raises(ConfigError, match="player"):
        walks.search_uct(2, strategy, **call)
    with pytest.raises(ConfigError, match="exploration must be at least 0"):
        walks.search_uct(0, strategy, **{**call, "exploration": -1.0})
    with pytest.raises(ValueError, match="fallback"):
        walks.search_uct(0, strategy, **{**call, "fallback": find_calls(tree) + np.int32(5)})
    with pytest.raises(ValueError, match="strategy"):
        walks.search_uct(0, strategy[1:], **call)
    with pytest.raises(ValueError, match="random_words must not all be zero"):
        walks.count_actions(0, strategy, num_hands=1, random_words=np.zeros(4, np.uint64))
    with pytest.raises(ConfigError, match="num_hands must be at least 0, got -1"):
        walks.count_actions(0, strategy, num_hands=-1, random_words=words)
    with pytest.raises(ConfigError, match="num_hands must be between 0 and"):
        walks.count_actions(0, strategy, num_hands=10**30, random_words=words)
