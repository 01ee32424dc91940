# SPDX-License-Identifier: Apache-2.0
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.responses.exact import (
    AbstractBestResponse,
    BestResponse,
    LibraryResponse,
    RandomLibraryResponse,
    StaticResponse,
)
from equipoise.responses.on_tree import OnTree
from equipoise.solvers.best_response import evaluate
from equipoise.trees.cache import load_or_build_public_tree
from equipoise.trees.history import build_history_tree
from equipoise.trees.merging import group_infosets

LEDUC = build_history_tree(make_game("leduc", merge_suits=True))
ON_LEDUC = OnTree(LEDUC)
BLIND = group_infosets(LEDUC, lambda player, label: (player, re.sub("[JQK]", "", label)))
seeds = st.integers(0, 2**32 - 1)


def random_strategy(rng, on_tree=ON_LEDUC):
    return on_tree.kernel.normalize(rng.exponential(size=on_tree.kernel.num_table_cells) ** 3)


def pretty_good_responses():
    rng = np.random.default_rng(0)
    members = [random_strategy(rng) for _ in range(5)]
    return {
        "best": BestResponse(LEDUC),
        "abstract": AbstractBestResponse(LEDUC, BLIND),
        "static": StaticResponse(LEDUC, members[0]),
        "library": LibraryResponse(LEDUC, members),
    }


RESPONSES = pretty_good_responses()


@pytest.mark.parametrize("name", RESPONSES)
@pytest.mark.parametrize("seat", [0, 1])
@given(seed=seeds)
@settings(max_examples=10)
def test_answering_the_truth_never_hurts(name, seat, seed):
    # P1: [D15] definition 12 and lemma 1
    rng, response = np.random.default_rng(seed), RESPONSES[name]
    truth, other = random_strategy(rng), random_strategy(rng)
    assert response.is_pretty_good
    assert response.deterministic
    right = ON_LEDUC.value(response.respond(truth, seat, rng), seat)
    wrong = ON_LEDUC.value(ON_LEDUC.combine(truth, response.respond(other, seat, rng), seat), seat)
    assert right >= wrong - 1e-12


@pytest.mark.parametrize("seat", [0, 1])
def test_best_response_is_the_solvers(seat):
    strategy = random_strategy(np.random.default_rng(1))
    profile = BestResponse(LEDUC).respond(strategy, seat, np.random.default_rng(0))
    assert ON_LEDUC.value(profile, seat) == pytest.approx(evaluate(LEDUC, strategy).best_response_values[seat])
    np.testing.assert_array_equal(profile[ON_LEDUC.table_cells[1 - seat]], strategy[ON_LEDUC.table_cells[1 - seat]])


def test_best_response_on_a_public_tree():
    tree = load_or_build_public_tree(make_game("leduc", merge_suits=True))
    on_tree = OnTree(tree)
    strategy = random_strategy(np.random.default_rng(1), on_tree)
    expected = evaluate(tree, strategy)
    profile = BestResponse(tree).respond(strategy, 1, np.random.default_rng(0))
    assert on_tree.value(profile, 1) == pytest.approx(expected.best_response_values[1])
    assert on_tree.evaluate(strategy).nash_conv == pytest.approx(expected.nash_conv)


@given(seed=seeds)
@settings(max_examples=10)
def test_larger_sets_cost_the_evaluated_player_more(seed):
    # P11: nested abstractions, and a library inside all strategies
    rng = np.random.default_rng(seed)
    strategy = random_strategy(rng)
    halves = group_infosets(LEDUC, lambda player, label: (player, label.replace("Q", "J")))
    nested = [AbstractBestResponse(LEDUC, BLIND), AbstractBestResponse(LEDUC, halves), BestResponse(LEDUC)]
    values = [ON_LEDUC.value(response.respond(strategy, 1, rng), 0) for response in nested]
    assert values[0] >= values[1] - 1e-12
    assert values[1] >= values[2] - 1e-12
    assert ON_LEDUC.value(RESPONSES["library"].respond(strategy, 1, rng), 0) >= values[2] - 1e-12


def test_an_abstraction_says_how_much_it_tells_apart():
    response = RESPONSES["abstract"]
    assert (response.num_infosets(0), response.num_infosets(1)) == (18, 18)
    played = response.respond(random_strategy(np.random.default_rng(0)), 0, np.random.default_rng(0))
    cells = [int(LEDUC.first_sequence[LEDUC.infoset_labels.index(label)]) for label in ("J|", "Q|", "K|")]
    assert len({tuple(played[cell : cell + 2]) for cell in cells}) == 1


def test_a_random_library_draws_without_looking():
    rng = np.random.default_rng(0)
    members = [random_strategy(rng) for _ in range(4)]
    response = RandomLibraryResponse(LEDUC, members, num_drawn=2)
    assert not response.deterministic
    strategy = random_strategy(rng)
    answers = [response.respond(strategy, 0, np.random.default_rng(seed)) for seed in (1, 1, 2, 3, 4)]
    np.testing.assert_array_equal(answers[0], answers[1])
    assert any(not np.array_equal(answers[0], answer) for answer in answers[2:])


def test_bad_input_is_refused():
    with pytest.raises(ConfigError, match=r"two players, and .*kuhn.* has 3"):
        BestResponse(build_history_tree(make_game("kuhn", players=3)))
    with pytest.raises(ConfigError, match=r"zero-sum games, and .* is not"):
        BestResponse(build_history_tree(make_game("matrix", payoffs="1,2;3,4", column_payoffs="1,2;3,4")))
    with pytest.raises(ConfigError, match="at least one strategy"):
        LibraryResponse(LEDUC, [])
    with pytest.raises(ConfigError, match="1 to 1, got 2"):
        RandomLibraryResponse(LEDUC, [np.ones(ON_LEDUC.kernel.num_cells)], num_drawn=2)
    with pytest.raises(ConfigError, match=r"a static strategy must have shape .* got \(3,\)"):
        StaticResponse(LEDUC, np.ones(3))
