# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

RIVER = Path(__file__).parents[2] / "examples" / "spots" / "river.toml"
LEDUC = "leduc(merge_suits=true)"


def test_sizes_of_a_game_are_found(equipoise):
    outcome = equipoise("optimise", LEDUC, "--parameters", "second_sizes", "--payoff", 5, "--iterations", 10_000)
    assert outcome.code == 0
    assert "second_sizes" in outcome.out
    assert "9.4" in outcome.out
    assert "steps, 10," in outcome.out


def test_json_of_a_game_has_parameters_and_value(equipoise):
    result = equipoise("optimise", LEDUC, "--parameters", "raise_sizes", "--iterations", 2000, "--json").json
    assert set(result["parameters"]) == {"first_sizes", "second_sizes"}
    assert result["iterations"] >= 2000
    assert 0.085 < result["value"] < 0.165


def test_sizes_of_a_spot_with_what_they_lose(equipoise):
    outcome = equipoise("optimise", RIVER, "--street", "river", "--player", "oop")
    assert outcome.code == 0
    assert "oop bets 100 % of the pot" in outcome.out
    assert "the full menu is worth" in outcome.out
    assert "rounding costs 0.0" in outcome.out


def test_a_spot_needs_no_more_than_its_file(equipoise):
    result = equipoise("optimise", RIVER, "--json").json
    assert (result["street"], result["player"], len(result["sizes"])) == ("river", "oop", 1)


def test_json_of_a_spot_has_every_value(equipoise):
    result = equipoise("optimise", RIVER, "--player", "ip", "--sizes", 2, "--json").json
    assert len(result["sizes"]) == 2
    assert set(result["values"]) == {"found", "rounded", "full menu"}
    assert result["values"]["full menu"]["gap"] <= 0.0005


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("leduc",), "a game needs --parameters, such as raise_sizes"),
        (("leduc", "--parameters", "ranks"), "leduc has no parameter 'ranks' to vary"),
        (("leduc", "--parameters", "raise_sizes", "--start", "1,x"), "--start must be numbers between commas"),
        (("leduc", "--parameters", "raise_sizes", "--player", "oop"), "--player must be 0 or 1 in a game"),
        (("leduc", "--parameters", "raise_sizes", "--street", "turn"), "--street and --sizes are for hold'em spots"),
        (("leduc", "--parameters", "second_sizes", "--highest", 3), "must be between 0.015625 and 3"),
        (("leduc", "--parameters", "raise_sizes", "--threads", 2), "--threads is for hold'em spots"),
        ((RIVER, "--player", "0"), "--player must be oop or ip in a spot"),
        ((RIVER, "--iterations", 10), "--iterations is for games"),
        ((RIVER, "--sampled"), "--sampled is for games"),
        ((RIVER, "--player", "oop", "--street", "turn"), "played from river to river"),
        ((RIVER, "--player", "oop", "--street", "preflop"), "--street must be one of flop, turn, river"),
        ((RIVER, "--player", "oop", "--lowest", 4), "sizes must be from a positive one to a larger one"),
        ((RIVER, "--player", "oop", "--parameters", "ante"), "--parameters and --start are for games"),
    ],
)
def test_bad_input_is_one_clear_line(equipoise, words, message):
    outcome = equipoise("optimise", *words)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
