# SPDX-License-Identifier: Apache-2.0
"""Searches of Scotland Yard that suppose where Mr. X is: catches, escapes, features one by one, agents, bad input."""

import numpy as np
import pytest

from equipoise.agents.notation import AgentText
from equipoise.core.errors import ConfigError
from equipoise.games import make_game
from equipoise.games.scotland_yard.board import load_board
from equipoise.runs import match
from equipoise.search.hunt import HuntConfig, HuntSearch, count_steps

GLASSES = make_game("glasses")
FEATURES = ("has_one_tree", "has_categories", "has_coalition", "has_greedy_playouts", "has_filter")


def favourite(game, situation, possible, **config):
    search = HuntSearch(game.yard, HuntConfig(**({"num_simulations": 200} | config)))
    visits = search.visits(situation, possible, rng=np.random.default_rng(0))
    first = possible[0]
    actions = game.yard.fugitive_actions(situation, first) if situation.actor == 0 else None
    actions = actions or game.yard.detective_actions(situation)
    return game.yard.move_of(actions[int(visits.argmax())])


def chase(starts, num_moves=0):
    """Returns a game in which Mr. X has moved once, and what is open then."""
    game = make_game("glasses", starts=starts)
    state = game.initial_state()
    for _ in range(num_moves):
        state = game.apply(state, game.legal_actions(state)[0])
    return game, state


@pytest.mark.parametrize("switched_off", [None, *FEATURES])
def test_a_detective_steps_on_him_where_he_must_be(switched_off):
    game, state = chase((6, 2, 11), num_moves=1)
    assert (state.station, state.situation.detectives) == (4, (2, 11))
    move = favourite(game, state.situation, (4,), **({} if switched_off is None else {switched_off: False}))
    assert move.station == 4


def test_mr_x_flees():
    game, state = chase((4, 3, 2))
    assert favourite(game, state.situation, (4,)).station == 6  # the other way a detective stands


def test_simulations_are_counted_over_trees_and_stations():
    situation = chase((6, 1, 11), num_moves=1)[1].situation
    for has_one_tree in (True, False):
        search = HuntSearch(GLASSES.yard, HuntConfig(num_simulations=37, has_one_tree=has_one_tree))
        visits = search.visits(situation, (4, 5, 7, 8), rng=np.random.default_rng(1))
        assert visits.sum() == 37
        assert visits.size == len(GLASSES.yard.detective_actions(situation))


def test_stations_are_supposed_by_distance():
    situation = chase((6, 1, 11))[1].situation
    assert HuntSearch(GLASSES.yard).weigh(situation, (2, 4, 6)).tolist() == [0.2, 0.65, 0.55]
    plain = HuntSearch(GLASSES.yard, HuntConfig(has_categories=False))
    assert plain.weigh(situation, (2, 4, 6)).tolist() == [1.0, 1.0, 1.0]


def test_another_ones_catch_earns_less_in_a_coalition():
    won = chase((6, 2, 11), num_moves=1)[1].situation._replace(winner=1)
    for has_coalition, expected in ((True, [1.0, 0.75, 0.0]), (False, [1.0, 1.0, 0.0])):
        search = HuntSearch(GLASSES.yard, HuntConfig(has_coalition=has_coalition))
        assert [search._earned(won, 0, mover) for mover in (0, 1, -1)] == expected


def test_black_tickets_are_not_wasted():
    game = make_game("scotland_yard", starts=(63, 65, 67, 79, 82, 111))
    situation = game.initial_state().situation
    kept = HuntSearch(game.yard)._considered(situation, 63)
    assert {game.yard.move_of(action).ticket for action in kept} == {0, 1}
    everything = HuntSearch(game.yard, HuntConfig(has_filter=False))._considered(situation, 63)
    assert set(everything) == set(game.yard.fugitive_actions(situation, 63)) > set(kept)


def test_steps_on_the_full_board():
    steps = count_steps(load_board("london"))
    assert steps[63][34] == steps[34][63] == 1
    assert steps[63][63] == 0
    assert all(steps[near][63] == 1 for near in (48, 64, 80, 100))


def test_it_hunts_and_hides_better_than_chance():
    result = match("hunt:60", "uniform", game=GLASSES, hands=20)
    assert result.utility[..., 0].mean() > 0.3


def test_the_full_board_is_played():
    rules = make_game("scotland_yard", rounds=2, reveals=(1,))
    assert match("hunt:3", "hunt:3,greedy=false", game=rules, hands=2).num_hands == 2


@pytest.mark.parametrize(
    ("text", "game", "message"),
    [
        ("hunt:10", "kuhn", "hunt plays Scotland Yard, got kuhn"),
        ("hunt:ten", "glasses", "ten"),
        ("hunt:0", "glasses", "num_simulations"),
        ("hunt:10,dogs=false", "glasses", "dogs"),
    ],
)
def test_what_cannot_hunt_is_refused(text, game, message):
    with pytest.raises(ConfigError, match=message):
        AgentText(text)(make_game(game))


def test_numbers_that_mean_nothing_are_refused():
    with pytest.raises(ConfigError, match="others_catch must be between 0 and 1, got 2"):
        HuntConfig(others_catch=2.0)
    with pytest.raises(ConfigError, match="exploration"):
        HuntConfig(exploration=-1.0)
