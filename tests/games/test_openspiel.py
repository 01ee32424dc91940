# SPDX-License-Identifier: Apache-2.0
"""The adapter for OpenSpiel's games."""

import pickle
import sys

import numpy as np
import pytest

from equipoise.core.errors import (
    ConfigError,
    IllegalActionError,
    InvalidGameError,
    InvalidStateError,
    MissingExtraError,
    UnknownNameError,
)
from equipoise.games import ActionClass, check_game, describe_parameters, make_game, parse_game
from equipoise.trees.history import BEYOND_ANY_TREE, estimate_num_histories

pytest.importorskip("pyspiel")

CONFORMING = [
    "openspiel:kuhn_poker",
    "openspiel:kuhn_poker(players=3)",
    "openspiel:leduc_poker",
    "openspiel:matrix_rps",
    "openspiel:goofspiel(num_cards=3,imp_info=True)",
    "openspiel:first_sealed_auction(max_value=4)",
    "openspiel:liars_dice(dice_sides=3)",
    "openspiel:pig(horizon=4,winscore=5)",
]


@pytest.mark.parametrize("text", CONFORMING)
def test_game_conforms(text):
    report = check_game(parse_game(text), rng=np.random.default_rng(0), is_range_attained=False)

    assert report.is_complete


@pytest.mark.parametrize("text", ["openspiel:tic_tac_toe", "openspiel:phantom_ttt", "openspiel:connect_four"])
def test_large_game_conforms_in_random_games(text):
    check_game(parse_game(text), rng=np.random.default_rng(0), max_states=200, num_playthroughs=10)


def test_forgetful_game_is_caught():
    with pytest.raises(InvalidGameError, match="perfect recall"):
        check_game(parse_game("openspiel:goofspiel(num_cards=3)"), rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("text", "histories", "infosets"),
    [
        ("openspiel:leduc_poker", 9_457, (468, 468)),
        ("openspiel:goofspiel(num_cards=4,imp_info=True,points_order=ascending)", 1_077, (81, 81)),
    ],
)
def test_size(text, histories, infosets, count_states):
    counts = count_states(parse_game(text))

    assert (counts.histories, counts.infosets) == (histories, infosets)


def test_uniform_value_is_that_of_our_leduc(uniform_value):
    assert uniform_value(make_game("openspiel:leduc_poker")) == pytest.approx(-0.078125, abs=1e-12)


def test_parameters_come_as_text_or_as_values():
    by_text = parse_game("openspiel:goofspiel(num_cards=4,imp_info=True)")
    by_value = make_game("openspiel:goofspiel", num_cards="4", imp_info=True)

    assert by_text == by_value
    assert parse_game(by_text.spec.label) == by_text
    assert by_text.spec.name == "openspiel:goofspiel"


def test_parameters_are_described():
    rows = {row.name: row for row in describe_parameters("openspiel:goofspiel")}

    assert (rows["num_cards"].type, rows["num_cards"].default) == ("an integer", "13")


def test_information_state_is_openspiels_on_one_line(play):
    game = make_game("openspiel:phantom_ttt")

    state = play(game, 4)

    assert game.infostate(state, 1).replace("\\n", "\n") == state.inner.information_state_string(1)


def test_public_states_are_offered_where_openspiel_has_them(play):
    kuhn, rps = make_game("openspiel:kuhn_poker"), make_game("openspiel:matrix_rps")

    assert kuhn.public_state(play(kuhn, 0, 1, 1)) == kuhn.public_state(play(kuhn, 2, 1, 1))
    with pytest.raises(InvalidStateError, match="openspiel:matrix_rps has no public states"):
        rps.public_state(rps.initial_state())


def test_poker_words_have_classes(play):
    game = make_game("openspiel:leduc_poker")
    state = play(game, 0, 5, 2)

    classes = [game.action_class(state, action) for action in game.legal_actions(state)]

    assert classes == [ActionClass.FOLD, ActionClass.CALL, ActionClass.RAISE]


def test_states_are_values(play):
    game = make_game("openspiel:leduc_poker")
    first, second = play(game, 0, 5, 2), play(game, 0, 5, 2)

    assert first == second
    assert hash(first) == hash(second)
    assert pickle.loads(pickle.dumps(first)) == first
    assert pickle.loads(pickle.dumps(game)) == game


def test_illegal_action_is_refused(play):
    game = make_game("openspiel:leduc_poker")

    with pytest.raises(IllegalActionError, match=r"legal: 1 \(Call\), 2 \(Raise\)"):
        game.apply(play(game, 0, 5), 0)


def test_unknown_game_offers_the_nearest_names():
    with pytest.raises(UnknownNameError, match="unknown OpenSpiel game 'leduc_pokre'; did you mean leduc_poker"):
        make_game("openspiel:leduc_pokre")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("openspiel:kuhn_poker(cards=4)", "openspiel:kuhn_poker has no parameter 'cards'; it has players"),
        ("openspiel:kuhn_poker(players=many)", "players must be an integer, got 'many'"),
        ("openspiel:kuhn_poker(players=1)", "OpenSpiel cannot load kuhn_poker"),
        ("openspiel:mfg_crowd_modelling", "is not supported: it is a mean-field game"),
        ("openspiel:morpion_solitaire", "is not supported: OpenSpiel crashes where it copies a state"),
        ("openspiel:negotiation", "is not supported: it hides the probabilities of chance"),
        ("openspiel:gin_rummy", "is not supported: no information state strings"),
        ("openspiel:nfg_game", r"is read from a file: openspiel:nfg_game\(filename=PATH\)"),
        ("openspiel:efg_game(filename=nowhere.efg)", "OpenSpiel cannot load efg_game"),
        ("openspiel:nfg_game(filename=nowhere.nfg)", "OpenSpiel cannot load nfg_game"),
        ("openspiel:misere", "OpenSpiel cannot load misere"),
    ],
)
def test_unsupported_game_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_game(text)


def test_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'equipoise\[games\]'"):
        make_game("openspiel:leduc_poker")


@pytest.mark.parametrize("name", ["backgammon", "battleship", "bridge", "chess", "go", "hive"])
def test_large_games_are_sized_at_once(name):
    game = make_game(f"openspiel:{name}")
    probes = []
    original = game.initial_state

    class Watched:
        def __getattr__(self, attribute):
            return getattr(game, attribute)

        def initial_state(self):
            probes.append(0)
            return original()

    assert estimate_num_histories(Watched(), rng=np.random.default_rng(0)) > BEYOND_ANY_TREE
    assert len(probes) <= 3
