# SPDX-License-Identifier: Apache-2.0
import csv
import io

import pytest

from equipoise.games.holdem.cards import DECKS
from equipoise.games.holdem.ranges import parse_range


def run(equipoise, *arguments):
    return equipoise("pushfold", "--deck", "small", "--stack", 6, *arguments)


def test_two_squares_and_what_they_are_worth(equipoise):
    outcome = run(equipoise)
    assert outcome.code == 0
    assert "Small blind, 6 bb" in outcome.out
    assert "Big blind against a push" in outcome.out
    assert outcome.out.count("AKs") == 2
    assert " p  push " in outcome.out
    assert " c  call " in outcome.out
    assert "exploitability 0 bb" in outcome.out or "e-1" in outcome.out


def test_stakes_are_said(equipoise):
    assert "6 bb, ante 0.5, rake 0.3" in run(equipoise, "--ante", 0.5, "--rake", 0.1, "--rake-cap", 0.3).out


def test_json_has_ranges_and_values(equipoise):
    result = run(equipoise, "--json").json
    assert result["stack_bb"] == 6.0
    assert result["rake_cap_bb"] is None
    assert len(result["push"]) == len(result["call"]) == 36
    assert result["push"]["AA"] == 1.0
    held = parse_range(result["push_range"], DECKS["small"])
    assert held.num_combos / held.deck.num_hands == pytest.approx(result["push_share"])
    assert sum(result["values_bb"]) == pytest.approx(0.0, abs=1e-12)
    assert result["exploitability_bb"] < 1e-9


def test_csv_has_a_line_for_each_class(equipoise):
    rows = list(csv.DictReader(io.StringIO(run(equipoise, "--csv").out)))
    assert len(rows) == 36
    assert rows[0] == {"hand": "AA", "combos": "3", "push": "1.0", "call": "1.0"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stack", "1"], "stack_bb must exceed the big blind"),
        (["--rake", "5"], "rake must be 0 to below 1"),
        (["--deck", "tarot"], "a deck is"),
        (["--json", "--csv"], "two formats"),
    ],
)
def test_bad_input_is_a_message(equipoise, arguments, message):
    outcome = equipoise("pushfold", *arguments)
    assert outcome.code == 2
    assert message in outcome.err
