# SPDX-License-Identifier: Apache-2.0
"""Networks at the leaves of trees that grow: runs within the core against the same in Python, laws of values."""

import functools

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games import make_game, parse_game
from equipoise.games.holdem.merged_suits import SuitMergedHoldem
from equipoise.games.perfect_information import PerfectInformationGame
from equipoise.games.scotland_yard import ScotlandYardPublicGame
from equipoise.kernels.public_nets import PublicNetKernel
from equipoise.search.beliefs import PublicBelief
from equipoise.search.growing_tree import GrowingTree, Growth, RuleBook
from equipoise.search.leaves import batch_beliefs
from equipoise.search.public_features import find_features
from equipoise.trees.derive import derive_public_game
from tests.reference.public_nets import random_leaves


@functools.cache
def form_of(name):
    if name == "glasses":
        game = make_game("glasses", board="glasses-b", rounds=3)
        return game, ScotlandYardPublicGame(game)
    if name == "town":
        game = make_game("scotland_yard_town", starts=(1, 10, 15, 30))
        return game, ScotlandYardPublicGame(game)
    if name == "tic_tac_toe":
        game = make_game(name)
        return game, PerfectInformationGame(game)
    if name == "flop_holdem":
        game = make_game(name, deck="QKA/dhs")
        return game, SuitMergedHoldem(game)
    game = make_game("liars_dice", faces=3) if name == "dice" else make_game(name)
    return game, derive_public_game(game)


FORMS = ("kuhn", "leduc", "dice", "glasses", "town", "tic_tac_toe", "flop_holdem")


def leaves_of(name, **settings):
    return random_leaves(find_features(*form_of(name)), **settings)


def belief_of(form, state, scale=(1.0, 1.0), seed=3):
    rng = np.random.default_rng(seed)
    reach = tuple(scale[player] * rng.random(form.num_private(state, player)) for player in (0, 1))
    return PublicBelief(reach=reach, joint=form.joint_weights(state))


def grown(name, leaves, *, in_core=True, seed=0, **growth):
    form = form_of(name)[1]
    state = form.initial_state()
    tree = GrowingTree(
        RuleBook(form),
        state,
        belief_of(form, state),
        leaves,
        growth=Growth(**growth),
        rng=np.random.default_rng(seed),
        keeps_queries=not in_core,
    )
    tree.grow()
    return tree


@pytest.mark.parametrize(
    "growth",
    [
        {"simulations": 30},
        {"simulations": 30, "per_sweep": 10, "first_children": 1, "uses_prior": False},
        {"simulations": 12, "per_sweep": 0.5, "is_alternating": True, "first_children": 0, "has_last_sweep": True},
    ],
)
@pytest.mark.parametrize("name", FORMS)
def test_runs_within_the_core_are_those_of_python(name, growth):
    leaves = leaves_of(name)
    core, plain = (grown(name, leaves, in_core=in_core, **growth) for in_core in (True, False))

    assert list(core.node) == list(plain.node)
    assert core.states == plain.states
    assert (core.num_sweeps, core.num_walks, core.num_asked) == (plain.num_sweeps, plain.num_walks, plain.num_asked)
    for player in (0, 1):
        np.testing.assert_array_equal(core.arena.average_values(0, player), plain.arena.average_values(0, player))
    np.testing.assert_array_equal(core.policy(core.start), plain.policy(plain.start))


def test_nothing_is_asked_twice_where_nothing_is_hidden():
    tree = grown("tic_tac_toe", leaves_of("tic_tac_toe"), simulations=80, first_children=1)

    assert tree.num_asked <= len(tree.states) == 1 + 9 + 80


def batch_of(name, scale=(1.0, 1.0)):
    form = form_of(name)[1]
    state = form.initial_state()
    states = [state, *(edge.child for edge in form.edges(state))]
    return batch_beliefs(states, [belief_of(form, each, scale) for each in states])


