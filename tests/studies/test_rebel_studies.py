# SPDX-License-Identifier: Apache-2.0
import pytest

from equipoise.core.errors import ConfigError
from equipoise.learning.rebel.runs import SHIPPED, RebelRun, list_shipped
from equipoise.studies.learning.rebel_games import (
    GAMES,
    PRINTED,
    REBEL_LEDUC,
    REBEL_LIARS_DICE,
    RebelConfiguration,
)
from equipoise.studies.learning.rebel_teh import CURVES, REBEL_TEH, TurnEndgameConfiguration, conclude
from equipoise.studies.study import Measured, Point, Verdict


def test_runs_of_the_package_play_their_games():
    assert {"leduc", "liars-dice-1x4", "liars-dice-1x5", "liars-dice-1x6"} <= set(list_shipped())
    for name in list_shipped():
        run = RebelRun.open(SHIPPED / name)
        assert run.searcher().game.num_kinds == run.net.config.kinds
        assert name in GAMES
        assert run.net.card["measured"]["playthroughs"] >= 1024
        assert run.net.card["measured"]["exploitability"] < (PRINTED[name][2] if name in PRINTED else 0.015)


def test_leduc_is_below_the_mark():
    result = REBEL_LEDUC.run(RebelConfiguration(games=("leduc",), playthroughs=1024))
    (claim,) = result.conclusion.claims
    assert claim.verdict is Verdict.CONFIRMED
    rows = {row["method"]: row["ours"] for row in result.conclusion.rows}
    assert rows["ReBeL CFR-D, at least"] <= rows["ReBeL CFR-D"] < 15
    assert rows["full-game CFR"] < rows["full-game FP"]


def test_whole_games_of_dice_come_out_as_printed():
    result = REBEL_LIARS_DICE.run(RebelConfiguration(playthroughs=8))
    rows = {row["method"]: row for row in result.conclusion.rows}
    assert rows["full-game CFR"]["ours"] < 0.0015
    assert rows["full-game CFR"]["ours"] < rows["full-game FLOP"]["ours"] < rows["full-game FP"]["ours"]
    assert rows["full-game FP"]["ours"] == pytest.approx(PRINTED["liars-dice-1x4"][0], abs=0.005)


def test_unknown_games_are_refused():
    with pytest.raises(ConfigError, match="the games are liars-dice-1x4"):
        REBEL_LEDUC.run(RebelConfiguration(games=("poker",)))


def test_turn_endgames_come_out_in_the_thesis_order():
    result = REBEL_TEH.run(TurnEndgameConfiguration(board="JhTsQsKh", deck="tiny", marks=(8, 64)))
    assert [claim.verdict for claim in result.conclusion.claims] == [Verdict.CONFIRMED] * 2
    assert [row["iterations"] for row in result.conclusion.rows] == [8, 64]
    assert result.conclusion.rows[1]["FLOP"] < result.conclusion.rows[0]["FLOP"] / 5


def test_verdicts_on_turn_endgames_follow_the_points():
    configuration = TurnEndgameConfiguration(marks=(4,))
    measured = Measured()
    for curve, y in zip(CURVES, (3.0, 2.0, 9.0), strict=True):
        measured.add(Point(panel="exact", curve=curve, x=4, y=y))
    verdicts = [claim.verdict for claim in conclude(configuration, measured).claims]
    assert verdicts == [Verdict.DENIED, Verdict.CONFIRMED]
    assert {claim.verdict for claim in conclude(configuration, Measured()).claims} == {Verdict.NOT_MEASURED}


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"marks": ()}, "marks must be at least 1, got none"), ({"board": "9sJhTc"}, "begins with 4 cards, got '9sJhTc'")],
)
def test_turn_endgames_that_cannot_be_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        TurnEndgameConfiguration(**changes)
