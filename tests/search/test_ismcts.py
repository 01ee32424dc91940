# SPDX-License-Identifier: Apache-2.0
"""Searches on trees and on rules: their twin, final policies, worlds, and what search amounts to."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.games.registry import make_game
from equipoise.search.ismcts import FinalPolicy, ISMCTSConfig, TreeISMCTS, choose_finally, lay_out_worlds
from equipoise.search.rules_ismcts import RulesISMCTS
from equipoise.search.worlds import Event, World, WorldSampler
from equipoise.solvers.best_response import evaluate
from equipoise.trees.history import build_history_tree
from tests.reference.ismcts import ReferenceISMCTS, find_worlds
from tests.reference.sampling import Xoshiro

LEDUC = make_game("leduc")
SMALL = make_game("leduc", ranks=2, max_raises=1)
WORDS = (1, 2, 3, 4)


class Uniforms(Xoshiro):
    """The native generator in the place of NumPy's."""

    def random(self):
        return (self.next() >> 11) * 2.0**-53


def play_events(game, seat, moves):
    """Returns what a seat lives through when these moves are made, and the state they lead to."""
    state, events = game.initial_state(), []
    for move in moves:
        is_own = game.actor(state) == seat
        state = game.apply(state, move)
        events.append(Event(action=move) if is_own else Event(infostate=game.infostate(state, seat)))
    return events, state


@pytest.mark.parametrize("name", ["kuhn", "goofspiel"])
def test_search_of_rules_equals_the_twin(name):
    game = make_game(name, **({"cards": 3} if name == "goofspiel" else {}))
    worlds = find_worlds(game)
    for key in list(worlds)[::3]:
        expected = ReferenceISMCTS(game, 2.0, Xoshiro(WORDS).draw).search(worlds[key], 50)
        search = RulesISMCTS(game, ISMCTSConfig(num_simulations=50, exploration=2.0))
        found = search.search([World(*world) for world in worlds[key]], rng=Uniforms(WORDS))
        assert found.visits.tolist() == [visits for visits, _ in expected]
        np.testing.assert_allclose(found.return_sum, [total for _, total in expected])


@pytest.mark.parametrize(
    ("final", "expected"),
    [
        (FinalPolicy.VISITS, [0.5, 0.5, 0.0, 0.25, 0.75, 0.5, 0.5]),
        (FinalPolicy.MAX_VISITS, [1.0, 0.0, 0.0, 0.0, 1.0, 0.5, 0.5]),
        (FinalPolicy.MAX_VALUE, [0.0, 1.0, 0.0, 1.0, 0.0, 0.5, 0.5]),
    ],
)
def test_final_policies(final, expected):
    visits = np.array([2.0, 2.0, 0.0, 1.0, 3.0, 0.0, 0.0])
    return_sum = np.array([-3.0, -2.0, 0.0, -1.0, -6.0, 0.0, 0.0])
    rng = np.random.default_rng(1)  # draws the first of the two actions that tie
    assert choose_finally(final, visits, return_sum, np.array([3, 2, 2]), rng=rng).tolist() == expected


def test_equal_maxima_are_drawn_among():
    visits = np.tile([4.0, 1.0, 4.0], 1000)
    play = choose_finally(
        FinalPolicy.MAX_VISITS, visits, visits, np.full(1000, 3), rng=np.random.default_rng(0)
    ).reshape(1000, 3)
    assert (play.max(axis=1) == 1.0).all()
    assert play.sum(axis=0)[1] == 0
    assert 440 < play.sum(axis=0)[0] < 560


def test_worlds_are_weighted_by_chance_alone():
    tree = build_history_tree(make_game("leduc", merge_suits=True))
    worlds = lay_out_worlds(tree)
    jack = tree.infoset_labels.index("J|")
    weight = worlds.world_weight[worlds.first_world[jack] : worlds.first_world[jack + 1]]
    np.testing.assert_allclose(weight / weight.sum(), [0.2, 0.4, 0.4])


def test_play_without_search_is_uniform():
    tree = build_history_tree(LEDUC)
    strategy = TreeISMCTS(tree, rng=np.random.default_rng(0)).strategy()
    assert 1000 * evaluate(tree, strategy).exploitability == pytest.approx(2373.61, abs=0.01)


def test_searches_come_near_the_published_cell():
    tree = build_history_tree(LEDUC)
    config = ISMCTSConfig(num_simulations=1000, exploration=20.0)
    search = TreeISMCTS(tree, config, rng=np.random.default_rng(1))
    assert sum(search.search_everywhere()) == 936
    visits = evaluate(tree, search.strategy(FinalPolicy.VISITS)).exploitability
    assert visits == pytest.approx(0.859, rel=0.05)  # Table 5; runs deviate by 1.5 %
    assert evaluate(tree, search.strategy(FinalPolicy.MAX_VALUE)).exploitability > visits


def test_sampled_worlds_follow_chance_and_uniform_play():
    seat, moves = 1, [0, 3, 2, 1, 1]  # both cards, a bet, a call, the public card
    events, state = play_events(LEDUC, seat, moves)
    sampler, rng = WorldSampler(LEDUC, seat, events), np.random.default_rng(2)
    worlds = [sampler.sample(rng=rng) for _ in range(800)]
    assert {LEDUC.infostate(world.state, seat) for world in worlds} == {LEDUC.infostate(state, seat)}
    cards = np.bincount([world.state.private[0] for world in worlds], minlength=6)
    assert cards[[1, 3]].tolist() == [0, 0]
    assert cards[[0, 2, 4, 5]].min() > 150
    assert len({world.weight for world in worlds}) == 1


def test_weights_of_worlds_tell_likely_ones():
    game = make_game("leduc", merge_suits=True)
    events, _ = play_events(game, 1, [0, 1])
    sampler, rng = WorldSampler(game, 1, events), np.random.default_rng(3)
    weights = {}
    for _ in range(200):
        world = sampler.sample(rng=rng)
        weights[world.state.private[0]] = world.weight
    assert weights == pytest.approx({0: 2 / 5, 1: 1 / 5, 2: 2 / 5})


def test_what_cannot_be_seen_is_refused():
    with pytest.raises(InvalidStateError, match=r"no history of leduc.*shows seat 0 'never'"):
        WorldSampler(SMALL, 0, [Event(infostate="never")]).sample(rng=np.random.default_rng(0))


def test_search_without_worlds_is_refused():
    with pytest.raises(ConfigError, match="needs a world"):
        RulesISMCTS(SMALL).search([], rng=np.random.default_rng(0))


@pytest.mark.parametrize("changes", [{"num_simulations": 0}, {"exploration": -0.5}, {"exploration": float("inf")}])
def test_settings_out_of_range_are_refused(changes):
    with pytest.raises(ConfigError, match="must be"):
        ISMCTSConfig(**changes)
