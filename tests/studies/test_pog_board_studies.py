# SPDX-License-Identifier: Apache-2.0
"""The studies of Player of Games on boards: a small run that is trained here, and invented games."""

import pytest
from typer.testing import CliRunner

from equipoise.apps.cli import app
from equipoise.core.errors import ConfigError
from equipoise.studies.learning.pog_boards import (
    ALPHA_ZERO,
    DOUBLED,
    POG_BOARDS,
    POG_SCALING,
    UCT,
    PogBoardsConfiguration,
    PogScalingConfiguration,
)
from equipoise.studies.study import Measured, Point, Verdict

pytest.importorskip("torch", reason="training needs torch")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("boards") / "run"
    words = ["train", "pog", "tic_tac_toe", "--preset", "board", "-s", "8", "--examples", "200", "--hidden", "16"]
    result = CliRunner().invoke(app, [*words, "--out", str(folder), "--quiet"])
    assert result.exit_code == 0, result.output
    return str(folder)


def invent(run, curve, shares):
    """Returns shares of points of deals, by simulations."""
    measured = Measured()
    for count, found in shares.items():
        for deal, share in enumerate(found):
            measured.add(Point(panel=run, curve=curve, x=count, y=share, run=deal))
    return measured


def test_matches_are_played_at_equal_simulations(run):
    result = POG_BOARDS.run(PogBoardsConfiguration(run=run, simulations=(6,), games=12))
    assert not result.is_partial
    rows = {row["match"]: row for row in result.conclusion.rows}
    assert set(rows) == {f"PoG(6,1) {UCT}", f"PoG(6,1) {ALPHA_ZERO}"}
    assert all(row["games"] == 12 and 0.0 <= row["points, %"] <= 100.0 for row in rows.values())


def test_neighbours_on_the_ladder_play_each_other(run):
    result = POG_SCALING.run(PogScalingConfiguration(run=run, simulations=(8, 2, 4), games=4, per_sweep=0.5))
    assert [row["play"] for row in result.conclusion.rows] == ["PoG(2,0.5)", "PoG(4,0.5)", "PoG(8,0.5)"]
    assert result.conclusion.rows[0]["Elo"] == 0
    assert len(result.conclusion.claims) == 3


def test_intervals_decide_about_matches(run):
    configuration = PogBoardsConfiguration(run=run, simulations=(10, 20, 30), opponents=(UCT,))
    shares = {10: [100.0, 100.0, 50.0, 100.0], 20: [0.0, 100.0, 50.0, 75.0], 30: [0.0, 0.0, 25.0, 0.0]}
    found = POG_BOARDS.conclude(configuration, invent(run, UCT, shares))
    verdicts = [claim.verdict for claim in found.claims]
    assert verdicts == [Verdict.CONFIRMED, Verdict.UNDECIDED, Verdict.DENIED]
    nothing = POG_BOARDS.conclude(configuration, Measured())
    assert {claim.verdict for claim in nothing.claims} == {Verdict.NOT_MEASURED}


def test_losing_to_the_other_search_confirms_the_paper(run):
    configuration = PogBoardsConfiguration(run=run, simulations=(10, 20), opponents=(ALPHA_ZERO,))
    measured = invent(run, ALPHA_ZERO, {10: [0.0, 25.0, 0.0], 20: [100.0, 75.0, 100.0]})
    verdicts = [claim.verdict for claim in POG_BOARDS.conclude(configuration, measured).claims]
    assert verdicts == [Verdict.CONFIRMED, Verdict.DENIED]


def test_elo_follows_the_points(run):
    configuration = PogScalingConfiguration(run=run, simulations=(10, 20, 40))
    points = [75.0] * 49 + [75.1]
    measured = invent(run, DOUBLED, {20: points, 40: points})
    conclusion = POG_SCALING.conclude(configuration, measured)
    assert [row["Elo"] for row in conclusion.rows] == pytest.approx([0, 190, 379], abs=3)  # 3 to 1 each time
    assert {claim.verdict for claim in conclusion.claims} == {Verdict.CONFIRMED}
    falling = POG_SCALING.conclude(configuration, invent(run, DOUBLED, {20: points, 40: [20.0, 20.1]}))
    assert falling.claims[-1].verdict is Verdict.DENIED


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"simulations": ()}, "simulations must be at least 1, got none"),
        ({"games": 3}, "an even number of at least 2, every deal in both seats, got 3"),
        ({"per_sweep": 0.0}, "walks for each sweep must be above 0 and finite, got 0"),
        ({"opponents": ("gnugo",)}, "the opponents are against UCT"),
    ],
)
def test_matches_that_cannot_be_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        PogBoardsConfiguration(**changes)


def test_unknown_runs_are_refused():
    with pytest.raises(ConfigError, match="there is no run 'nowhere'"):
        POG_SCALING.run(PogScalingConfiguration(run="nowhere"))
