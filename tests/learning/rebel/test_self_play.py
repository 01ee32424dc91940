# SPDX-License-Identifier: Apache-2.0
import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import parse_game
from equipoise.learning.rebel.memory import ExampleMemory
from equipoise.learning.rebel.nets import bind_belief_net, make_config, predict
from equipoise.learning.rebel.playthroughs import measure_playthroughs, play_through
from equipoise.learning.rebel.self_play import BeliefSearcher, Examples, SelfPlay
from equipoise.learning.rebel.settings import PRESETS, BeliefMethod, RebelSettings, SearchRecipe, find_preset
from equipoise.learning.values.weights import StoredNet, expected_shapes
from equipoise.search.belief_games import BeliefGame, parse_horizon
from equipoise.search.random_iteration import iteration_chances
from equipoise.solvers.best_response import bind_public_kernel, evaluate
from equipoise.solvers.cfr import CFRSolver

SETTINGS = RebelSettings(training=SearchRecipe(iterations=8), hidden=8, root_draws=32)


def make_game(text, horizon="2"):
    return BeliefGame.of(parse_game(text), parse_horizon(horizon))


def make_net(game, *, scale=0.3):
    config = make_config(game, SETTINGS, "some game")
    rng = np.random.default_rng(0)
    tensors = {
        name: rng.normal(0.0, scale, shape).astype(np.float32) for name, shape in expected_shapes(config).items()
    }
    return StoredNet(config=config, tensors=tensors)


def make_play(game, settings=SETTINGS):
    play = SelfPlay(game, settings)
    play.searcher.net = bind_belief_net(make_net(game))
    return play


@pytest.mark.parametrize("text", ["leduc", "liars_dice(dice=1,faces=3)", "goofspiel(cards=3)"])
def test_examples_are_beliefs_and_zero_sum_values(text):
    game = make_game(text)
    examples = make_play(game).generate(200, rng=np.random.default_rng(0))
    assert len(examples) >= 200
    assert examples.kind.min() >= 1
    np.testing.assert_allclose(examples.belief.sum(axis=2), 1.0, atol=1e-5)
    np.testing.assert_allclose((examples.belief * examples.value).sum(axis=(1, 2)), 0.0, atol=1e-5)
    assert not examples.belief[~game.is_live[examples.kind]].any()


def test_the_same_seed_gives_the_same_bits_and_states_go_on():
    game = make_game("leduc")
    first, second = make_play(game), make_play(game)
    rng, same = np.random.default_rng(4), np.random.default_rng(4)
    one, other = first.generate(150, rng=rng), second.generate(150, rng=same)
    np.testing.assert_array_equal(one.value, other.value)
    third = make_play(game)
    third.restore(second.state())
    np.testing.assert_array_equal(first.generate(100, rng=rng).value, third.generate(100, rng=same).value)


def test_episodes_can_be_played_to_their_ends():
    play = make_play(make_game("leduc"))
    play.generate(50, rng=np.random.default_rng(0), is_finished=True)
    assert not any(map(len, play.pools))


def test_states_of_another_game_are_refused():
    with pytest.raises(ConfigError, match="of another game"):
        make_play(make_game("leduc")).restore(make_play(make_game("kuhn", "1")).state())


def test_searches_that_reach_the_end_leave_nothing_to_learn():
    with pytest.raises(ConfigError, match="nothing to learn"):
        SelfPlay(make_game("kuhn", "99"), SETTINGS).generate(1, rng=np.random.default_rng(0))


def test_iterations_are_drawn_as_often_as_they_count():
    searcher = BeliefSearcher(make_game("kuhn"), SearchRecipe(rule="lcfr", iterations=4))
    drawn = searcher.draw_iterations(20_000, rng=np.random.default_rng(0))
    shares = np.bincount(drawn, minlength=5)[1:] / drawn.size
    np.testing.assert_allclose(shares, iteration_chances(searcher.recipe.parsed, 4), atol=0.02)


def test_networks_say_the_same_in_searches_and_in_numpy():
    game = make_game("kuhn", "1")
    stored = make_net(game)
    examples = make_play(game).generate(64, rng=np.random.default_rng(1))
    values = predict(stored, examples.kind, examples.belief)
    np.testing.assert_allclose((examples.belief * values).sum(axis=(1, 2)), 0.0, atol=1e-5)


