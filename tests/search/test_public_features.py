# SPDX-License-Identifier: Apache-2.0
"""What networks are told of public states: sizes, what can be read back, and games of which nothing can be told."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games import make_game, parse_game
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.merged_suits import SuitMergedHoldem
from equipoise.games.perfect_information import PerfectInformationGame
from equipoise.games.scotland_yard import ScotlandYardPublicGame
from equipoise.kernels.public_nets import PublicSizes
from equipoise.search.public_features import find_features
from equipoise.trees.derive import derive_public_game


def dense(features, state):
    told = features.inputs(state)
    out = np.zeros(features.sizes.features, np.float32)
    out[told.feature] = told.amount
    return out


def derived(name, **parameters):
    game = make_game(name, **parameters)
    form = derive_public_game(game)
    return form, find_features(game, form)


def test_scotland_yard_has_the_inputs_of_the_paper():
    game = make_game("scotland_yard")
    features = find_features(game, ScotlandYardPublicGame(game))

    assert features.sizes.features == 995 + 15 + 5 + 6 + 1 + 1
    assert features.sizes.num_inputs == 1223


def test_scotland_yard_says_who_stands_where():
    game = parse_game("scotland_yard(starts=63,65,67,79,82,111)")
    form = ScotlandYardPublicGame(game)
    told = dense(find_features(game, form), form.initial_state())

    stations = told[:995].reshape(5, 199)
    assert (stations.argmax(axis=1) + 1).tolist() == [65, 67, 79, 82, 111]
    assert stations.sum() == 5
    assert told[1015:1021].tolist() == [1, 0, 0, 0, 0, 0]  # Mr. X moves


def test_private_states_of_scotland_yard_are_stations():
    game = make_game("glasses", board="glasses-b")
    form = ScotlandYardPublicGame(game)
    features = find_features(game, form)
    after = form.edges(form.initial_state())[0].child

    assert (features.inputs(after).places[0] + 1).tolist() == list(after.possible)
    assert features.sizes.places == (11, 1)


def test_leduc_tells_card_and_betting():
    form, features = derived("leduc")
    told = [dense(features, state) for state in range(form.num_public_states)]

    assert features.sizes == PublicSizes(65, (6, 6), (3, 3))
    assert all(each.sum() == 2 for each in told)
    acting = [tuple(each) for state, each in enumerate(told) if form.actor(state) >= 0]
    assert len(set(acting)) < len(acting)  # ways of betting to the same stakes are one


def test_a_card_that_is_dealt_leaves_the_others_their_places():
    form, features = derived("leduc")
    deal = next(state for state in range(form.num_public_states) if form.actor(state) == -1)
    places = [set(features.inputs(edge.child).places[0].tolist()) for edge in form.edges(deal)]

    assert all(len(each) == 5 for each in places)
    assert set.union(*(set(range(6)) - each for each in places)) == set(range(6))


def test_holdem_has_the_inputs_of_the_paper():
    features = find_features(game := make_game("holdem", menu="100%"), SuitMergedHoldem(game))

    assert features.sizes == PublicSizes(52 + 2 + 3, (1326, 1326), (3, 3))
    assert features.sizes.num_inputs == 2709


def test_holdem_tells_board_chips_and_who_is_next():
    game = make_game("flop_holdem", deck="TJQKA/hs", stacks=(20, 20))
    form = SuitMergedHoldem(game)
    features, state = find_features(game, form), form.initial_state()
    while form.actor(state) >= 0:  # call, raise, call
        state = form.edges(state)[1].child
    chance, flop = state, form.edges(state)[0].child

    np.testing.assert_allclose(dense(features, chance), [0.0] * 10 + [0.2, 0.2] + [0.0, 0.0, 1.0])
    told = dense(features, flop)
    assert np.flatnonzero(told[:10]).tolist() == sorted(form.spot.deck.cards.index(card) for card in flop.board)
    assert told[10 + 2 + form.actor(flop)] == 1.0
    places = features.inputs(flop).places[0]
    assert not hands_of(form.spot.deck).blocked(flop.board)[places].any()


def test_raises_of_holdem_have_places_by_size():
    game = make_game("holdem", deck="TJQKA/hs", menu="50%,100%,a", last_street="flop")
    form = SuitMergedHoldem(game)

    assert find_features(game, form).inputs(form.initial_state()).actions.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", ["kuhn", "liars_dice"])
def test_other_small_games_tell_every_state_apart(name):
    form, features = derived(name)
    told = {int(features.inputs(state).feature[0]) for state in range(form.num_public_states)}

    assert told == set(range(form.num_public_states))


def test_stones_of_tic_tac_toe():
    game = make_game("tic_tac_toe")
    form = PerfectInformationGame(game)
    state = form.initial_state()._replace(inside=game.apply(game.apply(game.initial_state(), 4), 0))

    assert np.flatnonzero(dense(find_features(game, form), state)).tolist() == [4, 9, 18]


def test_games_in_which_players_learn_more_are_refused():
    with pytest.raises(ConfigError, match=r"networks cannot be told of .*: players learn more than they were dealt"):
        derived("phantom_tic_tac_toe", rows=2, columns=2)
