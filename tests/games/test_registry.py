# SPDX-License-Identifier: Apache-2.0
"""Names, parameters and labels: what is accepted, what is refused, and with which words."""

import dataclasses
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise.games
from equipoise.core.errors import ConfigError, ParseError, UnknownNameError
from equipoise.games import describe_parameters, game_names, make_game, parse_game
from equipoise.games.parameters import format_value, parse_value

BAD_PARAMETERS = [
    ("coin_toss", {"subgames": 3}, "subgames must be between 1 and 2, got 3"),
    ("coin_toss", {"sell_heads": "inf"}, "sell_heads must be finite, got inf"),
    ("goofspiel", {"cards": 1}, "cards must be between 2 and 20, got 1"),
    (
        "goofspiel",
        {"prizes": "sideways"},
        "prizes must be one of ascending, descending, random, got 'sideways'",
    ),
    ("kuhn", {"players": 1}, "players must be between 2 and 10, got 1"),
    ("kuhn", {"players": "two"}, "players must be an integer, got 'two'"),
    ("kuhn", {"players": True}, "players must be an integer, got True"),
    ("kuhn", {"player": 2}, "kuhn has no parameter 'player'; it has players"),
    ("leduc", {"ranks": 1}, "ranks must be between 2 and 52, got 1"),
    ("leduc", {"ranks": 2, "suits": 1}, "ranks x suits must be at least 3 cards, got 2"),
    ("leduc", {"merge_suits": "maybe"}, "merge_suits must be true or false, got 'maybe'"),
    ("leduc", {"first_sizes": "4,2"}, "first_sizes must be positive, finite and ascending, got '4,2'"),
    ("leduc", {"second_sizes": ()}, "second_sizes must be positive, finite and ascending, got ''"),
    ("leduc", {"first_sizes": "0.3"}, "amounts of chips must be multiples of 1/64, got 0.3"),
    ("leduc", {"first_sizes": "a"}, "first_sizes must be a list of numbers such as 1,2, got 'a'"),
    ("leduc", {"ante": "nan"}, "ante must be a number, got 'nan'"),
    ("leduc", {"ante": 0}, "ante must be at least 0.015625, got 0"),
    ("leduc", {"ante": "inf"}, "ante must be finite, got inf"),
    ("leduc", {"stack": 1}, "stack must be above the ante of 1, got 1"),
    ("leduc", {"sizing": "pot"}, "sizing=pot needs a finite stack, got inf"),
    ("liars_dice", {"faces": 1}, "faces must be between 2 and 9, got 1"),
    ("matrix", {"payoffs": "1,2;3"}, "payoffs must be a table with rows of equal length, got '1,2;3'"),
    ("matrix", {"payoffs": 7}, "payoffs must be a table of numbers such as 1,2;3,4, got 7"),
    ("matrix", {"payoffs": "1e308,1"}, "payoffs of matrix must lie between -1e+100 and 1e+100, got -1e+308"),
    ("coin_toss", {"sell_heads": "1e200"}, "payoffs of coin_toss must lie between -1e+100 and 1e+100, got -1e+200"),
    ("matrix", {"payoffs": "inf"}, "payoffs must be finite, got 'inf'"),
    ("matrix", {"column_payoffs": "1"}, "column_payoffs must be a 2x2 table like payoffs, got '1'"),
    ("matrix", {"row_names": "a,a"}, "row_names must be 2 different words, got 'a,a'"),
    ("phantom_tic_tac_toe", {"line": 4}, "line must be 0 or between 2 and 3, got 4"),
    ("tic_tac_toe", {"rows": 1}, "rows must be between 2 and 8, got 1"),
    ("tic_tac_toe", {"line": 1}, "line must be 0 or between 2 and 3, got 1"),
]


@pytest.mark.parametrize(("name", "parameters", "message"), BAD_PARAMETERS)
def test_bad_parameter_says_what_is_allowed(name, parameters, message):
    with pytest.raises(ConfigError) as caught:
        make_game(name, **parameters)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("turn.toml", "a hold'em spot is solved first"),
        ("kuhn.eq", "plays as the agent file:kuhn.eq"),
    ],
)
def test_files_in_the_place_of_a_game_are_told_their_own_place(name, said):
    with pytest.raises(ConfigError, match="expected a game such as kuhn, got") as caught:
        make_game(name)
    assert said in str(caught.value)


def test_unknown_game_offers_the_nearest_names():
    with pytest.raises(UnknownNameError, match="unknown game 'leducs'; did you mean leduc") as caught:
        make_game("leducs")

    assert caught.value.nearest[0] == "leduc"


@pytest.mark.parametrize("text", ["leduc(ranks=4", "leduc(4)"])
def test_malformed_text_is_refused(text):
    with pytest.raises(ParseError, match=r"a game is written name\(key=value,...\), got 'leduc"):
        parse_game(text)


def test_parameter_given_twice_in_a_label_is_refused():
    with pytest.raises(ParseError, match="parameter 'ranks' is given twice in 'leduc"):
        parse_game("leduc(ranks=4,ranks=3)")


def test_gap_in_a_list_is_refused_in_a_label_as_elsewhere():
    with pytest.raises(ConfigError, match="payoffs must be a table of numbers such as 1,2;3,4, got '1,,2;3,4'"):
        parse_game("matrix(payoffs=1,,2;3,4)")


def test_a_label_makes_a_game_as_a_name_does():
    assert make_game("leduc(ranks=4)") == make_game("leduc", ranks=4)
    with pytest.raises(UnknownNameError, match="unknown game"):
        make_game("leduc(ranks=4)", suits=2)


@pytest.mark.parametrize("name", game_names())
def test_registered_name_is_the_name_of_the_spec(name):
    assert make_game(name).spec.name == name


@pytest.mark.parametrize("name", game_names())
def test_label_and_pickle_give_the_game_back(name):
    game = make_game(name)

    assert parse_game(game.spec.label) == game
    assert pickle.loads(pickle.dumps(game)) == game
    assert make_game(game.spec.name, **game.spec.parameters) == game


@pytest.mark.parametrize("name", game_names())
def test_defaults_shown_are_the_defaults(name):
    shown = {row.name: row.default for row in describe_parameters(name)}

    assert make_game(name, **shown) == make_game(name)
    assert all(row.description for row in describe_parameters(name))


def test_parameters_given_as_text_are_the_same_as_given_as_values():
    by_text = make_game("leduc", ranks="4", merge_suits="true", first_sizes="1,2", stack="20", sizing="pot")
    by_value = make_game("leduc", ranks=4, merge_suits=True, first_sizes=[1, 2], stack=20, sizing="pot")

    assert by_text == by_value
    assert hash(by_text) == hash(by_value)
    assert by_text.spec == by_value.spec


def test_game_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        make_game("leduc").ranks = 4


def test_games_with_other_parameters_differ():
    assert make_game("leduc", ranks=4) != make_game("leduc")


tables = st.lists(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2), min_size=1, max_size=3
)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (bool, st.booleans()),
        (int, st.integers()),
        (float, st.floats(allow_nan=False)),
        (tuple[float, ...], st.lists(st.floats(allow_nan=False)).map(tuple)),
        (tuple[tuple[float, ...], ...], tables.map(lambda rows: tuple(map(tuple, rows)))),
    ],
)
def test_values_survive_being_written_and_read(kind, values):
    @settings(max_examples=50, deadline=None)
    @given(values)
    def check(value):
        assert parse_value("x", format_value(value), kind) == value

    check()


def test_public_names_exist():
    assert all(hasattr(equipoise.games, name) for name in equipoise.games.__all__)