# --- playthroughs ---


def test_without_leaves_playthroughs_average_to_the_average_strategy():
    """Random iterations, drawn by their weights, are the reach-weighted average of CFR as far as others can tell."""
    game = make_game("kuhn", "99")
    searcher = BeliefSearcher(game, SearchRecipe(rule="lcfr", iterations=10))
    sums = play_through(searcher, 20_000, rng=np.random.default_rng(0)).sums
    solver = CFRSolver(game.tree, searcher.recipe.parsed)
    solver.iterate(10)
    kernel = bind_public_kernel(game.tree)
    reach = kernel.realize(solver.average_strategy())[: sums.size]
    np.testing.assert_allclose(kernel.realize(kernel.normalize(sums))[: sums.size], reach, atol=0.02)


@pytest.mark.parametrize(("text", "horizon"), [("leduc", "2"), ("leduc", "round"), ("goofspiel(cards=3)", "2")])
def test_playthroughs_cover_whole_games(text, horizon):
    game = make_game(text, horizon)
    searcher = BeliefSearcher(game, SearchRecipe(iterations=5), net=bind_belief_net(make_net(game)))
    found = measure_playthroughs(searcher, 40, rng=np.random.default_rng(0))
    assert found.playthroughs == 40
    assert 0.0 < found.exploitability < evaluate(game.tree, game.tree.legal_share).exploitability * 3
    assert found.lower - 4 * found.lower_error <= found.exploitability


def test_right_values_give_strong_play_and_wrong_ones_do_not():
    """The bounds mean something: a random network plays worse than searches to the end."""
    whole = make_game("liars_dice(dice=1,faces=3)", "99")
    exact = measure_playthroughs(BeliefSearcher(whole, SearchRecipe(iterations=64)), 512, rng=np.random.default_rng(0))
    cut = make_game("liars_dice(dice=1,faces=3)", "2")
    net = bind_belief_net(make_net(cut, scale=0.6))
    wrong = measure_playthroughs(
        BeliefSearcher(cut, SearchRecipe(iterations=64), net=net), 128, rng=np.random.default_rng(0)
    )
    assert exact.exploitability < 0.05 < wrong.lower


# --- memory and settings ---


def make_examples(first, count, width=2):
    kind = np.arange(first, first + count, dtype=np.int32)
    filled = np.ones((count, 2, width), np.float32) * kind[:, None, None]
    return Examples(kind=kind, belief=filled, value=filled)


def test_a_memory_forgets_the_oldest():
    memory = ExampleMemory(5, 2)
    memory.add(make_examples(0, 3))
    memory.add(make_examples(3, 4))
    assert len(memory) == 5
    drawn = memory.sample(200, rng=np.random.default_rng(0))
    assert set(drawn.kind.tolist()) == {2, 3, 4, 5, 6}
    other = ExampleMemory(5, 2)
    other.restore(memory.state())
    np.testing.assert_array_equal(other.columns["value"], memory.columns["value"])


def test_a_damaged_memory_is_refused():
    memory = ExampleMemory(5, 2)
    memory.add(make_examples(0, 3))
    state = memory.state()
    state["value"] = state["value"][:2]
    with pytest.raises(ConfigError, match="damaged: value has shape"):
        ExampleMemory(5, 2).restore(state)


def test_settings_read_back():
    for settings in PRESETS.values():
        assert RebelSettings.from_dict(settings.as_dict()) == settings
    with pytest.raises(ConfigError, match="has no speed"):
        RebelSettings.from_dict({"speed": 3})
    with pytest.raises(ConfigError, match="exploration must lie between 0 and 1, got 2"):
        dataclasses.replace(SETTINGS, exploration=2)
    with pytest.raises(ConfigError, match="preset"):
        find_preset("tiny")


@pytest.mark.parametrize("method", list(BeliefMethod))
def test_every_method_makes_examples(method):
    settings = dataclasses.replace(SETTINGS, training=SearchRecipe(method=method, rule="lcfr", iterations=6))
    examples = make_play(make_game("kuhn", "1"), settings).generate(40, rng=np.random.default_rng(0))
    assert np.isfinite(examples.value).all()
