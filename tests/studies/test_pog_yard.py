# SPDX-License-Identifier: Apache-2.0
"""The study of Scotland Yard: a small run that is trained here, and invented games."""

import pytest
from typer.testing import CliRunner

from equipoise.apps.cli import app
from equipoise.core.errors import ConfigError
from equipoise.studies.learning.pog_yard import PANEL, ROLES, SCOTLAND_YARD, PogYardConfiguration
from equipoise.studies.study import Measured, Point, Verdict

pytest.importorskip("torch", reason="training needs torch")


def train(folder, game):
    words = ["train", "pog", game, "-s", "4", "--examples", "40", "--hidden", "16", "--checks", "1", "--seeds", "1"]
    result = CliRunner().invoke(app, [*words, "--out", str(folder), "--quiet"])
    assert result.exit_code == 0, result.output
    return str(folder)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(tmp_path_factory.mktemp("yard") / "run", "glasses(board=glasses-b,rounds=2)")


def invent(shares):
    """Returns whether PoG won, by budget of the opponent: (as Mr. X, as the detectives) of each deal."""
    measured = Measured()
    for budget, deals in shares.items():
        for deal, pair in enumerate(deals):
            for role, won in zip(ROLES, pair, strict=True):
                measured.add(Point(panel=PANEL, curve=role, x=budget, y=won, run=deal))
    return measured


def test_every_deal_is_played_in_both_roles(run):
    configuration = PogYardConfiguration(run=run, simulations=4, opponent=(2, 6), games=4, features="greedy=false")
    result = SCOTLAND_YARD.run(configuration)

    assert not result.is_partial
    assert [row["opponent"] for row in result.conclusion.rows] == ["hunt:2", "hunt:6"]
    for row in result.conclusion.rows:
        won = [int(row[role].split()[0]) for role in ROLES]
        assert [row[role].split()[2] for role in ROLES] == ["2", "2"]
        assert row["won, %"] == pytest.approx(25.0 * sum(won))
        assert row["CPU s a game"] >= 0.0


def test_intervals_over_deals_decide(run):
    shares = {
        4: [(100.0, 100.0)] * 9 + [(100.0, 0.0)],
        8: [(100.0, 0.0)] * 5 + [(0.0, 100.0), (100.0, 100.0), (0.0, 0.0)],
        16: [(0.0, 0.0)] * 9 + [(100.0, 0.0)],
    }
    found = SCOTLAND_YARD.conclude(PogYardConfiguration(run=run, opponent=tuple(shares)), invent(shares))

    assert [claim.verdict for claim in found.claims] == [Verdict.CONFIRMED, Verdict.UNDECIDED, Verdict.DENIED]
    assert [row["won, %"] for row in found.rows] == [95.0, 50.0, 5.0]
    assert found.rows[0][ROLES[0]] == "10 of 10"


def test_nothing_is_said_of_what_was_not_played(run):
    found = SCOTLAND_YARD.conclude(PogYardConfiguration(run=run), Measured())

    assert {claim.verdict for claim in found.claims} == {Verdict.NOT_MEASURED}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"opponent": ()}, "simulations must be at least 1, got none"),
        ({"opponent": (4, 0)}, "simulations must be at least 1, got 100, 4, 0"),
        ({"games": 3}, "an even number of at least 2, every deal in both roles, got 3"),
    ],
)
def test_matches_that_cannot_be_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        PogYardConfiguration(**changes)


def test_runs_of_other_games_are_refused(tmp_path):
    other = train(tmp_path / "kuhn", "kuhn")

    with pytest.raises(ConfigError, match="the run must be one of Scotland Yard"):
        SCOTLAND_YARD.run(PogYardConfiguration(run=other))
