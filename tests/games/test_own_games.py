# SPDX-License-Identifier: Apache-2.0
"""Games outside the package, by the name of their class, and the base class that they may have."""

import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import equipoise
from equipoise.core.errors import ConfigError, IllegalActionError, InvalidGameError, InvalidStateError, ParseError
from equipoise.games import base_game, check_game, describe_parameters, make_game, parse_game
from equipoise.games.registry import describe_game, find_name, parse_game_options

FILE = Path(__file__).parent / "hide_and_seek.py"


def own(name):
    return f"{FILE}:{name}"


@pytest.mark.parametrize("name", ["CoinInHand", "ThreeCoins"])
def test_defaults_of_the_base_class_keep_every_law(name):
    report = check_game(make_game(own(name)), rng=np.random.default_rng(0))
    assert report.is_complete
    assert not report.has_public_states


def test_what_is_not_declared_is_measured():
    spec = make_game(own("CoinInHand"), prize=5).spec
    assert (spec.label, spec.min_utility, spec.max_utility, spec.max_length) == ("coin_in_hand(prize=5)", -5.0, 5.0, 2)


def test_parameters_are_read_from_text():
    text = own("CoinInHand")
    assert parse_game(f"{text}(prize=7)") == make_game(text, prize="7") == parse_game_options(text, ["prize=7"])
    three = make_game(own("ThreeCoins"), sides="3", bias="0.25")
    assert (three.sides, three.bias) == (3, 0.25)


def test_parameters_are_listed():
    (prize,) = describe_parameters(own("CoinInHand"))
    assert (prize.name, prize.type, prize.default) == ("prize", "a number, at least 0.5", "3")
    assert [row.name for row in describe_parameters(own("ThreeCoins"))] == ["sides", "bias"]
    assert describe_game(own("CoinInHand")) == "One hides a coin, the other points at a hand."


def test_actions_and_ends_are_checked_by_the_base_class():
    game = make_game(own("CoinInHand"))
    with pytest.raises(IllegalActionError, match=r"legal: 0 \(left\), 1 \(right\)"):
        game.apply(game.initial_state(), 2)
    with pytest.raises(InvalidStateError, match="only terminal states have returns"):
        game.returns(game.initial_state())


def test_a_solution_is_found_and_its_file_knows_the_game(tmp_path):
    solution = equipoise.solve(own("CoinInHand"), target=1e-4)
    assert solution.game_value == pytest.approx(-0.75, abs=1e-3)
    solution.save(tmp_path / "coin.eq")
    again = equipoise.load(tmp_path / "coin.eq")
    assert again.game == solution.game
    assert find_name(again.game) == own("CoinInHand")


def test_three_players_are_solved():
    assert equipoise.solve(own("ThreeCoins"), iterations=50).exploitability < 0.05


def test_a_game_can_be_sent_to_other_processes():
    game = make_game(own("CoinInHand"), prize=4)
    assert pickle.loads(pickle.dumps(game)) == game
    assert str(FILE.parent) in sys.path  # which they are given, and where they look for the class


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (own("NoGame"), "is not a game: it lacks initial_state, actor,.*equipoise.BaseGame has all but the rules"),
        (own("HalfAGame"), "must still say actor, infostate, initial_state, legal_actions, next_state, utilities"),
        (own("RaisingConstructor"), r"raised ZeroDivisionError: no coin \(hide_and_seek.py, line \d+\)"),
        (own("NoSpec"), 'must be a GameSpec, got "the coin\'s"'),
        (own("CoinInHand(price=3)"), "has no parameter 'price'; it has prize"),
        (own("CoinInHand(prize=much)"), "prize must be a number, got 'much'"),
        (own("CoinInHand(prize=0)"), "prize must be at least 0.5, got 0"),
    ],
)
def test_what_is_no_game_is_said_in_one_line(text, message):
    with pytest.raises(ConfigError, match=message) as caught:
        parse_game(text)
    assert "\n" not in str(caught.value)


def test_text_behind_the_class_must_be_parameters():
    with pytest.raises(ParseError, match=re.escape("a game is written name(key=value,...)")):
        parse_game(own("CoinInHand:3"))


def test_rules_that_raise_are_named_with_their_line():
    with pytest.raises(InvalidGameError, match=r"raising_rules cannot be walked through: AttributeError: .*line \d+"):
        make_game(own("RaisingRules"))


def test_a_game_too_large_to_be_measured_must_declare_its_bounds(monkeypatch):
    monkeypatch.setattr(base_game, "MOST_MEASURED", 1000)
    with pytest.raises(ConfigError, match="must say min_utility, max_utility and max_length"):
        make_game(own("Endless"))
