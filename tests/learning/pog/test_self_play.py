# SPDX-License-Identifier: Apache-2.0
"""Sound self-play: what is learnt, how many queries are solved, beliefs along episodes, outcomes, giving up."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games import make_game
from equipoise.learning.pog.games import SelfPlayGame
from equipoise.learning.pog.self_play import SoundSelfPlay, _round_at_random
from equipoise.learning.pog.settings import PRESETS, PogSettings, find_preset
from equipoise.solvers import CFRPlus, CFRSolver
from equipoise.trees.public import build_public_tree
from tests.reference.public_nets import random_leaves

GAMES = {
    "kuhn": SelfPlayGame(make_game("kuhn")),
    "leduc": SelfPlayGame(make_game("leduc", merge_suits=True)),
    "glasses": SelfPlayGame(make_game("glasses", board="glasses-b", rounds=3)),
    "tic_tac_toe": SelfPlayGame(make_game("tic_tac_toe")),
}


def play_of(name, **settings):
    game = GAMES[name]
    given = PogSettings(**({"simulations": 8} | settings))
    return SoundSelfPlay(game, given, random_leaves(game.features))


def generate(play, count=30, seed=0):
    return play.generate(count, rng=np.random.default_rng(seed))


@pytest.mark.parametrize("name", GAMES)
def test_examples_are_beliefs_values_and_policies(name):
    play = play_of(name)
    made = generate(play)
    sizes = play.game.features.sizes

    assert len(made["value"]) >= 30
    for first, last in ((0, sizes.places[0]), (sizes.places[0], sum(sizes.places))):
        np.testing.assert_allclose(made["belief"][:, first:last].sum(axis=1), 1.0, rtol=1e-5)
    earned = (made["belief"] * made["value"]).sum(axis=1)
    np.testing.assert_allclose(earned, 0.0, atol=1e-5)
    assert (made["is_known"] == made["is_there"]).all()
    assert (made["policy"][made["num_columns"] == 0] == 0).all()


def test_policies_of_examples_are_distributions():
    made = generate(play_of("leduc"))
    actor = made["actor"][0]
    rows = made["policy"][0].reshape(3, 3) if actor >= 0 else np.ones((3, 1)) / 1
    legal = made["num_columns"][0].reshape(3, 3).any(axis=1) if actor >= 0 else np.ones(3, bool)

    np.testing.assert_allclose(rows.sum(axis=1)[legal], 1.0, rtol=1e-5)


def test_solved_queries_are_exact_where_the_tree_becomes_the_game():
    game = GAMES["kuhn"]
    play = play_of("kuhn", simulations=800, is_alternating=True)
    reach = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.4, 0.5])
    state = 1
    found = play.search(state, reach, num_queries=0, rng=np.random.default_rng(0))
    tree = build_public_tree(game.form, root=state)
    solver = CFRSolver(tree, CFRPlus(gamma=1.0))
    solver.root_reach = reach
    solver.iterate(3000)
    exact = solver.kernel.values(solver.average_strategy(), is_best=False, root_reach=reach)

    for player in (0, 1):
        mean = reach[player] @ exact[player]
        assert reach[player] @ found.values(player) == pytest.approx(mean, abs=2e-3)


def test_numbers_of_queries_are_right_on_average():
    rng = np.random.default_rng(0)
    drawn = [_round_at_random(2.3, rng) for _ in range(4000)]

    assert set(drawn) == {2, 3}
    assert np.mean(drawn) == pytest.approx(2.3, abs=3 * np.sqrt(0.21 / 4000))


def test_queries_end_and_are_no_more_than_the_settings_say():
    play = play_of("leduc", simulations=4, queries=1.0, recursive_queries=0.5)
    generate(play, 60)
    ratio = play.counts.solved / play.counts.searches

    # one for each search, half a one for each that is solved; where every child ends the game nothing is asked
    assert 0.5 < ratio < 1.0 / (1.0 - 0.5) + 3 * np.sqrt(3.0 / play.counts.searches)


class Fruitless(SoundSelfPlay):
    """Its episodes teach nothing."""

    def _play_episode(self, rng):
        self.counts.episodes += 1


def test_a_game_with_nothing_to_ask_is_refused():
    game = GAMES["kuhn"]
    with pytest.raises(ConfigError, match=r"200 episodes of kuhn.* gave nothing to learn: searches of 100 simulations"):
        generate(Fruitless(game, PogSettings(), random_leaves(game.features)))


@pytest.mark.parametrize("name", GAMES)
def test_beliefs_lose_nobody_on_the_way(name):
    play = play_of(name)
    game, form = play.game, play.game.form
    rng = np.random.default_rng(4)
    state, reach = form.initial_state(), game.first_reach()
    own = (0, 1 % reach[1].size)
    while (actor := form.actor(state)) != -2:
        policy, column = None, -1
        if actor >= 0:
            legal = form.legality(state)
            policy = legal / legal.sum(axis=1, keepdims=True)
            column = int(rng.choice(np.flatnonzero(legal[own[actor]])))
        before = pair_mass(game, state, reach)
        below = [branch(game, state, edge, reach, policy, actor) for edge in form.edges(state)]
        assert sum(below) == pytest.approx(before)
        state, own, reach = play._move(state, own, reach, policy, column, rng)
        assert game.rules.facts(state).joint[own] > 0


def pair_mass(game, state, reach):
    return float(reach[0] @ game.rules.facts(state).joint @ reach[1])


def branch(game, state, edge, reach, policy, actor):
    below = []
    for player, relation in enumerate(edge.relations):
        flow = relation.weight * reach[player][relation.private]
        flow = flow * policy[relation.private, relation.action] if player == actor else flow
        size = game.form.num_private(edge.child, player)
        below.append(np.bincount(relation.target, weights=flow, minlength=size))
    return pair_mass(game, edge.child, below)


def test_outcomes_are_known_where_somebody_was():
    made = generate(play_of("leduc", queries=0.0, outcomes=1.0))

    assert (made["is_known"].sum(axis=1) == 2).all()  # one private state each
    assert (made["value"][~made["is_known"]] == 0).all()


def test_outcomes_of_what_hides_nothing_are_what_was_won():
    made = generate(play_of("tic_tac_toe", queries=0.0, outcomes=1.0))

    assert set(np.unique(made["value"])) <= {-1.0, 0.0, 1.0}
    np.testing.assert_array_equal(made["value"][:, 0], -made["value"][:, 1])


def test_whoever_is_sure_to_lose_gives_up():
    never = play_of("tic_tac_toe", queries=0.0, outcomes=1.0)
    soon = play_of("tic_tac_toe", queries=0.0, outcomes=1.0, resign_below=-0.01, never_resigns=0.0)
    generate(never)
    generate(soon)

    assert never.counts.resigned == 0
    assert soon.counts.resigned > 0


def test_long_episodes_are_cut_off():
    play = play_of("tic_tac_toe", queries=0.0, outcomes=1.0, most_moves=2)
    made = generate(play)

    assert (made["value"] == 0).all()
    assert play.counts.searches <= 2 * play.counts.episodes


def test_same_generator_makes_the_same_examples():
    first, second = (generate(play_of("kuhn"), seed=7) for _ in range(2))

    assert all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_told_and_read_back(name):
    settings = find_preset(name)

    assert PogSettings.from_dict(settings.as_dict()) == settings


# Table 3 of the paper: batch, optimizer, rate, its decay and steps, weights of policies and values, memory, uses of an
# example, p_td1, q_search, q_recursive, uniform mix, resignation, greedy after, most moves, prior's temperature, alpha
TABLE_3 = {
    "paper-chess": (2048, "sgd", 0.1, 0.8, 40e3, 1, 0.25, 50e6, 1, 0, 1, 0.2, 0, -0.9, 30, 512, 1.5, 0.2),
    "paper-go": (2048, "sgd", 0.02, 0.1, 200e3, 1, 0.5, 50e6, 0.2, 0.2, 0, 0, 0, -0.9, 30, 722, 1.5, 0.2),
    "paper-scotland-yard": (1024, "sgd", 0.1, 0.5, 2e6, 0.05, 1, 1e6, 5, 0, 0.3, 0.1, 0, -1, 0, 0, 1, 0.2),
    "paper-holdem": (1024, "adam", 1e-4, 0.5, 2e6, 0.01, 1, 1e6, 10, 0, 0.9, 0.1, 0.1, -1, 0, 0, 1, 0.2),
}
FIELDS = (
    *("batch", "optimizer", "rate", "rate_decay", "decay_steps", "policy_weight", "value_weight", "capacity", "reuse"),
    *("outcomes", "queries", "recursive_queries", "exploration", "resign_below", "greedy_after", "most_moves"),
    *("prior_temperature", "share"),
)


@pytest.mark.parametrize("name", TABLE_3)
def test_presets_of_the_paper_are_its_table(name):
    settings = find_preset(name)
    assert tuple(getattr(settings, field) for field in FIELDS) == TABLE_3[name]
    steps = {"paper-chess": 3e6, "paper-go": 1e6, "paper-scotland-yard": 17e6, "paper-holdem": 1.1e6}
    assert settings.steps == steps[name]


def test_rates_fall_as_the_paper_says():
    settings = find_preset("paper-go")
    assert [settings.rate_at(step) for step in (0, 200_000, 400_000)] == pytest.approx([0.02, 0.002, 0.0002])
    small = find_preset("small")
    assert small.rate_at(0) == small.rate
    assert small.rate_at(small.steps) == pytest.approx(small.rate * small.final_rate)


def test_policies_that_are_not_learnt_are_no_prior():
    assert [PogSettings(policy_weight=weight).growth.uses_prior for weight in (0.01, 0.0)] == [True, False]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rate_decay": 0.5}, "rate_decay needs decay_steps"),
        ({"decay_steps": 5}, "rate_decay needs decay_steps"),
        ({"optimizer": "newton"}, "newton"),
        ({"prior_temperature": 0.0}, "prior_temperature must be positive"),
        ({"recursive_queries": 1.0}, "recursive_queries must be below 1, or they never end"),
        ({"queries": 0.0}, "there must be something to learn"),
        ({"resign_below": 0.5}, "resign_below must lie between -1 and 0"),
        ({"exploration": 2.0}, "exploration must lie between 0 and 1"),
        ({"rate": 0.0}, "rate must be positive"),
        ({"policy_weight": -1.0}, "policy_weight must be at least 0"),
        ({"hidden": 0}, "hidden must be"),
        ({"simulations": -1}, "simulations must be at least 0"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        dataclasses.replace(PogSettings(), **changes)


def test_unknown_settings_are_refused():
    with pytest.raises(ConfigError, match="has no speed"):
        PogSettings.from_dict({"speed": 3})
