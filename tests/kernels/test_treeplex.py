# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.games.registry import make_game
from equipoise.kernels.treeplex import TreeplexKernel
from equipoise.solvers.best_response import bind_history_kernel
from equipoise.trees.history import build_history_tree
from tests.reference import treeplex as reference

TREE = build_history_tree(make_game("leduc", ranks=2, max_raises=1))
KERNEL = bind_history_kernel(TREE)
TREEPLEX = TreeplexKernel(KERNEL, growth=0.5)
seeds = st.integers(0, 2**32 - 1)


def random_strategy(rng):
    return KERNEL.normalize(rng.exponential(size=KERNEL.num_sequences))


def test_weights_equal_the_twins():
    twin = [reference.dilated_weight(TREE, infoset, 1.0, 0.5) for infoset in range(KERNEL.num_infosets)]
    np.testing.assert_allclose(TREEPLEX.weights, twin)
    assert TREEPLEX.weights.max() > TREEPLEX.weights.min() == 1.0


@pytest.mark.parametrize("player", [0, 1])
@given(seed=seeds, mu=st.floats(1e-3, 10.0))
def test_responses_equal_the_twins(player, seed, mu):
    rng = np.random.default_rng(seed)
    gains, prior = rng.normal(size=KERNEL.num_sequences), random_strategy(rng)
    value, log_strategy, realization = TREEPLEX.respond(player, gains, mu, np.log(prior))
    twin_value, twin_strategy = reference.respond(TREE, player, gains, mu, TREEPLEX.weights, prior)
    own = slice(TREE.sequence_start[player], TREE.sequence_start[player + 1])
    assert value == pytest.approx(twin_value, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(np.exp(log_strategy[own]), twin_strategy[own], atol=1e-9)
    np.testing.assert_allclose(realization[own], KERNEL.realize(twin_strategy)[own], atol=1e-9)


@given(seed=seeds, mu=st.floats(1e-2, 10.0))
def test_no_strategy_beats_the_smoothed_response(seed, mu):
    rng = np.random.default_rng(seed)
    gains, prior, rival = rng.normal(size=KERNEL.num_sequences), random_strategy(rng), random_strategy(rng)
    value, _, realization = TREEPLEX.respond(0, gains, mu, np.log(prior))
    own = slice(TREE.sequence_start[0], TREE.sequence_start[1])

    def score(reach):
        entropy = reference.dilated_entropy(TREE, 0, reach, TREEPLEX.weights, prior)
        return gains[own] @ reach[own] - mu * entropy

    assert score(realization) == pytest.approx(value, abs=1e-9)
    assert score(KERNEL.realize(rival)) <= value + 1e-9


@given(seeds)
def test_entropy_lies_between_zero_and_the_diameter(seed):
    rng = np.random.default_rng(seed)
    pure = KERNEL.normalize((rng.uniform(size=KERNEL.num_sequences) < 0.2).astype(float))
    uniform = np.exp(TREEPLEX.log_uniform)
    for strategy in (pure, random_strategy(rng)):
        entropy = reference.dilated_entropy(TREE, 1, KERNEL.realize(strategy), TREEPLEX.weights, uniform)
        assert -1e-12 <= entropy <= TREEPLEX.diameter(1) + 1e-9
    flat = reference.dilated_entropy(TREE, 1, KERNEL.realize(uniform), TREEPLEX.weights, uniform)
    assert flat == pytest.approx(0.0, abs=1e-12)


def test_little_smoothing_gives_a_best_response_without_overflow():
    uniform = KERNEL.realize(KERNEL.normalize(np.zeros(KERNEL.num_sequences)))
    gains = KERNEL.terminal_values(0, uniform)
    value, _, realization = TREEPLEX.respond(0, gains, 1e-12)
    assert value == pytest.approx(KERNEL.best_response(0, uniform)[0], abs=1e-9)
    assert np.isfinite(realization).all()


def test_bad_weights_are_refused():
    with pytest.raises(ValueError, match="scale must be positive"):
        TreeplexKernel(KERNEL, scale=0.0)
