# SPDX-License-Identifier: Apache-2.0
"""Strategies as CSV on the command line."""

import pytest


@pytest.fixture
def table(equipoise, tmp_path):
    """Returns a strategy of Kuhn as CSV, as `show` writes it."""
    assert equipoise("solve", "kuhn", "-n", 50, "--out", "kuhn.eq").code == 0
    assert equipoise("show", "kuhn.eq", "--csv", "--limit", 0, "--out", "kuhn.csv").code == 0
    return tmp_path / "kuhn.csv"


def test_csv_is_evaluated_as_the_file_that_it_came_from(equipoise, table):
    found = equipoise("evaluate", table, "--game", "kuhn", "--json").json
    assert found["exploitability"] == equipoise("evaluate", "kuhn.eq", "--json").json["exploitability"]
    assert (found["label"], found["iterations"], found["file"]) == ("kuhn(players=2)", None, str(table))
    graded = equipoise("evaluate", table, "--game", "kuhn", "--responses", "best", "--json")
    assert graded.code == 0


def test_csv_is_shown_and_searched_through(equipoise, table):
    assert equipoise("show", table, "-g", "kuhn").out == equipoise("show", "kuhn.eq").out
    assert equipoise("show", table, "-g", "kuhn", "--node", "b").out == equipoise("show", "kuhn.eq", "--node", "b").out


def test_csv_plays(equipoise, table):
    outcome = equipoise("match", f"file:{table}", "file:kuhn.eq", "--game", "kuhn", "-n", 2000, "--json")
    assert outcome.code == 0
    assert abs(outcome.json["agents"][0]["mean"]) < 0.1  # the same strategy on the same deals in both seats


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            ("evaluate", "kuhn.csv"),
            "kuhn.csv is a table of probabilities, which does not say its game: name it with --",
        ),
        (("show", "kuhn.csv"), "which does not say its game"),
        (("match", "file:kuhn.csv", "call"), "--game NAME is needed"),
        (("evaluate", "kuhn.csv", "--game", "leduc"), "the strategy does not fit leduc("),
        (("evaluate", "kuhn.csv", "-p", "players=3"), "parameters are for the game that --game names"),
        (("evaluate", "kuhn.eq", "--game", "leduc"), "kuhn.eq is a strategy for kuhn(players=2), the game is leduc("),
        (("match", "translate:kuhn.csv", "call", "-g", "kuhn"), "kuhn.csv has no strategy by hands"),
        (("evaluate", "none.csv", "--game", "kuhn"), "cannot read none.csv: no such file"),
    ],
)
def test_mistakes_are_one_line(equipoise, table, command, message):
    outcome = equipoise(*command)
    assert outcome.code == 2
    assert message in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1