@pytest.mark.parametrize("takes_roots", [False, True])
@pytest.mark.parametrize("name", FORMS)
def test_scaled_reaches_scale_the_values_of_the_other(name, takes_roots):
    leaves = leaves_of(name, takes_roots=takes_roots)
    first, second = leaves.evaluate(batch_of(name)).cfv
    scaled_first, scaled_second = leaves.evaluate(batch_of(name, (4.0, 0.5))).cfv

    np.testing.assert_allclose(scaled_first, 0.5 * first, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(scaled_second, 4.0 * second, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", FORMS)
def test_values_of_both_sum_to_zero(name):
    batch = batch_of(name)
    cfv = leaves_of(name).evaluate(batch).cfv

    earned = sum((own * reach).sum(axis=1) for own, reach in zip(cfv, batch.reach, strict=True))
    np.testing.assert_allclose(earned, 0.0, atol=1e-12)


def test_one_at_a_time_says_what_a_batch_says():
    leaves, batch = leaves_of("leduc"), batch_of("leduc")
    form = form_of("leduc")[1]
    whole = leaves.evaluate(batch)
    for row, state in enumerate(batch.states):
        alone = leaves.evaluate(batch_beliefs([state], [belief_of(form, state)]))
        np.testing.assert_array_equal(alone.cfv[0][0], whole.cfv[0][row, : alone.cfv[0].shape[1]])


def test_priors_are_shares_of_actions():
    tree = grown("leduc", leaves_of("leduc"), simulations=20)
    legal = form_of("leduc")[1].legality(tree.states[2])
    prior = tree.arena.read_table("prior", 2)

    np.testing.assert_allclose(prior.sum(axis=1), 1.0)
    assert (prior[legal] > 0).all()
    assert np.ptp(prior) > 0.01


def test_reaches_of_nobody_are_even_ranges():
    form = form_of("kuhn")[1]
    leaves = leaves_of("kuhn")
    nobody, even = (
        PublicBelief(reach=(np.full(3, size), np.ones(3)), joint=form.joint_weights(0)) for size in (0.0, 1.0)
    )
    found = [leaves.evaluate(batch_beliefs([0], [belief])).cfv for belief in (nobody, even)]

    np.testing.assert_allclose(found[0][0], found[1][0])
    assert (found[0][1] == 0).all()


def test_queries_are_drawn_from_all_that_was_asked():
    form = form_of("kuhn")[1]
    belief = PublicBelief(reach=(np.ones(3), np.ones(3)), joint=form.joint_weights(0))
    leaves, states = leaves_of("kuhn"), []
    for seed in range(40):
        tree = GrowingTree(
            RuleBook(form), 0, belief, leaves, growth=Growth(simulations=4), rng=np.random.default_rng(0)
        )
        found = tree.grow(num_queries=2, rng=np.random.default_rng(seed))
        assert len(found) == 2
        states += [query.state for query in found]
        assert all(query.reach[player].shape == (3,) for query in found for player in (0, 1))

    assert len(set(states)) > 1
    assert all(form.actor(state) >= 0 for state in states)


def test_a_network_for_another_game_is_refused():
    leduc, kuhn = leaves_of("leduc"), leaves_of("kuhn")
    with pytest.raises(ConfigError, match="the network must have 15 inputs and 18 outputs, got 77 and 48"):
        PublicNetKernel(kuhn.features.sizes, leduc._layers)
    with pytest.raises(ConfigError, match="the network is for"):
        leduc.kernel.read(kuhn.book(RuleBook(form_of("kuhn")[1])).pages)


@pytest.mark.parametrize(("moves", "best"), [((0, 3, 1, 4), 2), ((0, 4, 1), 2), ((0, 4, 1, 2), 6), ((4, 0, 2), 6)])
def test_tic_tac_toe_is_played_well_whatever_the_network_says(moves, best):
    game, form = form_of("tic_tac_toe")
    inside = functools.reduce(game.apply, moves, game.initial_state())
    state = form.initial_state()._replace(inside=inside)
    belief = PublicBelief(reach=(np.ones(1), np.ones(1)), joint=np.ones((1, 1)))
    growth = Growth(simulations=1500, first_children=1, uses_prior=False)
    tree = GrowingTree(
        RuleBook(form), state, belief, leaves_of("tic_tac_toe"), growth=growth, rng=np.random.default_rng(1)
    )
    tree.grow()

    assert form.legal_actions(state)[int(tree.policy(0)[0].argmax())] == best


@pytest.mark.parametrize(
    ("moves", "best"),
    [
        ((0, 1, 0, 1, 0, 1), 0),  # three in a column win with the fourth
        ((0, 1, 0, 1, 0, 6), 0),
        ((0, 6, 0, 5, 0), 0),  # and must be stopped
        ((2, 2, 3, 3, 0), 1),  # a gap between them too
    ],
)
def test_endings_of_connect_four_are_played_well_whatever_the_network_says(moves, best):
    pytest.importorskip("pyspiel", reason="connect four is OpenSpiel's")
    game = parse_game("openspiel:connect_four")
    form = PerfectInformationGame(game)
    inside = functools.reduce(game.apply, moves, game.initial_state())
    state = form.initial_state()._replace(inside=inside)
    belief = PublicBelief(reach=(np.ones(1), np.ones(1)), joint=np.ones((1, 1)))
    growth = Growth(simulations=500, first_children=1, uses_prior=False)
    leaves = random_leaves(find_features(game, form))
    tree = GrowingTree(RuleBook(form), state, belief, leaves, growth=growth, rng=np.random.default_rng(1))
    tree.grow()

    assert form.legal_actions(state)[int(tree.policy(0)[0].argmax())] == best
    assert tree.num_asked <= len(tree.states)
