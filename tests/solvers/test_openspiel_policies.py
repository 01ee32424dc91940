# SPDX-License-Identifier: Apache-2.0
"""Strategies as policies of OpenSpiel and back; it evaluates them as we do."""

import numpy as np
import pytest

import equipoise
from equipoise.core.errors import ConfigError
from equipoise.games import make_game, parse_game
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.openspiel_policies import from_openspiel, to_openspiel
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.history import build_history_tree

pytest.importorskip("pyspiel")

from open_spiel.python import policy as policies
from open_spiel.python.algorithms import expected_game_score, exploitability
from pyspiel import load_game as load

GAMES = [
    ("openspiel:kuhn_poker", None),
    ("openspiel:kuhn_poker(players=3)", None),
    ("openspiel:goofspiel(num_cards=3,imp_info=True,points_order=descending)", None),
    ("kuhn", None),
    ("kuhn(players=3)", None),
    (
        "goofspiel(cards=3,reveal_bids=false,payoff=win_loss)",
        "goofspiel(num_cards=3,imp_info=True,points_order=ascending)",
    ),
]


def random_strategy(game, seed=0):
    """Returns a strategy whose numbers are all different."""
    tree = build_history_tree(game)
    rng = np.random.default_rng(seed)
    uniform = np.ones(int(tree.sequence_start[-1]))
    for first, count in zip(tree.first_sequence.tolist(), tree.num_actions.tolist(), strict=True):
        uniform[first : first + count] = rng.dirichlet(np.ones(count))
    return tree, TabularStrategy.from_tree(tree, uniform)


@pytest.mark.parametrize(("text", "theirs"), GAMES, ids=[text for text, _ in GAMES])
def test_a_strategy_goes_over_and_comes_back(text, theirs):
    game = parse_game(text)
    tree, strategy = random_strategy(game)
    policy = to_openspiel(strategy, game, theirs)
    root = policy.game.new_initial_state()
    scores = expected_game_score.policy_value(root, [policy] * game.spec.num_players)
    assert scores == pytest.approx(evaluate(tree, strategy.to_tree(tree)).values, abs=1e-9)
    back = from_openspiel(policy, game, theirs)
    np.testing.assert_allclose(back.to_tree(tree), strategy.to_tree(tree), atol=1e-12)


def test_openspiel_finds_our_solution_as_good_as_we_do():
    solution = equipoise.solve("kuhn", target=1e-3)
    policy = to_openspiel(solution.strategy, solution.game)
    assert exploitability.exploitability(policy.game, policy) == pytest.approx(solution.exploitability, abs=1e-9)


def test_leduc_goes_over_too():
    game = make_game("leduc", merge_suits=True)
    tree, strategy = random_strategy(game)
    policy = to_openspiel(strategy, game)
    assert policy.game.get_parameters()["suit_isomorphism"]
    np.testing.assert_allclose(from_openspiel(policy, game).to_tree(tree), strategy.to_tree(tree), atol=1e-12)


def test_policies_that_are_no_tables_come_in():
    game = make_game("kuhn")
    first = policies.FirstActionPolicy(make_game("openspiel:kuhn_poker").initial_state().inner.get_game())
    assert from_openspiel(first, game).to_dict()[0]["K:"] == {"check": 1.0, "bet": 0.0}


@pytest.mark.parametrize(
    ("text", "theirs", "message"),
    [
        ("leduc", "kuhn_poker", "is not kuhn_poker.*: ours has chance of 6 outcomes"),
        ("kuhn", "kuhn_poker(players=3)", "is not kuhn_poker"),
        ("matrix(payoffs=2,-2;-2,2)", "matrix_mp", "ours has returns"),
        ("rps_plus", None, "say which game of OpenSpiel rps_plus is; known without saying: kuhn, leduc"),
        ("openspiel:kuhn_poker", "kuhn_poker", "is a game of OpenSpiel itself"),
    ],
)
def test_games_that_differ_are_refused(text, theirs, message):
    game = parse_game(text)
    _, strategy = random_strategy(game)
    with pytest.raises(ConfigError, match=message):
        to_openspiel(strategy, game, theirs)


def test_what_openspiel_cannot_tell_apart_is_said():
    game = make_game("goofspiel", cards=4, prizes="descending", payoff="win_loss")
    _, strategy = random_strategy(game)
    with pytest.raises(ConfigError, match=r"does not tell .* apart, and the strategy plays them differently"):
        to_openspiel(strategy, game, "goofspiel(num_cards=4,points_order=descending)")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: from_openspiel(policies.TabularPolicy(load("leduc_poker")), "kuhn"),
            "must be for kuhn_poker of OpenSpiel",
        ),
        (
            lambda: from_openspiel(policies.TabularPolicy(load("kuhn_poker")), "leduc"),
            "must be for leduc_poker of OpenSpiel",
        ),
        (lambda: from_openspiel(None, "kuhn"), r"policy must have action_probabilities\(state, player\), got None"),
        (lambda: from_openspiel(policies.TabularPolicy(load("kuhn_poker")), None), "game must be a Game .*, got None"),
        (lambda: to_openspiel(None, "kuhn"), "strategy must be a TabularStrategy .*, got None"),
        (lambda: to_openspiel(equipoise.solve("kuhn", iterations=1).strategy, "kuhn", 3), "must be a text, got 3"),
        (lambda: equipoise.games.load_openspiel(None), "an OpenSpiel game must be a text, got None"),
    ],
)
def test_what_does_not_fit_is_refused(ask, message):
    with pytest.raises(ConfigError, match=message):
        ask()
